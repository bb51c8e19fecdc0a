"""Claims against results: one function per measure, `(claim, data) -> Standing`.

A measure raises Lacking where the data have none of its cases; the claim is then "not measured".
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from msgspec import structs

from scanlab_report.chapters import head_to_head, kernels, model, ranks, scans, streams
from scanlab_report.claims.stated import CLAIM, PUBLISHED, TARGET, Claim, read
from scanlab_report.data import Data
from scanlab_report.formats import significant, size, with_interval
from scanlab_report.intervals import Interval, median_interval, ratio_interval, ratio_intervals
from scanlab_report.pick import (
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
    Lacking,
    Source,
    against,
    contests,
    decided,
    newest,
    pairs,
    pick,
    sources,
    versus_cub,
)

HOLDS, FAILS, NOT_MEASURED = "holds", "fails", "not measured"
MISSING = "not in the data"
FILE_ACCESS, BEST_PREDICTION = "file access alone", "best possible prediction"
"""References that are no copies."""
GIB = 1 << 30
Known = tuple[Interval | float, str, Any]
"""A value of a claim, the place, and the file or session, 0 if there is one."""


class Bound(NamedTuple):
    """A reference in the place of a target that is missed: a copy, and its value."""

    what: str
    allows: float
    enough: bool
    """It meets the target, and so is no reason why the target is missed."""
    unit: str = ""


@dataclass(frozen=True)
class Standing:
    """A claim, and the value that is farthest from its bound."""

    claim: Claim
    measured: Interval | None = None
    where: str = MISSING
    met: int = 0
    files: int = 0
    """It is met in so many of these files; 0: not measured."""
    bound: Bound | None = None
    sure: bool = True
    """The intervals meet the bound, too, in each case and file."""
    cases: int | None = None
    sources: tuple[Source, ...] = ()

    @property
    def statement(self) -> str:
        counted = "all cases" if self.cases is None else f"all {self.cases} cases"
        return self.claim.statement.replace("all cases", counted)

    @property
    def reached(self) -> bool | None:
        """In every file, by the median; None if not measured."""
        return self.met == self.files if self.files else None

    @property
    def verdict(self) -> str:
        return {True: HOLDS, False: FAILS, None: NOT_MEASURED}[self.reached]

    @property
    def unsure(self) -> bool:
        """It holds by the median alone."""
        return self.reached is True and not self.sure

    @property
    def qualified(self) -> str:
        """The verdict, and whether it is that of some files or of the median only."""
        if self.unsure:
            return f"{self.verdict} by the median only"
        some = f" in {self.files - self.met} of {self.files} files"
        return self.verdict + some * (0 < self.met < self.files)


def farthest(
    claim: Claim, known: Sequence[Known], drawn: Iterable[Source], **more: Any
) -> Standing:
    """The standing by several values; Lacking if there is none. A count has no interval."""
    if not known:
        raise Lacking(MISSING)
    sure = claim.sure(value for value, _, _ in known if isinstance(value, Interval))
    number = lambda v: v if isinstance(v, Interval) else Interval(float(v), np.nan, np.nan, 1)
    values = [(number(value), where, file) for value, where, file in known]
    value, where, _ = claim.worst(values)
    files = {file for _, _, file in values}
    met = len(files - {file for v, _, file in values if not claim.meets(v.value)})
    return Standing(claim, value, where, met, len(files), sure=sure, sources=tuple(drawn), **more)


# ---------------------------------------------------------------------------------- of scans


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
    both, cases, theirs = head_to_head.beside_nvbench(data)
    rows = claim.cases(pick(both, variant=claim.variant))
    standing = _of_cases(claim, data, cases, rows.assign(value=rows["ratio"]))
    return replace(standing, sources=(*standing.sources, *sources(data, theirs)))


def _of_cases(claim: Claim, data: Data, cases: pd.DataFrame, rows: pd.DataFrame) -> Standing:
    """The standing by the `value` of each case, and a copy in its place if it misses a target."""
    place = lambda n: f"2^{n.bit_length() - 1}" if n & (n - 1) == 0 else f"{n}"
    known = [(row.value, place(row.items), row.file) for row in rows.itertuples()]
    standing = farthest(claim, known, sources(data, cases))
    if standing.reached or not claim.ours:
        return standing
    worst = next(row for row in rows.itertuples() if row.value == standing.measured)
    here = pick(cases, **{name: getattr(worst, name) for name in KEY})
    return replace(standing, bound=_reference(claim, data, here))


def _reference(claim: Claim, data: Data, here: pd.DataFrame) -> Bound | None:
    """The value of a copy in a case where a target over CUB or over the driver's copy is missed."""
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


