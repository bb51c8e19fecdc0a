"""How claims about several GPUs stand."""

from __future__ import annotations

from scanlab_report.chapters import rank_cases
from scanlab_report.chapters.rank_cases import COPY, KIND, PROBLEM
from scanlab_report.claims.standing import Bound, Known, Standing, farthest
from scanlab_report.claims.stated import Claim
from scanlab_report.data import Data
from scanlab_report.formats import size
from scanlab_report.intervals import median_interval
from scanlab_report.pick import pick
from scanlab_report.sources import sources

_VALUES = {
    "ranks_copies": (rank_cases.compared, "of_copy"),
    "ranks_vendor": (rank_cases.compared, "of_vendor"),
    "ranks_bound": (rank_cases.compared, "of_bound"),
    "ranks_time": (rank_cases.compared, "samples"),
    "ranks_weak": (rank_cases.weak, "efficiency"),
    "ranks_strong": (rank_cases.strong, "speedup"),
}


def several(claim: Claim, data: Data) -> Standing:
    """The case of a scan over several GPUs that is farthest from the bound; the reference is a copy
    on every GPU."""
    timed = rank_cases.several(data, ranks=claim.ranks)
    cases = pick(rank_cases.usual(timed), **{name: getattr(claim, name) for name in KIND})
    frame, name = _VALUES[claim.measure]
    rows = pick(frame(cases), algorithm=claim.variant, ranks=claim.ranks)
    column, per = ("items", "in all") if claim.items else ("items_per_rank", "per GPU")
    rows = pick(rows, **{column: sizes}) if (sizes := getattr(claim, column)) else rows
    values = rows[name]
    if name == "samples":
        values = [median_interval(ns / 1e3) for ns in values]
    known = [
        (value, f"{size(getattr(row, column))} {per} on {row.ranks}", 0, row)
        for value, row in zip(values, rows.itertuples(), strict=True)
        if value.value == value.value
    ]

    def copies(worst: Known) -> Bound | None:
        """The value of a copy in the place of the scan."""
        value, row = worst.value.value, worst.case
        problem = {column: getattr(row, column) for column in PROBLEM}
        if claim.measure == "ranks_weak":
            copy = pick(rank_cases.weak(cases, "copy"), algorithm=COPY, **problem)
            allows = [efficiency.value for efficiency in copy["efficiency"]]
        elif claim.measure == "ranks_strong":
            allows = list(pick(rank_cases.strong_bounds(cases), **problem)["two_n"])
        else:
            over = {"ranks_vendor": 1 / row.of_copy.value, "ranks_time": row.of_copy.value}
            allows = [value * over[claim.measure]] if claim.measure in over else []
        known = (float(value) for value in allows if value == value)
        return next((Bound(COPY, value, claim.meets(value)) for value in known), None)

    return farthest(claim, known, sources(data, timed), copies)
