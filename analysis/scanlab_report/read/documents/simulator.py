"""The model of a device: profiles and what they are measured from, simulations, advice, and how good both are."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Struct, UnsetType

from scanlab_report.read.documents.base import Amount, Count, Line, Name, Number, Positive, Provenance, Some, means

COMPARISON, AGAINST = "scanlab-comparison/1", "scanlab-advice-against/1"


class Simulated(Provenance, kw_only=True, frozen=True):
    """The provenance of a simulation; where it is held against a device, `device`, `driver` and `date` are of what was measured."""

    simulated_on: Annotated[Line, means("the profile")] = ""
    hardware_queues: Count = 0
    measured_commit: Annotated[Line, means("the code that measured")] = ""
    measured_dirty: Line = ""


# ------------------------------------------------------------------------------------------- profiles


class Figure(Struct, kw_only=True, frozen=True):
    """A figure of a device."""

    value: Annotated[Any, means("a number, or what the table of figures says")]
    source: Annotated[Name, means("where it is from; begins with `measured by`, `from cudaDeviceProp` or `assumed` if nobody published it")]


class Profile(Struct, kw_only=True, frozen=True):
    """`devices/NAME.json`, and what `scanlab calibrate --out` writes."""

    schema: Literal["scanlab-device/1"]
    name: Annotated[Name, means("what `--profile` calls it")]
    title: Line
    figures: Annotated[dict[Name, Figure], means("by name, as the tables of `devices/NAME.json` have them")]


class CalibratedDevice(Struct, kw_only=True, frozen=True):
    """The device that was calibrated."""

    name: Name
    compute_capability: Line
    multiprocessors: Count
    resident_blocks: Annotated[Count, means("the most that a multiprocessor holds")]
    resident_threads: Annotated[Count, means("the most that a multiprocessor holds")]


class Replay(Struct, kw_only=True, frozen=True):
    """A replay of an experiment."""

    nanoseconds: Count
    issued: Annotated[list[Count], means("when each call began and ended, ns")] = []
    channels: Annotated[list[int], means("hardware queue of each operation")] = []
    ran: Annotated[list[Count], means("when each operation began and ended, ns")] = []


class Microbenchmark(Struct, kw_only=True, frozen=True):
    """An experiment; it has those of the fields between `memory` and `blocks` that apply."""

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
    blocks: Annotated[list[Count], means("of its kernels")] = []
    plain: Annotated[list[Replay], means("without collection of activity")] = []
    collected: Annotated[list[Replay], means("with it")] = []
    failure: Annotated[Line, means("why it was not measured")] = ""


class Calibration(Struct, kw_only=True, frozen=True):
    """What `scanlab calibrate --raw` writes, and `--from` makes a profile of without a GPU."""

    schema: Literal["scanlab-calibration/1"]
    context: Provenance
    device: CalibratedDevice
    works: Annotated[list[Count], means("work per item, of each workload")]
    experiments: list[Microbenchmark]


# ---------------------------------------------------------------------------------------- simulations


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
    """A job, simulated. `ratio`, `serial_us` and `van_werkhoven_us` have the kernel as one launch over all items takes alone."""

    control: bool = False
    ratio: Annotated[Amount, means("compute to copy: the kernel over the longer of all copies in and all copies out, each alone")]
    makespan_us: Annotated[Amount, means("from the first issue to the last end, µs")]
    serial_us: Annotated[Amount, means("copies in, kernels and copies out one after another, without latencies, µs")]
    bound_us: Annotated[Amount, means("what no right schedule of so many chunks can beat on this device, µs: the rates while copies run both ways hold only while they do, and blocks run in whole waves")]
    van_werkhoven_us: Annotated[Amount, means("max(H + (K + D)/n, K + (H + D)/n, D + (H + K)/n) for n chunks, with the rates of one way alone, µs")]
    utilisation: Annotated[dict[Name, Amount], means("the share of the makespan that each kind of engine is at work")]


class Sweep(Struct, kw_only=True, frozen=True):
    """What `scanlab simulate --sweep --out` writes."""

    schema: Literal["scanlab-simulation-sweep/1"]
    context: Simulated
    configurations: list[Configuration]


class Deviation(Struct, kw_only=True, frozen=True):
    """How far off operations are."""

    median_us: Number
    worst_us: Number


class ComparedTrace(Job, kw_only=True, frozen=True):
    """A trace, measured and predicted. `overlap_in_either` and `overlap_in_both` count pairs of operations that overlap for more than 5 µs in prediction or
    measurement, and in both, over all repetitions; `repeated_`: between two repetitions on the device; `best_`: of any prediction at most; `steady_`: of the
    prediction, where all repetitions agree; `unaided_`: where the model, not the driver, says which hardware queue serves a stream."""

    file: Annotated[Line, means("the trace")] = ""
    connections: Count
    repetitions: Annotated[Count | UnsetType, means("behind `measured_us`, without collection of activity")] = UNSET
    measured_us: Annotated[Positive, means("makespan, µs")]
    measured_spread: Annotated[Amount | UnsetType, means("of the repetitions: the largest less the smallest, a part of the median")] = UNSET
    predicted_us: Annotated[Positive, means("makespan, µs")]
    error: Annotated[Number, means("predicted over measured less 1")] = 0
    start: Deviation | UnsetType = UNSET
    end: Deviation | UnsetType = UNSET
    duration: Deviation | UnsetType = UNSET
    overlap_in_either: Count
    overlap_in_both: Count
    unaided_us: Positive
    unaided_overlap_in_either: Count
    unaided_overlap_in_both: Count
    repeated_overlap_in_either: Count
    repeated_overlap_in_both: Count
    best_overlap_in_either: Count
    best_overlap_in_both: Count
    steady_overlap_in_either: Count = 0
    steady_overlap_in_both: Count = 0
    copy_queues: Annotated[Count, means("how many the driver gave the copies of one way; the order of more than two matters, since an engine takes turns")]
    queues_shared_as_modelled: Annotated[bool, means("whether the driver has the same operations share a queue as the model")] = False
    queues_ordered_as_modelled: Annotated[bool, means("whether copy engines turn to their queues in the same order as in the model")]


class Comparison(Struct, kw_only=True, frozen=True):
    """What `scanlab simulate --compare TRACE … --out` writes for several traces; of a single one it has the timelines of both, as trace events. The numbers of
    pairs are sums of those below."""

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


# --------------------------------------------------------------------------------------------- advice


class Choice(Job, kw_only=True, frozen=True):
    """A job with its times."""

    predicted_us: Positive | UnsetType = UNSET
    measured_us: Positive | UnsetType = UNSET
    repetitions: Count | UnsetType = UNSET


class Advice(Struct, kw_only=True, frozen=True):
    """What `scanlab advise --json` writes."""

    schema: Literal["scanlab-advice/1"]
    context: Simulated
    profile: Name
    bytes_in: Annotated[Count | UnsetType, means("with `bytes_out` and `kernel_us`, where these were asked for; else `workload` and `items`")] = UNSET
    bytes_out: Count | UnsetType = UNSET
    kernel_us: Annotated[Amount | UnsetType, means("µs")] = UNSET
    workload: Line = ""
    items: Count = 0
    work: Count = 0
    worth_it: Annotated[bool, means("whether streams pay")]
    gain: Annotated[Amount, means("serial over the best choice")]
    bound_us: Annotated[Amount, means("what no choice can be faster than, µs")]
    serial: Annotated[Choice, means("one piece after another")]
    whole: Annotated[Choice, means("the whole in one piece")]
    advised: Annotated[Choice, means("the first choice, or `whole` where streams do not pay")]
    choices: Annotated[list[Choice], means("every choice, the fastest first")]


class MeasuredChoice(Job, kw_only=True, frozen=True):
    """A choice that was measured."""

    measured_us: Annotated[Positive, means("µs")]
    predicted_us: Annotated[Positive | UnsetType, means("µs")] = UNSET
    repetitions: Count | UnsetType = UNSET


class Problem(Struct, kw_only=True, frozen=True):
    """A problem, and how good the advice for it is."""

    workload: Name
    items: Count
    work: Count
    blocks: Count = 0
    memory: Line = ""
    buffers: Count = 0
    copied_bytes: Annotated[Some, means("bytes of all its copies")]
    choices: Annotated[Count, means("that were measured, from pinned memory")]
    median_error: Annotated[Amount, means("of the predicted times of these, as parts of the measured")]
    worst_error: Annotated[Amount, means("likewise")]
    said: Annotated[Choice, means("what `scanlab advise` says")]
    said_was_measured: Annotated[bool, means("whether FILE has it")]
    advised: Annotated[MeasuredChoice, means("what is scored: the same, or, if it was not measured, the best by the prediction that was")]
    fastest: Annotated[MeasuredChoice, means("as measured")]
    slower: Annotated[Number, means("how much longer the advised took, as a part")]
    ties: Annotated[Some, means("measured choices that take as long as the advised one by the prediction")]
    ties_least_slower: Annotated[Amount, means("how much longer than the fastest they took, as a part: the least")]
    ties_most_slower: Annotated[Amount, means("the most")]


class Against(Struct, kw_only=True, frozen=True):
    """What `scanlab advise --against FILE --json` writes. A configuration is counted once: a schedule that makes three streams was measured once for each number
    that was asked for."""

    schema: Literal["scanlab-advice-against/1"]
    context: Simulated
    profile: Line = ""
    configurations: Annotated[Count, means("that were measured")] = 0
    median_error: Annotated[Amount, means("of the predictions for all configurations")] = 0
    worst_error: Amount = 0
    median_slower: Annotated[Number, means("over the problems")] = 0
    worst_slower: Number = 0
    problems: list[Problem]
