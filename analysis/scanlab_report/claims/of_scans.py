"""How claims about scans stand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pandas as pd

from scanlab_report.chapters import hardware, odd_sizes, one_core, standings
from scanlab_report.claims.standing import MISSING, Bound, Standing, farthest
from scanlab_report.claims.stated import Claim
from scanlab_report.data import Data
from scanlab_report.formats import significant, size, with_interval
from scanlab_report.groups import (
    BEST,
    BULK_CEILING,
    CEILING,
    CEILINGS,
    CUBS,
    FLOOR,
    IN_BULK,
    KEY,
    LOSS,
    MEETING_CEILING,
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
    return _of_cases(claim, data, cases, both.assign(value=both["interval"]))


def floor(claim: Claim, data: Data) -> Standing:
    """Time of a variant over that of an empty launch in the same file, launched the same way."""
    cases, same = contests(data, claim.variant), ["file", "cache", "launch"]
    floors = pick(cases, variant=FLOOR).drop_duplicates(same)[[*same, "samples"]]
    ours = pick(claim.cases(cases), variant=claim.variant)
    both = ours.merge(floors, on=same, suffixes=("", "_floor")).sort_values("place", kind="stable")
    both = both.drop_duplicates(KEY).sort_values(["items", *KEY], kind="stable", ignore_index=True)
    ratios = ratio_intervals(list(both["samples"]), list(both["samples_floor"]))
    return _of_cases(claim, data, cases, both.assign(value=pd.Series(ratios, dtype=object)))


def stopwatch(claim: Claim, data: Data) -> Standing:
    """Time of a variant by nvbench over its time here."""
    both, cases, theirs = odd_sizes.beside_nvbench(data)
    rows = claim.cases(pick(both, variant=claim.variant))
    standing = _of_cases(claim, data, cases, rows.assign(value=rows["ratio"]))
    return replace(standing, sources=(*standing.sources, *sources(data, theirs)))


def _of_cases(claim: Claim, data: Data, cases: pd.DataFrame, rows: pd.DataFrame) -> Standing:
    """Return the standing by the `value` of each case, with the value of a copy if the standing
    misses a target."""
    place = lambda n: f"2^{n.bit_length() - 1}" if n & (n - 1) == 0 else f"{n}"
    known = [(row.value, place(row.items), row.file) for row in rows.itertuples()]
    standing = farthest(claim, known, sources(data, cases))
    if standing.reached or not claim.ours:
        return standing
    worst = next(row for row in rows.itertuples() if row.value == standing.measured)
    here = pick(cases, **{name: getattr(worst, name) for name in KEY})
    return replace(standing, bound=_reference(claim, data, here))


def _reference(claim: Claim, data: Data, here: pd.DataFrame) -> Bound | None:
    """Return the value of a copy in a case that misses a target over CUB or the driver's copy."""
    if isinstance(claim.over, str):
        return _copy(data, here, claim.meets, claim.rivals(data))
    match = pairs(here, BEST, [CEILING])
    if CEILING not in claim.over or match.empty:
        return None
    chosen, key = match["choice"].iloc[0], tuple(match[KEY].iloc[0])
    in_bulk = not chosen or IN_BULK.has(data.variants[chosen.variant])
    kernel = BULK_CEILING if in_bulk else VECTOR_CEILING
    copied = pairs(here, kernel, [CEILING], first=pd.Series({key: match["file"].iloc[0]}))
    for allows in copied["median_ns_rival"] / copied["median_ns"]:
        return Bound(kernel, allows, claim.meets(allows))
    return None


def _copy(
    data: Data,
    here: pd.DataFrame,
    enough: Callable[[float], bool],
    cubs: Sequence[str],
    unit: str = "",
) -> Bound | None:
    """Return the speed over CUB of a copy of the same bytes, in the file with most copies. The copy
    whose blocks meet as those of one_wave is preferred, else the fastest is taken."""
    copies = data.variants.ids(CEILINGS)
    files = [own.set_index("variant")["median_ns"] for _, own in here.groupby("place")]
    files = [own for own in files if BEST in own and own.index.isin(cubs).any()]
    medians = max(
        files, key=lambda own: own.index.isin(copies).sum(), default=pd.Series(dtype=float)
    )
    timed = medians[medians.index.isin(copies)]
    if timed.empty:
        return None
    copy = MEETING_CEILING if MEETING_CEILING in timed else str(timed.idxmin())
    allows = float(medians[medians.index.isin(cubs)].min() / medians[copy])
    return Bound(copy, allows, enough(allows), unit)


def losses(claim: Claim, data: Data) -> Standing:
    """The cases that `best` loses to CUB by the interval."""
    rows, cases = decided(versus_cub(data)), contests(data)
    if rows.empty:
        raise Lacking(MISSING)
    lost, where, bound = pick(rows, outcome=LOSS).sort_values("ratio"), "", None
    for _, worst in lost[:1].iterrows():
        where = f"{worst['type']} {worst['op']}, {worst['items']}"
        here = pick(cases, **worst[KEY])
        bound = _copy(data, here, lambda ratio: ratio > 1, data.variants.ids(CUBS), " × CUB")
    known = [(len(lost), where, 0)]
    return farthest(claim, known, sources(data, cases), cases=len(rows), bound=bound)


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
    known = [((cases["outcome"] == LOSS).sum(), where, 0)]
    return farthest(claim, known, sources(data, timed), cases=len(cases))


def spills(claim: Claim, data: Data) -> Standing:
    """Number of timed cases whose kernel has local memory: spilled registers, or arrays indexed at
    run time."""
    rows = standings.kernel_rows(data, OWN)
    spilling = rows[rows["local_bytes"] > 0]
    names = ", ".join(sorted(set(spilling["variant"]))) or f"of {len(rows)}"
    return farthest(claim, [(len(spilling), names, 0)], sources(data, rows))


def speedup(claim: Claim, data: Data) -> Standing:
    """Speedup over one core of the host, in every session, since hosts differ. With `of_published`,
    its ratio to the speedup published for the size."""
    then = None
    if claim.of_published:
        table = one_core.published_table(data, claim.of_published).table.set_index("items")
        then = table["cpu_ms"] / table["gpu_ms"]
    sessions, known = one_core.core_sessions(data, all_of=(claim.variant,)), []
    for session, cases in enumerate(sessions):
        rows = one_core.session_over_core(cases, claim.variant, one_core.ONE_CORE)
        rows = rows[rows["items"] >= claim.least_items]
        for row in (pick(rows, items=claim.items) if claim.items else rows).itertuples():
            if then is None or row.items in then:
                over = 1.0 if then is None else float(then[row.items])
                ratio = Interval(row.ratio / over, row.low / over, row.high / over, 0)
                known.append((ratio, f"{row.type}, {size(row.items)}", session))
    standing = farthest(claim, known, sources(data, pd.concat(sessions)))
    there = [ratio.value for ratio, where, _ in known if where == standing.where]
    spread = f"; {significant(min(there))} to {significant(max(there))} by the session"
    return replace(standing, where=standing.where + spread * (len(there) > 1))


def traffic(claim: Claim, data: Data) -> Standing:
    """Items that a scan moves through DRAM, as the hardware counts them, in n."""
    rows, launches = hardware.dram_over_items(data)
    rows = pick(rows, variant=claim.variant, items=claim.items)
    known = [(row.moved, size(row.items), 0) for row in rows.itertuples()]
    return farthest(claim, known, sources(data, launches))
