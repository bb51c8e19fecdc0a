"""The effect of one copy engine and one hardware work queue on an issue order: the pictures of a lecture, simulated."""

from __future__ import annotations

from scanlab_report.layout import scenes as drawing
from scanlab_report.select.scenes import Scenes

CAPTION = (
    "What is expected, what one copy engine or one hardware queue makes of it, and another order of issue, simulated on a didactic "
    "machine. Numbers are tasks, each in a stream of its own."
)
NEEDS = {"scenes": Scenes([[f"{what}_{which}" for which in ("expected", "real", "reordered")]
                           for what in ("one_way", "small_grids", "large_grids")])}  # fmt: skip
WIDE = True

draw, details = drawing.draw, drawing.facts
