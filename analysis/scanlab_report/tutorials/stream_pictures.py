"""The pictures of the tutorial on streams: timelines that the simulator made, or that were recorded
on a device."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from scanlab_report import load
from scanlab_report.chapters.timelines import ENGINES, Trace
from scanlab_report.tutorials.drawing import BLUE, FAINT, INK, LINE, SKY, VERMILLION, WIDTH, Picture

LEFT, RIGHT = 84, 8
"""Units left of the lanes for their names, and right of them."""
LANE = 24
_LOOKS = {
    "copies in": (BLUE, "#ffffff"),
    "kernels": (VERMILLION, "#ffffff"),
    "copies out": (SKY, INK),
}
_NAMES = {"copies in": "H2D copies", "kernels": "kernels", "copies out": "D2H copies"}


@dataclass(frozen=True)
class Timeline:
    """Operations on engines, with what stands above them. ``until``: milliseconds that are shown, 0
    for all."""

    title: str
    rows: pd.DataFrame
    until: float = 0


_THIRDS = "--h2d-us 12000 --kernel-us 12000 --d2h-us 12000"
"""Twelve milliseconds for each of the three parts, so that a reader can compute what a picture
shows."""
SIMULATED: dict[str, tuple[tuple[str, str], ...]] = {
    "streams/first.svg": (
        ("cudaMemcpy, a kernel, cudaMemcpy", f"serial_pinned --chunks 1 {_THIRDS}"),
    ),
    "streams/serial_and_overlapped.svg": (
        ("one after another (serial_pinned)", f"serial_pinned --chunks 4 {_THIRDS}"),
        ("four streams (depth_first)", f"depth_first --chunks 4 {_THIRDS}"),
    ),
    "streams/chunks.svg": (
        ("1 chunk", f"depth_first --chunks 1 {_THIRDS}"),
        ("4 chunks", f"depth_first --chunks 4 {_THIRDS}"),
        ("16 chunks", f"depth_first --chunks 16 {_THIRDS}"),
    ),
    "streams/pageable.svg": (
        ("pinned memory", f"depth_first --chunks 4 {_THIRDS}"),
        ("pageable memory", f"depth_first --chunks 4 --memory pageable {_THIRDS}"),
    ),
    "streams/default_stream.svg": (
        ("side kernels: the legacy default stream", f"null_stream_trap --chunks 4 {_THIRDS}"),
        ("side kernels: a per-thread default stream", f"per_thread_default --chunks 4 {_THIRDS}"),
    ),
    "streams/issue_order.svg": (
        ("one copy engine: depth first", f"depth_first --profile c1060 --chunks 4 {_THIRDS}"),
        ("one copy engine: breadth first", f"breadth_first --profile c1060 --chunks 4 {_THIRDS}"),
    ),
}
"""A picture's timelines: what stands above each, and what the simulator is asked for."""
SHOWN_MS = 4.0
"""The first milliseconds of a recorded timeline are drawn, so that each operation can be seen."""


