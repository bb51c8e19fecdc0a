"""Speed of each scan as a share of memcpy and of CUB, by array size."""

from __future__ import annotations

import math

import pandas as pd

from scanlab_report.derive.shares import shares
from scanlab_report.layout.table_formats import Column, Table, code, significant
from scanlab_report.select.evidence import TimingEvidence
from scanlab_report.select.timings import ANY_TYPE, Timings
from scanlab_report.select.variants import CEILING, SCANS, VENDOR, of_python
from scanlab_report.stats.intervals import Interval

NEEDS = {"timings": Timings(ANY_TYPE, all_of=(CEILING,), python=True)}
FOLLOWS = ("variants", "type", "op")
SIZES = (2**10, 2**16, 2**20, 2**24, 2**28)
AGAINST = (("memcpy", CEILING), ("CUB", VENDOR))


def build(timings: TimingEvidence) -> Table:
    cache = timings.caches()[0]
    scans = [v for v in timings.variants() if SCANS.has(timings.about[v])]
    values = {(v, name, n): share for v in scans for name, other in AGAINST for n, share in _at(timings, v, other, cache).items()}
    scans = [v for v in scans if any(key[0] == v for key in values)]
    sizes = [n for n in SIZES if any(key[2] == n for key in values)]
    columns = [Column("variant", "variant", code, right=False)]
    for name, _ in AGAINST:
        columns += [Column(f"of_{name.lower()}_2^{n.bit_length() - 1}", f"2^{n.bit_length() - 1}", significant_share, group=f"× {name}")
                    for n in sizes if any(key[1:] == (name, n) for key in values)]  # fmt: skip
    rows = [{"variant": v} | {
        f"of_{name.lower()}_2^{n.bit_length() - 1}": _value(values.get((v, name, n))) for name, _ in AGAINST for n in sizes
    } for v in _by_largest(scans, values, sizes)]  # fmt: skip
    return Table(
        caption=f"Speed of each scan as a share of a device copy and of the toolkit's CUB, by array size: {timings.scanned.items}, inclusive "
        f"{timings.scanned.scan}, {cache} cache. At 1 a scan is as fast. Medians; cases.csv has their intervals.",
        columns=columns,
        rows=pd.DataFrame(rows, columns=[c.key for c in columns]),
        notes=of_python(timings.variants(), timings.about),
    )


def significant_share(value: object) -> str:
    """A share with two decimals, or two digits when it is small."""
    return significant(value, 2) if isinstance(value, float) and value < 0.1 else significant(value, 3)


def _at(timings: TimingEvidence, variant: str, against: str, cache: str) -> dict[int, Interval]:
    rows = shares(timings, variant, against, cache)
    return {int(r.items): Interval(r.ratio, r.low, r.high, 0) for r in rows.itertuples(index=False)}


def _value(interval: Interval | None) -> float:
    return math.nan if interval is None else interval.value


def _by_largest(scans: list[str], values: dict[tuple[str, str, int], Interval], sizes: list[int]) -> list[str]:
    """Fastest first at the largest size that a scan reaches."""
    def key(variant: str) -> tuple[int, float]:
        reached = [n for n in sizes if (variant, "memcpy", n) in values]
        return (-reached[-1], -values[(variant, "memcpy", reached[-1])].value) if reached else (0, 0.0)

    return sorted(scans, key=key)
