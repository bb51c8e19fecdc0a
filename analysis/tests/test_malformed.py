"""Every field of every kind of document, with values that it cannot have: one sentence with file, entry and field, or a meaning; never a traceback.

The documents are small and sound. Each of their fields in turn is left out, or takes each of :data:`WRONG`; a command reads the result.
"""

from __future__ import annotations

import copy
import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from analysis.__main__ import main
from analysis.tests import fixtures, stream_fixtures
from analysis.tests.fixtures import case_name, repetition

Document = dict[str, Any]
Path_ = tuple[str | int, ...]
"""Keys and indices on the way to a field."""

LONG = "9" * 5000
MISSING, HUGE = object(), object()
"""No value at all; and a whole number of 5000 digits, which Python itself would not write."""
WRONG: list[Any] = [MISSING, HUGE, 10**30, 10**8, -1, 0.5, 1e308, 1e-320, float("nan"), float("-inf"), True, None, [], [[1]], {}, {"a": [1]}, "",
                    "no such", LONG, "\ud800", "a\nb"]  # fmt: skip
WRONG_PARTS = ["", "-1", "0.5", "1e3", "\u00b2", str(10**30), LONG, "\ud800", "no such"]
"""What a part of a name, or a cell of a table, may be wrong by."""
SECONDS = 10
"""Of the processor, not of the clock: so long no reading of a few lines takes, on any machine."""

MEASURED_IN = {
    "round": "round", "repetition_index": "round", "name": "", "run_name": "", "run_type": "round", "error_occurred": "round", "skipped": "round",
}


def timings() -> Document:
    more = {"verified": 1.0, "settled": 1.0, "sm_clock_mhz": 1900.0, "label": "one_wave", "device": "Test Device", **fixtures._KERNEL}
    entries = [repetition(case_name("best", 1024, launch="stream"), i, 1000.0 + i, **more) for i in range(5)]
    entries.append(repetition(case_name("hs_block", 4096), 0, 0.0, error_occurred=True, error_message="too large", skipped="", skip_message=""))
    about = {"sm_clock_mhz_max": "1980", "l2_bytes": "100", "rounds": "5", "cccl": "3", "cccl_newest": "3", "compiler": "g", "ecc": "on", "num_cpus": 4}
    return {"context": fixtures.context(**about), "benchmarks": entries}


def schedules() -> Document:
    entries = stream_fixtures.schedule("depth_first", 1.0, settled=1.0, sm_clock_mhz=1900.0, buffers=4.0)
    entries += stream_fixtures.repetitions("streams/copy:h2d/bytes:1024/memory:pinned", 1.0, bytes=1024.0)
    entries += stream_fixtures.repetitions("streams/kernel:scale/items:1024/work:1/blocks:0", 1.0)
    return {"context": stream_fixtures.about(schema="scanlab-streams/1", kind="cuda"), "benchmarks": entries}


def stream_scan() -> Document:
    document = stream_fixtures.stream_scan()
    return document | {"benchmarks": document["benchmarks"][:5]}


def trace() -> Document:
    about = {"items": 1 << 20, "chunks": 2, "streams": 2, "workload": "scale", "memory": "pinned", "work": 1, "connections": 8, "overlap": 0.5,
             "collected_us": [1.0, 2.0], "makespan_us": 3.0}  # fmt: skip
    document = stream_fixtures.trace(operations=3, **about)
    document["traceEvents"].append({"name": "thread_name", "ph": "M", "pid": 2, "tid": 1, "args": {"name": "copies in"}})
    document["traceEvents"][-2]["args"] |= {"operation": 2, "bytes": 64}
    return document


def explanation() -> Document:
    document = fixtures.explanation("hso_block", 8, "row")
    return document | {"faults": [{"kind": "race", "where": "here"}]}


def cut(document: Document, key: str) -> Document:
    return document | {key: document[key][:2]}


DOCUMENTS: dict[str, Callable[[], Document]] = {
    "timings": timings, "schedules": schedules, "stream_scan": stream_scan, "trace": trace, "scene": lambda: stream_fixtures.scene("one", 4),
    "caveats": lambda: cut(stream_fixtures.caveats(), "experiments"), "concurrency": lambda: cut(stream_fixtures.concurrency(), "cases"),
    "comparison": lambda: cut(stream_fixtures.comparison(), "traces"), "advice": lambda: cut(stream_fixtures.advice(), "problems"),
    "explanation": explanation,
}  # fmt: skip


def fields(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Every field of a document: of a list the first and the last entry, which are of each kind here."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, of in value.items():
            yield from fields(of, (*path, key))
    elif isinstance(value, list) and value:
        for index in sorted({0, len(value) - 1}):
            yield from fields(value[index], (*path, index))


def at(document: Any, path: Path_) -> Any:
    for key in path:
        document = document[key]
    return document


def changed(document: Document, path: Path_, value: Any) -> str:
    """The text of the document with another value at one place."""
    other = copy.deepcopy(document)
    inside = at(other, path[:-1])
    if value is MISSING:
        del inside[path[-1]]
    else:
        inside[path[-1]] = "HUGE" if value is HUGE else value
    return json.dumps(other).replace('"HUGE"', LONG)


class TooLong(Exception):
    """What was to be refused at a glance was not."""


@pytest.fixture
def within_seconds() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, stop)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


def said(path: Path_) -> str:
    """A path as sentences have it."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).lstrip(".")
