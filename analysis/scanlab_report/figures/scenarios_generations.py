"""Issue orders on three generations of devices, simulated."""

from __future__ import annotations

from scanlab_report.layout import scenarios as drawing
from scanlab_report.select.scenarios import PICTURES, Scenarios

CAPTION = (
    "Timelines of three issue orders (columns) on three generations of devices (rows), simulated: 16 MiB in four chunks and "
    "four streams. H2D copy, kernel and D2H copy take a third of the sequential time each. Numbers are chunks."
)
NEEDS = {"scenarios": Scenarios(PICTURES["scenarios_generations"])}
WIDE = True

draw = drawing.draw
