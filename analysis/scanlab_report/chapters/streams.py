"""When copies and kernels overlap: schedules, timelines, scans larger than the device."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from scanlab_report import style
from scanlab_report.data import SCHEDULE, STREAM_SCAN, Data
from scanlab_report.formats import Column, Table, code, significant, size, whole, with_interval
from scanlab_report.intervals import Interval, median_interval, ratio_interval, summarise
from scanlab_report.looks import form
from scanlab_report.pick import Lacking, answering, newest, newest_first, pick
from scanlab_report.shown import Shown, figure, shown, table

SERIAL, MAIN_WORKLOAD = "serial_pinned", "scale"
PROBLEM = ["workload", "items", "work", "blocks"]
"""What schedules that are compared have in common."""
SIDE = ("The schedules `null_stream_nonblocking`, `null_stream_trap` and `per_thread_default` add an "
        "equal side kernel per chunk")  # fmt: skip
WORK = "Work: multiplications per item, or rounds of `feistel`."
PIPELINE, SERIAL_SUM, WERKHOVEN = "pipeline estimate", "serial sum", "Van Werkhoven"

# ------------------------------------------------------------------------------------ the bounds


@dataclass(frozen=True)
class Parts:
    """Seconds that the copies in, the kernels and the copies out take, all chunks together, each
    with its engine to itself. `side`: kernels beside them on data of their own, which wait for no
    copy."""

    copy_in: float
    kernels: float
    copy_out: float
    side: float = 0.0

    def serial(self) -> float:
        """One after another."""
        return self.copy_in + self.kernels + self.copy_out + self.side

    def overlapped(self, chunks: int) -> float:
        """The bound of Van Werkhoven et al. (2014) for two copy engines and n chunks,
        max(H + (K + D)/n, K + (H + D)/n, D + (H + K)/n). All kernels are one engine's."""
        longest = max(self.copy_in, self.kernels, self.copy_out)
        rest = self.copy_in + self.kernels + self.copy_out - longest
        return max(longest + rest / chunks, self.kernels + self.side)

    def pipeline(self, duplex: Parts, chunks: int) -> float:
        """The least time of n chunks where copies slow each other down as in `duplex` while both
        directions run, and only then. The longer both run, the sooner the bus is done and the later
        each copy is; the best is where the bus is done with the first of them. Kernels count as
        timed over the whole array."""
        share_in = min(1.0, self.copy_in / duplex.copy_in)
        share_out = min(1.0, self.copy_out / duplex.copy_out)
        fill_in, fill_out = ((self.kernels + c) / chunks for c in (self.copy_out, self.copy_in))
        gain = share_in + share_out - 1  # of the bus, per second in which both run
        both = 0.0
        if gain > 0:
            ends = ((self.copy_out - fill_in) / share_out, (self.copy_in - fill_out) / share_in)
            both = max(0.0, min(ends))
        return max(
            self.copy_in + (1 - share_in) * both + fill_in,
            self.copy_out + (1 - share_out) * both + fill_out,
            self.copy_in + self.copy_out - gain * both,
            self.kernels + (self.copy_in + self.copy_out) / chunks,
            self.kernels + self.side,
        )

    def ratio(self) -> float:
        """Compute to copy: the kernels over the longer of the two copies."""
        return self.kernels / max(self.copy_in, self.copy_out)


def equal_thirds(chunks: Any) -> Any:
    """The most that n chunks gain over serial if the three parts take a third each: 3n/(n + 2)."""
    return 3 * chunks / (chunks + 2)


def schedules_of(data: Data) -> pd.DataFrame:
    """One row per case of a schedule, with `device_ns`, the median between events; `place`, that of
    its schedule in the context; `alone` and `duplex`, the parts timed in the same file with the
    bus to themselves or not; and `bound`, the seconds that both allow. Lacking if none was timed.
    """

    def make() -> pd.DataFrame | None:
        numbers = newest_first(data, "schedule")
        files = [n for n in numbers if (pick(data["schedule"], file=n)["entry"] == "schedule").any()]
        rows = answering(data, pick(data["schedule"], file=files), "schedule", [*SCHEDULE, "entry"])
        rows = pick(rows, entry="schedule", control=0)
        if rows.empty:
            return None
        case = ["file", *SCHEDULE, "inputs", "bytes", "side_kernels", "own_streams"]
        cases = summarise(rows, case).drop(columns="device_ns")
        device = rows.groupby(case)["device_ns"].median().reset_index()
        cases = cases.merge(device, how="left")
        known = [id_ for n in files for id_, about in data.files[n].context.get("schedules", {}).items()
                 if not about["control"]]  # fmt: skip
        order = list(dict.fromkeys([*known, *sorted(set(cases["id"]))]))
        cases["place"] = cases["id"].map(order.index)
        alone = {n: _Alone(pick(data["schedule"], file=n)) for n in set(cases["file"])}
        for column, ways in (("alone", ("h2d", "d2h")), ("duplex", ("duplex_h2d", "duplex_d2h"))):
            values = [alone[case.file].parts(case, ways) for case in cases.itertuples()]
            cases[column] = pd.Series(values, dtype=object)
        bounds = [c.alone.pipeline(c.duplex, c.chunks) if c.alone and c.duplex else None
                  for c in cases.itertuples()]  # fmt: skip
        cases["bound"] = pd.Series(bounds, dtype=object)
        return cases

    cases = data.once("schedules", make)
    if cases is None or problems(cases).empty:
        raise Lacking("timings of several schedules")
    return cases


