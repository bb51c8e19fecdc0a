"""Scans against the number of items, for every type, operator and mode."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from scanlab_report.data import Data
from scanlab_report.groups import CEILING, CUBS, FLOOR
from scanlab_report.intervals import UNKNOWN, Interval, ratio_intervals, summarise
from scanlab_report.looks import look as drawn_as
from scanlab_report.page.columns import intervals, look, source_line, times
from scanlab_report.pick import answering, by_device, floor_ns, pick, power_of_two
from scanlab_report.sources import sources
from scanlab_report.tables import CASE

_TYPES = ("i32", "i8", "i16", "i64", "f16", "f32", "f64")
_SAME = ["items", "cache", "launch"]
_SEEN = 0.2
"""The floor is drawn where it is above this share of a copy's time; beyond, the copy is the bound.
"""


def views(data: Data) -> list[dict[str, Any]]:
    """One view per device, type, operator and mode, the case of the report first: its cases with
    default settings as columns. Ratios are of medians within the view: `share` against a copy of
    the same bytes, `speedup` against the fastest CUB."""
    made: dict[tuple[str, ...], dict[str, Any]] = {}
    for kind in ("cuda", "host"):
        for _, device, samples in by_device(data, "scan", (kind,)):
            samples = pick(samples, settings="", launch=("stream", "graph"))
            sizes = samples["items"].mask(samples["variant"] == FLOOR, 0)
            samples = samples.assign(items=sizes)
            cases = summarise(answering(data, samples), CASE)
            floors = pick(cases, variant=FLOOR)
            parts = dict(iter(cases.drop(floors.index).groupby(["type", "op", "mode"])))
            for case in sorted(parts, key=_place):
                about = {"device": device} | dict(zip(("type", "op", "mode"), case, strict=True))
                if (device, *case) not in made:
                    made[device, *case] = about | _view(data, parts[case], floors)
    return list(made.values())


def _place(case: tuple[str, str, str]) -> tuple[Any, ...]:
    type_, op, mode = case
    return _TYPES.index(type_), op != "plus", op, mode != "inclusive"


def _view(data: Data, cases: pd.DataFrame, floors: pd.DataFrame) -> dict[str, Any]:
    about, largest = data.variants, cases.loc[cases["items"].idxmax()]
    copies, cubs = pick(cases, variant=CEILING), pick(cases, variant=about.ids(CUBS))
    fastest = cubs.sort_values(["median_ns", "variant"]).drop_duplicates(_SAME)
    drawn = pd.concat([cases.sort_values(["variant", *_SAME]), _floor(copies, floors)])
    rivals = drawn[_SAME].merge(fastest[[*_SAME, "variant"]], how="left")["variant"]
    columns = {name: drawn[name].tolist() for name in ("variant", *_SAME, "count")}
    columns["rival"] = [None if pd.isna(rival) else rival for rival in rivals]
    columns |= times("time_ns", drawn, 1.0) | intervals("share", _over(drawn, copies))
    columns |= intervals("speedup", _over(drawn, fastest))
    known = sorted(set(cases["variant"]), key=lambda v: (about[v].origin == "baseline", v))
    bounds = {CEILING: "memcpy of the same bytes", FLOOR: "empty launch, the floor"}
    return {
        "source": source_line(sources(data, cases)[0]),
        "bytes_per_item": int(largest["bytes"] // largest["items"]),
        "bounds": {v: look(title, drawn_as(v, about)) for v, title in bounds.items()},
        "looks": {v: look(about[v].label, drawn_as(v, about)) for v in known},
        "shown": [v for v in known if about[v].overview],
        "cases": columns,
    }


def _floor(copies: pd.DataFrame, floors: pd.DataFrame) -> pd.DataFrame:
    """An empty launch as if it were a scan of each number of items that was copied, without an
    interval."""
    rows = copies[power_of_two(copies["items"])]
    times_ns = [floor_ns(floors, row.cache, row.launch) for row in rows.itertuples()]
    samples = pd.Series([np.array([time]) for time in times_ns], rows.index, dtype=object)
    none = {"count": 0, "low_ns": np.nan, "high_ns": np.nan}
    made = rows.assign(variant=FLOOR, median_ns=times_ns, samples=samples, **none)
    return made[made["median_ns"] > _SEEN * rows["median_ns"]]


def _over(cases: pd.DataFrame, others: pd.DataFrame) -> list[Interval]:
    """The speed of each case over the other with the same items, cache and launch; a case over
    itself has no interval."""
    columns = ["variant", *_SAME, "samples"]
    both = cases[columns].merge(others[columns], "left", _SAME, suffixes=("", "_other"))
    itself = both["variant"] == both["variant_other"]
    pairs = both[~itself & both["variant_other"].notna()]
    compared = ratio_intervals([*pairs["samples_other"]], [*pairs["samples"]])
    ratios = dict(zip(pairs.index, compared, strict=True))
    ratios |= dict.fromkeys(both.index[itself], replace(UNKNOWN, value=1.0))
    return [ratios.get(place, UNKNOWN) for place in both.index]
