"""The claims of Scanlab and of the literature, from ``paper/claims.toml``, which documents its fields."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from scanlab_report import CLAIMS, DATA
from scanlab_report.derive.sizes import power_of_two
from scanlab_report.schema.base import Line
from scanlab_report.schema.claims import StatedClaim
from scanlab_report.schema.fields import Misfit, convert, fits, shown
from scanlab_report.read.records import ideal_bytes
from scanlab_report.read.variants import Variants, Wanted
from scanlab_report.select.evidence import Key
from scanlab_report.select.variants import CUBS, cub_as_shipped
from scanlab_report.stats.intervals import Interval

REFERENCES = sorted((DATA.parent / "paper").glob("*/references.bib"))
OURS = "scanlab"
"""The source of Scanlab's own claims."""

MEASURES: dict[str, frozenset[str]] = {
    "speed": frozenset({"variant", "over", "cases"}), "floor": frozenset({"variant", "cases"}), "stopwatch": frozenset({"variant", "cases"}), "losses": frozenset(), "odd_sizes": frozenset({"variant"}), "spills": frozenset(),
    "speedup": frozenset({"variant", "cases"}), "traffic": frozenset({"variant", "cases"}), "order": frozenset({"device"}),
    "schedule": frozenset({"workload"}), "duplex": frozenset(), "naive": frozenset(), "tracing": frozenset(),
    "counts": frozenset(), "conflicts": frozenset(), "makespan_median": frozenset(), "makespan_worst": frozenset(), "overlap": frozenset(),
    "implicit_sync": frozenset({"experiments", "answer"}),
    **dict.fromkeys(("ranks_copies", "ranks_weak", "ranks_strong", "ranks_vendor", "ranks_bound", "ranks_time"), frozenset({"variant", "cases"})),
}  # fmt: skip
"""The measures that compute a claim, with the fields that each requires."""
OF_SCANS, OF_STREAMS = ("speed", "floor", "stopwatch", "losses", "odd_sizes", "spills"), ("schedule", "duplex", "naive", "tracing")
OF_LITERATURE_ON_SCANS = ("speedup", "speed", "traffic")
OF_COUNTS, OF_ENGINES = ("counts", "conflicts"), ("makespan_median", "makespan_worst", "overlap")
OF_MODELS = OF_COUNTS + OF_ENGINES
ON_EVERY_DEVICE = ("odd_sizes",)
"""Measures whose claims have one row per measured device."""
OF_RANKS = tuple(measure for measure in MEASURES if measure.startswith("ranks_"))

CUB = ("cub", "cub_as_shipped")
"""Names of CUB's scans in a claim: all of them, or all but those with tuned shapes."""
_BOUNDS = ("at_least", "at_most", "equals")
_DEFAULTS = {"op": "plus", "mode": "inclusive", "cache": "cold", "launch": "stream"}
_RANKS = ("ranks", "items_per_rank")
_LIMITS = {
    "least_items": lambda key, n: key.items >= n,
    "most_items": lambda key, n: key.items <= n,
    "least_mib": lambda key, n: ideal_bytes(key.type, key.op, key.items) >= 2 * n << 20,
    "powers": lambda key, wanted: not wanted or power_of_two(key.items),
}


class ClaimsError(ValueError):
    """Raised for an invalid claims file; the message names the file and the place."""


@dataclass(frozen=True)
class Claim:
    """One claim; fields as in the file."""

    statement: str
    source: str
    figure: str
    measure: str
    set_by: str = ""
    variant: str = ""
    over: str | Sequence[str] = ()
    of_published: str = ""
    device: str = ""
    on: str = ""
    workload: str = ""
    experiments: Sequence[str] = ()
    answer: str = ""
    least_gib: float = 0
    at_least: float | None = None
    at_most: float | None = None
    equals: float | None = None
    variation: float = 0.0
    cases: Mapping[str, Any] = field(default_factory=dict)

    def rivals(self, variants: Variants) -> tuple[Wanted, ...]:
        """Return the rivals; the fastest of them is the reference."""
        if self.over in CUB:
            return (CUBS,) if self.over == "cub" else tuple(cub_as_shipped(variants))
        return tuple(self.over)

    @property
    def wanted(self) -> str:
        """The bound in print."""
        sign, give, bound = next(row for row in zip("≥≤=", "−+±", self._bounds(), strict=True) if row[-1] is not None)
        if bound == 0:
            return "0"
        return f"{sign} {bound:{'g' if bound == int(bound) else '.2f'}}" + (f" {give} {100 * self.variation:g}%" if self.variation else "")

    def meets(self, value: float) -> bool:
        """Whether a value is within the bound, or misses it by no more than the variation."""
        low, high, equal = self._bounds()
        if equal is not None:
            return abs(value - equal) <= self.variation * equal
        return value >= low * (1 - self.variation) if low is not None else value <= high * (1 + self.variation)

    def digits(self, value: float, least: int) -> int:
        """Return the least number of significant digits with which the printed value meets the bound exactly if the value does."""
        return next((digits for digits in range(least, 6) if self.meets(float(f"{value:.{digits}g}")) == self.meets(value)), 6)

    def sure(self, values: Iterable[Interval]) -> bool:
        """Whether each whole interval lies within the bound; False if any value has no interval."""
        return all(value.known and self.meets(value.low) and self.meets(value.high) for value in values)

    def worst(self, values: Sequence[Any], key) -> Any:
        """Return the value farthest from the bound."""
        if self.equals is not None:
            return max(values, key=lambda value: abs(key(value) - self.equals))
        return (min if self.at_least is not None else max)(values, key=key)

    def keys(self, timings) -> list[Key]:
        """The cases that the claim speaks of, of all that were timed."""
        named = _DEFAULTS | {name: value for name, value in self.cases.items() if name not in _LIMITS}
        if "items" in named:
            named["items"] = tuple(named["items"]) if isinstance(named["items"], list) else named["items"]
        limits = [(_LIMITS[name], value) for name, value in self.cases.items() if name in _LIMITS]
        return [key for key in timings.keys(**named) if all(within(key, value) for within, value in limits)]

    def _bounds(self) -> tuple[Any, Any, Any]:
        """At least, at most, equal to: one is a number, the others are None."""
        return self.at_least, self.at_most, self.equals


