"""From tables to the cases that a figure draws: `scans`, `pick`, `against`, `sources`.

Where several files timed a case, the one with the most variants answers, of equals the newest. So
what is compared was timed together wherever a file has it together, and samples of two files are
never pooled. What was measured now answers before what is recorded, for a figure as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from scanlab_report.data import (
    CASE,
    CASES,
    ELEMENT_BYTES,
    MEASURED,
    RECORDED,
    Data,
    File,
    Group,
    ranked,
)
from scanlab_report.intervals import Interval, ratio_intervals, summarise

# --------------------------------------------------------------------------------- the variants

CEILING = "memcpy"
BULK_CEILING, VECTOR_CEILING, MEETING_CEILING = "copy_bulk", "copy_vector", "copy_one_wave"
"""Copies by their access path; the blocks of the last meet in between, as those of one_wave do."""
FLOOR = "empty_launch"
VENDOR, NEWEST_VENDOR, TUNED = "cub_device_scan", "cub_newest", "cub_tuned"
"""CUB of the toolkit; the newest; the newest in shapes tuned on the device."""
TORCH, JAX = "torch_cumsum", "jax_cumsum"
BEST, HEADER = "best", "device_scan"
LARGEST = 1 << 28
"""The largest size at which scans are set side by side: only the fastest are timed beyond."""

COPIES = Group("a copy", lambda about: about.kind == "copy")
CEILINGS = Group("a copy", lambda about: about.kind in ("copy", "barrier_copy"))
CUBS = Group("CUB", lambda about: about.family == "CUB")
OVERVIEW_CUBS = Group("CUB", lambda about: CUBS.has(about) and about.overview)
THRUST = Group("Thrust", lambda about: about.family == "Thrust")
PYTHON = Group("a library of Python", lambda about: about.family == "Python")
HOST = Group("the CPU", lambda about: about.on_host)
SCANS = Group("a scan on the GPU", lambda about: about.kind == "scan" and not about.on_host)
RIVALS = Group("a rival", lambda about: SCANS.has(about) and about.origin == "baseline")
OWN = Group("a scan of ours", lambda about: about.origin == "variant")
IN_BULK = Group("a scan by bulk copies", lambda about: "piece" in about.defaults)
SHAPES = Group("CUB in a given shape", lambda about: CUBS.has(about) and bool(about.parameters))
VENDOR_CODE = (CEILING, CUBS, THRUST)
"""Code that a commit of Scanlab does not change, only one of CUDA or CCCL."""
Wanted = str | Group

KEY = ["type", "op", "mode", "items", "cache", "launch"]
"""What scans that are compared have in common."""
ANY_TYPE = ("i32", "f32", "i64", "f64", "i16", "f16", "i8")
"""Types of figures that can show any type, 32-bit integers first."""
TYPES = ("i8", "i16", "i32", "i64", "f16", "f32", "f64")
STREAM = "stream"
WIN, TIE, LOSS, OPEN = "win", "tie", "loss", "open"


def cub_as_shipped(data: Data) -> list[str]:
    """CUB's scans in the shapes that NVIDIA chose."""
    return [id_ for id_ in data.variants.ids(CUBS) if id_ != TUNED]


def ideal_bytes(type_name: str, items: Any) -> Any:
    """Bytes that a scan of n elements of a type must move: one read and one write of each."""
    return 2 * items * ELEMENT_BYTES[type_name]


class Lacking(LookupError):
    """Data that a figure needs and that are not there: `no {what}` is the reason. `variants` are
    those whose timings are missing, by id or glob."""

    def __init__(self, what: str, variants: Sequence[str] = ()) -> None:
        super().__init__(what)
        self.variants = list(variants)


# ------------------------------------------------------------------------------------- picking


def pick(table: pd.DataFrame, **wanted: Any) -> pd.DataFrame:
    """The rows with these values; of a set, list or tuple any of its members."""
    for column, value in wanted.items():
        several = isinstance(value, set | list | tuple)
        table = table[table[column].isin(list(value)) if several else table[column] == value]
    return table


def power_of_two(items: Any) -> Any:
    return (items > 0) & (items & (items - 1) == 0)


def answering(data: Data, rows: pd.DataFrame, table: str = "scan",
              case: list[str] | None = None) -> pd.DataFrame:  # fmt: skip
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
        files = [data.files[n] for n in data.numbers(lambda f: f.origin == origin and f.kind in kinds)]  # noqa: B023
        for device in ranked(files, data.first):
            names = {id(file) for file in files if file.device == device}
            yield origin, device, data.rows(table, lambda file: id(file) in names)  # noqa: B023


