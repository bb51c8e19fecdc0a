"""What the fastest scans should reach, and whether they do: bounds are those of ``paper/claims.toml``, and figures are computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scanlab_report.claims import claims
from scanlab_report.claims.claims import Claim
from scanlab_report.select.evidence import (
    BEST,
    BULK_CEILING,
    CEILING,
    CEILINGS,
    CUBS,
    FLOOR,
    LOSS,
    MEETING_CEILING,
    VECTOR_CEILING,
    AllTimingEvidence,
    Key,
    TableEvidence,
)
from scanlab_report.stats.intervals import Interval, ratio_interval

MISSING = "not in the data"


@dataclass(frozen=True)
class Beside:
    """A copy of the same bytes in the same case: what a scan of its speed would reach, and how near ``best`` comes."""

    copy: str
    times_cub: float
    """Time of the fastest CUB over that of the copy."""
    share: float
    """Time of the copy over that of best: above 1 best is faster than the copy."""


@dataclass(frozen=True)
class Bound:
    """A reference: what was measured in the place of a row that is not reached, in what the row is measured in."""

    what: str
    allows: float
    enough: bool
    """It allows what is wanted, so it is no reason why that is missed."""


@dataclass(frozen=True)
class Target:
    """One row: of what, what is measured, the bound, the value that is farthest from meeting it, and where that is."""

    what: str
    measure: str
    wanted: str
    measured: Interval | None
    where: str
    met: int
    runs: int
    """In how many runs it is met, of how many of the same code that tell of it; 0: there are no data to tell."""
    fastest_copy: Beside | None = None
    """For a row that is not reached, at ``where``: the fastest copy, and below the one that meets as one_wave does."""
    meeting_copy: Beside | None = None
    bound: Bound | None = None
    sure: bool = True
    """The intervals meet the bound too, in each case and run."""

    @property
    def reached(self) -> bool | None:
        """In every run, by the median; None: there are no data to tell."""
        return self.met == self.runs if self.runs else None

    @property
    def unsure(self) -> bool:
        """It is reached by the median alone."""
        return self.reached is True and not self.sure

    @property
    def standing(self) -> str:
        """Whether it is reached, in print."""
        if self.reached is None:
            return "—"
        if self.reached:
            return "yes, an interval not" if self.unsure else "yes"
        return f"{self.met} of {self.runs} runs" if self.met else "no"


Ratio = Callable[[Key], list[tuple[Interval, int]]]
"""Of a case, in each run of the newest code that has it: the ratio and the run."""


def targets(timings: AllTimingEvidence, kernels: TableEvidence) -> list[Target]:
    """Every target of scans, as ``paper/claims.toml`` has them, with the standing of ``best`` in the data."""
    return [target(claim, timings, kernels) for claim in claims.own(claims.OF_SCANS)]


def target(claim: Claim, timings: AllTimingEvidence | None, kernels: TableEvidence | None) -> Target:
    """How a claim about scans stands; without data to tell, neither reached nor missed."""
    if (kernels if claim.measure == "spills" else timings) is None:
        return unknown(claim, _measure(claim))
    return _OF[claim.measure](claim, timings if claim.measure != "spills" else kernels)


def unknown(claim: Claim, measure: str) -> Target:
    """The row of a claim that the data do not tell of."""
    return Target(claim.statement, measure, claim.wanted, None, MISSING, 0, 0)


def _measure(claim: Claim) -> str:
    """What a speed is measured in: copies are a ceiling, scans are rivals."""
    named = {"floor": "× empty launch", "losses": "lost to CUB", "spills": "with local memory"}
    if claim.measure in named:
        return named[claim.measure]
    if claim.over == "cub":
        return "× CUB"
    return f"{'of' if set(claim.rivals) <= set(CEILINGS) else '×'} {' or '.join(claim.rivals)}"


def _against(timings: AllTimingEvidence, theirs: Sequence[str], ours: str = BEST) -> Ratio:
    """Time of the fastest of theirs over ours, in one run."""

    def ratio(key: Key) -> list[tuple[Interval, int]]:
        found = [(match.ratio, match.run) for match in timings.matches(key, ours, theirs)]
        return [pair for pair in found if timings.commits[pair[1]] == timings.commits[found[0][1]]]

    return ratio


def _over_floor(timings: AllTimingEvidence, ours: str) -> Ratio:
    """Time of a variant over that of an empty launch in the same run, launched the same way."""
    floors: dict[tuple[int, str, str], np.ndarray] = {}
    for key, runs in timings.samples.items():
        for run, of in runs.items():
            if FLOOR in of:
                floors.setdefault((run, key.cache, key.launch), of[FLOOR])

    def ratio(key: Key) -> list[tuple[Interval, int]]:
        for run, of in timings.samples[key].items():
            if ours in of and (floor := floors.get((run, key.cache, key.launch))) is not None:
                return [(ratio_interval(of[ours], floor), run)]
        return []

    return ratio


def _speed(claim: Claim, timings: AllTimingEvidence) -> Target:
    row = _row(claim, timings, _against(timings, claim.rivals, claim.variant))
    return row if claim.or_of_copy_kernel is None else _or_of_copy_kernel(claim, timings, row)


def _floor(claim: Claim, timings: AllTimingEvidence) -> Target:
    return _row(claim, timings, _over_floor(timings, claim.variant))


def _row(claim: Claim, timings: AllTimingEvidence, ratio: Ratio) -> Target:
    known = [(value, key, run) for key in claim.keys(timings) for value, run in ratio(key)]
    if not known:
        return unknown(claim, _measure(claim))
    value, key, _ = claim.worst(known, key=lambda found: found[0].value)
    missed = {run for value_, _, run in known if not claim.meets(value_.value)}
    runs = {run for _, _, run in known}
    fastest, meeting = _copies(timings, key) if missed and claim.source == claims.OURS else (None, None)
    of = meeting or fastest
    bound = Bound(of.copy, of.times_cub, claim.meets(of.times_cub)) if of and claim.over == "cub" else None
    return Target(claim.statement, _measure(claim), claim.wanted, value, _place(key), len(runs - missed), len(runs), fastest, meeting, bound,
                  claim.sure(value for value, _, _ in known))  # fmt: skip


def _copies(timings: AllTimingEvidence, key: Key) -> tuple[Beside | None, Beside | None]:
    """The fastest copy of a case, and the one that meets, each beside best and CUB in one run: the one with most copies."""
    runs = [of for of in timings.samples[key].values() if BEST in of and any(cub in of for cub in CUBS)]
    of = max(runs, key=lambda of: sum(copy in of for copy in CEILINGS), default={})  # the newest of equals
    median = {variant: float(np.median(times)) for variant, times in of.items()}
    copies = sorted((copy for copy in CEILINGS if copy in median), key=median.__getitem__)
    cub = min((median[cub] for cub in CUBS if cub in median), default=np.nan)
    beside = {copy: Beside(copy, cub / median[copy], median[copy] / median[BEST]) for copy in copies}
    return (beside[copies[0]] if copies else None), beside.get(MEETING_CEILING)


def _place(key: Key) -> str:
    return f"2^{key.items.bit_length() - 1}" if claims.power_of_two(key.items) else f"{key.items}"


def _or_of_copy_kernel(claim: Claim, timings: AllTimingEvidence, row: Target) -> Target:
    """The copy kernel that reads and writes as the chosen scan does may stand in for memcpy."""
    if row.reached is not False:
        return row
    of_memcpy = _against(timings, claim.rivals, claim.variant)
    _, key = min(((value.value, key) for key in claim.keys(timings) for value, _ in of_memcpy(key)))
    by_kernel = timings.match(key, claim.variant, (_copy_kernel(timings, key),))
    if by_kernel is None:
        return row
    where = f"{row.where}; {by_kernel.ratio.value:.3f} of {by_kernel.rival}"
    row = replace(row, measure=f"{row.measure}, or {claim.or_of_copy_kernel:.2f} of that copy kernel", where=where)
    if by_kernel.ratio.value < claim.or_of_copy_kernel:
        return row
    return replace(row, met=row.runs, fastest_copy=None, meeting_copy=None, sure=not by_kernel.ratio.low < claim.or_of_copy_kernel)


def _copy_kernel(timings: AllTimingEvidence, key: Key) -> str:
    """The copy with the access path of what best chose: bulk copies for look_ahead, registers for the others."""
    match = timings.match(key, BEST, (CEILING,))
    chosen = timings.chosen(key, match.run) if match else ""
    return BULK_CEILING if chosen.startswith("look_ahead") or not chosen else VECTOR_CEILING


def _never_loses(claim: Claim, timings: AllTimingEvidence) -> Target:
    duels = timings.duels
    if duels.empty:
        return unknown(claim, _measure(claim))
    lost = int((duels["outcome"] == LOSS).sum())
    what = claim.statement.replace("all cases", f"all {len(duels)} cases")
    row = Target(what, _measure(claim), claim.wanted, Interval(lost, np.nan, np.nan, 0), "", int(claim.meets(lost)), 1)
    if not lost:
        return row
    worst = duels[duels["outcome"] == LOSS].sort_values("ratio").iloc[0]
    fastest, meeting = _copies(timings, Key(*(worst[name] for name in Key._fields)))
    where = f"{worst['type']} {worst['op']}, {worst['items']}"
    of = meeting or fastest
    bound = Bound(of.copy, of.times_cub, of.times_cub > 1) if of else None
    return replace(row, where=where, fastest_copy=fastest, meeting_copy=meeting, bound=bound)


def _no_spills(claim: Claim, kernels: TableEvidence) -> Target:
    """Local memory is where spilled registers go; arrays indexed at run time lie there too."""
    spilling = kernels.rows[kernels.rows["local_bytes"] > 0]
    names = ", ".join(sorted(set(spilling["variant"])))
    return Target(claim.statement, _measure(claim), claim.wanted, Interval(len(spilling), np.nan, np.nan, 0),
                  names or f"of {len(kernels.rows)}", int(claim.meets(len(spilling))), 1)  # fmt: skip


_OF = {"speed": _speed, "floor": _floor, "losses": _never_loses, "spills": _no_spills}
