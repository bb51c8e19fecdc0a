"""The measures: functions of a claim and the data that return the values of all its cases.

The quantity of each is in paper/claims/claims.toml. A measure raises Lacking, or returns no value,
where the data have none of its cases.
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import pandas as pd

from scanlab_report import groups
from scanlab_report.chapters import (
    counts,
    larger,
    model,
    odd_sizes,
    ranks,
    scenarios,
    schedules,
    standings,
    timelines,
)
from scanlab_report.claims.stated import Claim
from scanlab_report.data import Data
from scanlab_report.formats import significant, size, with_interval
from scanlab_report.groups import KEY, LOSS
from scanlab_report.intervals import Interval, median_interval, ratio_interval
from scanlab_report.pick import Lacking, caches, has, newest, of_type, of_variant, parts, pick
from scanlab_report.sources import Source, sources
from scanlab_report.versus import against, contests, decided, on_first, ratios, versus_cub

MISSING = "not in the data"
GIB = 1 << 30
LARGE = {"bytes": 16 * GIB}
ONE_CORE, CORE_RANGE = "cpu_sequential", (1024, 2**24)
"""The scan on one core, and the sizes at which it is compared."""


class Known(NamedTuple):
    """A value of a claim: an interval or a count. `file`: its file or session."""

    value: Interval | float
    where: str
    file: Any = 0

    @property
    def median(self) -> float:
        return self.value.value if isinstance(self.value, Interval) else float(self.value)


class Values(NamedTuple):
    """All values of a claim. `cases`: how many were counted."""

    known: Sequence[Known]
    sources: Sequence[Source]
    cases: int = 0


def _of_cases(rows: pd.DataFrame, values: Iterable[Interval]) -> list[Known]:
    power = lambda n: f"2^{n.bit_length() - 1}" if n & (n - 1) == 0 else f"{n}"
    pairs = zip(values, rows.itertuples(), strict=True)
    return [Known(value, power(row.items), row.file) for value, row in pairs]


def speed(claim: Claim, data: Data) -> Values:
    cases = contests(data, claim.variant)
    both = against(claim.cases(cases), claim.variant, claim.rivals(data))
    return Values(_of_cases(both, both["interval"]), sources(data, cases))


def floor(claim: Claim, data: Data) -> Values:
    cases, same = contests(data, claim.variant), ["file", "cache", "launch"]
    floors = pick(cases, variant=groups.FLOOR).drop_duplicates(same)[[*same, "samples"]]
    ours = pick(claim.cases(cases), variant=claim.variant)
    both = ours.merge(floors, on=same, suffixes=("", "_floor")).drop_duplicates(KEY)
    over = ratios(both["samples"], both["samples_floor"])
    return Values(_of_cases(both, over), sources(data, cases))


def stopwatch(claim: Claim, data: Data) -> Values:
    both, cases, theirs = odd_sizes.beside_nvbench(data)
    rows = claim.cases(pick(both, variant=claim.variant))
    return Values(_of_cases(rows, rows["ratio"]), sources(data, cases, theirs))


def losses(claim: Claim, data: Data) -> Values:
    """The cases that `best` loses to CUB by the interval."""
    rows = decided(versus_cub(data))
    lost = pick(rows, outcome=LOSS).sort_values("ratio")
    where = "".join(f"{worst.type} {worst.op}, {worst.items}" for worst in lost[:1].itertuples())
    known = [Known(len(lost), where)] if len(rows) else []
    return Values(known, sources(data, contests(data)), len(rows))


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
    rows = standings.kernel_rows(data, groups.OWN)
    spilling = rows[rows["local_bytes"] > 0]
    names = ", ".join(sorted(set(spilling["variant"]))) or f"of {len(rows)}"
    return Values([Known(len(spilling), names)], sources(data, rows))


def speedup(claim: Claim, data: Data) -> Values:
    """Speedup over one core in every session, or its ratio to the one that was published."""
    sessions, over = core_sessions(data, claim.variant), []
    for place, cases in enumerate(sessions):
        cache = caches(cases)[0]
        cpu = of_variant(cases, ONE_CORE, cache=cache)
        cpu = of_variant(cases, ONE_CORE) if cpu.empty else cpu  # it may be timed warm alone
        ours, cpu = of_variant(cases, claim.variant, cache=cache), cpu.drop_duplicates("items")
        both = ours.merge(cpu, on="items", suffixes=("", "_cpu"))
        both = both[both["items"].between(*CORE_RANGE)].assign(session=place)
        over.append(both.assign(**parts(ratios(both["samples_cpu"], both["samples"]))))
    rows = pd.concat(over)
    rows = rows[rows["items"] >= claim.least_items].reset_index(drop=True)
    rows = pick(rows, items=claim.items) if claim.items else rows
    if claim.of_published:
        then = scenarios.published_table(data, claim.of_published).table.set_index("items")
        published = rows["items"].map(then["cpu_ms"] / then["gpu_ms"])
        rows = rows.assign(**rows[["ratio", "low", "high"]].div(published, axis=0))
    known = []
    for (type_name, items), own in rows.dropna(subset="ratio").groupby(["type", "items"]):
        least, most = significant(own["ratio"].min()), significant(own["ratio"].max())
        where = f"{type_name}, {size(items)}"
        where += f"; {least} to {most} by the session" * (len(own) > 1)
        for row in own.itertuples():
            known.append(Known(Interval(row.ratio, row.low, row.high, 0), where, row.session))
    return Values(known, sources(data, pd.concat(sessions)))


def core_sessions(data: Data, variant: str) -> list[pd.DataFrame]:
    """The sums of f32, else i32, of each session with one core beside a variant, newest first."""
    both, every = (ONE_CORE, variant), data.every or data

    def wanted(rows: pd.DataFrame) -> list[pd.DataFrame]:
        newest = sorted(set(rows["file"]), key=lambda n: (every.files[n].date, n), reverse=True)
        sums = lambda kind, n: of_type(every, pick(rows, file=n), kind, "plus", both)
        answers = lambda kind: [own for n in newest if has(every, own := sums(kind, n), both)]
        return answers("f32") or answers("i32")

    lacking = f"timings of sums by {' and '.join(both)} on a CUDA device"
    return on_first(every, "cases", wanted, lacking, *both)


def traffic(claim: Claim, data: Data) -> Values:
    rows, launches = counts.dram_over_items(data)
    rows = pick(rows, variant=claim.variant, items=claim.items)
    return Values([*map(Known, rows["moved"], rows["items"].map(size))], sources(data, launches))


_RANKS = {
    "ranks_copies": ("of_copy", f"of {ranks.COPY}"),
    "ranks_vendor": ("of_vendor", f"× {ranks.VENDOR}"),
    "ranks_bound": ("of_bound", "of the 3n bound"),
    "ranks_time": ("time_us", "µs"),
    "ranks_weak": ("efficiency", "of one GPU's speed"),
    "ranks_strong": ("speedup", "× best on one GPU"),
}


def several_gpus(claim: Claim, data: Data) -> Values:
    timed = ranks.several(data, ranks=claim.ranks)
    cases = pick(ranks.usual(timed), type=claim.type, op=claim.op, mode=claim.mode)
    column, per = ("items", "in all") if claim.items else ("items_per_rank", "per GPU")
    own = {"algorithm": claim.variant, "ranks": claim.ranks, column: getattr(claim, column)}
    rows = pick(ranks.compared(cases), **own)
    rows = rows.assign(time_us=[median_interval(ns / 1e3) for ns in rows["samples"]])
    where = rows[column].map(lambda n: f"{size(n)} {per} on {claim.ranks}")
    known = map(Known, rows[_RANKS[claim.measure][0]], where)
    return Values([one for one in known if one.median == one.median], sources(data, timed))


def order(claim: Claim, data: Data) -> Values:
    """The simulated time of the faster of each two schedules over that of the slower."""
    rows = pick(scenarios.published_table(data, "harris2012_overlap").table, device=claim.board)
    names = list(rows.sort_values("milliseconds", kind="stable")["schedule"])
    (traces,), source = scenarios.scenarios_of(data, [[f"{claim.board}_{name}" for name in names]])
    simulated = zip(names, (trace.about["makespan_us"] for trace in traces), strict=True)
    known = [Known(a / b, f"{n}, {m}") for (n, a), (m, b) in itertools.combinations(simulated, 2)]
    return Values(known, [source])


def implicit_sync(claim: Claim, data: Data) -> Values:
    """The share of trials with the expected answer of each experiment; all must have been tried."""
    rows = newest(data, "implicit_sync", "experiments on implicit synchronisation")
    tried = pick(rows[rows["trials"] > 0], name=claim.experiments)
    if tried["name"].nunique() < len(claim.experiments):
        raise Lacking(MISSING)
    answers = tried["yes"] if claim.answer == "yes" else tried["trials"] - tried["yes"]
    return Values([*map(Known, answers / tried["trials"], tried["subject"])], sources(data, rows))


def schedule(claim: Claim, data: Data) -> Values:
    cases = schedules.schedules_of(data)
    case = schedules.best_schedule(cases, claim.workload)
    if case is None or schedules.array_bytes(case) < claim.least_gib * GIB:
        raise Lacking(MISSING)
    arrays = larger.size_name(schedules.array_bytes(case))
    where = f"{case.id}, {case.chunks} chunks; arrays of {arrays}"
    return Values([Known(schedules.over_bound(case), where)], sources(data, cases))


def duplex(claim: Claim, data: Data) -> Values:
    cases = larger.larger_cases(data)
    rows = pick(cases, **LARGE, **{"budget": 2 * GIB, "to": "memory", "from": "memory"})
    fastest = rows.sort_values("median_ns").drop_duplicates("way").set_index("way")
    if not {larger.DUPLEX, larger.STREAMED} <= {*fastest.index}:
        raise Lacking(MISSING)
    ours = fastest.loc[larger.STREAMED]
    ratio = ratio_interval(fastest.at[larger.DUPLEX, "samples"], ours["samples"])
    return Values([Known(ratio, f"{ours['chunks']} chunks")], sources(data, cases))


def naive(claim: Claim, data: Data) -> Values:
    """Time of a naive loop over that of the scan, from file to file, at 16 GiB, in each session."""
    cases, sessions = larger.larger_cases(data), larger.larger_sessions(data)
    over = lambda rows: larger.over_files(pick(rows, **LARGE), larger.NAIVE)
    earlier = ", in an earlier session" * (not over(cases))
    gains = [over(rows)[-1:] for rows in sessions]
    known = []
    for session, gain in enumerate(gains):
        others = itertools.chain.from_iterable(other for other in gains if other is not gain)
        stated = ", ".join(f"{value.value:.2f}" for _, value, _ in others)
        more = earlier + f"; {stated} in other sessions" * bool(stated)
        known += [Known(value, f"16 GiB, by {how}{more}", session) for _, value, how in gain]
    return Values(known, sources(data, cases))


def tracing(claim: Claim, data: Data) -> Values:
    traces, name = timelines.traces_of(data), "tracing_overhead_percent"
    known = [Known(abs(t.about[name]), t.title) for t in traces if name in t.about]
    return Values(known, sources(data, timelines.trace_rows(traces)))


def counted(claim: Claim, data: Data) -> Values:
    """Cases that emulator and hardware count differently; of conflicts, percent of wavefronts."""
    cases, launches = counts.both_counted(data)
    known = Known(cases["differs"].sum(), f"of {len(cases)}")
    if claim.measure == "conflicts":
        worst = cases.loc[cases["conflicts_off"].idxmax()]
        where = f"{worst['variant']}, {worst['type']}, {size(worst['items'])}"
        known = Known(worst["conflicts_off"], where)
    return Values([known], sources(data, launches))


def engine_model(claim: Claim, data: Data) -> Values:
    """The error of makespans, or the share of overlapping pairs that also overlap in both."""
    rows, source = model.predictions(data)
    off = model.errors(rows, "predicted_us")
    if claim.measure == "overlap":
        pairs = int(rows["overlap_in_either"].sum())
        return Values([Known(model.overlap(rows), f"of {pairs} pairs")], [source])
    known = Known(off.median(), f"of {len(rows)} configurations")
    if claim.measure == "makespan_worst":
        worst = rows.loc[off.idxmax()]
        known = Known(off.max(), f"{worst['schedule']}, {worst['chunks']} chunks")
    return Values([known], [source])


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
    "makespan_median": (engine_model, "% error, median"),
    "makespan_worst": (engine_model, "% error, worst"),
    "overlap": (engine_model, "% of pairs"),
    **{name: (several_gpus, unit) for name, (_, unit) in _RANKS.items()},
}