def _copy(data: Data, here: pd.DataFrame, enough: Callable[[float], bool],
          cubs: Sequence[str], unit: str = "") -> Bound | None:  # fmt: skip
    """The speed over CUB of a copy of the same bytes, in the file with most copies: the copy that
    meets as one_wave does, else the fastest."""
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


def odd_sizes(claim: Claim, data: Data) -> Standing:
    """The cases that a variant loses to CUB as shipped by the interval over processes."""
    timed = head_to_head.odd_cases(data)
    cases = head_to_head.over_processes(data, timed, claim.variant)
    if cases.empty or (cases["outcome"] == OPEN).any():
        raise Lacking(MISSING)
    worst = min(cases.itertuples(), key=lambda case: (case.outcome != LOSS, case.ratio.value))
    where = (f"{worst.type}, {worst.items}, {worst.cache}, {worst.launch}: "
             f"{with_interval(worst.ratio)} × CUB over {worst.ratio.count} processes")  # fmt: skip
    known = [((cases["outcome"] == LOSS).sum(), where, 0)]
    return farthest(claim, known, sources(data, timed), cases=len(cases))


def spills(claim: Claim, data: Data) -> Standing:
    """Timed cases whose kernel has local memory: spilled registers, or arrays indexed at run time."""
    rows = scans.kernel_rows(data, OWN)
    spilling = rows[rows["local_bytes"] > 0]
    names = ", ".join(sorted(set(spilling["variant"]))) or f"of {len(rows)}"
    return farthest(claim, [(len(spilling), names, 0)], sources(data, rows))


def speedup(claim: Claim, data: Data) -> Standing:
    """Over one core of the host, in every session, since hosts differ; with `of_published`, over
    the speedup published for the size."""
    then = None
    if claim.of_published:
        table = scans.published_table(data, claim.of_published).table.set_index("items")
        then = table["cpu_ms"] / table["gpu_ms"]
    sessions, known = scans.core_sessions(data, all_of=(claim.variant,)), []
    for session, cases in enumerate(sessions):
        rows = scans.session_over_core(cases, claim.variant, scans.ONE_CORE)
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
    rows, launches = kernels.dram_over_items(data)
    rows = pick(rows, variant=claim.variant, items=claim.items)
    known = [(row.moved, size(row.items), 0) for row in rows.itertuples()]
    return farthest(claim, known, sources(data, launches))


# ----------------------------------------------------------------- of schedules and timelines


def order(claim: Claim, data: Data) -> Standing:
    """The simulated time of the faster of each two schedules over that of the slower."""
    rows = pick(scans.published_table(data, "harris2012_overlap").table, device=claim.board)
    names = list(rows.sort_values("milliseconds", kind="stable")["schedule"])
    (traces,), source = model.scenarios_of(data, [[f"{claim.board}_{name}" for name in names]])
    simulated = zip(names, (trace.about["makespan_us"] for trace in traces), strict=True)
    known = [(fast / slow, f"{first}, {second}", 0)
             for (first, fast), (second, slow) in itertools.combinations(simulated, 2)]  # fmt: skip
    return farthest(claim, known, [source])


def implicit_sync(claim: Claim, data: Data) -> Standing:
    """The share of an experiment's trials with the answer; each experiment must have been tried."""
    rows = newest(data, "implicit_sync", "experiments on implicit synchronisation")
    tried = pick(rows[rows["trials"] > 0], name=claim.experiments)
    if tried["name"].nunique() < len(claim.experiments):
        raise Lacking(MISSING)
    answers = tried["yes"] if claim.answer == "yes" else tried["trials"] - tried["yes"]
    known = [*zip(answers / tried["trials"], tried["subject"], itertools.repeat(0))]
    return farthest(claim, known, sources(data, rows))


