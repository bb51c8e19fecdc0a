"""Files that were recorded before their entries had typed fields, brought to what the programs write today.

Nothing but files below ``data/`` comes here. Once all of it is recorded again this module goes, and with it every expression
that reads a name or a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from scanlab_report.read.documents.base import ELEMENT_BYTES
from scanlab_report.read.fields import Misfit, shown, whole

Fields = dict[str, Any]
_SCAN_KEYS = ("variant", "type", "op", "mode", "items", "cache")
_GOOGLE_KEYS = {"iterations", "repeats", "min_time", "min_warmup_time"}
_OF_SCHEDULES = {"schedule": ("workload", "items", "chunks", "streams", "memory", "work", "blocks"), "copy": ("bytes", "memory"),
                 "kernel": ("items", "work", "blocks")}  # fmt: skip
_OF_STREAM_SCANS = ("way", "scan", "type", "op", "mode", "items", "from", "to", "budget", "chunks")
_NUMBERS = {"items", "chunks", "streams", "work", "blocks", "buffers", "bytes", "budget"}
_TEXT = ("git_dirty", "measured_dirty", "l2_bytes", "rounds", "seed", "sm_clock_mhz_max", "cores", "width_percent", "cap_seconds")


def brought_up_to_date(document: Any) -> Any:
    """A document as it would be written today; itself if it is that already. Misfit if it says less than it must."""
    if not isinstance(document, dict):
        return document
    if isinstance(document.get("traceEvents"), list):
        return document | {"traceEvents": [_event(of) for of in document["traceEvents"]]}
    context = document.get("context")
    schema = document.get("schema") or (context.get("schema") if isinstance(context, dict) else None)
    if schema == "scanlab-caveats/1":
        return document | {"schema": "scanlab-caveats/2", "experiments": [_experiment(of) for of in document["experiments"]]}
    if schema not in ("scanlab-results/1", "scanlab-streams/1") or not isinstance(document.get("benchmarks"), list):
        return document
    if not isinstance(context, dict):
        return document
    entries = [_entry(index, of) for index, of in enumerate(document["benchmarks"]) if of.get("run_type") != "aggregate"]
    return {"context": _context(context) | _described(entries), "benchmarks": entries}


# ------------------------------------------------------------------------------------------------- timings


def _context(context: Fields) -> Fields:
    said = {key: str(context[key]).lower() if isinstance(context[key], bool) else str(context[key]) for key in _TEXT if key in context}
    return {**context, **said, "schema": "scanlab-results/2"}


def _described(entries: Sequence[Fields]) -> Fields:
    """What the context says today of the variants of a file."""
    return {"variants": {id_: variant(id_) for id_ in dict.fromkeys(of["variant"] for of in entries if of["kind"] == "scan")}}


_WITH_SIDE_KERNELS = ("null_stream_nonblocking", "null_stream_trap", "per_thread_default")
_OF_OWN_STREAMS = ("serial", "serial_pinned", "three_streams", "event_handoff", "double_buffered")
_KINDS = {"memcpy": "copy", "copy_vector": "copy", "copy_bulk": "copy", "copy_one_wave": "barrier_copy", "empty_launch": "empty_launch"}
_BASELINES = {*_KINDS, "cub_device_scan", "cub_newest", "cub_newest_look_ahead", "cub_newest_deterministic", "thrust_scan", "torch_cumsum", "cupy_cumsum",
              "jax_cumsum", "cpu_sequential", "cpu_parallel"}  # fmt: skip


def variant(id_: str) -> Fields:
    """What a variant is, as far as the analysis asks."""
    return {"label": id_, "kind": _KINDS.get(id_, "scan"), "origin": "baseline" if id_ in _BASELINES else "variant", "family": "", "overview": False,
            "on_host": id_ in ("cpu_sequential", "cpu_parallel")}  # fmt: skip


def _entry(index: int, entry: Fields) -> Fields:
    name = str(entry.get("run_name") or entry.get("name", ""))
    try:
        case = dict(_case(name))
    except ValueError as error:
        raise Misfit(f"benchmarks[{index}] {name}", str(error)) from None
    failed = bool(entry.get("error_occurred") or entry.get("skipped"))
    made = {
        "name": name, "iterations": int(entry.get("iterations", 0)), "real_time": float(entry.get("real_time", 0.0)), "outcome": "failed" if failed else "timed",
        "error_occurred": failed, "error_message": str(entry.get("skip_message") or entry.get("error_message") or "no reason given") if failed else "",
        "round": int(entry.get("round", 0)), "repetition_index": int(entry.get("repetition_index", 0)), "verified": bool(entry.get("verified", 1)), **case,
    }  # fmt: skip
    made |= {key: entry[key] for key in ("sm_clock_mhz", "device_time_ms", "prepare_ns", "device") if key in entry}
    if chosen := entry.get("label"):
        ran, *settings = chosen.split("/")
        made["choice"] = {"variant": ran, "settings": dict(setting.split(":", 1) for setting in settings)}
    if "settled" in entry:
        made["settled"] = bool(entry["settled"])
    kind = made["kind"]
    if kind == "scan":
        made |= {key: int(entry[key]) for key in ("launches", "registers", "shared_bytes", "local_bytes", "workspace_bytes") if key in entry}
        if "threads" in entry:
            made["threads_per_block"] = int(entry["threads"])
    elif kind == "schedule":
        made |= {"bytes": int(entry.get("bytes", 0)), "inputs": int(entry.get("inputs", 0)), "control": bool(entry.get("control", 0)),
                 "side_kernels": made["chunks"] if made["schedule"] in _WITH_SIDE_KERNELS else 0,
                 "streams_created": 0 if made["schedule"] in _OF_OWN_STREAMS else made["streams"]}  # fmt: skip
    elif kind == "copy":
        made["bytes"] = made["bytes"] or int(entry.get("bytes", 0))
    elif kind == "stream_scan":
        made |= {"mapped": bool(entry.get("mapped", 0)), "bytes_each_way": int(entry.get("bytes_each_way", 0))}
    return made


@lru_cache(maxsize=1 << 16)
def _case(name: str) -> tuple[tuple[str, Any], ...]:
    """The fields that a name stands for: ``scan/variant:ID/type:T/…``, ``streams/schedule:ID/…`` or ``stream_scan/way:W/…``."""
    head, *parts = name.split("/")
    values: Fields = dict(part.split(":", 1) for part in parts if ":" in part)
    if head == "scan":
        return tuple(_scan(values).items())
    kind = next((kind for kind in _OF_SCHEDULES if kind in values), "schedule") if head == "streams" else "stream_scan"
    needed = _OF_STREAM_SCANS if kind == "stream_scan" else (kind, *_OF_SCHEDULES[kind])
    if missing := [key for key in needed if not values.get(key)]:
        raise ValueError(f"its name lacks {', '.join(missing)}")
    values |= {key: whole(values[key], key) for key in sorted(_NUMBERS & set(values))}
    if kind == "stream_scan":
        values |= {"variant": values.pop("scan"), "budget_bytes": values.pop("budget")}
    elif kind == "copy":
        direction = values.pop("copy")
        values |= {"direction": direction.removeprefix("duplex_"), "both_ways": direction.startswith("duplex_")}
    elif kind == "kernel":
        values["workload"] = values.pop("kernel")
    else:
        values.setdefault("buffers", values["chunks"])
    return tuple({**values, "kind": kind}.items())


def _scan(values: Fields) -> Fields:
    if missing := [key for key in (*_SCAN_KEYS, *values) if not values.get(key)]:
        raise ValueError(f"its name lacks {', '.join(missing)}")
    if values["type"] not in ELEMENT_BYTES:
        raise ValueError(f"unknown type {shown(values['type'])}, expected one of {', '.join(ELEMENT_BYTES)}")
    settings = {key: value for key, value in values.items() if key not in (*_SCAN_KEYS, "launch") and key not in _GOOGLE_KEYS}
    return {"kind": "scan", **{key: values[key] for key in _SCAN_KEYS}, "items": whole(values["items"], "items"), "settings": settings,
            "launch": values.get("launch", "stream")}  # fmt: skip


# --------------------------------------------------------------------------------- timelines and experiments


def _event(event: Any) -> Any:
    """Processes and lanes say in fields what their names say."""
    arguments = event.get("args") if isinstance(event, dict) else None
    if not isinstance(arguments, dict) or event.get("ph") != "M" or not isinstance(name := arguments.get("name"), str):
        return event
    first, _, rest = name.partition(", ")
    said = {"kind": first, "of": rest} if event.get("name") == "process_name" else {"engine": first}
    return event | {"args": said | arguments}


_CALL = re.compile(r"^does (?P<call>.*?),? (?:hold up the host until the kernel before it ends|keep kernels of two streams apart)$")
_STATED = {"host": ("blocks", "the host"), "streams": ("serialises", "kernels of two streams")}


def _experiment(of: Fields) -> Fields:
    """A question about a call becomes the statement's parts; what is asked is the end of its name."""
    question = str(of["question"])
    call = _CALL.match(question)
    verb, object_ = _STATED[str(of["name"]).rpartition(".")[2]] if call else ("", "")
    asked = question.removeprefix("does ").removeprefix("do ")
    return {key: value for key, value in of.items() if key not in ("question", "answer")} | {
        "subject": call["call"] if call else str(of["name"]).replace("_", " "), "verb": verb, "object": object_, "statement": asked, "found": of["answer"]}  # fmt: skip


