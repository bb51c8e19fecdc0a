"""When streams are worth it: the pictures of a lecture, simulated."""

from __future__ import annotations

from scanlab_report.layout import scenes as drawing
from scanlab_report.select.scenes import Scenes

CAPTION = (
    "When streams are worth it, simulated on a didactic machine. Numbers are chunks, or kernels where blocks are shown on the "
    "multiprocessors (SM) that run them."
)
NEEDS = {"scenes": Scenes([
    ["ideal_whole", "ideal_two_streams", "ideal_four_streams"],
    ["small_copies_whole", "small_copies_hoped", "small_copies_streams"],
    ["tails_one_stream", "tails_two_streams", "tails_one_grid"],
    ["small_grids_one_stream", "small_grids_four_streams", "small_grids_no_concurrency"],
])}  # fmt: skip
WIDE = True

draw, details = drawing.draw, drawing.facts
