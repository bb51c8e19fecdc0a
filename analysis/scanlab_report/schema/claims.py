"""Claims, as ``paper/claims.toml`` states them; that file says what its fields are for."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from scanlab_report.schema.base import (
    COMMIT,
    Amount,
    Count,
    Line,
    Mode,
    Name,
    Number,
    Op,
    Type,
    means,
)

Measure = Literal[
    "speed",
    "floor",
    "stopwatch",
    "losses",
    "odd_sizes",
    "spills",
    "speedup",
    "traffic",
    "order",
    "schedule",
    "duplex",
    "naive",
    "tracing",
    "counts",
    "conflicts",
    "makespan_median",
    "makespan_worst",
    "overlap",
    "implicit_sync",
    "ranks_copies",
    "ranks_weak",
    "ranks_strong",
    "ranks_vendor",
    "ranks_bound",
    "ranks_time",
]


class Cases(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """The cases that a claim speaks of: those with these properties and within these limits."""

    type: Type | UnsetType = UNSET
    op: Annotated[Op | UnsetType, means("`plus` if it is not given")] = UNSET
    mode: Annotated[Mode | UnsetType, means("`inclusive` if it is not given")] = UNSET
    cache: Annotated[Literal["cold", "warm"] | UnsetType, means("`cold` if it is not given")] = (
        UNSET
    )
    launch: Annotated[
        Literal["stream", "graph", "batch", "pipeline"] | UnsetType,
        means("`stream` if it is not given"),
    ] = UNSET
    items: Annotated[
        Count | Annotated[list[Count], Meta(min_length=1)] | UnsetType,
        means("a number of items, or several"),
    ] = UNSET
    ranks: Annotated[Count | UnsetType, means("of several GPUs: how many")] = UNSET
    items_per_rank: Annotated[
        Count | Annotated[list[Count], Meta(min_length=1)] | UnsetType,
        means("of several GPUs: items per GPU, where `items` are those of the whole array"),
    ] = UNSET
    least_items: Count | UnsetType = UNSET
    most_items: Count | UnsetType = UNSET
    least_mib: Annotated[Count | UnsetType, means("least size of the array, MiB")] = UNSET
    powers: Annotated[
        bool | UnsetType, means("whether numbers of items are powers of two alone")
    ] = UNSET


class StatedClaim(
    Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A claim. It has one of `at_least`, `at_most` and `equals`, and the fields that its measure
    needs."""

    statement: Annotated[Name, means("the claim, in words that a table has room for")]
    source: Annotated[Name, means("`scanlab`, or a key of `references.bib`")]
    set_by: Annotated[
        str,
        Meta(pattern=COMMIT, description="of a claim of the report: the commit that set its bound"),
    ] = ""
    figure: Annotated[Name, means("the figure or table that shows it")]
    measure: Annotated[Measure, means("how it is computed")]
    variant: Line = ""
    over: Annotated[
        Literal["cub", "cub_as_shipped"] | list[Name],
        means("variants whose fastest counts; all scans of CUB, or those not tuned on the device"),
    ] = []
    of_published: Annotated[
        Line, means("published table whose speedup the measured one is set against")
    ] = ""
    device: Annotated[Line, means("of measure `order`: the device")] = ""
    on: Annotated[
        Line, means("the GPU that it is about; that of the file for claims of the report")
    ] = ""
    workload: Line = ""
    experiments: Annotated[
        list[Name], means("of measure `implicit_sync`: experiments on implicit synchronisation")
    ] = []
    answer: Literal["", "yes", "no"] = ""
    least_gib: Annotated[Amount, means("least size of an input, GiB")] = 0
    at_least: Number | None = None
    at_most: Number | None = None
    equals: Number | None = None
    variation: Annotated[
        float, Meta(ge=0, lt=1, description="part of the bound by which a value may miss it")
    ] = 0.0
    cases: Cases = Cases()


class StatedClaims(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """`paper/claims.toml`: the claims of the report and of the literature."""

    device: Annotated[Line, means("the GPU that the report is about")] = ""
    claim: Annotated[list[StatedClaim], Meta(min_length=1)]
