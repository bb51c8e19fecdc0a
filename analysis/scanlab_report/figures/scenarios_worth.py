"""Cases in which streams help and in which they do not, simulated: one panel per case, one row per engine."""

from __future__ import annotations

from scanlab_report.layout import scenarios as drawing
from scanlab_report.select.scenarios import PICTURES, Scenarios

CAPTION = (
    "Timelines of one job cut into streams in different ways, simulated on an idealised device. Each row is one job, whole "
    "and in streams. Numbers are chunks, or kernels where lanes are multiprocessors (SM)."
)
NEEDS = {"scenarios": Scenarios(PICTURES["scenarios_worth"])}
WIDE = True

draw = drawing.draw
