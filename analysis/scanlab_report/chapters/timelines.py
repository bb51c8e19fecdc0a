"""When each engine worked: timelines of schedules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scanlab_report import marks, style
from scanlab_report.data import Data
from scanlab_report.pick import newest_first, pick
from scanlab_report.shown import Shown, figure, shown
from scanlab_report.versus import or_lacking

ENGINE_COLOURS = {"copies in": style.BLUE, "kernels": style.VERMILLION, "copies out": style.SKY}
"""Kinds of engines, in the order of a chunk's way."""


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
        """One hardware work queue."""
        return self.about.get("connections") == 1

    @property
    def title(self) -> str:
        return self.schedule + ", one hardware work queue" * self.one_queue

    @property
    def makespan_ms(self) -> float:
        return (self.rows["end_us"].max() - self.rows["start_us"].min()) / 1e3

    @property
    def begin_us(self) -> float:
        """The first start of an operation or call."""
        return min([*self.rows["start_us"], *self.calls["start_us"]])

    @property
    def hosts(self) -> list[str]:
        """Lanes of the host, above those of the engines."""
        return sorted(set(self.calls["lane_name"]))

    @property
    def lanes(self) -> dict[int, str]:
        """The names of lanes from the top down; only the first lane of an engine has its name."""
        place = self.rows["kind"].map(lambda kind: [*ENGINE_COLOURS, kind].index(kind))
        rows = self.rows.assign(place=place).sort_values(["place", "lane"]).drop_duplicates("lane")
        short = {"copies in": "H2D copies", "copies out": "D2H copies"}
        names = rows["lane_name"].replace(short, regex=True)
        return dict(zip(rows["lane"], names.mask(names.duplicated(), ""), strict=True))


def trace_of(data: Data, number: int) -> Trace:
    rows, calls = pick(data["spans"], file=number), pick(data["calls"], file=number)
    return Trace(data.files[number].context, rows, calls, number)


def traces_of(data: Data, schedules: Sequence[str] = ()) -> list[Trace]:
    """The newest timeline of each schedule and kind of queue, in the order of some schedules."""
    measured = data.cut(lambda file: not file.of_no_device)
    traces = [trace_of(data, number) for number in newest_first(measured, "spans")]
    newest = {(t.schedule, t.one_queue): t for t in reversed(traces)}
    order = schedules or sorted({name for name, _ in newest})
    chosen = [newest[key] for key in product(order, (False, True)) if key in newest]
    return or_lacking(chosen, f"timelines of {' or '.join(schedules) or 'schedules'}")


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
    caption = (
        "Operations of each engine against time, by CUPTI, below the host's calls; concurrent "
        "kernels are stacked. Titles give the makespan of the run shown, of median time; there are "
        "no error bars."
    )
    return shown(data, draw_timelines(traces), caption, trace_rows(traces))


def draw_trace(axes: Axes, trace: Trace, title: str, numbered: bool = False) -> None:
    """Draw the operations of one timeline from its begin, in ms. A call of the host has the colour
    of the engine that it gives work to. `numbered`: the limits of the axes are set; a bar with room
    shows its label, or else its chunk or the number of its kernel."""
    lanes, hosts, begin = trace.lanes, trace.hosts, trace.begin_us
    heights = {lane: place - len(hosts) for place, lane in enumerate([*hosts, *lanes])}
    operations = trace.rows.groupby(["kind", "lane"])
    for (kind, lane), rows in [*operations, *trace.calls.groupby(["kind", "lane_name"])]:
        starts, lengths = rows["start_us"] - begin, rows["end_us"] - rows["start_us"]
        colour, half = ENGINE_COLOURS.get(kind, style.GREY), 0.3 if lane in hosts else 0.4
        # The edge makes short kernels and calls visible; that of copies is white and parts them.
        visible = lane in hosts or (kind == "kernels" and not numbered)
        width = 32 if visible and lane not in hosts else 16
        edge: dict[str, Any] = {"edgecolor": colour if visible else "white"}
        edge["linewidth"] = width / max(64, len(rows))
        bars = list(zip(starts / 1e3, lengths / 1e3, strict=True))
        axes.broken_barh(bars, (heights[lane] - half, 2 * half), facecolor=colour, zorder=2, **edge)
    form = {"ha": "center", "va": "center_baseline", "parse_math": False, "fontsize": 7}
    for row in trace.rows.itertuples() if numbered else ():
        text = row.label or f"{row.chunk if row.chunk >= 0 else row.operation}"
        if row.end_us - row.start_us >= max(30, 15 * len(text)) * axes.get_xlim()[1]:
            middle = (row.start_us + row.end_us - 2 * begin) / 2e3
            colour = "black" if row.kind == "copies out" else "white"
            axes.text(middle, heights[row.lane], text, color=colour, zorder=3, **form)
    axes.set_yticks([*heights.values()], [*hosts, *lanes.values()])
    axes.set_ylim(len(lanes) - 0.5, -0.5 - len(hosts))
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_title(title, pad=2)


def draw_timelines(traces: Sequence[Trace]) -> Figure:
    """Timelines one below the other on one axis of time, labelled where what ran changes."""
    labels = []
    for about in (trace.about for trace in traces):  # with what ran, as far as it is known
        ran = [str(about["workload"])] if about.get("workload") else []
        ran += [f"{marks.power_of_two(about['items'])} items"] if "items" in about else []
        ran += [f"{about['chunks']} chunks"] if "chunks" in about else []
        ran += ["simulated"] * ("simulated_on" in about and "measured_us" not in about)
        labels.append("; ".join(filter(None, ("time, ms", ", ".join(ran)))))
    heights = [0.72 + 0.16 * len(trace.hosts) for trace in traces]
    height = 0.1 + 0.25 * len(set(labels)) + sum(heights)
    below = {"sharex": True, "height_ratios": heights}
    drawn, axes = style.figure(style.COLUMN, height, 1, len(traces), **below)
    longest = max((each.rows["end_us"].max() - each.begin_us) / 1e3 for each in traces)
    for axis, trace, label, after in zip(axes, traces, labels, [*labels[1:], ""], strict=True):
        about, took = trace.about, f"{trace.makespan_ms:.2f} ms"
        if "measured_us" in about:  # both, by `scanlab simulate --compare`
            measured, predicted = about["measured_us"] / 1e3, about["predicted_us"] / 1e3
            took = f"{measured:.2f} ms measured, {predicted:.2f} predicted"
        if labelled := bool(trace.rows["label"].any()):
            axis.set_xlim(0, 1.02 * longest)
        name = about.get("imported_from") or about.get("title") or trace.title
        draw_trace(axis, trace, style.plain(f"{name}: {took}"), numbered=labelled)
        axis.set_xlabel(label if label != after else "")
    axes[-1].set_xlim(left=0)
    return drawn
