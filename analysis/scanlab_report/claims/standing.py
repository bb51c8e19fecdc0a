"""How a claim stands: what was measured of it, and where it is farthest from its bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from scanlab_report.claims.stated import Claim
from scanlab_report.intervals import Interval
from scanlab_report.pick import Lacking
from scanlab_report.sources import Source

HOLDS, FAILS, NOT_MEASURED = "holds", "fails", "not measured"
MISSING = "not in the data"
FILE_ACCESS, BEST_PREDICTION = "file access alone", "best possible prediction"
"""References that are no copies."""
GIB = 1 << 30


class Bound(NamedTuple):
    """A reference in the place of a target that is missed: a copy, and its value."""

    what: str
    allows: float
    enough: bool
    """Whether the reference meets the target, and so is no reason why the target is missed."""
    unit: str = ""


@dataclass(frozen=True)
class Standing:
    """A claim, and the value that is farthest from its bound."""

    claim: Claim
    measured: Interval | None = None
    where: str = MISSING
    met: int = 0
    files: int = 0
    """Number of files with the claim; `met` of them meet it. 0: not measured."""
    bound: Bound | None = None
    sure: bool = True
    """Whether the intervals meet the bound, too, in each case and file."""
    cases: int | None = None
    sources: tuple[Source, ...] = ()

    @property
    def statement(self) -> str:
        counted = "all cases" if self.cases is None else f"all {self.cases} cases"
        return self.claim.statement.replace("all cases", counted)

    @property
    def reached(self) -> bool | None:
        """Return whether the bound is met in every file, by the median; None if not measured."""
        return self.met == self.files if self.files else None

    @property
    def verdict(self) -> str:
        return {True: HOLDS, False: FAILS, None: NOT_MEASURED}[self.reached]

    @property
    def unsure(self) -> bool:
        """Return whether the claim holds by the median alone."""
        return self.reached is True and not self.sure

    @property
    def qualified(self) -> str:
        """The verdict, and whether it is that of some files or of the median only."""
        if self.unsure:
            return f"{self.verdict} by the median only"
        some = f" in {self.files - self.met} of {self.files} files"
        return self.verdict + some * (0 < self.met < self.files)


class Known(NamedTuple):
    """A value of a claim."""

    value: Interval
    where: str
    file: Any = 0
    """The file or the session, 0 if there is one."""
    case: Any = None


def farthest(
    claim: Claim,
    values: Iterable[tuple[Any, ...]],
    drawn: Iterable[Source],
    reference: Callable[[Known], Bound | None] = lambda worst: None,
    **more: Any,
) -> Standing:
    """The standing by several values, each the fields of `Known`; Lacking if there is none. A count
    has no interval. `reference` gives that of a value of ours that misses its target."""
    number = lambda v: v if isinstance(v, Interval) else Interval(float(v), np.nan, np.nan, 1)
    values = list(values)
    known = [Known(number(value), *rest) for value, *rest in values]
    if not known:
        raise Lacking(MISSING)
    sure = claim.sure(value for value, *_ in values if isinstance(value, Interval))
    worst = claim.worst(known)
    files = {k.file for k in known}
    met = len(files - {k.file for k in known if not claim.meets(k.value.value)})
    bound = reference(worst) if claim.ours and met < len(files) else None
    fields = {"bound": bound, "sure": sure, "sources": tuple(drawn)} | more
    return Standing(claim, worst.value, worst.where, met, len(files), **fields)
