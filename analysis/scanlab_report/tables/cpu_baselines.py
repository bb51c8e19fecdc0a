"""CPU baselines on each machine, by the wall clock."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from scanlab_report.derive.one_core import ONE_CORE
from scanlab_report.layout.table_formats import Column, Table, significant, size, with_interval
from scanlab_report.read.records import ideal_bytes
from scanlab_report.select.evidence import HostEvidence, SessionTimingEvidence, TimingEvidence
from scanlab_report.select.timings import EachSession, Hosts, Timings
from scanlab_report.select.variants import HOST
from scanlab_report.stats.intervals import Interval

NEEDS = {"hosts": Hosts(beside=True), "sessions": EachSession(Timings(any_of=(HOST,), only=(HOST,), kinds=("cuda", "host")))}


def build(hosts: HostEvidence, sessions: SessionTimingEvidence) -> Table:
    """One row a machine and size, the baselines side by side."""
    about = hosts.machines[0].about
    baselines = _one_core_first(variant for machine in hosts.machines for variant in machine.variants())
    rows = pd.concat([_rows(machine, baselines) for machine in hosts.machines], ignore_index=True)
    columns = [Column("machine", "machine", right=False), Column("items", "n", size)]
    for variant in baselines:
        columns += [
            Column(f"{variant}_us", "µs", lambda v: significant(v, 3), group=about[variant].label),
            Column(f"{variant}_gb_per_s", "GB/s", lambda v: with_interval(v, 3), group=about[variant].label),
        ]
    return Table(
        caption="Wall-clock time and throughput of the CPU baselines: inclusive sums of 32-bit integers, counting 2n items moved. Each machine shows its "
        "newest session, with 95% intervals in brackets.",
        columns=columns,
        rows=rows,
        notes=tuple(_between_sessions(sessions)),
    )


def _one_core_first(variants: Iterable[str]) -> list[str]:
    return sorted(set(variants), key=lambda variant: (variant != ONE_CORE, variant))


def _between_sessions(sessions: SessionTimingEvidence) -> list[str]:
    """How far the sessions beside one device lie apart, at the largest size of each baseline that several of them have."""
    said = []
    cases = pd.concat([session.cases.drop_duplicates(["variant", "items"]) for session in sessions.sessions])
    for variant in _one_core_first(cases["variant"]):
        times = cases[cases["variant"] == variant].groupby("items")["median_ns"].agg(["size", "min", "max"])
        times = times[times["size"] > 1]
        if len(times):
            n, of = times.index[-1], times.iloc[-1]
            said.append(f"{sessions.sessions[0].about[variant].label}: {int(of['size'])} sessions with {sessions.provenance.device} took "
                        f"between {significant(of['min'] / 1e3)} and {significant(of['max'] / 1e3)} µs for {size(n)} items. Intervals of one session do not cover that range.")  # fmt: skip
    return said


def _rows(machine: TimingEvidence, baselines: list[str]) -> pd.DataFrame:
    cases = machine.cases.drop_duplicates(["variant", "items"])  # a CPU has no caches to flush: one of cold and warm
    sizes = sorted(set(cases["items"]))
    rows = pd.DataFrame({"machine": machine.host, "items": sizes})
    for variant in baselines:
        of = {row.items: row for row in cases[cases["variant"] == variant].itertuples()}
        rows[f"{variant}_us"] = [of[n].median_ns / 1e3 if n in of else None for n in sizes]
        rows[f"{variant}_gb_per_s"] = pd.Series([_rate(of[n]) if n in of else None for n in sizes], dtype=object)
    return rows


def _rate(case) -> Interval:
    moved = ideal_bytes(case.type, case.op, case.items)
    return Interval(moved / case.median_ns, moved / case.high_ns, moved / case.low_ns, case.count)
