"""Time of each schedule against the number of streams."""

from __future__ import annotations

from matplotlib.figure import Figure

from scanlab_report.figures.schedules import against
from scanlab_report.select.streams_evidence import SIDE_SAID, ScheduleEvidence, Schedules

CAPTION = (
    "Makespan of each schedule against the number of streams, in pinned memory, with the same estimates and panels as for chunks. "
    f"Schedules with a fixed number of streams are single points. {SIDE_SAID}; only the lower estimates include it. Bars: 95% "
    "intervals."
)
NEEDS = {"schedules": Schedules(over="streams")}
WIDE = True


def draw(schedules: ScheduleEvidence) -> Figure:
    return against(schedules.panels("streams"), "streams")


def details(schedules: ScheduleEvidence) -> str:
    return f"Each array has {schedules.panels('streams')[0]['chunks'].iloc[0]} chunks."
