"""What was to be reached, and whether it was."""

from __future__ import annotations

import pandas as pd

from analysis.evidence import AllTimingEvidence, AllTimings, KernelEvidence, Kernels
from analysis.statistics import Interval
from analysis.table_formats import Column, Table, whole, with_interval
from analysis.targets import targets

NEEDS = {"timings": AllTimings(), "kernels": Kernels()}


def build(timings: AllTimingEvidence, kernels: KernelEvidence) -> Table:
    rows = targets(timings, kernels)
    return Table(
        caption="What was to be reached, by best unless another is named, cold and launched in a stream unless said: at "
        "the size within the row that is farthest from its bound, with 95% bootstrap intervals in brackets. CUB is the fastest of its "
        "scans in that case. Where memcpy is missed, the copy kernel with the access path of the chosen scan may stand in.",
        columns=(
            Column("what", "of what", right=False),
            Column("measure", "measured as", right=False),
            Column("wanted", "wanted", right=False),
            Column("measured", "measured", _measured),
            Column("where", "at n", right=False),
            Column("reached", "reached", {True: "yes", False: "no", None: "—"}.get, right=False),
        ),
        rows=pd.DataFrame({name: pd.Series([getattr(row, name) for row in rows], dtype=object)
                           for name in ("what", "measure", "wanted", "measured", "where", "reached")}),
        wide=True,
    )  # fmt: skip


def _measured(interval: Interval | None) -> str:
    if interval is not None and not interval.known and interval.value == int(interval.value):
        return whole(interval.value)
    return with_interval(interval, 3)
