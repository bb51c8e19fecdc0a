"""Print one table from results, without building the report.

It is printed as Markdown, or written as the name of --out says. `scanlab-report list` names the tables, and says which follow
--variants, --type and --op.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from scanlab_report.commands.figure import asked
from scanlab_report.console import SOUND, refuse, say
from scanlab_report.written import write, wrong_ending

EXAMPLE = """  scanlab-report table summary --type f32
  scanlab-report table losses results/run --out losses.csv"""
FORMATS = (".md", ".csv", ".tex")


def arguments(parser: argparse.ArgumentParser) -> None:
    asked.arguments(parser, "table")
    parser.add_argument("--out", type=Path, metavar="FILE", help=f"write the table to FILE: {', '.join(FORMATS)}")


def run(options: argparse.Namespace) -> int:
    from scanlab_report import tables
    from scanlab_report.commands.build.report import markdown

    if options.out and (wrong_name := wrong_ending(options.out, "table", FORMATS)):
        return refuse(wrong_name)
    try:
        module = asked.module_of(options, "table", tables)
        on, left_out = asked.evidence(options, "table", module)
    except asked.Refused as error:
        return refuse(*error.args)
    gathered = on[""]
    table = module.build(**gathered.found)
    if options.out is None:
        say(markdown(table, gathered.provenances))
    else:
        text = {".md": lambda: markdown(table, gathered.provenances), ".csv": table.csv, ".tex": table.latex}[options.out.suffix]()
        write(options.out, text)
        say(f"Written: {options.out}")
    if left_out:
        say(f"Also measured: {', '.join(left_out)} (--device NAME shows it)")
    return SOUND
