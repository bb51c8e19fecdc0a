"""Scanlab's fastest scans beside the vendor's, case by case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from scanlab_report import style
from scanlab_report.chapters.scans import python_notes
from scanlab_report.console import count
from scanlab_report.data import ODD_SIZES, Data
from scanlab_report.formats import (
    Column,
    Table,
    code,
    records,
    significant,
    size,
    whole,
    with_interval,
)
from scanlab_report.intervals import Interval, median_interval, summarise
from scanlab_report.looks import ordered
from scanlab_report.pick import (
    BEST,
    BULK_CEILING,
    CASE,
    CEILING,
    COPIES,
    CUBS,
    HEADER,
    KEY,
    LOSS,
    MEETING_CEILING,
    OPEN,
    RIVALS,
    TIE,
    TUNED,
    TYPES,
    WIN,
    Lacking,
    against,
    by_device,
    contests,
    cub_as_shipped,
    decided,
    ideal_bytes,
    newest,
    outcome,
    pairs,
    pick,
    power_of_two,
    versus_cub,
)
from scanlab_report.shown import Shown, figure, shown, table

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
    """How many cases have no outcome, after a space; empty if none."""
    undecided = int((comparisons["outcome"] == OPEN).sum())
    verb = f"{'is' if undecided == 1 else 'are'} {verb}"
    sentence = f" {count(undecided, 'case')} with too few repetitions for an interval {verb}."
    return sentence if undecided else ""


def worst_of_octaves(comparisons: pd.DataFrame) -> pd.DataFrame:
    """One row per type, operator, column and octave of sizes: the case of worst outcome, and among
    those of least ratio."""
    rows = decided(comparisons)
    rows = rows[in_columns(rows, COLUMNS) & (rows["mode"] == "inclusive") & (rows["items"] > 0)]
    severity = rows["outcome"].map({LOSS: 0, TIE: 1, WIN: 2})
    octave = [int(n).bit_length() - 1 for n in rows["items"]]
    rows = rows.assign(octave=octave, severity=severity)
    rows = rows.sort_values(["severity", "ratio"], kind="stable")
    return rows.drop_duplicates(["type", "op", "cache", "launch", "octave"])


@figure(*FILES, wide=True, of_one=True)
def head_to_head(data: Data) -> Shown:
    """Speedup of best over the fastest CUB by type, operator and size: darker is faster, a dot is a tie, a cross a loss."""
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
        data, drawn,
        "Speedup of `best` over the fastest CUB for inclusive scans, by type, operator and array "
        "size; one panel per cache state and kind of launch. Each cell shows the worst case of its "
        "octave of sizes; darker is faster. Dot: the 95% interval contains 1. Cross: CUB is "
        "faster.",
        contests(data),
    )  # fmt: skip


_BLUES = LinearSegmentedColormap.from_list("blues", colormaps["Blues"](np.linspace(0.08, 0.95, 64)))


def _octaves(
    panel: Axes, cells: pd.DataFrame, rows: list[tuple[str, str]], octaves: range
) -> Any:
    grid = np.full((len(rows), len(octaves)), np.nan)
    for cell in cells.itertuples():
        place = rows.index((cell.type, cell.op)), cell.octave - octaves.start
        grid[place] = max(cell.ratio, 1.0)
    x, y = np.arange(octaves.start, octaves.stop + 1) - 0.5, np.arange(len(rows) + 1) - 0.5
    image = panel.pcolormesh(x, y, grid, cmap=_BLUES, norm=LogNorm(1, 3.0), linewidth=0,
                             rasterized=True)  # fmt: skip
    for which, marker, colour, width in ((TIE, ".", style.BLACK, 1.6),
                                         (LOSS, "x", style.VERMILLION, 3.2)):  # fmt: skip
        marked = pick(cells, outcome=which)
        heights = [rows.index(key) for key in zip(marked["type"], marked["op"], strict=True)]
        panel.plot(marked["octave"], heights, linestyle="none", marker=marker, markersize=width,
                   color=colour, markeredgewidth=1.0)  # fmt: skip
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
    columns = {("cold", "stream"): style.Look(style.BLUE, "s", "-"),
               ("warm", "stream"): style.Look(style.VERMILLION, "o", "--", filled=False),
               ("warm", "graph"): style.Look(style.GREEN, "^", ":")}  # fmt: skip
    variant, types = next(iter(data.ask.variants), BEST), (data.ask.type,) * bool(data.ask.type)
    rows = pick(versus_cub(data, variant, types), op="plus", mode="inclusive")
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
            style.ratio_bars(panel, own, drawn_as.colour)
        bounds.append(bound := _copy_bound(data, variant, of_type))
        panel.plot(bound.index, bound, color=style.GREY, linewidth=2.2, alpha=0.6, zorder=1,
                   label="device copy, cold, stream")  # fmt: skip
        panel.axhline(1, color=style.BLACK, linewidth=0.8)
        style.items_axis(panel, of_type["items"])
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
        drawn.legend(*handles, loc="outside upper right", ncols=3 if across > 1 else 2,
                     borderpad=0)  # fmt: skip
    return shown(
        data, drawn,
        f"Speedup of `{variant}` over the fastest CUB scan against array size, inclusive sums, one "
        f"panel per type. Above 1, `{variant}` is faster. The thick line is the speedup of the "
        "fastest copy of the same bytes, the reference of the cold times. Bars: 95% intervals.",
        contests(data, variant, types=data.ask.type and types or ()), variant=variant,
    )  # fmt: skip


def _copy_bound(data: Data, variant: str, rows: pd.DataFrame) -> pd.Series:
    """By size, the time of the fastest CUB over that of the fastest copy beside it, cold and in a
    stream."""
    rows = pick(rows, cache="cold", launch="stream")
    types = (data.ask.type,) * bool(data.ask.type)
    wanted = {"op": "plus", "mode": "inclusive", "cache": "cold", "launch": "stream"}
    cases = pick(contests(data, variant, types=types), **wanted)
    theirs = rows[[*KEY, "rival"]].merge(cases, left_on=[*KEY, "rival"], right_on=[*KEY, "variant"])
    copies = pick(cases, variant=data.variants.ids(COPIES))
    both = copies.merge(theirs[["file", *KEY, "median_ns"]], on=["file", *KEY],
                        suffixes=("", "_rival"))  # fmt: skip
    both = both.sort_values("place", kind="stable").drop_duplicates(["variant", *KEY])
    return (both["median_ns_rival"] / both["median_ns"]).groupby(both["items"]).max()


def _ratio_axis(panel: Axes, ratios: pd.Series) -> None:
    """Logarithmic: twice as fast is as far from 1 as half as fast."""
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
    beside = int((~in_columns(rows, COLUMNS)).sum())
    others = (f" {count(beside, 'case')} of other launches {'is' if beside == 1 else 'are'} among "
              "those of the right part.") if beside else ""  # fmt: skip
    made = [_counts(pick(rows, type=kind, op=op), kind, op) for kind, op in type_op_rows(rows)]
    made.append(_counts(rows, "all", ""))
    present = [c for c in COLUMNS if in_columns(rows, [c]).any()]
    columns = (
        Column("type", "type", right=False), Column("op", "op", right=False),
        *(Column(f"{cache}_{launch}", launch, group=f"{cache}: won / tied / lost")
          for cache, launch in present),
        Column("cases", "cases", whole), Column("lost", "lost", whole),
        Column("least", "least", significant, group="× CUB"),
        Column("median", "median", significant, group="× CUB"),
    )  # fmt: skip
    caption = (
        "Head-to-head comparison of `best` with the fastest CUB scan: cases won, tied and lost, "
        "and the least and median speedup over CUB. A case is tied where the 95% interval of the "
        f"speedup contains 1.{others}{_too_few(rows, 'left out')}"
    )
    return shown(data, Table(caption, columns, pd.DataFrame(made)), caption, contests(data))


def _counts(rows: pd.DataFrame, kind: str, op: str) -> dict[str, Any]:
    row: dict[str, Any] = {"type": kind, "op": op}
    for cache, launch in COLUMNS:
        found = pick(rows, cache=cache, launch=launch)["outcome"].value_counts()
        row[f"{cache}_{launch}"] = " / ".join(str(found.get(o, 0)) for o in (WIN, TIE, LOSS))
    known = decided(rows)
    return row | {"cases": len(known), "lost": int((known["outcome"] == LOSS).sum()),
                  "least": known["ratio"].min(), "median": known["ratio"].median()}  # fmt: skip


@table(*FILES)
def losses(data: Data) -> Shown:
    """Cases that best lost to CUB, the worst first."""
    rows, printed = versus_cub(data), 8
    lost = pick(decided(rows), outcome=LOSS)
    lost = lost.sort_values("ratio", kind="stable", ignore_index=True)
    lost = lost.assign(chosen=[str(choice or "") for choice in lost["choice"]],
                       times_cub=[Interval(row.ratio, row.low, row.high, 0)
                                  for row in lost.itertuples()])  # fmt: skip
    beyond = ""
    if len(lost) > printed:
        beyond = f" The worst {printed} are printed; losses.csv has all cases."
    columns = (
        *(Column(name, name, right=False) for name in ("type", "op", "mode")),
        Column("items", "n", size), Column("cache", "cache", right=False),
        Column("launch", "launch", right=False), Column("times_cub", "× CUB", with_interval),
        Column("rival", "fastest CUB", code, right=False),
        Column("chosen", "best chose", lambda v: v or "—", right=False),
    )  # fmt: skip
    caption = (
        "Cases that `best` lost to the fastest CUB scan, by the 95% interval of the ratio: "
        f"{len(lost)} of {len(decided(rows))}. × CUB is the speedup of `best`."
        f"{_too_few(rows, 'not judged')}{beyond}"
    )
    return shown(data, Table(caption, columns, lost, printed=printed), caption, contests(data))


SMALL = 1 << 20
LARGE_BYTES = 1 << 30
NARROW = "CUB adds sums of i8 and i16 in 32 bits, and `best` in 8 and 16 bits."
"""Where a ratio of such sums stands, this stands, too."""


def usual_cases(cases: pd.DataFrame) -> dict[tuple[str, str], pd.DataFrame]:
    """Cold inclusive scans from a stream, by type and operator."""
    usual = pick(cases, mode="inclusive", cache="cold", launch="stream")
    return dict(list(usual.groupby(["type", "op"])))


def two_sizes(data: Data, here: pd.DataFrame) -> list[int]:
    """2^20, and the largest size of at least 1 GiB that best was timed at beside CUB, preferably
    beside the copy too. `here`: the cases of one type and operator."""
    sizes = list(pairs(here, BEST, [*data.variants.ids(CUBS), CEILING])["items"])
    bytes_of = here.groupby("items")["bytes"].first()
    large = [n for n in sizes if bytes_of[n] >= 2 * LARGE_BYTES]
    copied = set(pairs(here, BEST, [CEILING])["items"])
    return [n for n in sizes if n == SMALL] + ([n for n in large if n in copied] or large)[-1:]


def beside_rivals(data: Data, here: pd.DataFrame, items: int) -> dict[str, Any] | None:
    """Time of best, its shares of copies, and its ratio to all rivals: of one file, but for rivals
    that were timed in another."""
    here = pick(here, items=items)
    cubs = data.variants.ids(CUBS)
    matches = (pairs(here, BEST, rivals) for rivals in ([BULK_CEILING], [CEILING], cubs))
    match = next((m.iloc[0] for m in matches if len(m)), None)
    if match is None:
        return None
    ours, file = match["median_ns"], match["file"]

    def over(variant: str) -> float:
        theirs = pick(here, variant=variant)
        theirs = pd.concat([pick(theirs, file=file), theirs])
        return float(theirs["median_ns"].iloc[0]) / ours if len(theirs) else np.nan

    in_file = pick(here, file=file)
    versus = against(in_file, BEST, cubs)
    versus = versus if len(versus) else against(here, BEST, cubs)
    cub = versus.iloc[0] if len(versus) else None
    row = {"type": match["type"], "op": match["op"], "items": items, "time_us": ours / 1e3,
           "chosen": match["choice"].variant if match["choice"] else "—",
           "of_memcpy": over(CEILING), "of_copy_bulk": over(BULK_CEILING),
           "of_copy_one_wave": over(MEETING_CEILING),
           "fastest_cub": None if cub is None else cub["rival"],
           "of_cub": None if cub is None else cub["interval"]}  # fmt: skip
    return row | {f"of_{variant}": over(variant) for variant in data.variants.ids(RIVALS)}


def _require_cub(data: Data) -> None:
    """Lacking if no case has CUB beside best."""
    versus_cub(data)


@table(*FILES, "python")
def rivals(data: Data) -> Shown:
    """Speedup of best over every other scan, by type, at two sizes."""
    _require_cub(data)
    cases, about = contests(data, python=True), data.variants
    usual = usual_cases(cases)
    sums = [usual[kind, "plus"] for kind in TYPES if (kind, "plus") in usual]
    made = [row for own in sums for n in two_sizes(data, own)
            if (row := beside_rivals(data, own, n))]  # fmt: skip
    rows = pd.DataFrame(made)
    others = [v for v in ordered(about.ids(RIVALS), about)
              if f"of_{v}" in rows and rows[f"of_{v}"].notna().any()]  # fmt: skip
    short = {"CUB": "toolkit", "deterministic": "determ."}

    def heading(variant: str) -> str:
        last = about[variant].label.split(", ")[-1]
        return short.get(last, last)

    columns = (
        Column("type", "type", right=False), Column("items", "n", size),
        Column("chosen", "chosen", right=False),
        Column("time_us", "µs", partial(significant, digits=4)),
        *(Column(f"of_{key}", name, significant, group="share of") for key, name in
          (("memcpy", "memcpy"), ("copy_bulk", "bulk"), ("copy_one_wave", "one wave"))),
        *(Column(f"of_{v}", heading(v), significant,
                 group="× CUB" if CUBS.has(about[v]) else "× others") for v in others),
    )  # fmt: skip
    caption = (
        "Time of `best`, its speed as a share of copies, and its speedup over other scans. "
        f"Inclusive sums, cold cache, stream launches, at {size(SMALL)} items and at the largest "
        "size of 1 GiB or more. One wave is a copy with a grid-wide barrier. A dash: not timed."
    )
    notes = (*_narrow(rows), *python_notes(set(cases["variant"]), data))
    return shown(data, Table(caption, columns, rows, notes), caption, cases)


def _narrow(rows: pd.DataFrame) -> tuple[str, ...]:
    return (NARROW,) if rows["type"].isin(["i8", "i16"]).any() else ()


def fastest(data: Data) -> Shown:
    """Sums of every type at the large size, against the copy and the fastest CUB."""
    _require_cub(data)
    cases, made = contests(data), []
    usual = usual_cases(cases)
    for own in (usual[kind, "plus"] for kind in TYPES if (kind, "plus") in usual):
        for n in two_sizes(data, own)[-1:]:
            if n != SMALL and (row := beside_rivals(data, own, n)):
                made.append(row)
    rows = pd.DataFrame(made, columns=["type", "items", "time_us", "of_memcpy", "fastest_cub",
                                       "of_cub"])  # fmt: skip
    columns = (
        Column("type", "type", right=False), Column("items", "n", size),
        Column("time_us", "best, ms", lambda v: significant(v / 1e3, 3)),
        Column("of_memcpy", "× memcpy", lambda v: "—" if pd.isna(v) else f"{v:.2f}"),
        Column("of_cub", "× CUB", lambda v: "—" if v is None else f"{v.value:.2f}"),
        Column("fastest_cub", "fastest CUB", lambda v: "—" if v is None else f"`{v}`",
               right=False),
    )  # fmt: skip
    caption = ("`best` beside the fastest CUB scan, per type: inclusive sums, cold cache, stream "
               "launches. Ratios are speeds.")  # fmt: skip
    return shown(data, Table(caption, columns, rows, _narrow(rows)), caption, cases)


def score(data: Data) -> Shown:
    """In how many cases best is faster than CUB as shipped, and in shapes tuned on the device."""
    _require_cub(data)
    cases = contests(data)
    sentences = [_score(data, cub_as_shipped(data), "the fastest scan of CUB as shipped")]
    if TUNED in set(cases["variant"]):
        _, _, named = data.variants[TUNED].title.partition(", tuned on ")
        here = data.files[cases["file"].iloc[0]].device
        device = ("the device" if named == here else f"another device, {named}" if named
                  else "an unnamed device")  # fmt: skip
        sentences.append(_score(data, [TUNED], f"CUB with shapes tuned on {device} (`{TUNED}`)"))
    else:
        sentences.append("CUB with shapes tuned on the device (`cub_tuned`) has no times in this "
                         "recording.")  # fmt: skip
    sentences += _narrow(cases)
    sentences.append("A compared case is a type, operator, mode, size, cache state and launch. A "
                     "case counts as faster or slower only if the 95% interval of its ratio "
                     "excludes 1.")  # fmt: skip
    return shown(data, " ".join(sentences), "", cases)


def _score(data: Data, against_: Sequence[str], what: str) -> str:
    cases = contests(data)
    present = set(data.variants.ids(CUBS)) & set(cases["variant"])
    rows = versus_cub(data) if set(against_) == present else against(cases, BEST, against_)
    outcomes = list(decided(rows)["outcome"])
    won, tied, lost = (outcomes.count(o) for o in (WIN, TIE, LOSS))
    return (f"Against {what}, `best` is faster in {won} of {len(outcomes)} cases, equal in {tied} "
            f"and slower in {lost}.")  # fmt: skip


@table(*FILES)
def operators(data: Data) -> Shown:
    """Speedup of best over the fastest CUB scan for every type and operator, at two sizes."""
    comparisons, cases = versus_cub(data), contests(data)
    made, names = [], ("time_us", "of_memcpy", "of_cub", "fastest_cub")
    usual = usual_cases(cases)
    for kind, op in (key for key in type_op_rows(comparisons) if key in usual):
        own = usual[kind, op]
        of_size = {n == SMALL: beside_rivals(data, own, n) for n in two_sizes(data, own)}
        if any(of_size.values()):
            small, large = of_size.get(True) or {}, of_size.get(False) or {}
            row = {"type": kind, "op": op, "items": large.get("items")}
            row |= {f"{name}_small": small.get(name) for name in names}
            made.append(row | {f"{name}_large": large.get(name) for name in names})
    columns = [Column("type", "type", right=False), Column("op", "op", right=False)]
    for where, group in (("small", size(SMALL)), ("large", "largest")):
        if where == "large":
            items = lambda v: "—" if pd.isna(v) else size(v)
            columns.append(Column("items", "n", items, group=group))
        columns += [
            Column(f"time_us_{where}", "µs", partial(significant, digits=4), group=group),
            Column(f"of_memcpy_{where}", "memcpy", partial(significant, digits=2), group=group),
            Column(f"of_cub_{where}", "× CUB", with_interval, group=group),
            Column(f"fastest_cub_{where}", "fastest CUB", _cub_name, right=False, group=group),
        ]  # fmt: skip
    rows = pd.DataFrame({c.key: pd.Series([row[c.key] for row in made],
                                          dtype=object if c.key.startswith(("of_cub", "fastest"))
                                          else None) for c in columns})  # fmt: skip
    caption = (
        f"Speed of `best` for every type and operator, at {size(SMALL)} items and at the largest "
        "size of 1 GiB or more. Columns: time, share of memcpy, and speedup over the fastest CUB "
        "scan with its 95% interval; toolkit is `cub_device_scan`. Inclusive scans, cold cache, "
        "stream launches. Items of affine, arg_max, complex_multiply and segmented_plus have two "
        "parts, those of matrix_2x2 four."
    )
    return shown(data, Table(caption, columns, rows), caption, cases)


def _cub_name(value: str | None) -> str:
    if value is None:
        return "—"
    return {"cub_device_scan": "toolkit"}.get(value, value.removeprefix("cub_"))


# ------------------------------------------------------------------------------------- odd sizes


def odd_cases(data: Data) -> pd.DataFrame:
    """The cases of each process of the sweep odd_sizes on one device; arrays are at other addresses
    in each."""
    for _, _, rows in by_device(data, "scan", (ODD_SIZES,)):
        rows = pick(rows, settings="")
        if len(rows):
            return summarise(rows, ["file", *CASE])
    raise Lacking("times of the sweep odd_sizes on a CUDA device")


def over_processes(data: Data, cases: pd.DataFrame, variant: str) -> pd.DataFrame:
    """One row per case: `rival`, the CUB as shipped of the least time in the median over processes;
    `ratio`, the interval over processes of its time over the variant's; `spread` and `outcome`. A
    process has one ratio, of medians of its own samples, so the interval has what differs between
    processes."""
    rows = []
    every = cases.pivot(index=[*KEY, "file"], columns="variant", values="median_ns")
    for key, medians in every.groupby(level=KEY):
        medians = medians.dropna(axis="columns", how="all")
        cubs = [cub for cub in cub_as_shipped(data) if cub in medians]
        if variant in medians and cubs:
            rival = medians[cubs].median().idxmin()
            ratios = (medians[rival] / medians[variant]).dropna()
            ratio, spread = median_interval(ratios), ratios.max() / ratios.min() - 1
            rows.append((variant, *key, rival, ratio, spread, outcome(ratio)))
    columns = ["variant", *KEY, "rival", "ratio", "spread", "outcome"]
    return pd.DataFrame(rows, columns=columns)


@table(ODD_SIZES)
def odd_sizes(data: Data) -> Shown:
    """best and the header against CUB as shipped at random odd sizes, in several processes."""
    timed = odd_cases(data)
    cases = pd.concat([over_processes(data, timed, v) for v in (BEST, HEADER)], ignore_index=True)
    if cases.empty:
        raise Lacking(f"times of {BEST} or {HEADER} beside CUB as shipped in the sweep odd_sizes")
    by_value = lambda ratios: ratios.map(lambda ratio: ratio.value)
    cases = cases.sort_values("ratio", key=by_value, kind="stable")
    conditions = [part for _, part in cases.groupby(["variant", "cache", "launch"])]
    rows = [_odd_row("all", part) for part in conditions]
    rows += [_odd_row(kind, pick(part, type=kind)) for part in conditions for kind in TYPES
             if (part["type"] == kind).any()]  # fmt: skip
    single = [_odd_row(cases["type"].iloc[n], cases.iloc[[n]]) for n in range(len(cases))]
    processes = " or ".join(map(str, sorted({ratio.count for ratio in cases["ratio"]})))
    columns = (
        Column("variant", "variant", code, right=False), Column("cache", "cache", right=False),
        Column("launch", "launch", right=False), Column("type", "type", right=False),
        *(Column(name, name, whole) for name in ("cases", "won", "equal", "lost")),
        Column("ratio", "least × CUB", with_interval), Column("items", "at n", size),
        Column("rival", "fastest CUB", code, right=False),
        Column("spread", "spread", lambda part: f"{100 * part:.1f}%"),
    )  # fmt: skip
    caption = (
        f"Speed of `{BEST}` and of the header, `{HEADER}`, over the fastest CUB as shipped. "
        f"Inclusive sums of {cases['items'].nunique()} random odd sizes, "
        f"{size(cases['items'].min())} to {size(cases['items'].max())}; {processes} processes with "
        "arrays at other addresses. Cases are won or lost if the 95% interval over processes "
        "excludes 1. Spread: the largest change of a ratio from process to process."
    )
    content = Table(caption, columns, records(rows + single), printed=len(rows),
                    details=("odd_sizes.csv has a row for each case, too, the least ratio "
                             "first.",))  # fmt: skip
    return shown(data, content, caption, timed)


def odd_sizes_short(data: Data) -> Shown:
    """The rows for all types alone."""
    made = odd_sizes(data)
    whole_ = made.content
    content = Table(whole_.caption, whole_.columns, pick(whole_.rows, type="all"))
    return Shown(content, made.caption, made.sources)


def _odd_row(kind: str, cases: pd.DataFrame) -> dict[str, Any]:
    """Some cases, the least ratio first."""
    least, outcomes = cases.iloc[0], list(cases["outcome"])
    row = {name: least[name] for name in ("variant", "cache", "launch", "ratio", "items", "rival")}
    row |= {"type": kind, "cases": len(cases), "spread": cases["spread"].max()}
    counted_ = (("won", WIN), ("equal", TIE), ("lost", LOSS))
    return row | {name: outcomes.count(which) for name, which in counted_}


# ------------------------------------------------------------------- another stopwatch, and bits


def beside_nvbench(data: Data) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """One row per case that nvbench timed, too: `samples`, `theirs_ns`, `ratio` of nvbench's time
    over ours; the cases; and the rows of nvbench."""
    cases = contests(data)
    theirs = newest(data, "nvbench", "times of nvbench")
    ours = cases[(cases["op"] == "plus") & (cases["mode"] == "inclusive")]
    ours = ours.drop_duplicates(["variant", *KEY])
    columns = ["variant", "type", "items", "cache", "launch"]
    both = theirs[[*columns, "ns"]].merge(ours, on=columns).rename(columns={"ns": "theirs_ns"})
    ratios = [over_nvbench(ns, samples)
              for ns, samples in zip(both["theirs_ns"], both["samples"], strict=True)]  # fmt: skip
    return both.assign(ratio=ratios), cases, theirs


def over_nvbench(time: float, samples: np.ndarray) -> Interval:
    """A time over the median of samples, with the interval of the median alone: nvbench gives none
    of its own."""
    ours = median_interval(samples)
    return Interval(time / ours.value, time / ours.high, time / ours.low, ours.count)


@table(*FILES, "nvbench")
def stopwatch(data: Data) -> Shown:
    """Times of the same scans by scanlab bench and by NVIDIA's nvbench."""
    both, cases, theirs = beside_nvbench(data)
    order = ["launch", "variant", "type", "items"]
    rows = both.sort_values(order, ascending=[False, True, True, True])
    ways = {("cold", "stream"): "one by one, cold", ("warm", "batch"): "in batches"}
    rows = rows.assign(timed=[ways[way] for way in zip(rows["cache"], rows["launch"], strict=True)],
                       ratio=[ratio.value for ratio in rows["ratio"]],
                       ours_us=rows["median_ns"] / 1e3, theirs_us=rows["theirs_ns"] / 1e3)  # fmt: skip
    four = partial(significant, digits=4)
    columns = (
        Column("timed", "timed", right=False), Column("variant", "variant", code, right=False),
        Column("type", "type", right=False), Column("items", "n", size),
        Column("ours_us", "scanlab, µs", four), Column("theirs_us", "nvbench, µs", four),
        Column("ratio", "nvbench / scanlab", four),
    )  # fmt: skip
    caption = (
        "Times of the same calls by `scanlab bench` and by nvbench, NVIDIA's benchmark library: "
        "inclusive sums, and copies of as many items. One by one: medians after an L2 flush, by "
        "reads in scanlab and by writes in nvbench. In batches: runs enqueued behind a waiting "
        "kernel: all in scanlab, the first two in nvbench, which gives the mean."
    )
    content = Table(caption, columns, rows[[c.key for c in columns]].reset_index(drop=True))
    return shown(data, content, caption, cases, theirs)


