"""Cases in which streams help and in which they do not, simulated."""

from __future__ import annotations

from scanlab_report.layout import scenes as drawing
from scanlab_report.select.scenes import Scenes

CAPTION = (
    "Timelines of one job cut into streams in different ways, simulated on an idealised device. Each row compares a whole job "
    "with cut ones. Numbers are chunks, or kernels where lanes are multiprocessors (SM)."
)
NEEDS = {"scenes": Scenes([
    ["ideal_whole", "ideal_two_streams", "ideal_four_streams"],
    ["small_copies_whole", "small_copies_hoped", "small_copies_streams"],
    ["tails_one_stream", "tails_two_streams", "tails_one_grid"],
    ["small_grids_one_stream", "small_grids_four_streams", "small_grids_no_concurrency"],
])}  # fmt: skip
WIDE = True

draw = drawing.draw
