"""Rows of samples, from the entries of a results file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from msgspec import UNSET, Struct

from scanlab_report.load_others import withdrawn
from scanlab_report.reading import known, knowns
from scanlab_report.schema import results, samples
from scanlab_report.schema.fields import REMEDY, Misfit, convert, convert_each, listed, shown
from scanlab_report.tables import (
    CASE,
    CASES,
    ELEMENT_BYTES,
    KERNEL,
    STREAM_SCAN,
    changed,
    rank_settings_name,
    settings_name,
)

if TYPE_CHECKING:
    from scanlab_report.reader import Reader


class _Context(Struct):
    context: results.Context


def read_samples(reader: Reader, path: Path, origin: str, document: Mapping[str, Any]) -> None:
    context = convert(document, _Context).context
    number = reader.add_file(path, origin, context, variants=context.variants)
    before = len(reader.data.problems)
    entries: dict[str, list[tuple[int, Any]]] = {}
    for index, entry in enumerate(_entries(document)):
        if isinstance(entry, Misfit):
            reader.complain(path, entry.place, entry.message)
        elif entry.device and entry.device != context.device:
            message = f"is {shown(entry.device)}, and the file is of {shown(context.device)}"
            place = f"benchmarks[{index}].device"
            reader.complain(path, place, f"{message}: one device a file")
        else:
            entries.setdefault(_table_of(entry), []).append((index, entry))
    for table, of_table in entries.items():
        rows = _TABLES[table](reader, path, context, *zip(*of_table, strict=True))
        timed = rows[rows.pop("outcome") == "timed"]
        twice = timed.duplicated([*CASES[table], "round"])
        for index, sample in timed.loc[twice, ["index", "round"]].itertuples(index=False):
            message = f"repetition {sample} of this case was already read"
            reader.complain(path, f"benchmarks[{index}]", message)
        timed = timed[~twice].drop(columns="index")
        if len(reader.data.problems) == before and (gap := _missing(timed, CASES[table])):
            reader.complain(path, "benchmarks", gap)
        if table == "distributed":
            timed = timed[~timed["algorithm"].isin(list(withdrawn(path)))]
        reader.add_rows(table, number, timed)
        if table == "scan":
            left = rows.loc[~rows.index.isin(timed.index) & ~rows.index.isin(twice.index)]
            skipped = left[[*CASE, "reason", "failed"]].drop_duplicates()
            reader.add_rows("skipped", number, skipped)


def scan_rows(
    reader: Reader,
    path: Path,
    context: results.Context,
    places: Sequence[int],
    entries: Sequence[samples.ScanSample],
) -> pd.DataFrame:
    """One row per sample of a scan, wrong ones left out."""
    about = context.variants
    defaults = {id_: variant.defaults for id_, variant in about.items()}
    unknown = [i for i, entry in enumerate(entries) if entry.variant not in about]
    if unknown:
        place = f"benchmarks[{places[unknown[0]]}].variant"
        named = shown(entries[unknown[0]].variant)
        message = f"is {named}, of which context.variants says nothing: {REMEDY}"
        reader.complain(path, place, message)
    names: dict[Any, str] = {}

    def name(entry: samples.ScanSample) -> str:
        key = (entry.variant, *entry.settings.items())
        if key not in names:
            settings = changed(entry.settings, defaults[entry.variant])
            names[key] = settings_name(settings)
            reader.data.settings.setdefault(names[key], settings)
        return names[key]

    rows = [(i, e) for i, e in zip(places, entries, strict=True) if e.variant in about]
    columns: dict[str, Any] = {"index": [i for i, _ in rows]}
    entries = [entry for _, entry in rows]
    columns |= {"variant": [e.variant for e in entries], "settings": [*map(name, entries)]}
    columns |= {c: [getattr(e, c) for e in entries] for c in ("type", "op", "mode", "items")}
    columns["cache"] = [e.cache for e in entries]
    columns["launch"] = ["stream" if e.launch == "host" else e.launch for e in entries]
    columns |= _common(entries)
    columns["bytes"] = [_bytes(reader, path, i, e) for i, e in rows]
    columns |= {
        c: knowns(getattr(e, "threads_per_block" if c == "threads" else c) for e in entries)
        for c in KERNEL
    }
    columns["choice"] = [e.choice or None for e in entries]
    columns["reason"] = [e.error_message for e in entries]
    columns["failed"] = [e.outcome == "failed" for e in entries]
    table = pd.DataFrame(columns)
    return table[table["bytes"] >= 0]


def _bytes(reader: Reader, path: Path, index: int, entry: samples.ScanSample) -> int:
    """Return the bytes that a scan must move; -1, and a complaint, if the entry states others."""
    least = 2 * entry.items * ELEMENT_BYTES[entry.type]
    if entry.bytes and least and entry.bytes % least:
        message = f"is {entry.bytes}, no multiple of {least}"
        reader.complain(path, f"benchmarks[{index}].bytes", message)
        return -1
    return entry.bytes or least


def schedule_rows(
    reader: Reader,
    path: Path,
    context: results.Context,
    places: Sequence[int],
    entries: Sequence[Any],
) -> pd.DataFrame:
    """One row per sample of a schedule, copy or kernel."""
    rows = pd.DataFrame([_schedule_case(entry) for entry in entries])
    rows = rows.assign(index=places, **_common(entries))
    times = [getattr(entry, "device_time_ms", UNSET) for entry in entries]
    return rows.assign(device_ns=[known(time) * 1e6 for time in times])


def stream_scan_rows(
    reader: Reader,
    path: Path,
    context: results.Context,
    places: Sequence[int],
    entries: Sequence[samples.StreamScanSample],
) -> pd.DataFrame:
    """One row per sample of a scan larger than the device."""
    fields = {
        "scan": "variant",
        "from": "from_",
        "budget": "budget_bytes",
        "bytes": "bytes_each_way",
    }
    rows = pd.DataFrame(
        {
            column: [getattr(e, fields.get(column, column)) for e in entries]
            for column in STREAM_SCAN
        }
    )
    rows["mapped"] = rows["mapped"].astype(int)
    return rows.assign(index=places, **_common(entries))


def distributed_rows(
    reader: Reader,
    path: Path,
    context: results.Context,
    places: Sequence[int],
    entries: Sequence[samples.DistributedSample],
) -> pd.DataFrame:
    """One row per sample of a scan over several ranks."""
    for index, entry in zip(places, entries, strict=True):
        if entry.variant not in context.algorithms:
            message = f"is {shown(entry.variant)}, of which context.algorithms says nothing"
            raise Misfit(f"benchmarks[{index}].variant", f"{message}: {REMEDY}")
    names = ("type", "op", "mode", "ranks", "items", "on", "bytes")
    rows = pd.DataFrame({name: [getattr(e, name) for e in entries] for name in names})
    return rows.assign(
        algorithm=[e.variant for e in entries],
        index=places,
        settings=[rank_settings_name(e.settings) for e in entries],
        kind=[context.algorithms[e.variant].kind for e in entries],
        **_common(entries),
    )


_TABLES: dict[str, Callable[..., pd.DataFrame]] = {
    "scan": scan_rows,
    "schedule": schedule_rows,
    "stream_scan": stream_scan_rows,
    "distributed": distributed_rows,
}


def _entries(document: Mapping[str, Any]) -> list[Any]:
    entries = listed(document, "benchmarks")
    return convert_each(entries, samples.ENTRY, lambda index: f"benchmarks[{index}]")


def _table_of(entry: samples.Entry) -> str:
    tables = {
        samples.ScanSample: "scan",
        samples.StreamScanSample: "stream_scan",
        samples.DistributedSample: "distributed",
    }
    return tables.get(type(entry), "schedule")


def _common(entries: Sequence[samples.Sample]) -> dict[str, list[Any]]:
    """The columns of every sample."""
    return {
        "round": [e.sample for e in entries],
        "ns": [e.real_time for e in entries],
        "sm_clock_mhz": knowns(e.sm_clock_mhz for e in entries),
        "converged": knowns(e.converged for e in entries),
        "outcome": [e.outcome for e in entries],
    }


def _schedule_case(entry: Any) -> dict[str, Any]:
    """The case of a schedule, copy or kernel; what an entry does not have is 0 or empty."""
    case: dict[str, Any] = dict.fromkeys([*CASES["schedule"], "inputs", "control"], 0)
    case |= {"entry": "", "id": "", "workload": "", "memory": "", "side_kernels": 0}
    case["own_streams"] = 0
    if isinstance(entry, samples.CopySample):
        name = ("duplex_" if entry.both_ways else "") + entry.direction
        return case | {"entry": "copy", "id": name, "memory": entry.memory, "bytes": entry.bytes}
    case |= {name: getattr(entry, name) for name in ("workload", "items", "work", "blocks")}
    if isinstance(entry, samples.KernelSample):
        return case | {"entry": "kernel", "id": entry.workload}
    same = ("chunks", "streams", "memory", "bytes", "inputs")
    reuses = entry.buffers < min(entry.chunks, entry.items)  # a buffer per chunk is one case
    return (
        case
        | {name: getattr(entry, name) for name in same}
        | {
            "entry": "schedule",
            "id": entry.schedule,
            "buffers": entry.buffers if reuses else 0,
            "control": int(entry.control),
            "side_kernels": int(entry.side_kernels > 0),
            "own_streams": int(entry.streams_created != entry.streams),
        }
    )


def _missing(rows: pd.DataFrame, case: list[str]) -> str:
    """Return a sentence on missing samples; empty if none is missing. Each case has all from 0 to
    its last."""
    if rows.empty:
        return ""
    rounds = rows.groupby(case, sort=False, dropna=False)["round"].agg(["size", "max"])
    gaps = rounds[rounds["size"] <= rounds["max"]]
    if gaps.empty:
        return ""
    first = gaps.index[0]
    same = (rows[case].astype(object) == pd.Series(dict(zip(case, first, strict=True)))).all(axis=1)
    there, last = set(rows.loc[same, "round"]), int(gaps["max"].iloc[0])
    absent = [str(n) for n in range(last + 1) if n not in there]
    named = " ".join(str(part) for part in first if part != "")
    which = f"repetitions are missing of {named}"
    if len(gaps) > 1:
        which = f"{len(gaps)} cases lack repetitions, the first of them {named}"
    return f"{which}: round {', '.join(absent[:5])}{' …' if len(absent) > 5 else ''} of 0 to {last}"
