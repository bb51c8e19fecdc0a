"""The samples of a results file, one struct per kind."""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from scanlab_report.schema.base import (
    Amount,
    ChunkItems,
    Count,
    Items,
    Line,
    Mode,
    Name,
    Number,
    Op,
    Positive,
    RanksBytes,
    RanksVariant,
    Settings,
    Type,
    means,
)
from scanlab_report.tables import ELEMENT_BYTES

Memory = Literal["pinned", "pageable"]
Outcome = Literal["timed", "skipped", "failed"]
Round = Annotated[int, Meta(ge=0, le=10**6)]
_WRONG = "its output was wrong, or not looked at, and such times count for nothing"


class Sample(Struct, kw_only=True, frozen=True, tag_field="kind"):
    """The fields of every entry: one sample of one case."""

    name: Annotated[Line, means("for people and `--benchmark_filter`; no reader parses it")]
    run_name: Line = ""
    run_type: Literal["iteration"] = "iteration"
    repetitions: Count = 0
    repetition_index: Annotated[Round, means("number of the sample, from 0")] = 0
    threads: Count = 1
    iterations: Annotated[Count, means("runs in the sample")]
    real_time: Annotated[Amount, means("mean time of its runs; 0 if none was timed")]
    cpu_time: Annotated[Number, means("always 0")] = 0
    time_unit: Literal["ns"] = "ns"
    outcome: Annotated[Outcome, means("`error_message` has the reason for `skipped` and `failed`")]
    error_occurred: bool = False
    error_message: Annotated[str, means("why it was not timed")] = ""
    round: Annotated[Round, means("as `repetition_index`")] = 0
    verified: Annotated[
        bool,
        means(
            "result of the last check of the output. Scans are checked before timing and "
            "after the last timed run, schedules after each sample"
        ),
    ]
    device: Annotated[
        Line, means("if present, it must be that of the context: one device per file")
    ] = ""
    converged: Annotated[
        bool | UnsetType,
        means(
            "of files with a stopping rule: whether the case has converged (`width_percent`); no "
            "sample follows"
        ),
    ] = UNSET
    sm_clock_mhz: Annotated[
        Positive | UnsetType,
        means(
            "clock of the multiprocessors during the sample, for schedules and out-of-core "
            "scans just after it, MHz; read every 20 ms at most, and absent between"
        ),
    ] = UNSET

    table: ClassVar = "schedule"
    """The table of the sample, whose columns are fields and properties: `tables.FIELDS`."""
    wrong: ClassVar[Any] = ""
    """The fault of times whose output is not verified; empty where nobody verifies it."""

    def __post_init__(self) -> None:
        if self.outcome == "timed" and self.real_time == 0:
            raise ValueError("real_time is 0, and the outcome is timed")
        if self.outcome == "timed" and self.wrong and not self.verified:
            raise ValueError(f"verified is false: {self.wrong}")

    @property
    def sample(self) -> int:
        """Which sample of the case."""
        return max(self.round, self.repetition_index)

    @property
    def failed(self) -> bool:
        return self.outcome == "failed"


class Choice(Struct, kw_only=True, frozen=True):
    """The scan that a choosing variant, such as `best`, ran."""

    variant: Name
    settings: Annotated[Settings, means("its parameters that are not at their defaults")] = {}

    def __str__(self) -> str:
        return "/".join(
            [self.variant, *(f"{name}:{value}" for name, value in self.settings.items())]
        )


class ScanCase(Sample, kw_only=True, frozen=True):
    """A sample of a scan."""

    type: Type
    op: Op
    mode: Mode
    items: Items


