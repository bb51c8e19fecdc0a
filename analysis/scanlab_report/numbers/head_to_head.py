"""The numbers on scans beside the vendor, in the text of the papers."""

from __future__ import annotations

import pandas as pd

from scanlab_report import noise
from scanlab_report.chapters import odd_sizes
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
from scanlab_report.intervals import Interval, ratio_interval
from scanlab_report.numbers import Numbers, last, power
from scanlab_report.pick import Lacking, by_device, floor_ns, line, pick
from scanlab_report.pick import scans as pick_scans
from scanlab_report.versus import against, contests, pairs, versus_cub

FEW, SOME = 1 << 18, 1 << 20
"""Up to FEW items, a stream of warm runs is bound by the host's launches."""
USUAL = {"type": "i32", "op": "plus", "mode": "inclusive", "cache": "cold", "launch": STREAM}


def outcomes(data: Data) -> Numbers:
    """Cases of best against the fastest CUB: won, tied, lost, and by how much."""
    rows = versus_cub(data)
    number_of = rows["outcome"].value_counts()
    (recorded,) = noise.read([data.files[rows["file"].iloc[0]].device])
    times = rows.assign(on="device", time_us=rows["median_ns"] / 1e3)
    noisy = 1 + noise.thresholds(recorded, "scans", times)
    apart = rows["samples"].map(max) < rows["samples_rival"].map(min)
    bound = (rows["cache"] == "warm") & (rows["launch"] == STREAM) & (rows["items"] <= FEW)
    widest = pick(rows, **USUAL)[-1:]
    return {
        "headToHeadCases": len(rows),
        "headToHeadLeast": rows["ratio"].min(),
        "headToHeadWins": number_of.get(WIN, 0),
        "headToHeadTies": number_of.get(TIE, 0),
        "headToHeadLosses": number_of.get(LOSS, 0),
        "headToHeadApart": int(apart.sum()),
        "headToHeadNarrow": int(((rows["outcome"] == WIN) & (rows["ratio"] < noisy)).sum()),
        "headToHeadRivalTuned": int((rows["rival"] == TUNED).sum()),
        "headToHeadHostBound": rows["ratio"][bound].median(),
        "headToHeadOthers": rows["ratio"][~bound].median(),
        "leadItems": last(widest["items"].map(power)),
        "leadLargest": last(widest["ratio"]),
    }


def searched(data: Data) -> Numbers:
    """The pairs of type and operator that the tuned CUB was searched for, and the others."""
    rows, pair = versus_cub(data), ["type", "op"]
    shapes = data.variants.ids(SHAPES)
    tuned = [pick(own, variant=shapes)[pair] for _, _, own in by_device(data, "scan", ("tuning",))]
    known = pd.MultiIndex.from_frame(pd.concat([rows[pair][:0], *tuned]))
    inside = pd.MultiIndex.from_frame(rows[pair]).isin(known)
    if not inside.any() or inside.all():
        raise Lacking("times of the shapes that a rival was tuned among")
    return {
        "headToHeadSearched": int(inside.sum()),
        "headToHeadSearchedWins": int((rows["outcome"][inside] == WIN).sum()),
        "headToHeadSearchedMedian": rows["ratio"][inside].median(),
        "headToHeadUnsearchedMedian": rows["ratio"][~inside].median(),
    }


def libraries(data: Data) -> Numbers:
    """Times of other libraries over best, where all scans are set side by side."""
    cases = contests(data, python=True)
    return {
        "thrustOfBest": _over(cases, "thrust_scan", BEST),
        "torchOfBest": _over(cases, "torch_cumsum", BEST),
        "cupyOfBest": _over(cases, "cupy_cumsum", BEST),
        "tunedOfCopy": (_over(contests(data), CEILING, TUNED), 2),
    }


def _over(cases: pd.DataFrame, above: str, below: str) -> Interval | None:
    """The time of one variant over that of another at LARGEST, each in its first file."""
    first = pick(cases, **USUAL, items=LARGEST).drop_duplicates("variant")
    samples = first.set_index("variant")["samples"]
    known = {above, below} <= set(samples.index)
    return ratio_interval(samples[above], samples[below]) if known else None


def timers(data: Data) -> Numbers:
    """The lead of best over the toolkit's CUB by two stopwatches, where they differ most."""
    rows, _, _ = odd_sizes.beside_nvbench(data)
    rows = pick(rows, type="i32", items=SOME, cache="cold", launch=STREAM).set_index("variant")
    times = rows[["median_ns", "theirs_ns"]].reindex([VENDOR, BEST])
    ours, theirs = times.loc[VENDOR] / times.loc[BEST]
    return {"timerItems": power(SOME), "timerLead": ours, "timerLeadTheirs": theirs}


def header(data: Data) -> Numbers:
    """The header against the fastest CUB."""
    cases, cubs = contests(data), data.variants.ids(CUBS)
    rows = against(cases, HEADER, cubs)
    if rows.empty:
        raise Lacking("timings of the header beside CUB")
    made: Numbers = {
        "headerCases": len(rows),
        "headerWins": int((rows["outcome"] == WIN).sum()),
        "headerLosses": int((rows["outcome"] == LOSS).sum()),
        "headerBelow": int((rows["ratio"] < 1).sum()),
        "headerLeast": (rows["ratio"].min(), 2),
    }
    some = pick(cases, **USUAL, items=SOME)
    for match in pairs(some, HEADER, cubs).itertuples():
        here = pick(some, file=match.file).set_index("variant")["median_ns"] / 1e3
        made |= {
            "headerSome": here[HEADER],
            "headerSomeBest": here.get(BEST),
            "headerSomeVendor": here[match.rival],
        }
    return made


def launches(data: Data) -> Numbers:
    """An empty launch in a stream of warm runs, and best over one as graph nodes."""
    cases = pick_scans(data, all_of=(FLOOR, BEST), only=(FLOOR, BEST), launches=(STREAM, "graph"))
    rows = line(cases, BEST, cache="warm", launch="graph")
    rows = rows[rows["items"].between(1, FEW)]
    ratios = rows["median_ns"] / floor_ns(cases, "warm", "graph")
    return {
        "floorWarm": (floor_ns(cases, "warm") / 1e3, 2),
        "smallGraphLeast": (ratios.min(), 2),
        "smallGraphMost": (ratios.max(), 2),
    }


FUNCTIONS = (outcomes, searched, libraries, timers, header, launches)
