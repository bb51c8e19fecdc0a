"""Every scan at its largest size, for the paper and docs/CLAIMS.md, and six of them for the README."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from scanlab_report.derive.standings import standings
from scanlab_report.layout.table_formats import Column, Table, code, significant, size, whole, with_interval
from scanlab_report.select.evidence import TimingEvidence
from scanlab_report.select.timings import ANY_TYPE, Timings
from scanlab_report.select.variants import BEST, CEILING, HOST, LARGEST, OVERVIEW_CUBS, TORCH, VENDOR, of_python
from scanlab_report.stats import intervals

NEEDS = {"timings": Timings(ANY_TYPE, all_of=(CEILING,), python=True)}
FOLLOWS = ("variants", "type", "op")

OF_CPU = "CPU times are warm, by the wall clock and of one session; they differ by session."


def lacks(timings: TimingEvidence) -> str:
    return f"timings of at most {size(LARGEST)} items" if standings(timings).empty else ""


def build(timings: TimingEvidence) -> Table:
    rows = standings(timings)
    printed = pd.DataFrame({
        "variant": rows["variant"], "items": rows["items"],
        "time_us": rows["median_us"], "gb_per_s": rows["rate"],
        "of_memcpy": rows["of_memcpy"], "of_cub": rows["of_cub"],
    })  # fmt: skip
    few = rows["count"].min() < intervals.FEWEST_OF_MEDIAN
    notes = (f"Medians of fewer than {intervals.FEWEST_OF_MEDIAN} repetitions have no interval.",) if few else ()
    return Table(
        caption=f"Every scan at its largest timed size up to {size(LARGEST)}: inclusive {timings.scanned.scan} of {timings.scanned.items}, {timings.caches()[0]} "
        "cache. Columns: median time, throughput of 2n items, and speed over a device copy and over the fastest CUB, with 95% intervals in brackets.",
        columns=(
            Column("variant", "variant", code, right=False),
            Column("items", "n", size),
            Column("time_us", "time, µs", lambda v: significant(v, 4)),
            Column("gb_per_s", "GB/s", lambda v: with_interval(v, 3)),
            Column("of_memcpy", "× memcpy", lambda v: with_interval(v, 3)),
            Column("of_cub", "× CUB", lambda v: with_interval(v, 3)),
        ),
        rows=printed,
        notes=(*notes, *of_python(timings.variants(), timings.about), *[OF_CPU] * any(timings.about[variant].on_host for variant in rows["variant"])),
    )


def short(timings: TimingEvidence) -> Table:
    """The same for a reader in a hurry: scans at the largest size of all, against the copy and CUB, without intervals."""
    rows = _at_largest(timings)
    return Table(
        caption=f"Inclusive {timings.scanned.scan} of {size(rows['items'].max())} {timings.scanned.items}, {timings.caches()[0]} cache: median "
        f"time, throughput of 2n items, and speed over a device copy and over the fastest CUB.{_within(rows)}",
        columns=(Column("variant", "variant", code, right=False), *_STANDING),
        rows=rows,
        notes=of_python(timings.variants(), timings.about),
    )


def six(timings: TimingEvidence) -> Table:
    """Six rows for the README, with what each is, and the versions that ran: ceiling, ours, CUB tuned and as shipped, what many call,
    then the fastest others of overviews."""
    rows = _at_largest(timings)
    overview = [variant for variant in rows["variant"] if timings.about[variant].overview]
    first = dict.fromkeys(of for of in (CEILING, BEST, *timings.about.ids(OVERVIEW_CUBS), TORCH, *overview) if of in set(rows["variant"]))
    rows = rows[rows["variant"].isin(list(first)[:6])].reset_index(drop=True)
    rows["title"] = [timings.about[variant].title for variant in rows["variant"]]
    return Table(
        caption=f"Inclusive {timings.scanned.scan} of {size(rows['items'].max())} {timings.scanned.items}, {timings.caches()[0]} cache, stream launches, on "
        f"{timings.device}. Time is the median, and GB/s counts 2n items. Ratios are speeds over `{CEILING}` and over the fastest CUB{_fastest(rows)}.{_over_vendor(rows)}{_within(rows)}"
        + (" PyTorch was timed in a run of its own." if TORCH in set(rows["variant"]) else "")
        + (f" Versions: {', '.join(timings.provenance.versions)}." if timings.provenance.versions else ""),
        columns=(Column("variant", "row", code, right=False), Column("title", "scan or copy", right=False), *_STANDING[:2],
                 *(replace(column, form=lambda v: "1" if v is None else _share(v)) for column in _STANDING[2:])),  # what has no ratio is what others are compared with
        rows=rows,
    )


_share = lambda interval: "—" if interval is None else f"{interval.value:.2f}"
_STANDING = (
    Column("median_us", "time, ms", lambda v: significant(v / 1e3, 3)),
    Column("rate", "GB/s", lambda v: whole(round(v.value))),
    Column("of_memcpy", "× memcpy", _share),
    Column("of_cub", "× fastest CUB", _share),
)


def _at_largest(timings: TimingEvidence) -> pd.DataFrame:
    rows = standings(timings)
    return rows[(rows["items"] == rows["items"].max()) & ~rows["variant"].isin(timings.about.ids(HOST))].reset_index(drop=True)


def _within(rows: pd.DataFrame) -> str:
    off = max((max(i.high / i.value - 1, 1 - i.low / i.value) for i in rows["rate"] if i.known), default=None)
    return f" Rows with six samples or more have 95% intervals within {significant(100 * off, 2)}% of their medians." if off is not None else ""


def _fastest(rows: pd.DataFrame) -> str:
    """Which CUB others are compared with: the one row without that ratio."""
    fastest = rows.loc[rows["of_cub"].isna(), "variant"]
    return f", here `{fastest.iloc[0]}`" if len(fastest) == 1 else ""


def _over_vendor(rows: pd.DataFrame) -> str:
    times = rows.set_index("variant")["median_us"]
    if not {BEST, VENDOR} <= set(times.index):
        return ""
    return f" `{BEST}` has {significant(times[VENDOR] / times[BEST], 3)} times the speed of the toolkit's CUB, `{VENDOR}`."
