"""The experiments of data/experiments.toml: their commands and times."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache
from string import Template
from typing import NamedTuple

from scanlab_report import DATA

GPUS = 4
"""The number of GPUs that the seconds of steps of several are of."""
_STEPS = {"record": "tools/record build/cuda/scanlab results/run",
          "gpus": "tools/record build/cuda/scanlab results/x{gpus} --gpus {gpus}"}  # fmt: skip
"""The command of a step of tools/record, before its name: of one GPU, and of several."""
UNRECORDED = {"scenarios", "model"}
"""The same on any machine, and simulated in seconds: no session keeps them."""


class Experiment(NamedTuple):
    """Seconds are those of an H200 with a host of 16 cores, or of four H200s."""

    name: str
    seconds: int
    command: str


@cache
def known() -> dict[str, Experiment]:
    """Every experiment by name, in the order in which they are measured."""
    table = tomllib.loads((DATA / "experiments.toml").read_text(encoding="utf-8"))
    typed = {"scanlab": "build/cpu/scanlab", "out": "results/run", "quick": "", "force": ""}

    def command(kind: str, row: dict[str, str]) -> str:
        return Template(row["command"]).safe_substitute(typed).strip() if kind == "hand" else kind

    return {name: Experiment(name, row["seconds"], command(kind, row))
            for kind in ("record", "hand", "gpus") for name, row in table[kind].items()}  # fmt: skip


class Plan(NamedTuple):
    """The measurements of some experiments."""

    experiments: tuple[str, ...]
    commands: tuple[str, ...]
    seconds: int

    def __str__(self) -> str:
        return " && ".join(self.commands) + f" (about {duration(self.seconds)})"


def plan(names: Iterable[str], gpus: int = GPUS) -> Plan:
    """The commands for experiments: the steps of tools/record are one. `gpus`: of steps of several."""
    chosen = [known()[name] for name in sorted(set(names), key=list(known()).index)]
    steps = {kind: [of.name for of in chosen if of.command == kind] for kind in _STEPS}
    commands = [" ".join([_STEPS[kind].format(gpus=gpus), *of]) for kind, of in steps.items() if of]
    commands += [of.command for of in chosen if of.command not in _STEPS]
    return Plan(tuple(of.name for of in chosen), tuple(commands), sum(of.seconds for of in chosen))


def bench(variants: Iterable[str], type_name: str = "", op: str = "") -> str:
    """The command that times some variants, in a file of their own."""
    more = "".join(f" --{option} {value}" for option, value in (("type", type_name), ("op", op)) if value)
    return f"build/cuda/scanlab bench --variant '{','.join(dict.fromkeys(variants))}'{more} --out results/mine.json"


def duration(seconds: int) -> str:
    """In words."""
    return f"{seconds} s" if seconds < 90 else f"{round(seconds / 60)} min"