def schedule(claim: Claim, data: Data) -> Standing:
    """Time of the fastest schedule of a workload over its pipeline estimate."""
    cases = streams.schedules_of(data)
    case = streams.best_schedule(cases, claim.workload)
    array = 0 if case is None else int(case.bytes) // (int(case.inputs) + 1)
    if case is None or array < claim.least_gib * GIB:
        raise Lacking(MISSING)
    where = f"{case.id}, {case.chunks} chunks; arrays of {streams.size_name(array)}"
    return farthest(claim, [(streams.over_bound(case), where, 0)], sources(data, cases))


LARGE = {"bytes": 16 * GIB}
IN_MEMORY = LARGE | {"budget": 2 * GIB, "to": "memory", "from": "memory"}


def duplex(claim: Claim, data: Data) -> Standing:
    """Time of copies both ways over that of the scan of the same bytes, from memory to memory."""
    cases = streams.larger_cases(data)
    ways = [pick(cases, way=way, **IN_MEMORY) for way in (streams.DUPLEX, streams.STREAMED)]
    if any(rows.empty for rows in ways):
        raise Lacking(MISSING)
    copy, scan = (rows.loc[rows["median_ns"].idxmin()] for rows in ways)
    known = [(ratio_interval(copy["samples"], scan["samples"]), f"{scan['chunks']} chunks", 0)]
    return farthest(claim, known, sources(data, cases))


def naive(claim: Claim, data: Data) -> Standing:
    """Time of a naive loop over that of the scan, from file to file, at 16 GiB, in the session that
    gains least, since hosts differ. The reference: reading and writing alone in that session."""
    cases, sessions = streams.larger_cases(data), streams.larger_sessions(data)
    over = lambda rows, way: streams.over_files(pick(rows, **LARGE), streams.NAIVE, way)
    known = [(value, place, session) for session, rows in enumerate(sessions)
             for _, value, place in over(rows, streams.STREAMED)]  # fmt: skip
    standing = farthest(claim, known, sources(data, cases))
    value, place, session = claim.worst(known)
    where = f"16 GiB, by {place}"
    where += ", in an earlier session" * (not over(cases, streams.STREAMED))
    if others := ", ".join(f"{other.value:.2f}" for other, _, _ in known if other is not value):
        where += f"; {others} in other sessions"
    alone = [] if standing.reached else over(sessions[session], streams.FILES)
    bounds = [Bound(FILE_ACCESS, v.value, claim.meets(v.value)) for _, v, _ in alone]
    return replace(standing, where=where, bound=next(iter(bounds), None))


def tracing(claim: Claim, data: Data) -> Standing:
    """The change of the makespan by the collection of activity, where it is largest."""
    traces, name = streams.traces_of(data), "tracing_overhead_percent"
    known = [(float(trace.about[name]), trace.title) for trace in traces if name in trace.about]
    if not known:
        raise Lacking(MISSING)
    value, where = max(known, key=lambda pair: abs(pair[0]))
    standing = farthest(claim, [(value, where, 0)], sources(data, streams.trace_rows(traces)))
    return replace(standing, met=int(claim.meets(abs(value))))


# ------------------------------------------------------------------------------- of the models


def counted(claim: Claim, data: Data) -> Standing:
    """The cases in which the emulator's counts are not the hardware's, or how far conflicts are off
    in percent of wavefronts, since there are cases without conflicts."""
    cases, launches, _ = kernels.both_counted(data)
    if cases.empty:
        raise Lacking(MISSING)
    off = {name: (cases[f"{name}_hardware"] - cases[f"{name}_emulator"]).abs()
           for name in kernels.QUANTITIES}  # fmt: skip
    value, where = (pd.DataFrame(off) > 0).any(axis=1).sum(), f"of {len(cases)}"
    if claim.measure == "conflicts":
        percent = 100 * off["conflicts"] / cases["transactions_hardware"]
        worst = cases.loc[percent.idxmax()]
        value = percent.max()
        where = f"{worst['variant']}, {worst['type']}, {size(worst['items'])}"
    return farthest(claim, [(value, where, 0)], sources(data, launches))


