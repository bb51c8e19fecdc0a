"""The model of a device: profiles and what they are measured from, simulations, advice, and how
good both are."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Struct, UnsetType

from scanlab_report.schema.base import (
    Amount,
    Count,
    Line,
    Name,
    Number,
    Positive,
    Provenance,
    Some,
    means,
)

COMPARISON, AGAINST = "scanlab-comparison/1", "scanlab-advice-against/1"


class Simulated(Provenance, kw_only=True, frozen=True):
    """The provenance of a simulation. In a comparison, `device`, `driver` and `date` are those of
    the measurement."""

    simulated_on: Annotated[Line, means("the profile")] = ""
    hardware_queues: Count = 0
    measured_commit: Annotated[Line, means("commit of the program that measured")] = ""
    measured_dirty: Line = ""


# -------------------------------------------------------------------------------------------
# profiles


class Figure(Struct, kw_only=True, frozen=True):
    """A figure of a device."""

    value: Annotated[Any, means("a number, or the form in the table of figures")]
    source: Annotated[
        Name,
        means(
            "origin; begins with `measured by`, `from cudaDeviceProp` or `assumed` if "
            "nobody published the value"
        ),
    ]


class Profile(Struct, kw_only=True, frozen=True):
    """`devices/NAME.json`, and the output of `scanlab calibrate --out`."""

    schema: Literal["scanlab-device/1"]
    name: Annotated[Name, means("name for `--profile`")]
    title: Line
    figures: Annotated[
        dict[Name, Figure], means("by name, as in the tables of `devices/NAME.json`")
    ]


class CalibratedDevice(Struct, kw_only=True, frozen=True):
    """The calibrated device."""

    name: Name
    compute_capability: Line
    multiprocessors: Count
    resident_blocks: Annotated[Count, means("most blocks per multiprocessor")]
    resident_threads: Annotated[Count, means("most threads per multiprocessor")]


class Replay(Struct, kw_only=True, frozen=True):
    """A replay of a microbenchmark."""

    nanoseconds: Count
    issued: Annotated[list[Count], means("start and end of each call, ns")] = []
    channels: Annotated[list[int], means("hardware work queue of each operation")] = []
    ran: Annotated[list[Count], means("start and end of each operation, ns")] = []


class Microbenchmark(Struct, kw_only=True, frozen=True):
    """A microbenchmark. The fields from `way` to `items` are present where they apply."""

    name: Name
    kind: Line
    workload: Line
    work: Count
    memory: Line
    way: Line = ""
    bytes: Count = 0
    streams: Any = None
    kernels: Any = None
    items: Any = None
    blocks: Annotated[list[Count], means("blocks of each operation; 0 for copies")] = []
    plain: Annotated[list[Replay], means("replays without tracing")] = []
    traced: Annotated[list[Replay], means("replays with tracing")] = []
    failure: Annotated[Line, means("reason if it was not measured")] = ""


class Calibration(Struct, kw_only=True, frozen=True):
    """Output of `scanlab calibrate --raw`, from which `--from` makes a profile without a GPU."""

    schema: Literal["scanlab-calibration/1"]
    context: Provenance
    device: CalibratedDevice
    works: Annotated[list[Count], means("work per item, of each workload")]
    experiments: list[Microbenchmark]


# ----------------------------------------------------------------------------------------
# simulations


class Job(Struct, kw_only=True, frozen=True):
    """A job: a schedule with its parameters."""

    schedule: Name
    workload: Line = ""
    items: Count = 0
    chunks: Count
    streams: Count
    memory: Line = ""
    buffers: Count = 0
    work: Count = 0
    blocks: Count = 0


class Configuration(Job, kw_only=True, frozen=True):
    """A simulated job. `ratio`, `serial_us` and `van_werkhoven_us` count the kernel as one launch
    over all items, alone."""

    control: bool = False
    ratio: Annotated[
        Amount,
        means(
            "compute to copy: kernel time over the longer of all H2D and all D2H copies, each alone"
        ),
    ]
    makespan_us: Annotated[Amount, means("from the first issue to the last completion, µs")]
    serial_us: Annotated[
        Amount, means("H2D copies, kernel and D2H copies one after another, without latencies, µs")
    ]
    bound_us: Annotated[
        Amount,
        means(
            "lower bound for correct schedules with this number of chunks, µs. Two-way "
            "copy rates count only while both directions run, and blocks run in full waves"
        ),
    ]
    van_werkhoven_us: Annotated[
        Amount,
        means(
            "max(H + (K + D)/n, K + (H + D)/n, D + (H + K)/n) for n chunks, with one-way rates, µs"
        ),
    ]
    utilisation: Annotated[
        dict[Name, Amount], means("busy share of the makespan per kind of engine")
    ]


class Sweep(Struct, kw_only=True, frozen=True):
    """Output of `scanlab simulate --sweep --out`."""

    schema: Literal["scanlab-simulation-sweep/1"]
    context: Simulated
    configurations: list[Configuration]


class Deviation(Struct, kw_only=True, frozen=True):
    """The absolute errors of the operations."""

    median_us: Number
    worst_us: Number


class ComparedTrace(Job, kw_only=True, frozen=True):
    """A trace, measured and predicted. Overlap counts are pairs of operations that overlap for more
    than 5 µs, over all repetitions: in prediction or measurement (`in_either`), or in both
    (`in_both`). `repeated_` compares repetitions on the device with each other. `best_` is the best
    of any prediction. `steady_` counts pairs on which all repetitions agree. For `unaided_`, the
    model and not the driver assigns streams to hardware work queues."""

    file: Annotated[Line, means("the trace")] = ""
    connections: Count
    repetitions: Annotated[
        Count | UnsetType, means("repetitions behind `measured_us`, without tracing")
    ] = UNSET
    measured_us: Annotated[Positive, means("makespan, µs")]
    measured_spread: Annotated[
        Amount | UnsetType, means("largest less smallest repetition, as a part of the median")
    ] = UNSET
    predicted_us: Annotated[Positive, means("makespan, µs")]
    error: Annotated[Number, means("predicted over measured, less 1")] = 0
    start: Deviation | UnsetType = UNSET
    end: Deviation | UnsetType = UNSET
    duration: Deviation | UnsetType = UNSET
    overlap_in_either: Count
    overlap_in_both: Count
    estimate_us: Annotated[
        Positive | UnsetType,
        means("makespan by the pipeline estimate, a closed form of the same costs, µs"),
    ] = UNSET
    unaided_us: Positive
    unaided_overlap_in_either: Count
    unaided_overlap_in_both: Count
    repeated_overlap_in_either: Count
    repeated_overlap_in_both: Count
    best_overlap_in_either: Count
    best_overlap_in_both: Count
    steady_overlap_in_either: Count = 0
    steady_overlap_in_both: Count = 0
    copy_queues: Annotated[
        Count,
        means(
            "hardware work queues of the copies in one direction. The order of more than "
            "two matters, since an engine alternates between them"
        ),
    ]
    queues_shared_as_modelled: Annotated[
        bool, means("whether the same operations share a queue as in the model")
    ] = False
    queues_ordered_as_modelled: Annotated[
        bool, means("whether copy engines serve their queues in the model's order")
    ]


class Comparison(Struct, kw_only=True, frozen=True):
    """Output of `scanlab simulate --compare TRACE … --out` for several traces. One trace gives both
    timelines instead, as trace events. Counts of pairs are sums over `traces`."""

    schema: Literal["scanlab-comparison/1"]
    context: Simulated
    median_error: Annotated[Amount, means("of the makespans")] = 0
    worst_error: Annotated[Amount, means("of the makespans")] = 0
    unaided_median_error: Amount = 0
    unaided_worst_error: Amount = 0
    overlap_in_either: Count = 0
    overlap_in_both: Count = 0
    unaided_overlap_in_either: Count = 0
    unaided_overlap_in_both: Count = 0
    repeated_overlap_in_either: Count = 0
    repeated_overlap_in_both: Count = 0
    best_overlap_in_either: Count = 0
    best_overlap_in_both: Count = 0
    steady_overlap_in_either: Count = 0
    steady_overlap_in_both: Count = 0
    traces: list[ComparedTrace]


# ---------------------------------------------------------------------------------------------
# advice


class SimulatedChoice(Job, kw_only=True, frozen=True):
    """A choice of schedule, chunks and streams, with its times."""

    predicted_us: Positive | UnsetType = UNSET
    measured_us: Positive | UnsetType = UNSET
    repetitions: Count | UnsetType = UNSET


class Advice(Struct, kw_only=True, frozen=True):
    """Output of `scanlab advise --json`."""

    schema: Literal["scanlab-advice/1"]
    context: Simulated
    profile: Name
    bytes_in: Annotated[
        Count | UnsetType,
        means("the problem, with `bytes_out` and `kernel_us`; else `workload` and `items`"),
    ] = UNSET
    bytes_out: Count | UnsetType = UNSET
    kernel_us: Annotated[Amount | UnsetType, means("µs")] = UNSET
    workload: Line = ""
    items: Count = 0
    work: Count = 0
    worth_it: Annotated[bool, means("whether streams are at least 5% faster")]
    gain: Annotated[Amount, means("time of `serial` over that of the best choice")]
    bound_us: Annotated[Amount, means("lower bound for all choices, µs")]
    serial: Annotated[SimulatedChoice, means("one chunk, one synchronous step after another")]
    whole: Annotated[SimulatedChoice, means("fastest choice with one chunk")]
    advised: Annotated[SimulatedChoice, means("the first choice, or `whole` if not `worth_it`")]
    choices: Annotated[list[SimulatedChoice], means("every choice, the fastest first")]


class MeasuredChoice(Job, kw_only=True, frozen=True):
    """A measured choice."""

    measured_us: Annotated[Positive, means("µs")]
    predicted_us: Annotated[Positive | UnsetType, means("µs")] = UNSET
    repetitions: Count | UnsetType = UNSET


class Problem(Struct, kw_only=True, frozen=True):
    """A problem, and the quality of its advice."""

    workload: Name
    items: Count
    work: Count
    blocks: Count = 0
    memory: Line = ""
    buffers: Count = 0
    copied_bytes: Annotated[Some, means("bytes of all its copies")]
    choices: Annotated[Count, means("number of measured choices, from pinned memory")]
    median_error: Annotated[
        Amount, means("error of their predicted times, as a part of the measured")
    ]
    worst_error: Annotated[Amount, means("largest of these errors")]
    stated: Annotated[SimulatedChoice, means("advice of `scanlab advise`")]
    stated_was_measured: Annotated[bool, means("whether FILE has this choice")]
    advised: Annotated[
        MeasuredChoice,
        means(
            "scored choice: `stated`, or, if unmeasured, the measured one with the best prediction"
        ),
    ]
    fastest: Annotated[MeasuredChoice, means("fastest measured choice")]
    slower: Annotated[Number, means("extra time of `advised` over `fastest`, as a part")]
    ties: Annotated[Some, means("measured choices with the same predicted time as `advised`")]
    ties_least_slower: Annotated[
        Amount, means("least extra time of these over `fastest`, as a part")
    ]
    ties_most_slower: Annotated[Amount, means("most extra time of these")]


class Against(Struct, kw_only=True, frozen=True):
    """Output of `scanlab advise --against FILE --json`. A configuration counts once, even if FILE
    has it for several requested numbers of streams."""

    schema: Literal["scanlab-advice-against/1"]
    context: Simulated
    profile: Line = ""
    configurations: Annotated[Count, means("number of measured configurations")] = 0
    median_error: Annotated[Amount, means("of all predictions")] = 0
    worst_error: Amount = 0
    median_slower: Annotated[Number, means("over the problems")] = 0
    worst_slower: Number = 0
    problems: list[Problem]
