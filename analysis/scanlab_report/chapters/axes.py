"""Scans along an axis of a tensor: rows of any length, columns, and a copy of the same bytes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from scanlab_report import marks, style
from scanlab_report.chapters.standings import python_notes
from scanlab_report.data import Data, Variants
from scanlab_report.formats import Column, Table, alike, code, size, text, whole, with_interval
from scanlab_report.groups import CUBS, LOSS, PYTHON, RIVALS, SHAPES, STREAM, TIE, WIN
from scanlab_report.intervals import summarise
from scanlab_report.looks import look
from scanlab_report.pick import answering, pick, power_of_two
from scanlab_report.shown import Shown, figure, shown, table
from scanlab_report.tables import CASES
from scanlab_report.versus import on_first, or_lacking, outcome, ratios

COPY, BEST = "axis_copy", "axis_best"
SUMS: dict[str, Any] = dict(type="f32", op="plus", mode="inclusive", cache="cold", launch=STREAM)
OCTAVE = 27
"""Logarithm of the items of the tensors whose shapes are drawn side by side."""


def axis_cases(data: Data) -> pd.DataFrame:
    """The cases `beside_copy`; `octave`: the nearest logarithm of all items of the tensor."""
    timed = lambda rows: rows if {COPY, BEST} <= set(rows["variant"]) else ()
    lacking = ("timings of scans along an axis on a CUDA device", BEST, COPY)
    cases = beside_copy(data, "scan_axis", [COPY], timed, *lacking)
    total = cases["items"] * cases["rows"] * cases["inner"]
    return cases.assign(octave=np.log2(total.clip(lower=1)).round().astype(int))


def beside_copy(
    data: Data, kind: str, copies: list[str], timed: Callable[[pd.DataFrame], Any], *lacking: str
) -> pd.DataFrame:
    """The cases of the first device with `timed` ones, CUB's in the fastest of its given shapes;
    `share`: a copy's time over the scan's."""
    every, case = data.every or data, _scanned(kind)  # a session of these scans is not complete

    def make() -> pd.DataFrame:
        rows = on_first(every, kind, timed, *lacking)
        in_shapes = rows["variant"].isin(described(every, rows).ids(SHAPES))
        rows = answering(every, rows[in_shapes | (rows["settings"] == "")], kind)
        cases = summarise(rows, CASES[kind]).sort_values("median_ns")
        cases = cases.drop_duplicates([*case, "variant"]).sort_index()
        copied = pick(cases, variant=copies)[[*case, "samples"]]
        cases = cases.merge(copied, on=case, suffixes=("", "_copy"))
        return cases.assign(share=ratios(cases["samples_copy"], cases["samples"]))

    return data.once(("beside a copy", kind), make)


def described(data: Data, cases: pd.DataFrame) -> Variants:
    """The variants that the files of some cases describe."""
    files = [data.files[number] for number in sorted(set(cases["file"]))]
    return Variants({id_: about for file in files for id_, about in file.variants.items()})


@figure("scan_axis", "python_axis")
def axis_rows(data: Data) -> Shown:
    """Rows against their length: axis_best scans every length at nearly the speed of a copy, where
    CUB and the libraries of Python suit some lengths or none."""
    cases = axis_cases(data)
    about = described(data, cases)
    rows = pick(cases, **SUMS, inner=1)
    rows = marks.heights(rows[rows["octave"] == rows["octave"].max()], "share")
    order = (BEST, "block_per_row", "warp_per_row", *about.ids(CUBS, PYTHON))
    names = [name for name in order if name in set(rows["variant"])]
    or_lacking(names, "timings of sums of f32 in rows beside a copy", BEST, COPY)
    drawn, (axes,) = style.figure(style.COLUMN, 2.7)
    marks.items_axis(axes, rows["items"])
    ends: list[style.End | None] = [marks.level(axes, 1, look(COPY, about), "memcpy", width=2.3)]
    for name in names:
        own, drawn_as = pick(rows, variant=name).sort_values("items"), look(name, about)
        even = power_of_two(own["items"])
        ends.append(marks.curve(axes, own[even], "items", drawn_as, about[name].label))
        form = drawn_as.plot() | {"linestyle": "none"}
        axes.plot(own.loc[~even, "items"], own.loc[~even, "y"], **form)
    axes.set_ylim(bottom=0)
    axes.set(xlabel="items of a row", ylabel="share of a device copy")
    style.margin_legend(axes, ends)
    caption = (
        "Speed of inclusive sums of f32 rows as a share of a device copy of the same bytes, "
        f"against the items of a row. The tensors have about {size(2 ** rows['octave'].max())} "
        "items; cold cache, stream launches. Lines join powers of two; markers beside them are of "
        "other lengths. Bars: 95% intervals."
    )
    used = pick(rows, variant=[*names, COPY])
    return shown(data, drawn, caption, used, details=" ".join(python_notes(names, about)))


@figure("scan_axis", "python_axis")
def axis_shapes(data: Data) -> Shown:
    """The axis and the inner items of a tensor: rows are scanned at nearly the speed of a copy,
    and columns slower, most of all where few of them lie side by side."""
    cells = pick(axis_cases(data), **SUMS, variant=BEST, octave=OCTAVE)
    or_lacking(cells, f"timings of {BEST} by shape, of {size(2**OCTAVE)} items", BEST, COPY)
    cells = marks.heights(cells, "share").drop_duplicates(["items", "inner"])
    grid = cells.pivot(index="inner", columns="items", values="y")
    drawn, (axes,) = style.figure(style.COLUMN, 2.5)
    axes.pcolormesh(grid.to_numpy(), cmap="Blues", vmin=0, vmax=1, edgecolors="white")
    for (row, column), share in np.ndenumerate(grid):
        if np.isfinite(share):
            colour = "white" if share > 0.6 else style.BLACK
            place = {"ha": "center", "va": "center", "fontsize": 7.5}
            axes.text(column + 0.5, row + 0.5, f"{share:.2f}", color=colour, **place)
    axes.set_xticks(np.arange(grid.shape[1]) + 0.5, map(marks.power_of_two, grid.columns))
    axes.set_yticks(np.arange(grid.shape[0]) + 0.5, map(marks.power_of_two, grid.index))
    axes.grid(visible=False)
    axes.set(xlabel="items of the axis", ylabel="inner: items between neighbours")
    caption = (
        f"Speed of `{BEST}` as a share of a device copy of the same bytes, by the items of the "
        "axis and the inner items. The latter lie between neighbours of the axis: 1 in rows, more "
        f"in columns. Inclusive sums of f32, about {size(2**OCTAVE)} items in all; cold cache, "
        "stream launches. Darker is faster; shapes without a number were not timed."
    )
    return shown(data, drawn, caption, cells)


def _scanned(kind: str) -> list[str]:
    """The columns that name what is scanned."""
    return [column for column in CASES[kind] if column not in ("variant", "settings")]


def beside_rivals(
    kind: str, cases: pd.DataFrame, ours: list[str], theirs: list[str], order: dict[str, bool]
) -> pd.DataFrame:
    """The cases of `ours` in order, with the fastest rival of each; None where there is none."""
    case = _scanned(kind)
    rivals = pick(cases, variant=theirs).sort_values("median_ns").drop_duplicates(case)
    rivals = rivals[[*case, "variant", "samples", "share"]].rename(columns={"variant": "rival"})
    both = pick(cases, variant=ours).merge(rivals, on=case, how="left", suffixes=("", "_rival"))
    both = both.sort_values([*order], ascending=[*order.values()], ignore_index=True)
    met = both[both["rival"].notna()]
    ratio = ratios(met["samples_rival"], met["samples"])
    both = both.assign(ratio=ratio, outcome=ratio.map(outcome))
    return both.astype(object).where(both.notna(), None)


def rival_columns(copy: str) -> list[Column]:
    """The columns of `beside_rivals`."""
    return [
        *alike(with_interval, share=f"× {copy}"),
        *alike(lambda id_: text(code(id_ or "")), rival="fastest rival", left=True),
        *alike(with_interval, share_rival=f"× {copy}", group="rival"),
        *alike(with_interval, ratio="× rival"),
        *alike(text, "outcome"),
    ]


def score(rows: pd.DataFrame) -> str:
    """How many of the rows are won, tied and lost."""
    won, tied, lost = (int((rows["outcome"] == result).sum()) for result in (WIN, TIE, LOSS))
    return f"Won: {won}; tied: {tied}; lost: {lost}."


def standings(cases: pd.DataFrame, about: Variants) -> pd.DataFrame:
    """Return the cases of axis_best, `beside_rivals`."""
    order = {"octave": False, "inner": True, "items": True}
    return beside_rivals("scan_axis", cases, [BEST], about.ids(RIVALS), order)


@table("scan_axis", "python_axis")
def axis_standings(data: Data) -> Shown:
    """Sums of f32 along an axis against a copy and the fastest rival, by shape."""
    cases = pick(axis_cases(data), **SUMS)
    about = described(data, cases)
    lacking = f"timings of {BEST} for sums of f32 along an axis"
    rows = or_lacking(standings(cases, about), lacking, BEST, COPY)
    met = rows.loc[rows["rival"].notna(), "octave"]
    if len(met):  # tensors of other sizes are drawn by shape
        rows = rows[rows["octave"].isin(met)].reset_index(drop=True)
    columns = alike(lambda k: size(2**k), octave="items, about")
    columns += alike(whole, "rows", items="axis", inner="inner") + rival_columns("memcpy")
    caption = (
        f"Speed of `{BEST}` over a device copy of the same bytes and over the fastest rival. "
        "Inclusive sums of f32 along the middle axis of a tensor (rows, axis, inner); cold cache, "
        "stream launches. A case is won or lost if the 95% interval excludes 1; a dash is a shape "
        "that no rival was timed for."
    )
    notes = (score(rows), *python_notes(rows["rival"], about))
    content = Table(caption, columns, rows, notes)
    used = pick(cases, variant=[BEST, COPY, *rows["rival"].dropna()])
    return shown(data, content, caption, used)
