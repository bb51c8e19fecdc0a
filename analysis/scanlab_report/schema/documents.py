"""Documents beside timings: timelines, experiments, verification, counts, sessions and noise.

Each struct has the fields that the analysis reads; a document may have more.
"""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from scanlab_report.schema.base import (
    Amount,
    Case,
    Count,
    Date,
    Digits,
    Few,
    Index,
    Line,
    Measured,
    Name,
    Number,
    Positive,
    Provenance,
    Settings,
    Some,
    means,
)

Answer = Literal["yes", "no"] | None


class Arguments(Struct, kw_only=True, frozen=True):
    """The operation of a complete event, or the name of a process or lane."""

    name: Line = ""
    kind: Annotated[Line, means("operation, as `copy_in`; or process, as `engines`, `host`")] = ""
    of: Annotated[Line, means("process: `measured` or `predicted`, if a file has both")] = ""
    engine: Annotated[Line, means("lane: its engine")] = ""
    operation: Annotated[Index, means("number in the schedule; -1: not stated")] = -1
    label: Annotated[Line, means("name of the operation in its scenario file")] = ""
    chunk: Annotated[Index, means("number of the chunk; -1: not stated")] = -1
    bytes: Annotated[Index, means("bytes of a copy")] = -1
    stream: Annotated[Line, means("the stream, in words")] = ""
    channel: Annotated[Index, means("hardware work queue, which streams may share")] = -1


class Event(Struct, kw_only=True, frozen=True):
    """An event: an operation if complete (`ph` is `X`), or metadata (`M`)."""

    ph: Line = ""
    name: Line = ""
    cat: Annotated[Line, means("kind of engine: `copies in`, `kernels`, `copies out`")] = ""
    pid: Annotated[Count, means("process: streams, engines, host or multiprocessors")] = 0
    tid: Annotated[Count, means("lane")] = 0
    ts: Annotated[Amount | UnsetType, means("start", "µs")] = UNSET
    dur: Annotated[Amount | UnsetType, means("duration", "µs")] = UNSET
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
    connections: Annotated[Count, means("`CUDA_DEVICE_MAX_CONNECTIONS`, or its default")] = 0
    makespan_us: Annotated[Positive | UnsetType, means("makespan", "µs")] = UNSET
    traced_us: Annotated[list[Positive], means("makespans with tracing", "µs")] = []
    tracing_overhead_percent: Annotated[Number | UnsetType, means("cost of tracing", "%")] = UNSET
    simulated_on: Annotated[Line, means("the profile; if present, nothing was measured")] = ""
    scenario: Annotated[Line, means("id of the scenario")] = ""
    title: Line = ""
    fact: Line = ""
    unit: Annotated[Line, means("unit of the times: `ms`, or `units` of a millisecond each")] = ""
    multiprocessors: Annotated[Digits | Few, means("of the device; in a scenario, those drawn")] = (
        ""  # type: ignore[assignment]
    )
    imported_from: Annotated[Line, means("export of Nsight Systems that it is made from")] = ""
    measured_us: Annotated[Positive | UnsetType, means("measured makespan", "µs")] = UNSET
    predicted_us: Annotated[Positive | UnsetType, means("predicted makespan", "µs")] = UNSET


class Trace(Struct, kw_only=True, frozen=True):
    """Output of `scanlab streams trace --out`, and of `simulate --out` and `scenarios --out`. Of
    kernels alone, the process `multiprocessors` has an event per block."""

    traceEvents: list[Event]
    otherData: Timeline = Timeline()


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
    stated: Annotated[Answer, means("whether it holds according to the source; null if silent")]
    documented: Annotated[
        Answer | Literal["may"], means("NVIDIA's documentation; null: undocumented")
    ] = None
    claim: Annotated[Line, means("the sources' claim, as a sentence")]
    sources: Annotated[list[Source], means("empty if no source speaks of the call")]
    measured: Annotated[Answer, means("whether it holds here; null: untried, or trials differ")]
    differs: Annotated[bool, means("whether `measured` contradicts `stated`")]
    yes: Annotated[Count, means("trials in which it holds")]
    trials: Annotated[Count, means("trials of the experiment")]
    seconds: Annotated[list[Amount], means("measured time of each trial", "s")]


class ImplicitSync(Struct, kw_only=True, frozen=True):
    """Output of `scanlab streams implicit-sync --json`."""

    context: Measured
    experiments: list[Experiment]


