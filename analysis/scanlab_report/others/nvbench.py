"""The results of nvbench (--json, and the samples that --jsonbin writes), of JSON format 1."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

from scanlab_report.others.cases import NO_TIME, checked_time, new_case, one_line, sampled, unusable
from scanlab_report.schema.fields import convert, shown, whole

_COLD, _BATCH = "nv/cold/time/gpu", "nv/batch/time/gpu/mean"
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


class _Document(Struct):
    benchmarks: list[_Benchmark] | None
    devices: list[_Device] | None = None


def nvbench(file: Path, document: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The context and the cases of nvbench's JSON; Misfit if it is no results file."""
    content = convert(document, _Document)
    gpus = {str(device.id): one_line(device.name) for device in content.devices or []}
    cases = [
        _state(file, f"benchmarks[{b}].states[{s}]", one_line(benchmark.name), state, gpus)
        for b, benchmark in enumerate(content.benchmarks or [])
        for s, state in enumerate(benchmark.states or [])
    ]
    used = dict.fromkeys(case["gpu"] for case in cases if case["gpu"])
    return {"device": ", ".join(used)}, cases


def _state(
    file: Path, place: str, benchmark: str, raw: Any, gpus: Mapping[str, str]
) -> dict[str, Any]:
    case = new_case(place, benchmark)
    try:
        state = convert(raw, _State, place)
        values = {one_line(axis.name): _axis_value(axis) for axis in state.axis_values or []}
        axes = dict(sorted(values.items()))  # two runs may list them in another order
        device = "" if state.device is None else str(state.device)
        name = " ".join(f"{name}={in_words(value)}" for name, value in axes.items())
        case |= {"case": name, "device": device, "gpu": gpus.get(device, ""), "axes": axes}
        if state.is_skipped:
            case["failed"] = state.skip_reason.startswith(_ERROR)
            return case | {"skipped": one_line(state.skip_reason) or NO_TIME}
        return case | _times(file, place, state)
    except ValueError as error:
        return case | unusable(place, error)


def _times(file: Path, place: str, state: _State) -> dict[str, Any]:
    """The times of a state, from its summaries by tag."""
    values = {
        (s.tag, item.name): item.value for s in state.summaries or [] for item in s.data or []
    }
    number = lambda tag: _number(values.get((tag, "value"), "nan"))
    count = lambda tag, name: whole(values.get((tag, name), "0"), f"{name} of {tag}")
    if (f"{_COLD}/mean", "value") not in values:
        return {"skipped": NO_TIME}
    mean = checked_time(number(f"{_COLD}/mean"), f"{place}, {_COLD}/mean,")
    made = {"mean": mean, "median": number(f"{_COLD}/median")}
    made["rate"] = number("nv/cold/bw/global/bytes_per_second")
    if (_BATCH, "value") in values:
        made["batch"] = checked_time(number(_BATCH), f"{place}, {_BATCH},")
    samples = "nv/json/bin:nv/cold/sample_times"
    if name := values.get((samples, "filename")):
        times = _samples(file, name, count(samples, "size"), mean)
        return made | sampled(times, f"{place}, {name}")
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


def _axis_value(axis: _Value) -> str | float:
    return _number(axis.value) if axis.type in ("int64", "float64") else one_line(axis.value)


def _number(text: str) -> float:
    return int(text) if text.lstrip("-").isdigit() else float(text)


def in_words(value: str | float) -> str:
    """A power of two as nvbench's users write it; 0.3, not the double next to it."""
    if isinstance(value, int) and value >= 1024 and value & (value - 1) == 0:
        return f"2^{value.bit_length() - 1}"
    return f"{value:.12g}" if isinstance(value, float) else str(value)
