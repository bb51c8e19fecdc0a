"""The results of Google Benchmark (--benchmark_out)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict

from scanlab_report.others.cases import (
    LONGEST,
    checked_time,
    new_case,
    one_line,
    reason_of,
    sampled,
    unusable,
)
from scanlab_report.schema.base import Count, Number
from scanlab_report.schema.fields import REMEDY, Misfit, convert, listed

_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_ARGUMENT = re.compile(r"(?:(?P<name>[^:]+):)?(?P<value>-?\d+(?:\.\d+)?)")
_FITTED = ("BigO", "RMS")
"""Aggregates of a whole family of benchmarks: no times."""
_OF_REPETITIONS = ("mean", "median", "stddev", "cv")
_SETTINGS = ("min_time", "min_warmup_time", "iterations", "repeats")
"""Parts of a name that state how a benchmark is run, not on what."""


class _About(Struct):
    date: str = ""
    host_name: str = ""
    executable: str = ""
    num_cpus: Count = 0
    mhz_per_cpu: Number = 0
    library_build_type: str = ""


class _Named(Struct):
    name: str
    run_name: str = ""
    family_index: int | None = None
    per_family_instance_index: int | None = None


class _Entry(_Named):
    run_type: Literal["iteration", "aggregate", ""] = ""
    aggregate_name: str = ""
    repetitions: Count = 0
    real_time: float | None = None
    time_unit: Literal["ns", "us", "ms", "s"] = "ns"
    bytes_per_second: float = 0
    error_occurred: bool = False
    error_message: str = ""
    skipped: bool | float = False
    """Whether the entry was skipped. A number is a counter of the user that has this name."""
    skip_message: str = ""


_Placed = list[tuple[str, _Entry]]


def google(file: Path, document: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the context and the cases of Google Benchmark's JSON. A benchmark that is registered
    twice makes two cases of one name. Entries of one registration are its samples, even from
    several runs."""
    about = convert(document["context"], _About, "context")
    registered: dict[tuple[str, int | None, int | None], _Placed] = {}
    entries = [
        (f"benchmarks[{index}]", _entry(raw, f"benchmarks[{index}]"))
        for index, raw in enumerate(listed(document, "benchmarks"))
    ]
    names = {entry.name for _, entry in entries}
    for place, entry in entries:
        if entry.aggregate_name not in _FITTED and not _is_old_aggregate(entry, names):
            name = one_line(entry.run_name or entry.name)
            key = (name, entry.family_index, entry.per_family_instance_index)
            registered.setdefault(key, []).append((place, entry))
    cpus = f", {about.num_cpus} CPUs of {about.mhz_per_cpu:g} MHz" if about.num_cpus else ""
    debug = ", library built for debugging" if about.library_build_type == "debug" else ""
    host = one_line(about.host_name) or "unnamed host"
    context = {"kind": "host", "cpu": host + cpus + debug, "date": one_line(about.date)}
    context["argv"] = one_line(about.executable)
    return context, [_repeated(name, placed) for (name, *_), placed in registered.items()]


def _entry(raw: Any, place: str) -> _Entry:
    """Return an entry. An entry that does not fit is skipped for that reason."""
    named = convert(raw, _Named, place)
    try:
        return convert(raw, _Entry, place)
    except Misfit as misfit:
        return _Entry(**asdict(named), skipped=True, skip_message=unusable(misfit))


def _is_old_aggregate(entry: _Entry, names: set[str]) -> bool:
    """Whether an entry is an aggregate of versions before 1.5, which nothing but the name shows."""
    stem, _, what = entry.name.rpartition("_")
    fitted = what in _FITTED and entry.real_time is None
    return not entry.run_type and ((what in _OF_REPETITIONS and stem in names) or fitted)


def _repeated(name: str, entries: _Placed) -> dict[str, Any]:
    benchmark, *parts = name.split("/")
    case = new_case(
        entries[0][0], benchmark, point="/".join(parts), axes=_axes(parts), clock="real"
    )
    for place, entry in sorted(entries, key=lambda placed: not placed[1].error_occurred):
        if entry.error_occurred or entry.skipped is True:  # an error outranks what was skipped
            reason = reason_of(entry.error_message or entry.skip_message)
            return case | {"place": place, "skipped": reason, "failed": entry.error_occurred}
    try:
        return case | _times(entries)
    except Misfit as misfit:
        return case | {"skipped": unusable(misfit), "misfit": misfit}


def _times(entries: _Placed) -> dict[str, Any]:
    """The samples of a registration; where several runs have aggregates alone, their means."""
    runs = [(place, entry) for place, entry in entries if entry.run_type != "aggregate"]
    means = [(place, entry) for place, entry in entries if entry.aggregate_name == "mean"]
    if not runs and len(means) < 2:
        return _aggregates({placed[1].aggregate_name: placed for placed in entries})
    runs = runs or means
    samples = np.array([_seconds(*run) for run in runs])
    rates = [e.bytes_per_second for _, e in runs if 0 < e.bytes_per_second < math.inf]
    return sampled(samples, [f"{p}.real_time" for p, _ in runs]) | {"rates": np.array(rates)}


def _aggregates(aggregates: Mapping[str, tuple[str, _Entry]]) -> dict[str, Any]:
    """Mean, deviation and median of repetitions that the file does not have one by one."""
    if "mean" not in aggregates:
        return {"skipped": "the file has no time of it"}
    place, mean = aggregates["mean"]
    seconds = checked_time(_seconds(place, mean), f"{place}.real_time")
    times: dict[str, Any] = {"count": mean.repetitions, "mean": seconds}
    for name, field in (("stddev", "stdev"), ("median", "median")):
        if name in aggregates:
            times[field] = _seconds(*aggregates[name])
    if not 0 <= times.get("stdev", 0) <= LONGEST:
        at, entry = aggregates["stddev"]
        raise Misfit(f"{at}.real_time", f"is {entry.real_time:g}, no deviation: {REMEDY}")
    if 0 < mean.bytes_per_second < math.inf:
        times["rates"] = np.array([mean.bytes_per_second])
    return times


def _seconds(place: str, entry: _Entry) -> float:
    if entry.real_time is None:
        raise Misfit(f"{place}.real_time", f"is missing: {REMEDY}")
    return entry.real_time * _SECONDS[entry.time_unit]


def _axes(parts: list[str]) -> dict[str, str | float]:
    """Return the arguments, each by its name, or else by its place; numbers as such."""
    axes: dict[str, str | float] = {}
    for number, part in enumerate(parts, 1):
        argument = _ARGUMENT.fullmatch(part)
        if argument is None:
            axes[f"argument {number}"] = part
        elif argument["name"] not in _SETTINGS:
            value = argument["value"]
            name = argument["name"] or f"argument {number}"
            axes[name] = float(value) if "." in value else int(value)
    return axes
