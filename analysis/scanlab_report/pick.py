"""From tables to the cases that a figure draws: `scans` and `pick`.

Where several files timed a case, the one with the most variants answers, of equals the newest. So
what is compared was timed together wherever a file has it together, and samples of two files are
never pooled. What was measured now answers before what is recorded, for a figure as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from scanlab_report.data import Data, ranked
from scanlab_report.groups import ANY_TYPE, CUBS, FLOOR, PYTHON, SCANS, STREAM, Wanted
from scanlab_report.intervals import Interval, ratio_intervals, summarise
from scanlab_report.tables import CASE, CASES, ELEMENT_BYTES, MEASURED, RECORDED


class Lacking(LookupError):
    """A figure needs data that are missing. `no {what}` is the reason. `variants` are those whose
    timings are missing, by id or glob."""

    def __init__(self, what: str, variants: Sequence[str] = ()) -> None:
        super().__init__(what)
        self.variants = list(variants)


# ------------------------------------------------------------------------------------- picking


def pick(table: pd.DataFrame, **wanted: Any) -> pd.DataFrame:
    """Return the rows with these values. A set, list or tuple stands for any of its members."""
    for column, value in wanted.items():
        several = isinstance(value, set | list | tuple)
        table = table[table[column].isin(list(value)) if several else table[column] == value]
    return table


def power_of_two(items: Any) -> Any:
    return (items > 0) & (items & (items - 1) == 0)


def answering(
    data: Data, rows: pd.DataFrame, table: str = "scan", case: list[str] | None = None
) -> pd.DataFrame:
    """The samples of each case in the file that answers first."""
    if rows.empty:
        return rows
    place = rows["file"].map(data.places[table])
    first = place.groupby([rows[c] for c in case or CASES[table]], dropna=False).transform("min")
    return rows[place == first]


def by_device(
    data: Data, table: str, kinds: Sequence[str] = ("cuda",)
) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Origin, device and its rows of a table: measured now before recorded, in order of devices."""
    for origin in (MEASURED, RECORDED):
        files = [
            data.files[n] for n in data.numbers(lambda f: f.origin == origin and f.kind in kinds)
        ]
        for device in ranked(files, data.first):
            names = {id(file) for file in files if file.device == device}
            yield origin, device, data.rows(table, lambda file: id(file) in names)


def origin_first(data: Data, rows: pd.DataFrame, what: str) -> pd.DataFrame:
    """The rows that were measured now, else the recorded ones; Lacking if none."""
    if rows.empty:
        raise Lacking(what)
    origins = rows["file"].map(lambda number: data.files[number].origin)
    return rows[origins == min(origins)]


def newest_first(data: Data, table: str) -> list[int]:
    """The files of a table, the newest first: measured now, else recorded, of one device."""
    timed = set(data[table]["file"])
    for origin in (MEASURED, RECORDED):
        numbers = [n for n in data.numbers(lambda f: f.origin == origin) if n in timed]
        if numbers:
            device = ranked([data.files[n] for n in numbers], data.first)[0]
            numbers = [n for n in numbers if data.files[n].device == device]
            return sorted(numbers, key=lambda n: data.files[n].date, reverse=True)
    return []


def newest(data: Data, table: str, what: str) -> pd.DataFrame:
    """The rows of the newest file of a table; Lacking if there are none."""
    numbers = newest_first(data, table)
    rows = pick(data[table], file=numbers[0]) if numbers else data[table][:0]
    if rows.empty:
        raise Lacking(what)
    return rows


def scans(data: Data, **wanted: Any) -> pd.DataFrame:
    """Return the cases of one device and type, by the fields of `Query`: the first of `types` with
    a scan timed on the GPU, else the first with any timing. One row per case, as `summarise` makes
    them. Lacking if no device has such cases."""
    fields: dict[str, Any] = {
        name: tuple(v) if isinstance(v, list) else v for name, v in wanted.items()
    }
    return Query(**fields).asked(data).cases(data)