class ScanSample(ScanCase, kw_only=True, frozen=True, tag="scan"):
    """A timed scan and its case."""

    variant: Annotated[Name, means("name of its file in `variants/scan/` or `baselines/`")]
    bytes: Annotated[
        Count, means("bytes that any scan must move: one read and one write per item")
    ] = 0
    settings: Annotated[Settings, means("value of every parameter; the context has the defaults")]
    cache: Annotated[
        Literal["cold", "warm"],
        means("`cold`: an L2 flush precedes each timed run; `warm`: runs follow each other"),
    ]
    launch: Annotated[
        Literal["stream", "graph", "batch", "pipeline", "host"],
        means(
            "`stream`: the host enqueues each run. `graph`: one CUDA graph has all runs, "
            "and is replayed untimed, then timed. `batch`: all runs are enqueued behind a "
            "kernel that waits for the last of them. `pipeline`: a run lies between a "
            "kernel that writes its input and one that reads its output, and all three are "
            "timed. `host`: host code, which launches nothing; tables call it `stream`"
        ),
    ]
    workspace_bytes: Annotated[Count | UnsetType, means("workspace of the scan")] = UNSET
    prepare_ns: Annotated[
        Amount | UnsetType,
        means("device time to prepare the workspace, once before the first run and untimed"),
    ] = UNSET
    choice: Annotated[Choice | UnsetType, means("scan that `best` ran")] = UNSET
    launches: Annotated[Count | UnsetType, means("kernel launches per run")] = UNSET
    threads_per_block: Annotated[
        Count | UnsetType,
        means(
            "largest block of the run's kernels; absent, as the next three, if no kernel is known"
        ),
    ] = UNSET
    registers: Annotated[Count | UnsetType, means("most registers per thread")] = UNSET
    shared_bytes: Annotated[
        Count | UnsetType, means("most static and dynamic shared memory per block")
    ] = UNSET
    local_bytes: Annotated[
        Count | UnsetType,
        means("most local memory per thread: spilled registers, and arrays indexed at run time"),
    ] = UNSET

    table = "scan"
    wrong = _WRONG

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bytes and self.least and self.bytes % self.least:
            raise ValueError(f"bytes is {self.bytes}, no multiple of {self.least}")

    @property
    def least(self) -> int:
        """Bytes of one read and one write of items of one part."""
        return 2 * self.items * ELEMENT_BYTES[self.type]

    @property
    def moved(self) -> int:
        return self.bytes or self.least

    @property
    def chosen(self) -> Choice | None:
        return self.choice or None

    @property
    def launched(self) -> str:
        """How the host launches it, as code of the host launches itself."""
        return "stream" if self.launch == "host" else self.launch


class ScheduleSample(Sample, kw_only=True, frozen=True, tag="schedule"):
    """A timed schedule. `real_time` is host time, from before the first issue until the host has
    seen the last completion."""

    schedule: Name
    workload: Annotated[Name, means("computation between the copies")]
    items: Count
    chunks: Annotated[Count, means("pieces that the array passes through in")]
    streams: Annotated[Count, means("requested streams")]
    memory: Memory
    work: Annotated[Count, means("work per item, as the workload counts it")]
    blocks: Annotated[Count, means("blocks per kernel; 0: as many as its items need")]
    buffers: Annotated[Count, means("device buffers per array")]
    bytes: Annotated[Count, means("bytes of all H2D and D2H copies")]
    inputs: Annotated[Count, means("number of input arrays")]
    operations: Annotated[Count | UnsetType, means("operations issued")] = UNSET
    streams_created: Annotated[
        Count, means("streams that the schedule creates, which may differ from `streams`")
    ]
    side_kernels: Annotated[Count, means("kernels beside those of the job, on data of their own")]
    control: Annotated[
        bool,
        means(
            "`true`: the schedule is wrong on purpose, and `verified` should be false in "
            "some sample"
        ),
    ]
    device_time_ms: Annotated[
        Positive | UnsetType,
        means(
            "device time by CUDA events, from one before the first operation to the last "
            "of one per stream behind all operations, ms. It is of a separate replay just "
            "before that of `real_time`, and its output is not checked. It is absent "
            "without work"
        ),
    ] = UNSET

    entry = "schedule"

    @property
    def id(self) -> str:
        return self.schedule

    @property
    def wrong(self) -> str:
        return "" if self.control else "its output was wrong, though it is no control"

    @property
    def reused(self) -> int:
        """Device buffers, where chunks share them; a buffer per chunk is one case."""
        return self.buffers if self.buffers < min(self.chunks, self.items) else 0

    @property
    def beside(self) -> int:
        return int(self.side_kernels > 0)

    @property
    def own_streams(self) -> int:
        return int(self.streams_created != self.streams)

    @property
    def device_ns(self) -> float:
        return math.nan if self.device_time_ms is UNSET else self.device_time_ms * 1e6


