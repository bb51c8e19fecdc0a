"""nvbench's JSON (``--json``), and the samples that ``--jsonbin`` writes beside it.

A state's times are its summaries, by tag: those of isolated runs on the GPU (``nv/cold``), or of benchmarks of the CPU alone
(``nv/cpu_only``). Numbers are text there. A list without entries is ``null``. Samples are little-endian float32, in seconds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

from scanlab_report.schema.fields import REMEDY, Misfit, convert, shown
from scanlab_report.foreign.cases import NVBENCH, Case, Foreign, numbered, of_samples, one_line, reason, time, unusable
from scanlab_report.data import MEASURED, File

FORMAT = 1
"""The major version of the JSON's format that is read."""
_CLOCKS = {"nv/cold": ("GPU", "nv/cold/time/gpu"), "nv/cpu_only": ("CPU", "nv/cpu_only/time/cpu")}
"""Of each way of timing what it times, and where its times are. The first that a state has counts."""
_BATCH = "nv/batch/time/gpu/mean"
_ERROR = "Unexpected error"
"""How the reason begins where an exception ended a state: nvbench calls it skipped, too."""
_SINGLE = 1e-5
"""A mean of float32 may be off by this part; more says that samples are of another run."""


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


def is_one(document: Mapping[str, Any]) -> bool:
    """Whether a document is nvbench's results, sound or not."""
    meta = document.get("meta")
    version = meta.get("version") if isinstance(meta, dict) else None
    return isinstance(version, dict) and "nvbench" in version


def read(file: Path, document: Mapping[str, Any]) -> Foreign:
    """The cases of a file; Misfit if it is no results file. A state that does not fit is a case without a time."""
    if (version := convert(document["meta"], _Meta, "meta").version.json).major != FORMAT:
        raise Misfit("meta.version.json.major", f"is {version.major}, and only format {FORMAT} of nvbench's JSON is known here")
    content = convert(document, _Document)
    names = {str(device.id): one_line(device.name) for device in content.devices or []}
    cases = [_case(file, f"benchmarks[{b}].states[{s}]", one_line(benchmark.name), state, names)
             for b, benchmark in enumerate(content.benchmarks or []) for s, state in enumerate(benchmark.states or [])]  # fmt: skip
    used = {case.device: case.gpu for case in cases if case.gpu}
    about = {"device": ", ".join(dict.fromkeys(used[of] for of in sorted(used))), "argv": one_line(" ".join(content.meta.argv or [])),
             "nvbench": content.meta.version.nvbench.string}  # fmt: skip
    return Foreign(File(file, MEASURED, about), NVBENCH, numbered(cases))


def _case(file: Path, place: str, benchmark: str, raw: Any, names: Mapping[str, str]) -> Case:
    case = Case(place, benchmark, "")
    try:
        state = convert(raw, _State, place)
        axes = {one_line(of.name): _axis_value(of, f"{place}.axis_values[{index}].value") for index, of in enumerate(state.axis_values or [])}
        device = "" if state.device is None else str(state.device)
        case = Case(place, benchmark, " ".join(f"{name}={_in_words(value)}" for name, value in axes.items()), device, names.get(device, ""), axes=axes)
        return _timed(file, case, state)
    except Misfit as misfit:
        return unusable(case, misfit)


