"""Results of other programs, nvbench's JSON and Google Benchmark's, as rows of the table `other`.

A row is a case: a benchmark at one point of its axes, on one device, with its samples, or with what
the file states where it has none. nvbench (`--json`, and the samples that `--jsonbin` writes beside
it, little-endian float32) keeps a summary per tag: of isolated runs on the GPU (`nv/cold`), or of
benchmarks of the CPU alone (`nv/cpu_only`). Numbers are text there, and a list without entries is
null. Google Benchmark (`--benchmark_out`) keeps an entry per repetition: the real time of one
iteration. The arguments stand in its name alone.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from msgspec import Struct
from msgspec.structs import asdict

from scanlab_report.data import COLUMNS, Complaint
from scanlab_report.schema.base import Count, Number
from scanlab_report.schema.fields import REMEDY, Misfit, convert, listed, shown

NVBENCH, GOOGLE = "nvbench", "Google Benchmark"
SHORTEST, LONGEST = 1e-15, 1e9
"""In seconds: no run takes a time beyond, and the arithmetic would overflow."""
MORE_SAMPLES = {
    NVBENCH: "--jsonbin FILE, in the place of --json FILE, makes nvbench keep every sample",
    GOOGLE: "--benchmark_repetitions=10 makes ten samples, and "
            "--benchmark_report_aggregates_only drops them",
}  # fmt: skip
"""The option of each program that writes what a verdict by medians needs."""
WANTED = ("wanted are results of scanlab (--out), nvbench (--json, --jsonbin) or Google Benchmark "
          "(--benchmark_out)")  # fmt: skip
_OTHERS = (
    ("results of hyperfine", "results", "command"), ("results of pyperf", "benchmarks", "runs"),
    ("results of pytest-benchmark", "benchmarks", "stats"), ("results of JMH", "", "jmhVersion"),
    ("results of nvbench without their meta.version", "benchmarks", "states"),
    ("nvbench's list of benchmarks, without results", "benchmarks", "axes"),
    ("results in Google Benchmark's format, without their context", "benchmarks", "real_time"),
)  # fmt: skip
"""Documents that are taken for results: the kind, the list in them, a key of its first entry."""
_CONTEXT = ("library_build_type", "mhz_per_cpu", "num_cpus")
"""Every version of Google Benchmark has one of them in its context."""


class Unknown(Complaint):
    """A file of no known program, and what it seems to be."""


def program(document: Any) -> str:
    """The other program that wrote a document, sound or not; empty if none of the two did."""
    if not isinstance(document, dict) or _is_own(document):
        return ""
    meta, context = document.get("meta"), document.get("context")
    version = meta.get("version") if isinstance(meta, dict) else None
    if isinstance(version, dict) and "nvbench" in version:
        return NVBENCH
    about = isinstance(context, dict) and any(key in context for key in _CONTEXT)
    return GOOGLE if about and "schema" not in document else ""


def _is_own(document: Any) -> bool:
    """Whether a document states a schema of Scanlab, or has entries as its results have."""
    for part in document if isinstance(document, list) else [document]:
        if not isinstance(part, dict):
            continue
        context, entries = part.get("context"), part.get("benchmarks")
        schemas = [of.get("schema", "") for of in (part, context) if isinstance(of, dict)]
        outcomes = isinstance(entries, list) and any("outcome" in entry for entry in entries
                                                     if isinstance(entry, dict))  # fmt: skip
        if "traceEvents" in part or outcomes or any(str(s).startswith("scanlab-") for s in schemas):
            return True
    return False


def unknown(file: Path, document: Any) -> Unknown | None:
    """What a document of no known program seems to be; None if it is of a known one."""
    if program(document) or _is_own(document):
        return None
    for what, key, inner in _OTHERS:
        entries = document.get(key) if isinstance(document, dict) and key else document
        first = entries[0] if isinstance(entries, list) and entries else None
        if isinstance(first, dict) and inner in first and bool(key) == isinstance(document, dict):
            return Unknown(file, f"{key}[0].{inner}", f"seems to be {what}: {WANTED}")
    seen = f"a list of {len(document)}" if isinstance(document, list) else str(type(document))
    if isinstance(document, dict):
        if any("schema" in part for part in (document, document.get("context"))
               if isinstance(part, dict)):  # fmt: skip
            return None  # Scanlab's reader states what is wrong with it
        keys = ", ".join(map(shown, list(document)[:5])) or "none"
        return Unknown(file, "", f"is JSON of no program that is known here; its keys are {keys}: {WANTED}")
    return Unknown(file, "", f"is JSON of no program that is known here, {seen}: {WANTED}")


def no_json(file: Path, raw: bytes) -> Unknown | None:
    """A complaint about bytes that do not begin as JSON does."""
    if not raw or raw[:99].lstrip()[:1] in (b"{", b"[", b""):
        return None
    first = raw[:9999].decode("utf-8", errors="replace").strip().partition("\n")[0]
    return Unknown(file, "line 1", f"is no JSON, and begins with {shown(first)}: {WANTED}")


def read(file: Path, document: Mapping[str, Any]) -> tuple[dict[str, Any], pd.DataFrame]:
    """The context of a file and its rows of `other`; Misfit if it is no results file. A case that
    does not fit has no time, and the reason."""
    by = program(document)
    context, cases = (nvbench if by == NVBENCH else _google)(file, document)
    seen: Counter[tuple[str, ...]] = Counter()
    rows = []
    for case in cases:
        named = (case["benchmark"], " ".join(sorted(case["point"].split())), case["device"])
        seen[named] += 1
        again = f"(occurrence {seen[named]})" if seen[named] > 1 else ""
        ns = {f"{name}_ns": 1e9 * case[name] for name in ("median", "mean", "stdev")}
        rows.append(case | ns | {
            "case": f"{case['point']} {again}".strip(), "key": f"{named[1]} {again}".strip(),
            "samples": 1e9 * case["samples"],
        })  # fmt: skip
    table = pd.DataFrame(rows, columns=COLUMNS["other"])
    return context | {"program": by}, table


def _case(place: str, benchmark: str, point: str = "", **more: Any) -> dict[str, Any]:
    """A case without a time yet; times are in seconds, and NaN where the file does not state them.
    `device` is the number of the GPU, `gpu` its name; `rates` are bytes per second, one per sample,
    or a single one."""
    return {"place": place, "benchmark": benchmark, "point": point, "device": "", "gpu": "",
            "axes": {}, "clock": "", "samples": np.empty(0), "count": 0, "mean": math.nan,
            "stdev": math.nan, "median": math.nan, "batch": math.nan, "rates": np.empty(0),
            "skipped": "", "failed": False, "misfit": None, **more}  # fmt: skip


def one_line(text: str) -> str:
    """Text of a user on one line, without control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _reason(text: str) -> str:
    return one_line(text) or "skipped, and the file does not say why"


