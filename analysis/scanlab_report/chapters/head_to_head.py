"""Scanlab's fastest scans beside the vendor's, case by case."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from scanlab_report import marks, style
from scanlab_report.console import count
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table, code, significant, size, whole, with_interval
from scanlab_report.groups import BEST, CEILING, COPIES, KEY, LOSS, OPEN, TIE, TYPES, WIN
from scanlab_report.intervals import Interval
from scanlab_report.pick import Lacking, pick, power_of_two
from scanlab_report.shown import Shown, figure, shown, table
from scanlab_report.versus import contests, decided, versus_cub

FILES = tuple(f"head_to_head_{name}" for name in (*TYPES, "operators"))
"""The experiments that time cases head to head."""
COLUMNS = (("cold", "stream"), ("cold", "graph"), ("warm", "stream"), ("warm", "graph"))


def in_columns(rows: pd.DataFrame, columns: Iterable[tuple[str, str]]) -> np.ndarray:
    """Which cases have one of these pairs of cache and launch."""
    return pd.MultiIndex.from_frame(rows[["cache", "launch"]]).isin(list(columns))


def type_op_rows(rows: pd.DataFrame) -> list[tuple[str, str]]:
    """Types and operators of some cases, types in their order, `plus` before other operators."""
    present = dict.fromkeys(rows[["type", "op"]].itertuples(index=False, name=None))
    return sorted(present, key=lambda pair: (TYPES.index(pair[0]), pair[1] != "plus", pair[1]))


def _too_few(comparisons: pd.DataFrame, verb: str) -> str:
    """Return the number of cases without an outcome, in words after a space; empty if there are
    none."""
    undecided = int((comparisons["outcome"] == OPEN).sum())
    verb = f"{'is' if undecided == 1 else 'are'} {verb}"
    sentence = f" {count(undecided, 'case')} with too few repetitions for an interval {verb}."
    return sentence if undecided else ""


def worst_of_octaves(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return one row per type, operator, column and octave of sizes: the case of worst outcome, and
    among equals the least ratio."""
    rows = decided(comparisons)
    rows = rows[in_columns(rows, COLUMNS) & (rows["mode"] == "inclusive") & (rows["items"] > 0)]
    severity = rows["outcome"].map({LOSS: 0, TIE: 1, WIN: 2})
    octave = [int(n).bit_length() - 1 for n in rows["items"]]
    rows = rows.assign(octave=octave, severity=severity)
    rows = rows.sort_values(["severity", "ratio"], kind="stable")
    return rows.drop_duplicates(["type", "op", "cache", "launch", "octave"])


@figure(*FILES, wide=True, of_one=True)
def head_to_head(data: Data) -> Shown:
    """Speedup of best over the fastest CUB by type, operator and size: darker is faster, a dot is a
    tie, a cross a loss."""
    cells = worst_of_octaves(versus_cub(data))
    if cells.empty:
        raise Lacking("such timings of arrays, cold or warm, by stream or graph")
    rows = type_op_rows(cells)
    columns = [c for c in COLUMNS if in_columns(cells, [c]).any()]
    height = 0.95 + 0.092 * max(len(rows), 8)
    drawn, axes = style.figure(style.DOUBLE, height, len(columns), sharey=True)
    octaves = range(int(cells["octave"].min()), int(cells["octave"].max()) + 1)
    for panel, (cache, launch) in zip(axes, columns, strict=True):
        image = _octaves(panel, pick(cells, cache=cache, launch=launch), rows, octaves)
        panel.set_title(f"{cache}, {launch}")
    axes[0].set_yticks(range(len(rows)), [f"{kind} {op}" for kind, op in rows], fontsize=5.6)
    bar = drawn.colorbar(image, ax=axes, shrink=0.8, aspect=30, pad=0.01, extend="max")
    bar.ax.yaxis.set_major_locator(FixedLocator([1, 1.25, 1.5, 2, 3]))
    bar.ax.yaxis.set_minor_locator(FixedLocator([]))
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    bar.set_label("× CUB")
    return shown(
        data,
        drawn,
        "Speedup of `best` over the fastest CUB for inclusive scans, by type, operator and array "
        "size; one panel per cache state and kind of launch. Each cell shows the worst case of its "
        "octave of sizes; darker is faster. Dot: the 95% interval contains 1. Cross: CUB is "
        "faster.",
        contests(data),
    )


_BLUES = LinearSegmentedColormap.from_list("blues", colormaps["Blues"](np.linspace(0.08, 0.95, 64)))


