"""Documents that commands print with ``--json``."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Struct

from scanlab_report.schema.base import Count, Line, Name, means
from scanlab_report.schema.results import Schedule, Variant, Workload
from scanlab_report.schema.simulator import Job


class ListedVariant(Variant, kw_only=True, frozen=True):
    """A variant, as in a results file."""

    id: Name
    backends: Annotated[list[Line], means("`cuda`, `simt`, `host`")]


class List(Struct, kw_only=True, frozen=True):
    """`scanlab list --json`."""

    schema: Literal["scanlab-list/2"]
    variants: list[ListedVariant]


class Info(Struct, kw_only=True, frozen=True):
    """`scanlab info --json`."""

    schema: Literal["scanlab-info/1"]
    device: Annotated[dict[Name, Line] | None, means("null if there is none")]
    no_device: Annotated[Line, means("reason if there is none")] = ""
    host: dict[Name, Line]
    build: dict[Name, Line]
    variants: Annotated[dict[Name, Count], means("number of variants and baselines per backend")]


class ListedSchedule(Schedule, kw_only=True, frozen=True):
    """A schedule, as in a results file."""

    id: Name


class ListedWorkload(Workload, kw_only=True, frozen=True):
    """A workload, as in a results file."""

    id: Name


class StreamsList(Struct, kw_only=True, frozen=True):
    """`scanlab streams list --json`."""

    schema: Literal["scanlab-streams-list/1"]
    schedules: list[ListedSchedule]
    workloads: list[ListedWorkload]


class Access(Struct, kw_only=True, frozen=True):
    """The access of `second`, which overlaps one of `first`."""

    place: Annotated[
        Line, means("`host_input`, `host_output`, `device_input`, `device_output` or `carry`")
    ]
    array: Count
    buffer: Count
    first: Annotated[Count, means("first item")]
    items: Count
    writes: Annotated[bool, means("whether `second` writes")]


class CheckedOperation(Struct, kw_only=True, frozen=True):
    """An operation, as in `args` of a timeline."""

    index: Annotated[Count, means("its number in the schedule")]
    operation: Annotated[Line, means("in words")]
    kind: Line
    what: Line = ""
    chunk: Count = 0
    items: Count = 0
    input: Count = 0
    bytes: Count = 0
    blocks: Count = 0
    stream: Line = ""
    stream_kind: Line = ""
    stream_index: Count = 0


class Hazard(Struct, kw_only=True, frozen=True):
    """Two accesses that no order separates, of which one writes."""

    first: CheckedOperation
    second: CheckedOperation
    memory: Annotated[Line, means("the memory in words")]
    access: Access


class CheckedJob(Job, kw_only=True, frozen=True):
    """A job, and whether every access is ordered."""

    control: Annotated[bool, means("whether it is wrong on purpose")]
    operations: Count
    ordered: bool
    hazards: list[Hazard]
    waits_for_nothing: Annotated[
        list[CheckedOperation], means("waits for events that no earlier operation records")
    ]
    undone: Annotated[list[str], means("what of the job is not done, a sentence each")]


class StreamsCheck(Struct, kw_only=True, frozen=True):
    """`scanlab streams check --json`."""

    schema: Literal["scanlab-streams-check/1"]
    checked: list[CheckedJob]
