"""Scans against the number of items, for every type, operator and mode."""

from __future__ import annotations

from typing import Any

import pandas as pd

from scanlab_report.data import Data, ranked
from scanlab_report.groups import CEILING, CUBS, FLOOR
from scanlab_report.intervals import UNKNOWN, Interval, ratio_intervals
from scanlab_report.looks import look as drawn_as
from scanlab_report.looks import spare
from scanlab_report.page.columns import intervals, look, numbers, source_line, times
from scanlab_report.pick import Query, by_device, floor_ns, pick
from scanlab_report.sources import sources
from scanlab_report.tables import ELEMENT_BYTES

TYPES = ("i32", "i8", "i16", "i64", "f16", "f32", "f64")


def views(data: Data) -> list[dict[str, Any]]:
    """One view per device, type, operator and mode: its cases as columns, and the floors of its
    device. A variant with settings of its own is `variant setting=value`. Ratios are of medians
    within the view: `share` against a copy of the same bytes, `speedup` against the fastest CUB."""
    made = []
    scans = data["scan"][data["scan"]["variant"] != FLOOR]
    devices = scans["file"].map(lambda number: data.files[number].device)
    for device in ranked([data.files[n] for n in set(scans["file"])], data.first):
        cases = (
            scans[devices == device][["type", "op", "mode"]]
            .drop_duplicates()
            .itertuples(index=False, name=None)
        )
        for case in sorted(cases, key=_place):
            if (rows := _cases(data, device, *case)) is not None:
                made.append(_view(data, device, rows, *case))
    return made


def _place(case: tuple[str, str, str]) -> tuple[Any, ...]:
    """Return the place of a type, operator and mode among the choices. The case of the report is
    first."""
    type_, op, mode = case
    return TYPES.index(type_), op != "plus", op, mode != "inclusive"


def _cases(data: Data, device: str, type_: str, op: str, mode: str) -> pd.DataFrame | None:
    """Return the cases of a view, beside a copy if one was timed."""
    for all_of in ((CEILING,), ()):
        query = Query(
            (type_,),
            op,
            mode,
            all_of,
            python=True,
            kinds=("cuda", "host"),
            launches=("stream", "graph"),
        )
        for _, named, rows in by_device(data, "scan", query.kinds):
            if named == device:
                cases = query.of_type(data, rows, type_)
                if query.answered(data, cases):
                    return cases
    return None


def _view(
    data: Data, device: str, timed: pd.DataFrame, type_: str, op: str, mode: str
) -> dict[str, Any]:
    order = ["variant", "settings", "cache", "launch", "items"]
    cases = timed[timed["variant"] != FLOOR].sort_values(order).reset_index(drop=True)
    about = data.variants
    default = set(pick(cases, settings="")["variant"])
    cubs = pick(cases, settings="", variant=about.ids(CUBS)).sort_values("median_ns")
    case = ["items", "cache", "launch"]
    rivals = cubs.drop_duplicates(case).set_index(case)["variant"].to_dict()
    cases["variant"] = (cases["variant"] + " " + cases["settings"]).str.rstrip()
    keys = list(cases[case].itertuples(index=False, name=None))
    samples = {
        (v, *key): own for v, key, own in zip(cases["variant"], keys, cases["samples"], strict=True)
    }
    columns: dict[str, list[Any]] = {
        name: cases[name].tolist() for name in ("variant", "cache", "launch", "items", "count")
    }
    columns |= times("time_ns", cases, 1.0)
    columns["rival"] = [rivals.get(key) for key in keys]
    for name, others in (("share", [CEILING] * len(cases)), ("speedup", columns["rival"])):
        ratios = [UNKNOWN] * len(cases)
        pairs = []
        for place, (variant, other, key) in enumerate(
            zip(cases["variant"], others, keys, strict=True)
        ):
            if other == variant:  # itself, without an interval
                ratios[place] = Interval(1.0, UNKNOWN.low, UNKNOWN.high, 0)
            elif (other, *key) in samples:
                pairs.append((place, samples[other, *key], samples[variant, *key]))
        if pairs:
            places, theirs, ours = zip(*pairs, strict=True)
            for place, ratio in zip(places, ratio_intervals(theirs, ours), strict=True):
                ratios[place] = ratio
        columns |= intervals(name, ratios)
    variants = sorted(default, key=lambda v: (about[v].origin == "baseline", v))
    newcomers = [v for v in dict.fromkeys(cases["variant"]) if v not in default]
    pairs_ = cases[["cache", "launch"]].drop_duplicates().itertuples(index=False, name=None)
    elements = int(cases["bytes"].iloc[0] // max(1, cases["items"].iloc[0]))
    return {
        "device": device,
        "type": type_,
        "op": op,
        "mode": mode,
        "source": source_line(sources(data, timed)[0]),
        "bytes_an_item": elements or 2 * ELEMENT_BYTES[type_],
        "ceiling": CEILING,
        "floor": look(f"{about[FLOOR].label} (floor)", drawn_as(FLOOR, about)),
        "floor_ns": {f"{c} {way}": numbers([floor_ns(timed, c, way)])[0] for c, way in pairs_},
        "looks": {v: look(about[v].label, drawn_as(v, about)) for v in variants}
        | {v: look(v, spare(number)) for number, v in enumerate(newcomers)},
        "shown": [v for v in variants if about[v].overview],
        "cases": columns,
    }