def _unusable(misfit: Misfit) -> str:
    """The place and the fault; making the whole file again is not needed for one case."""
    return one_line(f"{misfit.place} {misfit.message.removesuffix(f': {REMEDY}')}")


def _time(seconds: float, place: str) -> float:
    """A time that can be meant; else Misfit."""
    if not SHORTEST <= seconds <= LONGEST:  # so is NaN
        raise Misfit(place, f"is {seconds:g} s, no time that a run takes: {REMEDY}")
    return seconds


def _sampled(samples: np.ndarray, places: Sequence[str] = ()) -> dict[str, Any]:
    """The part of a case that follows from its samples; `places` are theirs."""
    for wrong in np.flatnonzero(~((samples >= SHORTEST) & (samples <= LONGEST)))[:1]:
        _time(float(samples[wrong]), places[wrong])
    stdev = float(np.std(samples, ddof=1)) if len(samples) > 1 else math.nan
    return {"samples": samples, "count": len(samples), "mean": float(np.mean(samples)),
            "stdev": stdev, "median": float(np.median(samples))}  # fmt: skip


# ----------------------------------------------------------------------------------------- nvbench

_CLOCKS = {"nv/cold": ("GPU", "nv/cold/time/gpu"), "nv/cpu_only": ("CPU", "nv/cpu_only/time/cpu")}
"""By way of timing: what it times, and where its times are. The first that a state has counts."""
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
    cases = [_state(file, f"benchmarks[{b}].states[{s}]", one_line(benchmark.name), state, names)
             for b, benchmark in enumerate(content.benchmarks or [])
             for s, state in enumerate(benchmark.states or [])]  # fmt: skip
    used = {case["device"]: case["gpu"] for case in cases if case["gpu"]}
    context = {"device": ", ".join(dict.fromkeys(used[of] for of in sorted(used))),
               "argv": one_line(" ".join(content.meta.argv or [])),
               "nvbench": content.meta.version.nvbench.string}  # fmt: skip
    return context, cases


