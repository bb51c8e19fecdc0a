"""The samples of a results file, one struct per kind.

Each field is a column of the sample's table: a new one is a line here, with its meaning and its
unit. The tables, the export and its dictionary follow. `NAN`, the value where a file lacks the
field, is no number; so a field never becomes 0 by absence. Fields of `Entry` become no columns.
"""

from functools import cache
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, get_args

import msgspec
from msgspec import Meta, Struct

from scanlab_report.schema.base import (
    NAN,
    Amount,
    Count,
    Mode,
    Name,
    Op,
    Positive,
    Settings,
    Type,
    means,
)

Memory = Literal["pinned", "pageable"]
Round = Annotated[int, Meta(ge=0, le=10**6)]


class Entry(Struct, kw_only=True, frozen=True, tag_field="kind"):
    """The fields of every entry, which say whether its time counts."""

    table: ClassVar[str] = "schedule"
    outcome: Literal["timed", "skipped", "failed"]
    error_message: Annotated[str, means("why it was not timed")] = ""
    verified: Annotated[bool, means("result of the last check of the output")]
    time_unit: Literal["ns"] = "ns"
    repetition_index: Annotated[Round, means("as `round`")] = 0


class Sample(Entry, kw_only=True, frozen=True):
    """One sample of one case."""

    round: Annotated[Round, means("number of the sample, from 0")] = 0
    real_time: Annotated[Amount, means("mean time of the runs in the sample", "ns", "ns")]
    sm_clock_mhz: Annotated[Positive, means("multiprocessor clock during the sample", "MHz")] = NAN
    converged: Annotated[bool, means("whether the case met the stopping rule of its file")] = NAN


class Choice(Struct, kw_only=True, frozen=True):
    """The scan that a choosing variant, such as `best`, ran."""

    variant: Name
    settings: Annotated[Settings, means("its parameters that are not at their defaults")] = {}

    def __str__(self) -> str:
        return "/".join([self.variant, *map("{0[0]}:{0[1]}".format, self.settings.items())])


class ScanCase(Sample, kw_only=True, frozen=True):
    """A sample of a scan."""

    type: Type
    op: Op
    mode: Mode
    items: Annotated[Count, means("number of items, n")]


class ScanSample(ScanCase, kw_only=True, frozen=True, tag="scan"):
    """A timed scan and its case."""

    table = "scan"
    variant: Annotated[Name, means("name of its file in `variants/scan/` or `baselines/`")]
    settings: Annotated[Settings, means("value of each parameter; in tables, if not the default")]
    cache: Annotated[Literal["cold", "warm"], means("`cold`: each run follows an L2 flush")]
    launch: Annotated[
        Literal["stream", "graph", "batch", "pipeline", "host"],
        means("launch of the runs (data/README.md); tables call that of host code `stream`"),
    ]
    bytes: Annotated[Count, means("bytes that any scan must move", "bytes")] = 0
    launches: Annotated[Count, means("kernel launches per run")] = NAN
    threads_per_block: Annotated[Count, means("largest block of the kernels", "", "threads")] = NAN
    registers: Annotated[Count, means("most registers per thread")] = NAN
    shared_bytes: Annotated[Count, means("most shared memory per block", "bytes")] = NAN
    local_bytes: Annotated[Count, means("most local memory per thread", "bytes")] = NAN
    workspace_bytes: Annotated[Count, means("workspace of the scan", "bytes")] = NAN
    prepare_ns: Annotated[Amount, means("device time to prepare the workspace, once", "ns")] = NAN
    choice: Annotated[Choice | None, means("scan that `best` ran")] = None


class BlockScanSample(ScanSample, kw_only=True, frozen=True, tag="block_scan"):
    """A timed scan of each row by a thread block, in registers."""

    table = "block_scan"
    rows: Annotated[Count, means("rows of `items` items")]
    cycles: Annotated[Amount, means("fewest cycles of a block alone, for one scan")] = NAN


