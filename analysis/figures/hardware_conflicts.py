"""Shared-memory transactions: counted by the executor, and by the hardware."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from analysis import style
from analysis.evidence import CounterEvidence, Counters, same_case
from analysis.results import Explanation

WIDTH = "column"
CAPTION = (
    "Shared-memory transactions of one scan: hollow, as the CPU executor counts them for 32 banks a warp; filled, the "
    "load and store wavefronts that the hardware counted (ncu). To the right, hardware over executor. Both are "
    "counts of one run, so there are no bars."
)
NEEDS = {"counters": Counters()}
MOST_ROWS = 16


def draw(counters: CounterEvidence) -> Figure:
    rows = compared(counters)
    drawn, (axes,) = style.figure(style.COLUMN, 0.75 + 0.24 * len(rows))
    for height, row in enumerate(rows.iloc[::-1].itertuples()):
        look = style.look(row.variant)
        axes.plot([row.executor, row.hardware], [height, height], color=style.GREY, linewidth=0.8, zorder=1)
        axes.plot(row.executor, height, linestyle="none", marker="o", markersize=6.5, markerfacecolor="white",
                  markeredgecolor=look.colour, markeredgewidth=1.1, zorder=2)  # fmt: skip
        axes.plot(row.hardware, height, linestyle="none", marker="o", markersize=2.8, color=style.BLACK, zorder=3)
        axes.text(1.01, height, f"× {row.ratio:.2f}", transform=axes.get_yaxis_transform(), va="center_baseline", fontsize=7.5)
    axes.set_xscale("log")
    style.count_axis(axes.xaxis)
    axes.set_yticks(range(len(rows)), [_name(row) for row in rows.iloc[::-1].itertuples()])
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_xlabel("transactions (ring: executor, dot: hardware)")
    axes.grid(axis="y", visible=False)
    return drawn


def _name(row) -> str:
    padding = "" if row.padding == "none" else f", {row.padding.replace('_', ' ')}"
    return f"{row.base}{padding}, {style.power_of_two(row.items)}"


def compared(counters: CounterEvidence) -> pd.DataFrame:
    """One row a case counted by both: ``executor`` and ``hardware`` transactions, summed over launches, and ``ratio``."""
    rows = []
    for explanation in sorted(counters.explanations, key=_usual, reverse=True):
        launches = counters.counters[same_case(explanation, counters.counters)]
        hardware = float(launches["shared_load_wavefronts"].sum() + launches["shared_store_wavefronts"].sum())
        executor = float(explanation.totals["banks32"]["transactions"])
        if executor > 0 and hardware > 0:
            rows.append({
                "variant": explanation.variant, "base": explanation.base, "padding": explanation.padding,
                "type": explanation.type, "items": explanation.items, "executor": executor, "hardware": hardware,
                "conflicts_executor": executor - requests(explanation),
                "conflicts_hardware": float(
                    launches["shared_load_conflicts"].sum() + launches["shared_store_conflicts"].sum()
                ),
                "ratio": hardware / executor,
            })  # fmt: skip
    table = pd.DataFrame(rows).drop_duplicates(["variant", "padding", "type", "items"])
    table = table.sort_values(["type", "items", "base", "padding"], key=_order, kind="stable")
    return table[table["type"] == table["type"].iloc[0]].head(MOST_ROWS)


def _usual(explanation: Explanation) -> tuple[bool, bool]:
    """Orders the case that a run without further settings would be before others that counters cannot tell from it."""
    return (explanation.load in ("", "halves"), explanation.mode == "inclusive")


def requests(explanation: Explanation) -> float:
    """Shared-memory requests of whole warps (an item wider than a bank is served in several)."""
    return float(explanation.totals["banks32"].get("groups", explanation.totals["shared_requests"]))


def _order(column: pd.Series) -> pd.Series:
    return column.map({"i32": "0", "none": "0", "one_in_16": "1", "two_level_16": "2", "row": "3", "two_level": "4"}).fillna(column.astype(str)) \
        if column.name in ("type", "padding") else column  # fmt: skip
