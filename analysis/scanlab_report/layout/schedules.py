"""The look of each schedule and of each estimate."""

from __future__ import annotations

from scanlab_report.layout import style
from scanlab_report.layout.style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION, Look
from scanlab_report.select.streams_evidence import PIPELINE, SERIAL

LOOKS = {
    "serial": Look(BLACK, "v", "--", filled=False), SERIAL: Look(BLACK, "s", "-"),
    "depth_first": Look(BLUE, "o", "-"), "breadth_first": Look(ORANGE, "^", "-"), "skewed": Look(SKY, "D", "--", filled=False),
    "three_streams": Look(VERMILLION, "p", "-"), "event_handoff": Look(PURPLE, "X", "-"), "graph": Look(GREEN, "s", "--", filled=False),
    "double_buffered": Look(GREEN, "h", "-"), "null_stream_trap": Look(GREY, "v", "-"),
    "null_stream_nonblocking": Look(SKY, "P", ":"), "per_thread_default": Look(BLUE, "d", ":", filled=False),
}  # fmt: skip


def look(schedule: str) -> Look:
    """The look of a schedule; one that this file does not know is grey."""
    return LOOKS.get(schedule, Look(GREY, "*", "-."))


BOUNDS = {
    "serial sum": style.Look(style.GREY, "", ":"),
    PIPELINE: style.Look(style.BLACK, "", "-"),
    "Van Werkhoven": style.Look(style.GREY, "", "--"),
}
