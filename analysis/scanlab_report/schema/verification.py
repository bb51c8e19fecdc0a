"""Verification, as JSON lines: a beginning, a line for each check, an end."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Struct, UnsetType

from scanlab_report.schema.base import (
    Amount,
    Case,
    Count,
    Digits,
    Name,
    RanksProvenance,
    Settings,
    Some,
    means,
)

SCHEMA = "scanlab-verification/1"


class VerificationContext(RanksProvenance, kw_only=True, frozen=True):
    """The provenance of a verification."""

    backend: Annotated[
        Literal["cuda", "simt", "host"],
        means(
            "the GPU, the SIMT emulator on the CPU, or the memory of hosts (`distributed verify`)"
        ),
    ]
    seed: Annotated[Digits, means("seed of inputs and sizes")] = ""
    launch: Annotated[
        Literal["stream", "graph"],
        means(
            "`graph`: replays of a CUDA graph per GPU were compared too (`distributed "
            "verify --launch graph`)"
        ),
    ] = "stream"
    beside_other_work: Annotated[
        bool,
        means(
            "whether the GPU of rank 0 was busy with other work meanwhile (`distributed "
            "verify --beside`)"
        ),
    ] = False


class Beginning(Struct, kw_only=True, frozen=True):
    """The first line."""

    schema: Literal["scanlab-verification/1"]
    context: VerificationContext


class CheckBase(Case, kw_only=True, frozen=True, tag_field="check"):
    """A check: any line between the first and the last."""

    variant: Name
    settings: Annotated[Settings, means("parameters that were set")]
    input: Annotated[
        Name | None, means("kind of input; null if the case was skipped for every input")
    ]
    aliasing: Annotated[
        Literal["apart", "shifted", "in_place"] | None,
        means("aliasing and alignment case; null likewise"),
    ]
    outcome: Literal["passed", "failed", "skipped"]
    reason: Annotated[str, means("fault, or cause of the skip; empty if the check passed")]
    out_of_memory: Annotated[bool, means("whether the check was skipped for lack of memory")] = (
        False
    )
    error_bound: Annotated[
        Amount | None,
        means(
            "if results round: error bound of an output, as a part of the sum of its "
            "inputs' magnitudes"
        ),
    ] = None
    error_to_bound: Annotated[
        Amount | None,
        means(
            "if results round: largest error of any output, as a part of its bound; null "
            "if not finite"
        ),
    ] = None


class Verify(CheckBase, kw_only=True, frozen=True, tag="verify"):
    """Two runs, compared with the oracle."""


class Repeat(CheckBase, kw_only=True, frozen=True, tag="repeat"):
    """Many runs on one input, compared bit by bit (`--repeat N`)."""

    runs: Annotated[Some | UnsetType, means("number of runs; absent if skipped")] = UNSET
    different_outputs: Annotated[
        Some | UnsetType,
        means("number of different outputs; 1: bitwise reproducible in these runs"),
    ] = UNSET

    def __post_init__(self) -> None:
        if self.outcome == "passed" and (self.runs is UNSET or self.different_outputs is UNSET):
            raise ValueError("a check that passed lacks runs or different_outputs")


class Ended(Struct, kw_only=True, frozen=True):
    """The outcomes of all checks."""

    passed: Annotated[Count, means("checks that passed")]
    failed: Annotated[Count, means("checks that failed")]
    skipped: Annotated[Count, means("checks that were skipped")]
    interrupted: Annotated[bool, means("whether not all checks were made")]


class Ending(Struct, kw_only=True, frozen=True):
    """The last line. A file without it is incomplete."""

    ended: Ended


Check = Verify | Repeat
CHECK: Any = Check
"""The same for what takes a type."""


class VerificationLine(Struct, kw_only=True, frozen=True):
    """Output of `scanlab verify --json FILE` and of `scanlab distributed verify --json FILE`: one
    object per line, written when its check ends. A killed process loses no line, and a stopped host
    only those of the last second."""

    first: Beginning
    between: list[Check]
    last: Ending
