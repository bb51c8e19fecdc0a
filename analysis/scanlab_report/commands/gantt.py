"""Draw timelines: one lane per engine, one bar per operation, the host's calls above, all traces on one axis of time.

Traces come from the option --out of scanlab streams trace, scanlab simulate and scanlab streams import (an export of Nsight Systems).
A file of scanlab simulate --compare --out holds the measured and the predicted timeline.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from scanlab_report.console import SOUND, missing, refuse, say
from scanlab_report.written import one_file, wrong_ending

EXAMPLE = """  scanlab-report gantt results/depth_first.json results/breadth_first.json --out results/orders.png"""
SQLITE = b"SQLite format 3\0"
FORMATS = (".png", ".pdf", ".svg")


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("traces", nargs="+", type=Path, metavar="TRACE", help="files with a timeline, plain or .gz")
    add("--out", type=Path, required=True, metavar="FILE", help=f"write the figure to FILE: {', '.join(FORMATS)}")


def _is_database(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return opened.read(len(SQLITE)) == SQLITE
    except OSError:  # a folder, or what its reader will refuse
        return False


def run(options: argparse.Namespace) -> int:
    if wrong := missing(options.traces):
        return refuse(*wrong)
    if databases := [trace for trace in options.traces if _is_database(trace)]:
        return refuse(*(f"{database}: is a database; if Nsight Systems exported it, 'scanlab streams import {database} --out TRACE' makes a timeline of it"
                        for database in databases))  # fmt: skip
    if wrong_name := wrong_ending(options.out, "figure", FORMATS):
        return refuse(wrong_name)

    from scanlab_report import load, style
    from scanlab_report.chapters.timelines import draw_timelines, trace_of

    data = load.load(options.traces)
    if data.problems:
        return refuse(*data.problems, f"{options.out}: nothing was written")
    numbers = list(dict.fromkeys(data["spans"]["file"]))
    drawn = {data.files[number].path.resolve() for number in numbers}
    if without := [trace for trace in options.traces if drawn.isdisjoint(file.resolve() for file in (trace, *trace.rglob("*")))]:
        return refuse(*(f"{trace}: there is no timeline in it; scanlab streams trace SCHEDULE --out FILE writes one" for trace in without))
    with one_file(options.out) as made, style.sheet():
        style.save(draw_timelines([trace_of(data, number) for number in numbers]), [made])
    say(f"Written: {options.out}")
    return SOUND
