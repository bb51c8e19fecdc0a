"""GPU scans over one CPU core, in 2007 and now."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from scanlab_report import marks, style
from scanlab_report.chapters.scans import host_of
from scanlab_report.data import Data, Publication
from scanlab_report.groups import VENDOR
from scanlab_report.intervals import ratio_intervals
from scanlab_report.looks import look
from scanlab_report.pick import Lacking, by_device, caches, has, of_type, of_variant, parts, pick
from scanlab_report.shown import Shown, figure, shown

ONE_CORE, ALL_CORES = "cpu_sequential", "cpu_parallel"
OF_2007 = ("hso_blocked_padded", "hso_blocked", "hs_blocked")
CORE_RANGE = (1024, 2**24)


def core_sessions(
    data: Data, all_of: Sequence[str] = (), any_of: Sequence[str] = ()
) -> list[pd.DataFrame]:
    """The sums of every session that timed one core beside some variants, the newest first: times
    of a CPU vary by the session. The type is f32, or i32 where no session timed f32."""
    members, every = (ONE_CORE, *all_of), data.every or data
    only = (*members, ALL_CORES, *any_of)
    for _, _, rows in by_device(every, "scan"):
        newest = sorted(set(rows["file"]), key=lambda n: (every.files[n].date, n), reverse=True)
        for type_name in ("f32", "i32"):
            tables = [of_type(every, pick(rows, file=n), type_name, "plus", only) for n in newest]
            if answers := [cases for cases in tables if has(every, cases, members, any_of)]:
                return answers
    wanted = [*members, *any_of[:1]]
    raise Lacking(f"timings of sums by {' and '.join(wanted)} on a CUDA device", wanted)


def over_core(sessions: list[pd.DataFrame], above: str, below: str) -> pd.DataFrame:
    """Return `items`, `type`, `ratio`, `low`, `high`: the time of `below` over the time of `above`
    at each size. The interval goes from the least to the largest ratio of several sessions; one
    session has its own interval."""
    every = pd.concat([session_over_core(cases, above, below) for cases in sessions])
    sized = every.groupby("items")
    rows = sized.agg({"type": "first", "low": "first", "high": "first", "ratio": "min"})
    several = sized.size() > 1
    low, high = (
        rows["low"].mask(several, rows["ratio"]),
        rows["high"].mask(several, sized.ratio.max()),
    )
    return rows.assign(low=low, high=high).reset_index()


def session_over_core(cases: pd.DataFrame, above: str, below: str) -> pd.DataFrame:
    """Return `items`, `type`, `ratio`, `low`, `high` of one session; CPUs may be warm only."""
    cache = caches(cases)[0]
    cpu = of_variant(cases, below, cache=cache)
    cpu = (of_variant(cases, below) if cpu.empty else cpu).drop_duplicates("items")
    both = of_variant(cases, above, cache=cache).merge(cpu, on="items", suffixes=("", "_cpu"))
    both = both[both["items"].between(*CORE_RANGE)]
    ratios = ratio_intervals(list(both["samples_cpu"]), list(both["samples"]))
    return pd.DataFrame({"items": both["items"], "type": both["type"]} | parts(ratios))


@figure("scans")
def speedup(data: Data) -> Shown:
    """Speedup of GPU scans over one CPU core, beside the values of 2007."""
    published = published_table(data, "hso2007_table2")
    sessions = core_sessions(data, any_of=(*OF_2007, VENDOR))
    drawn, (axes,) = style.figure(style.COLUMN, 3.0)
    axes.set_yscale("log")
    marks.items_axis(axes, CORE_RANGE)
    marks.decade_axis(axes.yaxis)
    axes.axhline(1, color=style.BLACK, linewidth=0.6)
    about = data.variants
    timed = {name for cases in sessions for name in cases["variant"]}
    same = next((name for name in OF_2007 if name in timed), OF_2007[0])
    for above, below, core, drawn_as in (
        (same, ONE_CORE, "one core", look(same, about)),
        (VENDOR, ONE_CORE, "one core", look(VENDOR, about)),
        (VENDOR, ALL_CORES, "all cores", look(ALL_CORES, about)),
    ):
        rows = over_core(sessions, above, below)
        label = f"{about[above].label} / {core}, {sessions[0]['type'].iloc[-1]}"
        marks.curve(axes, rows, "items", drawn_as, label, "ratio")
    then = published.table.assign(y=published.table["cpu_ms"] / published.table["gpu_ms"])
    star = style.Look(style.VERMILLION, "*", "-.")
    marks.curve(axes, then, "items", star, f"{published.citation} (8800 GTX)", markersize=5)
    axes.set_ylabel("speedup, CPU time / GPU time")
    axes.legend(loc="upper left", borderaxespad=0.2)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * 6)
    hosts = "; ".join(sorted({host_of(data.every or data, own) for own in sessions}))
    caption = (
        "Speedup of GPU scans over one CPU core of the same machine, against array size, beside "
        "the values of Harris, Sengupta and Owens (2007): inclusive sums, cold cache where timed, "
        f"stream launches. The same algorithm is `{same}`; below 1 the CPU is faster. Points take "
        "the fastest core of all sessions, and bars reach to the slowest; of one session, bars are "
        "95% intervals."
    )
    details = f"Sessions: {len(sessions)}. Host: {hosts}."
    return shown(data, drawn, caption, pd.concat(sessions, ignore_index=True), details=details)


def published_table(data: Data, name: str) -> Publication:
    """A table of the literature; Lacking if it was not read."""
    if name not in data.published:
        raise Lacking(f"published table {name}")
    return data.published[name]
