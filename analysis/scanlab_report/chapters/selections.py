"""Selections, partitions and folds of runs beside a copy that reads all and writes as much."""

from typing import Any

import pandas as pd
from matplotlib.lines import Line2D

from scanlab_report import marks, style
from scanlab_report.chapters.axes import beside_copy, beside_rivals, described, rival_columns, score
from scanlab_report.chapters.segments import LENGTHS
from scanlab_report.chapters.standings import python_notes
from scanlab_report.data import Data, Variants
from scanlab_report.formats import Column, Table, alike, code, digits, enumerated, size
from scanlab_report.groups import RIVALS, STREAM
from scanlab_report.intervals import summarise
from scanlab_report.looks import form, look
from scanlab_report.pick import answering, pick
from scanlab_report.shown import Shown, figure, shown, table
from scanlab_report.tables import CASES
from scanlab_report.versus import on_first, or_lacking, ratios

GROUP = 128
"""Items of which `kept` are kept."""
OURS = {"select": "select", "partition": "partition"}
OURS |= {"reduce_by_key": "runs", "run_length_encode": "lengths", "unique": "unique"}
"""The primitives, and what the ids of their variants begin with."""
DRAWN = {"look_ahead": "Scanlab's best", "passes": "passes"}
ALLOCATE = (
    "Thrust and libraries of Python wait on the host for the number of results, and the latter "
    "allocate them."
)
NEEDS_13_2 = "CUB's look-ahead for `Encode` needs CUDA 13.2, and is not compiled here."
SELECTIONS, FOLDS = [*OURS][:2], [*OURS][2:]
VARIED = {"select": "kept", "runs": "segment"}
"""The column that each table varies."""
I32: dict[str, Any] = dict(type="i32", op="plus", cache="cold", launch=STREAM)


def table_of(entry: str) -> str:
    return "runs" if entry in FOLDS else "select"


def compacted(data: Data, *entries: str) -> pd.DataFrame:
    """The cases of i32 of some primitives of one table, `beside_copy`; `kept`: a share."""
    kind = table_of(entries[0])
    copies = [f"{prefix}_copy" for entry, prefix in OURS.items() if table_of(entry) == kind]
    timed = lambda rows: rows if rows["variant"].isin(copies).any() else ()
    lacking = f"timings of {' or '.join(entries)} on a CUDA device"
    cases = pick(beside_copy(data, kind, copies, timed, lacking, *copies), **I32, entry=entries)
    return pick(cases, width=4) if kind == "runs" else cases.assign(kept=cases["kept"] / GROUP)


def standings(data: Data, *entries: str) -> pd.DataFrame:
    """The cases of the fastest variants, with the fastest rival of each."""
    cases, kind = compacted(data, *entries), table_of(entries[0])
    best = [f"{OURS[entry]}_look_ahead" for entry in entries]
    order = {"entry": kind == "runs", "items": False, VARIED[kind]: True}
    rows = beside_rivals(kind, cases, best, described(data, cases).ids(RIVALS), order)
    rows = rows[rows["rival"].notna()].reset_index(drop=True)
    return or_lacking(rows, f"timings of {' or '.join(best)} beside a rival", *best)


def drawn(data: Data, entry: str) -> tuple[pd.DataFrame, Variants]:
    """The cases of the most items, with the heights of their shares."""
    cases = compacted(data, entry)
    cases = marks.heights(cases[cases["items"] == cases["items"].max()], "share")
    return cases.sort_values(VARIED[table_of(entry)]), described(data, cases)


@figure("selections", "python_select")
def selections(data: Data) -> Shown:
    """Selections against the share that is kept: Scanlab's are nearly as fast as a copy that moves
    the same bytes, and those of CUB and of libraries of Python are slower."""
    cases, about = drawn(data, "select")
    page, (axes,) = style.figure(style.COLUMN, 2.7)
    ends: list[style.End | None] = [
        marks.level(axes, 1, look("select_copy", about), "copy", width=2.3)
    ]
    for name in ("select_look_ahead", "select_passes", *about.ids(RIVALS)):
        if len(own := pick(cases, variant=name)):
            ends.append(marks.curve(axes, own, "kept", look(name, about), about[name].label))
    axes.set_ylim(bottom=0)
    axes.set(xlabel="share of the items that is kept", ylabel="share of a copy")
    style.margin_legend(axes, ends)
    caption = (
        "Speed of selections of i32 by flags of a byte as a share of a copy that reads the items "
        "and flags and writes as many items, against the share that is kept. "
        f"{size(cases['items'].max())} items; cold cache, stream launches. Bars: 95% intervals. "
        f"{ALLOCATE}"
    )
    notes = python_notes(cases["variant"], about)
    return shown(data, page, caption, cases, details=" ".join(notes))


