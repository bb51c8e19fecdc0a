"""How scans of one array over several GPUs scale, beside copies, the vendor and bounds."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from scanlab_report import marks, style
from scanlab_report.chapters import rank_cases
from scanlab_report.chapters.hardware import stack_shares, wait_kinds, wait_rows, wait_shares
from scanlab_report.chapters.rank_cases import CHUNK, COPY, LINEAR, SCAN, STATES, WIDTH, look
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table, code, significant, size
from scanlab_report.marks import power_of_two
from scanlab_report.pick import Lacking, parts, pick
from scanlab_report.shown import Shown, figure, shown, table
from scanlab_report.tables import MEASURED, RANKS


@figure("ranks_scaling", "ranks_strong")
def ranks_scaling(data: Data) -> Shown:
    """Weak and strong scaling of scans over several GPUs, with the bounds."""
    timed = rank_cases.several(data, "ranks")
    cases = rank_cases.main_kind(rank_cases.usual(timed))
    limits, rates = rank_cases.bounds(cases), marks.rates(pick(cases, kind=SCAN), 1e3)
    speedups = marks.heights(rank_cases.strong(cases), "speedup")
    copied = {name: limits["bytes"] / limits[name] / 1e3 for name in rank_cases.BOUND_LOOKS}
    rate, speedup = "throughput of all GPUs, TB/s", "speedup over best on one GPU"
    panels = [("items_per_rank", "items per GPU", rate, rates, limits.assign(**copied))]
    panels += [("items", "items in all", speedup, speedups, rank_cases.strong_bounds(cases))]
    panels = [panel for panel in panels if len(panel[3])]
    drawn, axes = style.figure(style.DOUBLE, 2.7, len(panels))
    for panel, (column, words, height, rows, limits) in zip(axes, panels, strict=True):
        timed_with = rows.groupby(column)["ranks"].nunique()
        items = max(timed_with.index, key=lambda n: (timed_with[n], n))
        rows, limits = (pick(cut, **{column: items}) for cut in (rows, limits))
        ends = rank_cases.scans_of(panel, rows, limits, "ranks")
        numbers = sorted(set(rows["ranks"]))
        if height == speedup:
            line = pd.DataFrame({"ranks": numbers, "y": numbers})
            form: dict[str, Any] = {"linewidth": WIDTH, "zorder": 1}
            ends.append(marks.curve(panel, line, "ranks", LINEAR, "linear", **form))
        marks.ticks_at(panel, numbers)
        panel.set(xlim=(numbers[0] - 0.2, numbers[-1] + 0.2), ylim=(0, None), ylabel=height)
        panel.set(xlabel="GPUs", title=f"{power_of_two(items)} {words}")
        style.margin_legend(panel, ends)
    caption = (
        "Scaling of scans over several GPUs, with copies on all GPUs (2n) and with reading and "
        "then copying (3n), the bound of algorithms that read twice. Bars: 95% intervals."
    )
    return shown(data, drawn, caption, timed)


@table("ranks_scaling", "ranks_types")
def several_gpus(data: Data) -> Shown:
    """Scans of one array over several GPUs."""
    timed = rank_cases.several(data)
    rows = rank_cases.compared(rank_cases.usual(timed))
    ratios = {name: parts(rows[name])["ratio"] for name in ("of_copy", "of_vendor")}
    rows = rows.assign(time_us=rows["median_ns"] / 1e3, **ratios)
    digits = lambda value: significant(value, 4)
    columns = (
        Column("algorithm", "algorithm", code, right=False),
        Column("type", "type", right=False),
        Column("op", "operator", right=False),
        Column("ranks", "ranks"),
        Column("items", "n", size),
        Column("time_us", "µs", digits),
        Column("gb_per_s", "GB/s", digits),
        Column("of_copy", "share of copies", significant),
        Column("of_vendor", "speedup", significant),
    )
    caption = (
        "Scans of one array over several ranks: median time of the slowest rank, warm, in a "
        "stream. GB/s counts one read and one write per item. Share of copies: "
        f"`{COPY}`. Speedup: over `{rank_cases.VENDOR}`. A dash: not timed."
    )
    return shown(data, Table(caption, columns, rows), caption, timed)


@figure("ranks_chunk")
def ranks_chunk(data: Data) -> Shown:
    """Throughput of scans over several GPUs against the size of the chunks that are dealt out."""
    timed = rank_cases.several(data, CHUNK)
    cases = rank_cases.main_kind(timed)
    cases = pick(cases, ranks=cases["ranks"].max())
    rows, gpus = marks.rates(rank_cases.varied(cases, CHUNK), 1e3), cases["ranks"].max()
    sizes = sorted(set(rows["items"]))
    sizes = sorted({sizes[0], sizes[len(sizes) // 2], sizes[-1]})
    drawn, axes = style.figure(style.DOUBLE, 2.3, len(sizes))
    for panel, items in zip(axes, sizes, strict=True):
        own = pick(rows, items=items)
        for rate in marks.rates(pick(cases, algorithm=COPY, items=items), 1e3)["y"]:
            marks.level(panel, rate, look(COPY), "copies, 2n", rank_cases.COPY_WIDTH)
        _by_tells(panel, own, CHUNK, "{}, GPUs tell of {}s")
        title = f"{power_of_two(items / gpus)} items per GPU, {gpus} GPUs"
        panel.set(ylim=(0, 1.06 * panel.dataLim.y1), xlabel="tiles per chunk", title=title)
    axes[0].set_ylabel("throughput of all GPUs, TB/s")
    style.legend(drawn, axes[0], columns=4)
    caption = (
        "Throughput of a scan over several GPUs against the size of the chunks that are dealt out. "
        "GPUs tell each other the aggregate of each tile, or of each chunk. Bars: 95% intervals."
    )
    return shown(data, drawn, caption, timed)


def _by_tells(panel: Axes, rows: pd.DataFrame, x: str, label: str) -> None:
    """A line for each algorithm and what GPUs tell each other, over a setting."""
    for (name, tells), line in rows.groupby(["algorithm", "tells"]):
        marks.curve(panel, line, x, look(name, tells), label.format(name, tells))
    marks.ticks_at(panel, rows[x], base=2)


def folds(cases: pd.DataFrame) -> pd.DataFrame:
    """Return the scans that were timed with several states per aggregate. `as_ranks` is the number
    of ranks with as many states."""
    rows = rank_cases.varied(rank_cases.compared(cases), STATES)
    return rows.assign(as_ranks=rows["ranks"] * rows[STATES])


@figure("ranks_fold")
def ranks_fold(data: Data) -> Shown:
    """Share of copies of a scan over several GPUs that folds aggregates as if of more GPUs."""
    timed = rank_cases.several(data, STATES)
    rows = folds(rank_cases.main_kind(timed))
    rows = pick(rows, ranks=rows["ranks"].max(), items=rows["items"].max())
    drawn, (axes,) = style.figure(style.COLUMN, 1.4)
    _by_tells(axes, marks.heights(rows, "of_copy"), "as_ranks", "GPUs tell of {1}s")
    marks.level(axes, 1.0, LINEAR)
    items, gpus = rows[["items_per_rank", "ranks"]].iloc[0].astype(int)
    axes.set(xlabel="GPUs whose aggregates are folded", ylabel="share of copies", ylim=(0, 1.06))
    axes.set_title(f"{power_of_two(items)} items per GPU, {gpus} GPUs")
    axes.legend(loc="lower left")
    caption = (
        "Share of copies that `peer_look_ahead` reaches when it folds as many aggregates as more "
        "GPUs have: right of the leftmost points, one or three zeros follow each aggregate. The "
        "points show the cost of the fold alone, not that of more links. Bars: 95% intervals."
    )
    return shown(data, drawn, caption, timed)


_COLOURS = {
    "kernels": style.VERMILLION,
    "NCCL kernels": style.BLUE,
    "copies": style.SKY,
    "memsets": style.GREY,
}
_LEAST, _LETTER = 0.004, 0.0145
"""Width of a bar at least, and that of a letter in one, as parts of the axis."""


@figure("ranks_trace")
def ranks_timeline(data: Data) -> Shown:
    """Timelines of scans over several GPUs: what each GPU did in one run."""
    spans = rank_spans(data)
    rows = rank_cases.main_kind(spans)
    algorithms, sizes = rank_cases.ordered(rows["algorithm"]), sorted(set(rows["items"]))
    sizes = sorted({sizes[0], sizes[-1]})
    ranks, across, down = int(rows["ranks"].max()), len(sizes), len(algorithms)
    height = 0.5 + down * (0.42 + 0.13 * ranks)
    drawn, axes = style.figure(style.DOUBLE, height, across, down, sharex="col", sharey=True)
    for column, items in enumerate(sizes):
        runs = {name: median_run(own) for name, own in pick(rows, items=items).groupby("algorithm")}
        longest = max(own["end_us"].max() for own in runs.values())
        for panel, algorithm in zip(axes[column::across], algorithms, strict=True):
            run = runs.get(algorithm, rows[:0])
            panel.set_xlim(0, 1.02 * longest)
            _bars(panel, run)
            marks.rows_of_names(panel, [f"GPU {rank}" for rank in range(ranks)], space=0.5)
            panel.tick_params(axis="y", length=0)
            took = f"{power_of_two(items / ranks)} items per GPU: {run['end_us'].max():.1f} µs"
            panel.set_title(f"{algorithm}, {took}", pad=2)
        panel.set_xlabel("time, µs")
    kinds = [kind for kind in _COLOURS if (rows["coloured"] == kind).any()]
    style.legend(drawn, [Patch(color=_COLOURS[kind], label=kind) for kind in kinds])
    caption = (
        "Kernels and copies of each GPU in one run of a scan over several GPUs, by CUPTI. Titles "
        "give the time from the first start on any GPU to the last end, in the run of median "
        "length. Clocks of two GPUs agree to within microseconds. There are no error bars."
    )
    return shown(data, drawn, caption, spans)


def rank_spans(data: Data) -> pd.DataFrame:
    """Return the activities of each GPU, from the newest file, measured now if there is one, of
    most GPUs. `coloured`: the kind that sets the colour; `count`: how often the case ran."""
    spans, files = data["rank_spans"], data.files
    if spans.empty:
        raise Lacking("timelines of scans over several GPUs")
    most = spans.groupby("file")["ranks"].max()
    fits = lambda n: (files[n].origin == MEASURED, most[n], files[n].date)
    rows = pick(spans, file=max(most.index, key=fits))
    kinds = rows["kind"].map({"kernel": "kernels", "copy": "copies", "memset": "memsets"})
    kinds = kinds.mask(rows["name"].str.startswith("nccl"), "NCCL kernels")
    return rows.assign(coloured=kinds, count=rows.groupby(RANKS)["run"].transform("nunique"))


def median_run(rows: pd.DataFrame) -> pd.DataFrame:
    """Among the runs of a case the one of median length, the shorter of two."""
    case = pick(rows, settings=rows["settings"].iloc[0])
    lengths = case.groupby("run")["end_us"].max().sort_values(kind="stable")
    return pick(case, run=lengths.index[(len(lengths) - 1) // 2])


def _bars(panel: Axes, rows: pd.DataFrame) -> None:
    """A bar for each activity, with its name where there is room."""
    whole = panel.get_xlim()[1]
    edge = {"edgecolor": "white", "linewidth": 0.3, "zorder": 2}
    white = {"fontsize": 5.5, "color": "white", "zorder": 3, "parse_math": False}
    for row in rows.itertuples():
        width, place = row.end_us - row.start_us, (row.rank - 0.38, 0.76)
        bar = (row.start_us, max(width, _LEAST * whole))
        panel.broken_barh([bar], place, facecolor=_COLOURS[row.coloured], **edge)
        if row.name and width > (len(row.name) + 1) * _LETTER * whole:
            at = (row.start_us + width / 2, row.rank, row.name)
            panel.text(*at, ha="center", va="center_baseline", **white)


@figure("ranks_cycles")
def ranks_waits(data: Data) -> Shown:
    """Stall cycles of each warp role on each of several GPUs by cause."""
    waits = wait_rows(data, several=True)
    for column in ("ranks", "items"):
        waits = pick(waits, **{column: waits[column].max()})
    rows = wait_shares(waits)
    for column in ("variant", "type"):
        rows = pick(rows, **{column: rows[column].iloc[0]})
    roles, ranks = list(dict.fromkeys(rows["role"])), sorted(set(rows["rank"]))
    drawn, axes = style.figure(style.DOUBLE, 0.85 + 0.17 * len(ranks), len(roles), sharey=True)
    for panel, role in zip(axes, roles, strict=True):
        own = pick(rows, role=role).sort_values("rank")
        stack_shares(panel, own["rank"].astype(float), own, wait_kinds(rows))
        panel.set_yticks(ranks, [f"GPU {rank:g}" for rank in ranks])
        panel.set_title(role)
        panel.xaxis.set_major_formatter("{x:g}")
    variant, items = rows[["variant", "items"]].iloc[0]
    whole = f"{variant}, {power_of_two(items)} items in all"
    axes[len(roles) // 2].set_xlabel(f"share of cycles, {whole}")
    style.legend(drawn, axes[0], columns=6, columnspacing=0.8, handlelength=1.4)
    caption = (
        "Stall cycles of each warp role on each GPU, as shares of all cycles of the role there, "
        "over one run of the largest array. The role tell stores aggregates on the other GPUs, and "
        "prefix includes waits for other GPUs. There are no error bars."
    )
    return shown(data, drawn, caption, waits)