class _Alone:
    """Median times of the copies and kernels of a file, each timed alone."""

    def __init__(self, rows: pd.DataFrame) -> None:
        copies = pick(rows, entry="copy").groupby(["id", "memory", "bytes"])["ns"].median()
        self.copies = {key: own.droplevel([0, 1]) for key, own in copies.groupby(level=[0, 1])}
        kernels = pick(rows, entry="kernel").groupby(["id", "work", "blocks", "items"])["ns"]
        self.kernels = kernels.median().to_dict()

    def parts(self, case: Any, directions: tuple[str, str]) -> Parts | None:
        """The parts of a case: the copy nearest in size to one array, and the kernel over the whole
        array, or else over one chunk, as many times as there are chunks."""
        array = case.bytes / (case.inputs + 1)
        rates = []
        for direction in directions:
            if (times := self.copies.get((direction, case.memory))) is None:
                return None
            nearest = np.argmin(np.abs(np.log(times.index.to_numpy(dtype=float) / array)))
            rates.append(float(times.index[nearest]) / times.iloc[nearest] * 1e9)
        for items in (case.items, -(-case.items // case.chunks)):
            key = (case.workload, case.work, case.blocks, items)
            if (time := self.kernels.get(key)) is not None:
                seconds = float(time) * 1e-9 * case.items / items
                side = seconds if case.side_kernels else 0.0
                return Parts(case.inputs * array / rates[0], seconds, array / rates[1], side)
        return None


def problems(cases: pd.DataFrame) -> pd.DataFrame:
    """One row per problem in which several schedules were timed: `scale` first, then most items."""
    found = cases.groupby(PROBLEM).agg(cases=("id", "size"), ids=("id", "nunique")).reset_index()
    found["main"] = found["workload"] == MAIN_WORKLOAD
    order = ["main", "items", "cases"]
    return found[found["ids"] > 1].sort_values(order, ascending=False, ignore_index=True)


def panels(cases: pd.DataFrame, over: str, most: int = 3) -> list[pd.DataFrame]:
    """The cases of the first problem in pinned memory over several numbers of chunks, or of streams,
    at one number of the other: one frame per amount of work, the least first. `most` of them: the
    least, the most, and those whose kernels take most nearly as long as a copy."""
    first = problems(cases).iloc[0]
    same = {column: first[column] for column in ("workload", "items", "blocks")}
    rows = pick(cases, memory="pinned", **same)
    fixed = {"chunks": "streams", "streams": "chunks"}[over]
    values = rows.groupby([fixed, "work"])[over].nunique().unstack(fill_value=0)
    if values.empty or values.max(axis=None) < 2:
        raise Lacking(f"timings of several schedules over several {over}")
    number = rows.groupby(fixed).size()
    value = max(values.index, key=lambda v: ((values.loc[v] > 1).sum(), values.loc[v].sum(),
                                             number[v], v))  # fmt: skip
    parts = {work: own for work, own in pick(rows, **{fixed: value}).groupby("work")
             if own[over].nunique() > 1}  # fmt: skip
    works = sorted(parts)
    if len(works) > most:
        between = sorted(works[1:-1], key=lambda work: from_even(parts[work]))[: most - 2]
        works = [works[0], *sorted(between), works[-1]]
    return [parts[work] for work in works]


def compute_to_copy(panel: pd.DataFrame) -> float:
    """NaN where the parts were not timed."""
    ratios = [parts.ratio() for parts in panel["alone"] if parts is not None]
    return float(np.median(ratios)) if ratios else math.nan


def from_even(panel: pd.DataFrame) -> float:
    """How far a panel is from kernels that take as long as a copy: 0 there, infinite if unknown."""
    return abs(math.log(even)) if (even := compute_to_copy(panel)) > 0 else math.inf


def over_bound(case: Any) -> Interval:
    """A schedule's time over the estimate of its pipeline."""
    time, bound = median_interval(case.samples), 1e9 * case.bound
    return Interval(time.value / bound, time.low / bound, time.high / bound, time.count)


def beaten(parts: Sequence[pd.DataFrame]) -> Any:
    """The case farthest below its estimate, with its whole interval by more than 2%; or None."""
    rows = pd.concat(parts)
    rows = rows[rows["bound"].notna()]
    share = rows["high_ns"].fillna(rows["median_ns"]) / (1e9 * rows["bound"].astype(float))
    if share.empty or share.min() > 0.98:
        return None
    return next(rows.loc[[share.idxmin()]].itertuples())


def best_schedule(cases: pd.DataFrame, workload: str) -> Any:
    """The fastest case in pinned memory of a workload at its largest size, with the least work per
    item; None if there is none. Schedules with side kernels do other work."""
    rows = pick(cases, workload=workload, memory="pinned", side_kernels=0)
    rows = rows[rows["bound"].notna()]
    for column, take in (("items", max), ("work", min)):
        rows = rows[rows[column] == take(rows[column], default=0)]
    return None if rows.empty else next(rows.loc[[rows["median_ns"].idxmin()]].itertuples())


def bounds(rows: pd.DataFrame) -> dict[str, list[float | None]]:
    """The bounds of each case in seconds, by name; None where the parts were not timed."""
    pairs = list(zip(rows["alone"], rows["chunks"], strict=True))
    return {SERIAL_SUM: [parts and parts.serial() for parts, _ in pairs],
            PIPELINE: list(rows["bound"]),
            WERKHOVEN: [parts and parts.overlapped(n) for parts, n in pairs]}  # fmt: skip


def one_each(panel: pd.DataFrame, over: str) -> pd.DataFrame:
    """A case per number of chunks or streams, without side kernels where there is one."""
    return panel.sort_values([over, "side_kernels"]).drop_duplicates(over)


def speedups(panel: pd.DataFrame) -> pd.DataFrame:
    """Every schedule of the same work but the serial one, with its `speedup`, an interval."""
    serial = pick(panel, id=SERIAL)
    others = panel[(panel["id"] != SERIAL) & (panel["side_kernels"] == 0)].sort_values("chunks")
    if serial.empty:
        return others[:0].assign(speedup=None)
    base = serial.loc[serial["median_ns"].idxmin(), "samples"]
    return others.assign(speedup=[ratio_interval(base, own) for own in others["samples"]])


def ratio_title(panel: pd.DataFrame) -> str:
    ratio = compute_to_copy(panel)
    work = panel["work"].iloc[0]
    return f"work {work}" if np.isnan(ratio) else f"compute : copy {ratio:.2g}"


# ------------------------------------------------------------------------------- the schedules

_COLOURS = (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE, style.VERMILLION, style.SKY,
            style.WINE, style.BLACK, style.GREY)  # fmt: skip
BOUND_LOOKS = {SERIAL_SUM: style.Look(style.GREY, "", ":"),
                PIPELINE: style.Look(style.BLACK, "", "-"),
                WERKHOVEN: style.Look(style.GREY, "", "--")}  # fmt: skip
NEAR = (0.9, 1.3)
"""The lower row shows times between these multiples of the estimate."""


def schedule_look(place: int) -> style.Look:
    """The look of the schedule at a place in the order of the context."""
    return form(place, _COLOURS[place % len(_COLOURS)])


@figure("schedules", wide=True)
def schedules(data: Data) -> Shown:
    """Time of each schedule against the number of chunks, by the ratio of kernel to copy time, beside estimates from parts timed alone."""
    cases = schedules_of(data)
    parts = panels(cases, "chunks")
    details = f"Schedules that take a number of streams have {parts[0]['streams'].iloc[0]}."
    if (least := beaten(parts)) is not None:
        details += (f" Concurrent kernels can beat the estimate: {least.id} with {least.chunks} "
                    f"chunks at compute : copy {least.alone.ratio():.2g} takes "
                    f"{over_bound(least).value:.2f} of it.")  # fmt: skip
    return shown(
        data, _makespans(parts, "chunks"),
        "Makespan of each schedule against chunks, in pinned memory. Titles: ratio of compute to "
        "copy. Without markers: estimates; serial sum: all parts one after another. Below: "
        f"makespan over the pipeline estimate, 0.9 to 1.3. {SIDE}; only the estimates of the lower "
        "panels include it. Bars: 95% intervals.",
        cases, details=details,
    )  # fmt: skip


@figure("schedules", wide=True)
def schedules_streams(data: Data) -> Shown:
    """Time of each schedule against the number of streams."""
    cases = schedules_of(data)
    parts = panels(cases, "streams")
    return shown(
        data, _makespans(parts, "streams"),
        "Makespan of each schedule against the number of streams, in pinned memory, with the same "
        "estimates and panels as for chunks. Schedules with a fixed number of streams are single "
        f"points. {SIDE}; only the lower estimates include it. Bars: 95% intervals.",
        cases, details=f"Each array has {parts[0]['chunks'].iloc[0]} chunks.",
    )  # fmt: skip


def _makespans(parts: list[pd.DataFrame], over: str) -> Figure:
    """A column per panel: time in ms, and below it times near the estimate as multiples of it. Each
    schedule is named once, at its height in the last panel that has it."""
    drawn, axes = style.figure(style.DOUBLE, 4.6, len(parts), 2, sharey="row")
    ends: list[list[style.End]] = []
    for axis, near, panel in zip(axes, axes[len(parts) :], parts, strict=False):
        axis.set_yscale("log")
        _number_axis(axis, panel, over)
        axis.set_title(ratio_title(panel))
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 2.5, 3, 4, 5, 7)))
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.yaxis.set_minor_formatter(NullFormatter())
        ends.append(_bound_lines(axis, panel, over))
        for schedule, rows in panel.groupby("id"):
            rows, drawn_as = rows.sort_values(over), schedule_look(rows["place"].iloc[0])
            x, ms = rows[over].to_numpy(), rows["median_ns"].to_numpy() / 1e6
            axis.plot(x, ms, zorder=2, **drawn_as.plot())
            style.error_bars(axis, x, ms, rows["low_ns"] / 1e6, rows["high_ns"] / 1e6,
                             drawn_as.colour)  # fmt: skip
            ends[-1].append(style.End(str(schedule), drawn_as, float(x[-1]), float(ms[-1])))
        axis.set_xlabel("")
        _near(near, panel, over)
    axes[0].set_ylabel("time, ms")
    axes[len(parts)].set_ylabel("time / pipeline estimate")
    _name_once(axes[len(parts) - 1], ends)
    return drawn


