"""What each idea of ``look_ahead`` is worth: its time without the idea over its time with it."""

from __future__ import annotations

import pandas as pd

from scanlab_report.derive.shares import shares
from scanlab_report.select.evidence import TimingEvidence
from scanlab_report.select.timings import Timings

WHOLE = "look_ahead"
SIZES = (2**20, 2**24, 2**28)
WITHOUT = {
    "2 stages": (WHOLE, "stages=2"),
    "3 stages": (WHOLE, "stages=3"),
    "4 stages": (WHOLE, "stages=4"),
    "5 stages": (WHOLE, "stages=5"),
    "1 tile loading": (WHOLE, "loading=1"),
    "4 tiles loading": (WHOLE, "loading=4"),
    "all tiles loading": (WHOLE, "loading=all"),
    "static tiles": (WHOLE, "assignment=static"),
    "no PDL": (WHOLE, "pdl=no"),
    "states at once": (WHOLE, "asking=at_once"),
    "arrival per lane": (WHOLE, "arrivals=lane"),
    "decoupled_lookback": ("decoupled_lookback", ""),
    "reduce_then_scan": ("reduce_then_scan", ""),
}
"""Each experiment: the variant that runs, and its settings."""
_TIMED = (WHOLE, "decoupled_lookback", "reduce_then_scan")
NEEDS = {"timings": Timings(all_of=_TIMED, only=_TIMED)}


def ablation(timings: TimingEvidence) -> pd.DataFrame:
    """``idea``, ``items``, ``ratio``, ``low``, ``high``, in the order of WITHOUT; a ratio above 1: slower without the idea."""
    rows = []
    for idea, (variant, settings) in WITHOUT.items():
        for of in shares(timings, variant, WHOLE, timings.caches()[0], settings).itertuples():
            if of.items in SIZES:
                rows.append((idea, int(of.items), 1 / of.ratio, 1 / of.high, 1 / of.low))
    return pd.DataFrame(rows, columns=["idea", "items", "ratio", "low", "high"])
