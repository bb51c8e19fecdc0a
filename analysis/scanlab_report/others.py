"""Results of nvbench and of Google Benchmark as rows of the table `other`.

A row is a case with its samples, or with what the file states where it has none.
"""

import contextlib
import math
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from msgspec import Struct

from scanlab_report.schema.base import Count
from scanlab_report.schema.fields import REMEDY, Misfit, convert, listed, shown, whole
from scanlab_report.tables import COLUMNS

NVBENCH, GOOGLE = "nvbench", "Google Benchmark"
_NO_TIME = "the file has no time of it"
_NEW: dict[str, Any] = {"skipped": "", "failed": False, "unusable": False, "axes": {}, "count": 0}
_NEW |= dict.fromkeys(("case", "device", "gpu"), "") | {"samples": np.empty(0)}
_NEW |= dict.fromkeys(("mean", "stdev", "median", "batch", "rate"), math.nan)
"""A case without a time yet. Times are in seconds, and NaN if the file does not state them."""


def program(document: Any) -> str:
    """The other program that wrote a document, sound or not; empty if none of the two did."""
    context = document.get("context") if isinstance(document, dict) else None
    for part in (document, context):
        if isinstance(part, dict) and str(part.get("schema", "")).startswith("scanlab-"):
            return ""
    with contextlib.suppress(KeyError, TypeError):
        return NVBENCH if document["meta"]["version"]["json"]["major"] == 1 else ""
    return GOOGLE if isinstance(context, dict) and "library_build_type" in context else ""


def read(file: Path, document: Mapping[str, Any]) -> tuple[dict[str, Any], pd.DataFrame]:
    """Return the context of a file and its rows; a case that does not fit has a reason."""
    by = program(document)
    context, cases = (nvbench if by == NVBENCH else google)(file, document)
    rows = pd.DataFrame(cases, columns=["benchmark", *_NEW])
    if len(set(rows["device"]) - {""}) == 1:  # the slot of the only GPU names no case
        rows["device"] = ""
    again = rows.groupby(["benchmark", "case", "device"]).cumcount() + 1
    occurrence = (" (occurrence " + again.astype(str) + ")").where(again > 1, "")
    rows["case"] = (rows["case"] + occurrence).str.strip()
    rows["samples"] = 1e9 * rows["samples"]
    for name in ("median", "mean", "stdev"):
        rows[f"{name}_ns"] = 1e9 * rows[name].astype(float)
    rows["stdev_ns"] = rows["stdev_ns"].where(rows["stdev_ns"].between(0, sys.float_info.max))
    return context | {"program": by}, rows.reindex(columns=COLUMNS["other"])


