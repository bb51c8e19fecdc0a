"""Sessions over several GPUs of one host: what a run must have to be one, and when it is complete."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from scanlab_report.derive.ranks import COPY
from scanlab_report.read import streams
from scanlab_report.read.records import Complaint, Run
from scanlab_report.select.ranks_evidence import SCAN

KINDS = ("timings", streams.DISTRIBUTED, streams.RANKS_TRACE, "repeats", "waits")
"""The kinds of file of such a session: timings are of `best` on one of the GPUs."""
VERIFY = "scanlab distributed verify --gpus {} --json"
_SIZE = ["algorithm", "settings", "type", "op", "mode"]


def gpus(runs: Iterable[Run]) -> int:
    """The most GPUs that the scans of some files ran over; 1 if none ran over several."""
    return max((int(run.context.get("ranks") or 1) for run in runs if run.kind != "host"), default=1)


def complete(kinds: Iterable[str], tables: Sequence[pd.DataFrame], number: int) -> bool:
    """Whether a report over several GPUs can be made: a scan on 1 and on all, at equal items per GPU and in all, beside copies, and timings of `best`."""
    if "timings" not in set(kinds) or not tables:
        return False
    rows = pd.concat(tables)
    copied = set(rows.loc[rows["algorithm"] == COPY, "ranks"])
    scans = rows[rows["kind"] == SCAN]
    one, all_of = ({*scans.loc[scans["ranks"] == ranks, [*_SIZE, "items"]].itertuples(index=False, name=None)} for ranks in (1, number))
    return {1, number} <= copied and bool(one & all_of) and any((*case[:-1], case[-1] * number) in all_of for case in one)


def misplaced(of: Sequence[tuple[Run, str]]) -> Iterator[Complaint]:
    """Files of a run over several GPUs that are of a session of one."""
    for run, kind in of:
        if kind not in KINDS:
            yield Complaint(run.file, "", f"is of one GPU, and scans of other files ran over {gpus(run for run, _ in of)}: record these in a folder of their own")
