"""How claims about the two models stand: the emulator's counts, and the engine model's predictions."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scanlab_report.claims.standing import BEST_PREDICTION, Bound, Find, Standing, of_value, unknown
from scanlab_report.claims.stated import OF_COUNTS, OF_ENGINES, Claim
from scanlab_report.derive.hardware import QUANTITIES, compared
from scanlab_report.layout.table_formats import size
from scanlab_report.read import streams
from scanlab_report.select.counted import Counters
from scanlab_report.select.streams_evidence import Experiments

_MEASURED_AS = {
    "counts": "cases that differ", "conflicts": "% of wavefronts off", "makespan_median": "% error, median", "makespan_worst": "% error, worst",
    "overlap": "% of pairs",
}  # fmt: skip


def counts(claim: Claim, find: Find) -> Standing:
    """Cases in which the emulator's counts are not the hardware's; and, of its conflicts, how far the worst is off."""
    measure = _MEASURED_AS[claim.measure]
    counters = find(Counters())
    cases = pd.DataFrame() if counters is None else compared(counters)
    if cases.empty:
        return unknown(claim, measure)
    off = {of: (cases[f"{of}_hardware"] - cases[f"{of}_emulator"]).abs() for of in QUANTITIES}
    if claim.measure == "counts":
        return of_value(claim, measure, int(pd.DataFrame(off).gt(0).any(axis=1).sum()), f"of {len(cases)}")
    # Of transactions, since there are cases without conflicts.
    percent = 100 * off["conflicts"] / cases["transactions_hardware"]
    worst = cases.loc[percent.idxmax()]
    return of_value(claim, measure, percent.max(), f"{worst['variant']}, {worst['type']}, {size(worst['items'])}")


def engines(claim: Claim, find: Find) -> Standing:
    """The engine model against traces that it was held against."""
    measure = _MEASURED_AS[claim.measure]
    if (comparison := find(Experiments(streams.COMPARISON))) is None:
        return unknown(claim, measure)
    rows = comparison.rows
    if claim.measure == "overlap":
        return _overlap(claim, measure, rows)
    off = 100 * (rows["predicted_us"] / rows["measured_us"] - 1).abs()
    if claim.measure == "makespan_median":
        return of_value(claim, measure, off.median(), f"of {len(rows)} configurations")
    worst = rows.loc[off.idxmax()]
    return of_value(claim, measure, off.max(), f"{worst['schedule']}, {worst['chunks']} chunks")


def _overlap(claim: Claim, measure: str, rows: pd.DataFrame) -> Standing:
    """Of the pairs of operations that overlap in prediction or measurement those that do in both, and what any prediction could have."""
    share = _share(rows, "overlap")
    if np.isnan(share):
        return unknown(claim, measure)
    most = _share(rows, "best_overlap")
    bound = None if claim.meets(share) or np.isnan(most) else Bound(BEST_PREDICTION, most, claim.meets(most))
    return of_value(claim, measure, share, f"of {int(rows['overlap_in_either'].sum())} pairs", bound)


def _share(rows: pd.DataFrame, of: str) -> float:
    """Percent; NaN if it is not known of every configuration."""
    both, either = (pd.to_numeric(rows[f"{of}_in_{which}"]).sum(skipna=False) for which in ("both", "either"))
    return 100 * float(both) / float(either) if either else np.nan


MEASURED = dict.fromkeys(OF_COUNTS, counts) | dict.fromkeys(OF_ENGINES, engines)
