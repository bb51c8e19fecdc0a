"""Timings, in Google Benchmark's JSON: scans, schedules and their parts, scans larger than the device."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from scanlab_report.read.documents.base import Amount, Count, Digits, Line, Mode, Name, Number, Op, Positive, Provenance, Settings, Type, means

SCHEMA = "scanlab-results/2"
RANGES = "scanlab-ranges/1"
Memory = Literal["pinned", "pageable"]
Outcome = Literal["timed", "skipped", "failed"]


Round = Annotated[int, Meta(ge=0, le=10**6)]


class Parameter(Struct, kw_only=True, frozen=True):
    """A parameter of a variant."""

    name: Name
    values: Annotated[list[Line], means("every value, the default first")]
    small: Annotated[Any, means("the value that small inputs are verified with; null if there is none")] = None
    meaning: Line = ""

    def __post_init__(self) -> None:
        if not self.values:
            raise ValueError("values is empty")


class Variant(Struct, kw_only=True, frozen=True):
    """A variant or baseline: one file of `variants/scan/` or `baselines/`."""

    label: Annotated[Line, means("its name in legends")]
    title: Line = ""
    source: Annotated[str, Meta(max_length=2000), means("where it is from, in words")] = ""
    kind: Annotated[Literal["scan", "copy", "barrier_copy", "empty_launch"], means("`barrier_copy`: a copy with a grid-wide barrier between reading and writing")]
    origin: Literal["variant", "baseline"]
    family: Annotated[Line, means("of variants that are related")]
    overview: Annotated[bool, means("whether a figure of all has it")]
    on_host: Annotated[bool, means("whether it runs on the host")]
    types: list[Type] = []
    operators: list[Op] = []
    parameters: list[Parameter] = []
    limits: Annotated[Line, means("which n it takes, and what it needs")] = ""
    in_place: bool = False
    reproducible_bits: bool = False
    work: Annotated[Line, means("closed form, as text")] = ""
    span: Annotated[Line, means("closed form, as text")] = ""
    traffic: Annotated[Line, means("closed form, as text: items that pass to and from memory")] = ""

    @property
    def defaults(self) -> dict[str, str]:
        """The default of each parameter."""
        return {of.name: of.values[0] for of in self.parameters}


class Schedule(Struct, kw_only=True, frozen=True):
    """A schedule of copies and kernels: one file of `variants/schedules/`."""

    title: Line
    source: Line
    expectation: Annotated[Line, means("what to expect of it")]
    memory: Annotated[Memory, means("host memory that it asks for")]
    captured: Annotated[bool, means("whether it is captured into a CUDA graph")]
    control: Annotated[bool, means("whether it is wrong on purpose")]


class Workload(Struct, kw_only=True, frozen=True):
    """What is computed between the copies: one file of `variants/workloads/`."""

    title: Line
    source: Line
    type: Type
    inputs: Annotated[Count, means("arrays that are copied in")]
    ordered: Annotated[bool, means("whether a chunk needs the one before it")]
    work: Annotated[Line, means("what `work` counts")]


class Algorithm(Struct, kw_only=True, frozen=True):
    """A scan over several ranks, or a baseline of these: one file of `variants/distributed/` or `baselines/distributed/`."""

    title: Line
    source: Line
    kind: Literal["scan", "copy", "barrier_copy", "empty_launch"]
    origin: Literal["variant", "baseline"]
    family: Annotated[Line, means("of algorithms that are related")]
    on_gpus: Annotated[bool, means("whether it runs on GPUs, else in the memory of hosts")]
    limits: Annotated[Line, means("which n it takes, and what it needs")] = ""
    traffic: Annotated[Line, means("closed form, as text: items that pass to and from memory, over all ranks")] = ""


class Context(Provenance, kw_only=True, frozen=True):
    """Google Benchmark's context, and the provenance."""

    kind: Annotated[Literal["cuda", "host", "tuning"], means("`cuda`: times of a GPU, from events on the device; `tuning`: likewise, of many candidates, to choose among them; `host`: wall-clock times of the CPU baselines only")] = "cuda"
    seed: Annotated[Digits, means("of the inputs")] = ""
    rounds: Annotated[Digits, means("samples of a case at most; five at least, whatever `cap_seconds` of wall time")] = ""
    width_percent: Annotated[Line, means("of the case's median, how wide its 95% interval may be, between order statistics, for the case to have settled; 0: all rounds")] = ""
    cap_seconds: Annotated[Line, means("wall time of a case, seconds")] = ""
    seconds_a_repetition: Annotated[Line, means("timed work that a sample aimed at on the device, seconds")] = ""
    variants: Annotated[dict[Name, Variant], means("every variant in the file, by id")] = {}
    schedules: Annotated[dict[Name, Schedule], means("every schedule in the file, by id")] = {}
    workloads: Annotated[dict[Name, Workload], means("every workload in the file, by id")] = {}
    algorithms: Annotated[dict[Name, Algorithm], means("every scan over several ranks in the file, by id")] = {}
    ranks: Annotated[Count, means("GPUs or hosts that hold one array; 0: nothing of the file is distributed")] = 0
    ranks_are: Annotated[Literal["", "threads", "processes"], means("of one process, or of mpirun")] = ""
    tuning: Annotated[Line, means("where the table is from that `best` went by: `none`, `built in`, `SCANLAB_TUNING=FILE`, or `measured before this run: FILE`")] = ""
    missing: Annotated[Line, means("libraries of Python that were not timed, and why")] = ""
    torch: Annotated[Line, means("version of PyTorch")] = ""
    cupy: Annotated[Line, means("version of CuPy")] = ""
    jax: Annotated[Line, means("version of JAX")] = ""
    host_name: Line = ""
    executable: Line = ""
    num_cpus: Count = 0
    mhz_per_cpu: Number = 0
    cpu_scaling_enabled: bool = False
    caches: Any = None
    load_avg: Annotated[list[Number], means("load of the host before the run, the build that went before included")] = []
    library_build_type: Annotated[Line, means("of the distribution's benchmark library, not of Scanlab, which is built with optimisation")] = ""

    def __post_init__(self) -> None:
        if self.kind != "host" and not self.device.strip():
            raise ValueError("device is missing: times of a GPU say of which")