def _name_once(axis: Axes, ends: list[list[style.End]]) -> None:
    """Names the lines of all panels at the right of the last one; those of others have no leader."""
    left = axis.get_xlim()[0]
    named = {end.label: replace(end, x=left) for panel in ends for end in panel}
    named |= {end.label: end for end in ends[-1]}
    style.margin_legend(axis, list(named.values()))


def _near(axis: Axes, panel: pd.DataFrame, over: str) -> None:
    _number_axis(axis, panel, over)
    axis.set_ylim(*NEAR)
    axis.axhline(1, linewidth=2.0, zorder=1, **BOUND_LOOKS[PIPELINE].plot())
    for _, rows in panel[panel["bound"].notna()].groupby("id"):
        rows, drawn_as = rows.sort_values(over), schedule_look(rows["place"].iloc[0])
        bound = 1e9 * rows["bound"].to_numpy(dtype=float)
        times = rows["median_ns"] / bound
        if times.min() <= NEAR[1]:
            axis.plot(rows[over], times, zorder=2, **drawn_as.plot())
            style.error_bars(axis, rows[over], times, rows["low_ns"] / bound,
                             rows["high_ns"] / bound, drawn_as.colour)  # fmt: skip


def _number_axis(axis: Axes, panel: pd.DataFrame, over: str) -> None:
    """A logarithmic axis of chunks or streams, with plain numbers at those that were timed."""
    numbers = sorted(set(panel[over]))
    axis.set_xscale("log", base=2)
    axis.set_xlim(numbers[0] / 1.3, numbers[-1] * 1.3)
    while len(numbers) > 8:
        numbers = numbers[-1::-2][::-1]
    axis.set_xticks(numbers, [f"{number}" for number in numbers])
    axis.xaxis.set_minor_formatter(NullFormatter())
    first = panel.iloc[0]
    axis.set_xlabel(f"{over}; {first['workload']}, {style.power_of_two(first['items'])} items")


