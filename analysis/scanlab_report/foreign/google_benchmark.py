"""Plain Google Benchmark's JSON (``--benchmark_out``): a sample a repetition, or the aggregates where repetitions were dropped.

A sample is the real time of one iteration, averaged over those of a repetition. The arguments of a benchmark stand in its name alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict

from scanlab_report.schema.base import Count, Number
from scanlab_report.schema.fields import REMEDY, Misfit, convert, listed
from scanlab_report.foreign.cases import GOOGLE, LONGEST, Case, Foreign, numbered, of_samples, one_line, reason, time, unusable, unusable_because
from scanlab_report.data import MEASURED, File

_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_CONTEXT = ("library_build_type", "mhz_per_cpu", "num_cpus")
"""What its context has, one of them in every version."""
_ARGUMENT = re.compile(r"(?:(?P<name>[^:]+):)?(?P<value>-?\d+(?:\.\d+)?)")
_FITTED = ("BigO", "RMS")
"""Aggregates of a whole family of benchmarks: no times."""
_OF_REPETITIONS = ("mean", "median", "stddev", "cv")
_SETTINGS = ("min_time", "min_warmup_time", "iterations", "repeats")
"""Parts of a name that say how a benchmark is run, not on what."""


class _Context(Struct):
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
    """True where it was skipped; a number is a counter of the user that has this name."""
    skip_message: str = ""


def is_one(document: Mapping[str, Any]) -> bool:
    """Whether a document is Google Benchmark's own. Scanlab's results are in its format, and their entries say so."""
    context, entries = document.get("context"), document.get("benchmarks")
    if not isinstance(context, dict) or str(context.get("schema", "")).startswith("scanlab-") or "schema" in document or not any(key in context for key in _CONTEXT):
        return False
    return not (isinstance(entries, list) and any(isinstance(entry, dict) and "outcome" in entry for entry in entries))


def read(file: Path, document: Mapping[str, Any]) -> Foreign:
    """The cases of a file; Misfit if it is no results file. Entries that do not fit make a case without a time.

    A benchmark that is registered twice is two cases of one name; entries of one registration are its samples, also if they are of several runs.
    """
    context = convert(document["context"], _Context, "context")
    by_registration: dict[tuple[str, int | None, int | None], list[tuple[str, _Entry]]] = {}
    entries = [_entry(raw, f"benchmarks[{index}]") for index, raw in enumerate(listed(document, "benchmarks"))]
    names = {entry.name for entry in entries}
    for index, entry in enumerate(entries):
        if entry.aggregate_name not in _FITTED and not _is_old_aggregate(entry, names):
            registration = one_line(entry.run_name or entry.name), entry.family_index, entry.per_family_instance_index
            by_registration.setdefault(registration, []).append((f"benchmarks[{index}]", entry))
    host = one_line(context.host_name) or "unnamed host"
    cpus = f", {context.num_cpus} CPUs of {context.mhz_per_cpu:g} MHz" if context.num_cpus else ""
    debug = ", library built for debugging" if context.library_build_type == "debug" else ""
    about = {"kind": "host", "cpu": host + cpus + debug, "date": one_line(context.date), "argv": one_line(context.executable)}
    return Foreign(File(file, MEASURED, about), GOOGLE, numbered([_case(name, entries) for (name, *_), entries in by_registration.items()]))


def _entry(raw: Any, place: str) -> _Entry:
    """An entry; one that does not fit is skipped for that."""
    named = convert(raw, _Named, place)
    try:
        return convert(raw, _Entry, place)
    except Misfit as misfit:
        return _Entry(**asdict(named), skipped=True, skip_message=unusable_because(misfit))


def _is_old_aggregate(entry: _Entry, names: set[str]) -> bool:
    """Whether an entry is an aggregate of versions before 1.5, of which nothing but the name says it."""
    stem, _, what = entry.name.rpartition("_")
    return not entry.run_type and (what in _OF_REPETITIONS and stem in names or what in _FITTED and entry.real_time is None)


def _case(name: str, entries: list[tuple[str, _Entry]]) -> Case:
    benchmark, *parts = name.split("/")
    case = Case(entries[0][0], benchmark, "/".join(parts), axes=_axes(parts), clock="real")
    for at, entry in sorted(entries, key=lambda of: not of[1].error_occurred):  # an error of any repetition outranks what was skipped
        if entry.error_occurred or entry.skipped is True:
            return replace(case, place=at, skipped=reason(entry.error_message or entry.skip_message), failed=entry.error_occurred)
    try:
        return replace(case, **_times(entries))
    except Misfit as misfit:
        return unusable(case, misfit)


def _times(entries: list[tuple[str, _Entry]]) -> dict[str, Any]:
    """The times of a case: each repetition is a sample, or else each mean where the file has those of several runs."""
    runs = [(at, entry) for at, entry in entries if entry.run_type != "aggregate"]
    means = [(at, entry) for at, entry in entries if entry.aggregate_name == "mean"]
    if not runs and len(means) < 2:
        return _aggregates(entries)
    runs = runs or means
    samples = np.array([_seconds(at, entry) for at, entry in runs])
    rates = np.array([entry.bytes_per_second for _, entry in runs if 0 < entry.bytes_per_second < np.inf])
    return of_samples(samples, lambda index: f"{runs[index][0]}.real_time") | {"rates": rates}


def _aggregates(entries: list[tuple[str, _Entry]]) -> dict[str, Any]:
    """Mean, deviation and median of repetitions that the file does not have one by one."""
    of = {entry.aggregate_name: (at, entry) for at, entry in entries}
    if "mean" not in of:
        return {"skipped": "the file has no time of it"}
    found: dict[str, Any] = {"count": of["mean"][1].repetitions, "mean": time(_seconds(*of["mean"]), f"{of['mean'][0]}.real_time")}
    found |= {field: _seconds(*of[name]) for name, field in (("stddev", "stdev"), ("median", "median")) if name in of}
    if not 0 <= found.get("stdev", 0) <= LONGEST:
        raise Misfit(f"{of['stddev'][0]}.real_time", f"is {of['stddev'][1].real_time:g}, no deviation: {REMEDY}")
    if 0 < (rate := of["mean"][1].bytes_per_second) < np.inf:
        found["rates"] = np.array([rate])
    return found


def _seconds(place: str, entry: _Entry) -> float:
    if entry.real_time is None:
        raise Misfit(f"{place}.real_time", f"is missing: {REMEDY}")
    return entry.real_time * _SECONDS[entry.time_unit]


def _axes(parts: list[str]) -> dict[str, str | float]:
    """The numbers among the arguments, each by its name, or by which one it is."""
    axes: dict[str, str | float] = {}
    for number, part in enumerate(parts, 1):
        found = _ARGUMENT.fullmatch(part)
        if found and found["name"] not in _SETTINGS:
            axes[found["name"] or f"argument {number}"] = float(found["value"]) if "." in found["value"] else int(found["value"])
        elif not found:
            axes[f"argument {number}"] = part
    return axes
