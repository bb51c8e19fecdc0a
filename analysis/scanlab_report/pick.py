"""From tables to the cases that a figure draws: `scans` and `pick`.

Where several files timed a case, the one with the most variants answers, of equals the newest. So
what is compared was timed together wherever a file has it together, and samples of two files are
never pooled. What was measured now answers before what is recorded, for a figure as a whole.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from scanlab_report.data import Data, ranked
from scanlab_report.groups import FLOOR, PYTHON, SCANS, STREAM, Wanted
from scanlab_report.intervals import Interval, ratio_intervals, summarise
from scanlab_report.tables import CASE, CASES, MEASURED, RECORDED


class Lacking(LookupError):
    """A figure needs data that are missing: `no {what}`, timings of `variants`, by id or glob."""

    def __init__(self, what: str, variants: Sequence[str] = ()) -> None:
        super().__init__(what)
        self.variants = list(variants)


def pick(table: pd.DataFrame, **wanted: Any) -> pd.DataFrame:
    """Return the rows with these values. A set, list or tuple stands for any of its members."""
    keep = np.ones(len(table), dtype=bool)
    for column, value in wanted.items():
        several = isinstance(value, set | list | tuple)
        keep &= table[column].isin(list(value)) if several else table[column] == value
    return table[keep]


def power_of_two(items: Any) -> Any:
    return (items > 0) & (items & (items - 1) == 0)


# --------------------------------------------------------------------------- the file that answers


def answering(
    data: Data, rows: pd.DataFrame, table: str = "scan", case: list[str] | None = None
) -> pd.DataFrame:
    """The samples, or the summary, of each case in the file that answers first."""
    if rows.empty:
        return rows
    place = rows["file"].map(data.places[table])
    first = place.groupby([rows[c] for c in case or CASES[table]], dropna=False).transform("min")
    return rows[place == first]


def cases_by_file(data: Data) -> pd.DataFrame:
    """The table "cases": every case of scans in every file, made once of all samples."""
    if "cases" not in data.tables:
        data.tables["cases"] = summarise(data.tables.get("scan", data["scan"]), [*CASE, "file"])
    return data["cases"]


def by_device(
    data: Data, table: str, kinds: Collection[str] = ("cuda",)
) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Origin, device and its rows of a table: measured now before recorded, in order of devices."""
    every = cases_by_file(data) if table == "cases" else data[table]
    for origin in (MEASURED, RECORDED):
        numbers = data.numbers(lambda f: f.origin == origin and f.kind in kinds)
        for device in ranked([data.files[n] for n in numbers], data.first):
            own = [n for n in numbers if data.files[n].device == device]
            yield origin, device, pick(every, file=own)


def origin_first(data: Data, rows: pd.DataFrame, what: str) -> pd.DataFrame:
    """The rows that were measured now, else the recorded ones; Lacking if none."""
    if rows.empty:
        raise Lacking(what)
    origins = rows["file"].map(lambda number: data.files[number].origin)
    return rows[origins == min(origins)]


def newest_first(data: Data, table: str) -> list[int]:
    """The files of a table, the newest first: measured now, else recorded, of one device."""
    for _, _, rows in by_device(data, table, {file.kind for file in data.files}):
        if len(rows):
            return sorted(set(rows["file"]), key=lambda n: data.files[n].date, reverse=True)
    return []


def newest(data: Data, table: str, what: str) -> pd.DataFrame:
    """The rows of the newest file of a table; Lacking if there are none."""
    numbers = newest_first(data, table)
    if not numbers:
        raise Lacking(what)
    return pick(data[table], file=numbers[0])


# --------------------------------------------------------------------------------- cases of scans


