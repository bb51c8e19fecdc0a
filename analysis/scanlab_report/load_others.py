"""Rows of CSV tables, of verification, and of the history of sessions."""

import csv
import io
import tomllib
from collections.abc import Mapping
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd
from msgspec import structs

from scanlab_report import DATA
from scanlab_report.data import Data
from scanlab_report.reading import JSON, checked, decoded, load_bytes, read_csv
from scanlab_report.schema import NAMES, documents, results, struct_of
from scanlab_report.schema.base import Count, Name, Type
from scanlab_report.schema.fields import Misfit, convert, convert_each, whole
from scanlab_report.tables import COLUMNS, ELEMENT_BYTES, WAITING, changed, settings_name

TABLES = {
    "bank_conflicts": "counters",
    "block_conflicts": "block_counters",
    "dram_bytes": "traffic",
    "prefix_wait": "waits",
    "tile_times": "tile_times",
}
"""The table that a CSV holds, by a part of its name."""
_HISTORY_RUN = ["session", "date", "git_commit", "kind", "device", "cpu", "cores"]
_RUN = ["device", "date", "git_commit", "git_dirty"]
"""The columns of waits that name the run, equal in each row."""
_NAMES = ("variant", "padding", "op", "mode", "load", "kernel", "role", *_RUN)
_MORE = {"counters": ["mode", "load"], "waits": ["tile", "settings", "ranks", "rank", *_RUN]}
_MORE["tile_times"] = _RUN
"""Columns of tables that a file may lack."""


def history(data: Data, path: Path, origin: str) -> None:
    """Read each session of a history as a file of its own, below the folder that it had."""
    raw = load_bytes(path)
    try:
        table = pd.read_csv(io.BytesIO(raw), dtype=str, keep_default_na=False)
        table = table.assign(ns=table["times_ns"].str.split()).explode("ns")
        table = table.astype({"ns": float, "items": "int64"})
        table["round"] = table.groupby(level=0).cumcount()
        if not (table["ns"] > 0).all():
            raise ValueError("a time is not positive")
        least = 2 * table["items"] * table["type"].map(ELEMENT_BYTES)
        table["bytes"] = table["bytes"].where(table["way"] != "", least)
        for values, rows in table.groupby(_HISTORY_RUN, sort=False):
            context = dict(zip(_HISTORY_RUN, values, strict=True))
            number = data.add_file(path.parent / context["session"] / path.name, origin, context)
            for name, part in rows.groupby(np.where(rows["way"] == "", "scan", "stream_scan")):
                larger = ("budget", "chunks", "mapped") if name == "stream_scan" else ()
                part = part.astype(dict.fromkeys(("bytes", *larger), "int64"))
                data.add_rows(name, number, part.reindex(columns=COLUMNS[name]))
    except (KeyError, ValueError) as error:
        raise Misfit("", f"is no history of sessions: {error}") from None


def csv_table(data: Data, table: str, path: Path, origin: str) -> None:
    """Read a table of counters: ncu's own, or a plain one."""
    context: Any = None
    try:
        text = path.read_text(encoding="utf-8-sig")
        if table in METRICS and (start := f"\n{text}".find(f"\n{_HEADER}")) >= 0:
            ranges = _ranges(path)
            context = ranges.context
            rows = _launches(text[start:], METRICS[table], _cases_of(data, ranges))
        else:
            rows = read_csv(text)
    except (ValueError, csv.Error, OSError) as error:
        raise Misfit("", f"cannot be read as counters ({error})") from None
    waiting = [c for c in rows if c.startswith(WAITING)] if table == "waits" else []
    more = [c for c in _MORE.get(table, ()) if c in rows] + waiting
    forms: dict[str, Any] = dict.fromkeys([*COLUMNS[table], *more], Count)
    named = dict.fromkeys(_NAMES, Name) | {"type": Type, "settings": str}
    rows, wrong = checked(rows, forms | {c: form for c, form in named.items() if c in forms})
    data.problems += [f"{path}: {sentence}" for sentence in wrong]
    if len(rows) and set(_RUN) <= set(more):
        context = rows.iloc[0][_RUN].to_dict()
    sources = (source for source in corrections()["source"] if source["file"] == _place(path))
    context = context or next(sources, None)
    variants = getattr(context, "variants", {})
    number = data.add_file(path, origin, context, variants=variants, unowned=context is None)
    data.add_rows(table, number, rows[[column for column in forms if column not in _RUN]])


def verification(data: Data, path: Path, origin: str) -> None:
    """Read the output of `verify --json` as rows of `checks`, and of `repeats` for `--repeat`."""
    raw = load_bytes(path).splitlines()
    lines = [decoded(line, f"line {number}") for number, line in enumerate(raw, start=1)]
    if not lines or struct_of(lines[0]) is not documents.Verification:
        raise Misfit("schema", f"is not {NAMES[documents.Verification]}")
    about = convert(lines[0].get("context"), documents.VerificationContext, "line 1.context")
    if len(lines) < 2 or not isinstance(lines[-1], dict) or "ended" not in lines[-1]:
        raise Misfit("", "has no last line with the outcome: verification did not come to its end")
    place = f"line {len(lines)}.ended"
    ended = convert(lines[-1]["ended"], documents.Ended, place)
    entries = convert_each(lines[1:-1], documents.Check, lambda index: f"line {index + 2}")
    if wrong := next((entry for entry in entries if isinstance(entry, Misfit)), None):
        raise wrong
    checks = pd.DataFrame(map(structs.astuple, entries), columns=COLUMNS["checks"])
    for outcome in ("passed", "failed", "skipped"):
        counted, number = (checks["outcome"] == outcome).sum(), getattr(ended, outcome)
        if counted != number:
            message = f"is {number}, and {counted} lines say so: lines are missing"
            raise Misfit(f"{place}.{outcome}", message)
    context = msgspec.to_builtins(about) | {"interrupted": ended.interrupted}
    file = data.add_file(path, origin, context, of_no_device=about.backend != "cuda")
    repeated = checks[(checks["check"] == "repeat") & (checks["outcome"] == "passed")]
    repeated = repeated.assign(varying=repeated["different_outputs"] != 1)
    runs = repeated.groupby(["variant", "type", "op", "mode"], sort=False, as_index=False)
    rows = runs.agg(cases=("runs", "size"), varying=("varying", "sum"), runs=("runs", "min"))
    data.add_rows("checks", file, checks)
    data.add_rows("repeats", file, rows)