def newest_first(data: Data, table: str) -> list[int]:
    """The files of a table, the newest first: measured now, else recorded, of one device."""
    timed = set(data[table]["file"])
    for origin in (MEASURED, RECORDED):
        numbers = [n for n in data.numbers(lambda f: f.origin == origin) if n in timed]  # noqa: B023
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


def scans(
    data: Data, *, types: Sequence[str] = ("i32",), op: str = "plus", mode: str = "inclusive",
    all_of: Sequence[str] = (), any_of: Sequence[Wanted] = (), only: Sequence[Wanted] = (),
    python: bool = False, kinds: Sequence[str] = ("cuda",), launches: Sequence[str] = (STREAM,),
    beside: Sequence[Wanted] = (), cache: str = "",
) -> pd.DataFrame:  # fmt: skip
    """The cases of one device and type: the first of `types` with a scan timed on the GPU, else the
    first with any timing. One row per case, as `summarise` makes them.

    all_of, any_of: variants that must be there. only: leaves out all others. beside: references,
    shown whichever variants the user asks for. python: admits libraries of Python, timed in a run
    of their own. cache: the only state that a figure shows. Lacking if no device has such.
    """
    wanted = Query(tuple(types), op, mode, tuple(all_of), tuple(any_of), tuple(only), python,
                   tuple(kinds), tuple(launches), tuple(beside), cache)  # fmt: skip
    return wanted.asked(data).cases(data)


@dataclass(frozen=True)
class Query:
    """The arguments of `scans`."""

    types: tuple[str, ...] = ("i32",)
    op: str = "plus"
    mode: str = "inclusive"
    all_of: tuple[str, ...] = ()
    any_of: tuple[Wanted, ...] = ()
    only: tuple[Wanted, ...] = ()
    python: bool = False
    kinds: tuple[str, ...] = ("cuda",)
    launches: tuple[str, ...] = (STREAM,)
    beside: tuple[Wanted, ...] = ()
    cache: str = ""

    def asked(self, data: Data) -> Query:
        """The same, narrowed to what the user asks for."""
        ask = data.ask
        query = replace(self, types=(ask.type,) if ask.type else self.types, op=ask.op or self.op,
                        cache=self.cache if ask.variants else "")  # fmt: skip
        if ask.variants:
            only = (*ask.variants, *self.all_of, *self.beside)
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
            answers = [cases for type_name in self.types
                       if self.answered(data, cases := self.of_type(data, rows, type_name))]  # fmt: skip
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
        wanted = " and ".join(filter(None, (", ".join(self.all_of),
                                            " or ".join(map(str, self.any_of)))))  # fmt: skip
        kind = "" if set(self.types) == set(ANY_TYPE) else " or ".join(self.types) + " "
        device = "a CUDA device" if self.kinds == ("cuda",) else "any device"
        of = f" of {wanted}" if wanted else ""
        return f"{kind}{self.op} {self.mode} timings{of} on {device}"


def _glob(wanted: Wanted) -> str:
    return wanted if isinstance(wanted, str) else "cub*" if wanted is CUBS else ""


def timed(cases: pd.DataFrame) -> list[str]:
    """Every variant that was timed with default settings, by id."""
    return sorted(set(cases.loc[cases["settings"] == "", "variant"]))


def caches(cases: pd.DataFrame) -> list[str]:
    """The cache states that were timed, `cold` before `warm`."""
    present = set(cases.loc[cases["variant"] != FLOOR, "cache"])
    return [cache for cache in ("cold", "warm") if cache in present]


def of_variant(cases: pd.DataFrame, variant: str, settings: str = "", **wanted: Any) -> pd.DataFrame:
    """The cases of one variant by size, with default settings unless others are given."""
    return pick(cases, variant=variant, settings=settings, **wanted).sort_values("items")


def line(cases: pd.DataFrame, variant: str, settings: str = "", **wanted: Any) -> pd.DataFrame:
    """The same at powers of two, where lines are smooth; at all sizes if none is a power."""
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
    rows = pick(cases, variant=data.variants.ids(CUBS), settings="", items=items, cache=cache,
                launch=launch)  # fmt: skip
    return None if rows.empty else str(rows.loc[rows["median_ns"].idxmin(), "variant"])


