"""How a claim stands: what was measured of it, where it is farthest from what is wanted, and in how many files it holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scanlab_report.claims.stated import Claim
from scanlab_report.select.needs import Need
from scanlab_report.select.provenance import Provenance
from scanlab_report.stats.intervals import Interval

HOLDS, FAILS, NOT_MEASURED = "holds", "fails", "not measured"
VERDICTS = {True: HOLDS, False: FAILS, None: NOT_MEASURED}
MISSING = "not in the data"

Find = Callable[[Need], Any]
"""Looks for evidence; None if there is none."""


FILE_ACCESS, BEST_PREDICTION = "file access alone", "best possible prediction"
"""References that are no copies."""


@dataclass(frozen=True)
class Bound:
    """A reference: what was measured in the place of a claim that fails, in what the claim is measured in, or in ``unit``."""

    what: str
    allows: float
    enough: bool
    """It allows what is wanted, so it is no reason why that is missed."""
    unit: str = ""


@dataclass(frozen=True)
class Standing:
    """A claim and how it stands: what is measured, the value that is farthest from meeting it, where that is, and the files that tell."""

    claim: Claim
    measure: str
    measured: Interval | None
    where: str
    met: int
    runs: int
    """In how many files it is met, of how many that tell of it; 0: there are no data to tell."""
    bound: Bound | None = None
    sure: bool = True
    """The intervals meet the bound too, in each case and run."""
    cases: int | None = None
    """Of a claim about all cases, how many there are."""
    provenances: tuple[Provenance, ...] = ()

    @property
    def what(self) -> str:
        """The claim in print."""
        return self.claim.statement if self.cases is None else self.claim.statement.replace("all cases", f"all {self.cases} cases")

    @property
    def reached(self) -> bool | None:
        """In every run, by the median; None: there are no data to tell."""
        return self.met == self.runs if self.runs else None

    @property
    def verdict(self) -> str:
        return VERDICTS[self.reached]

    @property
    def unsure(self) -> bool:
        """It holds by the median alone."""
        return self.reached is True and not self.sure

    @property
    def said(self) -> str:
        """The verdict; of a claim that holds in some files, in how many it does not, and of one that holds by the median alone, that."""
        if self.unsure:
            return f"{self.verdict} by the median only"
        return f"{self.verdict} in {self.runs - self.met} of {self.runs} files" if 0 < self.met < self.runs else self.verdict


def unknown(claim: Claim, measure: str) -> Standing:
    """A claim that the data do not tell of."""
    return Standing(claim, measure, None, MISSING, 0, 0)


def of_value(claim: Claim, measure: str, value: Interval | float, where: str, bound: Bound | None = None) -> Standing:
    """A claim about one value, which may be a count: that has no interval, and needs none."""
    return replace(of_worst(claim, measure, [(value, where)]), bound=bound)


def of_worst(claim: Claim, measure: str, known: Sequence[tuple[Interval | float, str]]) -> Standing:
    """A claim about several values or counts, of which the one farthest from what is wanted counts; unknown if there is none."""
    if not known:
        return unknown(claim, measure)
    values = [(value if isinstance(value, Interval) else Interval(float(value), np.nan, np.nan, 1), where) for value, where in known]
    worst, where = claim.worst(values, key=lambda pair: pair[0].value)
    sure = claim.sure(value for value, _ in known if isinstance(value, Interval))
    return Standing(claim, measure, worst, where, int(claim.meets(worst.value)), 1, sure=sure)
