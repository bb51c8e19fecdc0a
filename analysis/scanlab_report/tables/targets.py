"""What was to be reached, and whether it was."""

from __future__ import annotations

from scanlab_report.claims.checked import BY_MEDIAN
from scanlab_report.claims.targets import Target, targets
from scanlab_report.layout.table_formats import Column, Table, records, whole, with_interval
from scanlab_report.select.evidence import AllTimingEvidence, AllTimings, Kernels, TableEvidence
from scanlab_report.stats.intervals import Interval

NEEDS = {"timings": AllTimings(), "kernels": Kernels()}


def build(timings: AllTimingEvidence, kernels: TableEvidence) -> Table:
    rows = [_cells(row) for row in targets(timings, kernels)]
    copies = any(row["fastest_copy"] for row in rows)
    return Table(
        caption="What was to be reached, by best unless another is named, cold and launched in a stream unless said: at "
        "the size, and in the run of the newest code, that is farthest from the bound, with 95% intervals in brackets. CUB is "
        "the fastest of its scans in that case. Where memcpy is missed, the copy kernel with the access path of the chosen scan may stand "
        "in. " + BY_MEDIAN + (COPIES if copies else ""),
        columns=(
            Column("what", "of what", right=False),
            Column("wanted", "wanted", right=False),
            Column("measured", "measured", _measured),
            Column("where", "at n", right=False, wrap=6.5),
            Column("reached", "reached", right=False, wrap=4.5),
            *((
                Column("fastest_copy", "which", lambda v: v.removeprefix("copy_"), right=False, group="fastest copy"),
                Column("fastest_times_cub", "× CUB", _two, group="fastest copy"),
                Column("fastest_share", "share", _two, group="fastest copy"),
                Column("meeting_times_cub", "× CUB", _two, group="one wave"),
                Column("meeting_share", "share", _two, group="one wave"),
            ) if copies else ()),
        ),
        rows=records(rows),
        wide=True,
    )  # fmt: skip


COPIES = (
    " Beside a row that is not reached: the fastest copy of that case, how many times as fast as CUB it is, and the share of its speed "
    "that best has; and the same of copy_one_wave (one wave), a copy whose blocks meet between reading and writing, as those of one_wave do. That one is "
    "a comparison and no strict bound: the blocks of redundant_reduce do not meet, and when a block is best asked depends on the size."
)


def _cells(row: Target) -> dict[str, object]:
    fastest, meeting = row.fastest_copy, row.meeting_copy
    return {name: getattr(row, name) for name in ("what", "measured", "where")} | {
        "wanted": f"{row.wanted} {row.measure}",
        "reached": row.standing,
        "fastest_copy": fastest.copy if fastest else "",
        "fastest_times_cub": fastest and fastest.times_cub, "fastest_share": fastest and fastest.share,
        "meeting_times_cub": meeting and meeting.times_cub, "meeting_share": meeting and meeting.share,
    }  # fmt: skip


def _two(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _measured(interval: Interval | None) -> str:
    if interval is not None and not interval.known and interval.value == int(interval.value):
        return whole(interval.value)
    return with_interval(interval, 3)
