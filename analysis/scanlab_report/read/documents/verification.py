"""Verification, as JSON lines: a beginning, a line for each check, an end."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Struct, UnsetType

from scanlab_report.read.documents.base import Amount, Count, Digits, Mode, Name, Op, Provenance, Settings, Some, Type, means

SCHEMA = "scanlab-verification/1"


class VerificationContext(Provenance, kw_only=True, frozen=True):
    """The provenance of a verification."""

    backend: Annotated[Literal["cuda", "simt"], means("the GPU, or the SIMT emulator on the CPU")]
    seed: Annotated[Digits, means("of inputs and sizes")] = ""


class Beginning(Struct, kw_only=True, frozen=True):
    """The first line."""

    schema: Literal["scanlab-verification/1"]
    context: VerificationContext


class CheckBase(Struct, kw_only=True, frozen=True, tag_field="check"):
    """A line between: a check."""

    variant: Name
    type: Type
    op: Op
    mode: Mode
    items: Count
    settings: Annotated[Settings, means("parameters that were set")]
    input: Annotated[Name | None, means("kind of input; null if the case was skipped whatever it is")]
    placement: Annotated[Literal["apart", "shifted", "in_place"] | None, means("aliasing and alignment case; null likewise")]
    outcome: Literal["passed", "failed", "skipped"]
    reason: Annotated[str, means("what was wrong, or why it was skipped; empty if it passed")]
    out_of_memory: Annotated[bool, means("of a skipped check: whether memory was what it lacked")] = False
    error_bound: Annotated[Amount | None, means("where results round: the bound of an output's error, as a part of the sum of the magnitudes of its inputs")] = None
    error_to_bound: Annotated[Amount | None, means("likewise: the largest error of any output, as a part of its bound; null if it is no number")] = None


class Verify(CheckBase, kw_only=True, frozen=True, tag="verify"):
    """Two runs, compared with the oracle."""


class Repeat(CheckBase, kw_only=True, frozen=True, tag="repeat"):
    """Many runs on one input, compared with each other bit by bit: of `--repeat N`."""

    runs: Annotated[Some | UnsetType, means("how many; absent of a skipped check")] = UNSET
    different_outputs: Annotated[Some | UnsetType, means("outputs that differ in any bit; 1: the bits are fixed, in so many runs")] = UNSET

    def __post_init__(self) -> None:
        if self.outcome == "passed" and (self.runs is UNSET or self.different_outputs is UNSET):
            raise ValueError("a check that passed lacks runs or different_outputs")


class Ended(Struct, kw_only=True, frozen=True):
    """What came of all checks."""

    passed: Count
    failed: Count
    skipped: Count
    interrupted: bool


class Ending(Struct, kw_only=True, frozen=True):
    """The last line. A file without it did not come to its end."""

    ended: Ended


Check = Verify | Repeat
CHECK: Any = Check
"""The same for what takes a type."""


class VerificationLine(Struct, kw_only=True, frozen=True):
    """What `scanlab verify --json FILE` writes, an object a line, each when its check is made: a run that is killed keeps every line before, and one whose machine stops loses a second."""

    first: Beginning
    between: list[Check]
    last: Ending
