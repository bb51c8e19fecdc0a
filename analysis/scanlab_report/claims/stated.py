"""Claims, published statements and open targets: the files of `paper/claims/`, read and checked."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import pandas as pd
from msgspec import UNSET, Meta, Struct, UnsetType

from scanlab_report import CLAIMS, DATA
from scanlab_report.data import Data
from scanlab_report.groups import CUBS, cub_as_shipped
from scanlab_report.intervals import Interval
from scanlab_report.pick import pick, power_of_two
from scanlab_report.schema.base import COMMIT, Amount, Count, Line, Mode, Name, Number, Op, Type
from scanlab_report.schema.fields import Misfit, convert, fits, shown

CLAIM, PUBLISHED, TARGET = "claim", "published", "target"
Kind = Literal["claim", "published", "target"]
KINDS = get_args(Kind)
OfScans = Literal["speed", "floor", "stopwatch", "losses", "odd_sizes", "spills"]
OfStreams = Literal["schedule", "duplex", "naive", "tracing"]
OfEngines = Literal["makespan_median", "makespan_worst", "overlap"]
OfRanks = Literal[
    "ranks_copies", "ranks_weak", "ranks_strong", "ranks_vendor", "ranks_bound", "ranks_time"
]
Others = Literal["speedup", "traffic", "order", "implicit_sync", "counts", "conflicts"]
Measure = Literal[OfScans, OfStreams, OfEngines, OfRanks, Others]
OF_SCANS, OF_STREAMS, OF_ENGINES, OF_RANKS = map(get_args, (OfScans, OfStreams, OfEngines, OfRanks))
OF_LITERATURE_ON_SCANS = ("speedup", "speed", "traffic")
NEEDED = {
    "speed": ("variant", "over", "type"),
    "floor": ("variant", "type"),
    "stopwatch": ("variant", "type"),
    "odd_sizes": ("variant",),
    "speedup": ("variant",),
    "traffic": ("variant", "items"),
    "order": ("board",),
    "schedule": ("workload",),
    "implicit_sync": ("experiments", "answer"),
    **dict.fromkeys(OF_RANKS, ("variant", "type", "ranks")),
}
"""The fields that a measure needs, where it needs any."""
Sizes = Count | Annotated[list[Count], Meta(min_length=1)]


class ClaimsError(ValueError):
    """A file that cannot be used; the message has the file and the place."""


class Claim(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """A claim, published statement or target; claims.toml describes the fields."""

    kind: Kind
    statement: Name
    figure: Name
    measure: Measure
    source: Line = ""
    set_by: Annotated[str, Meta(pattern=COMMIT)] = ""
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
    at_least: Number | UnsetType = UNSET
    at_most: Number | UnsetType = UNSET
    equals: Number | UnsetType = UNSET
    variation: Annotated[float, Meta(ge=0, lt=1)] = 0.0
    type: Type | UnsetType = UNSET
    op: Op = "plus"
    mode: Mode = "inclusive"
    cache: Literal["cold", "warm"] = "cold"
    launch: Literal["stream", "graph", "batch", "pipeline"] = "stream"
    items: Sizes | UnsetType = UNSET
    least_items: Count = 0
    most_items: Count | UnsetType = UNSET
    least_mib: Count = 0
    powers: bool = False
    ranks: Count = 0
    items_per_rank: Sizes | UnsetType = UNSET

    @property
    def ours(self) -> bool:
        return self.kind != PUBLISHED

    @property
    def wanted(self) -> str:
        """The bound in print."""
        bounds = zip("≥≤=", "−+±", (self.at_least, self.at_most, self.equals), strict=True)
        bound: Any
        sign, give, bound = next(row for row in bounds if row[-1] is not UNSET)
        if bound == 0:
            return "0"
        text = f"{sign} {bound:{'g' if bound == int(bound) else '.2f'}}"
        return f"{text} {give} {100 * self.variation:g}%" if self.variation else text

    def meets(self, value: float) -> bool:
        """Whether a value is within the bound, or misses it by no more than the variation."""
        if self.equals is not UNSET:
            return abs(value - self.equals) <= self.variation * self.equals
        if self.at_least is not UNSET:
            return value >= self.at_least * (1 - self.variation)
        return value <= self.at_most * (1 + self.variation)  # type: ignore[operator]

    def digits(self, value: float, least: int) -> int:
        """The fewest significant digits with which the printed value has the value's verdict."""
        meets = self.meets(value)
        enough = (n for n in range(least, 6) if self.meets(float(f"{value:.{n}g}")) == meets)
        return next(enough, 6)

    def sure(self, values: Iterable[Interval]) -> bool:
        """Whether each whole interval meets the bound; False if a value has none."""
        return all(v.known and self.meets(v.low) and self.meets(v.high) for v in values)

    def worst(self, known: Sequence[Any]) -> Any:
        """Return the one of some values that is farthest from the bound."""
        if self.equals is not UNSET:
            return max(known, key=lambda row: abs(row.value.value - self.equals))
        least = self.at_least is not UNSET
        return (min if least else max)(known, key=lambda row: row.value.value)

    def rivals(self, data: Data) -> list[str]:
        """The variants whose fastest is the reference."""
        if self.over == "cub":
            return data.variants.ids(CUBS)
        return cub_as_shipped(data) if self.over == "cub_as_shipped" else list(self.over)

    def cases(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The cases of scans on one device that the claim is about."""
        names = ("type", "op", "mode", "cache", "launch", "items")
        named = {name: getattr(self, name) for name in names}
        rows = pick(rows, **{name: value for name, value in named.items() if value is not UNSET})
        rows = rows[rows["items"] >= self.least_items]
        rows = rows[rows["bytes"] >= 2 * self.least_mib << 20]
        if self.most_items is not UNSET:
            rows = rows[rows["items"] <= self.most_items]
        return rows[power_of_two(rows["items"])] if self.powers else rows


class _File(Struct, forbid_unknown_fields=True):
    """A file as it is written."""

    device: Line = ""
    claim: list[dict[str, Any]] = []
    published: list[dict[str, Any]] = []
    target: list[dict[str, Any]] = []


@cache
def device(path: Path = CLAIMS) -> str:
    """The GPU that the papers are about; empty if no file names one."""
    return next((content.device for _, content in _files(path) if content.device), "")


@cache
def read(path: Path = CLAIMS) -> tuple[Claim, ...]:
    """The entries of a file, or of all files of a folder; ClaimsError names the first fault."""
    claims: list[Claim] = []
    for file, content in _files(path):
        own = [entry for kind in KINDS for entry in _entries(file, content, kind, path)]
        if not own:
            raise ClaimsError(f"{file}: holds no {' or '.join(f'[[{kind}]]' for kind in KINDS)}")
        claims += own
    return tuple(claims)


@cache
def _files(path: Path) -> list[tuple[Path, _File]]:
    files = sorted(path.glob("*.toml")) if path.is_dir() else [path]
    if not files:
        raise ClaimsError(f"{path}: holds no .toml file")
    return [(file, _file(file)) for file in files]


def _file(file: Path) -> _File:
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8-sig"))
        return convert(content, _File, remedy="begin an entry with [[claim]]")
    except OSError as error:
        raise ClaimsError(f"{file}: cannot be read: {error.strerror}") from None
    except Misfit as misfit:
        raise ClaimsError(f"{file}: {misfit}") from None
    except ValueError as error:
        raise ClaimsError(f"{file}: is not TOML ({error})") from None


def _entries(file: Path, content: _File, kind: str, path: Path) -> Iterator[Claim]:
    """Each entry; a row of a list `each` has the fields that all of them share."""
    for number, section in enumerate(getattr(content, kind), start=1):
        place, rows = f"{kind} {number}", section.get("each", [{}])
        if not fits(rows, list[dict]):
            raise ClaimsError(f"{file}: {place}: each is {shown(rows)}, not a list of tables")
        shared = {name: value for name, value in section.items() if name != "each"}
        for row, own in enumerate(rows, start=1):
            where = f"{place}, row {row}" if "each" in section else place
            yield _claim(file, where, shared | own, kind, path)


def _claim(file: Path, place: str, entry: dict[str, Any], kind: str, path: Path) -> Claim:
    statement = entry.get("statement")
    try:
        if isinstance(statement, str):
            place += f" ({statement})"
            entry["statement"] = statement.format_map(entry)
        if kind != PUBLISHED:
            entry.setdefault("on", [name for name in (device(path),) if name])
        claim = convert(entry | {"kind": kind}, Claim, remedy="claims.toml describes the fields")
        fault = _fault(claim)
    except LookupError as error:
        fault = f"statement: {error} is no field"
    except ValueError as error:
        fault = str(error)
    if fault:
        raise ClaimsError(f"{file}: {place}: {fault}")
    return claim


def _fault(claim: Claim) -> str:
    """The first fault of fields that do not go together."""
    measure = f"measure {claim.measure!r}"
    needed = NEEDED.get(claim.measure, ())
    if lacking := sorted(name for name in needed if not getattr(claim, name)):
        return f"{measure} needs {' and '.join(lacking)}"
    bounds = [
        name for name in ("at_least", "at_most", "equals") if getattr(claim, name) is not UNSET
    ]
    if len(bounds) != 1:
        return f"needs one of at_least, at_most, equals, and has {' and '.join(bounds) or 'none'}"
    if claim.op not in (operators := operators_of_scans()):
        return f"op is {claim.op!r}, none of {', '.join(operators)}"
    if claim.measure in ("traffic", "speedup") and isinstance(claim.items, list):
        return f"{measure} needs one number of items"
    if claim.measure not in OF_RANKS and (claim.ranks or claim.items_per_rank):
        return (
            f"ranks and items_per_rank are for measures that begin with ranks_, not for {measure}"
        )
    if claim.ours and not claim.set_by:
        return "set_by is missing: the commit that set the bound"
    return "" if claim.ours or claim.source else "source is missing: a key of references.bib"


def operators_of_scans() -> list[str]:
    return sorted(file.stem for file in (DATA.parent / "variants" / "operators").glob("*.hpp"))
