"""What the fastest scans should reach, and whether they do: every figure is computed, and none is typed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analysis.evidence import BEST, BULK_CEILING, CEILING, CEILINGS, CUBS, FLOOR, LOSS, MEETING_CEILING, VECTOR_CEILING
from analysis.evidence import AllTimingEvidence, Key, TableEvidence
from analysis.results import ideal_bytes
from analysis.statistics import Interval, ratio_interval

MISSING = "not in the data"
GIB = 1 << 30
AFFINE_ITEMS = 1 << 27


@dataclass(frozen=True)
class Beside:
    """A copy of the same bytes in the same case: what a scan of its speed would reach, and how near ``best`` comes."""

    copy: str
    times_cub: float
    """Time of the fastest CUB over that of the copy."""
    share: float
    """Time of the copy over that of best: above 1 best is faster than the copy."""


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

    @property
    def reached(self) -> bool | None:
        """In every run; None: there are no data to tell."""
        return self.met == self.runs if self.runs else None


Ratio = Callable[[Key], list[tuple[Interval, int]]]
"""Of a case, in each run of the newest code that has it: the ratio and the run."""


def targets(timings: AllTimingEvidence, kernels: TableEvidence) -> list[Target]:
    """Every target in order, with the standing of ``best`` in the data."""
    of_memcpy, of_cub = _against(timings, (CEILING,)), _against(timings, CUBS)
    found = []
    for kind, times_cub in (("i32", 1.25), ("f32", 1.25), ("i64", 1.08), ("f64", 1.08)):
        large = [key for key in timings.keys(**_sums(kind)) if _gib(key)]
        found.append(_copy(timings, f"{kind}, 1 GiB and more", large, of_memcpy))
        found.append(_at_least(timings, f"{kind}, 1 GiB and more", "× CUB", times_cub, large, of_cub))
    for kind in ("i16", "f16"):
        keys = [key for key in timings.keys(**_sums(kind)) if key.items >= 1 << 28]
        found.append(_at_least(timings, f"{kind}, 2^28 items and more", "of memcpy", 0.90, keys, of_memcpy))
    keys = [key for key in timings.keys(**_sums("i8")) if key.items >= 1 << 30]
    found.append(_at_least(timings, "i8, 2^30 items and more", "of memcpy", 0.85, keys, of_memcpy))
    for launch in ("stream", "graph"):
        warm = _sums("i32", "warm", launch)
        found.append(_at_least(timings, f"i32, 2^20 to 2^22, warm, {launch}", "× CUB", 1.5, timings.keys(items=(1 << 20, 1 << 21, 1 << 22), **warm), of_cub))
        found.append(_at_least(timings, f"i32, 2^24, warm, {launch}", "× CUB", 1.3, timings.keys(items=1 << 24, **warm), of_cub))
    small = [key for key in timings.keys(**_sums("i32", "warm")) if key.items <= 1 << 18 and _power(key.items)]
    found.append(_at_most(timings, "i32, up to 2^18, warm, stream", "× empty launch", 1.4, small, _over_floor(timings)))
    nodes = [key for key in timings.keys(**_sums("i32", "warm", "graph")) if key.items <= 1 << 14 and _power(key.items)]
    found.append(_at_least(timings, "i32, up to 2^14, warm, graph", "× CUB", 1.5, nodes, of_cub))
    for kind in ("i32", "f32"):
        affine = timings.keys(items=AFFINE_ITEMS, **(_sums(kind) | {"op": "affine"}))
        found.append(_at_least(timings, f"{kind} affine, 2^27 items", "× CUB", 1.1, affine, of_cub))
    found.append(_never_loses(timings))
    alone = timings.keys(items=1 << 28, **_sums("i32"))
    found.append(_at_least(timings, "decoupled_lookback, i32, 2^28", "× CUB", 1.0, alone, _against(timings, CUBS, "decoupled_lookback")))
    found.append(_no_spills(kernels))
    return found


def _sums(kind: str, cache: str = "cold", launch: str = "stream") -> dict[str, str]:
    return {"type": kind, "op": "plus", "mode": "inclusive", "cache": cache, "launch": launch}


def _gib(key: Key) -> bool:
    return _power(key.items) and ideal_bytes(key.type, key.op, key.items) >= 2 * GIB


def _power(n: int) -> bool:
    return n > 0 and n & (n - 1) == 0


def _against(timings: AllTimingEvidence, theirs: Sequence[str], ours: str = BEST) -> Ratio:
    """Time of the fastest of theirs over ours, in one run."""

    def ratio(key: Key) -> list[tuple[Interval, int]]:
        found = [(match.ratio, match.run) for match in timings.matches(key, ours, theirs)]
        return [pair for pair in found if timings.commits[pair[1]] == timings.commits[found[0][1]]]

    return ratio


def _over_floor(timings: AllTimingEvidence) -> Ratio:
    """Time of best over that of an empty launch in the same run, launched the same way."""
    floors: dict[tuple[int, str, str], np.ndarray] = {}
    for key, runs in timings.samples.items():
        for run, of in runs.items():
            if FLOOR in of:
                floors.setdefault((run, key.cache, key.launch), of[FLOOR])

    def ratio(key: Key) -> list[tuple[Interval, int]]:
        for run, of in timings.samples[key].items():
            if BEST in of and (floor := floors.get((run, key.cache, key.launch))) is not None:
                return [(ratio_interval(of[BEST], floor), run)]
        return []

    return ratio


def _at_least(timings: AllTimingEvidence, what: str, measure: str, bound: float, keys: Sequence[Key], ratio: Ratio) -> Target:
    return _row(timings, what, measure, f"≥ {bound:.2f}", keys, ratio, lambda value: value >= bound, min)


def _at_most(timings: AllTimingEvidence, what: str, measure: str, bound: float, keys: Sequence[Key], ratio: Ratio) -> Target:
    return _row(timings, what, measure, f"≤ {bound:.2f}", keys, ratio, lambda value: value <= bound, max)


def _row(
    timings: AllTimingEvidence, what: str, measure: str, wanted: str, keys: Sequence[Key], ratio: Ratio,
    meets: Callable[[float], bool], worst: Callable,
) -> Target:  # fmt: skip
    known = [(value, key, run) for key in keys for value, run in ratio(key)]
    if not known:
        return Target(what, measure, wanted, None, MISSING, 0, 0)
    value, key, _ = worst(known, key=lambda found: found[0].value)
    missed = {run for value_, _, run in known if not meets(value_.value)}
    runs = {run for _, _, run in known}
    beside = _copies(timings, key) if missed else (None, None)
    return Target(what, measure, wanted, value, _place(key), len(runs - missed), len(runs), *beside)


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
    return f"2^{key.items.bit_length() - 1}" if _power(key.items) else f"{key.items}"


def _copy(timings: AllTimingEvidence, what: str, keys: Sequence[Key], of_memcpy: Ratio) -> Target:
    """At least 0.95 of memcpy, or 0.98 of the copy kernel that reads and writes as the chosen scan does."""
    row = _at_least(timings, what, "of memcpy", 0.95, keys, of_memcpy)
    if row.reached is not False:
        return row
    _, key = min(((value.value, key) for key in keys for value, _ in of_memcpy(key)))
    by_kernel = timings.match(key, BEST, (_copy_kernel(timings, key),))
    if by_kernel is None:
        return row
    where = f"{row.where}; {by_kernel.ratio.value:.3f} of {by_kernel.rival}"
    row = replace(row, measure="of memcpy, or 0.98 of that copy kernel", where=where)
    return replace(row, met=row.runs, fastest_copy=None, meeting_copy=None) if by_kernel.ratio.value >= 0.98 else row


def _copy_kernel(timings: AllTimingEvidence, key: Key) -> str:
    """The copy with the access path of what best chose: bulk copies for look_ahead, registers for the others."""
    match = timings.match(key, BEST, (CEILING,))
    chosen = timings.chosen(key, match.run) if match else ""
    return BULK_CEILING if chosen.startswith("look_ahead") or not chosen else VECTOR_CEILING


def _never_loses(timings: AllTimingEvidence) -> Target:
    duels = timings.duels
    if duels.empty:
        return Target("all cases, by the interval", "lost to CUB", "0", None, MISSING, 0, 0)
    lost = int((duels["outcome"] == LOSS).sum())
    what = f"all {len(duels)} cases, by the interval"
    row = Target(what, "lost to CUB", "0", Interval(lost, np.nan, np.nan, 0), "", int(lost == 0), 1)
    if not lost:
        return row
    worst = duels[duels["outcome"] == LOSS].sort_values("ratio").iloc[0]
    fastest, meeting = _copies(timings, Key(*(worst[name] for name in Key._fields)))
    where = f"{worst['type']} {worst['op']}, {worst['items']}"
    return replace(row, where=where, fastest_copy=fastest, meeting_copy=meeting)


def _no_spills(kernels: TableEvidence) -> Target:
    """Local memory is where spilled registers go; arrays indexed at run time lie there too."""
    spilling = kernels.rows[kernels.rows["local_bytes"] > 0]
    names = ", ".join(sorted(set(spilling["variant"])))
    return Target("all our kernels", "with local memory", "0", Interval(len(spilling), np.nan, np.nan, 0),
                  names or f"of {len(kernels.rows)}", int(spilling.empty), 1)  # fmt: skip