def _state(file: Path, place: str, benchmark: str, raw: Any,
           names: Mapping[str, str]) -> dict[str, Any]:  # fmt: skip
    case = _case(place, benchmark)
    try:
        state = convert(raw, _State, place)
        axes = {one_line(axis.name): _axis_value(axis, f"{place}.axis_values[{index}].value")
                for index, axis in enumerate(state.axis_values or [])}  # fmt: skip
        device = "" if state.device is None else str(state.device)
        point = " ".join(f"{name}={_in_words(value)}" for name, value in axes.items())
        case |= {"point": point, "device": device, "gpu": names.get(device, ""), "axes": axes}
        if state.is_skipped:
            failed = state.skip_reason.startswith(_ERROR)
            return case | {"skipped": _reason(state.skip_reason), "failed": failed}
        return case | _summarised(file, place, state)
    except Misfit as misfit:
        return case | {"skipped": _unusable(misfit), "misfit": misfit}


def _summarised(file: Path, place: str, state: _State) -> dict[str, Any]:
    """The times of a state, from its summaries by tag."""
    values = {(summary.tag, of.name): (of.value, f"{place}.summaries[{s}].data[{v}].value")
              for s, summary in enumerate(state.summaries or [])
              for v, of in enumerate(summary.data or [])}  # fmt: skip

    def number(tag: str) -> float:
        """NaN where the state does not have it."""
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
    mean = _time(number(f"{times}/mean"), values[f"{times}/mean", "value"][1])
    sampled, rate = count(f"{way}/sample_size"), number(f"{way}/bw/global/bytes_per_second")
    has_rate = 0 < rate < math.inf
    timed: dict[str, Any] = {"clock": clock}
    if clock != "GPU":
        timed |= {"device": "", "gpu": ""}
    if (_BATCH, "value") in values:
        timed["batch"] = _time(number(_BATCH), values[_BATCH, "value"][1])
    tag = f"nv/json/bin:{way}/sample_times"
    if (tag, "filename") in values:
        samples = _binary(file, *values[tag, "filename"], count(tag, "size"), mean)
        timed |= _sampled(samples, [f"{place}: sample {index}" for index in range(len(samples))])
        rates = rate * mean / samples if has_rate else np.empty(0)  # nvbench divides by the mean
        return timed | {"rates": rates}
    # Older files have the noise in parts of the mean alone; nvbench writes inf where samples were
    # fewer than five.
    stdev = number(f"{times}/stdev/relative") * mean
    return timed | {"count": sampled, "mean": mean, "median": number(f"{times}/median"),
                    "stdev": stdev if 0 <= stdev < math.inf else math.nan,
                    "rates": np.array([rate] if has_rate else [])}  # fmt: skip


