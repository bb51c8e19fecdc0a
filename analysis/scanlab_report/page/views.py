"""The views of the page: tables as a list per column, with numbers to five digits."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd

from scanlab_report.chapters import schedules
from scanlab_report.data import Data
from scanlab_report.groups import CEILING, CUBS, FLOOR
from scanlab_report.intervals import UNKNOWN, Interval
from scanlab_report.looks import look
from scanlab_report.pick import Lacking, answering, by_device, floor_ns, net_share, pick
from scanlab_report.sources import Source, sources
from scanlab_report.style import Look
from scanlab_report.versus import ratios

_TYPES = ("i32", "i8", "i16", "i64", "f16", "f32", "f64")
_SAME = ["items", "cache", "launch"]


def source_line(source: Source) -> str:
    """Device, date, commit, origin and repetitions."""
    return "; ".join(filter(None, (source.line(), source.repeated)))


def numbers(values: Iterable[float]) -> list[float | int | None]:
    """Numbers to five significant digits; None for those that are not known."""
    short = (float(f"{value:.5g}") for value in map(float, values))
    return [None if not np.isfinite(v) else int(v) if v.is_integer() else v for v in short]


def _times(name: str, cases: pd.DataFrame, unit: float) -> dict[str, list[Any]]:
    """Medians with their intervals as three columns; `unit` in nanoseconds."""
    ends = {name: "median_ns", f"{name}_low": "low_ns", f"{name}_high": "high_ns"}
    return {column: numbers(cases[ns] / unit) for column, ns in ends.items()}


def _intervals(name: str, values: Sequence[Interval]) -> dict[str, list[Any]]:
    """Values with their intervals as three columns."""
    ends = {name: "value", f"{name}_low": "low", f"{name}_high": "high"}
    return {column: numbers(getattr(v, end) for v in values) for column, end in ends.items()}


def _titled(title: str, drawn_as: Look) -> dict[str, Any]:
    """Return the look of a series on the page; markers and lines have the names of matplotlib."""
    return {"title": title} | asdict(drawn_as)


def of_scans(data: Data) -> list[dict[str, Any]]:
    """One view per device, type, operator and mode, the case of the report first: its cases with
    default settings as columns. Ratios are of medians within the view: `share` against a copy of
    the same bytes, `net` that of both less an empty launch, `speedup` against the fastest CUB."""
    made: dict[tuple[str, ...], dict[str, Any]] = {}
    place = lambda case: (_TYPES.index(case[0]), case[1] != "plus", case[1], case[2] != "inclusive")
    for kind in ("cuda", "host"):
        for _, device, cases in by_device(data, "cases", (kind,)):
            cases = pick(cases, settings="", launch=("stream", "graph"))
            ways = sorted(set(zip(cases["cache"], cases["launch"], strict=True)))
            empty = {way: floor_ns(cases, *way) for way in ways}
            cases = answering(data, cases[cases["variant"] != FLOOR])
            parts = dict(iter(cases.groupby(["type", "op", "mode"])))
            for case in sorted(parts, key=place):
                about = {"device": device} | dict(zip(("type", "op", "mode"), case, strict=True))
                if (device, *case) not in made:
                    made[device, *case] = about | _scans(data, parts[case], empty)
    return list(made.values())


def _scans(data: Data, cases: pd.DataFrame, empty: dict[Any, float]) -> dict[str, Any]:
    about, largest = data.variants, cases.loc[cases["items"].idxmax()]
    copies, cubs = pick(cases, variant=CEILING), pick(cases, variant=about.ids(CUBS))
    fastest = cubs.sort_values(["median_ns", "variant"]).drop_duplicates(_SAME)
    drawn = cases.sort_values(["variant", *_SAME])
    columns = {name: drawn[name].tolist() for name in ("variant", *_SAME, "count")}
    columns |= _times("time_ns", drawn, 1.0) | _intervals("share", _over(drawn, copies))
    launch = [empty[way] for way in zip(drawn["cache"], drawn["launch"], strict=True)]
    copied = drawn[_SAME].merge(copies[[*_SAME, "median_ns"]], "left", _SAME)["median_ns"]
    net = net_share(copied.to_numpy(), drawn["median_ns"], np.array(launch))
    columns |= _intervals("net", [replace(UNKNOWN, value=value) for value in net])
    columns |= _intervals("speedup", _over(drawn, fastest))
    known = sorted(set(cases["variant"]), key=lambda v: (about[v].origin == "baseline", v))
    return {
        "source": source_line(sources(data, cases)[0]),
        "bytes_per_item": int(largest["bytes"] // largest["items"]),
        "bounds": {CEILING: _titled("memcpy of the same bytes", look(CEILING, about))},
        "looks": {v: _titled(about[v].label, look(v, about)) for v in known},
        "shown": [v for v in known if about[v].overview],
        "cases": columns,
    }


def _over(cases: pd.DataFrame, others: pd.DataFrame) -> list[Interval]:
    """The speed of each case over the other with the same items, cache and launch; a case over
    itself has no interval."""
    columns = ["variant", *_SAME, "samples"]
    both = cases[columns].merge(others[columns], "left", _SAME, suffixes=("", "_other"))
    itself = both["variant"] == both["variant_other"]
    pairs = both[~itself & both["variant_other"].notna()]
    compared = dict(ratios(pairs["samples_other"], pairs["samples"]))
    compared |= dict.fromkeys(both.index[itself], replace(UNKNOWN, value=1.0))
    return [compared.get(place, UNKNOWN) for place in both.index]


def of_schedules(data: Data) -> list[dict[str, Any]]:
    """One view per device and problem: its cases as columns, `speedup` over the serial schedule at
    its fastest, and the milliseconds of each bound."""
    made = []
    for device in data.devices:
        own = data.on(device)
        try:
            cases = schedules.schedules_of(own)
        except Lacking:
            continue
        source = source_line(sources(own, cases)[0])
        for problem in schedules.problems(cases)[schedules.PROBLEM].to_dict("records"):
            view = _schedules(pick(cases, **problem))
            made.append(problem | {"device": device, "source": source} | view)
    return made


def _schedules(cases: pd.DataFrame) -> dict[str, Any]:
    # The page draws the bounds of the first case with so many chunks: without side kernels.
    order = ["side_kernels", "id", "memory", "streams", "chunks", "buffers"]
    cases = cases.sort_values(order).reset_index(drop=True)
    names = ("id", "chunks", "streams", "memory", "buffers", "count")
    gains = schedules.speedups(cases)["speedup"].to_dict()
    side = f"{schedules.SIDE}; their own bounds include it, the lines do not.".replace("`", "")
    places = sorted(set(zip(cases["id"], cases["place"], strict=True)))
    return {
        "title": schedules.ratio_title(cases),
        "serial": schedules.SERIAL,
        "side": side if cases["side_kernels"].any() else "",
        "looks": {id_: _titled(id_, schedules.schedule_look(place)) for id_, place in places},
        "bounds": {
            name: _titled(name, schedules.BOUND_LOOKS[name]) | {"ms": numbers(1e3 * cases[column])}
            for name, column in schedules.BOUNDS.items()
        },
        "cases": {name: cases[name].tolist() for name in names}
        | _times("time_ms", cases, 1e6)
        | _intervals("speedup", [gains.get(place, UNKNOWN) for place in cases.index]),
    }
