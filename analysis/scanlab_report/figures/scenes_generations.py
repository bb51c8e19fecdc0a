"""Issue orders on three generations of devices, simulated."""

from __future__ import annotations

from scanlab_report.layout import scenes as drawing
from scanlab_report.select.scenes import PICTURES, Scenes

CAPTION = (
    "Timelines of three issue orders (columns) on three generations of devices (rows), simulated: 16 MiB in four chunks and "
    "four streams. H2D copy, kernel and D2H copy take a third of the sequential time each. Numbers are chunks."
)
NEEDS = {"scenes": Scenes(PICTURES["scenes_generations"])}
WIDE = True

draw = drawing.draw
