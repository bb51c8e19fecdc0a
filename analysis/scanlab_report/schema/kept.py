"""Documents kept beside measurements: sessions, noise, tuned tables, and the state of an unfinished
stream-scan."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Struct

from scanlab_report.schema.base import (
    Amount,
    Count,
    Date,
    Line,
    Name,
    Op,
    Provenance,
    Settings,
    Type,
    means,
)

SESSION, NOISE = "scanlab-session/1", "scanlab-noise/1"


class SessionFile(Struct, kw_only=True, frozen=True):
    """A file of a session."""

    file: Annotated[Name, means("path relative to `session.json`")]
    kind: Annotated[
        Name,
        means(
            "content: `timings`, `schedules`, `stream_scan`, `trace`, `implicit_sync`, "
            "`concurrency`, `stopwatch`, `distributed`, `ranks_trace`, `counters`, "
            "`traffic`, `waits`, `repeats`, `counts`"
        ),
    ]


class Session(Struct, kw_only=True, frozen=True):
    """`session.json`: the recorded files of one session of a device."""

    schema: Literal["scanlab-session/1"]
    device: Name
    date: Annotated[Date, means("start of its newest file")]
    commit: Annotated[
        Line, means("commit of all files; empty if they differ, and each file names its own")
    ]
    complete: Annotated[
        bool,
        means(
            "whether every kind that a report needs is there: for a GPU all but "
            "`stopwatch`, `distributed`, `ranks_trace` and `counts`, else `timings` and "
            "`counts`. Several GPUs need `timings`, and `copy_all` and a scan on 1 and on "
            "all GPUs, at equal items per GPU and in all"
        ),
    ]
    gpus: Annotated[
        Count,
        means(
            "GPUs of one host that its scans ran over; such a session answers only for "
            "scans over several GPUs"
        ),
    ] = 1
    files: list[SessionFile]

    def __post_init__(self) -> None:
        if not self.files:
            raise ValueError("files is empty")


class NoiseFile(Struct, kw_only=True, frozen=True):
    """One of two measurements of the same code."""

    file: Line
    date: Line = ""
    git_commit: Line = ""


class Threshold(Struct, kw_only=True, frozen=True):
    """The threshold for cases of one length of time, on the device or on the host."""

    on: Annotated[
        Literal["device", "host"], means("where the cases ran: the device, or the host's processor")
    ]
    time: Annotated[
        Literal["under 10 µs", "10 to 100 µs", "100 µs and more"],
        means("length of time: the shorter of the two medians"),
    ]
    cases: Count
    threshold: Annotated[
        Amount, means("largest distance of a ratio's 95% interval from 1: 0.05 is 5%")
    ]


class NoisePair(Struct, kw_only=True, frozen=True):
    """Two measurements of the same code."""

    kind: Annotated[Line, means("timed code: `scans`, `schedules` or `stream_scan`")]
    of: Annotated[
        Line,
        means(
            "compared cases. `all`: every case of one clean commit. `vendor`: memcpy, CUB "
            "and Thrust of the same CUDA and CCCL, which no commit changes, from two "
            "commits"
        ),
    ] = ""
    a: NoiseFile
    b: NoiseFile
    thresholds: list[Threshold]


class Noise(Struct, kw_only=True, frozen=True):
    """`noise/DEVICE.json`: differences between measurements of the same code on a device."""

    schema: Literal["scanlab-noise/1"]
    device: Name
    pairs: Annotated[
        list[NoisePair], means("one entry per pair of `compare A B --record-noise FILE`")
    ]


class TunedChoice(Struct, kw_only=True, frozen=True):
    """The scan from a number of items on. If its plan refuses an n, the next choice runs, else the
    one before."""

    from_items: Annotated[Count, means("least n; the range ends before that of the next choice")]
    variant: Name
    settings: Settings


class TunedEntry(Struct, kw_only=True, frozen=True):
    """The choices for a type and operator, measured inclusive. A missing pair uses an entry with
    the same item size: of the same operator (`max` for `min`), else of `plus`."""

    type: Type
    op: Op
    choices: list[TunedChoice]


class TunedProvenance(Provenance, kw_only=True, frozen=True, omit_defaults=True):
    """The origin of the choices."""

    kept_from: Annotated[
        Line, means("date and commit of the older table that has the entries not measured anew")
    ] = ""


class Tuned(Struct, kw_only=True, frozen=True):
    """`tuned/DEVICE.json`, made by `scanlab tune`: the scans that `best` runs."""

    schema: Literal["scanlab-tuning/1"]
    device: Annotated[
        Name,
        means(
            "must match the device in use, as must `multiprocessors`, unless "
            "`SCANLAB_TUNING` names the table"
        ),
    ]
    compute_capability: Line
    multiprocessors: Count
    provenance: Annotated[TunedProvenance, means("of the measurements")]
    entries: list[TunedEntry]


class StreamScanState(Struct, kw_only=True, frozen=True):
    """`OUT.partial.json`, until the output of a stream-scan is complete. A state with other
    choices, another input or another schema is refused."""

    schema: Literal["scanlab-stream-scan-state/1"]
    asked: Annotated[dict[str, Any], means("the command's choices, and the identity of the input")]
    chunks_done: Count
    bytes_done: Count
    carry: Annotated[list[Count], means("the bytes of the carry for the next chunk")]
    boot: Annotated[Line, means("changes at a restart of the host")]
    durable: Annotated[bool, means("whether data is on the disk before it counts as done")]


class Column(Struct, kw_only=True, frozen=True):
    """A column of a tidy table."""

    column: Name
    unit: Line
    meaning: Line
    kind: Line


class TidyTable(Struct, kw_only=True, frozen=True):
    """A tidy table."""

    row: Annotated[Line, means("meaning of a row")]
    rows: Annotated[Count, means("number of rows")]
    columns: list[Column]


class TidyTables(Struct, kw_only=True, frozen=True):
    """The dictionary that `scanlab-report export` writes beside its tables, for programs."""

    schema: Literal["scanlab-export/1"]
    tables: Annotated[dict[Name, TidyTable], means("by name")]