class WarpScanSample(BlockScanSample, kw_only=True, frozen=True, tag="warp_scan"):
    """A timed scan of each row by a warp."""


class ScanAxisSample(ScanSample, kw_only=True, frozen=True, tag="scan_axis"):
    """Timed scans along the middle axis, of `items` items, of a tensor (rows, axis, inner)."""

    table = "scan_axis"
    rows: Annotated[Count, means("tensors (axis, inner), one behind the other")]
    inner: Annotated[Count, means("items from one to the next of the axis")]


class SegmentsSample(ScanSample, kw_only=True, frozen=True, tag="scan_by_key"):
    """A timed scan of the runs of equal keys."""

    table = "segments"
    segment: Annotated[Count, means("mean items of a segment")]
    lengths: Annotated[Literal["equal", "random", "power"], means("their distribution")]
    width: Annotated[Count, means("of a key or an offset", "bytes")]


class OffsetsSample(SegmentsSample, kw_only=True, frozen=True, tag="segmented_scan"):
    """A timed scan of segments that begin at given offsets."""


class FoldsSample(SegmentsSample, kw_only=True, frozen=True, tag="reduce_by_key"):
    """A timed fold of the runs of equal keys."""

    table = "runs"


class LengthsSample(FoldsSample, kw_only=True, frozen=True, tag="run_length_encode"):
    """A timed count of the items of such runs."""


class UniqueSample(FoldsSample, kw_only=True, frozen=True, tag="unique"):
    """A timed selection of the keys of such runs."""


class SelectSample(ScanSample, kw_only=True, frozen=True, tag="select"):
    """A timed selection of flagged items."""

    table = "select"
    kept: Annotated[Count, means("of each 128 items, those that are kept")]


class PartitionSample(SelectSample, kw_only=True, frozen=True, tag="partition"):
    """A timed selection of flagged items, behind which the others follow."""


class ScheduleSample(Sample, kw_only=True, frozen=True, tag="schedule"):
    """A timed schedule. `real_time` is host time, from the first issue to the last completion."""

    schedule: Annotated[Name, means("schedule, direction of the copy, or workload", "", "id")]
    workload: Annotated[Name, means("computation between the copies")]
    items: Annotated[Count, means("number of items, n")]
    chunks: Annotated[Count, means("pieces that the array passes through in")]
    streams: Annotated[Count, means("requested streams")]
    memory: Annotated[Memory, means("host memory")]
    work: Annotated[Count, means("work per item, as the workload counts it")]
    blocks: Annotated[Count, means("blocks per kernel; 0: as many as its items need")]
    buffers: Annotated[Count, means("device buffers per array; in tables 0: one per chunk")]
    bytes: Annotated[Count, means("bytes of all H2D and D2H copies", "bytes")]
    inputs: Annotated[Count, means("number of input arrays")]
    control: Annotated[bool, means("whether the schedule is wrong on purpose")]
    side_kernels: Annotated[Count, means("kernels beside the job's; in tables 1: some")]
    streams_created: Annotated[
        Count, means("streams that it creates; in tables 1: not the requested", "", "own_streams")
    ]
    device_time_ms: Annotated[
        Positive, means("device time of another replay, by events; ns in tables", "ms", "device_ns")
    ] = NAN


class CopySample(Sample, kw_only=True, frozen=True, tag="copy"):
    """A copy, timed by CUDA events."""

    direction: Annotated[Literal["h2d", "d2h"], means("direction", "", "id")]
    both_ways: Annotated[bool, means("whether copies run in the other direction meanwhile")]
    memory: Annotated[Memory, means("host memory")]
    bytes: Annotated[Count, means("bytes of the copy", "bytes")]


class KernelSample(Sample, kw_only=True, frozen=True, tag="kernel"):
    """The kernel of the longest chunk, timed by CUDA events."""

    workload: Annotated[Name, means("its computation")]
    items: Annotated[Count, means("number of items")]
    work: Annotated[Count, means("work per item, as the workload counts it")]
    blocks: Annotated[Count, means("blocks; 0: as many as its items need")]


