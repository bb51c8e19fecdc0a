"""Timelines as bars: a lane an engine, coloured by its operations, and above them the host's lanes
where a trace has its calls. Measured and simulated traces are drawn alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scanlab_report import style

HOST_INCHES = 0.16
"""Height that a lane of the host's adds to a figure."""
COLOURS = {"copies in": style.BLUE, "kernels": style.VERMILLION, "copies out": style.SKY}
Timeline = tuple[Mapping[str, Any], pd.DataFrame, pd.DataFrame]
"""The context of a trace, its rows of `spans`, and its rows of `calls`, which may be none."""


def draw_trace(axes: Axes, rows: pd.DataFrame, title: str, numbered: bool = False,
               calls: pd.DataFrame | None = None) -> None:  # fmt: skip
    """The operations of one trace in milliseconds, from the first start, and the host's calls in
    the colour of the engine that each gives work to. `numbered`: on axes whose limits are set, a
    bar with room for it has its label in it, else the number of its chunk, or, where there are no
    chunks, of its kernel."""
    lanes, hosts, begin = lane_heights(rows), host_heights(calls), first_start_us(rows, calls)

    def bars(of: pd.DataFrame, height: float, half: float, colour: str, edge: str, width: int) -> None:
        spans = [((start - begin) / 1e3, (end - start) / 1e3)
                 for start, end in zip(of["start_us"], of["end_us"], strict=True)]  # fmt: skip
        axes.broken_barh(spans, (height - half, 2 * half), facecolor=colour, edgecolor=edge,
                         linewidth=width / max(64, len(spans)), zorder=2)  # fmt: skip

    for (kind, lane), of in rows.groupby(["kind", "lane"]):
        colour = COLOURS.get(kind, style.GREY)
        # The edge makes short kernels visible; that of a copy, or of numbered bars, is white and
        # parts it from its neighbour. Of many bars it is thinner, so that a lane of a thousand
        # looks neither full nor empty by its edges.
        edge, width = (colour, 32) if kind == "kernels" and not numbered else ("white", 16)
        bars(of, lanes[lane], 0.4, colour, edge, width)
    for (name, kind), of in calls.groupby(["lane_name", "kind"]) if hosts else ():
        colour = COLOURS.get(kind, style.GREY)
        bars(of, hosts[name], 0.3, colour, colour, 16)
    if numbered:
        _number(axes, rows, lanes, begin)
    axes.set_yticks([*hosts.values(), *lanes.values()], [*hosts, *_lane_names(rows, lanes)])
    axes.set_ylim(len(lanes) - 0.5, -0.5 - len(hosts))
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_title(title, pad=2)


def _number(axes: Axes, rows: pd.DataFrame, lanes: dict[int, int], begin: float) -> None:
    for row in rows.itertuples():
        text = row.label or f"{row.chunk if row.chunk >= 0 else row.operation}"
        room = max(30, 15 * len(text)) * axes.get_xlim()[1]  # 1.5% of the axis a letter, in µs
        if row.end_us - row.start_us >= room:
            colour = "black" if row.kind == "copies out" else "white"
            axes.text((row.start_us + row.end_us - 2 * begin) / 2e3, lanes[row.lane], text, ha="center",
                      va="center_baseline", parse_math=False, fontsize=7, color=colour, zorder=3)  # fmt: skip


def time_label(about: Mapping[str, Any]) -> str:
    """The axis of time, with the work as far as the trace states it."""
    simulated = "simulated_on" in about and "measured_us" not in about
    ran = [str(about.get("workload", "")),
           f"{style.power_of_two(about['items'])} items" if "items" in about else "",
           f"{about['chunks']} chunks" if "chunks" in about else "", "simulated" * simulated]  # fmt: skip
    return "; ".join(filter(None, ("time, ms", ", ".join(filter(None, ran)))))


def makespan_ms(rows: pd.DataFrame) -> float:
    """From the first start to the last end."""
    return (rows["end_us"].max() - rows["start_us"].min()) / 1e3


def first_start_us(rows: pd.DataFrame, calls: pd.DataFrame | None) -> float:
    """The first start of the operations and the host's calls."""
    begin = rows["start_us"].min()
    return begin if calls is None or calls.empty else min(begin, calls["start_us"].min())


def host_heights(calls: pd.DataFrame | None) -> dict[str, int]:
    """Heights of the host's lanes, above those of the engines: one, or one for each timeline of a
    comparison."""
    names = [] if calls is None or calls.empty else sorted(set(calls["lane_name"]))
    return {name: place - len(names) for place, name in enumerate(names)}


def lane_heights(rows: pd.DataFrame) -> dict[int, int]:
    """Heights of lanes: copies in above kernels above copies out, further kinds below."""
    order = {kind: place for place, kind in enumerate(COLOURS)}
    keys = sorted({(order.get(kind, len(order)), lane)
                   for kind, lane in zip(rows["kind"], rows["lane"], strict=True)})  # fmt: skip
    return {lane: height for height, lane in enumerate(dict.fromkeys(lane for _, lane in keys))}


def _lane_names(rows: pd.DataFrame, lanes: dict[int, int]) -> list[str]:
    """The names of lanes in the field's terms; where an engine needs several, the first is named."""
    names = [str(rows.loc[rows["lane"] == lane, "lane_name"].iloc[0])
             .replace("copies in", "H2D copies").replace("copies out", "D2H copies")
             for lane in lanes]  # fmt: skip
    return [name if name not in names[:place] else "" for place, name in enumerate(names)]


def draw(timelines: Sequence[Timeline]) -> Figure:
    """Timelines one below the other on one axis of time."""
    heights = [0.95 + HOST_INCHES * len(host_heights(calls)) for *_, calls in timelines]
    drawn, axes = style.figure(style.COLUMN, 0.45 + sum(heights), 1, len(timelines), sharex=True,
                               height_ratios=heights)  # fmt: skip
    for axis, (about, rows, calls) in zip(axes, timelines, strict=True):
        took = f"{makespan_ms(rows):.2f} ms"
        if "measured_us" in about:  # both, of `scanlab simulate --compare`
            measured, predicted = about["measured_us"] / 1e3, about["predicted_us"] / 1e3
            took = f"{measured:.2f} ms measured, {predicted:.2f} predicted"
        labelled = bool(rows["label"].any())
        if labelled:
            ends = (each["end_us"].max() - first_start_us(each, of) for _, each, of in timelines)
            axis.set_xlim(0, 1.02 * max(ends) / 1e3)
        name = about.get("schedule") or about.get("imported_from") or about.get("title", "")
        title = style.plain(f"{name}, {took}".lstrip(", "))
        draw_trace(axis, rows, title, numbered=labelled, calls=calls)
        axis.set_xlabel(time_label(about))
    return drawn
