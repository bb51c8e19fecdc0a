"""Draw timelines: one lane per engine, one bar per operation, the host's calls above, all traces on
one axis of time.

Traces come from the option --out of scanlab streams trace, scanlab simulate and scanlab streams
import (an export of Nsight Systems). A file of scanlab simulate --compare --out holds the measured
and the predicted timeline.
"""

import argparse
from pathlib import Path

from scanlab_report import opened, style
from scanlab_report.chapters.timelines import draw_timelines, trace_of
from scanlab_report.console import SOUND, refuse, say
from scanlab_report.written import check_ending, one_file

EXAMPLE = (
    "  scanlab-report gantt results/depth_first.json results/breadth_first.json --out orders.png"
)
FORMATS = (".png", ".pdf", ".svg")


def arguments(parser: argparse.ArgumentParser) -> None:
    add, write = parser.add_argument, f"write the figure to FILE: {', '.join(FORMATS)}"
    add("traces", nargs="+", type=Path, metavar="TRACE", help="files with a timeline, plain or .gz")
    add("--out", type=Path, required=True, metavar="FILE", help=write)


def run(options: argparse.Namespace) -> int:
    check_ending(options.out, "figure", FORMATS)
    data = opened.sound(options.traces)
    timed = data["spans"]["file"].unique()
    drawn = {data.files[number].path for number in timed}
    bare = [file for file in options.traces if file.is_file() and file not in drawn]
    if bare or not drawn:
        how = "there is no timeline in it; scanlab streams trace SCHEDULE --out FILE writes one"
        return refuse(*(f"{file}: {how}" for file in bare or options.traces))
    with one_file(options.out) as made, style.sheet():
        style.save(draw_timelines([trace_of(data, number) for number in timed]), [made])
    say(f"Written: {options.out}")
    return SOUND
