"""The tables: the columns of each, and what names a case."""

from collections.abc import Mapping

from scanlab_report.schema import documents
from scanlab_report.schema.samples import TABLES

MEASURED, RECORDED = "measured now", "recorded"
CASE = ["variant", "settings", "type", "op", "mode", "items", "cache", "launch"]
"""The columns that name a case of a scan; rows that agree in them are samples of one case."""
SCHEDULE = ["workload", "items", "chunks", "streams", "memory", "work", "blocks", "buffers", "id"]
STREAM_SCAN = ["way", "scan", "type", "op", "mode", "items", "from", "to", "budget", "chunks"]
STREAM_SCAN += ["mapped", "bytes"]
RANKS = ["algorithm", "settings", "type", "op", "mode", "ranks", "items", "rows", "inner"]
CASES = {"scan": CASE, "schedule": ["entry", *SCHEDULE, "bytes"], "stream_scan": STREAM_SCAN}
CASES |= {"distributed": RANKS, "block_scan": ["entry", *CASE, "rows"]}
CASES |= {"scan_axis": [*CASE, "rows", "inner"], "select": ["entry", *CASE, "kept"]}
CASES |= {"segments": ["entry", *CASE, "segment", "lengths", "width"]}
CASES |= {"runs": CASES["segments"]}
CASES |= {"applications": ["application", *CASE, "rows"]}
"""The columns that name a case of each kind of sample."""
ODD_SIZES = "odd_sizes"
WAITING = "cycles_waiting_"
"""Prefix of the columns of `waits` that are parts of `cycles_total`."""
POINTS = ["begun_ns", "items_ns", "told_ns", "prefix_ns", "stored_ns"]
"""The columns of `tile_times`: when as many tiles as `tile` had come to a point before."""
COLUMNS = {
    **{table: list(dict.fromkeys([*CASES[table], *own])) for table, own in TABLES.items()},
    "skipped": [*CASE, "reason", "failed"],
    "counters": ["variant", "padding", "type", "op", "items", "kernel", "launch_index"]
    + [f"shared_{way}_{what}" for what in ("wavefronts", "conflicts") for way in ("load", "store")],
    "traffic": ["variant", "settings", "type", "op", "mode", "items", "kernel", "launch_index"]
    + ["dram_bytes_read", "dram_bytes_written"],
    "block_counters": ["variant", "settings", "type", "op", "items", "kernel", "launch_index"]
    + [f"shared_{way}_{what}" for what in ("wavefronts", "conflicts") for way in ("load", "store")],
    "waits": ["variant", "items", "type", "role", "cycles_total"],
    "tile_times": ["variant", "settings", "items", "type", "tile", *POINTS],
    "checks": [*documents.Check.__struct_fields__],
    "repeats": ["variant", "type", "op", "mode", "cases", "varying", "runs"],
    "counts": [
        "primitive",
        "variant",
        "unpadded",
        "padding",
        "load",
        "type",
        "op",
        "mode",
        "items",
        "content",
    ],
    "spans": ["lane", "lane_name", "kind", "start_us", "end_us", "chunk", "operation", "stream"]
    + ["channel", "bytes", "label"],
    "calls": ["lane_name", "kind", "start_us", "end_us", "chunk", "operation"],
    "nvbench": ["variant", "type", "items", "cache", "launch", "ns"],
    "other": ["benchmark", "case", "device", "gpu", "axes", "samples", "count"]
    + ["median_ns", "mean_ns", "stdev_ns", "rate", "skipped", "failed"],
    "implicit_sync": [*documents.Experiment.__struct_fields__]
    + ["works", "source", "question", "answer", "asks"],
    "concurrency": [*documents.Grids.__struct_fields__],
    "comparison": [*documents.ComparedTrace.__struct_fields__],
    "advice": [*documents.Problem.__struct_fields__],
}
"""The columns of each table beside `file`. Those of samples are fields in `schema/samples.py`."""
COLUMNS["distributed"] += ["kind"]
ELEMENT_BYTES = {"i8": 1, "i16": 2, "i32": 4, "i64": 8, "f16": 2, "f32": 4, "f64": 8}


def settings_name(settings: Mapping[str, str]) -> str:
    """Return settings as the tables name them. `Data.settings` has them by this name."""
    return " ".join(f"{key}={value}" for key, value in settings.items())


def changed(settings: Mapping[str, str], defaults: Mapping[str, str]) -> dict[str, str]:
    """The settings that are not the defaults."""
    return {key: value for key, value in sorted(settings.items()) if defaults.get(key) != value}
