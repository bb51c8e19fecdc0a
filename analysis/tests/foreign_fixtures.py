"""Invented results of nvbench and Google Benchmark, in the formats that nvbench's json_printer.cu
and Google Benchmark's json_reporter.cc write."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.fixtures import write


def noisy(seconds: float, count: int = 40, seed: int = 1, spread: float = 0.01) -> np.ndarray:
    return seconds * np.random.default_rng(seed).lognormal(0, spread, count)


def named(**values: Any) -> list[dict[str, str]] | None:
    """Named values: numbers are text there, and an empty list is null."""
    kinds = {int: "int64", float: "float64", str: "string"}
    return [
        {"name": name, "type": kinds[type(value)], "value": str(value)}
        for name, value in values.items()
    ] or None


def summary(tag: str, **values: Any) -> dict[str, Any]:
    return {"tag": tag, "data": named(**values)}


def state(axes: Mapping[str, Any], samples: Sequence[float], device: int = 0) -> dict[str, Any]:
    data, cold = np.asarray(samples, dtype=float), "nv/cold/time/gpu"
    mean, stdev = float(np.mean(data)), float(np.std(data, ddof=1)) if len(data) >= 5 else math.inf
    values = {
        "nv/cold/sample_size": len(data),
        f"{cold}/mean": mean,
        f"{cold}/stdev/relative": stdev / mean,
        f"{cold}/median": float(np.median(data)),
        "nv/cold/bw/global/bytes_per_second": 8 / mean,
    }
    summaries = [summary(tag, value=value) for tag, value in values.items()]
    return {"device": device, "axis_values": named(**axes), "summaries": summaries}


def skipped(axes: Mapping[str, Any], reason: str) -> dict[str, Any]:
    about = {"device": 0, "axis_values": named(**axes), "summaries": None}
    return about | {"is_skipped": True, "skip_reason": reason}


def nvbench(
    file: Path, states: list[dict[str, Any]], samples: Mapping[int, Sequence[float]] | None = None
) -> Path:
    """Write a file with the benchmark `copy`; `samples` of each state go into the folder that
    --jsonbin makes."""
    for number, values in (samples or {}).items():
        binary = file.parent / f"{file.name}-bin" / f"{number}.bin"
        binary.parent.mkdir(exist_ok=True)
        np.asarray(values, dtype="<f4").tofile(binary)
        about = {"filename": f"{binary.parent.name}/{binary.name}", "size": len(values)}
        states[number]["summaries"].append(summary("nv/json/bin:nv/cold/sample_times", **about))
    document = {
        "meta": {"version": {"json": {"major": 1}}},
        "devices": [{"id": 0, "name": "NVIDIA H100"}],
        "benchmarks": [{"name": "copy", "states": states}],
    }
    return write(file, document)


def sweep(file: Path, factors: Mapping[str, float], seed: int, binary: bool = True) -> Path:
    """Copies of 2^16 to 2^24 items of two types; `factors`: how many times longer those of a type
    take."""
    states, samples = [], {}
    for kind, factor in factors.items():
        for n in (2**exponent for exponent in range(16, 25, 2)):
            times = noisy(factor * (2e-6 + n * 2.5e-12), seed=seed + len(states))
            samples[len(states)] = times
            states.append(state({"T": kind, "Elements": n}, times))
    return nvbench(file, states, samples if binary else None)


def repetition(
    name: str, index: int, seconds: float, count: int = 1, **more: Any
) -> dict[str, Any]:
    about = {"name": name, "run_name": name, "run_type": "iteration", "repetitions": count}
    about |= {"family_index": 0, "per_family_instance_index": 0, "repetition_index": index}
    return about | {"real_time": 1e6 * seconds, "time_unit": "us"} | more


def aggregate(name: str, what: str, seconds: float, count: int, **more: Any) -> dict[str, Any]:
    entry = repetition(name, 0, seconds, count)
    entry |= {"name": f"{name}_{what}", "run_type": "aggregate", "aggregate_name": what}
    return entry | more


def google(file: Path, entries: list[dict[str, Any]]) -> Path:
    context = {"date": "2026-01-02T03:04:05+00:00", "host_name": "host", "num_cpus": 8}
    context |= {"library_build_type": "release"}
    return write(file, {"context": context, "benchmarks": entries})


def repeated(times: Mapping[str, Sequence[float]], **more: Any) -> list[dict[str, Any]]:
    """The entries of each benchmark: its repetitions and their aggregates."""
    entries = []
    for name, values in times.items():
        count, stdev = len(values), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
        entries += [repetition(name, i, value, count, **more) for i, value in enumerate(values)]
        means = {"mean": float(np.mean(values)), "median": float(np.median(values))}
        for what, value in (means | {"stddev": stdev, "cv": 0.01}).items():
            entries.append(aggregate(name, what, value, count))
    return entries
