"""What the SIMT emulator counted."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Struct, UnsetType

from scanlab_report.read.documents.base import Amount, Count, Date, Line, Mode, Name, Op, Settings, Type, means

SCHEMA = "scanlab-explain/2"


class Degrees(Struct, kw_only=True, frozen=True):
    """How shared-memory requests are served: by 16 banks a half-warp, or by 32 banks a warp."""

    max_degree: Annotated[Count, means("passes of the worst group")]
    mean_degree: Annotated[Amount, means("transactions / groups")]
    transactions: Annotated[Count, means("passes that all groups take")]
    groups: Annotated[Count | UnsetType, means("groups of threads served together")] = UNSET


class SharedAccesses(Struct, kw_only=True, frozen=True):
    """Shared-memory accesses of a step."""

    requests: Annotated[Count, means("accesses of whole warps")] = 0
    banks16: Degrees
    banks32: Degrees


class GlobalAccesses(Struct, kw_only=True, frozen=True):
    """Global-memory accesses of a step."""

    bytes: Annotated[Count, means("bytes accessed")] = 0
    sectors: Annotated[Count, means("32-byte sectors touched")] = 0
    ideal_sectors: Annotated[Count, means("the fewest for these bytes")] = 0


class Step(Struct, kw_only=True, frozen=True, rename={"global_": "global"}):
    """A step of a kernel."""

    name: Annotated[Line, means("what the step does: `up-sweep` and `down-sweep` are those of a tree; `interval` is from one barrier to the next")]
    number: Annotated[Count, means("which of the steps of this name: of a tree's the stride; 0 of one that stands alone")] = 0
    active_threads: Annotated[Count, means("threads that did something")] = 0
    operations: Annotated[Count, means("applications of the operator")] = 0
    swaps: Annotated[Count, means("exchanges")] = 0
    shared: SharedAccesses
    global_: GlobalAccesses | UnsetType = UNSET


class Launch(Struct, kw_only=True, frozen=True):
    """A launch of a kernel."""

    kernel: Line = ""
    blocks: Count = 0
    threads: Annotated[Count, means("threads per block")] = 0
    shared_bytes: Annotated[Count, means("shared memory per block")] = 0
    barriers: Annotated[Count, means("barriers of one block, the most of any")] = 0
    steps: list[Step]


class Totals(Struct, kw_only=True, frozen=True):
    """Sums over steps and launches."""

    launches: Count | UnsetType = UNSET
    operations: Count
    swaps: Count
    barriers: Annotated[Count, means("summed over launches")]
    global_bytes_read: Count
    global_bytes_written: Count
    global_sectors: Count = 0
    global_ideal_sectors: Count = 0
    shared_requests: Count
    banks16: Degrees
    banks32: Degrees


class ClosedForms(Struct, kw_only=True, frozen=True):
    """What the source states for this case; null where it states none."""

    operations: Count | None = None
    swaps: Count | None = None
    operations_text: Line | None = None
    traffic_text: Line | None = None
    depth: Any = None


class Fault(Struct, kw_only=True, frozen=True):
    """A race, barrier divergence, an access out of bounds, or a read of unwritten shared memory."""

    kind: str = ""
    where: str = ""
    message: str = ""


class Explanation(Struct, kw_only=True, frozen=True):
    """What `scanlab explain --json` and `--all` write: one case, or a list of cases."""

    schema: Literal["scanlab-explain/2"]
    variant: Name
    title: Line = ""
    type: Type
    op: Op
    mode: Mode
    items: Count
    parameters: Annotated[Settings, means("every parameter of the variant")] = {}
    git_commit: Annotated[Line, means("the code that counted")] = ""
    git_dirty: bool = False
    date: Date = ""
    launches: list[Launch]
    totals: Totals
    closed_forms: ClosedForms = ClosedForms()
    faults: list[Fault] = []

    def __post_init__(self) -> None:
        if not self.launches:
            raise ValueError("launches is empty")