def _bound_lines(axis: Axes, panel: pd.DataFrame, over: str) -> list[style.End]:
    rows, ends = one_each(panel, over), []
    for name, seconds in bounds(rows).items():
        ms = 1e3 * np.array([np.nan if s is None else s for s in seconds], dtype=float)
        if np.isfinite(ms[-1]):
            width, drawn_as = 2.0 if name == PIPELINE else 1.4, BOUND_LOOKS[name]
            axis.plot(rows[over], ms, linewidth=width, zorder=1, **drawn_as.plot())
            ends.append(style.End(name, drawn_as, rows[over].iloc[-1], float(ms[-1]), width))
    return ends


@figure("schedules")
def schedules_speedup(data: Data) -> Shown:
    """Speedup of each schedule over serial execution against the number of chunks, by the ratio of kernel to copy time."""
    cases = schedules_of(data)
    parts = [panel for panel in panels(cases, "chunks") if len(speedups(panel))]
    if not parts:
        raise Lacking(f"timings of schedules beside {SERIAL}")
    even = min(range(len(parts)), key=lambda i: from_even(parts[i]))
    drawn, axes = style.figure(style.DOUBLE, 3.1, len(parts), sharey=True)
    ends: list[list[style.End]] = []
    for number, (axis, panel) in enumerate(zip(axes, parts, strict=True)):
        _number_axis(axis, panel, "chunks")
        axis.set_title(ratio_title(panel))
        ends.append(_ideals(axis, panel, thirds=number == even))
        for schedule, rows in speedups(panel).groupby("id"):
            gain, drawn_as = rows["speedup"].tolist(), schedule_look(rows["place"].iloc[0])
            middle = [interval.value for interval in gain]
            axis.plot(rows["chunks"], middle, zorder=2, **drawn_as.plot())
            style.error_bars(axis, rows["chunks"], middle, [g.low for g in gain],
                             [g.high for g in gain], drawn_as.colour)  # fmt: skip
            last = rows["chunks"].iloc[-1]
            ends[-1].append(style.End(str(schedule), drawn_as, float(last), middle[-1]))
    axes[0].set_ylim(bottom=0.8)
    axes[0].set_ylabel(f"speedup over {SERIAL}")
    _name_once(axes[-1], ends)
    return shown(
        data, drawn,
        "Speedup over `serial_pinned` at its fastest against the number of chunks n, in pinned "
        "memory. Dashed: van Werkhoven's estimate, of parts that were timed alone. Solid: pipeline "
        "estimate, with both copy directions at once. Dotted: 3n/(n + 2), the limit of equal "
        "thirds, in the panel nearest to them. Schedules with a side kernel are left out. Bars: "
        "95% intervals.",
        cases,
    )  # fmt: skip


def _ideals(axis: Axes, panel: pd.DataFrame, thirds: bool) -> list[style.End]:
    rows, lines = one_each(panel, "chunks"), {}
    if thirds:
        low, high = axis.get_xlim()
        dense = np.geomspace(max(1.0, low), high, 60)
        lines["equal thirds"] = (dense, equal_thirds(dense), BOUND_LOOKS[SERIAL_SUM])
    known = bounds(rows)
    if all(known[SERIAL_SUM]):
        for name in (WERKHOVEN, PIPELINE):
            if all(known[name]):
                gain = np.array(known[SERIAL_SUM]) / np.array(known[name])
                lines[name] = (rows["chunks"].to_numpy(dtype=float), gain, BOUND_LOOKS[name])
    ends = []
    for name, (x, y, drawn_as) in lines.items():
        axis.plot(x, y, linewidth=1.4, zorder=1, **drawn_as.plot())
        ends.append(style.End(name, drawn_as, float(x[-1]), float(y[-1]), 1.4))
    return ends


@table("schedules", name="schedules")
def schedules_table(data: Data) -> Shown:
    """Every schedule at its fastest: makespan, over its estimate, and against the serial one."""
    problem, cases = ["workload", "items", "work"], schedules_of(data)
    marked = cases.assign(main=cases["workload"] == MAIN_WORKLOAD)
    best = marked.loc[marked.groupby([*problem, "id"])["median_ns"].idxmin()]
    best = best.sort_values(["main", *problem, "median_ns"], ignore_index=True,
                            ascending=[False, True, False, True, True])  # fmt: skip
    same = best[["workload", "items"]] == best[["workload", "items"]].iloc[0]
    keys = list(best[problem].itertuples(index=False, name=None))
    serial = {key: samples for key, id_, samples in
              zip(keys, best["id"], best["samples"], strict=True) if id_ == SERIAL}  # fmt: skip
    base = [None if side else serial.get(key)
            for key, side in zip(keys, best["side_kernels"], strict=True)]  # fmt: skip
    gains = [None if b is None else ratio_interval(b, own)
             for b, own in zip(base, best["samples"], strict=True)]  # fmt: skip
    ratios = {key: compute_to_copy(own) for key, own in
              pick(cases, memory="pinned").groupby(problem)}  # fmt: skip
    over = [over_bound(case) if case.bound else None for case in best.itertuples()]
    rows = best[SCHEDULE].assign(
        compute_to_copy=[ratios.get(key, math.nan) for key in keys],
        streams=best["streams"].astype("Int64").mask(best["own_streams"] == 1),
        median_ms=best["median_ns"] / 1e6, events_ms=best["device_ns"] / 1e6,
        low_ms=best["low_ns"] / 1e6, high_ms=best["high_ns"] / 1e6,
        of_bound=pd.Series(over, dtype=object), speedup=pd.Series(gains, dtype=object),
    )  # fmt: skip
    has_events = bool(rows["events_ms"].notna().any())
    dashed = lambda digits: lambda v: "—" if pd.isna(v) else significant(v, digits)
    columns = (
        Column("workload", "workload", right=False), Column("items", "items", size),
        Column("work", "work", whole), Column("compute_to_copy", "ratio", dashed(2)),
        Column("id", "schedule", code, right=False), Column("chunks", "chunks", whole),
        Column("streams", "streams", whole), Column("memory", "memory", right=False),
        Column("median_ms", "ms", partial(significant, digits=4)),
        *[Column("events_ms", "by events", dashed(4))] * has_events,
        Column("of_bound", "/ estimate", with_interval),
        Column("speedup", "speedup", with_interval),
    )  # fmt: skip
    events = (" The makespan is by the host's clock; the time by events is the device's, in "
              "separate replays.") if has_events else ""  # fmt: skip
    caption = (
        "Schedules at their fastest number of chunks and streams: makespan, makespan over the "
        f"pipeline estimate, and speedup over `{SERIAL}`, with 95% intervals in brackets. {WORK} "
        f"Ratio: compute to copy.{events}"
    )
    notes = (
        f"{SIDE}; their estimate includes it, and they have no speedup.",
        "Concurrent kernels can beat the estimate.",
        "An interval over the estimate needs six repetitions, and one of a speedup five.",
        "Copies of pageable memory run in one direction at a time and have no estimate.",
        "Schedules without a number of streams create as many as they need.",
    )
    printed = min(int(same.all(axis=1).sum()), 48)
    return shown(data, Table(caption, columns, rows, notes, printed=printed), caption, cases)