class Grids(Struct, kw_only=True, frozen=True):
    """Kernels of a few blocks, in several streams."""

    streams: Annotated[Few, means("streams that have kernels")]
    kernels: Annotated[Few, means("kernels per stream")]
    blocks: Annotated[Few, means("blocks per kernel")]
    slots: Annotated[Few, means("blocks that the device holds at once")]
    connections: Annotated[Few, means("`CUDA_DEVICE_MAX_CONNECTIONS` of the process")]
    block_seconds: Annotated[Positive, means("median time of a block", "s")]
    waves: Annotated[Some, means("all blocks over `slots`, rounded up")]
    predicted_seconds: Annotated[Positive, means("makespan by formula, with shared queues", "s")]
    serial_seconds: Annotated[Positive, means("makespan without any overlap", "s")]
    makespan_seconds: Annotated[list[Positive], Meta(min_length=1), means("of repetitions", "s")]


class Concurrency(Struct, kw_only=True, frozen=True):
    """Output of `scanlab streams concurrency --json`."""

    context: Measured
    cases: list[Grids]


class Simulated(Provenance, kw_only=True, frozen=True):
    """The provenance of a simulation, beside that of the measurement."""

    simulated_on: Annotated[Line, means("the profile")] = ""
    measured_commit: Annotated[Line, means("commit of the program that measured")] = ""
    measured_dirty: Line = ""


class Job(Struct, kw_only=True, frozen=True):
    """A job: a schedule with its parameters."""

    schedule: Name
    workload: Line = ""
    items: Count = 0
    chunks: Count
    streams: Count
    work: Count = 0


class ComparedTrace(Job, kw_only=True, frozen=True):
    """A trace, measured and predicted, with the pairs of operations that overlap for over 5 µs:
    `repeated_` in repetitions on the device, `best_` in the best of any prediction, `unaided_`
    where the model assigns streams to hardware work queues."""

    connections: Count
    repetitions: Annotated[Count | UnsetType, means("repetitions behind `measured_us`")] = UNSET
    measured_us: Annotated[Positive, means("makespan", "µs")]
    measured_spread: Annotated[Amount | UnsetType, means("range over the median")] = UNSET
    predicted_us: Annotated[Positive, means("makespan", "µs")]
    estimate_us: Annotated[Positive | UnsetType, means("makespan by a closed form", "µs")] = UNSET
    unaided_us: Annotated[Positive, means("makespan", "µs")]
    overlap_in_either: Count
    overlap_in_both: Count
    unaided_overlap_in_either: Count
    unaided_overlap_in_both: Count
    repeated_overlap_in_either: Count
    repeated_overlap_in_both: Count
    best_overlap_in_either: Count
    best_overlap_in_both: Count
    copy_queues: Annotated[Count, means("hardware work queues of the copies in one direction")]
    queues_ordered_as_modelled: Annotated[bool, means("whether copies take the model's order")]


class Comparison(Struct, kw_only=True, frozen=True):
    """Output of `scanlab simulate --compare TRACE … --out` for several traces."""

    context: Simulated
    traces: list[ComparedTrace]


class MeasuredChoice(Job, kw_only=True, frozen=True):
    """A measured choice of schedule, chunks and streams."""

    measured_us: Annotated[Positive, means("", "µs")]
    repetitions: Count | UnsetType = UNSET


class Problem(Struct, kw_only=True, frozen=True):
    """A problem, and the quality of its advice."""

    workload: Name
    items: Count
    work: Count
    copied_bytes: Annotated[Some, means("bytes of all its copies")]
    choices: Annotated[Count, means("number of measured choices, from pinned memory")]
    median_error: Annotated[Amount, means("error of predicted times, as a part of the measured")]
    worst_error: Annotated[Amount, means("largest of these errors")]
    stated_was_measured: Annotated[bool, means("whether FILE has the choice that was advised")]
    advised: Annotated[MeasuredChoice, means("that choice, else the one with the best prediction")]
    fastest: Annotated[MeasuredChoice, means("fastest measured choice")]
    slower: Annotated[Number, means("extra time of `advised` over `fastest`, as a part")]
    ties: Annotated[Some, means("choices with the predicted time of `advised`")]
    ties_least_slower: Annotated[Amount, means("least extra time of these over `fastest`")]
    ties_most_slower: Annotated[Amount, means("most extra time of these")]


class Against(Struct, kw_only=True, frozen=True):
    """Output of `scanlab advise --against FILE --json`."""

    context: Simulated
    problems: list[Problem]