@figure("selections", "python_select")
def runs(data: Data) -> Shown:
    """Folds, lengths and keys of runs against the mean length: Scanlab's are nearly as fast as a
    copy that moves the same bytes, and CUB's are slower."""
    page, panels = style.figure(style.DOUBLE, 2.5, 3)
    used, named = [], dict[str, style.Look]()
    for panel, entry in zip(panels, FOLDS, strict=True):
        cases, about = drawn(data, entry)
        ours = {f"{OURS[entry]}_{name}": own for name, own in DRAWN.items()}
        others = {name: about[name].label for name in about.ids(RIVALS)}
        for name, label in (ours | others).items():
            if len(own := pick(cases, variant=name)):
                colour = style.BLACK if name in others else style.VERMILLION
                own_look = named.setdefault(label, form(len(named), colour)).plot()
                panel.plot(own["segment"], own["y"], **own_look)
        panel.set_xscale("log", base=2)
        panel.axhline(1, color=style.BLACK, linewidth=1)
        panel.set_ylim(0, 1.05)
        panel.set(title=entry, xlabel="mean items of a run")
        used.append(cases)
    samples = [Line2D([], [], label=label, **own.plot()) for label, own in named.items()]
    style.legend(page, samples)
    panels[0].set_ylabel("share of a copy")
    caption = (
        "Speed of sums, of lengths and of keys of runs of equal keys as a share of a copy that "
        "reads the keys, and for sums the i32 items, and writes as many results. "
        f"{size(cases['items'].max())} keys of 4 bytes; cold cache, stream launches. {ALLOCATE}"
    )
    notes = python_notes(cases["variant"], about)
    return shown(data, page, caption, pd.concat(used), details=" ".join(notes))


def standings_table(
    data: Data, entries: list[str], columns: list[Column], about: str, moved: str, *more: str
) -> Shown:
    rows, cases = standings(data, *entries), compacted(data, *entries)
    ours = [f"{OURS[entry]}_look_ahead" for entry in entries]
    caption = (
        f"Speed of {enumerated(map(code, ours))} over a copy that reads {moved}, and over the "
        "fastest rival: CUB with its defaults or in a tuned shape, or a library of Python. "
        f"{about}; cold cache, stream launches. A case is won or lost if the 95% interval excludes "
        "1."
    )
    python = python_notes(rows["rival"], described(data, cases))
    notes = (score(rows), *more, *python, *([ALLOCATE] if python else []))
    content = Table(caption, [*columns, *rival_columns("copy")], rows, notes)
    copies = [f"{OURS[entry]}_copy" for entry in entries]
    return shown(data, content, caption, pick(cases, variant=[*ours, *copies, *rows["rival"]]))


@table("selections", "python_select")
def selection_standings(data: Data) -> Shown:
    """Selections and partitions of i32 against a copy and the fastest rival, by the share that is
    kept."""
    columns = [*alike(code, entry="primitive"), *alike(size, "items"), *alike(digits(2), "kept")]
    moved = "the items and flags and writes as many items"
    return standings_table(data, SELECTIONS, columns, "Items of i32, flags of a byte", moved)


@table("selections", "python_select")
def run_standings(data: Data) -> Shown:
    """Folds, lengths and keys of runs against a copy and the fastest rival, by the length of
    runs."""
    moved = "the keys, and for sums the i32 items, and writes as many results"
    return standings_table(data, FOLDS, LENGTHS, "Keys of 4 bytes", moved, NEEDS_13_2)


@figure("applications")
def applications(data: Data) -> Shown:
    """Applications of scans against PyTorch: a filter, top-p sampling and a CSR matrix are faster
    with the functions of Scanlab in the place of PyTorch's."""
    every = data.every or data
    rows = on_first(every, "applications", lambda own: own, "timings of applications.py", "torch")
    rows = answering(every, rows, "applications")
    cases = summarise(rows, CASES["applications"])
    theirs, ours = (pick(cases, variant=name) for name in ("torch", "scanlab"))
    both = theirs.merge(ours, on=["application", "items", "rows"], suffixes=("_torch", ""))
    both = both.assign(ratio=ratios(both["samples_torch"], both["samples"]))
    both = marks.heights(both.iloc[::-1].reset_index(drop=True), "ratio")
    page, (axes,) = style.figure(style.COLUMN, 2.5)
    bars = axes.barh(both.index, both["y"], color=style.BLUE, height=0.6)
    axes.bar_label(bars, fmt="%.1f", padding=2)
    axes.set_yticks(both.index, both["application"] + ", " + both["items"].map(size))
    axes.axvline(1, color=style.BLACK, linewidth=1)
    axes.set_xlabel("speed over PyTorch")
    caption = (
        "Speed of `examples/torch/applications.py` with functions of Scanlab over the same with "
        "those of PyTorch: a filter that keeps a tenth of a column, top-p sampling with p = 0.9 in "
        "rows of 2^17 sorted probabilities, and a CSR matrix of sorted entries, four to a place. "
        "Host time of warm calls, with the wait for the number of results. Those of Scanlab are "
        "the front of tensors as large as the input."
    )
    return shown(data, page, caption, rows)
