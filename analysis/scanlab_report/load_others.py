"""Rows of CSV tables, of verification, and of the history of sessions."""

from __future__ import annotations

import csv
import io
import tomllib
from collections import Counter, defaultdict
from collections.abc import Mapping
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pandas as pd

from scanlab_report import DATA, ncu
from scanlab_report.data import Checks, Complaint, Verification
from scanlab_report.reading import JSON, checked, decoded, load_bytes, load_json, read_csv
from scanlab_report.schema import results
from scanlab_report.schema import verification as checks
from scanlab_report.schema.base import Count, Name, Type
from scanlab_report.schema.fields import Misfit, convert, convert_each
from scanlab_report.schema.versions import check_schema
from scanlab_report.tables import COLUMNS, ELEMENT_BYTES, WAITING, changed, settings_name

if TYPE_CHECKING:
    from scanlab_report.reader import Reader


_RUN = ("device", "date", "git_commit", "git_dirty")
"""The columns of waits that name the run, equal in each row."""


_HISTORY_RUN = ["session", "date", "git_commit", "kind", "device", "cpu", "cores"]


def history(reader: Reader, path: Path, origin: str) -> None:
    """Each session of a history as a file of its own, below the folder that it had. A row is a case
    of a scan, or of a scan larger than the device, which has a `way`; `times_ns` are its samples.
    """
    if (raw := load_bytes(path, reader.data.problems)) is None:
        return
    try:
        table = pd.read_csv(io.BytesIO(raw), dtype=str, keep_default_na=False)
        table = table.assign(ns=table["times_ns"].str.split()).explode("ns")
        table = table.astype({"ns": float, "items": "int64"})
        table["round"] = table.groupby(level=0).cumcount()
        if not (table["ns"] > 0).all():
            raise ValueError("a time is not positive")
        table["bytes"] = table["bytes"].where(
            table["way"] != "", 2 * table["items"] * table["type"].map(ELEMENT_BYTES)
        )
        for values, rows in table.groupby(_HISTORY_RUN, sort=False):
            context = dict(zip(_HISTORY_RUN, values, strict=True))
            number = reader.add_file(path.parent / context["session"] / path.name, origin, context)
            for name, part in rows.groupby(np.where(rows["way"] == "", "scan", "stream_scan")):
                larger = ("budget", "chunks", "mapped") if name == "stream_scan" else ()
                part = part.astype(dict.fromkeys(("bytes", *larger), "int64"))
                reader.add_rows(name, number, part.reindex(columns=COLUMNS[name]))
    except (KeyError, ValueError) as error:
        raise Misfit("", f"is no history of sessions: {error}") from None


def csv_table(reader: Reader, table: str, path: Path, origin: str) -> None:
    context: Any = None
    try:
        text = path.read_text(encoding="utf-8-sig")
        if table != "waits" and ncu.is_ncu(text):
            ranges = _ranges(path)
            context = ranges.context
            rows = ncu.tidy(text, ncu.METRICS[table], ncu.by_name(_cases_of(path, ranges)))
        else:
            rows = read_csv(text)
    except (ValueError, csv.Error, OSError) as error:
        reader.complain(path, "", f"cannot be read as counters ({error})")
        return
    if missing := [column for column in COLUMNS[table] if column not in rows]:
        reader.complain(path, "line 1", f"lacks the columns {', '.join(missing)}")
        return
    more = {"counters": ["mode", "load"], "waits": ["tile", "ranks", "rank", *_RUN]}.get(table, [])
    more += [c for c in rows if table == "waits" and c.startswith(WAITING)]
    columns = [*COLUMNS[table], *(column for column in more if column in rows)]
    names = ("variant", "padding", "op", "mode", "load", "kernel", "role", *_RUN)
    special: dict[str, Any] = dict.fromkeys(names, Name) | {"type": Type, "settings": str}
    forms = {column: special.get(column, Count) for column in columns}
    rows, wrong = checked(rows[columns], forms)
    reader.data.problems += [Complaint(path, *sentence) for sentence in wrong]
    if len(rows) and set(_RUN) <= set(columns):
        context = rows.iloc[0][list(_RUN)].to_dict()
    elif source := next((e for e in corrections()["source"] if e["file"] == _place(path)), None):
        context = source
    number = reader.add_file(path, origin, context, variants=getattr(context, "variants", {}))
    if context is None:
        reader.unowned.add(number)
    reader.add_rows(table, number, rows.drop(columns=[*_RUN], errors="ignore"))


def verification(reader: Reader, path: Path, origin: str) -> None:
    if (raw := load_bytes(path, reader.data.problems)) is None:
        return
    before = len(reader.data.problems)
    lines = [
        decoded(path, line, reader.data.problems, number)
        for number, line in enumerate(raw.splitlines(), start=1)
    ]
    if len(reader.data.problems) > before:
        del reader.data.problems[before + 1 :]
        return
    verification, repeats = _verified(path, lines)
    reader.data.verifications.append(verification)
    if repeats:
        number = reader.add_file(path, origin, verification.context)
        columns = COLUMNS["repeats"]
        reader.add_rows("repeats", number, pd.DataFrame(repeats, columns=columns))


