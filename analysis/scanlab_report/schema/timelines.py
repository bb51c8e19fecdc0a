"""Timelines: of schedules in the trace-event format, and of scans over several GPUs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Struct, UnsetType

from scanlab_report.schema.base import (
    Amount,
    Case,
    ChunkItems,
    Count,
    Digits,
    Few,
    Index,
    Line,
    Measured,
    Number,
    Positive,
    Provenance,
    RanksBytes,
    RanksVariant,
    Settings,
    means,
)

TRACE, RANKS_TRACE = "scanlab-trace/1", "scanlab-ranks-trace/1"


class Arguments(Struct, kw_only=True, frozen=True):
    """The operation of a complete event, or the name of a process or lane."""

    name: Line = ""
    kind: Annotated[
        Line,
        means(
            "operation: `copy_in`, `copy_out`, `kernel` or `side_kernel`; process: "
            "`streams`, `engines`, `host` or `multiprocessors`"
        ),
    ] = ""
    of: Annotated[Line, means("process: `measured` or `predicted`, if a file has both")] = ""
    engine: Annotated[Line, means("lane: its engine")] = ""
    overlapping: Annotated[
        Count, means("lane: its number among those with overlapping operations")
    ] = 0
    sort_index: Index = 0
    operation: Annotated[Index, means("number in the schedule; -1: not stated")] = -1
    what: Annotated[Line, means("the operation, for people")] = ""
    label: Annotated[Line, means("name of the operation in its scenario file")] = ""
    chunk: Annotated[Index, means("number of the chunk; -1: not stated")] = -1
    items: Index = -1
    bytes: Annotated[Index, means("of a copy")] = -1
    input: Index = -1
    blocks: Index = -1
    stream: Annotated[Line, means("in words")] = ""
    stream_kind: Line = ""
    stream_index: Index = -1
    start_error_us: Annotated[Number | UnsetType, means("predicted less measured start, µs")] = (
        UNSET
    )
    end_error_us: Annotated[Number | UnsetType, means("predicted less measured end, µs")] = UNSET
    duration_error_us: Annotated[
        Number | UnsetType, means("predicted less measured duration, µs")
    ] = UNSET
    channel: Annotated[Index, means("hardware work queue, which several streams may share")] = -1


class Event(Struct, kw_only=True, frozen=True):
    """An event: an operation if complete (`ph` is `X`), or metadata (`M`)."""

    ph: Line = ""
    name: Line = ""
    cat: Annotated[Line, means("kind of engine: `copies in`, `kernels`, `copies out`")] = ""
    pid: Annotated[Count, means("process: streams, engines, host or multiprocessors")] = 0
    tid: Annotated[Count, means("lane")] = 0
    ts: Annotated[Amount | UnsetType, means("start, µs")] = UNSET
    dur: Annotated[Amount | UnsetType, means("duration, µs")] = UNSET
    args: Arguments = Arguments()

    def __post_init__(self) -> None:
        if self.ph == "X" and (self.ts is UNSET or self.dur is UNSET):
            raise ValueError("a complete event lacks ts or dur")


class Timeline(Provenance, kw_only=True, frozen=True):
    """The provenance, the schedule with its parameters, and the result."""

    schedule: Line = ""
    workload: Line = ""
    items: Count = 0
    chunks: Count = 0
    streams: Count = 0
    memory: Line = ""
    buffers: Any = None
    work: Count = 0
    blocks: Count = 0
    connections: Annotated[Count, means("`CUDA_DEVICE_MAX_CONNECTIONS`, or its default")] = 0
    makespan_us: Positive | UnsetType = UNSET
    overlap: Annotated[
        Number | UnsetType,
        means(
            "time of concurrent engines, as a part of the possible time. 0: one engine at "
            "a time; 1: none works outside the time of the busiest"
        ),
    ] = UNSET
    plain_us: Annotated[list[Positive], means("makespans without tracing, µs")] = []
    traced_us: Annotated[list[Positive], means("makespans with tracing, µs")] = []
    tracing_overhead_percent: Annotated[Number | UnsetType, means("tracing overhead, percent")] = (
        UNSET
    )
    overlaps: Annotated[
        list[Any],
        means(
            "one row per pair of operations that overlap for more than 5 µs: their "
            "numbers, and in how many traced repetitions"
        ),
    ] = []
    verified: bool = True
    simulated_on: Annotated[Line, means("the profile; if present, nothing was measured")] = ""
    hardware_queues: Count = 0
    scenario: Annotated[Line, means("id of the scenario")] = ""
    title: Line = ""
    fact: Line = ""
    source: Line = ""
    machine: Annotated[Line, means("title of the device, with its changes to the profile")] = ""
    unit: Annotated[Line, means("unit of the times: `ms`, or `units` of a millisecond each")] = ""
    multiprocessors: Annotated[Digits | Few, means("of the device; in a scenario, those drawn")] = (
        ""  # type: ignore[assignment]
    )
    imported_from: Annotated[
        Line, means("export of Nsight Systems that `scanlab streams import` read")
    ] = ""
    unknown: Annotated[
        list[Line], means("facts that the export lacks, and parts left out or assumed")
    ] = []
    measured_us: Annotated[
        Positive | UnsetType, means("measured makespan, in a comparison with a trace, µs")
    ] = UNSET
    predicted_us: Annotated[Positive | UnsetType, means("predicted makespan, likewise, µs")] = UNSET
    measured_commit: Line = ""
    measured_dirty: Line = ""

    def __post_init__(self) -> None:
        if self.scenario and (
            lacks := [
                key
                for key in ("simulated_on", "title", "fact", "unit", "makespan_us")
                if not getattr(self, key)
            ]
        ):
            raise ValueError(f"a scenario lacks {', '.join(lacks)}")


class Trace(Struct, kw_only=True, frozen=True):
    """Output of `scanlab streams trace --out`, and of `simulate --out` and `scenarios --out`, which
    set `simulated_on`. It opens in Perfetto.

    A scenario of kernels alone has a process `multiprocessors` with an event per block, and the
    analysis reads that one.
    """

    schema: Literal["scanlab-trace/1"]
    traceEvents: list[Event]
    displayTimeUnit: Line = "ms"
    otherData: Timeline = Timeline()


class RanksTraceContext(Measured, kw_only=True, frozen=True):
    """The provenance of traces over several GPUs."""

    kind: Literal["cuda"]
    seed: Annotated[Digits, means("seed of the inputs")] = ""
    ranks: Annotated[Few, means("GPUs")]
    ranks_are: Literal["threads"] = "threads"


class RankActivity(Struct, kw_only=True, frozen=True):
    """A kernel, copy or memset on a GPU. Times are from the first start of the run on any GPU;
    CUPTI brings the clocks of the GPUs to one, to within microseconds."""

    run: Annotated[Count, means("number of the run, from 0")]
    rank: Annotated[Count, means("the GPU, from 0")]
    device: Annotated[Count, means("number of the GPU in the process")]
    kind: Literal["kernel", "copy", "memset"]
    name: Annotated[Line, means("of a kernel, without namespaces and parameters; else empty")]
    bytes: Annotated[Count, means("of a copy or memset")] = 0
    start_ns: Annotated[Count, means("start, ns")]
    end_ns: Annotated[Count, means("end, ns")]

    def __post_init__(self) -> None:
        if self.end_ns < self.start_ns:
            raise ValueError("end_ns is before start_ns")


class TracedCase(Case, kw_only=True, frozen=True):
    """Runs of one case. All ranks begin each run at once, on idle GPUs, and its kernels wait until
    the host has enqueued all."""

    kind: Literal["distributed"]
    variant: RanksVariant
    ranks: Annotated[Few, means("GPUs that hold the array")]
    on: Literal["gpus"]
    settings: Settings
    chunk_items: ChunkItems
    bytes: RanksBytes
    compared_every: Annotated[Count, means("N: one output in N was compared; 1: all")]
    verified: Annotated[
        bool, means("whether the output of the last run was right; a wrong one is not written")
    ]
    activities: list[RankActivity]

    def __post_init__(self) -> None:
        if not self.verified:
            raise ValueError("its output was wrong, or not looked at")
        if not self.activities:
            raise ValueError("activities is empty")


class RanksTrace(Struct, kw_only=True, frozen=True):
    """Output of `scanlab distributed trace --out`: what each GPU did in a few runs, by CUPTI."""

    schema: Literal["scanlab-ranks-trace/1"]
    context: RanksTraceContext
    traces: Annotated[list[TracedCase], means("one entry per case")]
