"""How claims about scans over several GPUs stand: beside copies, the vendor's libraries and bounds, in both kinds of scaling, and in time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pandas as pd

from scanlab_report.claims.standing import Bound, Find, Standing, of_worst, unknown
from scanlab_report.claims.stated import OURS, Claim
from scanlab_report.derive.ranks import COPY, beside, strong, strong_bounds, weak
from scanlab_report.layout.table_formats import size
from scanlab_report.select.ranks_evidence import PROBLEM, VENDOR, RanksEvidence, SeveralGpus
from scanlab_report.stats.intervals import Interval, median_interval

_KIND = ("type", "op", "mode")

Values = Callable[[RanksEvidence], pd.DataFrame]
"""Of scans: rows with ``value``, an interval, and ``copies``, what a copy on every GPU has in the place of the scan, NaN where it is not known."""


def _copies(timed: RanksEvidence) -> pd.DataFrame:
    rows = beside(timed.cases)
    return rows.assign(value=rows["of_copy"], copies=float("nan"))


def _bound(timed: RanksEvidence) -> pd.DataFrame:
    rows = beside(timed.cases)
    return rows.assign(value=rows["of_bound"], copies=float("nan"))


def _vendor(timed: RanksEvidence) -> pd.DataFrame:
    rows = beside(timed.cases)
    return rows.assign(value=rows["of_vendor"], copies=[one.value / two.value for one, two in zip(rows["of_vendor"], rows["of_copy"], strict=True)])


def _weak(timed: RanksEvidence) -> pd.DataFrame:
    rows, copies = weak(timed.cases), weak(timed.cases, "copy")
    of_copy = {of[:-1]: of[-1].value for of in copies.loc[copies["algorithm"] == COPY, [*PROBLEM, "efficiency"]].itertuples(index=False, name=None)}
    return rows.assign(value=rows["efficiency"], copies=[of_copy.get(of) for of in rows[PROBLEM].itertuples(index=False, name=None)])


def _strong(timed: RanksEvidence) -> pd.DataFrame:
    return strong(timed).assign(value=lambda rows: rows["speedup"]).merge(strong_bounds(timed)[[*PROBLEM, "two_n"]].rename(columns={"two_n": "copies"}), how="left")


def _time(timed: RanksEvidence) -> pd.DataFrame:
    rows = beside(timed.cases)
    values = [_microseconds(samples) for samples in rows["samples"]]
    return rows.assign(value=pd.Series(values, dtype=object), copies=[one.value * of.value for one, of in zip(values, rows["of_copy"], strict=True)])


def _microseconds(samples) -> Interval:
    of = median_interval(samples)
    return Interval(of.value / 1e3, of.low / 1e3, of.high / 1e3, of.count)


_MEASURES: dict[str, tuple[str, Values]] = {
    "ranks_copies": (f"of {COPY}", _copies), "ranks_weak": ("of one GPU's speed", _weak), "ranks_strong": ("× best on one GPU", _strong),
    "ranks_vendor": (f"× {VENDOR}", _vendor), "ranks_bound": ("of the 3n bound", _bound), "ranks_time": ("µs", _time),
}  # fmt: skip
"""By measure, what a value is in, and the values of all scans."""


def ranks(claim: Claim, find: Find) -> Standing:
    """The case of the claim that is farthest from its bound."""
    measure, values = _MEASURES[claim.measure]
    timed: RanksEvidence | None = find(SeveralGpus(ranks=int(claim.cases["ranks"])))
    if timed is None:
        return unknown(claim, measure)
    cases = timed.usual()
    rows = values(replace(timed, cases=cases[_is_of(claim, cases, _KIND)]))  # rivals and bounds are of the same kind
    rows = rows[(rows["algorithm"] == claim.variant) & _is_of(claim, rows, (*_KIND, "ranks", "items", "items_per_rank"))]
    known = [(row.value, f"{_place(claim, row)} on {row.ranks}", row.copies) for row in rows.itertuples() if row.value.value == row.value.value]
    standing = of_worst(claim, measure, [(value, where) for value, where, _ in known])
    if standing.reached is not False or claim.source != OURS:
        return standing
    copies = next(copies for value, where, copies in known if value is standing.measured and where == standing.where)
    return standing if pd.isna(copies) else replace(standing, bound=Bound(COPY, float(copies), claim.meets(float(copies))))


def _is_of(claim: Claim, rows: pd.DataFrame, names: tuple[str, ...]) -> pd.Series:
    """Which rows are cases of the claim, by what these names say; items per rank are those of the whole array over the ranks."""
    wanted = {"op": "plus", "mode": "inclusive"} | {name: of for name, of in claim.cases.items() if name in names}
    found = pd.Series(True, index=rows.index)
    for name, of in wanted.items():
        column = rows["items"] / rows["ranks"] if name == "items_per_rank" else rows[name]
        found &= column.isin(of if isinstance(of, list) else [of])
    return found


def _place(claim: Claim, row) -> str:
    return f"{size(row.items)} in all" if "items" in claim.cases else f"{size(row.items // row.ranks)} per GPU"


MEASURED = dict.fromkeys(_MEASURES, ranks)
