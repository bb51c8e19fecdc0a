"""Weak and strong scaling of scans over several GPUs, with the bounds."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scanlab_report.derive.ranks import COPY, beside, main_kind, strong, strong_bounds, three_n
from scanlab_report.layout import style
from scanlab_report.layout.ranks import COPIES, COPY_WIDTH, IDEAL, THREE_N, WIDTH, look, ordered, ranks_axis
from scanlab_report.select.ranks_evidence import PROBLEM, RanksEvidence, SeveralGpus

CAPTION = (
    "Scaling of scans over several GPUs. Left: throughput over all GPUs at equal items per GPU. Right: speedup over `best` on one GPU at equal "
    "items in all. Thick: copies on all GPUs (2n). Dashed: reading and then copying (3n), the bound of `blocked_peer`, "
    "`reduce_exchange_scan` and `nccl_*`. `scan_exchange_add` moves 4n. Dotted: linear. `one_gpu`: `best` on one. Bars: 95% intervals."
)
NEEDS = {"timed": SeveralGpus("ranks")}
ONE_PASS, TWO_PASSES, LINEAR = "copies, 2n", "reading and copying, 3n", "linear"


def draw(timed: RanksEvidence) -> Figure:
    cases = main_kind(timed.usual())
    evidence = RanksEvidence(cases, timed.best, timed.provenance)
    left, right = weak_lines(cases), strong_lines(evidence)
    drawn, axes = style.figure(style.DOUBLE, 2.7, 1 if right.empty else 2)
    _weak(axes[0], cases, left)
    if not right.empty:
        _strong(axes[1], evidence, right)
    return drawn


def weak_lines(cases: pd.DataFrame) -> pd.DataFrame:
    """The scans of the most items per rank with which most numbers of ranks were timed."""
    rows = beside(cases)
    numbers = rows.groupby("items_per_rank")["ranks"].nunique()
    return rows[rows["items_per_rank"] == max(numbers.index, key=lambda n: (numbers[n], n))]


def strong_lines(evidence: RanksEvidence) -> pd.DataFrame:
    """The scans of the most items in all with which most numbers of ranks were timed, where ``best`` was timed with as many on one GPU."""
    rows = strong(evidence)
    rows = rows.merge(main_kind(evidence.cases)[["type", "op", "mode"]].drop_duplicates())
    numbers = rows.groupby("items")["ranks"].nunique()
    return rows if rows.empty else rows[rows["items"] == max(numbers.index, key=lambda n: (numbers[n], n))]


def _weak(axes: Axes, cases: pd.DataFrame, rows: pd.DataFrame) -> None:
    per_rank = rows["items_per_rank"].iloc[0]
    ranks_axis(axes, rows["ranks"], bool((rows["on"] == "gpus").all()))
    ends = []
    bounds = cases[(cases["algorithm"] == COPY) & (cases["items"] == cases["ranks"] * per_rank)].sort_values("ranks")
    read_and_copy = three_n(cases)
    for name, look_, times in ((ONE_PASS, COPIES, bounds["median_ns"].tolist()),
                               (TWO_PASSES, THREE_N, [read_and_copy.get(of, float("nan")) for of in bounds[PROBLEM].itertuples(index=False, name=None)])):  # fmt: skip
        rate = (bounds["bytes"] / times / 1e3).dropna() if len(bounds) else bounds["bytes"]
        if len(rate):
            width = COPY_WIDTH if look_ is COPIES else WIDTH
            axes.plot(bounds.loc[rate.index, "ranks"], rate, linewidth=width, zorder=1, **look_.plot())
            ends.append(style.End(name, look_, float(bounds["ranks"].iloc[-1]), float(rate.iloc[-1]), width))
    for name in ordered(rows["algorithm"]):
        of = rows[rows["algorithm"] == name].sort_values("ranks")
        moved, seen = of["bytes"] / 1e3, look(name)
        axes.plot(of["ranks"], moved / of["median_ns"], zorder=2, **seen.plot())
        style.error_bars(axes, of["ranks"], moved / of["median_ns"], moved / of["high_ns"], moved / of["low_ns"], seen.colour)
        ends.append(style.End(name, seen, float(of["ranks"].iloc[-1]), float((moved / of["median_ns"]).iloc[-1])))
    axes.set_ylim(bottom=0)
    axes.set_ylabel("throughput of all GPUs, TB/s")
    axes.set_title(f"{style.power_of_two(per_rank)} items per GPU")
    style.margin_legend(axes, ends)


def _strong(axes: Axes, evidence: RanksEvidence, rows: pd.DataFrame) -> None:
    items = int(rows["items"].iloc[0])
    numbers = sorted(set(rows["ranks"]))
    ranks_axis(axes, numbers, bool((rows["on"] == "gpus").all()))
    axes.plot(numbers, numbers, linewidth=WIDTH, zorder=1, **IDEAL.plot())
    ends = [style.End(LINEAR, IDEAL, float(numbers[-1]), float(numbers[-1]), WIDTH)]
    bounds = strong_bounds(evidence)
    bounds = bounds[bounds["items"] == items]
    for name, look_, column in ((ONE_PASS, COPIES, "two_n"), (TWO_PASSES, THREE_N, "three_n")):
        known = bounds[bounds[column].notna()]
        if len(known):
            width = COPY_WIDTH if look_ is COPIES else WIDTH
            axes.plot(known["ranks"], known[column], linewidth=width, zorder=1, **look_.plot())
            ends.append(style.End(name, look_, float(known["ranks"].iloc[-1]), float(known[column].iloc[-1]), width))
    for name in ordered(rows["algorithm"]):
        of = rows[rows["algorithm"] == name].sort_values("ranks")
        gain, seen = of["speedup"].tolist(), look(name)
        axes.plot(of["ranks"], [one.value for one in gain], zorder=2, **seen.plot())
        style.error_bars(axes, of["ranks"], [one.value for one in gain], [one.low for one in gain], [one.high for one in gain], seen.colour)
        ends.append(style.End(name, seen, float(of["ranks"].iloc[-1]), gain[-1].value))
    axes.set_ylim(bottom=0)
    axes.set_ylabel("speedup over best on one GPU")
    axes.set_title(f"{style.power_of_two(items)} items in all")
    style.margin_legend(axes, ends)
