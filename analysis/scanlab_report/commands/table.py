"""Print one table from results, without building the report.

It is printed as Markdown, or written as the name of --out says. `scanlab-report list` names the
tables, and says which follow --variants, --type and --op.
"""

import argparse

from scanlab_report import opened
from scanlab_report.console import SOUND, say
from scanlab_report.shown import first_of, markdown
from scanlab_report.written import check_ending, write

EXAMPLE = """  scanlab-report table summary --type f32
  scanlab-report table losses results/run --out losses.csv"""
FORMATS = (".md", ".csv", ".tex")


def arguments(parser: argparse.ArgumentParser) -> None:
    opened.arguments(parser, "table", FORMATS)


def run(options: argparse.Namespace) -> int:
    if options.out:
        check_ending(options.out, "table", FORMATS)
    with opened.asked(options, "table") as (entry, data):
        made = first_of(entry, data)
    if options.out is None:
        say(markdown(made))
        return SOUND
    table = made.content
    made_as = {".md": lambda: markdown(made), ".csv": table.csv, ".tex": table.latex}
    write(options.out, made_as[options.out.suffix]())
    say(f"Written: {options.out}")
    return SOUND
