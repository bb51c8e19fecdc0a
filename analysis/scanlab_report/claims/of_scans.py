"""How claims about scans stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from scanlab_report.chapters import hardware, odd_sizes, one_core, standings
from scanlab_report.claims.standing import MISSING, Bound, Known, Standing, farthest
from scanlab_report.claims.stated import Claim
from scanlab_report.data import Data
from scanlab_report.formats import significant, size, with_interval
from scanlab_report.groups import (
    BARRIER_CEILING,
    BEST,
    BULK_CEILING,
    CEILING,
    CEILINGS,
    CUBS,
    FLOOR,
    IN_BULK,
    KEY,
    LOSS,
    OPEN,
    OWN,
    VECTOR_CEILING,
)
from scanlab_report.intervals import Interval, ratio_intervals
from scanlab_report.pick import Lacking, pick
from scanlab_report.sources import sources
from scanlab_report.versus import against, contests, decided, pairs, versus_cub


def speed(claim: Claim, data: Data) -> Standing:
    """Time of the fastest of some others over that of a variant."""
    cases = contests(data, claim.variant)
    both = against(claim.cases(cases), claim.variant, claim.rivals(data))
    return _of_cases(claim, data, both, both["interval"], cases)


def floor(claim: Claim, data: Data) -> Standing:
    """Time of a variant over that of an empty launch in the same file, launched the same way."""
    cases, same = contests(data, claim.variant), ["file", "cache", "launch"]
    floors = pick(cases, variant=FLOOR).drop_duplicates(same)[[*same, "samples"]]
    ours = pick(claim.cases(cases), variant=claim.variant)
    both = ours.merge(floors, on=same, suffixes=("", "_floor")).drop_duplicates(KEY)
    ratios = ratio_intervals(list(both["samples"]), list(both["samples_floor"]))
    return _of_cases(claim, data, both, ratios, cases)


def stopwatch(claim: Claim, data: Data) -> Standing:
    """Time of a variant by nvbench over its time here."""
    both, cases, theirs = odd_sizes.beside_nvbench(data)
    rows = claim.cases(pick(both, variant=claim.variant))
    return _of_cases(claim, data, rows, rows["ratio"], cases, theirs)


def _of_cases(
    claim: Claim,
    data: Data,
    rows: pd.DataFrame,
    values: Sequence[Interval] | pd.Series,
    cases: pd.DataFrame,
    *others: pd.DataFrame,
) -> Standing:
    """Return the standing by the value of each case, with that of a copy if it misses a target.
    `cases` and `others` are the sources."""
    power = lambda n: f"2^{n.bit_length() - 1}" if n & (n - 1) == 0 else f"{n}"
    known = [
        (value, power(row.items), row.file, row)
        for value, row in zip(values, rows.itertuples(), strict=True)
    ]

    def reference(worst: Known) -> Bound | None:
        here = pick(cases, **{name: getattr(worst.case, name) for name in KEY})
        copy = _copy_over_cub if isinstance(claim.over, str) else _copy_over_driver
        return next(
            (Bound(*c, claim.meets(c[1])) for c in copy(claim.rivals(data), data, here)), None
        )

    return farthest(claim, known, sources(data, cases, *others), reference)


def _copy_over_driver(
    over: Sequence[str], data: Data, here: pd.DataFrame
) -> list[tuple[str, float]]:
    """The speed over the driver's copy of the kernel that copies by the same path as best."""
    match = pairs(here, BEST, [CEILING])
    if CEILING not in over or match.empty:
        return []
    chosen = match["choice"].iloc[0]
    in_bulk = not chosen or IN_BULK.has(data.variants[chosen.variant])
    kernel = BULK_CEILING if in_bulk else VECTOR_CEILING
    in_file = pick(here, file=match["file"].iloc[0])
    copied = pd.concat(pairs(cases, kernel, [CEILING]) for cases in (in_file, here))
    return [(kernel, allows) for allows in copied["median_ns_rival"] / copied["median_ns"]]