def shares(
    cases: pd.DataFrame, variant: str, other: str, cache: str, settings: str = ""
) -> pd.DataFrame:
    """`items`, `ratio`, `low`, `high`: time of `other` over time of `variant` at each common power
    of two. `settings` are those of `variant`; `other` has its defaults."""
    ours = line(cases, variant, settings, cache=cache)
    both = ours.merge(line(cases, other, cache=cache), on="items", suffixes=("", "_other"))
    ratios = ratio_intervals(list(both["samples_other"]), list(both["samples"]))
    return pd.DataFrame({"items": both["items"]} | parts(ratios))


def parts(ratios: Sequence[Interval]) -> dict[str, list[float]]:
    """Intervals as the columns `ratio`, `low` and `high`."""
    return {"ratio": [r.value for r in ratios], "low": [r.low for r in ratios],
            "high": [r.high for r in ratios]}  # fmt: skip


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


# -------------------------------------------------------------------------------- head to head


def contests(data: Data, variant: str = BEST, python: bool = False,
             types: Sequence[str] = ()) -> pd.DataFrame:  # fmt: skip
    """All cases of one device by file, in the files that timed `variant`: columns as `summarise`
    makes them, and `place` of the file. Comparisons stay within a file. Lacking if none did."""

    def make() -> pd.DataFrame | None:
        for _, _, rows in by_device(data, "scan"):
            rows = rows[(rows["settings"] == "") & (rows["type"].isin(types) | (not types))]
            files = set(rows.loc[rows["variant"] == variant, "file"])
            if files:
                if python:
                    libraries = data.variants.ids(PYTHON)
                    files |= set(rows.loc[rows["variant"].isin(libraries), "file"])
                cases = summarise(rows[rows["file"].isin(files)], ["file", "variant", *KEY])
                place = cases["file"].map(data.places["scan"])
                return cases.assign(place=place).sort_values("place", kind="stable",
                                                             ignore_index=True)  # fmt: skip
        return None

    cases = data.once(("contests", variant, python, tuple(types)), make)
    if cases is None:
        raise Lacking(f"timings of {variant} on a CUDA device", [variant, CEILING])
    return cases


def pairs(cases: pd.DataFrame, variant: str, rivals: Sequence[str],
          first: pd.Series | None = None) -> pd.DataFrame:  # fmt: skip
    """One row per case of `variant` with the fastest of `rivals` in the same file, the first file
    that has both: `rival`, `samples_rival`, `median_ns_rival`. `first`: by KEY, the file that is
    preferred."""
    theirs = cases[cases["variant"].isin(list(rivals))]
    rank = {id_: place for place, id_ in enumerate(rivals)}
    theirs = theirs.assign(rank=theirs["variant"].map(rank))
    theirs = theirs.sort_values(["median_ns", "rank"]).drop_duplicates(["file", *KEY])
    columns = ["file", *KEY, "variant", "samples", "median_ns"]
    both = pick(cases, variant=variant).merge(theirs[columns], on=["file", *KEY],
                                              suffixes=("", "_rival"))  # fmt: skip
    both = both.rename(columns={"variant_rival": "rival"})
    if first is not None and len(both):
        preferred = pd.MultiIndex.from_frame(both[KEY]).map(first.to_dict().get)
        both = both.assign(other=both["file"].to_numpy() != np.asarray(preferred))
        both = both.sort_values(["other", "place"], kind="stable").drop(columns="other")
    else:
        both = both.sort_values("place", kind="stable")
    both = both.drop_duplicates(KEY)
    return both.sort_values(["items", *KEY], kind="stable", ignore_index=True)


def against(cases: pd.DataFrame, variant: str, rivals: Sequence[str]) -> pd.DataFrame:
    """`pairs`, with the time of the rival over that of `variant`: `interval`, its `ratio`, `low`
    and `high`, and the `outcome`."""
    both = pairs(cases, variant, rivals)
    ratios = ratio_intervals(list(both["samples_rival"]), list(both["samples"]))
    return both.assign(**parts(ratios), outcome=[outcome(ratio) for ratio in ratios],
                       interval=pd.Series(ratios, dtype=object))  # fmt: skip


def versus_cub(data: Data, variant: str = BEST, types: Sequence[str] = ()) -> pd.DataFrame:
    """Every case of a variant against the fastest CUB; Lacking if none has CUB beside it."""

    def make() -> pd.DataFrame:
        cases = contests(data, variant, types=types)
        return against(cases, variant, data.variants.ids(CUBS))

    both = data.once(("versus", variant, tuple(types)), make)
    if both.empty:
        raise Lacking(f"timings of {variant} beside CUB on a CUDA device",
                      [variant, "cub*", CEILING])  # fmt: skip
    return both


