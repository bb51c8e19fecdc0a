"""Work that is done in several processes at a time."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from typing import Any

WORKERS = len(os.sched_getaffinity(0))
_jobs: dict[str, Callable[[], Any]] = {}


def side_by_side(jobs: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    """Return the result of each job. As many jobs run at a time as there are processors, in copies
    of this process, which leave Ctrl-C to it. The first exception ends the work."""
    if WORKERS < 2:
        return {name: job() for name, job in jobs.items()}
    _jobs.update(jobs)
    fork, ignored = multiprocessing.get_context("fork"), (signal.SIGINT, signal.SIG_IGN)
    with ProcessPoolExecutor(WORKERS, fork, signal.signal, ignored) as pool:
        return dict(zip(jobs, pool.map(_do, jobs), strict=True))


def _do(name: str) -> Any:
    return _jobs[name]()