# ------------------------------------------------------------------------------------------- ranges of ncu

_RANGE = re.compile(r'scan/(variant:[^"]+?)(?::none)*"')
"""The name of a range, which ncu sets in quotes and follows by the fields that the range lacks."""
_OF_EVERY_CASE = ("variant", "type", "op", "mode", "items")


def range_case(cell: str) -> Fields | None:
    """The case that a range names, with the settings that its name has; None if it names none."""
    found = _RANGE.search(cell)
    if not found:
        return None
    values = dict(part.split(":", 1) for part in found[1].split("/") if ":" in part)
    if missing := [key for key in ("type", "op", "mode", "items") if key not in values]:
        raise ValueError(f"the range {shown(found[1])} does not name a case: it lacks {', '.join(missing)}")
    settings = {key: value for key, value in values.items() if key not in _OF_EVERY_CASE}
    return {
        "variant": values["variant"], "padding": settings.get("padding", "two_level" if values["variant"].endswith("_padded") else "none"),
        "settings": " ".join(f"{key}={value}" for key, value in sorted(settings.items())), "type": values["type"], "op": values["op"],
        "items": whole(values["items"], f"items of the range {shown(found[1])}"), "mode": values["mode"], "load": settings.get("load", "halves"),
    }  # fmt: skip


# ------------------------------------------------------------------------------------- bits of repeated runs

_GROUP = re.compile(r"^(?P<variant>\w+) +(?P<type>\w+) +(?P<op>\w+) +(?P<mode>inclusive|exclusive) +\d+ passed\b")
_SAME = re.compile(r"same bits in (?P<runs>\d+) runs of each of (?P<cases>\d+)")
_VARY = re.compile(r"^ +bits vary in (?P<varying>\d+) of (?P<cases>\d+): .* in (?P<runs>\d+) runs")


def repeated(text: str) -> list[tuple[object, ...]]:
    """What ``scanlab verify --repeat`` printed: variant, type, operator, mode, cases, how many of them varied, runs of each."""
    rows: list[tuple[object, ...]] = []
    group: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        named = _GROUP.match(line)
        group = named.group("variant", "type", "op", "mode") if named else group
        if group and (found := _SAME.search(line) if named else _VARY.match(line)):
            of: Mapping[str, str] = {"varying": "0"} | found.groupdict()
            rows.append((*group, *(whole(of[name], f"line {number}: {name}") for name in ("cases", "varying", "runs"))))
    if not rows:
        raise ValueError("no line tells of repeated runs")
    return rows