# --------------------------------------------------------------------------------- reports of ncu


METRICS = {
    "counters": {
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": "shared_load_wavefronts",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum": "shared_store_wavefronts",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": "shared_load_conflicts",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum": "shared_store_conflicts",
    },
    "traffic": {
        "dram__bytes_read.sum": "dram_bytes_read",
        "dram__bytes_write.sum": "dram_bytes_written",
    },
}
METRICS["block_counters"] = METRICS["counters"]
"""ncu's metrics, and the columns that they become, by table."""
_HEADER = '"ID","Process ID"'
"""The table begins so, below lines of ncu's own and of the program's."""
Case = Mapping[str, object]


def _ranges(file: Path) -> results.Ranges:
    """Read `X.ranges.json`, which says which NVTX range of the report `X.csv` is of which case."""
    candidates = [file.with_suffix(f".ranges{suffix}") for suffix in JSON]
    path = next((path for path in candidates if path.is_file()), candidates[0])
    if not path.is_file():
        raise ValueError(f"{path.name} is not beside it: scanlab bench --once --out writes it")
    try:
        document = decoded(load_bytes(path))
        if struct_of(document) is not results.Ranges:
            raise Misfit("schema", f"is not {NAMES[results.Ranges]}")
        return convert(document, results.Ranges)
    except Misfit as misfit:
        raise ValueError(f"{path}: {misfit}") from None


def _cases_of(data: Data, ranges: results.Ranges) -> dict[str, Case]:
    """The case of each range, by its name."""
    cases: dict[str, Case] = {}
    for own in ranges.ranges:
        settings, about = own.settings, ranges.context.variants.get(own.variant)
        chosen = changed(settings, about.defaults if about else {})
        data.settings.setdefault(settings_name(chosen), chosen)
        cases[own.name] = {
            **{key: getattr(own, key) for key in ("variant", "type", "op", "items", "mode")},
            "padding": settings.get("padding", "none"),
            "load": settings.get("load", "halves"),
            "settings": settings_name(chosen),
        }
    return cases


def _launches(text: str, metrics: Mapping[str, str], cases: Mapping[str, Case]) -> pd.DataFrame:
    """One row a launch within the range of a case, with the columns of ``metrics``; ValueError
    with the launch if a metric is missing or is not a number."""
    try:
        table = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
    except pd.errors.ParserError as error:
        raise ValueError(f"is cut off: {error}") from None
    needed = {"ID", "Kernel Name", "Metric Name", "Metric Unit", "Metric Value"}
    if lacking := sorted(needed - set(table)):
        raise ValueError(f"lacks the columns {', '.join(lacking)}")
    ranges = next((column for column in table if "Push/Pop" in column), "ID")
    # ncu puts a colon and the fields that a range lacks behind its name.
    named = lambda cell: next((name for name in cases if f":{name}:" in cell), None)
    table["name"] = table[ranges].map({cell: named(cell) for cell in set(table[ranges])})
    table = table.dropna(subset="name")
    launches = table.drop_duplicates("ID").set_index("ID")
    if launches.empty:
        raise ValueError("no launch lies in an NVTX range that names a case; run ncu with --nvtx")
    made = pd.DataFrame([cases[name] for name in launches["name"]], launches.index)
    made["kernel"] = launches["Kernel Name"]
    made["launch_index"] = launches.groupby("name").cumcount()
    for metric, column in metrics.items():
        own = table[table["Metric Name"] == metric].drop_duplicates("ID", keep="last")
        if lacking := sorted(set(launches.index) - set(own["ID"])):
            raise ValueError(f"launch {lacking[0]} lacks the metric {metric}")
        for id_, unit in zip(own["ID"], own["Metric Unit"], strict=True):
            if unit.endswith("byte") and unit != "byte":
                how = "run ncu with --print-units base"
                raise ValueError(f"launch {id_}, {metric} is in {unit}: {how}")
        values = own.set_index("ID")["Metric Value"].str.replace(",", "").items()
        counts = {id_: whole(value, f"launch {id_}, {metric}") for id_, value in values}
        made[column] = made.index.map(counts)
    return made.reset_index(drop=True)


# ------------------------------------------------------------------ corrections of recorded files


@cache
def corrections() -> Mapping[str, list[dict[str, Any]]]:
    """`data/corrections.toml`: measurements that are withdrawn, and runs of tables."""
    return tomllib.loads((DATA / "corrections.toml").read_text(encoding="utf-8"))


def withdrawn(file: Path) -> list[str]:
    """The algorithms of a file that are withdrawn."""
    entries = [e for e in corrections()["withdrawn"] if fnmatch(_place(file), e["files"])]
    return [name for entry in entries for name in entry["names"]]


def _place(file: Path) -> str:
    whole, recorded = file.resolve(), DATA / "recorded"
    return whole.relative_to(recorded).as_posix() if whole.is_relative_to(recorded) else ""
