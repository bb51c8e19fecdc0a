"""What the fastest scans should reach, and whether they do: every figure is computed, and none is typed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.evidence import BEST, BULK_CEILING, CEILING, CUBS, FLOOR, LOSS, VECTOR_CEILING, AllTimingEvidence, Key
from analysis.evidence import KernelEvidence
from analysis.results import ideal_bytes
from analysis.statistics import Interval, ratio_interval

MISSING = "not in the data"
GIB = 1 << 30
AFFINE_ITEMS = 1 << 27


@dataclass(frozen=True)
class Target:
    """One row: of what, what is measured, the bound, the value that is farthest from meeting it, and where that is."""

    what: str
    measure: str
    wanted: str
    measured: Interval | None
    where: str
    reached: bool | None
    """None: there are no data to tell."""


Ratio = Callable[[Key], Interval | None]


def targets(timings: AllTimingEvidence, kernels: KernelEvidence) -> list[Target]:
    """Every target in order, with the standing of ``best`` in the data."""
    of_memcpy, of_cub = _against(timings, (CEILING,)), _against(timings, CUBS)
    found = []
    for kind, times_cub in (("i32", 1.25), ("f32", 1.25), ("i64", 1.08), ("f64", 1.08)):
        large = [key for key in timings.keys(**_sums(kind)) if _gib(key)]
        found.append(_copy(timings, f"{kind}, 1 GiB and more", large, of_memcpy))
        found.append(_at_least(f"{kind}, 1 GiB and more", "× CUB", times_cub, large, of_cub))
    for kind in ("i16", "f16"):
        keys = [key for key in timings.keys(**_sums(kind)) if key.items >= 1 << 28]
        found.append(_at_least(f"{kind}, 2^28 items and more", "of memcpy", 0.90, keys, of_memcpy))
    keys = [key for key in timings.keys(**_sums("i8")) if key.items >= 1 << 30]
    found.append(_at_least("i8, 2^30 items and more", "of memcpy", 0.85, keys, of_memcpy))
    for launch in ("stream", "graph"):
        warm = _sums("i32", "warm", launch)
        found.append(_at_least(f"i32, 2^20 to 2^22, warm, {launch}", "× CUB", 1.5, timings.keys(items=(1 << 20, 1 << 21, 1 << 22), **warm), of_cub))
        found.append(_at_least(f"i32, 2^24, warm, {launch}", "× CUB", 1.3, timings.keys(items=1 << 24, **warm), of_cub))
    small = [key for key in timings.keys(**_sums("i32", "warm")) if key.items <= 1 << 18 and _power(key.items)]
    found.append(_at_most("i32, up to 2^18, warm, stream", "× empty launch", 1.4, small, _over_floor(timings)))
    nodes = [key for key in timings.keys(**_sums("i32", "warm", "graph")) if key.items <= 1 << 14 and _power(key.items)]
    found.append(_at_least("i32, up to 2^14, warm, graph", "× CUB", 1.5, nodes, of_cub))
    for kind in ("i32", "f32"):
        affine = timings.keys(items=AFFINE_ITEMS, **(_sums(kind) | {"op": "affine"}))
        found.append(_at_least(f"{kind} affine, 2^27 items", "× CUB", 1.1, affine, of_cub))
    found.append(_never_loses(timings))
    alone = timings.keys(items=1 << 28, **_sums("i32"))
    found.append(_at_least("decoupled_lookback, i32, 2^28 items", "× CUB", 1.0, alone, _against(timings, CUBS, "decoupled_lookback")))
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

    def ratio(key: Key) -> Interval | None:
        match = timings.match(key, ours, theirs)
        return match.ratio if match else None

    return ratio


def _over_floor(timings: AllTimingEvidence) -> Ratio:
    """Time of best over that of an empty launch in the same run, launched the same way."""
    floors: dict[tuple[int, str, str], np.ndarray] = {}
    for key, runs in timings.samples.items():
        for run, of in runs.items():
            if FLOOR in of:
                floors.setdefault((run, key.cache, key.launch), of[FLOOR])

    def ratio(key: Key) -> Interval | None:
        for run, of in timings.samples[key].items():
            if BEST in of and (floor := floors.get((run, key.cache, key.launch))) is not None:
                return ratio_interval(of[BEST], floor)
        return None

    return ratio


def _at_least(what: str, measure: str, bound: float, keys: Sequence[Key], ratio: Ratio) -> Target:
    return _row(what, measure, f"≥ {bound:.2f}", keys, ratio, lambda value: value >= bound, min)


def _at_most(what: str, measure: str, bound: float, keys: Sequence[Key], ratio: Ratio) -> Target:
    return _row(what, measure, f"≤ {bound:.2f}", keys, ratio, lambda value: value <= bound, max)


def _row(what: str, measure: str, wanted: str, keys: Sequence[Key], ratio: Ratio, meets: Callable[[float], bool], worst: Callable) -> Target:
    known = [(value, key) for key in keys if (value := ratio(key))]
    if not known:
        return Target(what, measure, wanted, None, MISSING, None)
    value, key = worst(known, key=lambda pair: pair[0].value)
    return Target(what, measure, wanted, value, _place(key), meets(value.value))


def _place(key: Key) -> str:
    return f"2^{key.items.bit_length() - 1}" if _power(key.items) else f"{key.items}"


def _copy(timings: AllTimingEvidence, what: str, keys: Sequence[Key], of_memcpy: Ratio) -> Target:
    """At least 0.95 of memcpy, or 0.98 of the copy kernel that reads and writes as the chosen scan does."""
    row = _at_least(what, "of memcpy", 0.95, keys, of_memcpy)
    if row.reached is not False:
        return row
    _, key = min(((value, key) for key in keys if (value := of_memcpy(key))), key=lambda pair: pair[0].value)
    by_kernel = timings.match(key, BEST, (_copy_kernel(timings, key),))
    if by_kernel is None:
        return row
    return Target(what, "of memcpy, or kernel", "≥ 0.95, or ≥ 0.98", row.measured,
                  f"{row.where}; {by_kernel.ratio.value:.3f} of {by_kernel.rival}", by_kernel.ratio.value >= 0.98)  # fmt: skip


def _copy_kernel(timings: AllTimingEvidence, key: Key) -> str:
    """The copy with the access path of what best chose: bulk copies for look_ahead, registers for the others."""
    match = timings.match(key, BEST, (CEILING,))
    chosen = timings.chosen(key, match.run) if match else ""
    return BULK_CEILING if chosen.startswith("look_ahead") or not chosen else VECTOR_CEILING


def _never_loses(timings: AllTimingEvidence) -> Target:
    duels = timings.duels
    what = "no interval wholly on CUB's side, all cases"
    if duels.empty:
        return Target(what, "cases lost", "0", None, MISSING, None)
    lost = int((duels["outcome"] == LOSS).sum())
    return Target(what, "cases lost", "0", Interval(lost, np.nan, np.nan, 0), f"of {len(duels)}", lost == 0)


def _no_spills(kernels: KernelEvidence) -> Target:
    """Local memory is where spilled registers go; arrays indexed at run time lie there too."""
    spilling = kernels.cases[kernels.cases["local_bytes"] > 0]
    names = ", ".join(sorted(set(spilling["variant"])))
    return Target("local memory of our kernels, all cases", "cases with some", "0", Interval(len(spilling), np.nan, np.nan, 0),
                  names or f"of {len(kernels.cases)}", spilling.empty)  # fmt: skip
