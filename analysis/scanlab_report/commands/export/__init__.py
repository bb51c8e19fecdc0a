"""Export every number as tidy tables, CSV and Parquet, with a data dictionary.

One row is one observation; the table runs has the origin of each. The files dictionary.md and dictionary.json have the unit
and the meaning of each column. Nothing is written if anything in the input is wrong. Files of the engine model, as simulations and
advice, are named and not exported: their times are computed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from scanlab_report.console import SOUND, count, missing, refuse, say
from scanlab_report.written import in_place_of, unwritable

EXAMPLE = """  scanlab-report export data/recorded --out tidy"""


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("results", nargs="+", type=Path, metavar="RESULTS", help="folders or files, recorded or new")
    add("--out", type=Path, required=True, metavar="DIR", help="write TABLE.csv, TABLE.parquet and the dictionary to DIR")


def run(options: argparse.Namespace) -> int:
    if wrong := missing(options.results):
        return refuse(*wrong)
    if reason := unwritable(options.out):
        return refuse(f"{options.out}: cannot be written to: {reason}")

    from scanlab_report.commands.export import tables as export
    from scanlab_report.read import results
    from scanlab_report.select.opened import apart, nothing_among

    read = results.read(*apart(options.results))
    if read.problems:
        return refuse(*read.problems, f"{options.out}: nothing was written")
    found, of_model = export.tables(read, options.results), export.of_model(read)
    not_exported = f"Not exported: {count(len(of_model), 'file')} of the engine model, such as {of_model[0]}" if of_model else ""
    if not found:
        return refuse(not_exported or nothing_among(options.results))
    parquet = _has_parquet()
    with in_place_of(options.out) as out:
        for name, rows in found.items():
            rows.to_csv(out / f"{name}.csv", index=False)
            if parquet:
                rows.to_parquet(out / f"{name}.parquet", index=False, engine="pyarrow", compression="zstd")
            say(f"{name}: {count(len(rows), 'row')}")
        if not_exported:
            say(not_exported)
        (out / "dictionary.md").write_text(export.dictionary_markdown(found), encoding="utf-8")
        (out / "dictionary.json").write_text(export.dictionary_json(found), encoding="utf-8")
    say(f"Written: {options.out}" + ("" if parquet else ", without Parquet: this Python has no pyarrow (the .venv of ./check has it)"))
    return SOUND


def _has_parquet() -> bool:
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        return False
    return True
