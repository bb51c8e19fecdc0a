"""The measures: functions of a claim and the data that return the values of all its cases.

A measure raises Lacking, or returns no value, where the data have none of its cases.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import pandas as pd
from msgspec import structs

from scanlab_report import groups
from scanlab_report.chapters import (
    bounds,
    conflicts,
    hardware,
    larger,
    model,
    odd_sizes,
    one_core,
    rank_cases,
    scenarios,
    standings,
    timelines,
)
from scanlab_report.claims.stated import Claim
from scanlab_report.data import Data
from scanlab_report.formats import significant, size, with_interval
from scanlab_report.groups import BEST, CEILING, KEY, LOSS
from scanlab_report.intervals import Interval, median_interval, ratio_interval, ratio_intervals
from scanlab_report.pick import Lacking, newest, pick
from scanlab_report.sources import Source, sources
from scanlab_report.versus import against, contests, decided, pairs, versus_cub

MISSING = "not in the data"
GIB = 1 << 30


class Known(NamedTuple):
    """A value of a claim: an interval or a count. `file`: its file or session."""

    value: Interval | float
    where: str
    file: Any = 0
    case: Any = None

    @property
    def median(self) -> float:
        return self.value.value if isinstance(self.value, Interval) else float(self.value)


class Values(NamedTuple):
    """All values of a claim. `reference` states a value in the place of a target that is missed;
    `cases`: how many were counted."""

    known: Sequence[Known]
    sources: Sequence[Source]
    reference: Callable[[Known], str] = lambda worst: ""
    cases: int = 0


def beside(claim: Claim, what: str, value: float) -> str:
    """A reference in words. One that meets the bound is no reason why the target is missed."""
    text = significant(value, claim.digits(value, 3 if value >= 1 else 2))
    return f"none: {what} has {text}" if claim.meets(value) else f"{what}: {text}"


# ---------------------------------------------------------------------------------------- scans


def speed(claim: Claim, data: Data) -> Values:
    """Time of the fastest of some others over that of a variant."""
    cases = contests(data, claim.variant)
    both = against(claim.cases(cases), claim.variant, claim.rivals(data))

    def copy(worst: Known) -> str:
        here = pick(cases, **{name: getattr(worst.case, name) for name in KEY})
        over = copy_over_cub if isinstance(claim.over, str) else copy_over_driver
        return over(claim, data, here)

    return Values(_of_cases(both, both["interval"]), sources(data, cases), copy)


def floor(claim: Claim, data: Data) -> Values:
    """Time of a variant over that of an empty launch in the same file, launched the same way."""
    cases, same = contests(data, claim.variant), ["file", "cache", "launch"]
    floors = pick(cases, variant=groups.FLOOR).drop_duplicates(same)[[*same, "samples"]]
    ours = pick(claim.cases(cases), variant=claim.variant)
    both = ours.merge(floors, on=same, suffixes=("", "_floor")).drop_duplicates(KEY)
    ratios = ratio_intervals(list(both["samples"]), list(both["samples_floor"]))
    return Values(_of_cases(both, ratios), sources(data, cases))


def stopwatch(claim: Claim, data: Data) -> Values:
    """Time of a variant by nvbench over its time here."""
    both, cases, theirs = odd_sizes.beside_nvbench(data)
    rows = claim.cases(pick(both, variant=claim.variant))
    return Values(_of_cases(rows, rows["ratio"]), sources(data, cases, theirs))


def _of_cases(rows: pd.DataFrame, values: Iterable[Interval]) -> list[Known]:
    power = lambda n: f"2^{n.bit_length() - 1}" if n & (n - 1) == 0 else f"{n}"
    return [
        Known(value, power(row.items), row.file, row)
        for value, row in zip(values, rows.itertuples(), strict=True)
    ]


def copy_over_driver(claim: Claim, data: Data, here: pd.DataFrame) -> str:
    """The speed over the driver's copy of the kernel that copies in bulk, as best does."""
    copied = pairs(here, groups.BULK_CEILING, [CEILING])
    if CEILING not in claim.over or copied.empty:
        return ""
    ratio = copied["median_ns_rival"] / copied["median_ns"]
    return beside(claim, groups.BULK_CEILING, ratio.iloc[0])


