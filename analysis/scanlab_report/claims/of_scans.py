"""How claims about scans stand: speeds against copies and rivals, over an empty launch, comparisons lost, kernels that spill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from scanlab_report.claims.standing import Bound, Find, Standing, of_value, unknown
from scanlab_report.claims.stated import CUB, OURS, Claim
from scanlab_report.derive.odd_sizes import over_processes
from scanlab_report.derive.sizes import power_of_two
from scanlab_report.derive.stopwatch import over
from scanlab_report.layout.table_formats import with_interval
from scanlab_report.read.streams import STOPWATCH
from scanlab_report.read.variants import Wanted
from scanlab_report.select.evidence import LOSS, OPEN, AllTimingEvidence, Key
from scanlab_report.select.streams_evidence import Experiments
from scanlab_report.select.timings import AllTimings, Kernels, OddSizes
from scanlab_report.select.variants import BEST, BULK_CEILING, CEILING, CEILINGS, CUBS, FLOOR, IN_BULK, MEETING_CEILING, VECTOR_CEILING
from scanlab_report.stats.intervals import Interval, ratio_interval

Ratio = Callable[[Key], tuple[Interval, int] | None]
"""Of a case, the ratio in the run that answers, and the run; none if no run has both."""


def _measure(claim: Claim) -> str:
    """What a speed is measured in: copies are a ceiling, scans are rivals."""
    named = {"floor": "× empty launch", "stopwatch": "nvbench / scanlab", "losses": "cases lost to CUB", "odd_sizes": "cases lost to CUB as shipped", "spills": "cases with local memory"}
    if claim.measure in named:
        return named[claim.measure]
    if claim.over in CUB:
        return "× CUB" if claim.over == "cub" else "× CUB as shipped"
    return f"{'of' if CEILING in claim.over else '×'} {' or '.join(claim.over)}"


def _against(timings: AllTimingEvidence, theirs: Sequence[Wanted], ours: str = BEST) -> Ratio:
    """Time of the fastest of theirs over ours, in one run."""

    def ratio(key: Key) -> tuple[Interval, int] | None:
        match = timings.match(key, ours, theirs)
        return match and (match.ratio, match.run)

    return ratio


def _over_floor(timings: AllTimingEvidence, ours: str) -> Ratio:
    """Time of a variant over that of an empty launch in the same run, launched the same way."""
    floors: dict[tuple[int, str, str], np.ndarray] = {}
    for key, runs in timings.samples.items():
        for run, of in runs.items():
            if FLOOR in of:
                floors.setdefault((run, key.cache, key.launch), of[FLOOR])

    def ratio(key: Key) -> tuple[Interval, int] | None:
        for run, of in timings.samples[key].items():
            if ours in of and (floor := floors.get((run, key.cache, key.launch))) is not None:
                return ratio_interval(of[ours], floor), run
        return None

    return ratio


def speed(claim: Claim, find: Find) -> Standing:
    """Time of the fastest of some others over that of a variant."""
    if (timings := find(AllTimings(of=claim.variant))) is None:
        return unknown(claim, _measure(claim))
    return _row(claim, timings, _against(timings, claim.rivals(timings.about), claim.variant))


def floor(claim: Claim, find: Find) -> Standing:
    """Time of a variant over that of an empty launch."""
    timings = find(AllTimings(of=claim.variant))
    return _row(claim, timings, _over_floor(timings, claim.variant)) if timings else unknown(claim, _measure(claim))


def stopwatch(claim: Claim, find: Find) -> Standing:
    """Time of a variant by nvbench over its time here."""
    timings, theirs = find(AllTimings(of=claim.variant)), find(Experiments(STOPWATCH))
    if timings is None or theirs is None:
        return unknown(claim, _measure(claim))
    rows = theirs.rows[theirs.rows["variant"] == claim.variant]
    measured = {(row.type, row.items, row.cache, row.launch): row.time_ns for row in rows.itertuples()}

    def ratio(key: Key) -> tuple[Interval, int] | None:
        time = measured.get((key.type, key.items, key.cache, key.launch))
        found = ((over(time, of[claim.variant]), run) for run, of in timings.samples[key].items() if time is not None and claim.variant in of)
        return next(found, None)

    return _row(claim, timings, ratio)


def _row(claim: Claim, timings: AllTimingEvidence, ratio: Ratio) -> Standing:
    known = [(value, key, run) for key in claim.keys(timings) if (found := ratio(key)) for value, run in (found,)]
    if not known:
        return unknown(claim, _measure(claim))
    value, key, _ = claim.worst(known, key=lambda found: found[0].value)
    missed = {run for value_, _, run in known if not claim.meets(value_.value)}
    runs = {run for _, _, run in known}
    bound = _reference(claim, timings, key) if missed and claim.source == OURS else None
    return Standing(claim, _measure(claim), value, _place(key), len(runs - missed), len(runs), bound, claim.sure(value for value, _, _ in known))


def _reference(claim: Claim, timings: AllTimingEvidence, key: Key) -> Bound | None:
    """What a copy has in the place of a scan that missed its target over CUB or over the driver's copy."""
    if claim.over in CUB:
        return _copy(timings, key, claim.meets, timings.about.ids(*claim.rivals(timings.about)))
    if CEILING not in claim.over or (match := timings.match(key, BEST, (CEILING,))) is None:
        return None
    chosen = timings.chosen(key, match.run)
    kernel = BULK_CEILING if chosen is None or IN_BULK.has(timings.about[chosen.variant]) else VECTOR_CEILING
    copied = timings.match(key, kernel, (CEILING,), first=match.run)
    return Bound(kernel, copied.ratio.value, claim.meets(copied.ratio.value)) if copied else None


