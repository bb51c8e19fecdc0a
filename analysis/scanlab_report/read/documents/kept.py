"""What is kept beside measurements: sessions, noise, tuned tables, and the state of an unfinished stream-scan."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Struct

from scanlab_report.read.documents.base import Amount, Count, Date, Line, Name, Op, Provenance, Settings, Type, means

SESSION, NOISE = "scanlab-session/1", "scanlab-noise/1"


class SessionFile(Struct, kw_only=True, frozen=True):
    """A file of a session."""

    file: Annotated[Name, means("its path from here")]
    kind: Annotated[Name, means("what it is: `timings`, `schedules`, `stream_scan`, `trace`, `caveats`, `concurrency`, `stopwatch`, `distributed`, `counters`, `traffic`, `waits`, `repeats`, `counts`")]


class Session(Struct, kw_only=True, frozen=True):
    """`session.json`: which recorded files are one session of a device."""

    schema: Literal["scanlab-session/1"]
    device: Name
    date: Annotated[Date, means("when its newest file was begun")]
    commit: Annotated[Line, means("of all its files; empty if they are of several, each of which says its own")]
    complete: Annotated[bool, means("true if it has every kind of file that a report needs: of a GPU all but `counts`; of a machine without one `timings` and `counts`")]
    files: list[SessionFile]

    def __post_init__(self) -> None:
        if not self.files:
            raise ValueError("files is empty")


class NoiseFile(Struct, kw_only=True, frozen=True):
    """One of two runs of the same code."""

    file: Line
    date: Line = ""
    git_commit: Line = ""


class Threshold(Struct, kw_only=True, frozen=True):
    """Of the cases on one side of which the shorter median is so long."""

    on: Annotated[Literal["device", "host"], means("the device, or the host's processor")]
    time: Annotated[Literal["under 10 µs", "10 to 100 µs", "100 µs and more"], means("of the shorter median")]
    cases: Count
    threshold: Annotated[Amount, means("the farthest that the 95% interval of a ratio lies from 1: 0.05 is 5%")]


class NoisePair(Struct, kw_only=True, frozen=True):
    """Two runs of the same code."""

    kind: Annotated[Line, means("what was timed: `scans`, `schedules` or `stream_scan`")]
    of: Annotated[Line, means("which cases: `all`, of two runs of one clean commit, or `vendor`, of two commits: memcpy, CUB and Thrust of the same CUDA and CCCL, which no commit changes")] = ""
    a: NoiseFile
    b: NoiseFile
    thresholds: list[Threshold]


class Noise(Struct, kw_only=True, frozen=True):
    """`noise/DEVICE.json`: how much two runs of the same code differ on a device."""

    schema: Literal["scanlab-noise/1"]
    device: Name
    pairs: Annotated[list[NoisePair], means("an entry for each two runs that `compare A B --record-noise FILE` was given")]


class TunedChoice(Struct, kw_only=True, frozen=True):
    """What runs from a number of items on. Where its plan refuses an n, the next choice runs, else the one before."""

    from_items: Annotated[Count, means("up to that of the next")]
    variant: Name
    settings: Settings


class TunedEntry(Struct, kw_only=True, frozen=True):
    """The choices for a type and operator, measured inclusive. What is not here takes the entry of the same item size, if possible of the same operator
    (`min` that of `max`), else of `plus`."""

    type: Type
    op: Op
    choices: list[TunedChoice]


class TunedProvenance(Provenance, kw_only=True, frozen=True, omit_defaults=True):
    """Where the choices are from."""

    kept_from: Annotated[Line, means("date and commit of the table whose entries were kept for what was not measured")] = ""


class Tuned(Struct, kw_only=True, frozen=True):
    """`tuned/DEVICE.json`, made by `scanlab tune`: which scan `best` runs."""

    schema: Literal["scanlab-tuning/1"]
    device: Annotated[Name, means("must be that of the device that runs, as must `multiprocessors`")]
    compute_capability: Line
    multiprocessors: Count
    provenance: Annotated[TunedProvenance, means("of the measurements")]
    entries: list[TunedEntry]


class StreamScanState(Struct, kw_only=True, frozen=True):
    """`OUT.partial`'s companion, until the output of a stream-scan is whole. A state of other choices, of another input or of another schema is refused."""

    schema: Literal["scanlab-stream-scan-state/1"]
    asked: Annotated[dict[str, Any], means("the command's choices, and the input as it was")]
    chunks_done: Count
    bytes_done: Count
    carry: Annotated[Line, means("bytes, in hexadecimal")]
    boot: Annotated[Line, means("changes when the machine is started anew")]
    durable: bool


class Column(Struct, kw_only=True, frozen=True):
    """A column of a tidy table."""

    column: Name
    unit: Line
    meaning: Line
    kind: Line


class TidyTable(Struct, kw_only=True, frozen=True):
    """A tidy table."""

    row: Annotated[Line, means("what a row is")]
    rows: Annotated[Count, means("how many")]
    columns: list[Column]


class TidyTables(Struct, kw_only=True, frozen=True):
    """The dictionary that `scanlab-report export` writes beside its tables, for programs."""

    schema: Literal["scanlab-export/1"]
    tables: Annotated[dict[Name, TidyTable], means("by name")]
