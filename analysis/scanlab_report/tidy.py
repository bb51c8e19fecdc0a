"""The tables of an export, one observation a row, and the dictionary of their columns."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec
import pandas as pd

from scanlab_report import DATA
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table
from scanlab_report.schema import counts, implicit_sync, results, samples, timelines, verification
from scanlab_report.schema.base import Provenance
from scanlab_report.tables import COLUMNS, FIELDS, ROWS, WAITING

PROVENANCE = [name for name in Provenance.__struct_fields__ if name != "schema"]
PROVENANCE += ["kind", "seed", "rounds", "width_percent", "cap_seconds", "backend"]
STRUCTS: dict[str, tuple[Any, ...]] = {
    "files": (results.Context, verification.VerificationContext),
    "schedule": (samples.ScheduleSample,),
    "stream_scan": (samples.StreamScanSample,),
    "distributed": (samples.DistributedSample, results.Algorithm),
    "spans": (timelines.Arguments,),
    "calls": (timelines.Arguments,),
    "rank_spans": (timelines.RankActivity, timelines.TracedCase),
    "waits": (timelines.RankActivity, timelines.TracedCase),
    "implicit_sync": (implicit_sync.Experiment,),
    "concurrency": (implicit_sync.Grids,),
    "repeats": (verification.Repeat,),
    "verification": (verification.Ended,),
    "counts": (counts.Explanation, counts.Totals, counts.Degrees),
}
"""The structs whose notes explain the columns of a table, before those of a scan's sample."""
NOTED = FIELDS | {"launch": "launch", "choice": "choice", "round": "repetition_index"}
NOTED |= {"answer": "measured"}
"""Fields whose notes explain columns of another name."""
_KIND = "of its engine: copies in, kernels or copies out"
MEANINGS = {
    "file": "number of the file, as in the table files",
    "path": "the file, from the folder that was exported",
    "settings": "parameters that are not at their defaults, as name=value; over several ranks all",
    "failed": "whether its result was wrong, or an error ended it",
    "entry": "schedule, copy or kernel",
    "id": "the schedule, direction of the copy, or workload",
    "buffers": "device buffers per array; 0: as many as chunks",
    "side_kernels": "1: the schedule runs kernels beside those of the chunks",
    "control": "1: the schedule is wrong on purpose",
    "mapped": "1: files are written through a mapping",
    "device_ns": "device time between events, in a replay of its own before that of ns",
    "own_streams": "1: the schedule makes another number of streams than it was asked for",
    "stream_scan.bytes": "bytes that are read, and as many that are written",
    "lane": "number of the engine",
    "lane_name": "the engine, as the trace calls it; or the host",
    "spans.kind": _KIND,
    "calls.kind": f"{_KIND}; empty for a call that gives work to none",
    "start_us": "start",
    "end_us": "end",
    "stream": "the CUDA stream",
    "nvbench.cache": "cold: nvbench's isolated runs; warm: its batches",
    "nvbench.launch": "stream: nvbench's isolated runs; batch: its batches",
    "nvbench.ns": "median of isolated runs, mean of batches",
    "question": "the statement, as a sentence",
    "source": "works that state it, and the places",
    "seconds": "time of the trial",
    "asks": "of a call, what it may do: block the host, or serialise two streams",
    "padding": "padding of shared memory; none where the variant has none",
    "load": "how the variant loads, where it can do so in several ways",
    "kernel": "name of the kernel",
    "launch_index": "number of the launch among those of its case, from 0",
    **{
        f"shared_{way}_{what}": f"{meaning} of shared-memory {way}s"
        for way in ("load", "store")
        for what, meaning in (("wavefronts", "passes"), ("conflicts", "further passes"))
    },
    "dram_bytes_read": "from DRAM to L2",
    "dram_bytes_written": "from L2 to DRAM",
    "role": "what the warps do: load, reduce, look ahead, tell, scan, or block for all",
    "tile": "size of a tile, KiB",
    "cycles_total": "cycles from the first tile to the last",
    "cases": "cases that were repeated",
    "varying": "cases whose bits varied",
    "verification.failed": "checks that failed",
    "types": "element types of which a check passed",
    "wrong": "the first check that failed, and why",
    "operations_stated": "operations as the source states them; empty where it states none",
}
"""Columns that no field of a document explains, by column or by table and column."""
_UNITS = {"ns": "ns", "us": "µs", "mhz": "MHz", "seconds": "s", "bytes": "bytes", "percent": "%"}
_UNITS |= {"budget": "bytes", "cycles": "cycles"}


def tables(data: Data, paths: Sequence[Path]) -> dict[str, pd.DataFrame]:
    """Every table that the data have rows for, read from the paths."""
    made = {name: _flat(name, rows) for name, rows in _measured(data) if len(rows)}
    checked = [
        {"file": len(data.files) + number, "variant": variant, "interrupted": file.interrupted}
        | vars(checks)
        | {"types": " ".join(checks.types)}
        for number, file in enumerate(data.verifications)
        for variant, checks in file.variants.items()
    ]
    made |= {"verification": pd.DataFrame(checked)} if checked else {}
    folder = os.path.commonpath(
        [os.path.abspath(path if path.is_dir() else path.parent) for path in paths]
    )
    read = [(file.path, file.context) for file in data.files]
    read += [(file.file, file.context) for file in data.verifications]
    files = [
        {"file": number, "path": _place(read[number][0], folder)}
        | {key: str(read[number][1].get(key, "")) for key in PROVENANCE}
        for number in sorted({number for rows in made.values() for number in rows["file"]})
    ]
    return {"files": pd.DataFrame(files)} | made if made else {}