def _one_line(text: str) -> str:
    """Text of a user on one line, without control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _unusable(place: str, error: ValueError) -> dict[str, Any]:
    """The part of a case that cannot be used. The whole file need not be made again for it."""
    misfit = error if isinstance(error, Misfit) else Misfit(place, str(error))
    reason = f"{misfit.place} {misfit.message.removesuffix(f': {REMEDY}')}"
    return {"skipped": _one_line(reason), "unusable": True}


def _time(seconds: float, place: str) -> float:
    """A time that can be meant; else Misfit. Beyond, the arithmetic would overflow."""
    if not 1e-15 <= seconds <= 1e9:  # so is NaN
        raise Misfit(place, f"is {seconds:g} s, no time that a run takes")
    return seconds


def _sampled(samples: np.ndarray, place: str) -> dict[str, Any]:
    """The part of a case that follows from its samples; Misfit if one is no time."""
    for end in (samples.min(), samples.max()):
        _time(float(end), place)
    stdev = float(np.std(samples, ddof=1)) if len(samples) > 1 else math.nan
    about = {"mean": float(np.mean(samples)), "median": float(np.median(samples))}
    return {"samples": samples, "count": len(samples), "stdev": stdev} | about


# ------------------------------------------------ nvbench: --json, and the samples of --jsonbin


_COLD, _BATCH = "nv/cold/time/gpu", "nv/batch/time/gpu/mean"
_ERROR = "Unexpected error"
"""The reason begins so where an exception ended a state: nvbench calls it skipped, too."""
_SINGLE = 1e-5
"""A mean of float32 may be off by this part; more shows that samples are of another run."""


class _Value(Struct):
    name: str
    type: str
    value: str

    @property
    def content(self) -> str | float:
        numeric = self.type in ("int64", "float64")
        return _number(self.value) if numeric else _one_line(self.value)


class _Summary(Struct):
    tag: str
    data: list[_Value] | None = None


class _State(Struct):
    device: int | None = None
    axis_values: list[_Value] | None = None
    summaries: list[_Summary] | None = None
    is_skipped: bool = False
    skip_reason: str = ""


class _Benchmark(Struct):
    name: str
    states: list[Any] | None


class _Document(Struct):
    benchmarks: list[_Benchmark] | None
    devices: list[dict[str, Any]] | None = None


def nvbench(file: Path, document: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The context and the cases of nvbench's JSON, format 1; Misfit if it is no results file."""
    content, cases = convert(document, _Document), []
    gpus = {str(gpu.get("id")): _one_line(str(gpu.get("name"))) for gpu in content.devices or []}
    for b, benchmark in enumerate(content.benchmarks or []):
        for s, raw in enumerate(benchmark.states or []):
            place = f"benchmarks[{b}].states[{s}]"
            cases.append(case := _NEW | {"benchmark": _one_line(benchmark.name)})
            try:
                state = convert(raw, _State, place)
                case |= _named(state, gpus)
                if state.is_skipped:
                    case["failed"] = state.skip_reason.startswith(_ERROR)
                    case["skipped"] = _one_line(state.skip_reason) or _NO_TIME
                else:
                    case |= _state_times(file, place, state)
            except ValueError as error:
                case |= _unusable(place, error)
    return {"device": ", ".join(dict.fromkeys(c["gpu"] for c in cases if c["gpu"]))}, cases


def _named(state: _State, gpus: Mapping[str, str]) -> dict[str, Any]:
    values = {_one_line(axis.name): axis.content for axis in state.axis_values or []}
    axes = dict(sorted(values.items()))  # two runs may list them in another order
    name = " ".join(f"{name}={in_words(value)}" for name, value in axes.items())
    device = "" if state.device is None else str(state.device)
    return {"case": name, "device": device, "gpu": gpus.get(device, ""), "axes": axes}


def _state_times(file: Path, place: str, state: _State) -> dict[str, Any]:
    """The times of a state, from its summaries by tag."""
    values = {
        (s.tag, item.name): item.value for s in state.summaries or [] for item in s.data or []
    }
    number = lambda tag: _number(values.get((tag, "value"), "nan"))
    count = lambda tag, name: whole(values.get((tag, name), "0"), f"{name} of {tag}")
    if (f"{_COLD}/mean", "value") not in values:
        return {"skipped": _NO_TIME}
    mean = _time(number(f"{_COLD}/mean"), f"{place}, {_COLD}/mean,")
    made = {"mean": mean, "median": number(f"{_COLD}/median")}
    made["rate"] = number("nv/cold/bw/global/bytes_per_second")
    if (_BATCH, "value") in values:
        made["batch"] = _time(number(_BATCH), f"{place}, {_BATCH},")
    samples = "nv/json/bin:nv/cold/sample_times"
    if name := values.get((samples, "filename")):
        times = _samples(file, name, count(samples, "size"), mean)
        return made | _sampled(times, f"{place}, {name}")
    made["stdev"] = number(f"{_COLD}/stdev/relative") * mean  # inf of fewer than five samples
    return made | {"count": count("nv/cold/sample_size", "value")}


