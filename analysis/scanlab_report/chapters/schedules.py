"""When copies and kernels overlap: schedules against their bounds."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from scanlab_report import marks, style
from scanlab_report.data import Data
from scanlab_report.formats import Table, alike, code, digits, size, whole, with_interval
from scanlab_report.intervals import Interval, summarise
from scanlab_report.looks import form
from scanlab_report.pick import Lacking, answering, newest_first, pick
from scanlab_report.shown import Shown, figure, shown, table
from scanlab_report.style import End, Look
from scanlab_report.tables import SCHEDULE
from scanlab_report.versus import or_lacking, ratios

SERIAL, MAIN_WORKLOAD = "serial_pinned", "scale"
PROBLEM = ["workload", "items", "work", "blocks"]
"""Schedules that agree in these columns solve the same problem and are compared."""
SIDE = (
    "The schedules `null_stream_nonblocking`, `null_stream_trap` and `per_thread_default` add an "
    "equal side kernel per chunk"
)
WORK = "Work: multiplications per item, or rounds of `feistel`."
PIPELINE, SERIAL_SUM, WERKHOVEN = "pipeline estimate", "serial sum", "Van Werkhoven"
BOUNDS = {SERIAL_SUM: "serial_sum", PIPELINE: "bound", WERKHOVEN: "werkhoven"}
"""The column of each bound, in seconds."""
PARTS = {"copy_in": "h2d", "copy_out": "d2h", "duplex_in": "duplex_h2d", "duplex_out": "duplex_d2h"}
"""The copies in and out in seconds, and what was timed: one direction alone, both at once."""


def bounds(rows: pd.DataFrame) -> pd.DataFrame:
    """Add the bounds of rows of parts: `chunks`, the columns of PARTS, `kernels` over all chunks,
    and `side` of kernels that wait for no copy. NaN if a part was not timed.

    `werkhoven` is the bound of Van Werkhoven et al. (2014) for two copy engines and n chunks.
    `bound` is the least time if copies slow each other down while both directions run: the longer
    they do, the sooner the bus is done and the later each copy is.
    """
    n, into, out, kernels = (rows[name] for name in ("chunks", "copy_in", "copy_out", "kernels"))
    largest = lambda *times: pd.concat(times, axis=1).max(axis=1, skipna=False)
    longest, beside = largest(into, kernels, out), kernels + rows["side"]
    share_in, share_out = (
        np.minimum(1.0, rows[f"copy_{way}"] / rows[f"duplex_{way}"]) for way in ("in", "out")
    )
    fill_in, fill_out = (kernels + out) / n, (kernels + into) / n
    gain = share_in + share_out - 1  # of the bus, per second in which both run
    ends = np.minimum((out - fill_in) / share_out, (into - fill_out) / share_in)
    both = np.maximum(0.0, ends).where(gain > 0, 0.0)
    copies = into + (1 - share_in) * both + fill_in, out + (1 - share_out) * both + fill_out
    bus, kernel = into + out - gain * both, kernels + (into + out) / n
    return rows.assign(
        serial_sum=into + kernels + out + rows["side"],
        werkhoven=largest(longest + (into + kernels + out - longest) / n, beside),
        bound=largest(*copies, bus, kernel, beside),
        compute_to_copy=kernels / np.maximum(into, out),
    )


def schedules_of(data: Data) -> pd.DataFrame:
    """The cases of schedules with `bounds` by the same file, and the `place` of the schedule."""
    lacking = "timings of several schedules"

    def make() -> pd.DataFrame:
        files = newest_first(data, "schedule")
        every = pick(data["schedule"], file=files)
        rows = answering(data, every, "schedule", [*SCHEDULE, "entry"])
        rows = or_lacking(pick(rows, entry="schedule", control=0), lacking)
        case = ["file", *SCHEDULE, "inputs", "bytes", "side_kernels", "own_streams"]
        device = rows.groupby(case)["device_ns"].median().reset_index()
        cases = summarise(rows, case).drop(columns="device_ns").merge(device, how="left")
        named = [data.files[n].context.get("schedules", {}).items() for n in files]
        known = [id_ for own in named for id_, about in own if not about["control"]]
        order = list(dict.fromkeys([*known, *cases["id"]]))
        copied = pick(every, entry="copy").groupby(["file", "id", "memory", "bytes"])["ns"].median()
        copied = copied.reset_index("bytes")
        copies = {key: own.to_numpy().T for key, own in copied.groupby(level=[0, 1, 2])}
        kernels = pick(every, entry="kernel").groupby(["file", *PROBLEM])["ns"].median().to_dict()
        parts = [_parts(row, copies, kernels) for row in cases.itertuples()]
        return bounds(cases.join(pd.DataFrame(parts)).assign(place=cases["id"].map(order.index)))

    cases = data.once("schedules", make)
    or_lacking(problems(cases), lacking)
    return cases


def array_bytes(case: Any) -> int:
    """Bytes of each of a case's arrays."""
    return int(case.bytes) // (int(case.inputs) + 1)


