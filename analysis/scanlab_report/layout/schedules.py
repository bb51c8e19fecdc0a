"""The look of each schedule and of each estimate."""

from __future__ import annotations

from scanlab_report.layout import style
from scanlab_report.layout.looks import form
from scanlab_report.layout.style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION, WINE, Look
from scanlab_report.select.streams_evidence import PIPELINE

COLOURS = (BLUE, ORANGE, GREEN, PURPLE, VERMILLION, SKY, WINE, BLACK, GREY)


def look(place: int) -> Look:
    """The look of the schedule at a place in the order of the context: next to each other neither colour nor marker is the same."""
    return form(place, COLOURS[place % len(COLOURS)])


BOUNDS = {
    "serial sum": style.Look(style.GREY, "", ":"),
    PIPELINE: style.Look(style.BLACK, "", "-"),
    "Van Werkhoven": style.Look(style.GREY, "", "--"),
}
