"""Work that is done in several processes at a time."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from typing import Any

WORKERS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
_jobs: dict[str, Callable[[], Any]] = {}


def side_by_side(jobs: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    """Return the result of each job. As many jobs run at a time as there are processors, in copies
    of this process. The first exception ends the work."""
    workers = min(WORKERS, len(jobs))
    if workers < 2 or "fork" not in multiprocessing.get_all_start_methods():
        return {name: job() for name, job in jobs.items()}
    _jobs.update(jobs)
    try:
        with ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), _begin) as pool:
            try:
                return dict(zip(jobs, pool.map(_do, jobs), strict=True))
            finally:
                pool.shutdown(cancel_futures=True)
    finally:
        _jobs.clear()


def _begin() -> None:
    """Leave Ctrl-C to the parent, which ends its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _do(name: str) -> Any:
    return _jobs[name]()
