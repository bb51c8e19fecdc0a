"""When each engine worked: timelines of schedules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scanlab_report import marks, style
from scanlab_report.data import Data
from scanlab_report.pick import Lacking, newest_first, pick
from scanlab_report.shown import Shown, figure, shown

ENGINES = ("copies in", "kernels", "copies out")
"""Kinds of engine in the order of a chunk's way."""
HOST_INCHES = 0.16
"""Height that a lane of the host's adds to a figure."""
ENGINE_COLOURS = {"copies in": style.BLUE, "kernels": style.VERMILLION, "copies out": style.SKY}


@dataclass(frozen=True)
class Trace:
    """One timeline: what it states of itself, its operations, and the host's calls."""

    about: Mapping[str, Any]
    rows: pd.DataFrame
    calls: pd.DataFrame
    file: int

    @property
    def schedule(self) -> str:
        return str(self.about.get("schedule", "schedule unknown"))

    @property
    def one_queue(self) -> bool:
        """One hardware work queue: as the trace states, or by the channels of kernels."""
        if "connections" in self.about:
            return self.about["connections"] == 1
        kernels = pick(self.rows, kind="kernels")
        channels = set(kernels["channel"])
        return kernels["stream"].nunique() > 1 and channels != {-1} and len(channels) == 1

    @property
    def title(self) -> str:
        return self.schedule + ", one hardware work queue" * self.one_queue

    @property
    def makespan_ms(self) -> float:
        return (self.rows["end_us"].max() - self.rows["start_us"].min()) / 1e3

    @property
    def begin_us(self) -> float:
        """The first start of an operation or call."""
        begin = self.rows["start_us"].min()
        return begin if self.calls.empty else min(begin, self.calls["start_us"].min())

    @property
    def hosts(self) -> dict[str, int]:
        """Heights of the host's lanes, above those of the engines."""
        names = sorted(set(self.calls["lane_name"]))
        return {name: place - len(names) for place, name in enumerate(names)}

    @property
    def lanes(self) -> dict[int, str]:
        """Lanes from the top down: copies in above kernels above copies out, then further kinds.
        Where an engine needs several lanes, only the first has its name."""
        place = self.rows["kind"].map(lambda kind: (*ENGINES, kind).index(kind))
        rows = self.rows.assign(place=place).sort_values(["place", "lane"]).drop_duplicates("lane")
        names = rows["lane_name"].str.replace("copies in", "H2D copies")
        names = names.str.replace("copies out", "D2H copies")
        return dict(zip(rows["lane"], names.mask(names.duplicated(), ""), strict=True))


def trace_of(data: Data, number: int) -> Trace:
    rows, calls = pick(data["spans"], file=number), pick(data["calls"], file=number)
    return Trace(data.files[number].context, rows, calls, number)


def traces_of(data: Data, schedules_: Sequence[str] = ()) -> list[Trace]:
    """The newest timeline of each schedule and kind of queue, in the order of `schedules_`."""
    newest_: dict[tuple[str, bool], Trace] = {}
    measured = data.cut(lambda file: not file.of_no_device)
    for number in newest_first(measured, "spans"):
        trace = trace_of(data, number)
        if not schedules_ or trace.schedule in schedules_:
            newest_.setdefault((trace.schedule, trace.one_queue), trace)
    if not newest_:
        named = f" of {' or '.join(schedules_)}" if schedules_ else ""
        raise Lacking(f"timelines{named}")
    order = {schedule: place for place, schedule in enumerate(schedules_)}
    return [newest_[key] for key in sorted(newest_, key=lambda key: (order.get(key[0], 0), key))]


def trace_rows(traces: Sequence[Trace]) -> pd.DataFrame:
    """The file of each timeline, and how many makespans were traced with it if all say it."""
    rows = pd.DataFrame({"file": [trace.file for trace in traces]})
    repeated = [len(trace.about.get("traced_us") or ()) for trace in traces]
    return rows.assign(count=repeated) if all(repeated) else rows


@figure("traces")
def gantt(data: Data) -> Shown:
    """Measured timelines of depth-first and breadth-first issue, by the number of hardware work
    queues."""
    traces = traces_of(data, ("depth_first", "breadth_first"))
    drawn, axes = _panels(traces, 0.35, 0.72)
    for axis, trace in zip(axes, traces, strict=True):
        draw_trace(axis, trace, f"{trace.title}: {trace.makespan_ms:.2f} ms")
    axes[-1].set_xlim(left=0)
    axes[-1].set_xlabel(time_label(traces[-1].about))
    cuts = {(trace.about.get("chunks"), trace.about.get("streams")) for trace in traces}
    (chunks, streams), *further = cuts
    details = f"Arrays have {chunks} chunks in {streams} streams."
    if further or None in (chunks, streams):
        details = ""
    caption = (
        "Operations of each engine against time, from activity records (CUPTI): H2D copies, "
        "kernels, D2H copies. Each bar is one operation of a chunk; short ones have a minimum "
        "width. Concurrent kernels are stacked. Host bars are API calls. Titles give the makespan "
        "of the run shown, the one of median time with tracing. There are no error bars."
    )
    return shown(data, drawn, caption, trace_rows(traces), details=details)


