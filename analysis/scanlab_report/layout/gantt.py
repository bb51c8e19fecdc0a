"""Timelines as bars: a lane an engine, coloured by what it does, and above them the host's, where a trace says when it was in each call. Serves
measured and simulated traces alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scanlab_report.layout import style
from scanlab_report.read import streams

HOST_INCHES = 0.16
"""Height that a lane of the host's adds to a figure."""
COLOURS = {"copies in": style.BLUE, "kernels": style.VERMILLION, "copies out": style.SKY}


def draw_trace(axes: Axes, rows: pd.DataFrame, title: str, numbered: bool = False, calls: pd.DataFrame | None = None) -> None:
    """The operations of one trace (rows as of :data:`scanlab_report.read.streams.TRACE_COLUMNS`), from the first start, in milliseconds.

    ``calls``: the host's (:data:`scanlab_report.read.streams.CALL_COLUMNS`), in the colour of the engine that each gives work to. Time then begins
    with whichever is first.
    ``numbered``: on axes whose limits are set, a bar with room for it has its label in it, else the number of its chunk, or, where there are no chunks,
    of its kernel.
    """
    lanes = lane_heights(rows)
    hosts = host_heights(calls)
    begin = first_start_us(rows, calls)
    for kind, of in rows.groupby("kind"):
        colour = COLOURS.get(kind, style.GREY)
        for lane, bars in of.groupby("lane"):
            spans = _spans(bars, begin)
            # The edge makes short kernels visible; that of a copy, or of what is numbered, is white and parts it from its
            # neighbour. Of many bars it is thinner, so that a lane of a thousand looks neither full nor empty by its edges.
            edge, width = (colour, 32) if kind == "kernels" and not numbered else ("white", 16)
            axes.broken_barh(spans, (lanes[lane] - 0.4, 0.8), facecolor=colour, edgecolor=edge,
                             linewidth=width / max(64, len(spans)), zorder=2)  # fmt: skip
    for (name, kind), bars in calls.groupby(["lane_name", "kind"]) if calls is not None and len(calls) else ():
        colour = COLOURS.get(kind, style.GREY)
        spans = _spans(bars, begin)
        axes.broken_barh(spans, (hosts[name] - 0.3, 0.6), facecolor=colour, edgecolor=colour, linewidth=16 / max(64, len(spans)), zorder=2)
    if numbered:
        _number(axes, rows, lanes, begin)
    axes.set_yticks([*hosts.values(), *lanes.values()], [*hosts, *lane_names(rows, lanes)])
    axes.set_ylim(len(lanes) - 0.5, -0.5 - len(hosts))
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_title(title, pad=2)


def _spans(bars: pd.DataFrame, begin: float) -> list[tuple[float, float]]:
    """Start and length of each bar in milliseconds, from ``begin`` (µs) on."""
    return [((s - begin) / 1e3, (e - s) / 1e3) for s, e in zip(bars["start_us"], bars["end_us"], strict=True)]


def _number(axes: Axes, rows: pd.DataFrame, lanes: dict[int, int], begin: float) -> None:
    for row in rows.itertuples():
        text = row.label or f"{row.chunk if row.chunk >= 0 else row.operation}"
        room = max(30, 15 * len(text)) * axes.get_xlim()[1]  # 1.5% of the axis a letter, and 3% at least, in microseconds
        if row.end_us - row.start_us < room:
            continue
        axes.text((row.start_us + row.end_us - 2 * begin) / 2e3, lanes[row.lane], text, parse_math=False,
                  ha="center", va="center_baseline", fontsize=7, color="black" if row.kind == "copies out" else "white", zorder=3)  # fmt: skip


def time_label(about: Mapping[str, Any]) -> str:
    """The axis of time, with what was run as far as the trace says it."""
    ran = [str(about.get("workload", "")), f"{style.power_of_two(about['items'])} items" if "items" in about else "",
           f"{about['chunks']} chunks" if "chunks" in about else "", "simulated" if "simulated_on" in about and "measured_us" not in about else ""]  # fmt: skip
    return "time, ms" + "".join(f"{'; ' if place == 0 else ', '}{part}" for place, part in enumerate(filter(None, ran)))


def makespan_ms(rows: pd.DataFrame) -> float:
    """From the first start to the last end."""
    return (rows["end_us"].max() - rows["start_us"].min()) / 1e3


def first_start_us(rows: pd.DataFrame, calls: pd.DataFrame | None) -> float:
    """Of the operations and the host's calls."""
    begin = rows["start_us"].min()
    return begin if calls is None or calls.empty else min(begin, calls["start_us"].min())


def host_heights(calls: pd.DataFrame | None) -> dict[str, int]:
    """Heights of the host's lanes, above those of the engines: one, or that of each timeline of a comparison that has it."""
    names = [] if calls is None or calls.empty else sorted(set(calls["lane_name"]))
    return {name: place - len(names) for place, name in enumerate(names)}


def lane_heights(rows: pd.DataFrame) -> dict[int, int]:
    """Heights of lanes: copies in above kernels above copies out, further kinds below."""
    order = {kind: place for place, kind in enumerate(streams.ENGINES)}
    keys = sorted({(order.get(kind, len(order)), lane) for kind, lane in zip(rows["kind"], rows["lane"], strict=True)})
    return {lane: height for height, (_, lane) in enumerate(dict((lane, (_, lane)) for _, lane in keys).values())}


def lane_names(rows: pd.DataFrame, lanes: dict[int, int]) -> list[str]:
    """What the trace calls a lane; where an engine needs several lanes, only the first is named."""
    names = [_in_terms(rows.loc[rows["lane"] == lane, "lane_name"].iloc[0]) for lane in lanes]
    return [name if name not in names[:place] else "" for place, name in enumerate(names)]


def _in_terms(name: str) -> str:
    """The field's terms for engines; traces name them as their files do."""
    return name.replace("copies in", "H2D copies").replace("copies out", "D2H copies")


def draw(timelines: Sequence[tuple[Mapping[str, Any], pd.DataFrame, pd.DataFrame | None]]) -> Figure:
    """Timelines one below the other on one axis of time: of each what it says of itself, its operations, and the host's calls."""
    heights = [0.95 + HOST_INCHES * len(host_heights(calls)) for *_, calls in timelines]
    drawn, axes = style.figure(style.COLUMN, 0.45 + sum(heights), 1, len(timelines), sharex=True, height_ratios=heights)
    for axis, (about, rows, calls) in zip(axes, timelines, strict=True):
        took = f"{makespan_ms(rows):.2f} ms"
        if "measured_us" in about:  # both, of `scanlab simulate --compare`
            took = f"{about['measured_us'] / 1e3:.2f} ms measured, {about['predicted_us'] / 1e3:.2f} predicted"
        labelled = bool(rows["label"].any())
        if labelled:
            axis.set_xlim(0, 1.02 * max((each["end_us"].max() - first_start_us(each, of)) / 1e3 for _, each, of in timelines))
        name = about.get("schedule") or about.get("imported_from") or about.get("title", "")
        draw_trace(axis, rows, style.plain(f"{name}, {took}".lstrip(", ")), numbered=labelled, calls=calls)
        axis.set_xlabel(time_label(about))
    return drawn
