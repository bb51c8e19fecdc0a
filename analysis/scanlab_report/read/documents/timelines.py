"""Timelines, in the trace-event format."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Struct, UnsetType

from scanlab_report.read.documents.base import Amount, Count, Digits, Few, Index, Line, Number, Positive, Provenance, means


class Arguments(Struct, kw_only=True, frozen=True):
    """Of a complete event, the operation; of metadata, the name of a process or lane."""

    name: Line = ""
    kind: Annotated[Line, means("of an operation `copy_in`, `copy_out`, `kernel` or `side_kernel`; of a process `streams`, `engines`, `host` or `multiprocessors`")] = ""
    of: Annotated[Line, means("of a process: `measured` or `predicted`, where a file has both")] = ""
    engine: Annotated[Line, means("of a lane: its engine")] = ""
    overlapping: Annotated[Count, means("of a lane: its number among those whose operations overlap")] = 0
    sort_index: Index = 0
    operation: Annotated[Index, means("its number in the schedule")] = -1
    what: Annotated[Line, means("the operation, for people")] = ""
    label: Annotated[Line, means("of an operation: what a scenario file calls it")] = ""
    chunk: Index = -1
    items: Index = -1
    bytes: Annotated[Index, means("of a copy")] = -1
    input: Index = -1
    blocks: Index = -1
    stream: Annotated[Line, means("in words")] = ""
    stream_kind: Line = ""
    stream_index: Index = -1
    start_error_us: Annotated[Number | UnsetType, means("of a predicted operation beside a measured one: by how much it starts later, µs")] = UNSET
    end_error_us: Annotated[Number | UnsetType, means("likewise: by how much it ends later, µs")] = UNSET
    duration_error_us: Annotated[Number | UnsetType, means("likewise: by how much it is longer, µs")] = UNSET
    channel: Annotated[Index, means("the hardware queue: kernels of several streams in one queue mean one connection")] = -1


class Event(Struct, kw_only=True, frozen=True):
    """An event; complete ones (`ph` is `X`) are operations, `M` is metadata."""

    ph: Line = ""
    name: Line = ""
    cat: Annotated[Line, means("kind of engine: `copies in`, `kernels`, `copies out`")] = ""
    pid: Annotated[Count, means("the process: streams, engines, the host, multiprocessors")] = 0
    tid: Annotated[Count, means("the lane")] = 0
    ts: Annotated[Amount | UnsetType, means("start, µs")] = UNSET
    dur: Annotated[Amount | UnsetType, means("duration, µs")] = UNSET
    args: Arguments = Arguments()

    def __post_init__(self) -> None:
        if self.ph == "X" and (self.ts is UNSET or self.dur is UNSET):
            raise ValueError("a complete event lacks ts or dur")


class Timeline(Provenance, kw_only=True, frozen=True):
    """Provenance, the schedule with its parameters, and what came of it."""

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
    overlap: Annotated[Number | UnsetType, means("time that engines worked beside each other, of what is possible: 0 if one worked at a time, 1 if none worked but beside the busiest")] = UNSET
    plain_us: Annotated[list[Positive], means("makespans without collection of activity, µs")] = []
    collected_us: Annotated[list[Positive], means("makespans with it, µs")] = []
    collection_percent: Annotated[Number | UnsetType, means("by how much collecting the records changed the makespan, percent")] = UNSET
    overlaps: Annotated[list[Any], means("a row a pair of operations that ran at once for more than 5 µs: their numbers, and in how many of the collected repetitions")] = []
    verified: bool = True
    simulated_on: Annotated[Line, means("the profile; where it is said, nothing was measured")] = ""
    hardware_queues: Count = 0
    scene: Annotated[Line, means("of `scanlab scenarios`: its id")] = ""
    title: Line = ""
    fact: Line = ""
    source: Line = ""
    machine: Annotated[Line, means("how it departs from the profile")] = ""
    unit: Annotated[Line, means("of its times: `ms`, or `units` of a millisecond each on the didactic machine")] = ""
    multiprocessors: Annotated[Digits | Few, means("of the device; of a scenario, how many are drawn")] = ""  # type: ignore[assignment]
    imported_from: Annotated[Line, means("of `scanlab streams import`: the export of Nsight Systems that it was made from")] = ""
    unknown: Annotated[list[Line], means("likewise: what the export does not say, and what was left out or assumed")] = []
    measured_us: Annotated[Positive | UnsetType, means("of a comparison with a trace: both makespans, µs")] = UNSET
    predicted_us: Positive | UnsetType = UNSET
    measured_commit: Line = ""
    measured_dirty: Line = ""

    def __post_init__(self) -> None:
        if self.scene and (lacks := [key for key in ("simulated_on", "title", "fact", "unit", "makespan_us") if not getattr(self, key)]):
            raise ValueError(f"a scenario lacks {', '.join(lacks)}")


class Trace(Struct, kw_only=True, frozen=True):
    """What `scanlab streams trace --out` writes, and `simulate --out` and `scenarios --out`, which say `simulated_on`. It opens in Perfetto.

    Where kernels are alone, there is a process `multiprocessors` with an event per block, and the analysis reads that one.
    """

    traceEvents: list[Event]
    displayTimeUnit: Line = "ms"
    otherData: Timeline = Timeline()
