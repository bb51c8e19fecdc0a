"""Timings of scans, of schedules and their parts, in Google Benchmark's JSON."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from scanlab_report.schema.base import (
    Case,
    Count,
    Digits,
    Line,
    Measured,
    Name,
    Op,
    Provenance,
    Settings,
    Type,
    means,
)
from scanlab_report.schema.samples import Entries

SCHEMA = "scanlab-results/2"
Kind = Literal["scan", "copy", "barrier_copy", "read", "empty_launch"]


class Parameter(Struct, kw_only=True, frozen=True):
    """A parameter of a variant."""

    name: Name
    values: Annotated[list[Line], Meta(min_length=1), means("every value, the default first")]


class Variant(Struct, kw_only=True, frozen=True):
    """A variant or baseline: one file of `variants/scan/` or `baselines/`."""

    label: Annotated[Line, means("its name in legends")]
    title: Line = ""
    source: Annotated[str, Meta(max_length=2000), means("its origin, in words")] = ""
    kind: Annotated[Kind, means("`barrier_copy` has a barrier of the grid; `read` reduces")]
    origin: Literal["variant", "baseline"]
    family: Annotated[Line, means("algorithm or vendor, by which figures group")]
    overview: Annotated[bool, means("whether figures of all variants show it")]
    on_host: Annotated[bool, means("whether it runs on the host")]
    types: list[Type] = []
    operators: list[Op] = []
    parameters: list[Parameter] = []
    limits: Annotated[Line, means("which n it takes, and what it needs")] = ""

    @property
    def defaults(self) -> dict[str, str]:
        """The default of each parameter."""
        return {parameter.name: parameter.values[0] for parameter in self.parameters}


class Schedule(Struct, kw_only=True, frozen=True):
    """A schedule of copies and kernels: one file of `variants/schedules/`."""

    title: Line
    control: Annotated[bool, means("whether it is wrong on purpose")]


class Algorithm(Struct, kw_only=True, frozen=True):
    """A scan over several ranks, or a baseline: one file of `…/distributed/`."""

    title: Line
    kind: Kind
    limits: Annotated[Line, means("which n it takes, and what it needs")] = ""


class Context(Provenance, kw_only=True, frozen=True):
    """Google Benchmark's context, and the provenance."""

    kind: Annotated[Literal["cuda", "host", "tuning"], means("`tuning`: to choose among")] = "cuda"
    ranks: Annotated[Count, means("GPUs or hosts that hold one array; 0: not distributed")] = 0
    seed: Annotated[Digits, means("seed of the inputs")] = ""
    rounds: Annotated[Digits, means("samples per case, at most")] = ""
    width_percent: Annotated[Line, means("half width of the interval that ends a case", "%")] = ""
    cap_seconds: Annotated[Line, means("most wall time per case", "s")] = ""
    variants: Annotated[dict[Name, Variant], means("every variant in the file, by id")] = {}
    schedules: Annotated[dict[Name, Schedule], means("every schedule, by id")] = {}
    algorithms: Annotated[dict[Name, Algorithm], means("every scan over ranks, by id")] = {}
    torch: Annotated[Line, means("version of PyTorch")] = ""
    cupy: Annotated[Line, means("version of CuPy")] = ""

    def __post_init__(self) -> None:
        if self.kind != "host" and not self.device.strip():
            raise ValueError("device is missing: times of a GPU say of which")


class Results(Struct, kw_only=True, frozen=True):
    """Output of the commands that time (data/README.md)."""

    context: Context
    benchmarks: Annotated[list[Entries], means("one entry per sample of each case, raw")]


class Range(Case, kw_only=True, frozen=True):
    """An NVTX range and its case."""

    name: Annotated[Name, means("name of the NVTX range")]
    variant: Name
    settings: Settings


class Ranges(Struct, kw_only=True, frozen=True):
    """Output of `scanlab bench --once --out X.ranges.json`, for the profiler's report `X.csv`."""

    context: Context
    ranges: list[Range]


class Stopwatch(Struct, kw_only=True, frozen=True):
    """Output of `scanlab_nvbench --json FILE`: scans (sums) and copies, timed by nvbench."""

    context: Measured
    benchmarks: Annotated[list[dict[str, Any]], means("nvbench's own")]