def _copy_over_cub(cubs: Sequence[str], data: Data, here: pd.DataFrame) -> list[tuple[str, float]]:
    """The speed over CUB of a copy of the same bytes, in the file with most copies. The copy whose
    blocks meet as those of one_wave is preferred, else the fastest is taken."""
    copies = data.variants.ids(CEILINGS)
    times = here.pivot(index="place", columns="variant", values="median_ns")
    times = times.reindex(columns=[BEST, *cubs, *copies])
    times = times[times[BEST].notna() & times[cubs].notna().any(axis=1)]
    most = times[copies].count(axis=1)
    if not most.any():
        return []
    medians = times.loc[most.idxmax()]
    copy = medians[copies].idxmin()
    copy = copy if pd.isna(medians.get(BARRIER_CEILING)) else BARRIER_CEILING
    return [(str(copy), float(medians[cubs].min() / medians[copy]))]


def losses(claim: Claim, data: Data) -> Standing:
    """The cases that `best` loses to CUB by the interval."""
    rows, cases = decided(versus_cub(data)), contests(data)
    if rows.empty:
        raise Lacking(MISSING)
    lost = pick(rows, outcome=LOSS).sort_values("ratio")
    where = "".join(f"{worst.type} {worst.op}, {worst.items}" for worst in lost[:1].itertuples())

    def reference(_: Known) -> Bound | None:
        here = pick(cases, **lost.iloc[0][KEY])
        copies = _copy_over_cub(data.variants.ids(CUBS), data, here)
        return next((Bound(*copy, copy[1] > 1, " × CUB") for copy in copies), None)

    known = [(len(lost), where)]
    return farthest(claim, known, sources(data, cases), reference, cases=len(rows))


def lost_at_odd_sizes(claim: Claim, data: Data) -> Standing:
    """The cases that a variant loses to CUB as shipped by the interval over processes."""
    timed = odd_sizes.odd_cases(data)
    cases = odd_sizes.over_processes(data, timed, claim.variant)
    if cases.empty or (cases["outcome"] == OPEN).any():
        raise Lacking(MISSING)
    worst = min(cases.itertuples(), key=lambda case: (case.outcome != LOSS, case.ratio.value))
    where = (
        f"{worst.type}, {worst.items}, {worst.cache}, {worst.launch}: "
        f"{with_interval(worst.ratio)} × CUB over {worst.ratio.count} processes"
    )
    known = [((cases["outcome"] == LOSS).sum(), where)]
    return farthest(claim, known, sources(data, timed), cases=len(cases))


def spills(claim: Claim, data: Data) -> Standing:
    """Number of timed cases whose kernel has local memory: spilled registers, or arrays indexed at
    run time."""
    rows = standings.kernel_rows(data, OWN)
    spilling = rows[rows["local_bytes"] > 0]
    names = ", ".join(sorted(set(spilling["variant"]))) or f"of {len(rows)}"
    return farthest(claim, [(len(spilling), names)], sources(data, rows))


def speedup(claim: Claim, data: Data) -> Standing:
    """Speedup over one core of the host, in every session, since hosts differ. With `of_published`,
    its ratio to the speedup published for the size."""
    then = None
    if claim.of_published:
        table = one_core.published_table(data, claim.of_published).table.set_index("items")
        then = table["cpu_ms"] / table["gpu_ms"]
    sessions = one_core.core_sessions(data, all_of=(claim.variant,))
    known: list[tuple[Any, ...]] = []
    for session, cases in enumerate(sessions):
        rows = one_core.session_over_core(cases, claim.variant, one_core.ONE_CORE)
        rows = rows[rows["items"] >= claim.least_items]
        rows = pick(rows, items=claim.items) if claim.items else rows
        ratios = rows[["ratio", "low", "high"]]
        ratios = ratios if then is None else ratios.div(rows["items"].map(then), axis=0)
        known += [
            (Interval(ratio[0], ratio[1], ratio[2], 0), f"{row.type}, {size(row.items)}", session)
            for ratio, row in zip(ratios.to_numpy(), rows.itertuples(), strict=True)
            if ratio[0] == ratio[0]
        ]
    standing = farthest(claim, known, sources(data, pd.concat(sessions)))
    there = [ratio.value for ratio, where, _ in known if where == standing.where]
    spread = f"; {significant(min(there))} to {significant(max(there))} by the session"
    return replace(standing, where=standing.where + spread * (len(there) > 1))


def traffic(claim: Claim, data: Data) -> Standing:
    """Items that a scan moves through DRAM, as the hardware counts them, in n."""
    rows, launches = hardware.dram_over_items(data)
    rows = pick(rows, variant=claim.variant, items=claim.items)
    known = [(row.moved, size(row.items)) for row in rows.itertuples()]
    return farthest(claim, known, sources(data, launches))
