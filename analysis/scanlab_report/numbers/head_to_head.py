"""The numbers on scans beside the vendor, in the text of the papers."""

from __future__ import annotations

import pandas as pd

from scanlab_report import groups, noise
from scanlab_report.chapters import odd_sizes
from scanlab_report.data import Data
from scanlab_report.groups import BEST, CEILING, FLOOR, HEADER, LOSS, STREAM, TUNED, VENDOR, WIN
from scanlab_report.intervals import Interval, ratio_interval
from scanlab_report.numbers import Numbers, power
from scanlab_report.pick import floor_ns, line, pick
from scanlab_report.pick import scans as pick_scans
from scanlab_report.versus import against, contests, versus_cub

FEW, SOME = 1 << 18, 1 << 20
"""Up to FEW items, a stream of warm runs is bound by the host's launches."""
USUAL = {"type": "i32", "op": "plus", "mode": "inclusive", "cache": "cold", "launch": STREAM}


def outcomes(data: Data) -> Numbers:
    """Cases of best against the fastest CUB: won, tied, lost, and by how much."""
    rows = versus_cub(data)
    ratio, outcome = rows["ratio"], rows["outcome"]
    (recorded,) = noise.read([data.files[rows["file"].iloc[0]].device])
    times = rows.assign(on="device", time_us=rows["median_ns"] / 1e3)
    noisy = 1 + noise.thresholds(recorded, "scans", times)
    apart = rows["samples"].map(max) < rows["samples_rival"].map(min)
    bound = (rows["cache"] == "warm") & (rows["launch"] == STREAM) & (rows["items"] <= FEW)
    widest = pick(rows, **USUAL).iloc[-1]
    return {
        "headToHeadCases": len(rows),
        "headToHeadLeast": ratio.min(),
        "headToHeadWins": (outcome == WIN).sum(),
        "headToHeadTies": (outcome == groups.TIE).sum(),
        "headToHeadLosses": (outcome == LOSS).sum(),
        "headToHeadApart": apart.sum(),
        "headToHeadNarrow": ((outcome == WIN) & (ratio < noisy)).sum(),
        "headToHeadRivalTuned": (rows["rival"] == TUNED).sum(),
        "headToHeadHostBound": ratio[bound].median(),
        "headToHeadOthers": ratio[~bound].median(),
        "leadItems": power(int(widest["items"])),
        "leadLargest": widest["ratio"],
    }


def searched(data: Data) -> Numbers:
    """The pairs of type and operator that the tuned CUB was searched for, and the others."""
    rows, pair = versus_cub(data), ["type", "op"]
    tuning = data.rows("scan", lambda file: file.kind == "tuning")
    tuned = pick(tuning, variant=data.variants.ids(groups.SHAPES))[pair].drop_duplicates()
    inside = pd.MultiIndex.from_frame(rows[pair]).isin(pd.MultiIndex.from_frame(tuned))
    return {
        "headToHeadSearched": inside.sum(),
        "headToHeadSearchedWins": (rows["outcome"][inside] == WIN).sum(),
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


def _over(cases: pd.DataFrame, above: str, below: str) -> Interval:
    """The time of one variant over that of another at the largest size, each in its first file."""
    first = pick(cases, **USUAL, items=groups.LARGEST).drop_duplicates("variant")
    samples = first.set_index("variant")["samples"]
    return ratio_interval(samples[above], samples[below])


def timers(data: Data) -> Numbers:
    """The lead of best over the toolkit's CUB by two stopwatches, where they differ most."""
    rows = pick(odd_sizes.beside_nvbench(data)[0], **USUAL, items=SOME)
    times = rows.set_index("variant")[["median_ns", "theirs_ns"]]
    ours, theirs = times.loc[VENDOR] / times.loc[BEST]
    return {"timerItems": power(SOME), "timerLead": ours, "timerLeadTheirs": theirs}


def header(data: Data) -> Numbers:
    """The header against the fastest CUB."""
    cases = contests(data)
    rows = against(cases, HEADER, data.variants.ids(groups.CUBS))
    some = pick(rows, **USUAL, items=SOME).iloc[0]
    here = pick(cases, **USUAL, items=SOME, file=some["file"]).set_index("variant")
    times = here["median_ns"] / 1e3
    return {
        "headerCases": len(rows),
        "headerWins": (rows["outcome"] == WIN).sum(),
        "headerLosses": (rows["outcome"] == LOSS).sum(),
        "headerBelow": (rows["ratio"] < 1).sum(),
        "headerLeast": (rows["ratio"].min(), 2),
        "headerSome": times[HEADER],
        "headerSomeBest": times[BEST],
        "headerSomeVendor": times[some["rival"]],
    }


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