def _binary(file: Path, name: str, place: str, count: int, mean: float) -> np.ndarray:
    """The samples in a file beside the JSON. Older versions name it from the folder that nvbench
    ran in; it always lies in one beside the JSON."""
    beside = [file.parent / name, file.parent / Path(*Path(name).parts[-2:])]
    try:
        raw = next((path for path in beside if path.is_file()), beside[0]).read_bytes()
    except OSError as error:
        reason = f"which cannot be read beside the JSON ({error.strerror})"
        raise Misfit(place, f"is {shown(name)}, {reason}: move the folder together with it") from None
    if len(raw) != 4 * count or not count:
        takes = f"which has {len(raw)} bytes, and {count} samples take {4 * count}"
        raise Misfit(place, f"is {shown(name)}, {takes}: {REMEDY}")
    samples = np.frombuffer(raw, dtype="<f4").astype(float)
    if np.isfinite(samples).all() and abs(float(np.mean(samples)) - mean) > _SINGLE * mean:
        message = f"the mean of its samples is {np.mean(samples):.6g} s, and that of the state {mean:.6g} s"
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


# -------------------------------------------------------------------------------- Google Benchmark

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
    """True where it was skipped; a number is a counter of the user that has this name."""
    skip_message: str = ""


_Placed = list[tuple[str, _Entry]]


