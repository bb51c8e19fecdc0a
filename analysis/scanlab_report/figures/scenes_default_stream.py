"""Effects of the default stream, simulated."""

from __future__ import annotations

from scanlab_report.layout import scenes as drawing
from scanlab_report.select.scenes import Scenes

CAPTION = (
    "Timelines of kernels and copies with and without the default stream, simulated on an idealised device. Numbers are "
    "chunks, or kernels where lanes are multiprocessors (SM)."
)
NEEDS = {"scenes": Scenes([
    ["default_stream", "two_streams", "four_chunk_pipeline"],
    ["null_stream_legacy", "null_stream_per_thread", "null_stream_non_blocking"],
])}  # fmt: skip
WIDE = True

draw = drawing.draw