class CopySample(Sample, kw_only=True, frozen=True, tag="copy"):
    """A copy, timed by CUDA events."""

    direction: Literal["h2d", "d2h"]
    both_ways: Annotated[
        bool, means("`true`: copies run in the other direction all the time; pinned memory only")
    ]
    memory: Memory
    bytes: Count
    entry = "copy"

    @property
    def id(self) -> str:
        return f"duplex_{self.direction}" if self.both_ways else self.direction


class KernelSample(Sample, kw_only=True, frozen=True, tag="kernel"):
    """The kernel of the longest chunk, timed by CUDA events."""

    workload: Name
    items: Count
    work: Count
    blocks: Count
    entry = "kernel"

    @property
    def id(self) -> str:
        return self.workload


class StreamScanSample(
    ScanCase, kw_only=True, frozen=True, tag="stream_scan", rename={"from_": "from"}
):
    """A scan larger than the device. `real_time` is host time, from the first read or copy until
    the last item is at its destination."""

    way: Annotated[
        Literal["streamed", "naive", "duplex_copy", "files"],
        means(
            "`streamed`: all steps overlap, as in `stream-scan`. `naive`: read, copy, "
            "scan, copy and write one after another, in pageable memory. `duplex_copy`: "
            "copies in both directions at once, with the same arrays and chunks but no "
            "scan. `files`: the file is read and written, and not scanned"
        ),
    ]
    variant: Annotated[Name, means("scan of each chunk")]
    from_: Annotated[
        Literal["memory", "file", "generated"],
        means("pinned memory, a file (through the page cache), or items from the reading threads"),
    ]
    to: Annotated[
        Literal["memory", "file"], means("a file is written to the page cache; no flush is timed")
    ]
    budget_bytes: Annotated[Count, means("limit of device memory")]
    device_bytes: Annotated[
        Count | UnsetType, means("device memory of buffers, workspaces and carries")
    ] = UNSET
    chunks: Annotated[Count, means("number of chunks")]
    buffers: Annotated[
        Count | UnsetType, means("device buffers for input chunks, and as many for output chunks")
    ] = UNSET
    io_threads: Annotated[
        Count | UnsetType,
        means("threads that read, and as many that write; 0 from memory to memory"),
    ] = UNSET
    mapped: Annotated[
        bool, means("`true`: files are written through a mapping; `false`: by `pwrite`")
    ]
    bytes_each_way: Annotated[
        Count,
        means(
            "input bytes, and as many output bytes; after an interruption, those of the "
            "resumed part"
        ),
    ]
    bytes_per_second_each_way: Amount | UnsetType = UNSET
    table = "stream_scan"

    @property
    def bytes(self) -> int:
        return self.bytes_each_way


class DistributedSample(ScanCase, kw_only=True, frozen=True, tag="distributed"):
    """A scan of one array by several ranks. `real_time` is that of the slowest rank; runs follow
    each other."""

    variant: RanksVariant
    ranks: Annotated[Count, means("GPUs or hosts that hold the array")]
    on: Literal["gpus", "hosts"]
    settings: Settings
    chunk_items: ChunkItems
    bytes: RanksBytes
    compared_every: Annotated[Count, means("N: one output in N was compared; 1: all")]
    rank_ns: Annotated[list[Positive] | UnsetType, means("time of one run per rank")] = UNSET

    table = "distributed"
    wrong = _WRONG


Entry = (
    ScanSample | ScheduleSample | CopySample | KernelSample | StreamScanSample | DistributedSample
)
ENTRY: Any = Entry
"""The same for what takes a type."""
