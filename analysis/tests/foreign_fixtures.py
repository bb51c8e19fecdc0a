"""Invented results of nvbench and Google Benchmark, in the formats that nvbench's json_printer.cu
and Google Benchmark's json_reporter.cc write."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Times = Mapping[tuple[str, ...], Sequence[float]]
"""Samples in seconds, by the values of the axes."""


def noisy(seconds: float, count: int = 40, seed: int = 1, spread: float = 0.01) -> np.ndarray:
    return seconds * np.random.default_rng(seed).lognormal(0, spread, count)


def named(**values: Any) -> list[dict[str, str]] | None:
    """Named values: numbers are text there, and an empty list is null."""
    kinds = {int: "int64", float: "float64", str: "string"}
    return [
        {"name": name, "type": kinds[type(value)], "value": str(value)}
        for name, value in values.items()
    ] or None


def summary(tag: str, hint: str, **values: Any) -> dict[str, Any]:
    return {
        "tag": tag,
        "name": tag.rpartition("/")[2],
        "description": tag,
        "hint": hint,
        "data": named(**values),
    }


def state(
    axes: Mapping[str, Any],
    samples: Sequence[float],
    device: int = 0,
    way: str = "nv/cold",
    bytes_moved: int = 0,
) -> dict[str, Any]:
    times, data = ("time/gpu" if way == "nv/cold" else "time/cpu"), np.asarray(samples, dtype=float)
    mean, stdev = float(np.mean(data)), float(np.std(data, ddof=1)) if len(data) >= 5 else math.inf
    summaries = [
        summary(f"{way}/sample_size", "sample_size", value=len(data)),
        summary(f"{way}/walltime", "duration", value=0.5),
        summary(f"{way}/{times}/mean", "duration", value=mean),
        summary(f"{way}/{times}/stdev/absolute", "duration", value=stdev),
        summary(f"{way}/{times}/stdev/relative", "percentage", value=stdev / mean),
        summary(f"{way}/{times}/median", "duration", value=float(np.median(data))),
    ]
    if bytes_moved:
        summaries.append(
            summary(f"{way}/bw/global/bytes_per_second", "byte_rate", value=bytes_moved / mean)
        )
    return {
        "name": " ".join([f"Device={device}", *(f"{key}={value}" for key, value in axes.items())]),
        "min_samples": 10,
        "device": device,
        "type_config_index": 0,
        "axis_values": named(**axes),
        "summaries": summaries,
        "is_skipped": False,
    }


def skipped(axes: Mapping[str, Any], reason: str) -> dict[str, Any]:
    return {
        "name": "Device=0",
        "device": 0,
        "type_config_index": 0,
        "axis_values": named(**axes),
        "summaries": None,
        "is_skipped": True,
        "skip_reason": reason,
    }


def nvbench(
    file: Path,
    benchmarks: Mapping[str, list[dict[str, Any]]],
    samples: Mapping[int, Sequence[float]] | None = None,
) -> Path:
    """Writes a file; ``samples`` of each state, counted over all benchmarks, go into the folder
    that --jsonbin makes."""
    states = [of for them in benchmarks.values() for of in them]
    for number, (index, values) in enumerate((samples or {}).items()):
        way = states[index]["summaries"][0]["tag"].removesuffix("/sample_size")
        beside = file.parent / f"{file.name}-bin" / f"{number}.bin"
        beside.parent.mkdir(exist_ok=True)
        np.asarray(values, dtype="<f4").tofile(beside)
        about = summary(
            f"nv/json/bin:{way}/sample_times",
            "file/sample_times",
            filename=f"{beside.parent.name}/{beside.name}",
            size=len(values),
        )
        states[index]["summaries"].append(about | {"hide": "Not needed in table."})
    version = {
        "json": {"major": 1, "minor": 0, "patch": 0, "string": "1.0.0"},
        "nvbench": {"major": 0, "minor": 3, "patch": 0, "string": "0.3.0"},
    }
    file.write_text(
        json.dumps(
            {
                "meta": {"argv": ["bench", "--jsonbin", file.name], "version": version},
                "devices": [{"id": 0, "name": "NVIDIA H100", "sm_version": 900}],
                "benchmarks": [
                    {"name": name, "index": index, "devices": [0], "axes": None, "states": of}
                    for index, (name, of) in enumerate(benchmarks.items())
                ],
            },
            indent=2,
        )
    )
    return file


def sweep(
    file: Path, factors: Mapping[str, float], seed: int, binary: bool = True, count: int = 40
) -> Path:
    """Copies of 2^16 to 2^24 items of two types; ``factors``: how many times longer those of a type
    take."""
    states, samples = [], {}
    for kind, factor in factors.items():
        for exponent in range(16, 25, 2):
            times = noisy(factor * (2e-6 + 2**exponent * 2.5e-12), count, seed=seed + len(states))
            samples[len(states)] = times
            states.append(
                state({"T": kind, "Elements": 2**exponent}, times, bytes_moved=8 * 2**exponent)
            )
    return nvbench(file, {"copy": states}, samples if binary else None)


def repetition(
    name: str, index: int, seconds: float, count: int = 1, **more: Any
) -> dict[str, Any]:
    return {
        "name": name,
        "family_index": 0,
        "per_family_instance_index": 0,
        "run_name": name,
        "run_type": "iteration",
        "repetitions": count,
        "repetition_index": index,
        "threads": 1,
        "iterations": 100,
        "real_time": 1e6 * seconds,
        "cpu_time": 1e6 * seconds,
        "time_unit": "us",
    } | more


def aggregate(name: str, what: str, seconds: float, count: int, **more: Any) -> dict[str, Any]:
    of = (
        repetition(name, 0, seconds, count)
        | {
            "name": f"{name}_{what}",
            "run_type": "aggregate",
            "aggregate_name": what,
            "aggregate_unit": "time",
        }
        | more
    )
    return {key: value for key, value in of.items() if key != "repetition_index"}


def google(file: Path, entries: list[dict[str, Any]]) -> Path:
    context = {
        "date": "2026-01-02T03:04:05+00:00",
        "host_name": "host",
        "executable": "./bench",
        "num_cpus": 8,
        "mhz_per_cpu": 3000,
        "cpu_scaling_enabled": False,
        "caches": [],
        "load_avg": [0.1, 0.2, 0.3],
        "library_build_type": "release",
    }
    file.write_text(json.dumps({"context": context, "benchmarks": entries}))
    return file


def repeated(times: Mapping[str, Sequence[float]], **more: Any) -> list[dict[str, Any]]:
    """The entries of each benchmark: its repetitions and their aggregates."""
    entries = []
    for name, values in times.items():
        entries += [
            repetition(name, index, value, len(values), **more)
            for index, value in enumerate(values)
        ]
        entries += [
            aggregate(name, what, float(of(values)), len(values))
            for what, of in (("mean", np.mean), ("median", np.median))
        ]
        entries.append(aggregate(name, "stddev", float(np.std(values, ddof=1)), len(values)))
        entries.append(aggregate(name, "cv", 0.01, len(values), aggregate_unit="percentage"))
    return entries


MISSING = object()
WRONG: list[Any] = [MISSING, math.nan, [[1]], "a\nb"]
"""Values in the place of those of a document."""
Keys = tuple[str | int, ...]


def keys(value: Any, so_far: Keys = ()) -> Iterator[Keys]:
    """Every field of a document: of a list those of the first entry and of the last."""
    if so_far:
        yield so_far
    inside = (
        value.items()
        if isinstance(value, dict)
        else {0: value[0], len(value) - 1: value[-1]}.items()
        if isinstance(value, list) and value
        else ()
    )
    for key, part in inside:
        yield from keys(part, (*so_far, key))


def changed(document: Any, path: Keys, value: Any) -> str:
    """The text of the document with another value at one place."""
    inside = other = copy.deepcopy(document)
    for key in path[:-1]:
        inside = inside[key]
    if value is MISSING:
        del inside[path[-1]]
    else:
        inside[path[-1]] = value
    return json.dumps(other)
