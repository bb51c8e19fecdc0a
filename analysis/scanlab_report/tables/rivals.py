"""Speedup of best over every other scan, by type, at two sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from scanlab_report.derive.head_to_head import TYPES
from scanlab_report.layout.looks import ordered
from scanlab_report.layout.table_formats import Column, Table, significant, size
from scanlab_report.read.records import ideal_bytes
from scanlab_report.select.evidence import LOSS, TIE, WIN, AllTimingEvidence, Key, outcome
from scanlab_report.select.timings import AllTimings
from scanlab_report.select.variants import BEST, BULK_CEILING, CEILING, CUBS, MEETING_CEILING, RIVALS, TUNED, cub_as_shipped, of_python

NEEDS = {"timings": AllTimings(against=(CUBS,), python=True)}
FASTEST_NEEDS = {"timings": AllTimings(against=(CUBS,))}
SMALL = 1 << 20
LARGE_BYTES = 1 << 30
NARROW = "CUB adds sums of i8 and i16 in 32 bits, and `best` in 8 and 16 bits."
"""Where a ratio of such sums stands, this stands, too."""


def build(timings: AllTimingEvidence) -> Table:
    found = [row for kind in TYPES for key in sizes(timings, kind) if (row := against(timings, key))]
    rows = pd.DataFrame(found, columns=None if found else ["type", "items", "chosen", "time_us", "of_memcpy", "of_copy_bulk", "of_copy_one_wave"])
    rivals = [v for v in ordered(timings.about.ids(RIVALS), timings.about) if f"of_{v}" in rows and rows[f"of_{v}"].notna().any()]
    ratio = lambda v: significant(v, 3)
    return Table(
        caption=f"Time of `best`, its speed as a share of copies, and its speedup over other scans. Inclusive sums, cold cache, stream launches, at {size(SMALL)} "
        "items and at the largest size of 1 GiB or more. One wave is a copy with a grid-wide barrier. A dash: not timed.",
        columns=(
            Column("type", "type", right=False),
            Column("items", "n", size),
            Column("chosen", "chosen", right=False),
            Column("time_us", "µs", lambda v: significant(v, 4)),
            Column("of_memcpy", "memcpy", ratio, group="share of"),
            Column("of_copy_bulk", "bulk", ratio, group="share of"),
            Column("of_copy_one_wave", "one wave", ratio, group="share of"),
            *(Column(f"of_{v}", _short(timings.about[v].label), ratio, group="× CUB" if CUBS.has(timings.about[v]) else "× others") for v in rivals),
        ),
        rows=rows,
        notes=(*_narrow(rows), *of_python({variant for of in timings.samples.values() for run in of.values() for variant in run}, timings.about)),
    )


def _narrow(rows: pd.DataFrame) -> tuple[str, ...]:
    return (NARROW,) if rows["type"].isin(["i8", "i16"]).any() else ()


_SHORT = {"CUB": "toolkit", "deterministic": "determ."}


def _short(label: str) -> str:
    """What tells it from its like."""
    last = label.split(", ")[-1]
    return _SHORT.get(last, last)


def sizes(timings: AllTimingEvidence, kind: str, op: str = "plus") -> list[Key]:
    """2^20, and the largest size of at least 1 GiB that best was timed at beside CUB, preferably beside the copy too."""
    keys = timings.keys(type=kind, op=op, mode="inclusive", cache="cold", launch="stream")
    keys = [key for key in keys if timings.match(key, BEST, (CUBS, CEILING))]
    large = [key for key in keys if ideal_bytes(kind, op, key.items) >= 2 * LARGE_BYTES]
    beside_copy = [key for key in large if timings.match(key, BEST, (CEILING,))]
    return [key for key in keys if key.items == SMALL] + (beside_copy or large)[-1:]


def against(timings: AllTimingEvidence, key: Key) -> dict[str, object] | None:
    """Time, shares of the copies and ratios to all rivals: from one run, but for rivals that were timed in another."""
    match = next((m for m in (timings.match(key, BEST, of) for of in ((BULK_CEILING,), (CEILING,), (CUBS,))) if m), None)
    if match is None:
        return None
    ours = float(np.median(np.asarray(timings.of(key, BEST, match.run))))

    def over(variant: str) -> float:
        theirs = timings.of(key, variant, match.run)
        return math.nan if theirs is None else float(np.median(theirs)) / ours

    cub = timings.match(key, BEST, (CUBS,), first=match.run)
    return {
        "type": key.type, "op": key.op, "items": key.items, "chosen": choice.variant if (choice := timings.chosen(key, match.run)) else "—",
        "time_us": ours / 1e3, "of_memcpy": over(CEILING), "of_copy_bulk": over(BULK_CEILING), "of_copy_one_wave": over(MEETING_CEILING),
        "fastest_cub": cub.rival if cub else None, "of_cub": cub.ratio if cub else None,
    } | {f"of_{variant}": over(variant) for variant in timings.about.ids(RIVALS)}  # fmt: skip


def fastest(timings: AllTimingEvidence) -> Table:
    """For a reader in a hurry: sums of every type at the large size, against the copy and the fastest CUB."""
    keys = [sizes(timings, kind)[-1:] for kind in TYPES]
    rows = pd.DataFrame([row for found in keys for key in found if key.items != SMALL and (row := against(timings, key))],
                        columns=["type", "items", "time_us", "of_memcpy", "fastest_cub", "of_cub"])  # fmt: skip
    return Table(
        caption="`best` beside the fastest CUB scan, per type: inclusive sums, cold cache, stream launches. Ratios are speeds.",
        columns=(
            Column("type", "type", right=False),
            Column("items", "n", size),
            Column("time_us", "best, ms", lambda v: significant(v / 1e3, 3)),
            Column("of_memcpy", "× memcpy", lambda v: "—" if pd.isna(v) else f"{v:.2f}"),
            Column("of_cub", "× CUB", lambda v: "—" if v is None else f"{v.value:.2f}"),
            Column("fastest_cub", "fastest CUB", lambda v: "—" if v is None else f"`{v}`", right=False),
        ),
        rows=rows,
        notes=_narrow(rows),
    )


def score(timings: AllTimingEvidence) -> str:
    """In how many of all cases best is faster than CUB: as shipped, and in tuned shapes where those were timed."""
    said = [_counted(timings, cub_as_shipped(timings.about), "the fastest scan of CUB as shipped")]
    if any(timings.match(key, BEST, (TUNED,)) for key in timings.samples):
        said.append(_counted(timings, [TUNED], f"CUB with shapes tuned on {_tuned_on(timings)} (`cub_tuned`)"))
    else:
        said.append("CUB with shapes tuned on the device (`cub_tuned`) has no times in this recording.")
    narrow = [NARROW] if any(key.type in ("i8", "i16") for key in timings.samples) else []
    return " ".join([*said, *narrow, "A compared case is a type, operator, mode, size, cache state and launch. A case counts as faster or slower only if the 95% interval of its ratio excludes 1."])


def _tuned_on(timings: AllTimingEvidence) -> str:
    """Whose shapes CUB has: its title says it, since one program runs on many devices."""
    _, _, device = timings.about[TUNED].title.partition(", tuned on ")
    return "the device" if device == timings.device else f"another device, {device}" if device else "an unnamed device"


def _counted(timings: AllTimingEvidence, rivals: Sequence[str], what: str) -> str:
    if set(rivals) == set(timings.about.ids(CUBS)) & set(timings.variants()):
        outcomes = list(timings.decided["outcome"])  # these are at hand
    else:
        outcomes = [outcome(match.ratio) for key in timings.samples if (match := timings.match(key, BEST, rivals)) and match.ratio.known]
    won, tied, lost = (outcomes.count(of) for of in (WIN, TIE, LOSS))
    return f"Against {what}, `best` is faster in {won} of {len(outcomes)} cases, equal in {tied} and slower in {lost}."
