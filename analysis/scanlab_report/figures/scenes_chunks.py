"""Chunks of equal and of unequal size: the pictures of a course, simulated."""

from __future__ import annotations

from matplotlib.figure import Figure

from scanlab_report.layout import scenes as drawing
from scanlab_report.layout import style
from scanlab_report.select.scenes import SceneEvidence, Scenes

WIDTH = "column"
CAPTION = "Chunks, one a stream, simulated on a didactic machine: an item takes a unit in each engine."
NEEDS = {"scenes": Scenes([["even_chunks"], ["uneven_chunks"]])}


def details(scenes: SceneEvidence) -> str:
    return drawing.facts(scenes)


def draw(scenes: SceneEvidence) -> Figure:
    return drawing.draw(scenes, style.COLUMN)
