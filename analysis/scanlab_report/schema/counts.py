"""Counts of the SIMT emulator."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Struct, UnsetType

from scanlab_report.schema.base import Amount, Case, Count, Date, Line, Name, Settings, means

SCHEMA = "scanlab-explain/2"


class Degrees(Struct, kw_only=True, frozen=True):
    """Wavefronts of shared-memory requests: 16 banks per half-warp, or 32 banks per warp."""

    max_degree: Annotated[Count, means("wavefronts of the worst group")]
    mean_degree: Annotated[Amount, means("`transactions` / `groups`")]
    transactions: Annotated[Count, means("wavefronts of all groups")]
    groups: Annotated[Count | UnsetType, means("groups of threads served together")] = UNSET


class SharedAccesses(Struct, kw_only=True, frozen=True):
    """Shared-memory accesses of a step."""

    requests: Annotated[Count, means("warp-level accesses")] = 0
    banks16: Degrees
    banks32: Degrees


class GlobalAccesses(Struct, kw_only=True, frozen=True):
    """Global-memory accesses of a step."""

    bytes: Annotated[Count, means("bytes accessed")] = 0
    sectors: Annotated[Count, means("32-byte sectors touched")] = 0
    ideal_sectors: Annotated[Count, means("fewest sectors for these bytes")] = 0


class Step(Struct, kw_only=True, frozen=True, rename={"global_": "global"}):
    """A step of a kernel."""

    name: Annotated[
        Line,
        means(
            "name in the kernel, as `up-sweep` and `down-sweep` of a tree; `interval`: "
            "from one barrier to the next"
        ),
    ]
    number: Annotated[
        Count, means("number among steps of this name: the stride in a tree, 0 for a single step")
    ] = 0
    active_threads: Annotated[Count, means("threads that accessed memory")] = 0
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
    barriers: Annotated[Count, means("most barriers of any block")] = 0
    steps: list[Step]


class Totals(Struct, kw_only=True, frozen=True):
    """Sums over steps and launches."""

    launches: Annotated[Count | UnsetType, means("kernel launches")] = UNSET
    operations: Annotated[Count, means("applications of the operator")]
    swaps: Annotated[Count, means("exchanges")]
    barriers: Annotated[Count, means("barriers of one block, summed over the launches")]
    global_bytes_read: Annotated[Count, means("bytes read from global memory")]
    global_bytes_written: Annotated[Count, means("bytes written to global memory")]
    global_sectors: Annotated[Count, means("32-byte sectors touched")] = 0
    global_ideal_sectors: Annotated[Count, means("fewest sectors for these bytes")] = 0
    shared_requests: Annotated[Count, means("shared-memory accesses of whole warps")]
    banks16: Degrees
    banks32: Degrees


class ClosedForms(Struct, kw_only=True, frozen=True):
    """The source's closed forms for this case; null if it has none."""

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


class Explanation(Case, kw_only=True, frozen=True):
    """Output of `scanlab explain --json` and `--all`: one case, or a list of cases."""

    schema: Literal["scanlab-explain/2"]
    variant: Name
    title: Line = ""
    unpadded: Annotated[
        Line, means("of a variant that pads shared memory: what it is without; else empty")
    ] = ""
    parameters: Annotated[Settings, means("value of every parameter")] = {}
    git_commit: Annotated[Line, means("commit of the program")] = ""
    git_dirty: bool = False
    date: Date = ""
    launches: list[Launch]
    totals: Totals
    closed_forms: ClosedForms = ClosedForms()
    faults: list[Fault] = []

    def __post_init__(self) -> None:
        if not self.launches:
            raise ValueError("launches is empty")

    @property
    def padding(self) -> str:
        return self.parameters.get("padding", "none")

    @property
    def load(self) -> str:
        return self.parameters.get("load", "")

    def tree_steps(self) -> list[Step]:
        """The steps of the first launch that climb or descend the tree."""
        return [s for s in self.launches[0].steps if s.name in ("up-sweep", "down-sweep")]