def _parts(case: Any, copies: dict[Any, Any], kernels: dict[Any, float]) -> dict[str, float]:
    """The seconds of each part of a case: of the copy nearest in size to one array, and of the
    kernel over the whole array. Without it, a kernel over one chunk counts for every chunk."""
    array, made = case.bytes / (case.inputs + 1), dict.fromkeys((*PARTS, "kernels"), math.nan)
    for name, way in PARTS.items():
        if (case.file, way, case.memory) in copies:
            sizes, times = copies[case.file, way, case.memory]
            nearest = np.abs(np.log(sizes / array)).argmin()
            rate = sizes[nearest] / times[nearest] * 1e9
            made[name] = (case.inputs if name.endswith("in") else 1) * array / rate
    for items in (-(-case.items // case.chunks), case.items):
        if ns := kernels.get((case.file, case.workload, items, case.work, case.blocks)):
            made["kernels"] = ns * 1e-9 * case.items / items
    return made | {"side": made["kernels"] if case.side_kernels else 0.0}


def problems(cases: pd.DataFrame) -> pd.DataFrame:
    """One row per problem in which several schedules were timed: `scale` first, then most items."""
    rows = cases.groupby(PROBLEM).agg(cases=("id", "size"), ids=("id", "nunique")).reset_index()
    rows = rows.assign(main=rows["workload"] == MAIN_WORKLOAD)[rows["ids"] > 1]
    return rows.sort_values(["main", "items", "cases"], ascending=False, ignore_index=True)


def panels(cases: pd.DataFrame, over: str) -> list[pd.DataFrame]:
    """Return the cases of the first problem in pinned memory for the least work, for kernels that
    take about as long as a copy, and for the most work. `over` varies: chunks or streams."""
    first = problems(cases)[["workload", "items", "blocks"]].iloc[0]
    rows = pick(cases, memory="pinned", **first)
    fixed = {"chunks": "streams", "streams": "chunks"}[over]
    values = rows.groupby([fixed, "work"])[over].nunique().unstack(fill_value=0)
    if values.empty or values.max(axis=None) < 2:
        raise Lacking(f"timings of several schedules over several {over}")
    number = rows.groupby(fixed).size()
    varied = {v: ((own > 1).sum(), own.sum(), number[v], v) for v, own in values.iterrows()}
    works = pick(rows, **{fixed: max(varied, key=varied.__getitem__)}).groupby("work")
    parts = [own for _, own in works if own[over].nunique() > 1]
    return [parts[0], *sorted(parts[1:-1], key=from_even)[:1], parts[-1]][: len(parts)]


def from_even(panel: pd.DataFrame) -> float:
    """Return how far the kernels are from taking as long as a copy; infinite if unknown."""
    even = panel["compute_to_copy"].median()
    return abs(math.log(even)) if even > 0 else math.inf


def over_bound(case: Any) -> Interval:
    """Return the time of a schedule over the estimate of its pipeline."""
    ends = (time / (1e9 * case.bound) for time in (case.median_ns, case.low_ns, case.high_ns))
    return Interval(*[*ends, case.count])


def best_schedule(cases: pd.DataFrame, workload: str) -> Any:
    """The fastest case of a workload at its largest size, pinned, with the least work; or None."""
    rows = pick(cases, workload=workload, memory="pinned", side_kernels=0)
    rows = rows.assign(most=-rows["items"])[rows["bound"].notna()]
    return next(rows.sort_values(["most", "work", "median_ns"], kind="stable").itertuples(), None)


def one_each(panel: pd.DataFrame, over: str) -> pd.DataFrame:
    """Return one case per number of chunks or streams, preferably without side kernels."""
    return panel.sort_values([over, "side_kernels"]).drop_duplicates(over)


def speedups(panel: pd.DataFrame, of_serial: bool = False) -> pd.DataFrame:
    """The schedules with their `speedup` over the serial one at its fastest."""
    serial = pick(panel, id=SERIAL)
    rows = panel[((panel["id"] != SERIAL) | of_serial) & (panel["side_kernels"] == 0)]
    if serial.empty:
        return rows[:0].assign(speedup=None)
    base = serial.loc[serial["median_ns"].idxmin(), "samples"]
    return rows.assign(speedup=ratios([base] * len(rows), rows["samples"]))


def ratio_title(panel: pd.DataFrame) -> str:
    ratio = panel["compute_to_copy"].median()
    return f"compute : copy {ratio:.2g}" if ratio > 0 else f"work {panel['work'].iloc[0]}"


# ------------------------------------------------------------------------------------ the figures

_COLOURS = [style.BLUE, style.ORANGE, style.GREEN, style.PURPLE, style.VERMILLION, style.SKY]
_COLOURS += [style.WINE, style.BLACK, style.GREY]
THIRDS = "equal thirds"
BOUND_LOOKS = {
    SERIAL_SUM: Look(style.GREY, "", ":"),
    PIPELINE: Look(style.BLACK, "", "-"),
    WERKHOVEN: Look(style.GREY, "", "--"),
    THIRDS: Look(style.GREY, "", ":"),
}
NEAR = (0.9, 1.3)
"""The lower row shows times between these multiples of the estimate."""


def schedule_look(place: int) -> Look:
    """The look of the schedule at a place in the order of the context."""
    return form(place, _COLOURS[place % len(_COLOURS)])


@figure("schedules")
def schedules(data: Data) -> Shown:
    """Time of each schedule against the number of chunks, by the ratio of kernel to copy time,
    beside estimates from parts timed alone."""
    return _against(data, "chunks", "streams")


@figure("schedules")
def schedules_streams(data: Data) -> Shown:
    """Time of each schedule against the number of streams."""
    return _against(data, "streams", "chunks")


def _against(data: Data, over: str, fixed: str) -> Shown:
    """Draw the times of each panel, and below it those near the estimate as its multiples."""
    cases = schedules_of(data)
    parts = panels(cases, over)
    drawn, axes = style.figure(style.DOUBLE, 4.6, len(parts), 2, sharey="row")
    ends: list[list[End | None]] = []
    for axis, below, panel in zip(axes, axes[len(parts) :], parts, strict=False):
        axis.set_yscale("log")
        _number_axis(axis, panel, over)
        axis.set(xlabel="")
        marks.factor_axis(axis.yaxis, 1, 1.5, 2, 2.5, 3, 4, 5, 7)
        first = one_each(panel, over)
        lines = {name: first.assign(y=1e3 * first[own]) for name, own in BOUNDS.items()}
        ends.append(_lines(axis, lines, marks.times(panel, 1e6), over))
        _number_axis(below, panel, over)
        below.set(title="", ylim=NEAR)
        marks.level(below, 1, BOUND_LOOKS[PIPELINE], width=2.0)
        near = marks.times(panel, 1e9 * panel["bound"])
        _lines(below, {}, near[near.groupby("id")["y"].transform("min") <= NEAR[1]], over)
    axes[0].set_ylabel("time, ms")
    axes[len(parts)].set_ylabel("time / pipeline estimate")
    _name_once(axes[len(parts) - 1], ends)
    details = f"The number of {fixed} is {parts[0][fixed].iloc[0]}."
    caption = (
        f"Makespan of each schedule against the number of {over}, in pinned memory, with estimates "
        "from parts timed alone; below, over the pipeline estimate, which concurrent kernels can "
        f"beat. {SIDE}; only the lower estimates include it. Bars: 95% intervals."
    )
    return shown(data, drawn, caption, cases, details=details)


def _lines(
    axis: Axes, estimates: dict[str, pd.DataFrame], rows: pd.DataFrame, over: str
) -> list[End | None]:
    """A line per bound that is known and one per schedule, and their ends."""
    ends = [
        marks.curve(axis, line, over, BOUND_LOOKS[name], name, linewidth=1.4, zorder=1)
        for name, line in estimates.items()
        if np.isfinite(line["y"]).all()
    ]
    for id_, own in rows.sort_values(over).groupby("id"):
        ends.append(marks.curve(axis, own, over, schedule_look(own["place"].iloc[0]), str(id_)))
    return ends


def _name_once(axis: Axes, ends: list[list[End | None]]) -> None:
    """Name the lines of all panels at the right of the last one; its own lines have leaders."""
    left = axis.get_xlim()[0]
    named = {end.label: replace(end, x=left) for panel in ends for end in panel if end}
    style.margin_legend(axis, (named | {end.label: end for end in ends[-1] if end}).values())


def _number_axis(axis: Axes, panel: pd.DataFrame, over: str) -> None:
    """A logarithmic axis of chunks or streams, with plain numbers at those that were timed."""
    numbers = sorted(set(panel[over]))
    marks.ticks_at(axis, numbers[:: -(-len(numbers) // 8) * -1], base=2)
    axis.set_xlim(numbers[0] / 1.3, numbers[-1] * 1.3)
    first = panel.iloc[0]
    axis.set_xlabel(f"{over}; {first['workload']}, {marks.power_of_two(first['items'])} items")
    axis.set_title(ratio_title(panel))


@figure("schedules")
def schedules_speedup(data: Data) -> Shown:
    """Speedup of each schedule over serial execution against the number of chunks, by the ratio of
    kernel to copy time."""
    cases = schedules_of(data)
    parts = [panel for panel in panels(cases, "chunks") if len(speedups(panel))]
    or_lacking(parts, f"timings of schedules beside {SERIAL}")
    even = min(parts, key=from_even)
    drawn, axes = style.figure(style.DOUBLE, 3.1, len(parts), sharey=True)
    ends: list[list[End | None]] = []
    for axis, panel in zip(axes, parts, strict=True):
        _number_axis(axis, panel, "chunks")
        rows, lines = one_each(panel, "chunks"), {}
        if panel is even:
            n = np.geomspace(max(1.0, axis.get_xlim()[0]), axis.get_xlim()[1], 60)
            lines[THIRDS] = pd.DataFrame({"chunks": n, "y": 3 * n / (n + 2)})
        for name in (WERKHOVEN, PIPELINE):
            lines[name] = rows.assign(y=rows["serial_sum"] / rows[BOUNDS[name]])
        ends.append(_lines(axis, lines, marks.heights(speedups(panel), "speedup"), "chunks"))
    axes[0].set_ylim(bottom=0.8)
    axes[0].set_ylabel(f"speedup over {SERIAL}")
    _name_once(axes[-1], ends)
    caption = (
        f"Speedup over `{SERIAL}` at its fastest against the number of chunks n, in pinned memory. "
        "Dashed and solid: estimates of parts timed alone, without and with both copy directions "
        "at once; dotted: 3n/(n + 2), the limit of equal thirds. Bars: 95% intervals."
    )
    return shown(data, drawn, caption, cases)


@table("schedules", name="schedules")
def schedules_table(data: Data) -> Shown:
    """Every schedule at its fastest: makespan, over its estimate, and against the serial one."""
    problem, cases = ["workload", "items", "work"], schedules_of(data)
    rows = cases.loc[cases.groupby([*problem, "id"])["median_ns"].idxmin()]
    rows = rows.assign(other=rows["workload"] != MAIN_WORKLOAD)
    order = {"other": True, "workload": True, "items": False, "work": True, "median_ns": True}
    rows = rows.sort_values([*order], ascending=[*order.values()], ignore_index=True)
    gains = pd.concat(speedups(own, of_serial=True) for _, own in rows.groupby(problem))
    gains = gains["speedup"].reindex(rows.index)
    ratios = pick(cases, memory="pinned").groupby(problem)["compute_to_copy"].median()
    over = pd.Series([over_bound(case) for case in rows.itertuples()], dtype=object)
    rows = rows.drop(columns="compute_to_copy").join(ratios, on=problem)
    rows = rows.assign(
        streams=rows["streams"].astype("Int64").mask(rows["own_streams"] == 1),
        median_ms=rows["median_ns"] / 1e6,
        events_ms=rows["device_ns"] / 1e6,
        of_bound=over.where(rows["bound"] > 0, None),
        speedup=gains,
    )
    columns = [*alike(str, "workload"), *alike(size, "items"), *alike(whole, "work")]
    columns += alike(digits(2), compute_to_copy="ratio") + alike(code, id="schedule")
    columns += alike(whole, "chunks", "streams") + alike(str, "memory")
    columns += alike(digits(4), median_ms="ms", events_ms="by events")
    columns += alike(with_interval, of_bound="/ estimate", speedup="speedup")
    caption = (
        "Schedules at their fastest number of chunks and streams: makespan by the host's clock and "
        f"by events, over the pipeline estimate, and speedup over `{SERIAL}`, with 95% intervals "
        f"in brackets. {WORK} Ratio: compute to copy. {SIDE}; they have no speedup."
    )
    same = rows[["workload", "items"]] == rows[["workload", "items"]].iloc[0]
    printed = min(int(same.all(axis=1).sum()), 48)
    return shown(data, Table(caption, columns, rows, printed=printed), caption, cases)
