"""The results at one glance: every scan at the largest size, for the README and the paper."""

from __future__ import annotations

import pandas as pd

from analysis import statistics
from analysis.evidence import CEILING, CPU_BASELINES, FLOOR, LARGEST, TimingEvidence, Timings, of_python
from analysis.results import ideal_bytes
from analysis.statistics import Interval
from analysis.table_formats import Column, Table, code, significant, size, whole, with_interval

NEEDS = {"timings": Timings(all_of=(CEILING,), python=True)}

OF_CPU = " The CPU's times are of one session, and differ by the session, which no interval within one shows."


def build(timings: TimingEvidence) -> Table:
    rows = standings(timings)
    printed = pd.DataFrame({
        "variant": rows["variant"], "items": rows["items"],
        "time_us": rows["median_us"], "gb_per_s": rows["rate"],
        "of_memcpy": rows["of_memcpy"], "of_cub": rows["of_cub"],
    })  # fmt: skip
    few = rows["count"].min() < statistics.FEWEST
    notes = (f"Fewer than {statistics.FEWEST} repetitions: no interval is given.",) if few else ()
    return Table(
        caption=f"Every scan at the largest size up to {size(LARGEST)} that it was timed at ({timings.caches()[0]} cache, 32-bit "
        "integers, inclusive sum): median time, GB/s counting 2n items, and the times of a device copy and of the fastest "
        "CUB over its own, "
        "with 95% bootstrap intervals in brackets." + of_python(timings.variants())
        + (OF_CPU if set(CPU_BASELINES) & set(rows["variant"]) else ""),
        columns=(
            Column("variant", "variant", code, right=False),
            Column("items", "n", size),
            Column("time_us", "time, µs", lambda v: significant(v, 4)),
            Column("gb_per_s", "GB/s", lambda v: with_interval(v, 3)),
            Column("of_memcpy", "× memcpy", lambda v: with_interval(v, 3)),
            Column("of_cub", "× CUB", lambda v: with_interval(v, 3)),
        ),
        rows=printed,
        notes=notes,
        wide=True,
    )


def short(timings: TimingEvidence) -> Table:
    """The same for a reader in a hurry: scans at the largest size of all, against the copy and CUB, without intervals."""
    rows = standings(timings)
    rows = rows[(rows["items"] == rows["items"].max()) & ~rows["variant"].isin(CPU_BASELINES)].reset_index(drop=True)
    off = max((max(i.high / i.value - 1, 1 - i.low / i.value) for i in rows["rate"] if i.known), default=None)
    within = f"; 95% intervals lie within {significant(100 * off, 2)}% of the values" if off is not None else ""
    share = lambda interval: "—" if interval is None else f"{interval.value:.2f}"  # noqa: E731
    return Table(
        caption=f"Inclusive sum of {size(rows['items'].max())} 32-bit integers ({timings.caches()[0]} cache): median "
        f"time, throughput counting 2n items, and speed as a share of a device copy and of the fastest CUB{within}."
        + of_python(timings.variants()),
        columns=(
            Column("variant", "variant", code, right=False),
            Column("median_us", "time, ms", lambda v: significant(v / 1e3, 3)),
            Column("rate", "GB/s", lambda v: whole(round(v.value))),
            Column("of_memcpy", "of memcpy", share),
            Column("of_cub", "of CUB", share),
        ),
        rows=rows,
    )


def standings(timings: TimingEvidence) -> pd.DataFrame:
    """One row a scan at its largest size up to LARGEST, fastest first: microseconds, GB/s, and ratios as intervals."""
    cache = timings.caches()[0]
    largest = {v: _largest(timings, v, cache) for v in timings.variants() if v != FLOOR}
    rows = []
    for variant, case in largest.items():
        if case is None:
            continue
        n, samples = int(case["items"]), case["samples"]
        moved = ideal_bytes(case["type"], case["op"], n)
        time = statistics.median_interval(samples)
        rows.append({
            "variant": variant, "items": n, "count": time.count, "median_us": time.value / 1e3,
            "rate": Interval(moved / time.value, moved / time.high, moved / time.low, time.count),
            "of_memcpy": _against(timings, CEILING, n, cache, samples) if variant != CEILING else None,
            "of_cub": _against_cub(timings, variant, n, cache, samples),
        })  # fmt: skip
    table = pd.DataFrame(rows)
    order = sorted(table.index, key=lambda i: (-table.at[i, "items"], -table.at[i, "rate"].value))
    table = table.loc[order].reset_index(drop=True)
    for column in ("rate", "of_memcpy", "of_cub"):
        table[column] = table[column].astype(object).where(table[column].notna(), None)
    return table


def _largest(timings: TimingEvidence, variant: str, cache: str) -> pd.Series | None:
    rows = timings.of(variant, cache=cache)
    if rows.empty and variant in CPU_BASELINES:
        rows = timings.of(variant)
    rows = rows[rows["items"] <= LARGEST]
    return None if rows.empty else rows.iloc[-1]


def _against(timings: TimingEvidence, other: str, n: int, cache: str, samples: object) -> Interval | None:
    rows = timings.of(other, cache=cache, items=n)
    return None if rows.empty else statistics.ratio_interval(rows.iloc[0]["samples"], samples)


def _against_cub(timings: TimingEvidence, variant: str, n: int, cache: str, samples: object) -> Interval | None:
    """Against the fastest of CUB's scans, unless it is that one."""
    fastest = timings.vendor(n, cache)
    return None if fastest in (None, variant) else _against(timings, fastest, n, cache, samples)