def _octaves(panel: Axes, cells: pd.DataFrame, rows: list[tuple[str, str]], octaves: range) -> Any:
    grid = np.full((len(rows), len(octaves)), np.nan)
    for cell in cells.itertuples():
        place = rows.index((cell.type, cell.op)), cell.octave - octaves.start
        grid[place] = max(cell.ratio, 1.0)
    x, y = np.arange(octaves.start, octaves.stop + 1) - 0.5, np.arange(len(rows) + 1) - 0.5
    image = panel.pcolormesh(
        x, y, grid, cmap=_BLUES, norm=LogNorm(1, 3.0), linewidth=0, rasterized=True
    )
    for which, marker, colour, width in (
        (TIE, ".", style.BLACK, 1.6),
        (LOSS, "x", style.VERMILLION, 3.2),
    ):
        marked = pick(cells, outcome=which)
        heights = [rows.index(key) for key in zip(marked["type"], marked["op"], strict=True)]
        panel.plot(
            marked["octave"],
            heights,
            linestyle="none",
            marker=marker,
            markersize=width,
            color=colour,
            markeredgewidth=1.0,
        )
    for boundary in [i for i in range(1, len(rows)) if rows[i][0] != rows[i - 1][0]]:
        panel.axhline(boundary - 0.5, color="white", linewidth=1.2)
    panel.set_ylim(len(rows) - 0.5, -0.5)
    panel.grid(visible=False)
    panel.xaxis.set_major_locator(FixedLocator([k for k in octaves if k % 4 == 0]))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"$2^{{{value:.0f}}}$"))
    panel.set_xlabel("items $n$")
    return image


