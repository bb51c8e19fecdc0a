"""How claims about several GPUs stand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from scanlab_report.chapters import rank_cases
from scanlab_report.claims.standing import Bound, Standing, farthest
from scanlab_report.claims.stated import Claim
from scanlab_report.data import Data
from scanlab_report.formats import size
from scanlab_report.intervals import median_interval
from scanlab_report.pick import pick
from scanlab_report.sources import sources


def several(claim: Claim, data: Data) -> Standing:
    """The case of a scan over several GPUs that is farthest from the bound; the reference is a copy
    on every GPU."""
    timed = rank_cases.several(data, ranks=claim.ranks)
    kind = {name: getattr(claim, name) for name in rank_cases.KIND}
    rows = _several(claim.measure, pick(rank_cases.usual(timed), **kind))
    column, per = ("items", "in all") if claim.items else ("items_per_rank", "per GPU")
    rows = pick(rows, algorithm=claim.variant, ranks=claim.ranks)
    rows = rows[rows["value"].map(lambda value: value.value == value.value).astype(bool)]
    rows = pick(rows, **{column: sizes}) if (sizes := getattr(claim, column)) else rows
    known = [
        (row.value, f"{size(getattr(row, column))} {per} on {row.ranks}", 0)
        for row in rows.itertuples()
    ]
    standing = farthest(claim, known, sources(data, timed))
    copies = next(r.copies for r in rows.itertuples() if r.value == standing.measured)
    if standing.reached or np.isnan(copies):
        return standing
    return replace(standing, bound=Bound(rank_cases.COPY, float(copies), claim.meets(copies)))


def _several(measure: str, cases: pd.DataFrame) -> pd.DataFrame:
    """Return the scans with an interval as `value`. `copies` is the value of a copy in their place;
    NaN if it is not known."""
    copies: Any = np.nan
    if measure == "ranks_weak":
        rows, copy = (
            rank_cases.weak(cases),
            pick(rank_cases.weak(cases, "copy"), algorithm=rank_cases.COPY),
        )
        copy = copy.assign(copies=copy["efficiency"].map(lambda value: value.value))
        rows = rows.merge(copy[[*rank_cases.PROBLEM, "copies"]], how="left")
        return rows.assign(value=rows["efficiency"])
    if measure == "ranks_strong":
        bounds = rank_cases.strong_bounds(cases)[[*rank_cases.PROBLEM, "two_n"]]
        rows = rank_cases.strong(cases).merge(bounds, how="left")
        return rows.assign(value=rows["speedup"], copies=rows["two_n"])
    rows = rank_cases.compared(cases)
    if measure == "ranks_time":
        values = pd.Series([median_interval(ns / 1e3) for ns in rows["samples"]], dtype=object)
        copies = [v.value * c.value for v, c in zip(values, rows["of_copy"], strict=True)]
        return rows.assign(value=values, copies=copies)
    column = {"ranks_copies": "of_copy", "ranks_bound": "of_bound"}.get(measure, "of_vendor")
    if measure == "ranks_vendor":
        copies = [v.value / c.value for v, c in zip(rows[column], rows["of_copy"], strict=True)]
    return rows.assign(value=rows[column], copies=copies)