# ------------------------------------------------------------------------------------ timelines

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
    def lanes(self) -> dict[int, int]:
        """Heights of lanes: copies in above kernels above copies out, further kinds below."""
        order = {kind: place for place, kind in enumerate(ENGINES)}
        pairs = zip(self.rows["kind"], self.rows["lane"], strict=True)
        keys = sorted({(order.get(kind, len(order)), lane) for kind, lane in pairs})
        lanes = dict.fromkeys(lane for _, lane in keys)
        return {lane: height for height, lane in enumerate(lanes)}


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
    """Measured timelines of depth-first and breadth-first issue, by the number of hardware work queues."""
    traces = traces_of(data, ("depth_first", "breadth_first"))
    heights = [0.72 + HOST_INCHES * len(trace.hosts) for trace in traces]
    drawn, axes = style.figure(style.COLUMN, 0.35 + sum(heights), 1, len(heights), sharex=True,
                               height_ratios=heights)  # fmt: skip
    for axis, trace in zip(axes, traces, strict=True):
        draw_trace(axis, trace, f"{trace.title}: {trace.makespan_ms:.2f} ms")
    axes[-1].set_xlim(left=0)
    axes[-1].set_xlabel(time_label(traces[-1].about))
    cuts = {(trace.about["chunks"], trace.about["streams"]) for trace in traces
            if {"chunks", "streams"} <= set(trace.about)}  # fmt: skip
    details = ""
    if len(cuts) == 1:
        chunks, streams = next(iter(cuts))
        details = f"Arrays have {chunks} chunks in {streams} streams."
    return shown(
        data, drawn,
        "Operations of each engine against time, from activity records (CUPTI): H2D copies, "
        "kernels, D2H copies. Each bar is one operation of a chunk; short ones have a minimum "
        "width. Concurrent kernels are stacked. Host bars are API calls. Titles give the makespan "
        "of the run shown, the one of median time with tracing. There are no error bars.",
        trace_rows(traces), details=details,
    )  # fmt: skip


def draw_trace(axes: Axes, trace: Trace, title: str, numbered: bool = False) -> None:
    """The operations of one timeline from its begin, in ms, and the host's calls in the colour of
    the engine that each gives work to. `numbered`: on axes whose limits are set, a bar with room
    has its label in it, else its chunk or the number of its kernel."""
    lanes, hosts, begin = trace.lanes, trace.hosts, trace.begin_us

    def bars(rows: pd.DataFrame) -> list[tuple[float, float]]:
        pairs = zip(rows["start_us"], rows["end_us"], strict=True)
        return [((start - begin) / 1e3, (end - start) / 1e3) for start, end in pairs]

    for (kind, lane), rows in trace.rows.groupby(["kind", "lane"]):
        colour, spans = ENGINE_COLOURS.get(kind, style.GREY), bars(rows)
        # The edge makes short kernels visible; that of copies is white and parts neighbours.
        visible = kind == "kernels" and not numbered
        edge, width = (colour, 32) if visible else ("white", 16)
        axes.broken_barh(spans, (lanes[lane] - 0.4, 0.8), facecolor=colour, edgecolor=edge,
                         linewidth=width / max(64, len(spans)), zorder=2)  # fmt: skip
    if len(trace.calls):
        for (name, kind), rows in trace.calls.groupby(["lane_name", "kind"]):
            colour, spans = ENGINE_COLOURS.get(kind, style.GREY), bars(rows)
            axes.broken_barh(spans, (hosts[name] - 0.3, 0.6), facecolor=colour, edgecolor=colour,
                             linewidth=16 / max(64, len(spans)), zorder=2)  # fmt: skip
    for row in trace.rows.itertuples() if numbered else ():
        text = row.label or f"{row.chunk if row.chunk >= 0 else row.operation}"
        if row.end_us - row.start_us >= max(30, 15 * len(text)) * axes.get_xlim()[1]:
            middle = (row.start_us + row.end_us - 2 * begin) / 2e3
            axes.text(middle, lanes[row.lane], text, parse_math=False, ha="center",
                      va="center_baseline", fontsize=7, zorder=3,
                      color="black" if row.kind == "copies out" else "white")  # fmt: skip
    axes.set_yticks([*hosts.values(), *lanes.values()], [*hosts, *lane_names(trace)])
    axes.set_ylim(len(lanes) - 0.5, -0.5 - len(hosts))
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_title(title, pad=2)


