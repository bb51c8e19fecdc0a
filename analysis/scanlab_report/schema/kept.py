"""Documents kept beside measurements: sessions and noise."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from scanlab_report.schema.base import Amount, Count, Date, Line, Name, means

SESSION, NOISE = "scanlab-session/1", "scanlab-noise/1"


class SessionFile(Struct, kw_only=True, frozen=True):
    """A file of a session."""

    file: Annotated[Name, means("path relative to `session.json`")]
    kind: Annotated[Name, means("content, as `timings`, `schedules` or `counters`")]


class Session(Struct, kw_only=True, frozen=True):
    """`session.json`: the recorded files of one session of a device."""

    device: Name
    date: Annotated[Date, means("start of its newest file")]
    commit: Annotated[Line, means("commit of all files; empty if they differ")]
    complete: Annotated[bool, means("whether every kind that a report needs is there")]
    gpus: Annotated[Count, means("GPUs of one host that its scans ran over")] = 1
    files: Annotated[list[SessionFile], Meta(min_length=1)]


class NoiseFile(Struct, kw_only=True, frozen=True):
    """One of two measurements of the same code."""

    file: Line
    date: Line = ""
    git_commit: Line = ""


class Threshold(Struct, kw_only=True, frozen=True):
    """The threshold for cases of one length of time, on the device or on the host."""

    on: Annotated[Literal["device", "host"], means("where the cases ran")]
    time: Annotated[
        Literal["under 10 µs", "10 to 100 µs", "100 µs and more"], means("shorter of two medians")
    ]
    cases: Count
    threshold: Annotated[Amount, means("largest distance of a ratio's 95% interval from 1")]


class NoisePair(Struct, kw_only=True, frozen=True):
    """Two measurements of the same code."""

    kind: Annotated[Line, means("timed code: `scans`, `schedules` or `stream_scan`")]
    of: Annotated[Line, means("compared cases: `all` of one commit, or `vendor` of two")] = ""
    a: NoiseFile
    b: NoiseFile
    thresholds: list[Threshold]


class Noise(Struct, kw_only=True, frozen=True):
    """`noise/DEVICE.json`: differences between measurements of the same code on a device."""

    device: Name
    pairs: Annotated[list[NoisePair], means("one per `compare A B --record-noise FILE`")]
