"""The numbers on scans beside the vendor, in the text of the papers."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scanlab_report import noise
from scanlab_report.chapters import head_to_head, odd_sizes
from scanlab_report.data import Data
from scanlab_report.groups import (
    BEST,
    CEILING,
    CUBS,
    FLOOR,
    HEADER,
    LARGEST,
    LOSS,
    SHAPES,
    STREAM,
    TIE,
    TUNED,
    VENDOR,
    WIN,
)
from scanlab_report.intervals import ratio_interval
from scanlab_report.numbers.scans import (
    Numbers,
    number,
    power,
)
from scanlab_report.pick import (
    Lacking,
    by_device,
    floor_ns,
    line,
    pick,
)
from scanlab_report.pick import scans as pick_scans
from scanlab_report.versus import against, contests, pairs, versus_cub

FEW, SOME = 1 << 18, 1 << 20
"""Up to FEW items, a stream of warm runs is bound by the host's launches."""
USUAL = {"type": "i32", "op": "plus", "mode": "inclusive", "cache": "cold", "launch": STREAM}


def outcomes(data: Data) -> Numbers:
    """Cases of best against the fastest CUB: won, tied, lost, and by how much."""
    rows = versus_cub(data)
    number_of = rows["outcome"].value_counts()
    device = data.files[rows["file"].iloc[0]].device
    (recorded,) = noise.read([device])
    times = rows.assign(on="device", time_us=rows["median_ns"] / 1e3)
    noisy = 1 + noise.thresholds(recorded, "scans", times)
    apart = [ours.max() < theirs.min()
             for ours, theirs in zip(rows["samples"], rows["samples_rival"], strict=True)]  # fmt: skip
    bound = (rows["cache"] == "warm") & (rows["launch"] == STREAM) & (rows["items"] <= FEW)
    made = {
        "headToHeadCases": str(len(rows)), "headToHeadLeast": number(float(rows["ratio"].min())),
        "headToHeadWins": str(number_of.get(WIN, 0)), "headToHeadTies": str(number_of.get(TIE, 0)),
        "headToHeadLosses": str(number_of.get(LOSS, 0)), "headToHeadApart": str(sum(apart)),
        "headToHeadNarrow": str(int(((rows["outcome"] == WIN) & (rows["ratio"] < noisy)).sum())),
        "headToHeadRivalTuned": str(int((rows["rival"] == TUNED).sum())),
    }  # fmt: skip
    for name, own in (("HostBound", rows[bound]), ("Others", rows[~bound])):
        if len(own):
            made[f"headToHead{name}"] = number(float(own["ratio"].median()))
    usual = pick(rows, **USUAL)
    for row in usual.iloc[-1:].itertuples():
        made |= {"leadItems": power(int(row.items)), "leadLargest": number(row.ratio)}
    return made


def searched(data: Data) -> Numbers:
    """The pairs of type and operator that the tuned CUB was searched for, and the others."""
    rows, pairs_ = versus_cub(data), set()
    for _, _, tuning in by_device(data, "scan", ("tuning",)):
        own = pick(tuning, variant=data.variants.ids(SHAPES))
        pairs_ |= set(zip(own["type"], own["op"], strict=True))
    inside = np.array([p in pairs_ for p in zip(rows["type"], rows["op"], strict=True)])
    if not inside.any() or inside.all():
        raise Lacking("times of the shapes that a rival was tuned among")
    own = rows[inside]
    return {
        "headToHeadSearched": str(len(own)),
        "headToHeadSearchedWins": str(int((own["outcome"] == WIN).sum())),
        "headToHeadSearchedMedian": number(float(own["ratio"].median())),
        "headToHeadUnsearchedMedian": number(float(rows[~inside]["ratio"].median())),
    }  # fmt: skip


def libraries(data: Data) -> Numbers:
    """Times of other libraries over best, where all scans are set side by side."""
    cases = pick(contests(data, python=True), **USUAL, items=LARGEST)
    first = cases.drop_duplicates("variant").set_index("variant")["samples"]
    names = (("thrustOfBest", "thrust_scan"), ("torchOfBest", "torch_cumsum"),
             ("cupyOfBest", "cupy_cumsum"))  # fmt: skip
    made = {name: number(ratio_interval(first[variant], first[BEST]).value)
            for name, variant in names if {variant, BEST} <= set(first.index)}  # fmt: skip
    plain = pick(contests(data), **USUAL, items=LARGEST)
    first = plain.drop_duplicates("variant").set_index("variant")["samples"]
    if {CEILING, TUNED} <= set(first.index):
        made["tunedOfCopy"] = number(ratio_interval(first[CEILING], first[TUNED]).value, 2)
    return made


def timers(data: Data) -> Numbers:
    """The lead of best over the toolkit's CUB by two stopwatches, where they differ most."""
    rows, _, _ = odd_sizes.beside_nvbench(data)
    rows = pick(rows, type="i32", items=SOME, cache="cold", launch=STREAM).set_index("variant")
    if not {BEST, VENDOR} <= set(rows.index):
        return {}
    ours, theirs = (rows.at[VENDOR, c] / rows.at[BEST, c] for c in ("median_ns", "theirs_ns"))
    return {"timerItems": power(SOME), "timerLead": number(ours),
            "timerLeadTheirs": number(theirs)}  # fmt: skip


def header(data: Data) -> Numbers:
    """The header against the fastest CUB."""
    cases = contests(data)
    rows = against(cases, HEADER, data.variants.ids(CUBS))
    if rows.empty:
        raise Lacking("timings of the header beside CUB")
    made = {
        "headerCases": str(len(rows)), "headerWins": str(int((rows["outcome"] == WIN).sum())),
        "headerLosses": str(int((rows["outcome"] == LOSS).sum())),
        "headerBelow": str(int((rows["ratio"] < 1).sum())),
        "headerLeast": number(float(rows["ratio"].min()), 2),
    }  # fmt: skip
    here = pick(cases, **USUAL, items=SOME)
    for match in pairs(here, HEADER, data.variants.ids(CUBS)).itertuples():
        here = pick(here, file=match.file).set_index("variant")["median_ns"]
        for name, variant in (("headerSome", HEADER), ("headerSomeBest", BEST),
                              ("headerSomeVendor", match.rival)):  # fmt: skip
            if variant in here.index:
                made[name] = number(here[variant] / 1e3)
    return made


def launches(data: Data) -> Numbers:
    """An empty launch in a stream of warm runs, and best over one as graph nodes."""
    cases = pick_scans(data, all_of=(FLOOR, BEST), only=(FLOOR, BEST), launches=(STREAM, "graph"))
    stream, graph = (floor_ns(cases, "warm", launch) for launch in (STREAM, "graph"))
    made = {"floorWarm": number(stream / 1e3, 2)} if pd.notna(stream) else {}
    rows = line(cases, BEST, cache="warm", launch="graph")
    rows = rows[rows["items"].between(1, FEW)]
    if len(rows) and pd.notna(graph):
        ratios = rows["median_ns"] / graph
        made |= {"smallGraphLeast": number(float(ratios.min()), 2),
                 "smallGraphMost": number(float(ratios.max()), 2)}  # fmt: skip
    return made


FUNCTIONS = (outcomes, searched, libraries, timers, header, launches)
