"""A single wave, from an empty launch over two copies to a scan."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scanlab_report.select.evidence import TimingEvidence, powers_of_two
from scanlab_report.select.timings import Timings
from scanlab_report.select.variants import BEST, CUBS, FLOOR, MEETING_CEILING, VECTOR_CEILING

LAUNCH = "graph"
SMALLEST, LARGEST = 1 << 10, 1 << 22
STEPS = (FLOOR, VECTOR_CEILING, MEETING_CEILING, BEST, "cub")
"""Each does what the one before does and something more; CUB stands for the fastest of its scans."""
NEEDS = {"timings": Timings(all_of=(MEETING_CEILING, VECTOR_CEILING, FLOOR, BEST), any_of=(CUBS,), launches=(LAUNCH,),
                            only=(FLOOR, VECTOR_CEILING, MEETING_CEILING, BEST, CUBS))}  # fmt: skip


def steps(timings: TimingEvidence) -> pd.DataFrame:
    """``step``, ``items``, ``us``, ``low``, ``high``: microseconds at each power of two from SMALLEST to LARGEST."""
    cases = _warm(timings)
    cases = cases.assign(step=cases["variant"].where(~cases["variant"].isin(timings.about.ids(CUBS)), "cub"))
    sized = _sized(cases)
    floor = cases[cases["variant"] == FLOOR].iloc[-1:]
    floors = pd.concat([floor.assign(items=n) for n in sorted(set(sized["items"]))])
    rows = pd.concat([sized, floors]).sort_values("median_ns").drop_duplicates(["step", "items"])  # the fastest CUB
    rows = rows.sort_values(["step", "items"], ignore_index=True)
    return pd.DataFrame({"step": rows["step"], "items": rows["items"].astype(np.int64)}
                        | {name: rows[f"{of}_ns"] / 1e3 for name, of in (("us", "median"), ("low", "low"), ("high", "high"))})  # fmt: skip


def lacks(timings: TimingEvidence) -> str:
    """See :data:`scanlab_report.select.needs.Lacks`."""
    return "warm timings at a power of two from 2^10 to 2^22" if _sized(_warm(timings)).empty else ""


def _warm(timings: TimingEvidence) -> pd.DataFrame:
    return timings.cases[(timings.cases["cache"] == "warm") & (timings.cases["settings"] == "")]


def _sized(cases: pd.DataFrame) -> pd.DataFrame:
    return cases[cases["items"].between(SMALLEST, LARGEST) & powers_of_two(cases["items"])]
