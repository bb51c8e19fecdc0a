"""Equal and unequal chunks, simulated."""

from __future__ import annotations

from scanlab_report.layout import scenarios as drawing
from scanlab_report.select.scenarios import PICTURES, Scenarios

CAPTION = (
    "Timelines of chunks, one stream per chunk, simulated on an idealised device: each item takes one time unit per engine. "
    "Numbers are chunks."
)
NEEDS = {"scenarios": Scenarios(PICTURES["scenarios_chunks"])}

draw = drawing.draw
