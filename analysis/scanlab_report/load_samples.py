"""Rows of samples, from the entries of a results file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from msgspec import UNSET, Struct

from scanlab_report.load_others import withdrawn
from scanlab_report.schema import results, samples
from scanlab_report.schema.fields import REMEDY, Misfit, convert, convert_each, listed, shown
from scanlab_report.tables import CASES, COLUMNS, FIELDS, changed, rank_settings_name, settings_name

if TYPE_CHECKING:
    from scanlab_report.reader import Reader

_ABSENT = {"workload": "", "memory": "", "device_ns": math.nan}
"""Columns of schedules that copies or kernels have no field of; of other columns it is 0."""


class _Context(Struct):
    context: results.Context


def read_samples(reader: Reader, path: Path, origin: str, document: Mapping[str, Any]) -> None:
    context = convert(document, _Context).context
    number = reader.add_file(path, origin, context, variants=context.variants)
    before = len(reader.data.problems)
    entries: dict[str, list[tuple[int, Any]]] = {}
    place = "benchmarks[{}]".format
    for index, entry in enumerate(
        convert_each(listed(document, "benchmarks"), samples.ENTRY, place)
    ):
        if isinstance(entry, Misfit):
            reader.complain(path, entry.place, entry.message)
        elif wrong := _contradicts(entry, context):
            reader.complain(path, f"{place(index)}.{wrong[0]}", wrong[1])
        else:
            entries.setdefault(entry.table, []).append((index, entry))
    for table, of_table in entries.items():
        rows = _rows(reader, context, table, *zip(*of_table, strict=True))
        timed = rows[rows["outcome"] == "timed"]
        twice = timed.duplicated([*CASES[table], "round"])
        for index, sample in timed.loc[twice, ["index", "round"]].itertuples(index=False):
            message = f"repetition {sample} of this case was already read"
            reader.complain(path, place(index), message)
        timed = timed[~twice][COLUMNS[table]]
        # The last check of a case may fail: its earlier times are of a wrong scan.
        failed = rows.loc[rows["outcome"] == "failed", CASES[table]].drop_duplicates()
        if len(failed):
            known = timed.merge(failed, how="left", on=CASES[table], indicator="sound")
            timed = timed[(known["sound"] == "left_only").to_numpy()]
        if len(reader.data.problems) == before and (gap := _missing(timed, CASES[table])):
            reader.complain(path, "benchmarks", gap)
        if table == "distributed":
            timed = timed[~timed["algorithm"].isin(list(withdrawn(path)))]
        reader.add_rows(table, number, timed.copy())
        if table == "scan":
            skipped = rows.loc[rows["outcome"] != "timed", COLUMNS["skipped"]].drop_duplicates()
            reader.add_rows("skipped", number, skipped)


def _contradicts(entry: Any, context: results.Context) -> tuple[str, str] | None:
    """The field of an entry that the context of its file contradicts, and how."""
    if entry.device and entry.device != context.device:
        message = f"is {shown(entry.device)}, and the file is of {shown(context.device)}"
        return "device", f"{message}: one device a file"
    described = {"scan": "variants", "distributed": "algorithms"}.get(entry.table)
    if described and entry.variant not in getattr(context, described):
        message = f"is {shown(entry.variant)}, of which context.{described} says nothing"
        return "variant", f"{message}: {REMEDY}"
    return None


def _rows(
    reader: Reader,
    context: results.Context,
    table: str,
    places: Sequence[int],
    entries: Sequence[Any],
) -> pd.DataFrame:
    """One row per entry: its place, its outcome, and the columns of its table."""
    names = dict.fromkeys([*COLUMNS[table], "outcome"])
    if table == "scan":
        names |= dict.fromkeys(COLUMNS["skipped"])
    columns: dict[str, Any] = {}
    for name in names:
        field, absent = FIELDS.get(name, name), _ABSENT.get(name, 0)
        values = (getattr(entry, field, absent) for entry in entries)
        columns[name] = [math.nan if value is UNSET else value for value in values]
    if table == "scan":
        columns["settings"] = _settings(reader, context, entries)
        columns["bytes"] = [entry.moved for entry in entries]
    if table == "distributed":
        columns["settings"] = [rank_settings_name(entry.settings) for entry in entries]
        columns["kind"] = [context.algorithms[entry.variant].kind for entry in entries]
    rows = pd.DataFrame({"index": places} | columns)
    return rows.astype({name: int for name in ("mapped", "control") if name in rows})


def _settings(
    reader: Reader, context: results.Context, entries: Sequence[samples.ScanSample]
) -> list[str]:
    """The settings of each entry that are not the defaults, by name."""
    defaults = {id_: variant.defaults for id_, variant in context.variants.items()}
    names: dict[Any, str] = {}
    for entry in entries:
        key = (entry.variant, *entry.settings.items())
        if key not in names:
            settings = changed(entry.settings, defaults[entry.variant])
            names[key] = settings_name(settings)
            reader.data.settings.setdefault(names[key], settings)
    return [names[entry.variant, *entry.settings.items()] for entry in entries]


def _missing(rows: pd.DataFrame, case: list[str]) -> str:
    """Return a sentence on missing samples; empty if none is missing. Each case has all from 0 to
    its last."""
    if rows.empty:
        return ""
    rounds = rows.groupby(case, sort=False, dropna=False)["round"].agg(["size", "max"])
    gaps = rounds[rounds["size"] <= rounds["max"]]
    if gaps.empty:
        return ""
    first, last = gaps.index[0], int(gaps["max"].iloc[0])
    same = (rows[case].astype(object) == pd.Series(dict(zip(case, first, strict=True)))).all(axis=1)
    absent = [str(n) for n in sorted({*range(last + 1)} - {*rows.loc[same, "round"]})]
    named = " ".join(str(part) for part in first if part != "")
    which = f"repetitions are missing of {named}"
    if len(gaps) > 1:
        which = f"{len(gaps)} cases lack repetitions, the first of them {named}"
    return f"{which}: round {', '.join(absent[:5])}{' …' if len(absent) > 5 else ''} of 0 to {last}"
