"""The ladder of variants as shares of a copy, at the largest size."""

from __future__ import annotations

import pandas as pd

from scanlab_report.derive.shares import shares
from scanlab_report.select.evidence import TimingEvidence
from scanlab_report.select.timings import Timings
from scanlab_report.select.variants import BEST, CEILING, LARGEST

LADDER = (
    "hs_multipass", "hso_blocked_padded", "hs_blocked", "warp_shuffle", "reduce_then_scan", "decoupled_lookback",
    "look_ahead", BEST,
)  # fmt: skip
"""The rungs that a reader climbs, each one idea beyond the last: a course that the papers and the variants' page tell, and no fact of a file."""
SINGLE_PASS = LADDER[3:]
NEEDS = {"timings": Timings(all_of=(CEILING,), any_of=SINGLE_PASS)}


def rungs_at_largest(timings: TimingEvidence) -> pd.DataFrame:
    """``variant``, ``ratio``, ``low``, ``high``: the rungs that were timed at LARGEST, in the order of the ladder."""
    rows = []
    for variant in LADDER:
        of = shares(timings, variant, CEILING, timings.caches()[0])
        rows += [(variant, r.ratio, r.low, r.high) for r in of[of["items"] == size_of(timings)].itertuples()]
    return pd.DataFrame(rows, columns=["variant", "ratio", "low", "high"])


def size_of(timings: TimingEvidence) -> int:
    """LARGEST, or as near to it as the copy was timed."""
    copied = timings.series(CEILING, cache=timings.caches()[0])["items"]
    return int(copied[copied <= max(LARGEST, copied.min())].max())
