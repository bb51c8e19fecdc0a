"""The experiments of `data/experiments.toml`: their commands, and how long they take."""

import tomllib
from collections.abc import Iterable
from functools import cache
from string import Template
from typing import NamedTuple

from scanlab_report import DATA

_STEPS = {
    "record": "tools/record build/cuda/scanlab results/run",
    "gpus": "tools/record build/cuda/scanlab results/x4 --gpus 4",
}
"""The command of a step of tools/record, before its name."""


class Experiment(NamedTuple):
    """An experiment. Seconds are those of an H200 with a host of 16 cores, or of four H200s."""

    name: str
    seconds: int
    command: str


@cache
def known() -> dict[str, Experiment]:
    """Every experiment by name, in the order in which they are measured."""
    lists = tomllib.loads((DATA / "experiments.toml").read_text(encoding="utf-8"))
    values = {"scanlab": "build/cpu/scanlab", "out": "results/run", "quick": "", "force": ""}
    by_hand = lambda row: Template(row["command"]).safe_substitute(values).strip()
    return {
        name: Experiment(name, row["seconds"], by_hand(row) if kind == "hand" else kind)
        for kind in ("record", "hand", "gpus")
        for name, row in lists[kind].items()
    }


class Plan(NamedTuple):
    """The commands that measure what something needs, and how long they take."""

    commands: tuple[str, ...]
    seconds: int

    def __str__(self) -> str:
        return " && ".join(self.commands) + f" (about {duration(self.seconds)})"


def plan(names: Iterable[str]) -> Plan:
    """The commands for some experiments: steps of tools/record are one command."""
    wanted = set(names)
    chosen = [experiment for name, experiment in known().items() if name in wanted]
    commands = []
    for kind, command in _STEPS.items():
        if steps := [experiment.name for experiment in chosen if experiment.command == kind]:
            commands.append(" ".join([command, *steps]))
    commands += [experiment.command for experiment in chosen if experiment.command not in _STEPS]
    return Plan(tuple(commands), sum(experiment.seconds for experiment in chosen))


def duration(seconds: int) -> str:
    """Return a duration in words."""
    return f"{seconds} s" if seconds < 90 else f"{round(seconds / 60)} min"