def lane_names(trace: Trace) -> list[str]:
    """Where an engine needs several lanes, only the first is named."""
    named = trace.rows.drop_duplicates("lane").set_index("lane")["lane_name"]
    names = [str(named[lane]).replace("copies in", "H2D copies").replace("copies out", "D2H copies")
             for lane in trace.lanes]  # fmt: skip
    return [name if name not in names[:place] else "" for place, name in enumerate(names)]


def time_label(about: Mapping[str, Any]) -> str:
    """The axis of time, with what ran as far as the trace states it."""
    simulated = "simulated_on" in about and "measured_us" not in about
    ran = [str(about.get("workload", "")),
           f"{style.power_of_two(about['items'])} items" if "items" in about else "",
           f"{about['chunks']} chunks" if "chunks" in about else "",
           "simulated" if simulated else ""]  # fmt: skip
    return "; ".join(filter(None, ("time, ms", ", ".join(filter(None, ran)))))


def draw_timelines(traces: Sequence[Trace]) -> Figure:
    """Timelines one below the other on one axis of time."""
    heights = [0.95 + HOST_INCHES * len(trace.hosts) for trace in traces]
    drawn, axes = style.figure(style.COLUMN, 0.45 + sum(heights), 1, len(traces), sharex=True,
                               height_ratios=heights)  # fmt: skip
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


# --------------------------------------------------------------------------- concurrent kernels

WAVES = 9
"""The staircase is drawn so far."""
_QUEUES = {0: ("o", 6.5, style.ORANGE), 1: ("s", 4.2, style.BLUE), 2: (".", 3.4, style.BLACK)}


def block_times(data: Data) -> pd.DataFrame:
    """Small grids side by side, with `total` blocks and times in units of one block: `measured`
    with `low` and `high`, `predicted`, `serial`."""
    rows = newest(data, "concurrency", "experiments on concurrent kernels")
    medians = [median_interval(times) for times in rows["makespan_seconds"]]
    unit = rows["block_seconds"]
    return rows.assign(
        total=rows["streams"] * rows["kernels"] * rows["blocks"],
        measured=[m.value for m in medians] / unit, low=[m.low for m in medians] / unit,
        high=[m.high for m in medians] / unit, predicted=rows["predicted_seconds"] / unit,
        serial=rows["serial_seconds"] / unit, count=[m.count for m in medians],
    )  # fmt: skip


@figure("concurrency")
def concurrency(data: Data) -> Shown:
    """Makespan of small concurrent kernels against the number of blocks, and by the number of hardware work queues."""
    cases = block_times(data)
    stairs = cases[(cases["kernels"] == 1) & (cases["predicted"] <= WAVES)]
    queue = cases[cases["kernels"] > 1]
    if stairs.empty and queue.empty:
        raise Lacking(f"concurrent kernels of up to {WAVES} waves")
    both = len(stairs) > 0 and len(queue) > 0
    drawn, axes = style.figure(style.DOUBLE, 2.1, 2 if both else 1,
                               width_ratios=[1.6, 1] if both else None)  # fmt: skip
    if len(stairs):
        _stairs(axes[0], stairs)
    if len(queue):
        _queue(axes[-1], queue)
    return shown(
        data, drawn,
        "Left: makespan of one kernel per stream against the total number of blocks, in durations "
        "of one block. The staircase is blocks over slots, one per multiprocessor, rounded up. "
        "Right: makespan of several kernels per stream, issued stream by stream; dashed lines are "
        "predictions.",
        cases, details=style.bars_said(cases["count"]),
    )  # fmt: skip


def _stairs(axes: Axes, cases: pd.DataFrame) -> None:
    slots = int(cases["slots"].iloc[0])
    total = np.arange(1, slots * WAVES + 1)
    axes.plot(total, np.ceil(total / slots), color=style.GREY, linewidth=1.0, zorder=1,
              label="⌈blocks / slots⌉")  # fmt: skip
    for place, (connections, rows) in enumerate(cases.groupby("connections")):
        marker, points, colour = _QUEUES[min(place, 2)]
        axes.plot(rows["total"], rows["measured"], marker, markersize=points, color=colour,
                  markerfacecolor="none" if place < 2 else colour, zorder=2 + place,
                  label=f"{connections} hardware work queue{'s' * (connections != 1)}")  # fmt: skip
        style.error_bars(axes, rows["total"], rows["measured"], rows["low"], rows["high"], colour)
    axes.set_xticks(np.arange(0, slots * WAVES + 1, slots))
    axes.set_ylim(0, WAVES + 0.6)
    axes.set_xlabel(f"blocks of all streams; {slots} resident slots")
    axes.set_ylabel("makespan / one block")
    axes.set_title("one kernel per stream")
    axes.legend(loc="upper left")


def _queue(axes: Axes, cases: pd.DataFrame) -> None:
    first = cases.sort_values("total").iloc[-1]
    same = {name: first[name] for name in ("streams", "kernels", "blocks", "slots")}
    cases = pick(cases, **same).sort_values("connections")
    names = [f"{n}" for n in cases["connections"]]
    colours = [_QUEUES[min(i, 2)][2] for i in range(len(names))]
    axes.bar(names, cases["measured"], width=0.55, color=colours, zorder=2)
    style.error_bars(axes, range(len(cases)), cases["measured"], cases["low"], cases["high"],
                     style.GREY)  # fmt: skip
    lines = {"full overlap": cases["predicted"].min(), "no overlap": cases["serial"].max()}
    if cases["predicted"].max() > cases["predicted"].min():
        lines["one queue"] = cases["predicted"].max()
    for name, value in lines.items():
        axes.axhline(value, color=style.GREY, linewidth=1.0, linestyle="--", zorder=1)
        axes.text(len(cases) - 0.45, value + 0.12, name, ha="right", va="bottom", fontsize=7.5,
                  color=style.GREY)  # fmt: skip
    for place, value in enumerate(cases["measured"]):
        axes.text(place, value - 0.15, f"{value:.2f}", ha="center", va="top", fontsize=7.5,
                  color=style.BLACK if place == 0 else "white", zorder=3)  # fmt: skip
    axes.set_ylim(0, 1.15 * max(cases["serial"]))
    axes.grid(visible=False, axis="x")
    axes.set_xlabel("hardware work queues")
    title = f"{first['streams']} streams × {first['kernels']} kernels × {first['blocks']} blocks"
    axes.set_title(title)


