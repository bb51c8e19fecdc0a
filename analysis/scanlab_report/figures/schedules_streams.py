"""Time of each schedule against the number of streams."""

from __future__ import annotations

from matplotlib.figure import Figure

from scanlab_report.figures.schedules import against
from scanlab_report.select.streams_evidence import SIDE_SAID, ScheduleEvidence, Schedules

CAPTION = (
    "Time of each schedule against the number of streams, in pinned memory, with the estimates of the figure of chunks. Schedules "
    "that make as many streams as they need, whatever is asked for, were timed at one number and stand there as a point. "
    f"{SIDE_SAID}, which their estimates below count, and those above do not. "
    "Bars are 95% intervals of the median where there are six repetitions or more."
)
NEEDS = {"schedules": Schedules(over="streams")}
WIDE = True


def draw(schedules: ScheduleEvidence) -> Figure:
    return against(schedules.panels("streams"), "streams")


def details(schedules: ScheduleEvidence) -> str:
    return f"The array is cut into {schedules.panels('streams')[0]['chunks'].iloc[0]} chunks."
