"""Equal and unequal chunks, simulated."""

from __future__ import annotations

from scanlab_report.layout import scenes as drawing
from scanlab_report.select.scenes import PICTURES, Scenes

CAPTION = (
    "Timelines of chunks, one stream per chunk, simulated on an idealised device: each item takes one time unit per engine. "
    "Numbers are chunks."
)
NEEDS = {"scenes": Scenes(PICTURES["scenes_chunks"])}

draw = drawing.draw