def copy_over_cub(claim: Claim, data: Data, here: pd.DataFrame) -> str:
    """The speed over CUB of a copy of the same bytes, in the file with most copies: of the copy
    whose blocks meet as those of one_wave if it was timed, else of the fastest."""
    cubs, copies = claim.rivals(data), data.variants.ids(groups.CEILINGS)
    times = here.pivot(index="place", columns="variant", values="median_ns")
    times = times.reindex(columns=[BEST, *cubs, *copies]).dropna(subset=BEST)
    times = times.dropna(subset=cubs, how="all").dropna(subset=copies, how="all")
    if times.empty:
        return ""
    medians = times.loc[times[copies].count(axis=1).idxmax()]
    timed = medians[copies].dropna()
    copy = groups.BARRIER_CEILING if groups.BARRIER_CEILING in timed else str(timed.idxmin())
    ratio = medians[cubs].min() / timed[copy]
    return beside(claim, copy, ratio)


def losses(claim: Claim, data: Data) -> Values:
    """The cases that `best` loses to CUB by the interval."""
    rows, cases = decided(versus_cub(data)), contests(data)
    lost = pick(rows, outcome=LOSS).sort_values("ratio")
    where = "".join(f"{worst.type} {worst.op}, {worst.items}" for worst in lost[:1].itertuples())

    def copy(_: Known) -> str:
        no_slower = structs.replace(claim, over="cub", at_least=1, at_most=None)
        text = copy_over_cub(no_slower, data, pick(cases, **lost.iloc[0][KEY]))
        return text and f"{text} × CUB"

    known = [Known(len(lost), where)] if len(rows) else []
    return Values(known, sources(data, cases), copy, len(rows))


def lost_at_odd_sizes(claim: Claim, data: Data) -> Values:
    """The cases that a variant loses to CUB as shipped by the interval over processes."""
    timed = odd_sizes.odd_cases(data)
    cases = odd_sizes.over_processes(data, timed, claim.variant)
    if cases.empty or (cases["outcome"] == groups.OPEN).any():
        raise Lacking(MISSING)
    worst = min(cases.itertuples(), key=lambda case: (case.outcome != LOSS, case.ratio.value))
    where = (
        f"{worst.type}, {worst.items}, {worst.cache}, {worst.launch}: "
        f"{with_interval(worst.ratio)} × CUB over {worst.ratio.count} processes"
    )
    known = [Known((cases["outcome"] == LOSS).sum(), where)]
    return Values(known, sources(data, timed), cases=len(cases))


def spills(claim: Claim, data: Data) -> Values:
    """Number of timed cases whose kernel has local memory: spilled registers, or arrays indexed at
    run time."""
    rows = standings.kernel_rows(data, groups.OWN)
    spilling = rows[rows["local_bytes"] > 0]
    names = ", ".join(sorted(set(spilling["variant"]))) or f"of {len(rows)}"
    return Values([Known(len(spilling), names)], sources(data, rows))


def speedup(claim: Claim, data: Data) -> Values:
    """Speedup over one core of the host, in every session, since hosts differ. With `of_published`,
    its ratio to the speedup published for the size."""
    sessions = one_core.core_sessions(data, all_of=(claim.variant,))
    over = lambda cases: one_core.session_over_core(cases, claim.variant, one_core.ONE_CORE)
    rows = pd.concat(over(cases).assign(session=place) for place, cases in enumerate(sessions))
    rows = rows[rows["items"] >= claim.least_items].reset_index(drop=True)
    rows = pick(rows, items=claim.items) if claim.items else rows
    if claim.of_published:
        then = one_core.published_table(data, claim.of_published).table.set_index("items")
        published = rows["items"].map(then["cpu_ms"] / then["gpu_ms"])
        rows = rows.assign(**rows[["ratio", "low", "high"]].div(published, axis=0))
    known = []
    for (type_name, items), own in rows.dropna(subset="ratio").groupby(["type", "items"]):
        least, most = significant(own["ratio"].min()), significant(own["ratio"].max())
        where = f"{type_name}, {size(items)}"
        where += f"; {least} to {most} by the session" * (len(own) > 1)
        known += [
            Known(Interval(row.ratio, row.low, row.high, 0), where, row.session)
            for row in own.itertuples()
        ]
    return Values(known, sources(data, pd.concat(sessions)))


def traffic(claim: Claim, data: Data) -> Values:
    """Items that a scan moves through DRAM, as the hardware counts them, in n."""
    rows, launches = hardware.dram_over_items(data)
    rows = pick(rows, variant=claim.variant, items=claim.items)
    known = [Known(row.moved, size(row.items)) for row in rows.itertuples()]
    return Values(known, sources(data, launches))


