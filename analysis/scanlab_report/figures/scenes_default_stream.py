"""Streams that the default stream serialises: the pictures of a tutorial, simulated."""

from __future__ import annotations

from scanlab_report.layout import scenes as drawing
from scanlab_report.select.scenes import Scenes

CAPTION = (
    "What the default stream keeps apart, simulated on a didactic machine. Numbers are chunks, or kernels where blocks are shown on the "
    "multiprocessors (SM) that run them."
)
NEEDS = {"scenes": Scenes([
    ["default_stream", "two_streams", "four_chunk_pipeline"],
    ["null_stream_legacy", "null_stream_per_thread", "null_stream_non_blocking"],
])}  # fmt: skip
WIDE = True

draw, details = drawing.draw, drawing.facts