def _place(file: Path, folder: str) -> str:
    """Name a file of the data by its place there, and another file by its place in the folder.
    Names hold no paths of a machine, and no two files have the same name."""
    if file.resolve().is_relative_to(DATA):
        return file.resolve().relative_to(DATA).as_posix()
    return Path(os.path.abspath(file)).relative_to(folder).as_posix()


def of_model(data: Data) -> list[Path]:
    """The files of the engine model, which are not exported: they hold computed times."""
    simulated = data.rows("spans", lambda file: file.of_no_device)
    numbers = {*data["comparison"]["file"], *data["advice"]["file"], *simulated["file"]}
    return [data.files[number].path for number in sorted(numbers)]


def _measured(data: Data) -> Iterator[tuple[str, pd.DataFrame]]:
    for name in [name for name in COLUMNS if name not in ("comparison", "advice", "other")]:
        rows = data[name]
        yield name, data.rows(name, lambda f: not f.of_no_device) if "lane_name" in rows else rows


def _flat(name: str, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with plain values alone."""
    for column in ("makespan_seconds", "seconds"):
        if column in rows:
            rows = rows.explode(column).astype({column: float})
    if name == "counts":
        totals = [msgspec.to_builtins(content.totals) for content in rows["content"]]
        stated = [content.closed_forms.operations for content in rows["content"]]
        more = pd.json_normalize(totals, sep="_").set_axis(rows.index)
        rows = rows.join(more).assign(operations_stated=stated)
    if name == "implicit_sync":
        variables = [sorted(environment.items()) for environment in rows["environment"]]
        rows = rows.assign(environment=[" ".join(map("=".join, named)) for named in variables])
    if name == "scan":
        rows = rows.assign(choice=[str(choice or "") for choice in rows["choice"]])
    if "converged" in rows:
        rows = rows.astype({"converged": float})
    return rows.drop(columns=["content", "works"], errors="ignore").infer_objects()


# -------------------------------------------------------------------------------- the dictionary


def meaning(table: str, column: str) -> str:
    """The meaning of a column; KeyError if nobody wrote it down."""
    if column.startswith(WAITING):  # there may be any of them
        return f"cycles of the total, spent waiting for what is called {column[len(WAITING) :]}"
    if column.startswith("banks"):
        banks, _, column = column.partition("_")
        return f"shared memory of {banks[5:]} banks: {meaning(table, column)}"
    for key in (f"{table}.{column}", column):
        if key in MEANINGS:
            return MEANINGS[key]
    for struct in (*STRUCTS.get(table, ()), samples.ScanSample):
        if noted := _note(struct, NOTED.get(column, column)):
            return noted
    raise KeyError(column)


def _note(struct: Any, field: str) -> str:
    """The note of a field, and every word that it may be; empty if it has neither."""
    hint: Any = get_type_hints(struct, include_extras=True).get(field)
    notes = getattr(hint, "__metadata__", ())
    text = "".join(note.description or "" for note in notes).replace("`", "")
    words = [
        word for word in get_args(hint.__origin__ if notes else hint) if type(word) is str and word
    ]
    listed = "" if all(word in text for word in words) else ", ".join(words)
    return ": ".join(filter(None, (listed, text)))


def _described(name: str, rows: pd.DataFrame) -> pd.DataFrame:
    """One row a column: `column`, `unit`, `meaning`, and `kind`."""
    types = pd.api.types
    kinds = {types.is_bool_dtype: "yes or no", types.is_integer_dtype: "whole number"}
    kinds |= {types.is_numeric_dtype: "number", lambda values: True: "text"}
    described = []
    for column in rows:
        unit = next((u for end, u in _UNITS.items() if end in column.split("_")), "")
        kind = next(kind for test, kind in kinds.items() if test(rows[column]))
        described.append((column, unit, meaning(name, column), kind))
    return pd.DataFrame(described, columns=["column", "unit", "meaning", "kind"])


def write_dictionary(made: Mapping[str, pd.DataFrame], out: Path) -> None:
    """Write the dictionary for programs, and for people."""
    cells = [
        Column(name, name, "`{}`".format if name == "column" else str, right=False)
        for name in ("column", "unit", "kind", "meaning")
    ]
    parts = [
        "# Data dictionary",
        "Each table is in a file of its own, as CSV (UTF-8, a line of headings) and as Parquet.",
    ]
    content: dict[str, Any] = {"schema": "scanlab-export/1", "tables": {}}
    for name, rows in made.items():
        columns = _described(name, rows)
        about = {"row": ROWS[name], "rows": len(rows), "columns": columns.to_dict("records")}
        content["tables"][name] = about
        parts.append(f"## {name}\n\nA row is {ROWS[name]}; there are {len(rows)}.")
        parts.append(Table("", cells, columns).markdown().strip())
    (out / "dictionary.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    (out / "dictionary.json").write_text(text, encoding="utf-8")
