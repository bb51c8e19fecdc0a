"""Issue orders on one copy engine and one hardware work queue, simulated: one panel per order, one row per engine."""

from __future__ import annotations

from scanlab_report.layout import scenarios as drawing
from scanlab_report.select.scenarios import PICTURES, Scenarios

CAPTION = (
    "Timelines simulated on an idealised device: as expected (left), on one copy engine or hardware work queue (middle), in "
    "another issue order (right). The two lower rows also have the launch rule of compute capability 2.0 to 3.0, but for the left. Numbers are tasks, one stream per task."
)
NEEDS = {"scenarios": Scenarios(PICTURES["scenarios_order"])}
WIDE = True

draw = drawing.draw
