"""Chunks of equal and of unequal size: the pictures of a course, simulated."""

from __future__ import annotations

from scanlab_report.layout import scenes as drawing
from scanlab_report.select.scenes import Scenes

CAPTION = "Chunks, one a stream, simulated on a didactic machine: an item takes a unit in each engine."
NEEDS = {"scenes": Scenes([["even_chunks"], ["uneven_chunks"]])}

draw, details = drawing.draw, drawing.facts
