"""Effects of the default stream, simulated: one panel per program, one row per engine."""

from __future__ import annotations

from scanlab_report.layout import scenarios as drawing
from scanlab_report.select.scenarios import PICTURES, Scenarios

CAPTION = (
    "Timelines of kernels and copies with and without the default stream, simulated on an idealised device. Numbers are "
    "chunks, or kernels where lanes are multiprocessors (SM)."
)
NEEDS = {"scenarios": Scenarios(PICTURES["scenarios_default_stream"])}
WIDE = True

draw = drawing.draw