def scans(
    data: Data,
    types: Sequence[str] = ("i32",),
    op: str = "plus",
    all_of: Sequence[str] = (),
    any_of: Sequence[Wanted] = (),
    only: Sequence[Wanted] = (),
    python: bool = False,
    launches: Sequence[str] = (STREAM,),
) -> pd.DataFrame:
    """Return the inclusive scans of one device, one row per case; Lacking if no device has all of
    `all_of` and one of `any_of`. The type is the first with a scan timed on the GPU, else with any
    timing. `only` leaves out others, and `python` admits libraries of Python. The user's type,
    operator and variants come before those of the figure.
    """
    ask = data.ask
    types, op = (ask.type,) if ask.type else types, ask.op or op
    if ask.variants:
        any_of, only, python = ask.variants, (*ask.variants, *all_of), True

    key = (tuple(types), op, tuple(all_of), tuple(any_of), tuple(only), python, tuple(launches))

    def first() -> pd.DataFrame | None:
        for _, _, rows in by_device(data, "cases"):
            every = [of_type(data, rows, t, op, only, python, launches) for t in types]
            answers = [cases for cases in every if has(data, cases, all_of, any_of)]
            on_gpu = set(data.variants.ids(SCANS))
            with_scans = [cases for cases in answers if on_gpu & set(timed(cases))]
            if answers:
                return (with_scans or answers)[0]
        return None

    cases = data.once(("scans", *key), first)
    if cases is None:
        wanted = " and ".join(filter(None, (", ".join(all_of), " or ".join(map(str, any_of)))))
        kind = f"{types[0]} " if len(types) == 1 else ""
        raise Lacking(
            f"{kind}{op} inclusive timings of {wanted or 'scans'} on a CUDA device",
            [*(v if isinstance(v, str) else "cub*" for v in any_of), *all_of],
        )
    return cases


def of_type(
    data: Data,
    rows: pd.DataFrame,
    type_name: str,
    op: str,
    only: Sequence[Wanted] = (),
    python: bool = False,
    launches: Sequence[str] = (STREAM,),
    mode: str = "inclusive",
) -> pd.DataFrame:
    """The cases of one type among those of files; an empty launch has no type and no size."""
    if only:
        rows = pick(rows, variant=data.variants.ids(*only))
    if not python:
        rows = rows[~rows["variant"].isin(data.variants.ids(PYTHON))]
    floor = rows["variant"] == FLOOR
    named = (rows["type"] == type_name) & (rows["op"] == op) & (rows["mode"] == mode)
    rows = rows.assign(items=rows["items"].where(~floor, 0))
    rows = rows[(named | floor) & rows["launch"].isin(launches)]
    return answering(data, rows).sort_values(CASE, ignore_index=True)


def has(
    data: Data, cases: pd.DataFrame, all_of: Sequence[str] = (), any_of: Sequence[Wanted] = ()
) -> bool:
    """Whether a scan or copy was timed, all of some variants, and one of others if any is named."""
    present = set(timed(cases))
    enough = not any_of or present & set(data.variants.ids(*any_of))
    return bool(present - {FLOOR} and enough) and set(all_of) <= present


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
    """Return the same cases at powers of two; at all sizes if no size is a power."""
    rows = of_variant(cases, variant, settings, **wanted)
    sizes = cases.loc[cases["variant"] != FLOOR, "items"]
    return rows[power_of_two(rows["items"])] if power_of_two(sizes).any() else rows


def floor_ns(cases: pd.DataFrame, cache: str, launch: str = STREAM) -> float:
    """The time of an empty launch: the median over all that were timed."""
    rows = pick(cases, variant=FLOOR, launch=launch)
    in_cache = pick(rows, cache=cache)
    return float((rows if in_cache.empty else in_cache)["median_ns"].median())


def net_share(copy_ns: Any, own_ns: Any, launch_ns: Any) -> Any:
    """The speed of a scan over that of a copy, both less an empty launch."""
    return (copy_ns - launch_ns) / (own_ns - launch_ns)


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
    ends = {"ratio": "value", "low": "low", "high": "high"}
    return {name: [getattr(ratio, end) for ratio in ratios] for name, end in ends.items()}
