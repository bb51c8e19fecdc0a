"""Building blocks of documents: values with their limits, and the provenance that all have."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

EXACT = 2**53
"""Every whole number up to here is exact in JSON, whose numbers are doubles to most programs."""


def means(text: str) -> Meta:
    """The meaning of a field, with its unit."""
    return Meta(description=text)


Count = Annotated[int, Meta(ge=0, le=EXACT)]
Some = Annotated[int, Meta(ge=1, le=EXACT)]
Few = Annotated[int, Meta(ge=1, le=10**6)]
"""A count of things that a figure draws one by one."""
Index = Annotated[int, Meta(ge=-1, le=EXACT)]
"""An index; -1 if there is none."""
Number = Annotated[float, Meta(ge=-1e18, le=1e18)]
Amount = Annotated[float, Meta(ge=0, le=1e18)]
Positive = Annotated[float, Meta(gt=0, le=1e18)]

LINE, NAME = (
    r"^[^\x00-\x1f\x7f]*(?![\s\S])",
    r"^[^\x00-\x1f\x7f]*[^\x00-\x20\x7f][^\x00-\x1f\x7f]*(?![\s\S])",
)
OPERATOR = r"^[a-z][a-z0-9_]*(?![\s\S])"
DIGITS, DATE = (
    r"^([0-9]{1,15})?(?![\s\S])",
    r"^([0-9]{4}-[0-9]{2}-[0-9]{2}(T[!-~]{0,40})?)?(?![\s\S])",
)
COMMIT = r"^([0-9a-f]{9})?(?![\s\S])"
WORDS = {
    LINE: "a line of text",
    NAME: "a name",
    OPERATOR: "an operator's name, as log_sum_exp",
    DIGITS: "digits",
    COMMIT: "the nine first digits of a commit",
    DATE: "a date of ISO 8601, such as 2026-01-02T03:04:05Z",
}
"""The meaning of each pattern, in words."""

Line = Annotated[str, Meta(pattern=LINE)]
Name = Annotated[str, Meta(pattern=NAME)]
Digits = Annotated[str, Meta(pattern=DIGITS)]
Date = Annotated[str, Meta(pattern=DATE)]
Type = Annotated[Literal["i8", "i16", "i32", "i64", "f16", "f32", "f64"], means("element type")]
Op = Annotated[
    str,
    Meta(pattern=OPERATOR),
    means(
        "name of its file in `variants/operators/`. Items of some operators have several parts of "
        "the type: those of `affine` are pairs (a, b), maps x → a·x + b"
    ),
]
Items = Annotated[Count, means("number of items, n")]
Mode = Literal["inclusive", "exclusive"]
Settings = dict[Name, Line]
RanksVariant = Annotated[
    Name, means("name of its file in `variants/distributed/` or `baselines/distributed/`")
]
ChunkItems = Annotated[
    Count, means("items that a rank receives at a time; ceil(items / ranks): one block per rank")
]
RanksBytes = Annotated[
    Count, means("bytes that any scan must move, over all ranks: one read and one write per item")
]


class Case(Struct, kw_only=True, frozen=True):
    """The case of a scan."""

    type: Type
    op: Op
    mode: Mode
    items: Items


class Provenance(Struct, kw_only=True, frozen=True, omit_defaults=True):
    """The origin of numbers. An unknown value is absent or empty."""

    schema: Annotated[Name, means("schema of the document, if `context` names it")] = "-"
    date: Annotated[Date, means("start of the measurement")] = ""
    argv: Annotated[Line, means("the command")] = ""
    git_commit: Annotated[Line, means("commit of the program")] = ""
    git_dirty: Annotated[
        Literal["true", "false", "unknown", ""],
        means("`true` if the tree had uncommitted changes, or the program a source outside git"),
    ] = ""
    device: Annotated[Line, means("the GPU")] = ""
    compute_capability: Annotated[Line, means("compute capability of the GPU")] = ""
    multiprocessors: Annotated[Digits, means("multiprocessors of the GPU")] = ""
    memory_bytes: Annotated[Digits, means("device memory, bytes")] = ""
    memory_bus_bits: Annotated[Digits, means("width of the memory bus, bits")] = ""
    l2_bytes: Annotated[Digits, means("L2 cache, bytes")] = ""
    sm_clock_mhz_max: Annotated[Digits, means("highest clock of the multiprocessors, MHz")] = ""
    memory_clock_mhz_max: Annotated[Digits, means("highest clock of the memory, MHz")] = ""
    ecc: Annotated[Line, means("`on` if memory is error-corrected")] = ""
    copy_engines: Annotated[Digits, means("copy engines that the driver reports")] = ""
    clocks_before: Annotated[Line, means("clocks and temperature at the start")] = ""
    driver: Annotated[Line, means("version of the driver")] = ""
    cuda_driver: Annotated[Line, means("newest CUDA that the driver supports")] = ""
    toolkit: Annotated[Line, means("version of CUDA")] = ""
    nvcc: Annotated[Line, means("version of nvcc")] = ""
    architectures: Annotated[Line, means("compiled CUDA architectures, as CMake names them")] = ""
    cccl: Annotated[Line, means("version of CCCL")] = ""
    cccl_newest: Annotated[
        Line, means("version of the newer CCCL that `cub_newest` is built with")
    ] = ""
    cpu: Annotated[Line, means("the host's processor, which the CPU baselines ran on")] = ""
    cores: Annotated[Digits, means("cores available on the host")] = ""
    system: Annotated[Line, means("operating system of the host")] = ""
    compiler: Annotated[Line, means("compiler of the host's code")] = ""
    assertions: Annotated[
        Line, means("`on` if assertions are compiled in, which makes code slower")
    ] = ""
    cuda: Annotated[Line, means("`yes` if the program was built with CUDA")] = ""
    tbb: Annotated[Line, means("`yes` if the program was built with oneTBB")] = ""


class Measured(Provenance, kw_only=True, frozen=True):
    """The provenance of a measurement on a GPU."""

    device: Annotated[Name, means("the GPU")]


class RanksProvenance(Provenance, kw_only=True, frozen=True):
    """The provenance of numbers of one or several ranks."""

    ranks: Annotated[
        Count, means("GPUs or hosts that hold one array; 0: nothing in the file is distributed")
    ] = 0
    ranks_are: Annotated[
        Literal["", "threads", "processes"],
        means("`threads` of one process, or `processes` of mpirun"),
    ] = ""