@dataclass(frozen=True)
class Query:
    """Which cases a figure shows."""

    types: tuple[str, ...] = ("i32",)
    op: str = "plus"
    mode: str = "inclusive"
    all_of: tuple[str, ...] = ()
    """Variants that must be there."""
    any_of: tuple[Wanted, ...] = ()
    """Variants of which one must be there."""
    only: tuple[Wanted, ...] = ()
    """Leaves out all others."""
    python: bool = False
    """Admits libraries of Python, timed in a run of their own."""
    kinds: tuple[str, ...] = ("cuda",)
    launches: tuple[str, ...] = (STREAM,)
    references: tuple[Wanted, ...] = ()
    """Variants that are shown whichever variants the user asks for."""
    cache: str = ""
    """The only state that a figure shows."""

    def asked(self, data: Data) -> Query:
        """Return the same query, narrowed to what the user asks for."""
        ask = data.ask
        query = replace(
            self,
            types=(ask.type,) if ask.type else self.types,
            op=ask.op or self.op,
            cache=self.cache if ask.variants else "",
        )
        if ask.variants:
            only = (*ask.variants, *self.all_of, *self.references)
            query = replace(query, any_of=ask.variants, only=only, python=True)
        return query

    def cases(self, data: Data) -> pd.DataFrame:
        cases = data.once(self, lambda: next(self.each(data), None))
        if cases is None:
            raise Lacking(self.words(), [*map(_glob, (*self.any_of, *self.all_of))])
        return cases

    def each(self, data: Data) -> Iterator[pd.DataFrame]:
        """The cases of each device in order; a device may come twice, measured and recorded."""
        for _, _, rows in by_device(data, "scan", self.kinds):
            answers = [
                cases
                for type_name in self.types
                if self.answered(data, cases := self.of_type(data, rows, type_name))
            ]
            on_gpu = set(data.variants.ids(SCANS))
            with_scans = [cases for cases in answers if not on_gpu.isdisjoint(timed(cases))]
            if answers:
                yield (with_scans or answers)[0]

    def of_type(self, data: Data, rows: pd.DataFrame, type_name: str) -> pd.DataFrame:
        """The cases of one type; an empty launch has no type and no size."""
        ids = data.variants.ids
        if self.only:
            rows = rows[rows["variant"].isin(ids(*self.only))]
        if not self.python:
            rows = rows[~rows["variant"].isin(ids(PYTHON))]
        floor = rows["variant"] == FLOOR
        named = (rows["type"] == type_name) & (rows["op"] == self.op) & (rows["mode"] == self.mode)
        rows = rows[(named | floor) & rows["launch"].isin(self.launches)]
        if self.cache:
            rows = rows[rows["cache"] == self.cache]
        floor = rows["variant"] == FLOOR
        rows = rows.assign(items=rows["items"].where(~floor, 0))
        return summarise(answering(data, rows), CASE)

    def answered(self, data: Data, cases: pd.DataFrame) -> bool:
        """Whether all required variants are there."""
        present = set(timed(cases))
        enough = not self.any_of or bool(present & set(data.variants.ids(*self.any_of)))
        return bool(present - {FLOOR}) and set(self.all_of) <= present and enough

    def words(self) -> str:
        wanted = " and ".join(
            filter(None, (", ".join(self.all_of), " or ".join(map(str, self.any_of))))
        )
        kind = "" if set(self.types) == set(ANY_TYPE) else " or ".join(self.types) + " "
        device = "a CUDA device" if self.kinds == ("cuda",) else "any device"
        suffix = f" of {wanted}" if wanted else ""
        return f"{kind}{self.op} {self.mode} timings{suffix} on {device}"


def _glob(wanted: Wanted) -> str:
    return wanted if isinstance(wanted, str) else "cub*" if wanted is CUBS else ""


def timed(cases: pd.DataFrame) -> list[str]:
    """Every variant that was timed with default settings, by id."""
    return sorted(set(cases.loc[cases["settings"] == "", "variant"]))


def caches(cases: pd.DataFrame) -> list[str]:
    """The cache states that were timed, `cold` before `warm`."""
    present = set(cases.loc[cases["variant"] != FLOOR, "cache"])
    return [cache for cache in ("cold", "warm") if cache in present]


def of_variant(
    cases: pd.DataFrame, variant: str, settings: str = "", **wanted: Any
) -> pd.DataFrame:
    """The cases of one variant by size, with default settings unless others are given."""
    return pick(cases, variant=variant, settings=settings, **wanted).sort_values("items")


def line(cases: pd.DataFrame, variant: str, settings: str = "", **wanted: Any) -> pd.DataFrame:
    """Return the same cases at powers of two, where lines are smooth; at all sizes if no size is a
    power."""
    rows = of_variant(cases, variant, settings, **wanted)
    sizes = cases.loc[cases["variant"] != FLOOR, "items"]
    return rows[power_of_two(rows["items"])] if power_of_two(sizes).any() else rows


def floor_ns(cases: pd.DataFrame, cache: str, launch: str = STREAM) -> float:
    """The time of an empty launch: the median over all that were timed."""
    rows = pick(cases, variant=FLOOR, launch=launch)
    in_cache = pick(rows, cache=cache)
    return float((rows if in_cache.empty else in_cache)["median_ns"].median())


def fastest_cub(
    data: Data, cases: pd.DataFrame, items: int, cache: str, launch: str = STREAM
) -> str | None:
    """The fastest of CUB's scans in one case; None if none was timed."""
    rows = pick(
        cases, variant=data.variants.ids(CUBS), settings="", items=items, cache=cache, launch=launch
    )
    return None if rows.empty else str(rows.loc[rows["median_ns"].idxmin(), "variant"])


def shares(
    cases: pd.DataFrame, variant: str, other: str, cache: str, settings: str = ""
) -> pd.DataFrame:
    """Return `items`, `ratio`, `low`, `high`: the time of `other` over the time of `variant` at
    each common power of two. `settings` are those of `variant`; `other` has its defaults."""
    ours = line(cases, variant, settings, cache=cache)
    both = ours.merge(line(cases, other, cache=cache), on="items", suffixes=("", "_other"))
    ratios = ratio_intervals(list(both["samples_other"]), list(both["samples"]))
    return pd.DataFrame({"items": both["items"]} | parts(ratios))


def parts(ratios: Sequence[Interval]) -> dict[str, list[float]]:
    """Intervals as the columns `ratio`, `low` and `high`."""
    return {
        "ratio": [r.value for r in ratios],
        "low": [r.low for r in ratios],
        "high": [r.high for r in ratios],
    }


def scan_of(cases: pd.DataFrame) -> tuple[str, str]:
    """The type and operator of the scans."""
    scanned = cases[cases["variant"] != FLOOR].iloc[0]
    return str(scanned["type"]), str(scanned["op"])


def items_words(type_name: str) -> str:
    """`32-bit integers`."""
    kind = "floats" if type_name.startswith("f") else "integers"
    return f"{8 * ELEMENT_BYTES[type_name]}-bit {kind}"


def scan_words(op: str) -> str:
    return "sum" if op == "plus" else f"scan by {op}"