class Sample(Struct, kw_only=True, frozen=True, tag_field="kind"):
    """What every entry has: one sample of one case."""

    name: Annotated[Line, means("for people and for `--benchmark_filter`; nothing is taken from it")]
    run_name: Line = ""
    run_type: Literal["iteration"] = "iteration"
    repetitions: Count = 0
    repetition_index: Annotated[Round, means("which sample of the case")] = 0
    threads: Count = 1
    iterations: Annotated[Count, means("runs timed together")]
    real_time: Annotated[Amount, means("time of one run, the mean over `iterations`; 0 if it was not timed")]
    cpu_time: Annotated[Number, means("always 0")] = 0
    time_unit: Literal["ns"] = "ns"
    outcome: Annotated[Outcome, means("`skipped` or `failed`: then `error_message` says why")]
    error_occurred: bool = False
    error_message: str = ""
    round: Annotated[Round, means("which sample of the case")] = 0
    verified: Annotated[bool, means("whether the output was right when it was last looked at: of scans before timing and after the last timed run, of schedules after each sample")]
    device: Annotated[Line, means("where it is not that of the context, the file is refused: one device per file")] = ""
    settled: Annotated[bool | UnsetType, means("true from when the 95% interval of the case's median, between order statistics, is within `width_percent` of the context: then there are no more samples of it")] = UNSET
    sm_clock_mhz: Annotated[Positive | UnsetType, means("the multiprocessors' clock while the sample was taken, of schedules just after it, MHz; read every 20 ms at most, and absent between")] = UNSET

    def __post_init__(self) -> None:
        if self.outcome == "timed" and self.real_time == 0:
            raise ValueError("real_time is 0, and the outcome is timed")
        if self.outcome == "timed" and self.unverified:
            raise ValueError(f"verified is false: {self.unverified}")

    @property
    def unverified(self) -> str:
        """What is wrong with a sample whose output was not found right; empty if nothing is."""
        return ""

    @property
    def sample(self) -> int:
        """Which sample of the case."""
        return max(self.round, self.repetition_index)


