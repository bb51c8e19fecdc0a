"""Selections and folds of runs beside a copy that reads all and writes as much."""

from typing import Any

import pandas as pd

from scanlab_report import marks, style
from scanlab_report.chapters.axes import beside_copy, beside_rivals, described, rival_columns, score
from scanlab_report.chapters.segments import LENGTHS, SUMS
from scanlab_report.data import Data
from scanlab_report.formats import Table, alike, digits, size
from scanlab_report.groups import RIVALS, STREAM
from scanlab_report.looks import look
from scanlab_report.pick import pick
from scanlab_report.shown import Shown, figure, shown, table
from scanlab_report.versus import or_lacking

BEST, COPY = "select_look_ahead", "select_copy"
GROUP = 128
"""Items of which `kept` are kept."""
OURS = {"reduce_by_key": "runs", "run_length_encode": "lengths"}
"""The primitives of runs, and what the ids of their variants begin with."""
OF_I32: dict[str, Any] = dict(type="i32", cache="cold", launch=STREAM)


def select_cases(data: Data) -> pd.DataFrame:
    """The cases `beside_copy`; `kept`: the share of the items."""
    timed = lambda rows: rows if {COPY, BEST} <= set(rows["variant"]) else ()
    lacking = "timings of selections on a CUDA device"
    cases = beside_copy(data, "select", [COPY], timed, lacking, BEST, COPY)
    return cases.assign(kept=cases["kept"] / GROUP)


@figure("selections")
def selections(data: Data) -> Shown:
    """Selections against the share that is kept: Scanlab's are about as fast as a copy that moves
    the same bytes, and CUB's are slower, most of all where little is kept."""
    cases = pick(select_cases(data), **OF_I32)
    cases = marks.heights(cases[cases["items"] == cases["items"].max()], "share")
    about = described(data, cases)
    drawn, (axes,) = style.figure(style.COLUMN, 2.5)
    ends: list[style.End | None] = [marks.level(axes, 1, look(COPY, about), "copy", width=2.3)]
    for name in (BEST, "select_passes", *about.ids(RIVALS)):
        own = pick(cases, variant=name).sort_values("kept")
        if len(own):
            ends.append(marks.curve(axes, own, "kept", look(name, about), about[name].label))
    axes.set_ylim(bottom=0)
    axes.set(xlabel="share of the items that is kept", ylabel="share of a copy")
    style.margin_legend(axes, ends)
    caption = (
        "Speed of selections of i32 by flags of a byte as a share of a copy that reads the items "
        "and flags and writes as many items, against the share that is kept. "
        f"{size(cases['items'].max())} items; cold cache, stream launches. Bars: 95% intervals."
    )
    return shown(data, drawn, caption, cases)


@table("selections")
def selection_standings(data: Data) -> Shown:
    """Selections of i32 against a copy and the fastest rival, by the share that is kept."""
    cases = pick(select_cases(data), **OF_I32)
    about = described(data, cases)
    order = {"items": False, "kept": True}
    rows = beside_rivals("select", cases, [BEST], about.ids(RIVALS), order)
    rows = rows[rows["rival"].notna()].reset_index(drop=True)
    or_lacking(rows, f"timings of {BEST} beside CUB", BEST)
    columns = [*alike(size, "items"), *alike(digits(2), kept="kept"), *rival_columns("copy")]
    caption = (
        f"Speed of `{BEST}` over a copy that reads the items and flags and writes as many items, "
        "and over the fastest rival. Items of i32, flags of a byte; cold cache, stream launches. "
        "A case is won or lost if the 95% interval excludes 1."
    )
    content = Table(caption, columns, rows, (score(rows),))
    used = pick(cases, variant=[BEST, COPY, *rows["rival"]])
    return shown(data, content, caption, used)


def run_cases(data: Data) -> pd.DataFrame:
    """The cases of sums, and of lengths, `beside_copy`."""
    copies = [f"{prefix}_copy" for prefix in OURS.values()]
    timed = lambda rows: rows if rows["variant"].isin(copies).any() else ()
    lacking = "timings of folds of runs on a CUDA device"
    return pick(beside_copy(data, "runs", copies, timed, lacking, "runs_copy"), **SUMS)


@figure("selections")
def runs(data: Data) -> Shown:
    """Folds and lengths of runs against the mean length: Scanlab's are nearly as fast as a copy
    that moves the same bytes, and CUB's take about twice as long."""
    cases = run_cases(data)
    cases = marks.heights(cases[cases["items"] == cases["items"].max()], "share")
    about = described(data, cases)
    drawn, panels = style.figure(style.DOUBLE, 2.5, 2)
    for panel, (entry, prefix) in zip(panels, OURS.items(), strict=True):
        rows = pick(cases, entry=entry)
        for name in (f"{prefix}_look_ahead", f"{prefix}_passes", *about.ids(RIVALS)):
            own = pick(rows, variant=name).sort_values("segment")
            form = look(name.replace(prefix, "select"), about).plot()
            if len(own):
                panel.plot(own["segment"], own["y"], label=about[name].label or name, **form)
        panel.set_xscale("log", base=2)
        panel.axhline(1, color=style.BLACK, linewidth=1)
        panel.set_ylim(0, 1.05)
        panel.set(title=entry, xlabel="mean items of a run")
    style.legend(drawn, panels[0], columns=4)
    panels[0].set_ylabel("share of a copy")
    caption = (
        "Speed of sums and of lengths of runs of equal keys as a share of a copy that reads the "
        "keys, and for sums the i32 items, and writes as many results. "
        f"{size(cases['items'].max())} keys of 4 bytes; cold cache, stream launches."
    )
    return shown(data, drawn, caption, cases)


@table("selections")
def run_standings(data: Data) -> Shown:
    """Folds and lengths of runs against a copy and the fastest rival, by the length of runs."""
    cases = run_cases(data)
    about = described(data, cases)
    best = [f"{prefix}_look_ahead" for prefix in OURS.values()]
    order = {"entry": True, "items": False, "segment": True}
    rows = beside_rivals("runs", cases, best, about.ids(RIVALS), order)
    rows = rows[rows["rival"].notna()].reset_index(drop=True)
    or_lacking(rows, "timings of runs_look_ahead beside CUB", *best)
    caption = (
        "Speed of `runs_look_ahead` and `lengths_look_ahead` over a copy that reads the keys, and "
        "for sums the i32 items, and writes as many results, and over the fastest rival. Keys of 4 "
        "bytes; cold cache, stream launches. A case is won or lost if the 95% interval excludes 1."
    )
    content = Table(caption, [*LENGTHS, *rival_columns("copy")], rows, (score(rows),))
    used = pick(cases, variant=[*best, *rows["rival"], "runs_copy", "lengths_copy"])
    return shown(data, content, caption, used)
