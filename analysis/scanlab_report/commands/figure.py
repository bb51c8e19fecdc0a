"""Draw one figure from results, without building the report.

Scans are shown of i32 where it was timed, else of another type that was, and the figure says so.
`scanlab-report list` names the figures, and says which follow --variants, --type and --op.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from scanlab_report import opened
from scanlab_report.console import SOUND, refuse, say
from scanlab_report.written import one_file, wrong_ending

if TYPE_CHECKING:  # pandas is not loaded to print a help text
    from scanlab_report.data import Data
    from scanlab_report.shown import Entry

EXAMPLE = """  scanlab-report figure throughput --variants 'best,cub_*' --out f.pdf
  scanlab-report figure ceiling_share results/mine.json"""
FORMATS = (".pdf", ".png", ".svg")


def arguments(parser: argparse.ArgumentParser) -> None:
    opened.arguments(parser, "figure")
    where = f"write the figure to FILE: {', '.join(FORMATS)} (default: NAME.pdf in this folder)"
    parser.add_argument("--out", type=Path, metavar="FILE", help=where)


def run(options: argparse.Namespace) -> int:
    out = options.out or Path(f"{options.name}.pdf")
    if wrong_name := wrong_ending(out, "figure", FORMATS):
        return refuse(wrong_name)

    from scanlab_report.shown import draw, footer_line

    try:
        with asked(options, "figure") as (entry, data), one_file(out) as file:
            made = draw(entry, data, [file])
    except opened.Refused as error:
        return refuse(*error.args)
    say(f"{made.caption} {footer_line(made.sources)}".strip())
    say(f"Written: {out}")
    return SOUND


@contextlib.contextmanager
def asked(options: argparse.Namespace, kind: str) -> Iterator[tuple[Entry, Data]]:
    """Yield the figure or table and its data. Refused if something lacks that it needs."""
    from scanlab_report.pick import Lacking

    entry = opened.entry_of(options, kind)
    data = opened.data_for(options, kind, entry)
    if reason := opened.lacking(options, kind, entry, data):
        raise opened.Refused(reason)
    try:
        yield entry, data
    except Lacking as error:
        raise opened.Refused(opened.lacking(options, kind, entry, data, error)) from None
