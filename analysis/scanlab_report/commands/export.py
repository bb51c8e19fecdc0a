"""Export every sample as tidy tables, CSV and Parquet, with a data dictionary.

One row is one observation; the table files has the origin of each. The files dictionary.md and
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
    where = "write TABLE.csv, TABLE.parquet and the dictionary to DIR"
    add("--out", type=Path, required=True, metavar="DIR", help=where)


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
    left = count(len(of_model), "file")
    not_exported = f"Not exported: {left} of the engine model, such as {[*of_model, ''][0]}"
    if not tables:
        return refuse(not_exported if of_model else opened.nothing_among(options.results))
    parquet = importlib.util.find_spec("pyarrow") is not None
    with in_place_of(options.out) as out:
        for name, rows in tables.items():
            rows.to_csv(out / f"{name}.csv", index=False)
            if parquet:
                rows.to_parquet(out / f"{name}.parquet", index=False, compression="zstd")
            say(f"{name}: {count(len(rows), 'row')}")
        tidy.write_dictionary(tables, out)
    if of_model:
        say(not_exported)
    lacking = ", without Parquet: this Python has no pyarrow (the .venv of ./check has it)"
    say(f"Written: {options.out}{'' if parquet else lacking}")
    return SOUND
