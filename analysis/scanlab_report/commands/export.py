"""Export every sample as tidy tables, CSV and Parquet, with a data dictionary.

One row is one sample; the table files has the origin of each. The file dictionary.md has the unit
and the meaning of each column. Nothing is written if anything in the input is wrong. Counters,
timelines, experiments and cases that were not timed are not exported.
"""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path

from scanlab_report.console import SOUND, count, missing, refuse, say
from scanlab_report.written import in_place_of

EXAMPLE = """  scanlab-report export data/recorded --out tidy"""


def arguments(parser: argparse.ArgumentParser) -> None:
    add, results = parser.add_argument, "folders or files, recorded or new"
    add("results", nargs="+", type=Path, metavar="RESULTS", help=results)
    where = "write TABLE.csv, TABLE.parquet and the dictionary to DIR"
    add("--out", type=Path, required=True, metavar="DIR", help=where)


def run(options: argparse.Namespace) -> int:
    if wrong := missing(options.results):
        return refuse(*wrong)

    from scanlab_report import opened, tidy
    from scanlab_report.load import load

    data = load(*opened.apart(options.results))
    if data.problems:
        return refuse(*data.problems, f"{options.out}: nothing was written")
    if not (tables := tidy.tables(data, options.results)):
        return refuse(opened.nothing_among(options.results))
    parquet = importlib.util.find_spec("pyarrow") is not None
    with in_place_of(options.out) as out:
        for name, rows in tables.items():
            rows.to_csv(out / f"{name}.csv", index=False)
            if parquet:
                rows.to_parquet(out / f"{name}.parquet", index=False, compression="zstd")
            say(f"{name}: {count(len(rows), 'row')}")
        (out / "dictionary.md").write_text(tidy.dictionary(tables), encoding="utf-8")
    lacking = ", without Parquet: this Python has no pyarrow (the .venv of ./check has it)"
    say(f"Written: {options.out}{'' if parquet else lacking}")
    return SOUND
