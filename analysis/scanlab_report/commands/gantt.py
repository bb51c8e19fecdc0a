"""Draw timelines: one lane per engine, one bar per operation, the host's calls above, all traces on
one axis of time.

Traces come from the option --out of scanlab streams trace, scanlab simulate and scanlab streams
import (an export of Nsight Systems). A file of scanlab simulate --compare --out holds the measured
and the predicted timeline.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from scanlab_report.console import SOUND, missing, refuse, say
from scanlab_report.written import one_file, wrong_ending

EXAMPLE = (
    "  scanlab-report gantt results/depth_first.json results/breadth_first.json --out orders.png"
)
SQLITE = b"SQLite format 3\0"
FORMATS = (".png", ".pdf", ".svg")


def arguments(parser: argparse.ArgumentParser) -> None:
    add, formats = parser.add_argument, ", ".join(FORMATS)
    add("traces", nargs="+", type=Path, metavar="TRACE", help="files with a timeline, plain or .gz")
    write = f"write the figure to FILE: {formats}"
    add("--out", type=Path, required=True, metavar="FILE", help=write)


def _is_database(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return opened.read(len(SQLITE)) == SQLITE
    except OSError:  # a folder, or what its reader will refuse
        return False


def run(options: argparse.Namespace) -> int:
    databases = [
        f"{trace}: is a database; if Nsight Systems exported it, 'scanlab streams import {trace} "
        "--out TRACE' makes a timeline of it"
        for trace in filter(_is_database, options.traces)
    ]
    wrong_name = wrong_ending(options.out, "figure", FORMATS)
    if wrong := missing(options.traces) or databases or [*filter(None, [wrong_name])]:
        return refuse(*wrong)

    from scanlab_report import load, style
    from scanlab_report.chapters.timelines import draw_timelines, trace_of

    data = load.load(options.traces)
    if data.problems:
        return refuse(*data.problems, f"{options.out}: nothing was written")
    numbers = list(dict.fromkeys(data["spans"]["file"]))
    drawn = {data.files[number].path.resolve() for number in numbers}
    without = [
        f"{trace}: there is no timeline in it; scanlab streams trace SCHEDULE --out FILE writes one"
        for trace in options.traces
        if drawn.isdisjoint(file.resolve() for file in (trace, *trace.rglob("*")))
    ]
    if without:
        return refuse(*without)
    with one_file(options.out) as made, style.sheet():
        style.save(draw_timelines([trace_of(data, number) for number in numbers]), [made])
    say(f"Written: {options.out}")
    return SOUND
