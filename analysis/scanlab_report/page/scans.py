"""Scans against the number of items, for every type, operator and mode."""

from dataclasses import replace
from typing import Any

import pandas as pd

from scanlab_report.data import Data
from scanlab_report.groups import CEILING, CUBS, FLOOR
from scanlab_report.intervals import UNKNOWN, Interval, ratio_intervals, summarise
from scanlab_report.looks import look as drawn_as
from scanlab_report.page.columns import intervals, look, source_line, times
from scanlab_report.pick import answering, by_device, pick
from scanlab_report.sources import sources
from scanlab_report.tables import CASE

_TYPES = ("i32", "i8", "i16", "i64", "f16", "f32", "f64")
_SAME = ["items", "cache", "launch"]


def views(data: Data) -> list[dict[str, Any]]:
    """One view per device, type, operator and mode, the case of the report first: its cases with
    default settings as columns. Ratios are of medians within the view: `share` against a copy of
    the same bytes, `speedup` against the fastest CUB."""
    made: dict[tuple[str, ...], dict[str, Any]] = {}
    for kind in ("cuda", "host"):
        for _, device, samples in by_device(data, "scan", (kind,)):
            samples = pick(samples, settings="", launch=("stream", "graph"))
            cases = summarise(answering(data, samples[samples["variant"] != FLOOR]), CASE)
            parts = dict(iter(cases.groupby(["type", "op", "mode"])))
            for case in sorted(parts, key=_place):
                about = {"device": device} | dict(zip(("type", "op", "mode"), case, strict=True))
                if (device, *case) not in made:
                    made[device, *case] = about | _view(data, parts[case])
    return list(made.values())


def _place(case: tuple[str, str, str]) -> tuple[Any, ...]:
    type_, op, mode = case
    return _TYPES.index(type_), op != "plus", op, mode != "inclusive"


def _view(data: Data, cases: pd.DataFrame) -> dict[str, Any]:
    about, largest = data.variants, cases.loc[cases["items"].idxmax()]
    copies, cubs = pick(cases, variant=CEILING), pick(cases, variant=about.ids(CUBS))
    fastest = cubs.sort_values(["median_ns", "variant"]).drop_duplicates(_SAME)
    drawn = cases.sort_values(["variant", *_SAME])
    columns = {name: drawn[name].tolist() for name in ("variant", *_SAME, "count")}
    columns |= times("time_ns", drawn, 1.0) | intervals("share", _over(drawn, copies))
    columns |= intervals("speedup", _over(drawn, fastest))
    known = sorted(set(cases["variant"]), key=lambda v: (about[v].origin == "baseline", v))
    return {
        "source": source_line(sources(data, cases)[0]),
        "bytes_per_item": int(largest["bytes"] // largest["items"]),
        "bounds": {CEILING: look("memcpy of the same bytes", drawn_as(CEILING, about))},
        "looks": {v: look(about[v].label, drawn_as(v, about)) for v in known},
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
    compared = ratio_intervals([*pairs["samples_other"]], [*pairs["samples"]])
    ratios = dict(zip(pairs.index, compared, strict=True))
    ratios |= dict.fromkeys(both.index[itself], replace(UNKNOWN, value=1.0))
    return [ratios.get(place, UNKNOWN) for place in both.index]
