"""A scan against CUB as shipped, over processes: the ratio of two short scans moves from one process to the next."""

from __future__ import annotations

import pandas as pd

from scanlab_report.select.evidence import Key, TableEvidence, outcome
from scanlab_report.select.variants import cub_as_shipped
from scanlab_report.stats.intervals import median_interval


def over_processes(timed: TableEvidence, variant: str) -> pd.DataFrame:
    """One row a case: ``rival``, the CUB of the shortest time in the median over processes; ``ratio``, an interval of its time over the variant's; ``spread`` and ``outcome``.

    A process has one ratio, of medians of its own samples. The interval is of the median over processes, so it has what differs between them.
    """
    cases = []
    for key, rows in timed.rows.groupby(list(Key._fields)):
        medians = rows.pivot(index="run", columns="variant", values="median_ns")
        cubs = [cub for cub in cub_as_shipped(timed.about) if cub in medians]
        if variant in medians and cubs:
            rival = medians[cubs].median().idxmin()
            ratios = (medians[rival] / medians[variant]).dropna()
            ratio = median_interval(ratios)
            cases.append((variant, *key, rival, ratio, ratios.max() / ratios.min() - 1, outcome(ratio)))
    return pd.DataFrame(cases, columns=["variant", *Key._fields, "rival", "ratio", "spread", "outcome"])
