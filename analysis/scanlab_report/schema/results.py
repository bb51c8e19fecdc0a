"""Timings, in Google Benchmark's JSON: scans, schedules and their parts, scans larger than the
device."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from scanlab_report.schema.base import (
    Case,
    Count,
    Digits,
    Line,
    Measured,
    Name,
    Number,
    Op,
    RanksProvenance,
    Settings,
    Type,
    means,
)
from scanlab_report.schema.samples import Entry, Memory

SCHEMA = "scanlab-results/2"
RANGES = "scanlab-ranges/1"
STOPWATCH = "scanlab-nvbench/1"


class Parameter(Struct, kw_only=True, frozen=True):
    """A parameter of a variant."""

    name: Name
    values: Annotated[list[Line], means("every value, the default first")]
    small: Annotated[
        Any, means("the value that small inputs are verified with; null if there is none")
    ] = None
    meaning: Line = ""

    def __post_init__(self) -> None:
        if not self.values:
            raise ValueError("values is empty")


class Variant(Struct, kw_only=True, frozen=True):
    """A variant or baseline: one file of `variants/scan/` or `baselines/`."""

    label: Annotated[Line, means("its name in legends")]
    title: Line = ""
    source: Annotated[str, Meta(max_length=2000), means("its origin, in words")] = ""
    kind: Annotated[
        Literal["scan", "copy", "barrier_copy", "read", "empty_launch"],
        means(
            "`barrier_copy`: a copy with a grid-wide barrier between reading and writing. "
            "`read`: a reduction; its output is not compared"
        ),
    ]
    origin: Literal["variant", "baseline"]
    family: Annotated[Line, means("algorithm or vendor, by which figures group")]
    overview: Annotated[bool, means("whether figures of all variants show it")]
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
        return {parameter.name: parameter.values[0] for parameter in self.parameters}


class Schedule(Struct, kw_only=True, frozen=True):
    """A schedule of copies and kernels: one file of `variants/schedules/`."""

    title: Line
    source: Line
    expectation: Annotated[Line, means("expected overlap, in a sentence")]
    memory: Annotated[Memory, means("host memory that it requests")]
    captured: Annotated[bool, means("whether it is captured into a CUDA graph")]
    control: Annotated[bool, means("whether it is wrong on purpose")]


class Workload(Struct, kw_only=True, frozen=True):
    """The kernels between the copies: one file of `variants/workloads/`."""

    title: Line
    source: Line
    type: Type
    inputs: Annotated[Count, means("number of input arrays")]
    ordered: Annotated[bool, means("whether a chunk needs the result of the one before")]
    work: Annotated[Line, means("unit of `work`")]


class Algorithm(Struct, kw_only=True, frozen=True):
    """A scan over several ranks, or a baseline: one file of `variants/distributed/` or
    `baselines/distributed/`."""

    title: Line
    source: Line
    kind: Literal["scan", "copy", "barrier_copy", "read", "empty_launch"]
    origin: Literal["variant", "baseline"]
    family: Annotated[Line, means("algorithm or vendor, by which figures group")]
    on_gpus: Annotated[bool, means("whether it runs on GPUs, else in the memory of hosts")]
    limits: Annotated[Line, means("which n it takes, and what it needs")] = ""
    reproducible_bits: Annotated[
        bool,
        means(
            "whether floating-point results are the same bits on every run of one n and "
            "number of ranks"
        ),
    ] = False
    traffic: Annotated[
        Line, means("closed form, as text: items that pass to and from memory, over all ranks")
    ] = ""


class Context(RanksProvenance, kw_only=True, frozen=True):
    """Google Benchmark's context, and the provenance."""

    kind: Annotated[
        Literal["cuda", "host", "tuning"],
        means(
            "`cuda`: times of a GPU, for scans by CUDA events. `tuning`: likewise, of many "
            "candidates, to choose among them. `host`: wall-clock times of CPU code"
        ),
    ] = "cuda"
    seed: Annotated[Digits, means("seed of the inputs")] = ""
    rounds: Annotated[Digits, means("samples per case, at most")] = ""
    width_percent: Annotated[
        Line,
        means(
            "of files with a stopping rule: a case has converged once half of its median's 95% "
            "interval (order statistics) is within this percentage of the median; 0: all rounds"
        ),
    ] = ""
    cap_seconds: Annotated[
        Line, means("of files with a stopping rule: most wall time per case, seconds")
    ] = ""
    seconds_a_repetition: Annotated[
        Line, means("timed work that a sample aims at on the device, seconds")
    ] = ""
    variants: Annotated[dict[Name, Variant], means("every variant in the file, by id")] = {}
    schedules: Annotated[dict[Name, Schedule], means("every schedule in the file, by id")] = {}
    workloads: Annotated[dict[Name, Workload], means("every workload in the file, by id")] = {}
    algorithms: Annotated[
        dict[Name, Algorithm], means("every scan over several ranks in the file, by id")
    ] = {}
    tuning: Annotated[
        Line,
        means(
            "origin of the table that `best` used: `none`, `built in`, "
            "`SCANLAB_TUNING=FILE`, or `measured before this run: FILE`"
        ),
    ] = ""
    missing: Annotated[Line, means("Python libraries that were not timed, and why")] = ""
    torch: Annotated[Line, means("version of PyTorch")] = ""
    cupy: Annotated[Line, means("version of CuPy")] = ""
    jax: Annotated[Line, means("version of JAX")] = ""
    host_name: Line = ""
    executable: Line = ""
    num_cpus: Count = 0
    mhz_per_cpu: Number = 0
    cpu_scaling_enabled: bool = False
    caches: Any = None
    load_avg: Annotated[
        list[Number], means("load of the host at the start; an earlier build counts")
    ] = []
    library_build_type: Annotated[
        Line, means("build of the installed Google Benchmark; Scanlab itself is optimised")
    ] = ""

    def __post_init__(self) -> None:
        if self.kind != "host" and not self.device.strip():
            raise ValueError("device is missing: times of a GPU say of which")


class Results(Struct, kw_only=True, frozen=True):
    """Output of `scanlab bench`, `tune --samples`, `streams run`, `stream-scan --json`,
    `distributed bench`, `python -m baselines.python` and `python -m baselines.python.ranks`."""

    context: Context
    benchmarks: Annotated[list[Entry], means("one entry per sample of each case, raw")]


class Range(Case, kw_only=True, frozen=True):
    """An NVTX range and its case."""

    name: Annotated[Name, means("name of the NVTX range")]
    kind: Literal["scan"]
    variant: Name
    bytes: Count = 0
    settings: Settings
    workspace_bytes: Count = 0
    label: Line = ""


class Ranges(Struct, kw_only=True, frozen=True):
    """Output of `scanlab bench --once --out FILE`: the case of each NVTX range. The file lies
    beside the profiler's report: `X.ranges.json` beside `X.csv`."""

    context: Context
    ranges: list[Range]


class Stopwatch(Struct, kw_only=True, frozen=True):
    """Output of `scanlab_nvbench --json FILE`: scans (sums) and copies, timed by nvbench."""

    context: Measured
    meta: Annotated[dict[str, Any], means("versions and command line of nvbench")]
    benchmarks: Annotated[
        list[dict[str, Any]],
        means("nvbench's own; the axes of `inclusive_sum` are `variant`, `type` and `items`"),
    ]
    devices: Annotated[list[dict[str, Any]], means("nvbench's own")] = []