class Choice(Struct, kw_only=True, frozen=True):
    """A variant that another ran in its place."""

    variant: Name
    settings: Annotated[Settings, means("its parameters, but for those that have their default")] = {}

    def __str__(self) -> str:
        return "/".join([self.variant, *(f"{name}:{value}" for name, value in self.settings.items())])


class ScanSample(Sample, kw_only=True, frozen=True, tag="scan"):
    """A scan: a variant, and what it scanned."""

    variant: Annotated[Name, means("its file's name in `variants/scan/` or `baselines/`")]
    type: Annotated[Type, means("element type")]
    op: Annotated[Op, means("the operator, a file of `variants/operators/`; items of some have several parts of the type: those of `affine` are pairs (a, b), maps x → a·x + b")]
    mode: Mode
    items: Annotated[Count, means("n")]
    bytes: Annotated[Count, means("that any scan must move: each item read once and written once")] = 0
    settings: Annotated[Settings, means("every parameter of the variant with its value; the context has the defaults")]
    cache: Annotated[Literal["cold", "warm"], means("`cold`: L2 is evicted before each timed run; `warm`: runs follow each other")]
    launch: Annotated[Literal["stream", "graph", "batch", "pipeline", "host"], means("`stream`: the host enqueues each run; `graph`: all are in one CUDA graph, which is replayed once untimed and once timed; `batch`: all are enqueued behind a kernel that waits for the last of them; `pipeline`: each is enqueued between a kernel that writes its input and one that reads its output, and its time is that of all three; `host`: host code, which launches nothing")]
    workspace_bytes: Annotated[Count | UnsetType, means("workspace of the scan")] = UNSET
    prepare_ns: Annotated[Amount | UnsetType, means("time on the device to prepare the workspace: once before the first run, never part of a timed one")] = UNSET
    choice: Annotated[Choice | UnsetType, means("of `best`: what it ran")] = UNSET
    launches: Annotated[Count | UnsetType, means("kernel launches of one run")] = UNSET
    threads_per_block: Annotated[Count | UnsetType, means("the most that any kernel of the run has; absent, as the next three, where no kernel is known")] = UNSET
    registers: Annotated[Count | UnsetType, means("registers per thread, likewise")] = UNSET
    shared_bytes: Annotated[Count | UnsetType, means("static and dynamic shared memory per block, likewise")] = UNSET
    local_bytes: Annotated[Count | UnsetType, means("local memory per thread, likewise: spilled registers, and arrays indexed at run time")] = UNSET

    @property
    def unverified(self) -> str:
        return "" if self.verified else "its output was wrong, or not looked at, and such times count for nothing"


class ScheduleSample(Sample, kw_only=True, frozen=True, tag="schedule"):
    """A schedule. `real_time` is by the host's clock, from before its first issue to when the host has seen the end of its last operation."""

    schedule: Name
    workload: Name
    items: Count
    chunks: Count
    streams: Annotated[Count, means("streams that were asked for")]
    memory: Memory
    work: Annotated[Count, means("work per item, as the workload counts it")]
    blocks: Annotated[Count, means("blocks per kernel; 0: as many as its items ask for")]
    buffers: Annotated[Count, means("device buffers per array")]
    bytes: Annotated[Count, means("all bytes that cross the bus, both ways")]
    inputs: Annotated[Count, means("arrays that are copied in")]
    operations: Annotated[Count | UnsetType, means("operations issued")] = UNSET
    streams_created: Annotated[Count, means("streams that the schedule makes, which need not be as many as `streams` asks for")]
    side_kernels: Annotated[Count, means("kernels that it runs beside those of the job, on data of their own")]
    control: Annotated[bool, means("true: the schedule is wrong on purpose, and `verified` should be false in some sample")]
    device_time_ms: Annotated[Positive | UnsetType, means("by CUDA events, from one before the first operation to the last of those behind all of them, one a stream, in ms; of a replay of its own just before that by the host's clock, whose output is not compared; absent where there is no work")] = UNSET

    @property
    def unverified(self) -> str:
        return "" if self.verified or self.control else "its output was wrong, though it is no control"


class CopySample(Sample, kw_only=True, frozen=True, tag="copy"):
    """A copy, timed by device events."""

    direction: Literal["h2d", "d2h"]
    both_ways: Annotated[bool, means("true: copies run the other way all the time; pinned memory only")]
    memory: Memory
    bytes: Count


