"""Issue orders on three generations of devices, simulated."""

from __future__ import annotations

from scanlab_report.layout import scenes as drawing
from scanlab_report.select.scenes import PICTURES, Scenes

CAPTION = (
    "Timelines of three issue orders (columns) on three generations of devices (rows), simulated with equal thirds: 16 MiB in "
    "four chunks and four streams. Numbers are chunks."
)
NEEDS = {"scenes": Scenes(PICTURES["scenes_generations"])}
WIDE = True

draw = drawing.draw
