"""GPU scans over one CPU core, in 2007 and now."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from scanlab_report import marks, style
from scanlab_report.chapters.scans import ALL, host_of
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table, significant, size, with_interval
from scanlab_report.groups import ANY_TYPE, VENDOR
from scanlab_report.intervals import Interval, ratio_intervals
from scanlab_report.looks import look
from scanlab_report.pick import Lacking, Query, by_device, caches, of_variant, parts, pick
from scanlab_report.shown import Shown, figure, shown, table

ONE_CORE, ALL_CORES = "cpu_sequential", "cpu_parallel"
OF_2007 = ("hso_blocked_padded", "hso_blocked", "hs_blocked")
CORE_RANGE = (1024, 2**24)


def core_sessions(
    data: Data,
    types: Sequence[str] = ("f32", "i32"),
    all_of: Sequence[str] = (),
    any_of: Sequence[str] = (),
) -> list[pd.DataFrame]:
    """The cases of every session that timed one core beside some variants, the newest first: times
    of a CPU vary by the session."""
    only = (ONE_CORE, ALL_CORES, *all_of, *any_of)
    query = Query(
        tuple(types),
        all_of=(ONE_CORE, *all_of),
        any_of=tuple(any_of),
        only=only,
        references=(ALL_CORES,),
    ).asked(data)
    every = data.every or data

    def make() -> list[pd.DataFrame]:
        for _, _, rows in by_device(every, "scan", query.kinds):
            newest = sorted(set(rows["file"]), key=lambda n: (every.files[n].date, n), reverse=True)
            for type_name in query.types:
                tables = [query.of_type(every, pick(rows, file=n), type_name) for n in newest]
                if answers := [cases for cases in tables if query.answered(every, cases)]:
                    return answers
        return []

    sessions = data.once(("core", query), make)
    if not sessions:
        raise Lacking(query.words(), [ONE_CORE, *all_of, *any_of])
    return sessions


def core_shown(data: Data, sessions: list[pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return `over_core` of the variants that the user named, or else of the first of OF_2007 and
    of CUB, as far as a session timed them beside one core."""
    named = [v for v in data.ask.variants if v not in (ONE_CORE, ALL_CORES)]
    rows = {v: over_core(sessions, v, ONE_CORE) for v in named or (*OF_2007, VENDOR)}
    present = [v for v in rows if len(rows[v])]
    if not named:
        present = [v for v in present if v in OF_2007][:1] + [v for v in present if v == VENDOR]
    return {v: rows[v] for v in present}


def over_core(sessions: list[pd.DataFrame], above: str, below: str) -> pd.DataFrame:
    """Return `items`, `type`, `ratio`, `low`, `high`, `sessions`: the time of `below` over the time
    of `above` at each size. The interval goes from the least to the largest ratio of several
    sessions; one session has its own interval."""
    every = pd.concat([session_over_core(cases, above, below) for cases in sessions])
    every = every.assign(most=every["ratio"], sessions=1)
    how = {name: "first" for name in ("type", "low", "high")} | {"ratio": "min", "most": "max"}
    rows = every.groupby("items", as_index=False).agg(how | {"sessions": "size"})
    several = rows["sessions"] > 1
    low, high = rows["low"].mask(several, rows["ratio"]), rows["high"].mask(several, rows["most"])
    return rows.assign(low=low, high=high)


def session_over_core(cases: pd.DataFrame, above: str, below: str) -> pd.DataFrame:
    cache = caches(cases)[0]
    cpu = of_variant(cases, below, cache=cache)
    cpu = (of_variant(cases, below) if cpu.empty else cpu).drop_duplicates("items")
    both = of_variant(cases, above, cache=cache).merge(cpu, on="items", suffixes=("", "_cpu"))
    both = both[both["items"].between(*CORE_RANGE)]
    ratios = ratio_intervals(list(both["samples_cpu"]), list(both["samples"]))
    return pd.DataFrame({"items": both["items"], "type": both["type"]} | parts(ratios))


