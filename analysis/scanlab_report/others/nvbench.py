"""The results of nvbench (--json, and the samples that --jsonbin writes)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

from scanlab_report.others.cases import (
    checked_time,
    new_case,
    one_line,
    reason_of,
    sampled,
    unusable,
)
from scanlab_report.schema.fields import REMEDY, Misfit, convert, shown

_CLOCKS = {"nv/cold": ("GPU", "nv/cold/time/gpu"), "nv/cpu_only": ("CPU", "nv/cpu_only/time/cpu")}
"""The clock of each way of timing, and the tag of its times. The first that a state has counts."""
_BATCH = "nv/batch/time/gpu/mean"
_ERROR = "Unexpected error"
"""The reason begins so where an exception ended a state: nvbench calls it skipped, too."""
_SINGLE = 1e-5
"""A mean of float32 may be off by this part; more shows that samples are of another run."""


class _Value(Struct):
    name: str
    type: str
    value: str


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


class _Device(Struct):
    id: int
    name: str


class _Version(Struct):
    major: int
    string: str = ""


class _Versions(Struct):
    json: _Version
    nvbench: _Version


class _Meta(Struct):
    version: _Versions
    argv: list[str] | None = None


class _Document(Struct):
    meta: _Meta
    benchmarks: list[_Benchmark] | None
    devices: list[_Device] | None = None


def nvbench(file: Path, document: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The context and the cases of nvbench's JSON; Misfit if it is no results file."""
    major = convert(document["meta"], _Meta, "meta").version.json.major
    if major != 1:
        message = f"is {major}, and only format 1 of nvbench's JSON is known here"
        raise Misfit("meta.version.json.major", message)
    content = convert(document, _Document)
    names = {str(device.id): one_line(device.name) for device in content.devices or []}
    cases = [
        _state(file, f"benchmarks[{b}].states[{s}]", one_line(benchmark.name), state, names)
        for b, benchmark in enumerate(content.benchmarks or [])
        for s, state in enumerate(benchmark.states or [])
    ]
    used = {case["device"]: case["gpu"] for case in cases if case["gpu"]}
    context = {
        "device": ", ".join(dict.fromkeys(used[number] for number in sorted(used))),
        "argv": one_line(" ".join(content.meta.argv or [])),
        "nvbench": content.meta.version.nvbench.string,
    }
    return context, cases


def _state(
    file: Path, place: str, benchmark: str, raw: Any, names: Mapping[str, str]
) -> dict[str, Any]:
    case = new_case(place, benchmark)
    try:
        state = convert(raw, _State, place)
        axes = {
            one_line(axis.name): _axis_value(axis, f"{place}.axis_values[{index}].value")
            for index, axis in enumerate(state.axis_values or [])
        }
        device = "" if state.device is None else str(state.device)
        point = " ".join(f"{name}={_in_words(value)}" for name, value in axes.items())
        case |= {"point": point, "device": device, "gpu": names.get(device, ""), "axes": axes}
        if state.is_skipped:
            failed = state.skip_reason.startswith(_ERROR)
            return case | {"skipped": reason_of(state.skip_reason), "failed": failed}
        return case | _summarised(file, place, state)
    except Misfit as misfit:
        return case | {"skipped": unusable(misfit), "misfit": misfit}


def _summarised(file: Path, place: str, state: _State) -> dict[str, Any]:
    """The times of a state, from its summaries by tag."""
    values = {
        (summary.tag, item.name): (item.value, f"{place}.summaries[{s}].data[{v}].value")
        for s, summary in enumerate(state.summaries or [])
        for v, item in enumerate(summary.data or [])
    }

    def number(tag: str) -> float:
        """Return the value of a tag; NaN if the state does not have it."""
        return _number(*values.get((tag, "value"), ("nan", "")))

    def count(tag: str, name: str = "value") -> int:
        text, where = values.get((tag, name), ("0", ""))
        if not text.isascii() or not text.isdigit() or len(text) > 15:
            raise Misfit(where, f"is {shown(text)}, no count: {REMEDY}")
        return int(text)

    ways = [way for way, (_, times) in _CLOCKS.items() if (f"{times}/mean", "value") in values]
    if not ways:
        return {"skipped": "the file has no time of it"}
    way, (clock, times) = ways[0], _CLOCKS[ways[0]]
    mean = checked_time(number(f"{times}/mean"), values[f"{times}/mean", "value"][1])
    sample_count, rate = count(f"{way}/sample_size"), number(f"{way}/bw/global/bytes_per_second")
    has_rate = 0 < rate < math.inf
    timed: dict[str, Any] = {"clock": clock} | ({} if clock == "GPU" else {"device": "", "gpu": ""})
    if (_BATCH, "value") in values:
        timed["batch"] = checked_time(number(_BATCH), values[_BATCH, "value"][1])
    tag = f"nv/json/bin:{way}/sample_times"
    if (tag, "filename") in values:
        samples = _binary(file, *values[tag, "filename"], count(tag, "size"), mean)
        rates = rate * mean / samples if has_rate else np.empty(0)  # nvbench divides by the mean
        places = [f"{place}: sample {index}" for index in range(len(samples))]
        return timed | sampled(samples, places) | {"rates": rates}
    # Older files have the noise in parts of the mean alone; nvbench writes inf where samples were
    # fewer than five.
    stdev = number(f"{times}/stdev/relative") * mean
    timed |= {"count": sample_count, "mean": mean, "median": number(f"{times}/median")}
    timed["stdev"] = stdev if 0 <= stdev < math.inf else math.nan
    return timed | {"rates": np.array([rate] if has_rate else [])}


def _binary(file: Path, name: str, place: str, count: int, mean: float) -> np.ndarray:
    """Read the samples in a file beside the JSON. Older versions name the file relative to the
    folder that nvbench ran in; it always lies in a folder beside the JSON."""
    candidates = [file.parent / name, file.parent / Path(*Path(name).parts[-2:])]
    try:
        raw = next((path for path in candidates if path.is_file()), candidates[0]).read_bytes()
    except OSError as error:
        reason = f"which cannot be read beside the JSON ({error.strerror})"
        raise Misfit(
            place, f"is {shown(name)}, {reason}: move the folder together with it"
        ) from None
    if len(raw) != 4 * count or not count:
        takes = f"which has {len(raw)} bytes, and {count} samples take {4 * count}"
        raise Misfit(place, f"is {shown(name)}, {takes}: {REMEDY}")
    samples = np.frombuffer(raw, dtype="<f4").astype(float)
    if np.isfinite(samples).all() and abs(float(np.mean(samples)) - mean) > _SINGLE * mean:
        message = (
            f"the mean of its samples is {np.mean(samples):.6g} s, and that of the state "
            f"{mean:.6g} s"
        )
        raise Misfit(place, f"is {shown(name)}, of another run: {message}")
    return samples


def _axis_value(axis: _Value, place: str) -> str | float:
    numeric = axis.type in ("int64", "float64")
    return _number(axis.value, place) if numeric else one_line(axis.value)


def _number(text: str, place: str) -> float:
    try:
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        raise Misfit(place, f"is {shown(text)}, no number: {REMEDY}") from None


def _in_words(value: str | float) -> str:
    """A power of two as nvbench's users write it; 0.3, not the double next to it."""
    if isinstance(value, int) and value >= 1024 and value & (value - 1) == 0:
        return f"2^{value.bit_length() - 1}"
    return f"{value:.12g}" if isinstance(value, float) else str(value)
