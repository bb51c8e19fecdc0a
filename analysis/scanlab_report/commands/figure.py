"""Draw one figure from results, without building the report.

Scans are shown of i32 where it was timed, else of another type that was, and the figure says so.
`scanlab-report list` names the figures, and says which follow --variants, --type and --op.
"""

import argparse
from pathlib import Path

from scanlab_report import opened
from scanlab_report.console import SOUND, say
from scanlab_report.shown import all_sources, draw, footer_line, joint_caption
from scanlab_report.written import check_ending, one_file

EXAMPLE = """  scanlab-report figure throughput --variants 'best,cub_*' --out f.pdf
  scanlab-report figure ceiling_share results/mine.json"""
FORMATS = (".pdf", ".png", ".svg")


def arguments(parser: argparse.ArgumentParser) -> None:
    opened.arguments(parser, "figure", FORMATS)


def run(options: argparse.Namespace) -> int:
    out = options.out or Path(f"{options.name}.pdf")
    check_ending(out, "figure", FORMATS)
    with opened.asked(options, "figure") as (entry, data), one_file(out) as made:
        on = draw(entry, data, [made])
    say(f"{joint_caption(on)} {footer_line(all_sources(on))}".strip())
    say(f"Written: {out}")
    return SOUND