# --------------------------------------------------------------------- scans larger than the device

STREAMED, NAIVE, DUPLEX, FILES = "streamed", "naive", "duplex_copy", "files"
_WAYS = {STREAMED: "streamed", NAIVE: "naive", DUPLEX: "copies in both directions",
         FILES: "file access alone"}  # fmt: skip
_PLACES = {"": (style.BLUE, "o"), "generated": (style.SKY, "D"), "pwrite": (style.ORANGE, "^"),
           "mapping": (style.VERMILLION, "s")}  # fmt: skip


def larger_cases(data: Data) -> pd.DataFrame:
    """The cases of scans larger than the device, each of the file that answers."""
    rows = pick(data["stream_scan"], file=newest_first(data, "stream_scan"))
    if rows.empty:
        raise Lacking("scans larger than the device")
    return summarise(answering(data, rows, "stream_scan"), STREAM_SCAN)


def larger_sessions(data: Data) -> list[pd.DataFrame]:
    """The same of every folder apart, the newest first."""
    every = data.every or data
    folders: dict[Any, list[int]] = {}
    for number in newest_first(every, "stream_scan"):
        folders.setdefault(every.files[number].path.parent, []).append(number)
    return [summarise(pick(every["stream_scan"], file=own), STREAM_SCAN)
            for own in folders.values()]  # fmt: skip


def fastest_ways(cases: pd.DataFrame) -> pd.DataFrame:
    """The fastest case per way, place and size; `place` is how it is written, `where` from where to
    where."""
    written = np.where(cases["mapped"] == 1, "mapping", "pwrite")
    made = np.where(cases["from"] == "generated", "generated", "")
    place = np.where(cases["to"] == "file", written, made)
    where = [f"file, {how}" if to == "file" else start for start, to, how in
             zip(cases["from"], cases["to"], written, strict=True)]  # fmt: skip
    named = cases.assign(place=place, where=where)
    return named.loc[named.groupby(["way", "place", "where", "bytes"])["median_ns"].idxmin()]


def over_files(cases: pd.DataFrame, way: str, over: str = STREAMED) -> list[tuple[int, Interval, str]]:  # fmt: skip
    """From file to file, the time of `way` over that of `over` at each size that has both, and how
    the latter writes. Each by the way to write that is the faster for it."""
    rows, found = pick(fastest_ways(cases), **{"from": "file", "to": "file"}), []
    for bytes_, own in rows.groupby("bytes"):
        sides = [pick(own, way=each) for each in (way, over)]
        if not any(side.empty for side in sides):
            other, scan = (side.loc[side["median_ns"].idxmin()] for side in sides)
            ratio = ratio_interval(other["samples"], scan["samples"])
            found.append((int(bytes_), ratio, scan["place"]))
    return found


def size_name(bytes_: int) -> str:
    """Bytes in the largest binary unit that leaves a whole number, else with one decimal."""
    for unit, number in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if bytes_ >= number:
            whole_ = bytes_ % number == 0
            return f"{bytes_ / number:g} {unit}" if whole_ else f"{bytes_ / number:.1f} {unit}"
    return f"{bytes_} B"


def _way_look(way: str, place: str) -> style.Look:
    colour, marker = _PLACES[place]
    if way in (DUPLEX, FILES):
        return style.Look(style.GREY if way == DUPLEX else colour, "", "-")
    return style.Look(colour, marker, "-" if way == STREAMED else ":", filled=way == STREAMED)


@figure("from_memory", "from_files", "from_large_files")
def stream_scan(data: Data) -> Shown:
    """Throughput of out-of-core scans against input size, beside copies and file access alone."""
    every = larger_cases(data)
    cases = fastest_ways(every)
    cases = cases[cases["bytes"] > 0]
    if cases.empty:
        raise Lacking("scans of more than 0 bytes")
    drawn, (axes,) = style.figure(style.DOUBLE, 2.2)
    axes.set_yscale("log")
    sizes = sorted(set(cases["bytes"]))
    axes.set_xscale("log", base=2)
    axes.set_xlim(sizes[0] / 1.5, sizes[-1] * 1.5)
    axes.set_xticks(sizes, [size_name(bytes_) for bytes_ in sizes])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    ends = []
    for (way, place, where), rows in cases.groupby(["way", "place", "where"]):
        rows = rows.sort_values("bytes")
        bytes_ = rows["bytes"].to_numpy(dtype=float)
        rate, drawn_as = bytes_ / rows["median_ns"], _way_look(way, place)
        no_scan = way in (DUPLEX, FILES)
        width = 2.6 if no_scan else 1.0
        if no_scan and len(rows) == 1:
            axes.axhline(rate.iloc[0], color=drawn_as.colour, linewidth=2.6, zorder=1)
        axes.plot(bytes_, rate, linewidth=width, zorder=1 if no_scan else 2, **drawn_as.plot())
        style.error_bars(axes, bytes_, rate, bytes_ / rows["high_ns"], bytes_ / rows["low_ns"],
                         drawn_as.colour)  # fmt: skip
        label = f"{_WAYS[way]}, {where}"
        ends.append(style.End(label, drawn_as, bytes_[-1], float(rate.iloc[-1]), width))
    axes.set_xlabel("bytes of the input")
    axes.set_ylabel("throughput, GB/s each way")
    style.margin_legend(axes, ends)
    return shown(
        data, drawn,
        "Throughput of scans within a budget of device memory against input size, counting input "
        "bytes. Thick lines are the same transfers without a scan, a reference and not a bound. "
        "Naive: one synchronous loop on pageable memory. Recorded files lie in memory (tmpfs), "
        "written by pwrite or through a mapping.",
        every, details=_larger_details(every),
    )  # fmt: skip


