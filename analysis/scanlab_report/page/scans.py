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
from scanlab_report.pick import by_device, floor_ns, has, of_type, pick, timed
from scanlab_report.sources import sources
from scanlab_report.tables import ELEMENT_BYTES

_TYPES = ("i32", "i8", "i16", "i64", "f16", "f32", "f64")
_NAMED = ("type", "op", "mode")
_SAME = ("items", "cache", "launch")


def views(data: Data) -> list[dict[str, Any]]:
    """One view per device, type, operator and mode: its cases as columns, and the floors of its
    device. A variant with settings of its own is `variant setting=value`. Ratios are of medians
    within the view: `share` against a copy of the same bytes, `speedup` against the fastest CUB."""
    made = []
    every = by_device(data, "scan", ("cuda", "host"))
    measured = [(device, rows[rows["variant"] != FLOOR], rows) for _, device, rows in every]
    files = {number for _, scans, _ in measured for number in scans["file"]}
    for device in ranked([data.files[number] for number in files], data.first):
        own = [(scans, rows) for of, scans, rows in measured if of == device]
        named = {case for scans, _ in own for case in zip(*(scans[c] for c in _NAMED), strict=True)}
        for case in sorted(named, key=_place):
            type_, op, mode = case
            ways = {"python": True, "launches": ("stream", "graph"), "mode": mode}
            answers = [of_type(data, rows, type_, op, **ways) for _, rows in own]
            answers = [cases for cases in answers if has(data, cases)]
            beside_copy = [cases for cases in answers if CEILING in timed(cases)]
            if answers:
                about = {"device": device} | dict(zip(_NAMED, case, strict=True))
                made.append(about | _view(data, (beside_copy or answers)[0], type_))
    return made


def _place(case: tuple[str, str, str]) -> tuple[Any, ...]:
    """Return the place of a type, operator and mode among the choices. The case of the report is
    first."""
    type_, op, mode = case
    return _TYPES.index(type_), op != "plus", op, mode != "inclusive"


def _view(data: Data, every: pd.DataFrame, type_: str) -> dict[str, Any]:
    order = ["variant", "settings", "cache", "launch", "items"]
    cases = every[every["variant"] != FLOOR].sort_values(order).reset_index(drop=True)
    about = data.variants
    default = set(pick(cases, settings="")["variant"])
    cubs = pick(cases, settings="", variant=about.ids(CUBS)).sort_values("median_ns")
    fastest = cubs.drop_duplicates(_SAME).set_index(list(_SAME))["variant"].to_dict()
    cases["variant"] = (cases["variant"] + " " + cases["settings"]).str.rstrip()
    keys = list(zip(*(cases[name] for name in _SAME), strict=True))
    rivals = [fastest.get(key) for key in keys]
    columns: dict[str, list[Any]] = {
        name: cases[name].tolist() for name in ("variant", "cache", "launch", "items", "count")
    }
    columns |= times("time_ns", cases, 1.0) | {"rival": rivals}
    columns |= intervals("share", _ratios(cases, keys, [CEILING] * len(cases)))
    columns |= intervals("speedup", _ratios(cases, keys, rivals))
    variants = sorted(default, key=lambda v: (about[v].origin == "baseline", v))
    newcomers = [v for v in dict.fromkeys(cases["variant"]) if v not in default]
    states = cases[["cache", "launch"]].drop_duplicates().itertuples(index=False, name=None)
    elements = int(cases["bytes"].iloc[0] // max(1, cases["items"].iloc[0]))
    return {
        "source": source_line(sources(data, every)[0]),
        "bytes_an_item": elements or 2 * ELEMENT_BYTES[type_],
        "ceiling": CEILING,
        "floor": look(f"{about[FLOOR].label} (floor)", drawn_as(FLOOR, about)),
        "floor_ns": {f"{c} {way}": numbers([floor_ns(every, c, way)])[0] for c, way in states},
        "looks": {v: look(about[v].label, drawn_as(v, about)) for v in variants}
        | {v: look(v, spare(number)) for number, v in enumerate(newcomers)},
        "shown": [v for v in variants if about[v].overview],
        "cases": columns,
    }


def _ratios(
    cases: pd.DataFrame, keys: list[tuple[Any, ...]], others: list[str | None]
) -> list[Interval]:
    """The speed of each case over another variant's; that over itself has no interval."""
    variants, own = cases["variant"], cases["samples"]
    samples = dict(zip(zip(variants, keys, strict=True), own, strict=True))
    ratios = [Interval(1.0, UNKNOWN.low, UNKNOWN.high, 0)] * len(cases)
    theirs = {}
    for place, (variant, other, key) in enumerate(zip(variants, others, keys, strict=True)):
        if other != variant:
            ratios[place] = UNKNOWN
            if (other, key) in samples:
                theirs[place] = samples[other, key]
    compared = ratio_intervals([*theirs.values()], [own[place] for place in theirs])
    for place, ratio in zip(theirs, compared, strict=True):
        ratios[place] = ratio
    return ratios
