"""What the two models were to reach, and whether they do: the executor's counts, and the engine model's predictions. Bounds are in ``paper/claims.toml``."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scanlab_report.claims.claims import Claim
from scanlab_report.claims.targets import Bound, Target, unknown
from scanlab_report.derive.hardware import QUANTITIES, compared
from scanlab_report.layout.table_formats import size
from scanlab_report.select.evidence import CounterEvidence, TableEvidence
from scanlab_report.stats.intervals import Interval

_MEASURED_AS = {
    "counts": "cases that differ", "conflicts": "% of transactions off", "makespan_median": "% off, median", "makespan_worst": "% off, worst",
    "overlap": "% of pairs",
}  # fmt: skip


def counted(claim: Claim, counters: CounterEvidence | None) -> Target:
    """How a claim about the executor's counts stands; without the hardware's, neither reached nor missed."""
    measure = _MEASURED_AS[claim.measure]
    cases = pd.DataFrame() if counters is None else compared(counters)
    if cases.empty:
        return unknown(claim, measure)
    off = {of: (cases[f"{of}_hardware"] - cases[f"{of}_executor"]).abs() for of in QUANTITIES}
    if claim.measure == "counts":
        return _target(claim, measure, int(pd.DataFrame(off).gt(0).any(axis=1).sum()), f"of {len(cases)}")
    # Of transactions, since there are cases without conflicts.
    percent = 100 * off["conflicts"] / cases["transactions_hardware"]
    worst = cases.loc[percent.idxmax()]
    return _target(claim, measure, percent.max(), f"{worst['variant']}, {worst['type']}, {size(worst['items'])}")


def predicted(claim: Claim, comparison: TableEvidence | None) -> Target:
    """How a claim about the engine model stands; without traces that it was held against, neither reached nor missed."""
    measure = _MEASURED_AS[claim.measure]
    if comparison is None:
        return unknown(claim, measure)
    rows = comparison.rows
    if claim.measure == "overlap":
        return _overlap(claim, measure, rows)
    off = 100 * (rows["predicted_us"] / rows["measured_us"] - 1).abs()
    if claim.measure == "makespan_median":
        return _target(claim, measure, off.median(), f"of {len(rows)} configurations")
    worst = rows.loc[off.idxmax()]
    return _target(claim, measure, off.max(), f"{worst['schedule']}, {worst['chunks']} chunks")


def _overlap(claim: Claim, measure: str, rows: pd.DataFrame) -> Target:
    """Of the pairs of operations that overlap in prediction or measurement those that do in both, and what any prediction could have."""
    share = _share(rows, "overlap")
    if np.isnan(share):
        return unknown(claim, measure)
    most = _share(rows, "best_overlap")
    bound = None if claim.meets(share) or np.isnan(most) else Bound("any prediction", most, claim.meets(most))
    return _target(claim, measure, share, f"of {int(rows['overlap_in_either'].sum())} pairs", bound)


def _share(rows: pd.DataFrame, of: str) -> float:
    """Percent; NaN if it is not known of every configuration."""
    both, either = (pd.to_numeric(rows[f"{of}_in_{which}"]).sum(skipna=False) for which in ("both", "either"))
    return 100 * float(both) / float(either) if either else np.nan


def _target(claim: Claim, measure: str, value: float, where: str, bound: Bound | None = None) -> Target:
    return Target(claim.statement, measure, claim.wanted, Interval(float(value), np.nan, np.nan, 1), where, int(claim.meets(value)), 1, bound=bound)