def _larger_details(cases: pd.DataFrame) -> str:
    """Which lines have bars, and which end before others."""
    largest = fastest_ways(cases).groupby(["way", "where"])["bytes"].max()
    every, short = largest.groupby("where").size(), largest[largest < largest.max()]
    sentences = [style.bars_said(cases["count"])]
    for bytes_, own in itertools.groupby(sorted(short.items(), key=lambda i: (i[1], i[0])),
                                         key=lambda item: item[1]):  # fmt: skip
        by_where: dict[str, list[str]] = {}
        for (way, where), _ in own:
            by_where.setdefault(where, []).append(way)
        lines = "; ".join(f"all of {where}" if len(ways) == every[where] else
                          f"{' and '.join(_WAYS[way] for way in ways)}, {where}"
                          for where, ways in by_where.items())  # fmt: skip
        sentences.append(f"Timed up to {size_name(bytes_)} only: {lines}.")
    return " ".join(sentences)


# ------------------------------------------------------------------------- implicit synchronisation

_READ = ("Source: answer of the teaching material. Device: measured answer; (!) marks a difference. "
         "Yes: trials that answered yes.")  # fmt: skip


def _sync_rows(data: Data) -> pd.DataFrame:
    rows = newest(data, "implicit_sync", "experiments on implicit synchronisation")
    answered = rows["answer"].map(lambda answer: isinstance(answer, str))
    cell = [f"{a} (!)" if isinstance(a, str) and d else text(a)
            for a, d in zip(rows["answer"], rows["differs"], strict=True)]  # fmt: skip
    counted = [f"{y} of {n}" if a else ""
               for y, n, a in zip(rows["yes"], rows["trials"], answered, strict=True)]  # fmt: skip
    return rows.assign(shown=cell, counted=counted)


def text(value: Any) -> str:
    """A cell of text; a dash where there is none."""
    return value if isinstance(value, str) and value else "—"


@table("implicit_sync")
def implicit_sync(data: Data) -> Shown:
    """Implicit synchronisation: every experiment, as documented and as measured."""
    from scanlab_report.formats import citation

    rows = _sync_rows(data)
    columns = (
        Column("name", "experiment", code, right=False),
        Column("question", "question", right=False),
        Column("stated", "source says", text, right=False),
        Column("answer", "this device", text, right=False),
        Column("differs", "differs", lambda value: "yes" if value else "", right=False),
        Column("yes", "yes"), Column("trials", "of"), Column("claim", "claim", right=False),
        Column("source", "source", right=False, refers=citation),
        Column("refusal", "not tried because", text, right=False),
    )  # fmt: skip
    caption = ("Implicit synchronisation: each experiment, with the answer of its source and of "
               "this device. Yes: trials that answered yes, of all trials.")  # fmt: skip
    return shown(data, Table(caption, columns, rows), caption, rows)


def sync_calls(rows: pd.DataFrame) -> list[str]:
    """The calls of some experiments, in short: what the heading of a column says is left out."""
    calls = []
    for subject in dict.fromkeys(rows["subject"]):
        call = subject.replace("behind the kernel, ", "").removeprefix("cuda")
        call = call.replace("to the device from", "in, from").replace("to the host in", "out, to")
        calls.append(call)
    return calls


@table("implicit_sync")
def implicit_sync_calls(data: Data) -> Shown:
    """Implicit synchronisation by API calls: blocking of the host, and serialised streams."""
    rows = _sync_rows(data)
    found: dict[str, dict[str, Any]] = {}
    for row in rows[rows["asks"] != ""].itertuples():
        own = found.setdefault(row.subject, {"call": row.subject})
        for key in ("stated", "shown", "counted"):
            own[f"{row.asks}_{key}"] = getattr(row, key)
    columns = [Column("call", "call", right=False)]
    for who, group in (("host", "blocks the host"), ("streams", "serialises streams")):
        columns += [Column(f"{who}_{key}", heading, text, right=False, group=group)
                    for key, heading in (("stated", "source"), ("shown", "device"),
                                         ("counted", "yes"))]  # fmt: skip
    caption = (
        "API calls behind a running kernel: whether they block the host until the kernel ends, and "
        f"whether they serialise kernels of two streams. {_READ} Names omit the prefix cuda. Copies "
        "beside non-blocking streams are of pageable memory, 4 MiB unless stated."
    )
    made = pd.DataFrame(list(found.values()), columns=[c.key for c in columns], dtype=object)
    made["call"] = sync_calls(rows[rows["asks"] != ""])
    for who in ("host", "streams"):
        made[f"{who}_shown"] = made[f"{who}_shown"].fillna("—")
    return shown(data, Table(caption, columns, made), caption, rows)


@table("implicit_sync")
def implicit_sync_questions(data: Data) -> Shown:
    """Implicit synchronisation by launches, events, issue order and hardware work queues."""
    rows = _sync_rows(data)
    columns = (
        Column("question", "statement", right=False, wrap=40),
        Column("stated", "source", text, right=False), Column("shown", "device", right=False),
        Column("counted", "yes", text, right=False),
    )  # fmt: skip
    caption = ("Implicit synchronisation by launches, events, issue order and hardware work queues. "
               f"{_READ}")  # fmt: skip
    made = rows[rows["asks"] == ""].reset_index(drop=True)
    return shown(data, Table(caption, columns, made), caption, rows)
