"""Building blocks of documents: values with their limits, and the provenance that all have."""

import math
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

EXACT = 2**53
"""Every whole number up to here is exact in JSON, whose numbers are doubles to most programs."""
NAN: Any = math.nan
"""The value of a number that a file lacks."""


def means(text: str, unit: str = "", column: str = "") -> Meta:
    """The meaning of a field, its unit, and the name of its column, if it is not the field's."""
    described = ", ".join(filter(None, (text, unit)))
    return Meta(description=described, extra={"text": text, "unit": unit, "column": column})


Count = Annotated[int, Meta(ge=0, le=EXACT)]
Some = Annotated[int, Meta(ge=1, le=EXACT)]
Few = Annotated[int, Meta(ge=1, le=10**6)]
"""A count of things that a figure draws one by one."""
Index = Annotated[int, Meta(ge=-1, le=EXACT)]
"""An index; -1 if there is none."""
Number = Annotated[float, Meta(ge=-1e18, le=1e18)]
Amount = Annotated[float, Meta(ge=0, le=1e18)]
Positive = Annotated[float, Meta(gt=0, le=1e18)]

Line = str
Name = Annotated[str, Meta(min_length=1)]
Digits = str
Date = Annotated[str, Meta(pattern=r"^([0-9]{4}-[0-9]{2}-[0-9]{2}(T[!-~]{0,40})?)?$")]
Type = Annotated[Literal["i8", "i16", "i32", "i64", "f16", "f32", "f64"], means("element type")]
Op = Annotated[str, Meta(min_length=1), means("name of its file in `variants/operators/`")]
Mode = Annotated[Literal["inclusive", "exclusive"], means("whether an item is in its own result")]
Settings = dict[Name, Line]


class Case(Struct, kw_only=True, frozen=True):
    """The case of a scan."""

    type: Type
    op: Op
    mode: Mode
    items: Annotated[Count, means("number of items, n")]


class Provenance(Struct, kw_only=True, frozen=True, omit_defaults=True):
    """The origin of numbers. An unknown value is absent or empty."""

    date: Annotated[Date, means("start of the measurement")] = ""
    argv: Annotated[Line, means("the command")] = ""
    git_commit: Annotated[Line, means("commit of the program")] = ""
    git_dirty: Annotated[
        Literal["true", "false", "unknown", ""], means("`true` with uncommitted changes")
    ] = ""
    device: Annotated[Line, means("the GPU")] = ""
    multiprocessors: Annotated[Digits, means("multiprocessors of the GPU")] = ""
    l2_bytes: Annotated[Digits, means("L2 cache", "bytes")] = ""
    sm_clock_mhz_max: Annotated[Digits, means("highest multiprocessor clock", "MHz")] = ""
    ecc: Annotated[Line, means("`on` if memory is error-corrected")] = ""
    driver: Annotated[Line, means("version of the driver")] = ""
    toolkit: Annotated[Line, means("version of CUDA")] = ""
    cccl: Annotated[Line, means("version of CCCL")] = ""
    cccl_newest: Annotated[Line, means("version of the CCCL of `cub_newest`")] = ""
    cpu: Annotated[Line, means("the host's processor")] = ""
    cores: Annotated[Digits, means("cores available on the host")] = ""
    compiler: Annotated[Line, means("compiler of the host's code")] = ""
    assertions: Annotated[Line, means("`on` if compiled in, which makes code slower")] = ""


class Measured(Provenance, kw_only=True, frozen=True):
    """The provenance of a measurement on a GPU."""

    device: Annotated[Name, means("the GPU")]
