"""The pictures of the tutorial on streams: timelines that the simulator made, or that were recorded
on a device."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from scanlab_report import load
from scanlab_report.chapters.timelines import ENGINES, Trace
from scanlab_report.tutorials.drawing import BLUE, FAINT, INK, RED, SKY, WHITE, WIDTH, Picture

LEFT, RIGHT, LANE = 84, 8, 24
"""Units left of the lanes for their names, and right of them; and the height of a lane."""
_LOOKS = {
    "copies in": ("H2D copies", BLUE, WHITE),
    "kernels": ("kernels", RED, WHITE),
    "copies out": ("D2H copies", SKY, INK),
}
"""The name of an engine's lanes, and the colours of its operations and of their numbers."""
SIMULATED = {
    "streams/first.svg": {"cudaMemcpy, a kernel, cudaMemcpy": "serial_pinned --chunks 1"},
    "streams/serial_and_overlapped.svg": {
        "one after another (serial_pinned)": "serial_pinned --chunks 4",
        "four streams (depth_first)": "depth_first --chunks 4",
    },
    "streams/chunks.svg": {
        "1 chunk": "depth_first --chunks 1",
        "4 chunks": "depth_first --chunks 4",
        "16 chunks": "depth_first --chunks 16",
    },
    "streams/pageable.svg": {
        "pinned memory": "depth_first --chunks 4",
        "pageable memory": "depth_first --chunks 4 --memory pageable",
    },
    "streams/default_stream.svg": {
        "side kernels: the legacy default stream": "null_stream_trap --chunks 4",
        "side kernels: a per-thread default stream": "per_thread_default --chunks 4",
    },
    "streams/issue_order.svg": {
        "one copy engine: depth first": "depth_first --profile c1060 --chunks 4",
        "one copy engine: breadth first": "breadth_first --profile c1060 --chunks 4",
    },
}
"""A picture's timelines: what stands above each, and what the simulator is asked for."""
_THIRDS = "--h2d-us 12000 --kernel-us 12000 --d2h-us 12000"
"""Twelve milliseconds for each of the three parts, so that a reader can compute what a picture
shows."""
SHOWN_MS = 4.0
"""The first milliseconds of a recorded timeline are drawn, so that each operation can be seen."""


def simulated(program: Path, name: str) -> str:
    timelines = {}
    for title, schedule in SIMULATED[name].items():
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "trace.json"
            words = [
                str(program),
                "simulate",
                *schedule.split(),
                *_THIRDS.split(),
                "--out",
                str(out),
            ]
            subprocess.run(words, check=True, capture_output=True)
            timelines[title] = load.load([out])["spans"]
    return draw(timelines, "simulated")


def recorded(traces: Sequence[Trace]) -> dict[str, str]:
    """The timeline of depth_first, and those of two issue orders, whole."""
    timelines = {
        f"{trace.schedule}, {trace.about['chunks']} chunks, {trace.about['streams']} streams": (
            trace.rows
        )
        for trace in sorted(traces, key=lambda trace: trace.schedule != "depth_first")
        if not trace.one_queue
    }
    title, rows = next(iter(timelines.items()))
    return {
        "streams/h200.svg": draw({title: rows}, "recorded", SHOWN_MS),
        "streams/h200_orders.svg": draw(timelines, "recorded"),
    }


def _ticks(span: float) -> list[float]:
    """Four to eight round numbers of milliseconds."""
    steps = (digit * 10**power for power in range(-3, 4) for digit in (1, 2, 5))
    step = next(step for step in steps if span / step <= 8)
    return [round(step * number, 6) for number in range(int(span / step) + 1)]


def _lanes(rows: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The operations of each lane with their engine, from copies in to copies out. An engine has
    one lane, unless its operations overlap by more than a hundredth of the time."""
    rows = rows.sort_values("start_us")
    least = 0.01 * (rows["end_us"].max() - rows["start_us"].min())
    lanes = []
    for kind in sorted(set(rows["kind"]), key=[*ENGINES, *sorted(set(rows["kind"]))].index):
        engine = rows[rows["kind"] == kind]
        if not (engine["start_us"] < engine["end_us"].shift() - least).any():
            lanes.append((kind, engine))
        else:
            lanes += [(kind, lane) for _, lane in engine.groupby("lane")]
    return lanes


def draw(timelines: Mapping[str, pd.DataFrame], origin: str, until: float = 0) -> str:
    """Timelines below each other, on one axis of time in milliseconds, up to ``until`` or whole."""
    lanes = {title: _lanes(rows) for title, rows in timelines.items()}
    lengths = [(rows["end_us"].max() - rows["start_us"].min()) / 1e3 for rows in timelines.values()]
    span = until or max(lengths)
    height = sum(32 + (LANE + 4) * len(own) for own in lanes.values()) + 38
    picture = Picture("; ".join(timelines), height)
    scale = (WIDTH - LEFT - RIGHT) / span
    for tick in _ticks(span):
        x = LEFT + scale * tick
        picture.line(x, 22, x, height - 36, "#e4e4e4")
        picture.text(x, height - 26, f"{tick:g}", 12, FAINT, "middle")
    y, numbered = 4, False
    for title, rows in timelines.items():
        picture.box(LEFT - 2, y, WIDTH - LEFT, 18, WHITE, edge=WHITE)
        picture.text(LEFT, y + 10, title, 13, bold=True)
        y += 24
        begin, before = rows["start_us"].min(), ""
        for kind, operations in lanes[title]:
            name, fill, ink = _LOOKS.get(kind, (kind, FAINT, WHITE))
            if kind != before:
                picture.text(LEFT - 8, y + LANE / 2, name, 12, anchor="end")
            before = kind
            picture.line(LEFT, y + LANE / 2, WIDTH - RIGHT, y + LANE / 2)
            for row in operations.itertuples():
                start, end = (row.start_us - begin) / 1e3, (row.end_us - begin) / 1e3
                if start >= span:
                    continue
                x, width = LEFT + scale * start, scale * (min(end, span) - start)
                # A white edge parts neighbours; a bar too narrow for it has none, so that short
                # kernels are seen.
                edge = WHITE if width >= 6 else fill
                picture.box(x, y, max(width, 1.2), LANE, fill, edge=edge, rx=1)
                if row.chunk >= 0 and width >= 9 * len(str(row.chunk)) + 3:
                    picture.text(x + width / 2, y + LANE / 2, row.chunk, 12, ink, "middle")
                    numbered = True
            y += LANE + 4
        y += 8
    axis = f"time, ms ({origin}){'; numbers are chunks' if numbered else ''}"
    picture.text(WIDTH - RIGHT, height - 10, axis, 12, FAINT, "end")
    return picture.svg()