def _samples(file: Path, name: str, count: int, mean: float) -> np.ndarray:
    """Read the samples from their folder beside the JSON; ValueError if they are not of the run."""
    try:
        raw = (file.parent / Path(*Path(name).parts[-2:])).read_bytes()
    except OSError as error:
        raise ValueError(f"{shown(name)} cannot be read ({error.strerror})") from None
    if len(raw) != 4 * count or not count:
        raise ValueError(f"{shown(name)} has {len(raw)} bytes, not 4 for each of {count} samples")
    samples = np.frombuffer(raw, dtype="<f4").astype(float)
    if abs(float(np.mean(samples)) - mean) > _SINGLE * mean:
        raise ValueError(f"{shown(name)} is of another run: its mean is not that of the state")
    return samples


def _number(text: str) -> float:
    return int(text) if text.lstrip("-").isdigit() else float(text)


def in_words(value: str | float) -> str:
    """A power of two as nvbench's users write it; 0.3, not the double next to it."""
    if isinstance(value, int) and value >= 1024 and value & (value - 1) == 0:
        return f"2^{value.bit_length() - 1}"
    return f"{value:.12g}" if isinstance(value, float) else str(value)


# ----------------------------------------------------------- Google Benchmark: --benchmark_out


_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_ARGUMENT = re.compile(r"(?:([^:]+):)?(-?\d+(?:\.\d+)?)")
_FITTED = ("BigO", "RMS")
"""Aggregates of a whole family of benchmarks: no times."""


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
    """Return the context and the cases of Google Benchmark's JSON. Entries of one registration are
    its samples; a benchmark that is registered twice makes two cases of one name."""
    about = {"date": "", "host_name": "", "num_cpus": 0} | document["context"]
    registered: dict[tuple[str, int | None, int | None], dict[str, _Entry]] = {}
    for index, raw in enumerate(listed(document, "benchmarks")):
        place = f"benchmarks[{index}]"
        entry = convert(raw, _Entry, place)
        if entry.aggregate_name not in _FITTED:
            name = _one_line(entry.run_name or entry.name)
            key = (name, entry.family_index, entry.per_family_instance_index)
            registered.setdefault(key, {})[place] = entry
    cases = []
    for (name, *_), entries in registered.items():
        benchmark, _, arguments = name.partition("/")
        try:
            times = _entry_times(entries)
        except Misfit as misfit:
            times = _unusable("", misfit)
        axes = _arguments(arguments)
        cases.append(_NEW | {"benchmark": benchmark, "case": arguments, "axes": axes} | times)
    cpu = f"{_one_line(str(about['host_name'])) or 'unnamed host'}, {about['num_cpus']} CPUs"
    return {"kind": "host", "cpu": cpu, "date": _one_line(str(about["date"]))}, cases


def _entry_times(entries: Mapping[str, _Entry]) -> dict[str, Any]:
    """The samples of a registration, or aggregates, or why it has no time."""
    for entry in sorted(entries.values(), key=lambda entry: not entry.error_occurred):
        if entry.error_occurred or entry.skipped is True:  # an error outranks what was skipped
            reason = _one_line(entry.error_message or entry.skip_message) or _NO_TIME
            return {"skipped": reason, "failed": entry.error_occurred}
    runs = {place: entry for place, entry in entries.items() if entry.run_type == "iteration"}
    times = [_time(entry.seconds, f"{place}.real_time") for place, entry in runs.items()]
    if times:
        rate = np.median([entry.bytes_per_second for entry in runs.values()])
        return _sampled(np.array(times), next(iter(runs))) | {"rate": rate}
    aggregates = {entry.aggregate_name: (place, entry) for place, entry in entries.items()}
    if "mean" not in aggregates:
        return {"skipped": _NO_TIME}
    place, mean = aggregates["mean"]
    made = {"count": mean.repetitions, "rate": mean.bytes_per_second}
    made["mean"] = _time(mean.seconds, f"{place}.real_time")
    for name, field in (("stddev", "stdev"), ("median", "median")):
        made[field] = aggregates[name][1].seconds if name in aggregates else np.nan
    return made


def _arguments(text: str) -> dict[str, float]:
    """Return the arguments that are numbers, each by its name, or else by its place."""
    found = enumerate(map(_ARGUMENT.fullmatch, text.split("/")), 1)
    return {part[1] or f"argument {number}": float(part[2]) for number, part in found if part}