@table("repeat")
def bits(data: Data) -> Shown:
    """Cases whose bits vary between runs on the same input."""
    rows = origin_first(data, data["repeats"], "repeated runs of verify")
    scans_ = rows[[data.variants[variant].kind == "scan" for variant in rows["variant"]]]
    made = []
    for variant, own in scans_.groupby("variant", sort=True):
        varied = own[own["varying"] > 0]
        where = sorted({f"{row.type} {row.op}" for row in varied.itertuples()})
        made.append({"variant": variant, "types": ", ".join(sorted(set(own["type"]))),
                     "cases": own["cases"].sum(), "varying": own["varying"].sum(),
                     "runs": own["runs"].min(), "where": ", ".join(where) or "nowhere"})  # fmt: skip
    columns = (
        Column("variant", "variant", code, right=False), Column("types", "types", right=False),
        Column("cases", "cases", whole), Column("runs", "runs per case", whole),
        Column("varying", "cases that varied", whole),
        Column("where", "where", right=False, wrap=26),
    )  # fmt: skip
    caption = (
        "Repeated runs on the same input, of cases whose results round: the number of cases whose "
        "bits varied between runs (`scanlab verify --repeat`)."
    )
    return shown(data, Table(caption, columns, pd.DataFrame(made)), caption, rows)


def origin_first(data: Data, rows: pd.DataFrame, what: str) -> pd.DataFrame:
    """The rows that were measured now, else the recorded ones; Lacking if none."""
    if rows.empty:
        raise Lacking(what)
    origins = rows["file"].map(lambda number: data.files[number].origin)
    return rows[origins == min(origins)]