def _panels(traces: Sequence[Trace], around: float, each: float) -> tuple[Figure, Sequence[Axes]]:
    """A panel per timeline, one below the other on one axis of time; sizes in inches."""
    heights = [each + HOST_INCHES * len(trace.hosts) for trace in traces]
    below = {"sharex": True, "height_ratios": heights}
    return style.figure(style.COLUMN, around + sum(heights), 1, len(traces), **below)


def draw_trace(axes: Axes, trace: Trace, title: str, numbered: bool = False) -> None:
    """Draw the operations of one timeline from its begin, in ms. A call of the host has the colour
    of the engine that it gives work to. `numbered`: the limits of the axes are set; a bar with room
    shows its label, or else its chunk or the number of its kernel."""
    lanes, hosts, begin = trace.lanes, trace.hosts, trace.begin_us
    heights = dict(zip(lanes, range(len(lanes)), strict=True)) | hosts
    operations = trace.rows.groupby(["kind", "lane"])
    for (kind, lane), rows in [*operations, *trace.calls.groupby(["kind", "lane_name"])]:
        starts, lengths = rows["start_us"] - begin, rows["end_us"] - rows["start_us"]
        colour, half = ENGINE_COLOURS.get(kind, style.GREY), 0.3 if lane in hosts else 0.4
        # The edge makes short kernels and calls visible; that of copies is white and parts them.
        visible = lane in hosts or (kind == "kernels" and not numbered)
        width = 32 if visible and lane not in hosts else 16
        axes.broken_barh(
            [*zip(starts / 1e3, lengths / 1e3, strict=True)],
            (heights[lane] - half, 2 * half),
            facecolor=colour,
            edgecolor=colour if visible else "white",
            linewidth=width / max(64, len(rows)),
            zorder=2,
        )
    centred = {"ha": "center", "va": "center_baseline", "parse_math": False}
    for row in trace.rows.itertuples() if numbered else ():
        text = row.label or f"{row.chunk if row.chunk >= 0 else row.operation}"
        if row.end_us - row.start_us >= max(30, 15 * len(text)) * axes.get_xlim()[1]:
            middle = (row.start_us + row.end_us - 2 * begin) / 2e3
            colour = "black" if row.kind == "copies out" else "white"
            axes.text(
                middle, heights[row.lane], text, color=colour, fontsize=7, zorder=3, **centred
            )
    axes.set_yticks([*hosts.values(), *range(len(lanes))], [*hosts, *lanes.values()])
    axes.set_ylim(len(lanes) - 0.5, -0.5 - len(hosts))
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_title(title, pad=2)


def time_label(about: Mapping[str, Any]) -> str:
    """Return the label of the axis of time, with what ran, as far as the trace states it."""
    simulated = "simulated_on" in about and "measured_us" not in about
    ran = [
        str(about.get("workload", "")),
        f"{marks.power_of_two(about['items'])} items" if "items" in about else "",
        f"{about['chunks']} chunks" if "chunks" in about else "",
        "simulated" if simulated else "",
    ]
    return "; ".join(filter(None, ("time, ms", ", ".join(filter(None, ran)))))


def draw_timelines(traces: Sequence[Trace]) -> Figure:
    """Timelines one below the other on one axis of time."""
    drawn, axes = _panels(traces, 0.45, 0.95)
    for axis, trace in zip(axes, traces, strict=True):
        about, took = trace.about, f"{trace.makespan_ms:.2f} ms"
        if "measured_us" in about:  # both, by `scanlab simulate --compare`
            measured, predicted = about["measured_us"] / 1e3, about["predicted_us"] / 1e3
            took = f"{measured:.2f} ms measured, {predicted:.2f} predicted"
        if labelled := bool(trace.rows["label"].any()):
            ends = [(each.rows["end_us"].max() - each.begin_us) / 1e3 for each in traces]
            axis.set_xlim(0, 1.02 * max(ends))
        name = about.get("schedule") or about.get("imported_from") or about.get("title", "")
        draw_trace(axis, trace, style.plain(f"{name}, {took}".lstrip(", ")), numbered=labelled)
        axis.set_xlabel(time_label(about))
    return drawn
