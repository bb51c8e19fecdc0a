"""Export every number as tidy tables, CSV and Parquet, with a data dictionary.

One row is one observation; the table runs has the origin of each. The files dictionary.md and
dictionary.json have the unit and the meaning of each column. Nothing is written if anything in the
input is wrong. Files of the engine model, as simulations and advice, are named and not exported:
their times are computed.
"""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path

from scanlab_report.console import SOUND, count, missing, refuse, say
from scanlab_report.written import in_place_of, unwritable

EXAMPLE = """  scanlab-report export data/recorded --out tidy"""


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "results", nargs="+", type=Path, metavar="RESULTS", help="folders or files, recorded or new"
    )
    add(
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="write TABLE.csv, TABLE.parquet and the dictionary to DIR",
    )


def run(options: argparse.Namespace) -> int:
    if wrong := missing(options.results):
        return refuse(*wrong)
    if reason := unwritable(options.out):
        return refuse(f"{options.out}: cannot be written to: {reason}")

    from scanlab_report import opened, tidy
    from scanlab_report.load import load

    data = load(*opened.apart(options.results))
    if data.problems:
        return refuse(*data.problems, f"{options.out}: nothing was written")
    tables, of_model = tidy.tables(data, options.results), tidy.of_model(data)
    not_exported = (
        f"Not exported: {count(len(of_model), 'file')} of the engine model, such as {of_model[0]}"
        if of_model
        else ""
    )
    if not tables:
        return refuse(not_exported or opened.nothing_among(options.results))
    parquet = importlib.util.find_spec("pyarrow") is not None
    with in_place_of(options.out) as out:
        for name, rows in tables.items():
            rows.to_csv(out / f"{name}.csv", index=False)
            if parquet:
                rows.to_parquet(
                    out / f"{name}.parquet", index=False, engine="pyarrow", compression="zstd"
                )
            say(f"{name}: {count(len(rows), 'row')}")
        if not_exported:
            say(not_exported)
        (out / "dictionary.md").write_text(tidy.dictionary_markdown(tables), encoding="utf-8")
        (out / "dictionary.json").write_text(tidy.dictionary_json(tables), encoding="utf-8")
    say(
        f"Written: {options.out}"
        + (
            ""
            if parquet
            else ", without Parquet: this Python has no pyarrow (the .venv of ./check has it)"
        )
    )
    return SOUND
