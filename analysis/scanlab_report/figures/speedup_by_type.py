"""Speedup of best over the fastest CUB scan, by type: above the grey line best is faster."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from scanlab_report.derive.head_to_head import TYPES, in_columns
from scanlab_report.layout import style
from scanlab_report.select.evidence import AllTimingEvidence, Key, powers_of_two
from scanlab_report.select.timings import AllTimings
from scanlab_report.select.variants import COPIES, CUBS

COLUMNS = {
    ("cold", "stream"): style.Look(style.BLUE, "s", "-"),
    ("warm", "stream"): style.Look(style.VERMILLION, "o", "--", filled=False),
    ("warm", "graph"): style.Look(style.GREEN, "^", ":"),
}
CAPTION = (
    "Speedup of `{variant}` over the fastest CUB scan against array size, inclusive sums, one panel per type. Above 1, "
    "`{variant}` is faster. The thick line is the speedup of the fastest copy of the same bytes, the reference of the cold "
    "times. Bars: 95% intervals."
)
NEEDS = {"timings": AllTimings(against=(CUBS,), op="plus", mode="inclusive")}
FOLLOWS = ("variants", "type")


def lacks(timings: AllTimingEvidence) -> str:
    return f"such timings {' or '.join(f'{cache} by {launch}' for cache, launch in COLUMNS)}" if _comparisons(timings).empty else ""


def _comparisons(timings: AllTimingEvidence) -> pd.DataFrame:
    comparisons = timings.comparisons
    return comparisons[in_columns(comparisons, COLUMNS) & (comparisons["op"] == "plus") & (comparisons["mode"] == "inclusive") & (comparisons["items"] > 0)]


def draw(timings: AllTimingEvidence) -> Figure:
    comparisons = _comparisons(timings)
    at_powers = comparisons[powers_of_two(comparisons["items"])]
    comparisons = comparisons if at_powers.empty else at_powers
    types = [kind for kind in TYPES if kind in set(comparisons["type"])]
    columns = min(4, len(types))
    width, height = (style.DOUBLE, 1.6 * -(-len(types) // columns)) if columns > 1 else (style.COLUMN, 2.4)
    drawn, axes = style.figure(width, height, columns, -(-len(types) // columns), sharey=True)
    timed = {column: look for column, look in COLUMNS.items() if ((comparisons["cache"] == column[0]) & (comparisons["launch"] == column[1])).any()}
    bounds: list[pd.Series] = []
    for panel, kind in zip(axes, types, strict=False):
        rows = comparisons[comparisons["type"] == kind]
        for (cache, launch), look in timed.items():
            of = rows[(rows["cache"] == cache) & (rows["launch"] == launch)].sort_values("items")
            panel.plot(of["items"], of["ratio"], label=f"{cache}, {launch}", **look.plot())
            style.error_bars(panel, of["items"], of["ratio"], of["low"], of["high"], look.colour)
        bounds.append(bound := _bound(timings, rows))
        panel.plot(bound.index, bound, color=style.GREY, linewidth=2.2, alpha=0.6, zorder=1, label="device copy, cold, stream")
        panel.axhline(1, color=style.BLACK, linewidth=0.8)
        style.items_axis(panel, rows["items"] if len(rows) else [1, 2])
        panel.set_title(kind)
    for panel in axes[len(types) :]:
        panel.set_axis_off()
    _ratio_axis(axes[0], pd.concat([comparisons["ratio"], comparisons["high"].dropna(), *bounds]))
    for panel in axes[: len(types) : columns]:
        panel.set_ylabel("speedup over CUB")
    rest = axes[len(types)] if len(axes) > len(types) else None
    handles = axes[0].get_legend_handles_labels()
    if rest is not None:
        rest.legend(*handles, loc="center", borderpad=0)
    else:
        drawn.legend(*handles, loc="outside upper right", ncols=len(COLUMNS) if columns > 1 else 2, borderpad=0)
    return drawn


def _bound(timings: AllTimingEvidence, comparisons: pd.DataFrame) -> pd.Series:
    """By size, the time of the fastest CUB over that of the fastest copy, cold and in a stream, where a copy was timed beside."""
    found = {}
    for row in comparisons[(comparisons["cache"] == "cold") & (comparisons["launch"] == "stream")].sort_values("items").itertuples():
        key = Key(*(getattr(row, name) for name in Key._fields))
        copies = [match for copy in timings.about.ids(COPIES) if (match := timings.match(key, copy, (row.rival,)))]
        if copies:
            found[row.items] = max(match.ratio.value for match in copies)
    return pd.Series(found, dtype=float)


def _ratio_axis(panel, ratios: pd.Series) -> None:
    """Logarithmic, shared by all panels: twice as fast is as far from 1 as half as fast."""
    panel.set_yscale("log", base=2)
    low, high = min(0.9, float(ratios.min())), max(2.0, float(ratios.max()))
    panel.set_ylim(0.96 * low, 1.1 * high)
    panel.yaxis.set_major_locator(FixedLocator([0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8]))
    panel.yaxis.set_minor_locator(NullLocator())
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