@lru_cache
def device(file: Path = CLAIMS) -> str:
    """The device that the report is about; empty if the file names none. ClaimsError as of :func:`read`."""
    found = _content(file).get("device", "")
    if not fits(found, Line):
        raise ClaimsError(f"{file}: device is {shown(found)}, not a line of text")
    return found


@lru_cache
def read(file: Path = CLAIMS) -> tuple[Claim, ...]:
    """The claims of a file in order; ClaimsError names the first thing wrong with it."""
    content = _content(file)
    entries = content.get("claim")
    if not isinstance(entries, list) or not entries:
        raise ClaimsError(f"{file}: holds no [[claim]]")
    claims, known, sources, operators, on = [], _figures(), _sources(), operators_of_scans(), device(file)
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict):
            raise ClaimsError(f"{file}: claim {number}: is {shown(entry)}, not a table: begin it with [[claim]]")
        named = f" ({entry['statement']})" if isinstance(entry.get("statement"), str) else ""
        try:
            entry = msgspec.to_builtins(convert(entry, StatedClaim, remedy="data/README.md says what a claim may hold"))
        except Misfit as misfit:
            raise ClaimsError(f"{file}: claim {number}{named}: {misfit}") from None
        if wrong := _wrong(entry, known, sources, operators):
            raise ClaimsError(f"{file}: claim {number}{named}: {wrong}")
        ours = {"on": on} if entry["source"] == OURS and entry["measure"] not in ON_EVERY_DEVICE else {}
        claims.append(Claim(**{**ours, **entry}))
    return tuple(claims)


def _content(file: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ClaimsError(f"{file}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise ClaimsError(f"{file}: is not TOML ({error})") from None


def _figures() -> set[str]:
    return {path.stem for part in ("figures", "tables") for path in (Path(__file__).parents[1] / part).glob("*.py") if path.stem != "__init__"}


def _sources() -> set[str]:
    return {OURS, *re.findall(r"^@\w+{\s*([^\s,]+)", "".join(file.read_text(encoding="utf-8") for file in REFERENCES), re.MULTILINE)}


def operators_of_scans() -> list[str]:
    """Of this checkout: a claim of any other would be of no case, and never measured."""
    return sorted(file.stem for file in (DATA.parent / "variants" / "operators").glob("*.hpp"))


def _wrong(entry: Mapping[str, Any], figures: set[str], sources: set[str], operators: list[str]) -> str:
    """What is wrong with a claim whose fields hold what they may, if anything is: what they refer to, and what they need of each other."""
    if entry["figure"] not in figures:
        return f"figure: {entry['figure']!r} is no figure or table of scanlab_report/figures/ or scanlab_report/tables/"
    if entry["source"] not in sources:
        return f"source: {entry['source']!r} is neither {OURS!r} nor a key of references.bib"
    if lacking := [name for name in sorted(MEASURES[entry["measure"]]) if not entry.get(name)]:
        return f"measure {entry['measure']!r} needs {' and '.join(lacking)}"
    bounds = [name for name in _BOUNDS if name in entry]
    if len(bounds) != 1:
        return f"needs one of {', '.join(_BOUNDS)}, and has {' and '.join(bounds) or 'none'}"
    cases = entry.get("cases", {})
    if cases.get("op", "plus") not in operators:
        return f"cases: op is {cases['op']!r}, none of {', '.join(operators)}"
    if entry["measure"] in ("traffic", "speedup") and not isinstance(cases.get("items", 0 if entry["measure"] == "speedup" else None), int):
        return f"measure {entry['measure']!r} needs cases of one number of items"
    if entry["measure"] in OF_RANKS and not {"type", "ranks"} <= set(cases):
        return f"measure {entry['measure']!r} needs cases of a type and of one number of ranks"
    if entry["measure"] not in OF_RANKS and (of_ranks := [name for name in _RANKS if name in cases]):
        return f"cases: {' and '.join(of_ranks)}: of several GPUs, which measure {entry['measure']!r} knows nothing of; those that begin with ranks_ do"
    if entry["source"] == OURS and not entry.get("set_by"):
        return "set_by is missing: a target of the report names the commit that set it"
    return ""
