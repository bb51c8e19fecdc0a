"""Time of each schedule against the number of streams."""

from __future__ import annotations

from matplotlib.figure import Figure

from analysis.figures.schedules import against, at_one
from analysis.streams_evidence import ScheduleEvidence, Schedules

WIDTH = "double"
CAPTION = (
    "Time of each schedule against the number of streams, at one number of chunks, with the bounds of the figure of chunks. Schedules "
    "that make as many streams as they need, whatever is asked for, are flat. Bars are 95% bootstrap intervals of the median "
    "where there are five repetitions or more."
)
NEEDS = {"schedules": Schedules(over="streams")}


def draw(schedules: ScheduleEvidence) -> Figure:
    return against([at_one(panel, "chunks", "streams") for panel in schedules.panels()], "streams")
