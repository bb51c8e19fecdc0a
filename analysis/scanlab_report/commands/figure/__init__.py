"""Draw one figure from results, without building the report.

Scans are shown of i32 where it was timed, else of another type that was, and the figure says so. `scanlab-report list` names the
figures, and says which follow --variants, --type and --op.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from scanlab_report.commands.figure import asked
from scanlab_report.console import SOUND, refuse, say
from scanlab_report.written import one_file, wrong_ending

EXAMPLE = """  scanlab-report figure throughput --variants 'best,cub_device_scan' --type f32 --out f.pdf --style ieee-column
  scanlab-report figure ceiling_share results/mine.json"""
FORMATS = (".pdf", ".png", ".svg")
STYLES = ("page", "ieee-column", "slide")


def arguments(parser: argparse.ArgumentParser) -> None:
    asked.arguments(parser, "figure")
    parser.add_argument("--style", choices=STYLES, default="page", help="page: as in the report; ieee-column: 3.5 inches wide; slide: 16:9 (default: page)")
    parser.add_argument("--out", type=Path, metavar="FILE", help=f"write the figure to FILE: {', '.join(FORMATS)} (default: NAME.pdf in this folder)")


def run(options: argparse.Namespace) -> int:
    from scanlab_report import figures

    out = options.out or Path(f"{options.name}.pdf")
    if wrong_name := wrong_ending(out, "figure", FORMATS):
        return refuse(wrong_name)
    try:
        module = asked.module_of(options, "figure", figures)
        if options.style == "ieee-column" and hasattr(module, "WIDE"):
            raise asked.Refused(f"figure {options.name} needs both columns of a page: take --style page, which is 7.1 inches wide")
        on, _ = asked.evidence(options, "figure", module)
    except asked.Refused as error:
        return refuse(*error.args)

    from scanlab_report.commands.build import report

    with one_file(out) as made:
        width, height = report.save(module, on, [made], options.style)
    say(f"{report.told_of(module, on)} {report.footer_line(report.provenances(on))}".strip())
    say(f"Written: {out} ({width:.2f} by {height:.2f} inches)")
    return SOUND
