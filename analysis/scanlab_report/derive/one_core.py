"""GPU over one core of the same machine, session by session."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from scanlab_report.select.evidence import SessionTimingEvidence, TimingEvidence
from scanlab_report.select.timings import EachSession, Timings
from scanlab_report.select.variants import VENDOR
from scanlab_report.stats import intervals

ONE_CORE = "cpu_sequential"
RANGE = (1024, 2**24)
OURS = ("hso_blocked_padded", "hso_blocked", "hs_blocked")
ALL_CORES = "cpu_parallel"


def over_one_core(*, all_of: Sequence[str] = (), any_of: Sequence[str] = ()) -> EachSession:
    """Sessions that timed one core beside these variants."""
    return EachSession(Timings(("f32", "i32"), all_of=(ONE_CORE, *all_of), any_of=any_of, only=(ONE_CORE, ALL_CORES, *all_of, *any_of), beside=(ALL_CORES,)))


def shown(timings: SessionTimingEvidence) -> list[str]:
    """What was asked for by name, or else the first of OURS that any session timed beside one core, and CUB, as far as they were timed so."""
    named = [v for v in timings.named if v not in (ONE_CORE, ALL_CORES)]
    timed = [v for v in named or (*OURS, VENDOR) if not by_session(timings, v, ONE_CORE).empty]
    if named:
        return timed
    return [v for v in timed if v in OURS][:1] + [v for v in timed if v == VENDOR]


def by_session(timings: SessionTimingEvidence, above: str, below: str) -> pd.DataFrame:
    """``items``, ``type``, ``ratio``, ``low``, ``high``, ``sessions``: :func:`speedups` over all sessions that have a size, and how many have it.

    Of several sessions the least, of the fastest core, up to the most; of a single one its ratio with its interval.
    """
    every = pd.concat([speedups(session, above, below) for session in timings.sessions], ignore_index=True)
    rows = []
    for n, of in every.groupby("items"):
        alone = len(of) == 1
        low, high = (of["low"].iloc[0], of["high"].iloc[0]) if alone else (of["ratio"].min(), of["ratio"].max())
        rows.append((n, of["type"].iloc[0], of["ratio"].min(), low, high, len(of)))
    return pd.DataFrame(rows, columns=["items", "type", "ratio", "low", "high", "sessions"])


def speedups(timings: TimingEvidence, above: str, below: str) -> pd.DataFrame:
    """``items``, ``type``, ``ratio``, ``low``, ``high``: time of ``below`` over time of ``above``, cold if timed so."""
    cache = timings.caches()[0]
    gpu = timings.of(above, cache=cache).set_index("items")
    cpu = timings.of(below, cache=cache)
    cpu = (cpu if not cpu.empty else timings.of(below)).drop_duplicates("items").set_index("items")
    rows = []
    for n in sorted(set(gpu.index) & set(cpu.index)):
        if RANGE[0] <= n <= RANGE[1]:
            ratio = intervals.ratio_interval(cpu.at[n, "samples"], gpu.at[n, "samples"])
            rows.append((n, gpu.at[n, "type"], ratio.value, ratio.low, ratio.high))
    return pd.DataFrame(rows, columns=["items", "type", "ratio", "low", "high"])