def _verified(file: Path, lines: list[Any]) -> tuple[Verification, list[tuple[Any, ...]]]:
    """Read the output of `verify --json`, one line per check. Add a row of `repeats` for each
    variant, type, operator and mode that ran many times on the same input."""
    check_schema(lines[0] if lines else None, checks.SCHEMA)
    beginning = convert(lines[0], checks.Beginning, "line 1")
    if len(lines) < 2 or not isinstance(lines[-1], dict) or "ended" not in lines[-1]:
        message = "has no last line that says what came of it: verification did not come to its end"
        raise Misfit("", message)
    ended = convert(lines[-1], checks.Ending, f"line {len(lines)}").ended
    entries = convert_each(lines[1:-1], checks.CHECK, lambda index: f"line {index + 2}")
    for entry in entries:
        if isinstance(entry, Misfit):
            raise entry
    for outcome, number in ((o, getattr(ended, o)) for o in ("passed", "failed", "skipped")):
        if (counted := sum(entry.outcome == outcome for entry in entries)) != number:
            message = f"is {number}, and {counted} lines say so: lines are missing"
            raise Misfit(f"line {len(lines)}.ended.{outcome}", message)
    by_variant, repeats = defaultdict(list), defaultdict(list)
    for entry in entries:
        if isinstance(entry, checks.Verify):
            by_variant[entry.variant].append(entry)
        elif entry.outcome == "passed":
            repeats[entry.variant, entry.type, entry.op, entry.mode].append(entry)
    rows = []
    for key, runs in repeats.items():
        varying = sum(run.different_outputs != 1 for run in runs)
        rows.append((*key, len(runs), varying, min(run.runs for run in runs)))
    variants = {variant: _checks(of_variant) for variant, of_variant in by_variant.items()}
    context = msgspec.to_builtins(beginning.context)
    counted = (ended.passed, ended.failed, ended.interrupted)
    return Verification(file, context, *counted, variants), rows


def _checks(entries: list[checks.Verify]) -> Checks:
    number = Counter(entry.outcome for entry in entries)
    types = tuple(sorted({entry.type for entry in entries if entry.outcome == "passed"}))
    failed = (
        f"{e.type} {e.op} {e.mode}, {e.items} items: {e.reason}"
        for e in entries
        if e.outcome == "failed"
    )
    return Checks(number["passed"], number["failed"], number["skipped"], types, next(failed, ""))


def ranges_beside(file: Path) -> list[Path]:
    """The files, of which one has the ranges of a profiler's report."""
    return [file.with_suffix(f".ranges{suffix}") for suffix in JSON]


def _ranges(file: Path) -> results.Ranges:
    """Read the ranges of a report. ValueError if they are missing or wrong."""
    missing, *_ = candidates = ranges_beside(file)
    problems: list[Complaint] = []
    if (path := next((path for path in candidates if path.is_file()), None)) is None:
        message = f"{missing.name} is not beside it: scanlab bench --once --out writes it"
        raise ValueError(message)
    document = load_json(path, problems)
    if problems:
        raise ValueError(str(problems[0]))
    check_schema(document, results.RANGES)
    return convert(document, results.Ranges)


def _cases_of(file: Path, ranges: results.Ranges) -> dict[str, Mapping[str, object]]:
    """The case of each range, by its name."""
    about = ranges.context.variants
    if unknown := [entry.variant for entry in ranges.ranges if entry.variant not in about]:
        name = file.with_suffix(".ranges.json").name
        raise ValueError(f"{name}: context.variants says nothing of {unknown[0]}")
    return {
        e.name: {
            "variant": e.variant,
            "padding": e.settings.get("padding", "none"),
            "settings": settings_name(changed(e.settings, about[e.variant].defaults)),
            "type": e.type,
            "op": e.op,
            "items": e.items,
            "mode": e.mode,
            "load": e.settings.get("load", "halves"),
        }
        for e in ranges.ranges
    }


@cache
def corrections() -> Mapping[str, list[dict[str, Any]]]:
    """`data/corrections.toml`: measurements that are withdrawn, and runs of tables."""
    return tomllib.loads((DATA / "corrections.toml").read_text(encoding="utf-8"))


def withdrawn(file: Path) -> dict[str, str]:
    """The algorithms of a file that are withdrawn, with the reason."""
    entries = [e for e in corrections()["withdrawn"] if fnmatch(_place(file), e["files"])]
    return {name: entry["reason"] for entry in entries for name in entry["names"]}


def _place(file: Path) -> str:
    whole, recorded = file.resolve(), DATA / "recorded"
    return whole.relative_to(recorded).as_posix() if whole.is_relative_to(recorded) else ""
