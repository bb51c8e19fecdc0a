"""Work that is done in several processes at a time."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor

WORKERS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
_jobs: dict[str, Callable[[], object]] = {}


def side_by_side(jobs: Mapping[str, Callable[[], object]]) -> None:
    """Does each, as many at a time as there are processors: in copies of this process, which know all that it knows, and of which nothing
    stays but the files that they write. The first exception ends it.
    """
    workers = min(WORKERS, len(jobs))
    if workers < 2 or "fork" not in multiprocessing.get_all_start_methods():
        for job in jobs.values():
            job()
        return
    _jobs.update(jobs)
    try:
        with ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), _begin) as pool:
            try:
                for _ in pool.map(_do, jobs):
                    pass
            finally:
                pool.shutdown(cancel_futures=True)  # where one failed, or the user ends it, no other begins
    finally:
        _jobs.clear()


def _begin() -> None:
    """Of Ctrl-C the process hears that this is a copy of: it ends the copies, once they have done what they are at."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _do(name: str) -> None:
    _jobs[name]()