class StreamScanSample(
    ScanCase, kw_only=True, frozen=True, tag="stream_scan", rename={"from_": "from"}
):
    """A scan larger than the device. `real_time` is host time, until the last item is written."""

    table = "stream_scan"
    way: Annotated[
        Literal["streamed", "naive", "duplex_copy", "files"],
        means("`naive`: step after step; `duplex_copy`: no scan; `files`: no device"),
    ]
    variant: Annotated[Name, means("scan of each chunk", "", "scan")]
    from_: Annotated[
        Literal["memory", "file", "generated"], means("where the input is", "", "from")
    ]
    to: Annotated[Literal["memory", "file"], means("where the output goes, without a flush")]
    budget_bytes: Annotated[Count, means("limit of device memory", "bytes", "budget")]
    chunks: Annotated[Count, means("number of chunks")]
    mapped: Annotated[bool, means("whether files are written through a mapping")]
    bytes_each_way: Annotated[Count, means("bytes read, and as many written", "bytes", "bytes")]


class DistributedSample(ScanCase, kw_only=True, frozen=True, tag="distributed"):
    """A scan of one array by several ranks. `real_time` is that of the slowest rank."""

    table = "distributed"
    variant: Annotated[Name, means("name of its file in `…/distributed/`", "", "algorithm")]
    ranks: Annotated[Count, means("GPUs or hosts that hold the array")]
    rows: Annotated[Count, means("of a tensor (rows, axis, inner), scanned along its axis")] = 1
    inner: Annotated[Count, means("items from one to the next of the axis")] = 1
    on: Annotated[Literal["gpus", "hosts"], means("what the ranks are")]
    settings: Annotated[Settings, means("value of each parameter")]
    bytes: Annotated[Count, means("bytes that any scan must move, over all ranks", "bytes")]


class ApplicationSample(ScanSample, kw_only=True, frozen=True, tag="application"):
    """An application of scans. `real_time` is host time, until the result is there."""

    table = "applications"
    application: Annotated[Name, means("function of `examples/torch/applications.py`")]
    rows: Annotated[Count, means("rows into which the items are divided")]


Entries = (
    ScanSample
    | BlockScanSample
    | WarpScanSample
    | ScanAxisSample
    | SegmentsSample
    | OffsetsSample
    | SelectSample
    | PartitionSample
    | FoldsSample
    | LengthsSample
    | UniqueSample
    | ScheduleSample
    | CopySample
    | KernelSample
    | StreamScanSample
    | DistributedSample
    | ApplicationSample
)
ENTRY: Any = Entries
"""The same for what takes a type."""


class Column(NamedTuple):
    """A column of a table: its field, and the meaning, values and unit of this."""

    field: str
    meaning: str
    unit: str


@cache
def columns(struct: type[Sample]) -> dict[str, Column]:
    """The columns that the fields of a sample become, by name."""
    made = {}
    for field in msgspec.structs.fields(struct):
        if field.name not in Entry.__struct_fields__:
            about = field.type.__metadata__[-1].extra
            words = [word for word in get_args(field.type.__origin__) if isinstance(word, str)]
            meaning = about["text"] + (f" ({', '.join(words)})" if words else "")
            made[about["column"] or field.name] = Column(field.name, meaning, about["unit"])
    return made


SCANS = [kind for kind in get_args(Entries) if issubclass(kind, ScanSample)]
"""The samples of primitives, each scanned by variants."""
PRIMITIVES = tuple(dict.fromkeys(kind.table for kind in SCANS))
"""Their tables."""
TABLES: dict[str, dict[str, Column]] = {}
"""The columns of each table of samples."""
for _struct in get_args(Entries):
    TABLES[_struct.table] = columns(_struct) | TABLES.get(_struct.table, {})
