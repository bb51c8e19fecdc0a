"""Rows of CSV tables, of verification, and of the history of sessions."""

from __future__ import annotations

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

from scanlab_report import DATA, ncu
from scanlab_report.data import Checks, Data, Verification
from scanlab_report.reading import JSON, checked, decoded, decoded_lines, load_bytes, read_csv
from scanlab_report.schema import documents, results
from scanlab_report.schema.base import Count, Name, Type
from scanlab_report.schema.fields import Misfit, convert, convert_each
from scanlab_report.schema.versions import check_schema
from scanlab_report.tables import COLUMNS, ELEMENT_BYTES, WAITING, changed, settings_name

_HISTORY_RUN = ["session", "date", "git_commit", "kind", "device", "cpu", "cores"]
_RUN = ["device", "date", "git_commit", "git_dirty"]
"""The columns of waits that name the run, equal in each row."""
_NAMES = ("variant", "padding", "op", "mode", "load", "kernel", "role", *_RUN)
_MORE = {"counters": ["mode", "load"], "waits": ["tile", "ranks", "rank", *_RUN]}
"""Columns of tables that a file may lack."""


def history(data: Data, path: Path, origin: str) -> None:
    """Read each session of a history as a file of its own, below the folder that it had. A row is a
    case of a scan, or of a scan larger than the device, which has a `way`; `times_ns` are its
    samples."""
    try:
        table = pd.read_csv(io.BytesIO(load_bytes(path)), dtype=str, keep_default_na=False)
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
    except Misfit:
        raise
    except (KeyError, ValueError) as error:
        raise Misfit("", f"is no history of sessions: {error}") from None


def csv_table(data: Data, table: str, path: Path, origin: str) -> None:
    """Read a table of counters: ncu's own, or a plain one."""
    context: Any = None
    try:
        text = path.read_text(encoding="utf-8-sig")
        if table != "waits" and ncu.is_ncu(text):
            ranges = _ranges(path)
            context = ranges.context
            rows = ncu.tidy(text, ncu.METRICS[table], ncu.by_name(_cases_of(data, ranges)))
        else:
            rows = read_csv(text)
    except (ValueError, csv.Error, OSError) as error:
        raise Misfit("", f"cannot be read as counters ({error})") from None
    if missing := [column for column in COLUMNS[table] if column not in rows]:
        raise Misfit("line 1", f"lacks the columns {', '.join(missing)}")
    more = [
        c for c in rows if c in _MORE.get(table, ()) or (table == "waits" and c.startswith(WAITING))
    ]
    forms: dict[str, Any] = dict.fromkeys([*COLUMNS[table], *more], Count)
    forms |= dict.fromkeys(_NAMES, Name) | {"type": Type, "settings": str}
    rows = rows[[*COLUMNS[table], *more]]
    rows, wrong = checked(rows, {column: forms[column] for column in rows})
    for place, message in wrong:
        data.complain(path, place, message)
    if len(rows) and set(_RUN) <= set(more):
        context = rows.iloc[0][_RUN].to_dict()
    sources = (source for source in corrections()["source"] if source["file"] == _place(path))
    context = context or next(sources, None)
    variants = getattr(context, "variants", {})
    number = data.add_file(path, origin, context, variants=variants, unowned=context is None)
    data.add_rows(table, number, rows.drop(columns=_RUN, errors="ignore"))


def verification(data: Data, path: Path, origin: str) -> None:
    """Read the output of `verify --json`, one line per check. Variants, types, operators and modes
    that ran many times on the same input are rows of `repeats`."""
    lines = decoded_lines(load_bytes(path))
    check_schema(lines[0] if lines else None, documents.VERIFICATION)
    context = msgspec.to_builtins(convert(lines[0], documents.Beginning, "line 1").context)
    if len(lines) < 2 or not isinstance(lines[-1], dict) or "ended" not in lines[-1]:
        raise Misfit("", "has no last line with the outcome: verification did not come to its end")
    ended = convert(lines[-1], documents.Ending, f"line {len(lines)}").ended
    entries = convert_each(lines[1:-1], documents.Check, lambda index: f"line {index + 2}")
    if wrong := next((entry for entry in entries if isinstance(entry, Misfit)), None):
        raise wrong
    for outcome in ("passed", "failed", "skipped"):
        counted = sum(entry.outcome == outcome for entry in entries)
        if counted != (number := getattr(ended, outcome)):
            message = f"is {number}, and {counted} lines say so: lines are missing"
            raise Misfit(f"line {len(lines)}.ended.{outcome}", message)
    rows = [structs.astuple(entry) for entry in entries]
    checks = pd.DataFrame(rows, columns=documents.Check.__struct_fields__)
    repeated = checks[(checks["check"] == "repeat") & (checks["outcome"] == "passed")]
    by_variant = checks[checks["check"] == "verify"].groupby("variant", sort=False)
    verified = {variant: _checks(own) for variant, own in by_variant}
    outcomes = (ended.passed, ended.failed, ended.interrupted)
    data.verifications.append(Verification(path, context, *outcomes, verified))
    if len(repeated):
        repeated = repeated.assign(varying=repeated["different_outputs"] != 1)
        runs = repeated.groupby(["variant", "type", "op", "mode"], sort=False, as_index=False)
        rows = runs.agg(cases=("runs", "size"), varying=("varying", "sum"), runs=("runs", "min"))
        data.add_rows("repeats", data.add_file(path, origin, context), rows)


def _checks(checks: pd.DataFrame) -> Checks:
    passed, failed, skipped = (
        checks[checks["outcome"] == outcome] for outcome in ("passed", "failed", "skipped")
    )
    first = failed[:1].itertuples()
    wrong = [f"{e.type} {e.op} {e.mode}, {e.items} items: {e.reason}" for e in first]
    types = tuple(sorted(set(passed["type"])))
    return Checks(len(passed), len(failed), len(skipped), types, "".join(wrong))


def _ranges(file: Path) -> results.Ranges:
    """Read the ranges of a report."""
    candidates = [file.with_suffix(f".ranges{suffix}") for suffix in JSON]
    path = next((path for path in candidates if path.is_file()), candidates[0])
    if not path.is_file():
        raise ValueError(f"{path.name} is not beside it: scanlab bench --once --out writes it")
    try:
        document = decoded(load_bytes(path))
        check_schema(document, results.RANGES)
        return convert(document, results.Ranges)
    except Misfit as misfit:
        raise ValueError(f"{path}: {misfit}") from None


def _cases_of(data: Data, ranges: results.Ranges) -> dict[str, Mapping[str, object]]:
    """The case of each range, by its name."""
    cases: dict[str, Mapping[str, object]] = {}
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
