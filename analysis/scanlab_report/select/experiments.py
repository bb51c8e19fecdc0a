"""The experiments of data/experiments.toml: their commands and times, and the experiments that answer a need."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from string import Template
from typing import NamedTuple, Protocol

from scanlab_report import DATA

FILE = DATA / "experiments.toml"
GPUS = 4
"""How many GPUs the seconds of steps of several are of."""
_STEPS = {"record": "tools/record build/cuda/scanlab results/run", "gpus": "tools/record build/cuda/scanlab results/x{gpus} --gpus {gpus}"}
"""The command of a step of tools/record, before its name: of one GPU, and of several."""


class Experiment(NamedTuple):
    """Seconds are those of an H200 with a host of 16 cores, or of four H200s."""

    name: str
    seconds: int
    command: str


class Asked(Protocol):
    """A need, as far as it says what answers it."""

    @property
    def measured_by(self) -> tuple[str, ...]: ...


@cache
def known() -> dict[str, Experiment]:
    """Every experiment by name, in the order in which they are measured."""
    table = tomllib.loads(FILE.read_text(encoding="utf-8"))
    typed = {"scanlab": "build/cpu/scanlab", "out": "results/run", "quick": "", "force": ""}
    rows = [(kind, name, row) for kind in ("record", "hand", "gpus") for name, row in table[kind].items()]
    return {name: Experiment(name, row["seconds"], Template(row["command"]).safe_substitute(typed).strip() if kind == "hand" else kind) for kind, name, row in rows}


class Plan(NamedTuple):
    """What measures all that something needs."""

    experiments: tuple[str, ...]
    commands: tuple[str, ...]
    seconds: int

    def __str__(self) -> str:
        return " && ".join(self.commands) + f" (about {duration(self.seconds)})"


def plan(needs: Mapping[str, Asked] | Iterable[str], gpus: int = GPUS) -> Plan:
    """The commands for some needs, or for experiments by name: the steps of tools/record are one command. ``gpus``: of steps of several."""
    wanted = {name for need in needs.values() for name in need.measured_by} if isinstance(needs, Mapping) else set(needs)
    chosen = [known()[name] for name in sorted(wanted, key=list(known()).index)]
    steps = {kind: [of.name for of in chosen if of.command == kind] for kind in _STEPS}
    commands = [" ".join([_STEPS[kind].format(gpus=gpus), *names]) for kind, names in steps.items() if names]
    return Plan(tuple(of.name for of in chosen), (*commands, *(of.command for of in chosen if of.command not in _STEPS)), sum(of.seconds for of in chosen))


def bench(variants: Iterable[str], type_name: str = "", op: str = "") -> str:
    """The command that times some variants, in a file of their own."""
    more = "".join(f" --{option} {value}" for option, value in (("type", type_name), ("op", op)) if value)
    return f"build/cuda/scanlab bench --variant '{','.join(dict.fromkeys(variants))}'{more} --out results/mine.json"


def duration(seconds: int) -> str:
    """In words."""
    return f"{seconds} s" if seconds < 90 else f"{round(seconds / 60)} min"
