"""Experiments: what serialises streams or blocks the host, and how small grids run side by side."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Struct, UnsetType

from scanlab_report.schema.base import (
    Amount,
    Count,
    Few,
    Line,
    Measured,
    Name,
    Positive,
    Some,
    means,
)

SCHEMA, CONCURRENCY = "scanlab-implicit-sync/3", "scanlab-concurrency/1"
Answer = Literal["yes", "no"] | None


class Source(Struct, kw_only=True, frozen=True):
    """Where a statement stands."""

    work: Annotated[Line, means("the lecture, course or tutorial")]
    place: Annotated[Line, means("its page or section")]


class Experiment(Struct, kw_only=True, frozen=True):
    """A statement, and whether it holds."""

    name: Annotated[Name, means("name of the experiment")]
    subject: Annotated[Line, means('subject of the statement, as "cudaMalloc (64 MiB)"')]
    verb: Annotated[Line, means("`blocks` or `serialises` for a call, or another verb")]
    object: Annotated[Line, means('"the host", "kernels of two streams", or another object')]
    statement: Annotated[Line, means("the three as a sentence")]
    stated: Annotated[
        Answer, means("whether the statement holds according to the source; null if it is silent")
    ]
    claim: Annotated[Line, means("the sources' claim, as a sentence")]
    sources: Annotated[
        list[Source], means("empty of a call that programs make and no source speaks of")
    ]
    measured: Annotated[
        Answer,
        means(
            "whether the statement holds on this device; null if untried, or if fewer than "
            "three quarters of the trials agree"
        ),
    ]
    differs: Annotated[bool, means("whether `measured` contradicts `stated`")]
    yes: Annotated[Count, means("trials in which it holds")]
    trials: Annotated[Count, means("trials of the experiment")]
    seconds: Annotated[list[Amount], means("measured time of each trial, seconds")]
    refusal: Annotated[Line, means("reason if it was not tried, else empty")]
    environment: Annotated[dict[Name, Line], means("environment variables of the experiment")]
    fresh_process: Annotated[bool, means("whether it ran in a process of its own")]


class ImplicitSync(Struct, kw_only=True, frozen=True):
    """Output of `scanlab streams implicit-sync --json`."""

    schema: Literal["scanlab-implicit-sync/3"]
    context: Measured
    experiments: list[Experiment]


class Grids(Struct, kw_only=True, frozen=True):
    """Kernels of a few blocks, in several streams."""

    streams: Annotated[Few, means("streams that have kernels")]
    kernels: Annotated[Few, means("kernels per stream")]
    blocks: Annotated[Few, means("blocks per kernel")]
    threads: Annotated[Count | UnsetType, means("threads per block")] = UNSET
    shared_bytes: Annotated[Count | UnsetType, means("shared memory per block")] = UNSET
    blocks_per_multiprocessor: Count | UnsetType = UNSET
    slots: Annotated[Few, means("blocks that the device holds at once")]
    connections: Annotated[Few, means("`CUDA_DEVICE_MAX_CONNECTIONS` of the process")]
    block_seconds_asked: Amount | UnsetType = UNSET
    block_seconds: Annotated[Positive, means("median time of a block, seconds")]
    waves: Annotated[Some, means("all blocks over `slots`, rounded up")]
    predicted_seconds: Annotated[
        Positive, means("makespan by formula, shared hardware work queues included")
    ]
    fluid_seconds: Annotated[
        Positive, means("all blocks × `block_seconds` / `slots`, without rounding or queues")
    ]
    serial_seconds: Annotated[Positive, means("makespan without any overlap")]
    makespan_seconds: Annotated[list[Positive], means("measured makespan of each repetition")]

    def __post_init__(self) -> None:
        if not self.makespan_seconds:
            raise ValueError("makespan_seconds is empty")


class Concurrency(Struct, kw_only=True, frozen=True):
    """Output of `scanlab streams concurrency --json`."""

    schema: Literal["scanlab-concurrency/1"]
    context: Measured
    cases: list[Grids]