_RANKS = {
    "ranks_copies": (rank_cases.compared, "of_copy", f"of {rank_cases.COPY}"),
    "ranks_vendor": (rank_cases.compared, "of_vendor", f"× {rank_cases.VENDOR}"),
    "ranks_bound": (rank_cases.compared, "of_bound", "of the 3n bound"),
    "ranks_time": (rank_cases.compared, "samples", "µs"),
    "ranks_weak": (rank_cases.weak, "efficiency", "of one GPU's speed"),
    "ranks_strong": (rank_cases.strong, "speedup", "× best on one GPU"),
}


def several_gpus(claim: Claim, data: Data) -> Values:
    """A quantity of a scan over several GPUs, in µs if it is a time."""
    timed = rank_cases.several(data, ranks=claim.ranks)
    cases = pick(rank_cases.usual(timed), type=claim.type, op=claim.op, mode=claim.mode)
    frame, name, _ = _RANKS[claim.measure]
    column, per = ("items", "in all") if claim.items else ("items_per_rank", "per GPU")
    own = {"algorithm": claim.variant, "ranks": claim.ranks, column: getattr(claim, column)}
    rows = pick(frame(cases), **own)
    values = [median_interval(v / 1e3) if name == "samples" else v for v in rows[name]]
    known = [
        Known(value, f"{size(getattr(row, column))} {per} on {row.ranks}")
        for value, row in zip(values, rows.itertuples(), strict=True)
        if value.value == value.value
    ]
    return Values(known, sources(data, timed))


# -------------------------------------------------------------------------------------- streams


def order(claim: Claim, data: Data) -> Values:
    """The simulated time of the faster of each two schedules over that of the slower."""
    rows = pick(one_core.published_table(data, "harris2012_overlap").table, device=claim.board)
    names = list(rows.sort_values("milliseconds", kind="stable")["schedule"])
    (traces,), source = scenarios.scenarios_of(data, [[f"{claim.board}_{name}" for name in names]])
    simulated = zip(names, (trace.about["makespan_us"] for trace in traces), strict=True)
    known = [
        Known(fast / slow, f"{first}, {second}")
        for (first, fast), (second, slow) in itertools.combinations(simulated, 2)
    ]
    return Values(known, [source])


def implicit_sync(claim: Claim, data: Data) -> Values:
    """Return the share of trials of an experiment that have the expected answer; each experiment
    must have been tried."""
    rows = newest(data, "implicit_sync", "experiments on implicit synchronisation")
    tried = pick(rows[rows["trials"] > 0], name=claim.experiments)
    if tried["name"].nunique() < len(claim.experiments):
        raise Lacking(MISSING)
    answers = tried["yes"] if claim.answer == "yes" else tried["trials"] - tried["yes"]
    known = [*map(Known, answers / tried["trials"], tried["subject"])]
    return Values(known, sources(data, rows))


def array_bytes(case: Any) -> int:
    """Bytes of each of a case's arrays."""
    return int(case.bytes) // (int(case.inputs) + 1)


def schedule(claim: Claim, data: Data) -> Values:
    """Time of the fastest schedule of a workload over its pipeline estimate."""
    cases = bounds.schedules_of(data)
    case = bounds.best_schedule(cases, claim.workload)
    if case is None or array_bytes(case) < claim.least_gib * GIB:
        raise Lacking(MISSING)
    arrays = larger.size_name(array_bytes(case))
    where = f"{case.id}, {case.chunks} chunks; arrays of {arrays}"
    return Values([Known(bounds.over_bound(case), where)], sources(data, cases))


LARGE = {"bytes": 16 * GIB}


def duplex(claim: Claim, data: Data) -> Values:
    """Time of copies both ways over that of the scan of the same bytes, from memory to memory."""
    cases = larger.larger_cases(data)
    rows = pick(cases, **LARGE, **{"budget": 2 * GIB, "to": "memory", "from": "memory"})
    fastest = rows.sort_values("median_ns").drop_duplicates("way").set_index("way")
    ways = (larger.DUPLEX, larger.STREAMED)
    if not fastest.index.isin(ways).sum() == 2:
        raise Lacking(MISSING)
    ratio = ratio_interval(*(fastest.at[way, "samples"] for way in ways))
    chunks = fastest.at[larger.STREAMED, "chunks"]
    return Values([Known(ratio, f"{chunks} chunks")], sources(data, cases))