class VerificationContext(Provenance, kw_only=True, frozen=True):
    """The provenance of a verification."""

    backend: Annotated[Literal["cuda", "simt", "host"], means("`simt`: the emulator")]
    seed: Annotated[Digits, means("seed of inputs and sizes")] = ""


class Check(Case, kw_only=True, frozen=True):
    """A check, any line between the first and the last: two runs, compared with the oracle, or many
    runs on one input, compared bit by bit (`--repeat N`)."""

    check: Literal["verify", "repeat"]
    variant: Name
    outcome: Literal["passed", "failed", "skipped"]
    reason: Annotated[str, means("fault, or cause of the skip; empty if the check passed")]
    runs: Annotated[Count, means("number of runs; 0 if skipped")] = 0
    different_outputs: Annotated[Count, means("1: the same bits in all runs")] = 0


class Ended(Struct, kw_only=True, frozen=True):
    """The outcomes of all checks."""

    passed: Annotated[Count, means("checks that passed")]
    failed: Annotated[Count, means("checks that failed")]
    skipped: Annotated[Count, means("checks that were skipped")]
    interrupted: Annotated[bool, means("whether not all checks were made")]


class Verification(Struct, kw_only=True, frozen=True):
    """Output of `verify --json FILE`, one object per line, complete if it has the last."""

    context: Annotated[VerificationContext, means("in the first line")]
    checks: Annotated[list[Check], means("the lines between")]
    ended: Annotated[Ended, means("in the last line")]


class Degrees(Struct, kw_only=True, frozen=True):
    """Wavefronts of shared-memory requests, with 32 banks per warp."""

    max_degree: Annotated[Count, means("wavefronts of the worst group")]
    transactions: Annotated[Count, means("wavefronts of all groups")]
    groups: Annotated[Count | UnsetType, means("groups of threads served together")] = UNSET


class SharedAccesses(Struct, kw_only=True, frozen=True):
    """Shared-memory accesses of a step."""

    banks32: Degrees


class Step(Struct, kw_only=True, frozen=True):
    """A step of a kernel."""

    name: Annotated[Line, means("name in the kernel; `interval`: from barrier to barrier")]
    number: Annotated[Count, means("number among steps of this name, as the stride in a tree")] = 0
    shared: SharedAccesses


class Launch(Struct, kw_only=True, frozen=True):
    """A launch of a kernel."""

    blocks: Count = 0
    barriers: Annotated[Count, means("most barriers of any block")] = 0
    steps: list[Step]


class Totals(Struct, kw_only=True, frozen=True):
    """Sums over steps and launches."""

    operations: Annotated[Count, means("applications of the operator")]
    swaps: Annotated[Count, means("exchanges")]
    barriers: Annotated[Count, means("barriers of one block, summed over the launches")]
    global_bytes_read: Annotated[Count, means("bytes read from global memory")]
    global_bytes_written: Annotated[Count, means("bytes written to global memory")]
    shared_requests: Annotated[Count, means("shared-memory accesses of whole warps")]
    banks32: Degrees


class ClosedForms(Struct, kw_only=True, frozen=True):
    """The source's closed forms for this case; null if it has none."""

    operations: Count | None = None
    swaps: Count | None = None


class Fault(Struct, kw_only=True, frozen=True):
    """A race, barrier divergence, an access out of bounds, or a read of unwritten shared memory."""

    kind: str = ""
    where: str = ""


class Explanation(Case, kw_only=True, frozen=True):
    """Output of `scanlab explain --json` and `--all`: one case, or a list of cases."""

    schema: Literal["scanlab-explain/2"]
    primitive: Name = "scan"
    variant: Name
    unpadded: Annotated[Line, means("the variant without its padding of shared memory")] = ""
    parameters: Annotated[Settings, means("value of every parameter")] = {}
    git_commit: Annotated[Line, means("commit of the program")] = ""
    git_dirty: bool = False
    date: Date = ""
    launches: Annotated[list[Launch], Meta(min_length=1)]
    totals: Totals
    closed_forms: ClosedForms = ClosedForms()
    faults: list[Fault] = []

    @property
    def padding(self) -> str:
        """The padding of shared memory."""
        return self.parameters.get("padding", "none")

    @property
    def load(self) -> str:
        """How the variant loads."""
        return self.parameters.get("load", "")

    def tree_steps(self) -> list[Step]:
        """The steps of the first launch that climb or descend the tree."""
        return [s for s in self.launches[0].steps if s.name in ("up-sweep", "down-sweep")]


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
