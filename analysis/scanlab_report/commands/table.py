"""Print one table from results, without building the report.

It is printed as Markdown, or written as the name of --out says. `scanlab-report list` names the tables, and says which follow
--variants, --type and --op.
"""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path

from scanlab_report import opened
from scanlab_report.console import SOUND, refuse, say
from scanlab_report.written import write, wrong_ending

EXAMPLE = """  scanlab-report table summary --type f32
  scanlab-report table losses results/run --out losses.csv"""
FORMATS = (".md", ".csv", ".tex")


def arguments(parser: argparse.ArgumentParser) -> None:
    opened.arguments(parser, "table")
    parser.add_argument("--out", type=Path, metavar="FILE", help=f"write the table to FILE: {', '.join(FORMATS)}")


def run(options: argparse.Namespace) -> int:
    if options.out and (wrong_name := wrong_ending(options.out, "table", FORMATS)):
        return refuse(wrong_name)

    from scanlab_report.pick import Lacking
    from scanlab_report.shown import first_of, footer_line, markdown

    try:
        entry = opened.entry_of(options, "table")
        data = opened.data_for(options, "table", entry)
        if reason := opened.lacking(options, "table", entry, data):
            raise opened.Refused(reason)
        made = first_of(entry, data)
    except Lacking as error:
        return refuse(opened.lacking(options, "table", entry, data, error))
    except opened.Refused as error:
        return refuse(*error.args)
    table = made.content
    if options.out is None:
        say(markdown(made))
    else:
        write(options.out, {".md": lambda: markdown(made), ".csv": table.csv, ".tex": table.latex}[options.out.suffix]())
        say(f"Written: {options.out}")
    others = []
    for device in data.devices if len(data.devices) > 1 and not entry.of_others else []:
        with contextlib.suppress(Lacking):
            on = entry.make(data.on(device))
            others += [device] if footer_line(on.sources) != footer_line(made.sources) else []
    if others:
        say(f"Also measured: {', '.join(others)} (--device NAME shows it)")
    return SOUND