def _timed(file: Path, case: Case, state: _State) -> Case:
    place = case.place
    if state.is_skipped:
        return replace(case, skipped=reason(state.skip_reason), failed=state.skip_reason.startswith(_ERROR))
    summaries = _Summaries(place, state.summaries or [])
    way = next((way for way, (_, times) in _CLOCKS.items() if summaries.has(f"{times}/mean")), None)
    if way is None:
        return replace(case, skipped="the file has no time of it")
    clock, times = _CLOCKS[way]
    mean, count = summaries.time(f"{times}/mean"), summaries.count(f"{way}/sample_size")
    rate = summaries.number(f"{way}/bw/global/bytes_per_second")
    has_rate = 0 < rate < math.inf
    said: dict[str, Any] = {"clock": clock} if clock == "GPU" else {"clock": clock, "device": "", "gpu": ""}
    if summaries.has(_BATCH):
        said["batch"] = summaries.time(_BATCH)
    if (samples := summaries.samples(file, f"nv/json/bin:{way}/sample_times", mean)) is not None:
        said |= of_samples(samples, lambda index: f"{place}: sample {index}")
        return replace(case, **said, rates=rate * mean / said["samples"] if has_rate else np.empty(0))  # nvbench divides by the mean
    # Older files have the noise in parts of the mean alone; nvbench writes inf where samples were fewer than five.
    stdev = summaries.number(f"{times}/stdev/relative") * mean
    stdev = stdev if 0 <= stdev < math.inf else math.nan
    return replace(case, **said, count=count, mean=mean, stdev=stdev, median=summaries.number(f"{times}/median"),
                   rates=np.array([rate] if has_rate else []))  # fmt: skip


class _Summaries:
    """The summaries of one state, by tag, with their places."""

    def __init__(self, place: str, summaries: list[_Summary]) -> None:
        self.values = {(summary.tag, value.name): (value.value, f"{place}.summaries[{s}].data[{v}].value")
                       for s, summary in enumerate(summaries) for v, value in enumerate(summary.data or [])}  # fmt: skip

    def has(self, tag: str) -> bool:
        return (tag, "value") in self.values

    def number(self, tag: str) -> float:
        """NaN where the state does not have it."""
        text, place = self.values.get((tag, "value"), ("nan", ""))
        return _number(text, place)

    def time(self, tag: str) -> float:
        return time(self.number(tag), self.values[tag, "value"][1])

    def count(self, tag: str, name: str = "value") -> int:
        text, place = self.values.get((tag, name), ("0", ""))
        if not text.isascii() or not text.isdigit() or len(text) > 15:
            raise Misfit(place, f"is {shown(text)}, no count: {REMEDY}")
        return int(text)

    def samples(self, file: Path, tag: str, mean: float) -> np.ndarray | None:
        """The samples that a summary names; None where nvbench wrote none."""
        if (tag, "filename") not in self.values:
            return None
        name, place = self.values[tag, "filename"]
        # Older versions name the file from the folder that nvbench ran in; it always lies in one beside the JSON.
        beside = [file.parent / name, file.parent / Path(*Path(name).parts[-2:])]
        try:
            raw = next((path for path in beside if path.is_file()), beside[0]).read_bytes()
        except OSError as error:
            raise Misfit(place, f"is {shown(name)}, which cannot be read beside the JSON ({error.strerror}): move the folder together with it") from None
        count = self.count(tag, "size")
        if len(raw) != 4 * count or not count:
            raise Misfit(place, f"is {shown(name)}, which has {len(raw)} bytes, and {count} samples take {4 * count}: {REMEDY}")
        samples = np.frombuffer(raw, dtype="<f4").astype(float)
        if np.isfinite(samples).all() and abs(float(np.mean(samples)) - mean) > _SINGLE * mean:
            raise Misfit(place, f"is {shown(name)}, of another run: the mean of its samples is {np.mean(samples):.6g} s, and that of the state {mean:.6g} s")
        return samples


def _axis_value(of: _Value, place: str) -> str | float:
    return _number(of.value, place) if of.type in ("int64", "float64") else one_line(of.value)


def _number(text: str, place: str) -> float:
    try:
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        raise Misfit(place, f"is {shown(text)}, no number: {REMEDY}") from None


def _in_words(value: str | float) -> str:
    """A power of two as nvbench's users write it."""
    if isinstance(value, int) and value >= 1024 and value & (value - 1) == 0:
        return f"2^{value.bit_length() - 1}"
    return f"{value:.12g}" if isinstance(value, float) else str(value)  # 0.3, not the double next to it