def naive(claim: Claim, data: Data) -> Values:
    """Time of a naive loop over that of the scan, from file to file, at 16 GiB, in each session.
    The reference is reading and writing alone in that session."""
    cases, sessions = larger.larger_cases(data), larger.larger_sessions(data)
    over = lambda rows, way: larger.over_files(pick(rows, **LARGE), larger.NAIVE, way)
    earlier = ", in an earlier session" * (not over(cases, larger.STREAMED))
    gains = [gain[-1:] for gain in (over(rows, larger.STREAMED) for rows in sessions)]
    known = []
    for session, gain in enumerate(gains):
        others = [other for other in gains if other is not gain]
        stated = ", ".join(f"{value.value:.2f}" for other in others for _, value, _ in other)
        more = f"; {stated} in other sessions" * bool(stated)
        known += [Known(v, f"16 GiB, by {how}{earlier}{more}", session) for _, v, how in gain]

    def alone(worst: Known) -> str:
        values = (value.value for _, value, _ in over(sessions[worst.file], larger.FILES))
        return next((beside(claim, "file access alone", value) for value in values), "")

    return Values(known, sources(data, cases), alone)


def tracing_changes(traces: Sequence[timelines.Trace]) -> list[Known]:
    """The change of each makespan by the collection of activity, in percent, and its timeline."""
    name = "tracing_overhead_percent"
    return [Known(abs(t.about[name]), t.title) for t in traces if name in t.about]


def tracing(claim: Claim, data: Data) -> Values:
    """The change of the makespan by the collection of activity, either way."""
    traces = timelines.traces_of(data)
    return Values(tracing_changes(traces), sources(data, timelines.trace_rows(traces)))


# --------------------------------------------------------------------------------------- models


def counted(claim: Claim, data: Data) -> Values:
    """Return the number of cases in which the counts of emulator and hardware differ. For
    conflicts, return their difference in percent of wavefronts, since there are cases without
    conflicts."""
    cases, launches = conflicts.both_counted(data)
    known = Known(cases["differs"].sum(), f"of {len(cases)}")
    if claim.measure == "conflicts":
        worst = cases.loc[cases["conflicts_off"].idxmax()]
        where = f"{worst['variant']}, {worst['type']}, {size(worst['items'])}"
        known = Known(worst["conflicts_off"], where)
    return Values([known], sources(data, launches))


def makespans(claim: Claim, data: Data) -> Values:
    """The median or the worst error of the engine model's makespans."""
    rows, source = model.predictions(data)
    off = errors(rows, "predicted_us")
    known = Known(off.median(), f"of {len(rows)} configurations")
    if claim.measure == "makespan_worst":
        worst = rows.loc[off.idxmax()]
        known = Known(off.max(), f"{worst['schedule']}, {worst['chunks']} chunks")
    return Values([known], [source])


def overlaps(claim: Claim, data: Data) -> Values:
    """Return the share of pairs of operations that overlap in both prediction and measurement. The
    reference is the best prediction."""
    rows, source = model.predictions(data)
    known = Known(overlap(rows), f"of {int(rows['overlap_in_either'].sum())} pairs")
    best = lambda worst: beside(claim, "best possible prediction", overlap(rows, "best_"))
    return Values([known], [source], best)


def errors(rows: pd.DataFrame, column: str) -> pd.Series:
    """The errors of predicted makespans, in percent of the measured ones."""
    return 100 * (pd.to_numeric(rows[column]) / rows["measured_us"] - 1).abs()


def overlap(rows: pd.DataFrame, which: str = "") -> float:
    """Percent of the pairs of operations that overlap in prediction and measurement, among those
    that overlap in either; NaN if it is not known of every configuration."""
    columns = [f"{which}overlap_in_{where}" for where in ("both", "either")]
    both, either = rows[columns].apply(pd.to_numeric).sum(skipna=False)
    return 100 * float(both) / float(either) if either else float("nan")


MEASURES: dict[str, tuple[Callable[[Claim, Data], Values], str]] = {
    "speed": (speed, ""),
    "floor": (floor, "× empty launch"),
    "stopwatch": (stopwatch, "nvbench / scanlab"),
    "losses": (losses, "cases lost to CUB"),
    "odd_sizes": (lost_at_odd_sizes, "cases lost to CUB as shipped"),
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
    "makespan_median": (makespans, "% error, median"),
    "makespan_worst": (makespans, "% error, worst"),
    "overlap": (overlaps, "% of pairs"),
    **{name: (several_gpus, unit) for name, (*_, unit) in _RANKS.items()},
}
"""The function of each measure, and the unit of its values."""