def outcome(ratio: Interval) -> str:
    """The outcome of their time over ours: a tie if its interval contains 1, open if it has none."""
    if not ratio.known:
        return OPEN
    return WIN if ratio.low > 1 else LOSS if ratio.high < 1 else TIE


def decided(comparisons: pd.DataFrame) -> pd.DataFrame:
    """The comparisons with enough samples for an interval."""
    return comparisons[comparisons["outcome"] != OPEN]


# ---------------------------------------------------------------------------------- provenance

SIMULATED, COUNTED = "simulated", "counted now"


@dataclass(frozen=True)
class Source:
    """Where numbers come from."""

    device: str
    origin: str
    dates: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    dirty: bool = False
    samples: tuple[int, int] | None = None
    computed_by: str = ""
    """The program that made numbers of the measurements, with its own commit."""
    versions: tuple[str, ...] = ()
    """The vendor's code that ran: driver, toolkit, libraries."""
    of_checkout: bool = False
    """Without date and commit: any build of the checkout makes the same."""

    @property
    def date(self) -> str:
        """One day, or the first and the last."""
        if not self.dates:
            return "date unknown"
        first, last = self.dates[0], self.dates[-1]
        return first if len(self.dates) == 1 else f"{first} to {last}"

    @property
    def revision(self) -> str:
        """Abbreviated commits; `+` marks a tree with uncommitted changes."""
        return ", ".join(c[:9] + "+" * self.dirty for c in self.commits) or "unknown"

    @property
    def repeated(self) -> str:
        """The number of samples behind each median, in words."""
        if self.samples is None:
            return ""
        low, high = self.samples
        number = f"{low}" if low == high else f"{low} to {high}"
        return f"median of {number} repetition{'' if high == 1 else 's'}"

    def on_page(self) -> Source:
        """For a page of the repository."""
        return replace(self, of_checkout=self.origin in (SIMULATED, COUNTED))

    def line(self) -> str:
        """One line for a footer."""
        if self.of_checkout:
            return f"{self.device} of this checkout, {self.origin}"
        line = (self.device, self.date, f"commit {self.revision}", self.computed_by, self.origin)
        return ", ".join(part for part in line if part)


_VERSIONS = {"toolkit": "CUDA {}", "driver": "driver {}", "cccl": "CCCL {} in the toolkit",
             "cccl_newest": "CCCL {} as the newest", "torch": "PyTorch {}",
             "cupy": "CuPy {}"}  # fmt: skip
"""Fields of a context that hold a version, and how each is stated."""


def source_of(files: Iterable[File], samples: tuple[int, int] | None = None,
              **changes: Any) -> Source:  # fmt: skip
    """The source of numbers from some files of one origin."""
    used = list(files)
    versions = []
    for name, form in _VERSIONS.items():
        if stated := sorted({str(f.context[name]) for f in used if f.context.get(name)}):
            versions.append(form.format(" and ".join(stated)))
    fields: dict[str, Any] = {
        "device": ", ".join(sorted({file.device for file in used})), "origin": used[0].origin,
        "dates": tuple(sorted({file.date[:10] for file in used if file.date})),
        "commits": tuple(sorted({file.commit for file in used if file.commit})),
        "dirty": any(file.dirty for file in used), "samples": samples, "versions": tuple(versions),
    }  # fmt: skip
    return Source(**fields | changes)


def sources(data: Data, *drawn: pd.DataFrame) -> list[Source]:
    """The source of each table of cases that a figure draws. A table has `file`, and `count` if its
    numbers are medians; emulator counts are known by their `content`."""
    lines: dict[str, Source] = {}
    for rows in drawn:
        if rows.empty:
            continue
        files = [data.files[number] for number in sorted(set(rows["file"]))]
        changes: dict[str, Any] = {}
        if "content" in rows:
            counted = COUNTED if files[0].origin == MEASURED else files[0].origin
            changes = {"device": "SIMT emulator", "origin": counted}
        samples = None
        if "count" in rows:
            samples = (int(rows["count"].min()), int(rows["count"].max()))
        source = source_of(files, samples, **changes)
        lines.setdefault(source.line(), source)
    return list(lines.values())
