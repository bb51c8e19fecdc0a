"""Speed against the size of a tile."""

from __future__ import annotations

import pandas as pd

from scanlab_report.derive.shares import shares
from scanlab_report.read.records import ideal_bytes
from scanlab_report.select.evidence import TimingEvidence
from scanlab_report.select.timings import Timings
from scanlab_report.select.variants import CEILING

SIZES = (2**20, 2**24, 2**28)
SWEPT = {"look_ahead": "tile", "decoupled_lookback": "threads"}
"""The parameter that sets the tile of each variant."""
NEEDS = {"timings": Timings(all_of=(CEILING,), any_of=tuple(SWEPT), only=(CEILING, *SWEPT))}


def by_tile(timings: TimingEvidence) -> pd.DataFrame:
    """``variant``, ``items``, ``kib``, ``ratio``, ``low``, ``high``, ordered by tile; every other parameter at its default."""
    rows = []
    item_bytes = ideal_bytes(*timings.scanned, 1) // 2
    unit_kib = {"tile": 1.0, "threads": (112 if item_bytes == 4 else 64) / 1024}
    for variant, parameter in SWEPT.items():
        given = timings.cases.loc[timings.cases["variant"] == variant, "settings"]
        default = {name: value for name, value in timings.about[variant].defaults.items() if name == parameter}
        for settings in set(given):
            chosen = default | timings.about.settings[settings]
            if chosen.keys() != {parameter}:
                continue
            tile = unit_kib[parameter] * int(chosen[parameter])
            of = shares(timings, variant, CEILING, timings.caches()[0], settings)
            rows += [(variant, int(r.items), tile, r.ratio, r.low, r.high) for r in of.itertuples() if r.items in SIZES]
    table = pd.DataFrame(rows, columns=["variant", "items", "kib", "ratio", "low", "high"])
    return table.sort_values(["variant", "items", "kib"], ignore_index=True)