def engines(claim: Claim, data: Data) -> Standing:
    """Errors of the engine model's makespans, or the share of pairs of operations that overlap in
    prediction and measurement of those that do in either; the reference is the best prediction."""
    rows, source = model.predictions(data)
    if claim.measure == "overlap":
        share, most = _overlap(rows, ""), _overlap(rows, "best_")
        if np.isnan(share):
            raise Lacking(MISSING)
        missed = not claim.meets(share) and not np.isnan(most)
        bound = Bound(BEST_PREDICTION, most, claim.meets(most)) if missed else None
        where = f"of {int(rows['overlap_in_either'].sum())} pairs"
        return farthest(claim, [(share, where, 0)], [source], bound=bound)
    off = 100 * (rows["predicted_us"] / rows["measured_us"] - 1).abs()
    known = (off.median(), f"of {len(rows)} configurations", 0)
    if claim.measure == "makespan_worst":
        worst = rows.loc[off.idxmax()]
        known = (off.max(), f"{worst['schedule']}, {worst['chunks']} chunks", 0)
    return farthest(claim, [known], [source])


def _overlap(rows: pd.DataFrame, which: str) -> float:
    """Percent; NaN if it is not known of every configuration."""
    both, either = (pd.to_numeric(rows[f"{which}overlap_in_{where}"]).sum(skipna=False)
                    for where in ("both", "either"))  # fmt: skip
    return 100 * float(both) / float(either) if either else np.nan


# --------------------------------------------------------------------------- of several GPUs


def several(claim: Claim, data: Data) -> Standing:
    """The case of a scan over several GPUs that is farthest from the bound; the reference is a copy
    on every GPU."""
    timed = ranks.several(data, ranks=claim.ranks)
    kind = {name: getattr(claim, name) for name in ranks.KIND}
    rows = _several(claim.measure, pick(ranks.usual(timed), **kind))
    column, per = ("items", "in all") if claim.items else ("items_per_rank", "per GPU")
    rows = pick(rows, algorithm=claim.variant, ranks=claim.ranks)
    rows = rows[rows["value"].map(lambda value: value.value == value.value).astype(bool)]
    rows = pick(rows, **{column: sizes}) if (sizes := getattr(claim, column)) else rows
    known = [(row.value, f"{size(getattr(row, column))} {per} on {row.ranks}", 0)
             for row in rows.itertuples()]  # fmt: skip
    standing = farthest(claim, known, sources(data, timed))
    copies = next(r.copies for r in rows.itertuples() if r.value == standing.measured)
    if standing.reached or np.isnan(copies):
        return standing
    return replace(standing, bound=Bound(ranks.COPY, float(copies), claim.meets(copies)))


def _several(measure: str, cases: pd.DataFrame) -> pd.DataFrame:
    """Scans with an interval as `value`, and as `copies` the value of a copy in their place, NaN if
    it is not known."""
    copies: Any = np.nan
    if measure == "ranks_weak":
        rows, copy = ranks.weak(cases), pick(ranks.weak(cases, "copy"), algorithm=ranks.COPY)
        copy = copy.assign(copies=copy["efficiency"].map(lambda value: value.value))
        rows = rows.merge(copy[[*ranks.PROBLEM, "copies"]], how="left")
        return rows.assign(value=rows["efficiency"])
    if measure == "ranks_strong":
        bounds = ranks.strong_bounds(cases)[[*ranks.PROBLEM, "two_n"]]
        rows = ranks.strong(cases).merge(bounds, how="left")
        return rows.assign(value=rows["speedup"], copies=rows["two_n"])
    rows = ranks.compared(cases)
    if measure == "ranks_time":
        values = pd.Series([median_interval(ns / 1e3) for ns in rows["samples"]], dtype=object)
        copies = [v.value * c.value for v, c in zip(values, rows["of_copy"], strict=True)]
        return rows.assign(value=values, copies=copies)
    column = {"ranks_copies": "of_copy", "ranks_bound": "of_bound"}.get(measure, "of_vendor")
    if measure == "ranks_vendor":
        copies = [v.value / c.value for v, c in zip(rows[column], rows["of_copy"], strict=True)]
    return rows.assign(value=rows[column], copies=copies)


