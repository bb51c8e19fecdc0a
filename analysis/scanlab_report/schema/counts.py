"""Counts of the SIMT emulator by `scanlab explain`: the fields that the analysis reads."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from scanlab_report.schema.base import Amount, Case, Count, Date, Line, Name, Settings, means


class Degrees(Struct, kw_only=True, frozen=True):
    """Wavefronts of shared-memory requests: 16 banks per half-warp, or 32 banks per warp."""

    max_degree: Annotated[Count, means("wavefronts of the worst group")]
    mean_degree: Annotated[Amount, means("`transactions` / `groups`")]
    transactions: Annotated[Count, means("wavefronts of all groups")]
    groups: Annotated[Count | UnsetType, means("groups of threads served together")] = UNSET


class SharedAccesses(Struct, kw_only=True, frozen=True):
    """Shared-memory accesses of a step, by the number of banks."""

    banks16: Degrees
    banks32: Degrees


class Step(Struct, kw_only=True, frozen=True):
    """A step of a kernel."""

    name: Annotated[Line, means("name in the kernel; `interval`: from barrier to barrier")]
    number: Annotated[Count, means("number among steps of this name, as the stride in a tree")] = 0
    shared: SharedAccesses


class Launch(Struct, kw_only=True, frozen=True):
    """A launch of a kernel."""

    blocks: Count = 0
    barriers: Annotated[Count, means("most barriers of any block")] = 0
    steps: list[Step]


class Totals(Struct, kw_only=True, frozen=True):
    """Sums over steps and launches."""

    operations: Annotated[Count, means("applications of the operator")]
    swaps: Annotated[Count, means("exchanges")]
    barriers: Annotated[Count, means("barriers of one block, summed over the launches")]
    global_bytes_read: Annotated[Count, means("bytes read from global memory")]
    global_bytes_written: Annotated[Count, means("bytes written to global memory")]
    shared_requests: Annotated[Count, means("shared-memory accesses of whole warps")]
    banks16: Degrees
    banks32: Degrees


class ClosedForms(Struct, kw_only=True, frozen=True):
    """The source's closed forms for this case; null if it has none."""

    operations: Count | None = None
    swaps: Count | None = None


class Fault(Struct, kw_only=True, frozen=True):
    """A race, barrier divergence, an access out of bounds, or a read of unwritten shared memory."""

    kind: str = ""
    where: str = ""


class Explanation(Case, kw_only=True, frozen=True):
    """Output of `scanlab explain --json` and `--all`: one case, or a list of cases."""

    schema: Literal["scanlab-explain/2"]
    primitive: Name = "scan"
    variant: Name
    unpadded: Annotated[Line, means("the variant without its padding of shared memory")] = ""
    parameters: Annotated[Settings, means("value of every parameter")] = {}
    git_commit: Annotated[Line, means("commit of the program")] = ""
    git_dirty: bool = False
    date: Date = ""
    launches: Annotated[list[Launch], Meta(min_length=1)]
    totals: Totals
    closed_forms: ClosedForms = ClosedForms()
    faults: list[Fault] = []

    @property
    def padding(self) -> str:
        """The padding of shared memory."""
        return self.parameters.get("padding", "none")

    @property
    def load(self) -> str:
        """How the variant loads."""
        return self.parameters.get("load", "")

    def tree_steps(self) -> list[Step]:
        """The steps of the first launch that climb or descend the tree."""
        return [s for s in self.launches[0].steps if s.name in ("up-sweep", "down-sweep")]