@figure("scans", follows=ALL)
def speedup(data: Data) -> Shown:
    """Speedup of GPU scans over one CPU core, beside the values of 2007."""
    published = published_table(data, "hso2007_table2")
    types = tuple(dict.fromkeys(("f32", "i32", *ANY_TYPE)))
    sessions = core_sessions(data, types, any_of=(*OF_2007, VENDOR))
    drawn, (axes,) = style.figure(style.COLUMN, 3.0)
    axes.set_yscale("log")
    marks.items_axis(axes, CORE_RANGE)
    marks.decade_axis(axes.yaxis)
    axes.axhline(1, color=style.BLACK, linewidth=0.6)
    about = data.variants

    def add(rows: pd.DataFrame, drawn_as: style.Look, label: str) -> None:
        axes.plot(rows["items"], rows["ratio"], label=label, **drawn_as.plot())
        marks.ratio_bars(axes, rows, drawn_as.colour)

    for variant, rows in core_shown(data, sessions).items():
        label = about[variant].label
        add(rows, look(variant, about), f"{label} / one core, {rows['type'].iloc[0]}")
        if variant == VENDOR and len(every_core := over_core(sessions, variant, ALL_CORES)):
            add(every_core, look(ALL_CORES, about), f"{label} / all cores")
    printed = published.table
    axes.plot(
        printed["items"],
        printed["cpu_ms"] / printed["gpu_ms"],
        color=style.VERMILLION,
        marker="*",
        markersize=5,
        linestyle="-.",
        label=f"{published.citation} (8800 GTX)",
    )
    axes.set_ylabel("speedup, CPU time / GPU time")
    axes.legend(loc="upper left", borderaxespad=0.2)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * 6)
    hosts = "; ".join(sorted({host_of(data.every or data, own) for own in sessions} - {""}))
    details = (
        "All times are of one session alone; bars: 95% intervals."
        if len(sessions) == 1
        else f"Points take the fastest core of {len(sessions)} sessions, bars reach to the "
        "slowest, since CPU times differ between sessions."
    )
    same = (
        "Inclusive"
        if data.ask.variants
        else ("The same algorithm is `hso_blocked_padded`; inclusive")
    )
    return shown(
        data,
        drawn,
        "Speedup of GPU scans over one CPU core of the same machine, against array size, beside "
        f"the values of Harris, Sengupta and Owens (2007). {same} sums, cold cache where timed, "
        "stream launches. Below 1 the CPU is faster. Published values have no bars.",
        pd.concat(sessions, ignore_index=True),
        details=f"{details} Host: {hosts}." if hosts else details,
    )


def published_table(data: Data, name: str):
    """A table of the literature; Lacking if it was not read."""
    if name not in data.published:
        raise Lacking(f"published table {name}")
    return data.published[name]


@table("scans", name="speedup")
def speedup_table(data: Data) -> Shown:
    """Speedup of GPU scans over one CPU core, in 2007 and now, by size."""
    frame = published_table(data, "hso2007_table2").table[["items", "cpu_ms", "gpu_ms"]].copy()
    sessions = core_sessions(data, any_of=(*OF_2007, VENDOR))
    frame["speedup_2007"] = frame["cpu_ms"] / frame["gpu_ms"]
    columns = [Column("items", "n", size)]
    columns += [
        Column(key, heading, significant, group="2007")
        for key, heading in (
            ("cpu_ms", "CPU, ms"),
            ("gpu_ms", "GPU, ms"),
            ("speedup_2007", "speedup"),
        )
    ]
    same = ""
    for variant, rows in core_shown(data, sessions).items():
        now = {
            row.items: Interval(row.ratio, row.low, row.high, row.sessions)
            for row in rows.itertuples()
        }
        frame[f"speedup_{variant}"] = pd.Series(
            [now.get(n) for n in frame["items"]], dtype=object, index=frame.index
        )
        heading = "CUB" if variant == VENDOR else "same"
        columns.append(Column(f"speedup_{variant}", heading, with_interval, group="speedup now"))
        same += f" The same algorithm now is `{variant}`." if variant != VENDOR else ""
    brackets = (
        "Now: one session, with 95% intervals in brackets."
        if len(sessions) == 1
        else f"Now: with the fastest core of {len(sessions)} sessions; in brackets between the "
        "fastest and the slowest, since CPU times differ between sessions."
    )
    caption = (
        "Sequential CPU time over GPU time, published in 2007 and measured now. The source "
        f"prints the ninth size, 8388608, as 8388688.{same} {brackets}"
    )
    return shown(
        data, Table(caption, columns, frame), caption, pd.concat(sessions, ignore_index=True)
    )
