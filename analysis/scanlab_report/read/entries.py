"""What the entries of a results file say of their cases, in typed fields (schema ``scanlab-results/2``; data/README.md has them all).

Files of schema 1 say it in names alone, which :mod:`scanlab_report.read.names` takes apart until they are recorded again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scanlab_report.read.fields import COUNT, FLAG, LINE, NAME, TEXT, Fields, ListOf, check, one_of
from scanlab_report.read.names import ELEMENT_BYTES, STREAM

SCHEMA, OLD_SCHEMA = "scanlab-results/2", "scanlab-results/1"
OF_SCHEDULES = ("schedule", "copy", "kernel")
"""The kinds of entry that ``streams run`` writes."""
SCAN, STREAM_SCAN = "scan", "stream_scan"

_KIND = Fields({"kind": one_of(SCAN, STREAM_SCAN, *OF_SCHEDULES)})
_SCAN = Fields({
    "variant": NAME, "type": one_of(*ELEMENT_BYTES), "op": NAME, "mode": NAME, "items": COUNT, "settings": Fields({"*": TEXT}),
    "cache": one_of("cold", "warm"), "launch": one_of("stream", "graph", "batch", "host"), "threads_per_block?": COUNT,
})  # fmt: skip
_OF_SCHEDULES = {
    "schedule": Fields({"schedule": NAME, "workload": NAME, "memory": NAME, "control": FLAG, "verified": FLAG,
                        **dict.fromkeys(("items", "chunks", "streams", "work", "blocks", "buffers", "bytes", "inputs"), COUNT)}),
    "copy": Fields({"direction": one_of("h2d", "d2h"), "both_ways": FLAG, "memory": NAME, "bytes": COUNT}),
    "kernel": Fields({"workload": NAME, "items": COUNT, "work": COUNT, "blocks": COUNT}),
}  # fmt: skip
_STREAM_SCAN = Fields({
    **dict.fromkeys(("way", "variant", "op", "mode", "from", "to"), NAME), "type": one_of(*ELEMENT_BYTES), "mapped": FLAG,
    **dict.fromkeys(("items", "budget_bytes", "chunks", "bytes_each_way"), COUNT),
})  # fmt: skip
_VARIANTS = Fields({"*": Fields({"parameters": ListOf(Fields({"name": NAME, "values": ListOf(LINE, least=1)}))})})


def kind(entry: Mapping[str, Any]) -> str:
    """ValueError if it says none that is known."""
    check(entry, _KIND)
    return entry["kind"]


def defaults(context: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """The default of each parameter of each variant; ValueError if the context does not say it."""
    check(context, Fields({"variants": _VARIANTS}))
    return {id_: {of["name"]: of["values"][0] for of in about["parameters"]} for id_, about in context["variants"].items()}


def scan(entry: Mapping[str, Any], usual: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """The case of a scan. ``settings`` are those that are not ``usual``, the defaults: ``key=value``, separated by spaces."""
    check(entry, _SCAN)
    chosen = {key: value for key, value in sorted(entry["settings"].items()) if usual.get(entry["variant"], {}).get(key) != value}
    return {
        "variant": entry["variant"], "settings": " ".join(f"{key}={value}" for key, value in chosen.items()),
        **{key: entry[key] for key in ("type", "op", "mode", "items", "cache")},
        "launch": STREAM if entry["launch"] == "host" else entry["launch"],
    }  # fmt: skip


def schedule(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The case of a schedule, or of a part of one. What an entry does not have is 0 or empty."""
    of = kind(entry)
    if of not in OF_SCHEDULES:
        raise ValueError(f"kind is {of}, in a file of schedules")
    check(entry, _OF_SCHEDULES[of])
    if of == "copy":
        id_ = ("duplex_" if entry["both_ways"] else "") + entry["direction"]
    else:
        id_ = entry["workload" if of == "kernel" else "schedule"]
    if of == "schedule" and not entry["control"] and not entry["verified"]:
        raise ValueError("its output was wrong, though it is no control")
    # A schedule that has a buffer per chunk does not say how many in its name either: cases are the same by both.
    reuses = of == "schedule" and entry["buffers"] < min(entry["chunks"], entry["items"])
    return {
        "entry": of, "id": id_, "workload": entry.get("workload", ""), **{key: entry.get(key, 0) for key in ("items", "chunks", "streams")},
        "memory": entry.get("memory", ""), "work": entry.get("work", 0), "blocks": entry.get("blocks", 0), "buffers": entry["buffers"] if reuses else 0,
        "bytes": entry.get("bytes", 0), "inputs": entry.get("inputs", 0), "control": int(entry.get("control", False)),
    }  # fmt: skip


def stream_scan(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The case of a scan larger than the device."""
    check(entry, _STREAM_SCAN)
    return {
        "way": entry["way"], "scan": entry["variant"], **{key: entry[key] for key in ("type", "op", "mode", "items", "from", "to")},
        "budget": entry["budget_bytes"], "chunks": entry["chunks"], "mapped": int(entry["mapped"]), "bytes": entry["bytes_each_way"],
    }  # fmt: skip