def _copy(timings: AllTimingEvidence, key: Key, enough: Callable[[float], bool], cubs: Sequence[str]) -> Bound | None:
    """What a copy of the same bytes has over CUB's scans in the case: the one that meets as one_wave does, else the fastest, in the run with most copies."""
    ceilings = timings.about.ids(CEILINGS)
    runs = [of for of in timings.samples[key].values() if BEST in of and any(cub in of for cub in cubs)]
    of = max(runs, key=lambda of: sum(copy in of for copy in ceilings), default={})  # the newest of equals
    median = {variant: float(np.median(times)) for variant, times in of.items()}
    if not (copies := sorted((copy for copy in ceilings if copy in median), key=median.__getitem__)):
        return None
    copy = MEETING_CEILING if MEETING_CEILING in copies else copies[0]
    times_cub = min(median[cub] for cub in cubs if cub in median) / median[copy]
    return Bound(copy, times_cub, enough(times_cub))


def _place(key: Key) -> str:
    return f"2^{key.items.bit_length() - 1}" if power_of_two(key.items) else f"{key.items}"


def losses(claim: Claim, find: Find) -> Standing:
    """How many cases ``best`` loses to CUB by the interval."""
    timings = find(AllTimings())
    if timings is None or (comparisons := timings.decided).empty:
        return unknown(claim, _measure(claim))
    lost = int((comparisons["outcome"] == LOSS).sum())
    row = replace(of_value(claim, _measure(claim), lost, ""), cases=len(comparisons))
    if not lost:
        return row
    worst = comparisons[comparisons["outcome"] == LOSS].sort_values("ratio").iloc[0]
    bound = _copy(timings, Key(*(worst[name] for name in Key._fields)), lambda times_cub: times_cub > 1, timings.about.ids(CUBS))
    return replace(row, where=f"{worst['type']} {worst['op']}, {worst['items']}", bound=bound and replace(bound, unit=" × CUB"))


def odd_sizes(claim: Claim, find: Find) -> Standing:
    """How many cases a variant loses to CUB as shipped by the interval over processes; ``where`` has the worst case."""
    timed = find(OddSizes())
    if timed is None or (cases := over_processes(timed, claim.variant)).empty or (cases["outcome"] == OPEN).any():
        return unknown(claim, _measure(claim))
    worst = min(cases.itertuples(), key=lambda case: (case.outcome != LOSS, case.ratio.value))
    where = f"{worst.type}, {worst.items}, {worst.cache}, {worst.launch}: {with_interval(worst.ratio)} × CUB over {worst.ratio.count} processes"
    return replace(of_value(claim, _measure(claim), int((cases["outcome"] == LOSS).sum()), where), cases=len(cases))


def spills(claim: Claim, find: Find) -> Standing:
    """Timed cases whose kernel has local memory, where spilled registers go; arrays indexed at run time lie there too."""
    if (kernels := find(Kernels())) is None:
        return unknown(claim, _measure(claim))
    spilling = kernels.rows[kernels.rows["local_bytes"] > 0]
    names = ", ".join(sorted(set(spilling["variant"])))
    return of_value(claim, _measure(claim), len(spilling), names or f"of {len(kernels.rows)}")


MEASURED = {"speed": speed, "floor": floor, "stopwatch": stopwatch, "losses": losses, "odd_sizes": odd_sizes, "spills": spills}