MEASURES: dict[str, tuple[Callable[[Claim, Data], Standing], str]] = {
    "speed": (speed, ""),
    "floor": (floor, "× empty launch"),
    "stopwatch": (stopwatch, "nvbench / scanlab"),
    "losses": (losses, "cases lost to CUB"),
    "odd_sizes": (odd_sizes, "cases lost to CUB as shipped"),
    "spills": (spills, "cases with local memory"),
    "speedup": (speedup, "× the speed of one core"),
    "traffic": (traffic, "× n items moved"),
    "order": (order, "of the slower order"),
    "implicit_sync": (implicit_sync, "of trials"),
    "schedule": (schedule, "of pipeline estimate"),
    "duplex": (duplex, "of copies in both directions"),
    "naive": (naive, "× naive"),
    "tracing": (tracing, "% change of makespan"),
    "counts": (counted, "cases that differ"),
    "conflicts": (counted, "% of wavefronts off"),
    "makespan_median": (engines, "% error, median"),
    "makespan_worst": (engines, "% error, worst"),
    "overlap": (engines, "% of pairs"),
    "ranks_copies": (several, f"of {ranks.COPY}"),
    "ranks_weak": (several, "of one GPU's speed"),
    "ranks_strong": (several, "× best on one GPU"),
    "ranks_vendor": (several, f"× {ranks.VENDOR}"),
    "ranks_bound": (several, "of the 3n bound"),
    "ranks_time": (several, "µs"),
}
"""By measure, the function, and the unit of its values."""


def unit(claim: Claim) -> str:
    """The unit of a value; copies are a ceiling, scans are rivals."""
    if claim.of_published:
        return "of the speedup of 2007"
    if claim.measure != "speed":
        return MEASURES[claim.measure][1]
    if isinstance(claim.over, str):
        return "× CUB" if claim.over == "cub" else "× CUB as shipped"
    return f"{'of' if CEILING in claim.over else '×'} {' or '.join(claim.over)}"


# ------------------------------------------------------------------------------------ checking


def check(claims: Iterable[Claim], data: Data, about: str = "") -> list[Standing]:
    """The standing of each claim on each of its devices, or else on the first one that tells.
    `about`: the device that a reader expects, by default the first; others are named."""
    expected = about or next(iter(data.devices), "")
    return [standing for claim in claims for standing in _on_devices(claim, data, expected)]


def _on_devices(claim: Claim, data: Data, expected: str) -> list[Standing]:
    found: list[Standing] = []
    for device in claim.on or data.devices or [""]:
        if found and not claim.on:
            break
        try:
            standing = MEASURES[claim.measure][0](claim, data.on(device) if device else data)
        except Lacking:
            continue
        if device != expected and any(device in s.device.split(", ") for s in standing.sources):
            where = ", ".join(filter(None, (standing.where, device)))
            standing = replace(standing, where=where)
        found.append(standing)
    return found or [Standing(claim)]


def literature(data: Data, *measures: str) -> list[Standing]:
    """Published statements, of some measures if any are given; Lacking if none was measured."""
    claims = [claim for claim in read() if claim.kind == PUBLISHED]
    claims = [claim for claim in claims if claim.measure in (measures or MEASURES)]
    return _measured(data, (PUBLISHED, *measures), claims)


def targets(data: Data, *measures: str) -> list[Standing]:
    """Claims and targets of some measures, in the rows of the papers, on the first device that
    tells of each; Lacking if none was measured."""
    claims: list[Claim] = []
    entries = [claim for claim in read() if claim.ours and claim.measure in measures]
    for claim in sorted(entries, key=lambda claim: claim.row):
        anywhere = structs.replace(claim, kind=CLAIM, on=[], row=0)
        if anywhere not in claims:
            claims.insert(claim.row - 1 if claim.row else len(claims), anywhere)
    return _measured(data, (TARGET, *measures), claims)


def _measured(data: Data, key: Sequence[str], claims: Sequence[Claim]) -> list[Standing]:
    standings = data.once(("claims", *key), lambda: check(claims, data))
    if all(standing.reached is None for standing in standings):
        raise Lacking("results that any claim speaks of")
    return standings


def all_sources(standings: Iterable[Standing]) -> list[Source]:
    """The sources of several standings, one per origin."""
    by: dict[str, list[Source]] = {}
    for source in itertools.chain.from_iterable(standing.sources for standing in standings):
        by.setdefault(source.origin, []).append(source)

    def every(same: list[Source], name: str) -> tuple[str, ...]:
        return tuple(sorted({value for source in same for value in getattr(source, name)}))

    return [Source(", ".join(sorted({s.device for s in same})), origin, every(same, "dates"),
                   every(same, "commits"), any(s.dirty for s in same))
            for origin, same in by.items()]  # fmt: skip
