"""Claims, published statements and open targets: the files of `paper/claims/`, read and checked."""

import tomllib
from functools import cache
from typing import Annotated, Literal, get_args

import pandas as pd
from msgspec import Meta, Struct

from scanlab_report import CLAIMS
from scanlab_report.console import Refused
from scanlab_report.data import Data
from scanlab_report.groups import CUBS, cub_as_shipped
from scanlab_report.pick import pick, power_of_two
from scanlab_report.schema.base import Amount, Count, Line, Mode, Name, Number, Op, Type
from scanlab_report.schema.fields import convert

Kind = Literal["claim", "published", "target"]
KINDS = CLAIM, PUBLISHED, TARGET = get_args(Kind)
OfScans = Literal["speed", "floor", "stopwatch", "losses", "odd_sizes", "spills"]
OfStreams = Literal["schedule", "duplex", "naive", "tracing"]
OfEngines = Literal["makespan_median", "makespan_worst", "overlap"]
OfRanks = Literal["ranks_copies", "ranks_weak", "ranks_strong"]
OverRanks = Literal["ranks_vendor", "ranks_bound", "ranks_time"]
Others = Literal["speedup", "traffic", "order", "implicit_sync", "counts", "conflicts"]
Measure = Literal[OfScans, OfStreams, OfEngines, OfRanks, OverRanks, Others]
OF_SCANS, OF_STREAMS, OF_ENGINES = map(get_args, (OfScans, OfStreams, OfEngines))
OF_LITERATURE_ON_SCANS = ("speedup", "speed", "traffic")
Sizes = Count | Annotated[list[Count], Meta(min_length=1)] | None


class Claim(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """A claim, published statement or target; claims.toml describes the fields."""

    kind: Kind
    statement: Name
    measure: Measure
    source: Line = ""
    figure: Line = ""
    set_by: Line = ""
    on: list[Name] = []
    row: Count = 0
    variant: Line = ""
    over: Literal["cub", "cub_as_shipped"] | list[Name] = []
    of_published: Line = ""
    board: Line = ""
    workload: Line = ""
    least_gib: Amount = 0
    experiments: list[Name] = []
    answer: Literal["", "yes", "no"] = ""
    at_least: Number | None = None
    at_most: Number | None = None
    equals: Number | None = None
    variation: Annotated[float, Meta(ge=0, lt=1)] = 0.0
    type: Type | None = None
    op: Op = "plus"
    mode: Mode = "inclusive"
    cache: Literal["cold", "warm"] = "cold"
    launch: Literal["stream", "graph", "batch", "pipeline"] = "stream"
    items: Sizes = None
    least_items: Count = 0
    most_items: Count | None = None
    least_mib: Count = 0
    powers: bool = False
    ranks: Count = 0
    items_per_rank: Sizes = None

    def __post_init__(self) -> None:
        if [self.at_least, self.at_most, self.equals].count(None) != 2:
            raise ValueError("needs one of at_least, at_most, equals")

    @property
    def ours(self) -> bool:
        return self.kind != PUBLISHED

    @property
    def wanted(self) -> str:
        """The bound in print."""
        bounds = zip("≥≤=", "−+±", (self.at_least, self.at_most, self.equals), strict=True)
        sign, give, bound = next((s, g, float(b)) for s, g, b in bounds if b is not None)
        number = f"{bound:g}" if bound == int(bound) else f"{bound:.2f}"
        some = f" {give} {100 * self.variation:g}%" * bool(self.variation)
        return f"{sign} {number}{some}" if bound else "0"

    def meets(self, value: float) -> bool:
        """Whether a value is within the bound, or misses it by no more than the variation."""
        if self.equals is not None:
            return abs(value - self.equals) <= self.variation * self.equals
        if self.at_least is not None:
            return value >= self.at_least * (1 - self.variation)
        return self.at_most is not None and value <= self.at_most * (1 + self.variation)

    def excess(self, value: float) -> float:
        """A number that is the larger, the farther a value is from the bound on its wrong side."""
        if self.equals is not None:
            return abs(value - self.equals)
        return value if self.at_least is None else -value

    def digits(self, value: float, least: int) -> int:
        """The fewest significant digits with which the printed value has the value's verdict."""
        same = lambda n: self.meets(float(f"{value:.{n}g}")) == self.meets(value)
        return next(filter(same, range(least, 6)), 6)

    def rivals(self, data: Data) -> list[str]:
        """The variants whose fastest is the reference."""
        if self.over == "cub":
            return data.variants.ids(CUBS)
        return cub_as_shipped(data) if self.over == "cub_as_shipped" else list(self.over)

    def cases(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The cases of scans on one device that the claim is about."""
        names = ("type", "op", "mode", "cache", "launch", "items")
        known = {name: getattr(self, name) for name in names}
        rows = pick(rows, **{name: value for name, value in known.items() if value is not None})
        rows = rows[rows["items"].between(self.least_items, self.most_items or float("inf"))]
        rows = rows[rows["bytes"] >= 2 * self.least_mib << 20]
        return rows[power_of_two(rows["items"])] if self.powers else rows


@cache
def read() -> tuple[Claim, ...]:
    """The entries of all files; those of a list `each` share fields. Refused: the first fault."""
    claims: list[Claim] = []
    on: list[str] = []
    for file in sorted(CLAIMS.glob("*.toml")):
        try:
            content = tomllib.loads(file.read_text(encoding="utf-8"))
        except ValueError as error:
            raise Refused(f"{file}: is not TOML ({error})") from None
        on = [content["device"]] if "device" in content else on
        for kind in KINDS:
            for number, section in enumerate(content.get(kind, ()), start=1):
                shared = {"on": on if kind != PUBLISHED else []} | section | {"kind": kind}
                for own in shared.pop("each", [{}]):
                    entry = shared | own
                    try:
                        statement = {"statement": entry["statement"].format_map(entry)}
                        claims.append(convert(entry | statement, Claim, remedy="see claims.toml"))
                    except (LookupError, ValueError) as error:
                        place = f"{kind} {number} ({entry.get('statement')})"
                        raise Refused(f"{file}: {place}: {error}") from None
    return tuple(claims)