@figure(*FILES, follows=("variants", "type"), of_one=True)
def speedup_by_type(data: Data) -> Shown:
    """Speedup of best over the fastest CUB scan, by type: above the grey line best is faster."""
    columns = {
        ("cold", "stream"): style.Look(style.BLUE, "s", "-"),
        ("warm", "stream"): style.Look(style.VERMILLION, "o", "--", filled=False),
        ("warm", "graph"): style.Look(style.GREEN, "^", ":"),
    }
    variant = next(iter(data.ask.variants), BEST)
    asked = (data.ask.type,) * bool(data.ask.type)
    cases = contests(data, variant, types=asked)
    rows = pick(versus_cub(data, variant, asked), op="plus", mode="inclusive")
    rows = rows[in_columns(rows, columns) & (rows["items"] > 0)]
    if rows.empty:
        where = " or ".join(f"{cache} by {launch}" for cache, launch in columns)
        raise Lacking(f"such timings {where}", [variant, "cub*", CEILING])
    at_powers = rows[power_of_two(rows["items"])]
    rows = rows if at_powers.empty else at_powers
    types = [kind for kind in TYPES if kind in set(rows["type"])]
    across = min(4, len(types))
    lines = -(-len(types) // across)
    width, height = (style.DOUBLE, 1.6 * lines) if across > 1 else (style.COLUMN, 2.4)
    drawn, axes = style.figure(width, height, across, lines, sharey=True)
    bounds: list[pd.Series] = []
    for panel, kind in zip(axes, types, strict=False):
        of_type = pick(rows, type=kind)
        for (cache, launch), drawn_as in columns.items():
            if not in_columns(rows, [(cache, launch)]).any():
                continue
            own = pick(of_type, cache=cache, launch=launch).sort_values("items")
            panel.plot(own["items"], own["ratio"], label=f"{cache}, {launch}", **drawn_as.plot())
            marks.ratio_bars(panel, own, drawn_as.colour)
        bounds.append(bound := _copy_bound(data, cases, of_type))
        panel.plot(
            bound.index,
            bound,
            color=style.GREY,
            linewidth=2.2,
            alpha=0.6,
            zorder=1,
            label="device copy, cold, stream",
        )
        panel.axhline(1, color=style.BLACK, linewidth=0.8)
        marks.items_axis(panel, of_type["items"])
        panel.set_title(kind)
    for panel in axes[len(types) :]:
        panel.set_axis_off()
    _ratio_axis(axes[0], pd.concat([rows["ratio"], rows["high"].dropna(), *bounds]))
    for panel in axes[: len(types) : across]:
        panel.set_ylabel("speedup over CUB")
    handles = axes[0].get_legend_handles_labels()
    if len(axes) > len(types):
        axes[len(types)].legend(*handles, loc="center", borderpad=0)
    else:
        drawn.legend(*handles, loc="outside upper right", ncols=3 if across > 1 else 2, borderpad=0)
    return shown(
        data,
        drawn,
        f"Speedup of `{variant}` over the fastest CUB scan against array size, inclusive sums, one "
        f"panel per type. Above 1, `{variant}` is faster. The thick line is the speedup of the "
        "fastest copy of the same bytes, the reference of the cold times. Bars: 95% intervals.",
        cases,
        variant=variant,
    )


def _copy_bound(data: Data, cases: pd.DataFrame, rows: pd.DataFrame) -> pd.Series:
    """Return the time of the fastest CUB over that of the fastest copy in the same file, by size,
    for a cold cache and stream launches."""
    theirs = pick(rows, cache="cold", launch="stream")[["file", *KEY, "median_ns_rival"]]
    copies = pick(cases, variant=data.variants.ids(COPIES)).merge(theirs, on=["file", *KEY])
    return (copies["median_ns_rival"] / copies["median_ns"]).groupby(copies["items"]).max()


def _ratio_axis(panel: Axes, ratios: pd.Series) -> None:
    """Make an axis of ratios logarithmic: twice as fast is as far from 1 as half as fast."""
    panel.set_yscale("log", base=2)
    low, high = min(0.9, float(ratios.min())), max(2.0, float(ratios.max()))
    panel.set_ylim(0.96 * low, 1.1 * high)
    panel.yaxis.set_major_locator(FixedLocator([0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8]))
    panel.yaxis.set_minor_locator(NullLocator())
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


# ------------------------------------------------------------------------------------ the tables


@table(*FILES, name="head_to_head")
def counted(data: Data) -> Shown:
    """Head-to-head comparison of best and the fastest CUB scan, counted."""
    rows = versus_cub(data)
    outside = int((~in_columns(rows, COLUMNS)).sum())
    others = (
        f" {count(outside, 'case')} of other launches {'is' if outside == 1 else 'are'} among "
        "those of the right part."
    ) * bool(outside)
    made = [_counts(pick(rows, type=kind, op=op), kind, op) for kind, op in type_op_rows(rows)]
    made.append(_counts(rows, "all", ""))
    present = [c for c in COLUMNS if in_columns(rows, [c]).any()]
    columns = (
        Column("type", "type", right=False),
        Column("op", "op", right=False),
        *(
            Column(f"{cache}_{launch}", launch, group=f"{cache}: won / tied / lost")
            for cache, launch in present
        ),
        Column("cases", "cases", whole),
        Column("lost", "lost", whole),
        Column("least", "least", significant, group="× CUB"),
        Column("median", "median", significant, group="× CUB"),
    )
    caption = (
        "Head-to-head comparison of `best` with the fastest CUB scan: cases won, tied and lost, "
        "and the least and median speedup over CUB. A case is tied where the 95% interval of the "
        f"speedup contains 1.{others}{_too_few(rows, 'left out')}"
    )
    return shown(data, Table(caption, columns, pd.DataFrame(made)), caption, contests(data))


def _counts(rows: pd.DataFrame, kind: str, op: str) -> dict[str, Any]:
    row: dict[str, Any] = {"type": kind, "op": op}
    for cache, launch in COLUMNS:
        outcomes = pick(rows, cache=cache, launch=launch)["outcome"].value_counts()
        row[f"{cache}_{launch}"] = " / ".join(str(outcomes.get(o, 0)) for o in (WIN, TIE, LOSS))
    known = decided(rows)
    return row | {
        "cases": len(known),
        "lost": int((known["outcome"] == LOSS).sum()),
        "least": known["ratio"].min(),
        "median": known["ratio"].median(),
    }


@table(*FILES)
def losses(data: Data) -> Shown:
    """Cases that best lost to CUB, the worst first."""
    rows, printed = versus_cub(data), 8
    lost = pick(decided(rows), outcome=LOSS)
    lost = lost.sort_values("ratio", kind="stable", ignore_index=True)
    lost = lost.assign(
        chosen=[str(choice or "") for choice in lost["choice"]],
        times_cub=[Interval(row.ratio, row.low, row.high, 0) for row in lost.itertuples()],
    )
    beyond = f" The worst {printed} are printed; losses.csv has all cases."
    columns = (
        *(Column(name, name, right=False) for name in ("type", "op", "mode")),
        Column("items", "n", size),
        Column("cache", "cache", right=False),
        Column("launch", "launch", right=False),
        Column("times_cub", "× CUB", with_interval),
        Column("rival", "fastest CUB", code, right=False),
        Column("chosen", "best chose", lambda v: v or "—", right=False),
    )
    caption = (
        "Cases that `best` lost to the fastest CUB scan, by the 95% interval of the ratio: "
        f"{len(lost)} of {len(decided(rows))}. × CUB is the speedup of `best`."
        f"{_too_few(rows, 'not judged')}{beyond * (len(lost) > printed)}"
    )
    return shown(data, Table(caption, columns, lost, printed=printed), caption, contests(data))
