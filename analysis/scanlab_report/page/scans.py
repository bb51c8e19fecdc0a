"""Scans against the number of items: time, share of a copy, and speed against CUB, for every type, operator and mode."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from scanlab_report.layout.looks import look as drawn_as
from scanlab_report.layout.looks import spare
from scanlab_report.page.columns import intervals, look, numbers, source, times
from scanlab_report.read.published import Publication
from scanlab_report.read.records import Results, ideal_bytes, ranked
from scanlab_report.select.evidence import TimingEvidence
from scanlab_report.select.timings import Timings
from scanlab_report.select.variants import CEILING, FLOOR
from scanlab_report.stats.intervals import UNKNOWN, ratio_intervals

LAUNCHES = ("stream", "graph")
TYPES = ("i32", "i8", "i16", "i64", "f16", "f32", "f64")


def views(results: Results, published: dict[str, Publication]) -> list[dict[str, Any]]:
    """One view a device, type, operator and mode: its cases as columns, and the floors of its device.

    A variant with other settings than its own stands there too, as ``variant setting=value``. Ratios are of medians within the view, above 1 where the variant is
    faster: ``share`` against a copy of the same bytes, ``speedup`` against the fastest of CUB's scans in the same case.
    """
    found = []
    for device in ranked(results.runs, results.first):
        runs = [place for place, run in enumerate(results.runs) if run.device == device]
        timings = results.timings[results.timings["run"].isin(runs)]
        floors = timings[timings["variant"] == FLOOR]
        parts = dict(list(timings[timings["variant"] != FLOOR].groupby(["type", "op", "mode"])))
        for case in sorted(parts, key=_place):
            if evidence := _evidence(results, published, pd.concat([parts[case], floors]), *case):
                found.append(_view(evidence, *case))
    return found


def _place(case: tuple[str, str, str]) -> tuple[Any, ...]:
    """Where a type, operator and mode stand among the choices: the report's own case first."""
    type_, op, mode = case
    return TYPES.index(type_), op != "plus", op, mode != "inclusive"


def _evidence(
    results: Results, published: dict[str, Publication], timings: pd.DataFrame, type_: str, op: str, mode: str
) -> TimingEvidence | None:
    """What the figures would show if there were these timings alone: beside a copy if one was timed."""
    part = replace(results, found={})
    part.timings = timings
    for all_of in ((CEILING,), ()):
        need = Timings((type_,), op, mode, all_of, python=True, kinds=("cuda", "host"), launches=LAUNCHES)
        if found := need.find(part, published):
            return found
    return None


def _view(timings: TimingEvidence, type_: str, op: str, mode: str) -> dict[str, Any]:
    about = timings.about
    cases = timings.cases[timings.cases["variant"] != FLOOR].sort_values(["variant", "settings", "cache", "launch", "items"]).reset_index(drop=True)
    default = set(cases.loc[cases["settings"] == "", "variant"])
    cases["variant"] = (cases["variant"] + " " + cases["settings"]).str.rstrip()
    samples = {(row.variant, row.items, row.cache, row.launch): row.samples for row in cases.itertuples()}
    columns: dict[str, list[Any]] = {name: cases[name].tolist() for name in ("variant", "cache", "launch", "items", "count")}
    columns |= times("time_ns", cases, 1.0)
    own = cases["samples"].tolist()
    columns["rival"] = [timings.vendor(row.items, row.cache, row.launch) for row in cases.itertuples()]
    for name, against in (("share", [CEILING] * len(cases)), ("speedup", columns["rival"])):
        others = [None if other == row.variant else samples.get((other, row.items, row.cache, row.launch))
                  for row, other in zip(cases.itertuples(), against, strict=True)]  # fmt: skip
        known = [place for place, other in enumerate(others) if other is not None]
        ratios = [replace(UNKNOWN, value=1.0) if other == variant else UNKNOWN  # of itself, without an interval
                  for variant, other in zip(cases["variant"], against, strict=True)]  # fmt: skip
        for place, ratio in zip(known, ratio_intervals([np.asarray(others[i]) for i in known], [own[i] for i in known]), strict=True):
            ratios[place] = ratio
        columns |= intervals(name, ratios)
    variants = sorted(default, key=lambda variant: (about[variant].origin == "baseline", variant))
    newcomers = [variant for variant in dict.fromkeys(cases["variant"]) if variant not in default]
    return {
        "device": timings.device, "type": type_, "op": op, "mode": mode, "source": source(timings.provenance),
        "bytes_an_item": ideal_bytes(type_, op, 1),
        "ceiling": CEILING,
        "floor": look(f"{about[FLOOR].label} (floor)", drawn_as(FLOOR, about)),
        "floor_ns": {f"{cache} {launch}": numbers([timings.floor_ns(cache, launch)])[0] for cache, launch in
                     cases[["cache", "launch"]].drop_duplicates().itertuples(index=False, name=None)},
        "looks": {variant: look(about[variant].label, drawn_as(variant, about)) for variant in variants}
        | {variant: look(variant, spare(number)) for number, variant in enumerate(newcomers)},
        "shown": [variant for variant in variants if about[variant].overview],
        "cases": columns,
    }  # fmt: skip