def simulate(program: Path, asked: str) -> pd.DataFrame:
    """The operations of a simulated schedule."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "trace.json"
        subprocess.run(
            [program, "simulate", *asked.split(), "--out", out], check=True, capture_output=True
        )
        return load.load([out])["spans"]


def simulated(program: Path, name: str) -> str:
    return draw(
        [Timeline(title, simulate(program, asked)) for title, asked in SIMULATED[name]], "simulated"
    )


def _titled(trace: Trace) -> str:
    return f"{trace.schedule}, {trace.about['chunks']} chunks, {trace.about['streams']} streams"


def of_device(traces: Sequence[Trace]) -> str:
    """The recorded timeline of depth_first."""
    (trace,) = (each for each in traces if each.schedule == "depth_first" and not each.one_queue)
    return draw([Timeline(_titled(trace), trace.rows, SHOWN_MS)], "recorded")


def two_orders(traces: Sequence[Trace]) -> str:
    """The recorded timelines of two issue orders, whole."""
    chosen = sorted(
        (each for each in traces if not each.one_queue),
        key=lambda each: each.schedule != "depth_first",
    )
    return draw([Timeline(_titled(each), each.rows) for each in chosen], "recorded")


RECORDED: dict[str, Callable[[Sequence[Trace]], str]] = {
    "streams/h200.svg": of_device,
    "streams/h200_orders.svg": two_orders,
}


def _ticks(span: float) -> list[float]:
    """Four to eight round numbers of milliseconds."""
    step = next(
        step
        for power in range(-3, 4)
        for step in (10**power, 2 * 10**power, 5 * 10**power)
        if span / step <= 8
    )
    return [round(step * number, 6) for number in range(int(span / step) + 1)]


def _in_one_lane(rows: pd.DataFrame) -> pd.DataFrame:
    """Put the operations of an engine in one lane, unless they overlap by more than a hundredth of
    the time."""
    least = 0.01 * (rows["end_us"].max() - rows["start_us"].min())
    rows = rows.copy()
    for _, group in rows.groupby("kind"):
        group = group.sort_values("start_us")
        if (group["start_us"].to_numpy()[1:] >= group["end_us"].to_numpy()[:-1] - least).all():
            rows.loc[group.index, "lane"] = group["lane"].min()
    return rows


def draw(timelines: Sequence[Timeline], origin: str) -> str:
    """Timelines below each other, on one axis of time in milliseconds."""
    timelines = [replace(timeline, rows=_in_one_lane(timeline.rows)) for timeline in timelines]
    spans = [
        timeline.until or (timeline.rows["end_us"].max() - timeline.rows["start_us"].min()) / 1e3
        for timeline in timelines
    ]
    span = max(spans)
    height = sum(24 + (LANE + 4) * len(_lanes(timeline.rows)) + 8 for timeline in timelines) + 38
    picture = Picture("; ".join(timeline.title for timeline in timelines), height)
    scale = (WIDTH - LEFT - RIGHT) / span
    y, numbered = 4.0, False
    bottom = height - 36
    for tick in _ticks(span):
        picture.line(LEFT + scale * tick, 22, LEFT + scale * tick, bottom, "#e4e4e4")
        picture.text(LEFT + scale * tick, bottom + 10, f"{tick:g}", 12, colour=FAINT)
    for timeline in timelines:
        picture.box(LEFT - 2, y, WIDTH - LEFT, 18, "#ffffff", "#ffffff")
        picture.text(LEFT, y + 10, timeline.title, 13, "start", bold=True)
        y += 24
        first = timeline.rows["start_us"].min()
        named: set[str] = set()
        for lane in _lanes(timeline.rows):
            rows = timeline.rows[timeline.rows["lane"] == lane].sort_values("start_us")
            kind = str(rows["kind"].iloc[0])
            if kind not in named:
                picture.text(LEFT - 8, y + LANE / 2, _NAMES.get(kind, kind), 12, "end")
                named.add(kind)
            picture.line(LEFT, y + LANE / 2, WIDTH - RIGHT, y + LANE / 2, LINE)
            for row in rows.itertuples():
                start, end = (row.start_us - first) / 1e3, (row.end_us - first) / 1e3
                if start >= span:
                    continue
                numbered |= _bar(
                    picture,
                    LEFT + scale * start,
                    y,
                    scale * (min(end, span) - start),
                    kind,
                    row.chunk,
                )
            y += LANE + 4
        y += 8
    picture.text(
        WIDTH - RIGHT,
        height - 10,
        f"time, ms ({origin}){'; numbers are chunks' if numbered else ''}",
        12,
        "end",
        FAINT,
    )
    return picture.svg()


def _lanes(rows: pd.DataFrame) -> list[int]:
    """Return lanes from copies in to copies out. Lanes of an engine are in the order of their
    numbers."""
    order = {kind: place for place, kind in enumerate(ENGINES)}
    keys = {
        (order.get(kind, len(order)), int(lane))
        for kind, lane in zip(rows["kind"], rows["lane"], strict=True)
    }
    return [lane for _, lane in sorted(keys)]


def _bar(picture: Picture, x: float, y: float, width: float, kind: str, chunk: int) -> bool:
    """Draw an operation. Return whether its number had room."""
    fill, ink = _LOOKS.get(kind, (FAINT, "#ffffff"))
    # A white edge parts neighbours; a bar too narrow for it has none, so that short kernels are
    # seen.
    picture.box(x, y, max(width, 1.2), LANE, fill, "#ffffff" if width >= 6 else fill, 1)
    if chunk < 0 or width < 9 * len(str(chunk)) + 3:
        return False
    picture.text(x + width / 2, y + LANE / 2, chunk, 12, colour=ink)
    return True