def _google(file: Path, document: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A benchmark that is registered twice is two cases of one name; entries of one registration
    are its samples, also if they are of several runs."""
    about = convert(document["context"], _About, "context")
    registered: dict[tuple[str, int | None, int | None], _Placed] = {}
    entries = [(f"benchmarks[{index}]", _entry(raw, f"benchmarks[{index}]"))
               for index, raw in enumerate(listed(document, "benchmarks"))]  # fmt: skip
    names = {entry.name for _, entry in entries}
    for place, entry in entries:
        if entry.aggregate_name not in _FITTED and not _is_old_aggregate(entry, names):
            name = one_line(entry.run_name or entry.name)
            key = (name, entry.family_index, entry.per_family_instance_index)
            registered.setdefault(key, []).append((place, entry))
    cpus = f", {about.num_cpus} CPUs of {about.mhz_per_cpu:g} MHz" if about.num_cpus else ""
    debug = ", library built for debugging" if about.library_build_type == "debug" else ""
    host = one_line(about.host_name) or "unnamed host"
    context = {"kind": "host", "cpu": host + cpus + debug, "date": one_line(about.date),
               "argv": one_line(about.executable)}  # fmt: skip
    return context, [_repeated(name, placed) for (name, *_), placed in registered.items()]


def _entry(raw: Any, place: str) -> _Entry:
    """An entry; one that does not fit is skipped for that."""
    named = convert(raw, _Named, place)
    try:
        return convert(raw, _Entry, place)
    except Misfit as misfit:
        return _Entry(**asdict(named), skipped=True, skip_message=_unusable(misfit))


def _is_old_aggregate(entry: _Entry, names: set[str]) -> bool:
    """Whether an entry is an aggregate of versions before 1.5, which nothing but the name shows."""
    stem, _, what = entry.name.rpartition("_")
    fitted = what in _FITTED and entry.real_time is None
    return not entry.run_type and ((what in _OF_REPETITIONS and stem in names) or fitted)


def _repeated(name: str, entries: _Placed) -> dict[str, Any]:
    benchmark, *parts = name.split("/")
    case = _case(entries[0][0], benchmark, "/".join(parts), axes=_axes(parts), clock="real")
    for place, entry in sorted(entries, key=lambda placed: not placed[1].error_occurred):
        if entry.error_occurred or entry.skipped is True:  # an error outranks what was skipped
            reason = _reason(entry.error_message or entry.skip_message)
            return case | {"place": place, "skipped": reason, "failed": entry.error_occurred}
    try:
        runs = [(place, entry) for place, entry in entries if entry.run_type != "aggregate"]
        means = [(place, entry) for place, entry in entries if entry.aggregate_name == "mean"]
        if not runs and len(means) < 2:
            return case | _aggregates({placed[1].aggregate_name: placed for placed in entries})
        runs = runs or means
        samples = np.array([_seconds(*of) for of in runs])
        rates = [e.bytes_per_second for _, e in runs if 0 < e.bytes_per_second < math.inf]
        return case | _sampled(samples, [f"{p}.real_time" for p, _ in runs]) | {"rates": np.array(rates)}
    except Misfit as misfit:
        return case | {"skipped": _unusable(misfit), "misfit": misfit}


def _aggregates(of: Mapping[str, tuple[str, _Entry]]) -> dict[str, Any]:
    """Mean, deviation and median of repetitions that the file does not have one by one."""
    if "mean" not in of:
        return {"skipped": "the file has no time of it"}
    place, mean = of["mean"]
    times: dict[str, Any] = {"count": mean.repetitions,
                             "mean": _time(_seconds(place, mean), f"{place}.real_time")}  # fmt: skip
    times |= {field: _seconds(*of[name]) for name, field in (("stddev", "stdev"), ("median", "median"))
              if name in of}  # fmt: skip
    if not 0 <= times.get("stdev", 0) <= LONGEST:
        at, entry = of["stddev"]
        raise Misfit(f"{at}.real_time", f"is {entry.real_time:g}, no deviation: {REMEDY}")
    if 0 < mean.bytes_per_second < math.inf:
        times["rates"] = np.array([mean.bytes_per_second])
    return times


def _seconds(place: str, entry: _Entry) -> float:
    if entry.real_time is None:
        raise Misfit(f"{place}.real_time", f"is missing: {REMEDY}")
    return entry.real_time * _SECONDS[entry.time_unit]


def _axes(parts: list[str]) -> dict[str, str | float]:
    """The numbers among the arguments, each by its name, or by which one it is."""
    axes: dict[str, str | float] = {}
    for number, part in enumerate(parts, 1):
        argument = _ARGUMENT.fullmatch(part)
        if argument and argument["name"] not in _SETTINGS:
            value = argument["value"]
            axes[argument["name"] or f"argument {number}"] = float(value) if "." in value else int(value)
        elif not argument:
            axes[f"argument {number}"] = part
    return axes


# ------------------------------------------------------------------------- cases of several files


def without_numbers(tables: list[pd.DataFrame]) -> list[pd.DataFrame]:
    """The same cases. Where no file has more than one GPU, its number is only the slot that it was
    in: cases of two slots are the same case."""
    one_each = all(len(set(of["device"]) - {""}) < 2 for of in tables)
    apart = all(not of.duplicated(["benchmark", "key"]).any() for of in tables)
    return [of.assign(device="") for of in tables] if one_each and apart else tables


def pooled(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Repeated runs as one: the samples of all runs of a case are its samples, and of a run without
    samples its mean is one. A case that has no time in any run has none."""
    if len(tables) == 1:
        return tables[0]
    rows = []
    for _, runs in pd.concat(tables).groupby(["benchmark", "key", "device"], sort=False):
        first = runs.sort_values(["failed", "skipped"], key=lambda of: of.astype(bool),
                                 ascending=False, kind="stable").iloc[0].to_dict()  # fmt: skip
        if not first["skipped"]:
            sampled = (runs["samples"].map(len) > 0).all()
            samples = np.concatenate(runs["samples"].tolist()) if sampled else runs["mean_ns"].to_numpy()
            of_all = _sampled(samples / 1e9)
            first |= {f"{name}_ns": 1e9 * of_all[name] for name in ("median", "mean", "stdev")}
            first |= {"samples": samples, "count": len(samples),
                      "rates": np.concatenate(runs["rates"].tolist())}  # fmt: skip
        rows.append(first)
    return pd.DataFrame(rows)
