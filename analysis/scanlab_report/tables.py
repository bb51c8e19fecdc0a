"""The tables: the columns of each, and what names a case."""

from __future__ import annotations

from collections.abc import Mapping

MEASURED, RECORDED = "measured now", "recorded"
CASE = ["variant", "settings", "type", "op", "mode", "items", "cache", "launch"]
"""The columns that name a case of a scan; rows that agree in them are samples of one case."""
SCHEDULE = ["workload", "items", "chunks", "streams", "memory", "work", "blocks", "buffers", "id"]
STREAM_SCAN = ["way", "scan", "type", "op", "mode", "items", "from", "to", "budget", "chunks"]
STREAM_SCAN += ["mapped", "bytes"]
RANKS = ["algorithm", "settings", "type", "op", "mode", "ranks", "items"]
CASES = {"scan": CASE, "schedule": ["entry", *SCHEDULE, "bytes"], "stream_scan": STREAM_SCAN}
CASES |= {"distributed": RANKS}
"""The columns that name a case of each kind of sample."""
ODD_SIZES = "odd_sizes"
KERNEL = ["launches", "threads", "registers", "shared_bytes", "local_bytes", "workspace_bytes"]
KERNEL += ["prepare_ns"]
SAMPLE = ["round", "ns", "sm_clock_mhz", "converged"]
WAITING = "cycles_waiting_"
"""Prefix of the columns of `waits` that are parts of `cycles_total`."""
COLUMNS = {
    "scan": [*CASE, *SAMPLE, "bytes", *KERNEL, "choice"],
    "schedule": [*CASES["schedule"], "inputs", "control", "side_kernels", "own_streams", *SAMPLE]
    + ["device_ns"],
    "stream_scan": [*STREAM_SCAN, *SAMPLE],
    "distributed": [*RANKS, "kind", "on", "bytes", *SAMPLE],
    "skipped": [*CASE, "reason", "failed"],
    "counters": ["variant", "padding", "type", "op", "items", "kernel", "launch_index"]
    + [f"shared_{way}_{what}" for what in ("wavefronts", "conflicts") for way in ("load", "store")],
    "traffic": ["variant", "settings", "type", "op", "mode", "items", "kernel", "launch_index"]
    + ["dram_bytes_read", "dram_bytes_written"],
    "waits": ["variant", "items", "type", "role", "cycles_total"],
    "repeats": ["variant", "type", "op", "mode", "cases", "varying", "runs"],
    "counts": ["variant", "unpadded", "padding", "load", "type", "op", "mode", "items", "content"],
    "spans": ["lane", "lane_name", "kind", "start_us", "end_us", "chunk", "operation", "stream"]
    + ["channel", "bytes", "label"],
    "calls": ["lane_name", "kind", "start_us", "end_us", "chunk", "operation"],
    "rank_spans": [*RANKS, "run", "rank", "kind", "name", "start_us", "end_us"],
    "nvbench": ["variant", "type", "items", "cache", "launch", "ns"],
    "other": ["benchmark", "case", "device", "gpu", "axes", "samples", "count"]
    + ["median_ns", "mean_ns", "stdev_ns", "rate", "skipped", "failed"],
    "implicit_sync": ["name", "stated", "claim", "works", "source", "differs", "yes", "trials"]
    + ["seconds", "refusal", "environment", "question", "answer", "subject", "asks"],
    "concurrency": ["streams", "kernels", "blocks", "slots", "connections", "block_seconds"]
    + ["waves", "fluid_seconds", "predicted_seconds", "serial_seconds", "makespan_seconds"],
    "comparison": ["schedule", "workload", "items", "chunks", "streams", "work", "connections"]
    + ["measured_us", "predicted_us", "overlap_in_either", "overlap_in_both", "unaided_us"]
    + [
        f"{whose}_overlap_in_{where}"
        for whose in ("unaided", "repeated", "best")
        for where in ("either", "both")
    ]
    + ["copy_queues", "queues_ordered_as_modelled", "repetitions", "measured_spread"]
    + ["estimate_us"],
    "advice": ["workload", "items", "work", "copied_bytes", "choices", "median_error"]
    + ["worst_error", "stated_was_measured", "advised", "fastest", "slower", "ties"]
    + ["ties_least_slower", "ties_most_slower"],
}
"""The columns of each table beside `file`. Times are in nanoseconds, but for those that say so."""
FIELDS = {"ns": "real_time", "round": "sample", "threads": "threads_per_block", "from": "from_"}
FIELDS |= {"scan": "variant", "algorithm": "variant", "launch": "launched", "buffers": "reused"}
FIELDS |= {"side_kernels": "beside", "budget": "budget_bytes", "reason": "error_message"}
FIELDS |= {"choice": "chosen"}
"""Fields and properties of samples whose columns have another name."""
ROWS = {
    "files": "a file of results, with its provenance",
    "scan": "a sample of a scan on one device, or of a copy beside it",
    "schedule": "a sample of a schedule, or of a copy or kernel alone",
    "stream_scan": "a sample of a scan larger than the device",
    "distributed": "a sample of a scan over several ranks",
    "skipped": "a case that was not timed, with the reason",
    "counters": "a launch: its shared-memory wavefronts and bank conflicts, by the hardware",
    "traffic": "a launch: its DRAM bytes, by the hardware",
    "waits": "a role of a kernel's warps: its cycles, in all and waiting",
    "repeats": "a variant, type, operator and mode: whether the bits of repeated runs varied",
    "verification": "a variant whose results were compared with the oracle's",
    "counts": "a case on the SIMT emulator",
    "spans": "an operation on an engine, in a timeline of a schedule",
    "calls": "a call of the host, in the same timelines",
    "rank_spans": "a kernel, copy or memset on one of several GPUs",
    "nvbench": "a scan or copy that nvbench timed",
    "implicit_sync": "a trial of an experiment on what blocks what",
    "concurrency": "a repetition of small grids side by side",
}
"""The meaning of a row of each table of an export."""


ELEMENT_BYTES = {"i8": 1, "i16": 2, "i32": 4, "i64": 8, "f16": 2, "f32": 4, "f64": 8}


def settings_name(settings: Mapping[str, str]) -> str:
    """Return settings as the tables name them. `Data.settings` has them by this name."""
    return " ".join(f"{key}={value}" for key, value in settings.items())


def changed(settings: Mapping[str, str], defaults: Mapping[str, str]) -> dict[str, str]:
    """The settings that are not the defaults."""
    return {key: value for key, value in sorted(settings.items()) if defaults.get(key) != value}


def rank_settings_name(settings: Mapping[str, str]) -> str:
    """Every parameter of an algorithm over several ranks, as the name of a case."""
    return ",".join(f"{name}={value}" for name, value in sorted(settings.items()))