class KernelSample(Sample, kw_only=True, frozen=True, tag="kernel"):
    """The kernel of one chunk, timed by device events."""

    workload: Name
    items: Count
    work: Count
    blocks: Count


class StreamScanSample(Sample, kw_only=True, frozen=True, tag="stream_scan", rename={"from_": "from"}):
    """A scan larger than the device. `real_time` is by the host's clock, from the first read or copy until the last item is where it is to be."""

    way: Annotated[Literal["streamed", "naive", "duplex_copy", "files"], means("`streamed`: as `stream-scan` does it; `naive`: read, copy, scan, copy, write in turn, in memory that is not pinned; `duplex_copy`: copies in both directions at once, of the same arrays in the same chunks, and no scan; `files`: the file read and written, and not scanned")]
    variant: Annotated[Name, means("what scanned each chunk")]
    type: Type
    op: Op
    mode: Mode
    items: Count
    from_: Annotated[Literal["memory", "file", "generated"], means("pinned memory, a file, or the reading threads; a file is read from the page cache as far as that holds it")]
    to: Annotated[Literal["memory", "file"], means("a file is written to the page cache; nothing is flushed within the time")]
    budget_bytes: Annotated[Count, means("device memory that was allowed")]
    device_bytes: Annotated[Count | UnsetType, means("device memory that buffers, workspaces and carries take")] = UNSET
    chunks: Annotated[Count, means("pieces")]
    buffers: Annotated[Count | UnsetType, means("pieces that the device holds, in and out each")] = UNSET
    io_threads: Annotated[Count | UnsetType, means("threads that read, and as many that write; 0 from memory to memory")] = UNSET
    mapped: Annotated[bool, means("whether files are written by a mapping, else by `pwrite`")]
    bytes_each_way: Annotated[Count, means("of the input, and as many of the output; of a scan that went on from an interrupted one, of this run")]
    bytes_per_second_each_way: Amount | UnsetType = UNSET


class DistributedSample(Sample, kw_only=True, frozen=True, tag="distributed"):
    """A scan of one array by several ranks. `real_time` is that of the slowest rank; runs follow each other."""

    variant: Annotated[Name, means("its file's name in `variants/distributed/` or `baselines/distributed/`")]
    type: Type
    op: Op
    mode: Mode
    items: Annotated[Count, means("of the whole array")]
    ranks: Count
    on: Literal["gpus", "hosts"]
    settings: Settings
    chunk_items: Annotated[Count, means("items that are dealt out to a rank at a time; ceil(items / ranks): one block per rank")]
    bytes: Annotated[Count, means("that any scan must move, over all ranks: each item read once and written once")]
    compared_every: Annotated[Count, means("of so many outputs, one was compared; 1: all")]
    rank_ns: Annotated[list[Positive] | UnsetType, means("time of one run, by rank")] = UNSET

    @property
    def unverified(self) -> str:
        return "" if self.verified else "its output was wrong, or not looked at, and such times count for nothing"


Entry = ScanSample | ScheduleSample | CopySample | KernelSample | StreamScanSample | DistributedSample
ENTRY: Any = Entry
"""The same for what takes a type."""


class Results(Struct, kw_only=True, frozen=True):
    """What `scanlab bench`, `tune --samples`, `streams run`, `stream-scan --json`, `distributed bench` and `python -m baselines.python` write."""

    context: Context
    benchmarks: Annotated[list[Entry], means("an entry for each sample of each case, raw")]


class Range(Struct, kw_only=True, frozen=True):
    """An NVTX range and its case."""

    name: Annotated[Name, means("of the NVTX range")]
    kind: Literal["scan"]
    variant: Name
    type: Type
    op: Op
    mode: Mode
    items: Count
    bytes: Count = 0
    settings: Settings
    workspace_bytes: Count = 0
    label: Line = ""


class Ranges(Struct, kw_only=True, frozen=True):
    """What `scanlab bench --once --out FILE` writes: the case of each NVTX range. It lies beside the report of the profiler, `X.ranges.json` beside `X.csv`."""

    context: Context
    ranges: list[Range]
