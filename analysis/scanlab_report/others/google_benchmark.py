"""The results of Google Benchmark (--benchmark_out), of version 1.5 or newer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from msgspec import Struct

from scanlab_report.others.cases import NO_TIME, checked_time, new_case, one_line, sampled, unusable
from scanlab_report.schema.base import Count
from scanlab_report.schema.fields import Misfit, convert, listed

_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_ARGUMENT = re.compile(r"(?:([^:]+):)?(-?\d+(?:\.\d+)?)")
_FITTED = ("BigO", "RMS")
"""Aggregates of a whole family of benchmarks: no times."""


class _About(Struct):
    date: str = ""
    host_name: str = ""
    num_cpus: Count = 0


class _Entry(Struct):
    name: str
    run_type: Literal["iteration", "aggregate"]
    run_name: str = ""
    family_index: int | None = None
    per_family_instance_index: int | None = None
    aggregate_name: str = ""
    repetitions: Count = 0
    real_time: float = np.nan
    time_unit: Literal["ns", "us", "ms", "s"] = "ns"
    bytes_per_second: float = np.nan
    error_occurred: bool = False
    error_message: str = ""
    skipped: bool | float = False
    """Whether the entry was skipped. A number is a counter of the user that has this name."""
    skip_message: str = ""

    @property
    def seconds(self) -> float:
        return self.real_time * _SECONDS[self.time_unit]


def google(file: Path, document: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the context and the cases of Google Benchmark's JSON. A benchmark that is registered
    twice makes two cases of one name. Entries of one registration are its samples, even from
    several runs."""
    about = convert(document["context"], _About, "context")
    registered: dict[tuple[str, int | None, int | None], dict[str, _Entry]] = {}
    for index, raw in enumerate(listed(document, "benchmarks")):
        place = f"benchmarks[{index}]"
        entry = convert(raw, _Entry, place)
        if entry.aggregate_name not in _FITTED:
            name = one_line(entry.run_name or entry.name)
            key = (name, entry.family_index, entry.per_family_instance_index)
            registered.setdefault(key, {})[place] = entry
    cpu = f"{one_line(about.host_name) or 'unnamed host'}, {about.num_cpus} CPUs"
    context = {"kind": "host", "cpu": cpu, "date": one_line(about.date)}
    return context, [_case(name, entries) for (name, *_), entries in registered.items()]


def _case(name: str, entries: Mapping[str, _Entry]) -> dict[str, Any]:
    benchmark, _, arguments = name.partition("/")
    place = next(iter(entries))
    case = new_case(place, benchmark, case=arguments, axes=_axes(arguments))
    for entry in sorted(entries.values(), key=lambda entry: not entry.error_occurred):
        if entry.error_occurred or entry.skipped is True:  # an error outranks what was skipped
            reason = one_line(entry.error_message or entry.skip_message) or NO_TIME
            return case | {"skipped": reason, "failed": entry.error_occurred}
    try:
        return case | _times(entries)
    except Misfit as misfit:
        return case | unusable(place, misfit)


def _times(entries: Mapping[str, _Entry]) -> dict[str, Any]:
    """The samples of a registration, or the aggregates of samples that the file does not have."""
    runs = {place: entry for place, entry in entries.items() if entry.run_type == "iteration"}
    times = [checked_time(entry.seconds, f"{place}.real_time") for place, entry in runs.items()]
    if times:
        rate = np.median([entry.bytes_per_second for entry in runs.values()])
        return sampled(np.array(times), next(iter(runs))) | {"rate": rate}
    aggregates = {entry.aggregate_name: (place, entry) for place, entry in entries.items()}
    if "mean" not in aggregates:
        return {"skipped": NO_TIME}
    place, mean = aggregates["mean"]
    made = {"count": mean.repetitions, "rate": mean.bytes_per_second}
    made["mean"] = checked_time(mean.seconds, f"{place}.real_time")
    for name, field in (("stddev", "stdev"), ("median", "median")):
        made[field] = aggregates[name][1].seconds if name in aggregates else np.nan
    return made


def _axes(arguments: str) -> dict[str, float]:
    """Return the arguments that are numbers, each by its name, or else by its place."""
    axes: dict[str, float] = {}
    for number, part in enumerate(arguments.split("/"), 1):
        if argument := _ARGUMENT.fullmatch(part):
            axes[argument[1] or f"argument {number}"] = float(argument[2])
    return axes
