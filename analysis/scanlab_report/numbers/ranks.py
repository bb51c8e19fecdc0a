"""Scans over several GPUs: 32-bit sums on the most GPUs of the session that answers."""

from __future__ import annotations

import pandas as pd

from scanlab_report.chapters.rank_cases import (
    STATES,
    VENDOR,
    compared,
    main_kind,
    several,
    strong,
    usual,
    weak,
)
from scanlab_report.chapters.ranks import folds
from scanlab_report.data import Data
from scanlab_report.formats import size
from scanlab_report.load_others import corrections
from scanlab_report.numbers import Numbers, last, number, power, typewriter
from scanlab_report.pick import Lacking, pick
from scanlab_report.shown import Shown
from scanlab_report.sources import sources

SCAN, BLOCKED = "peer_look_ahead", "reduce_exchange_scan"
FEW, MIDDLE, FOLDED, MOST = 1 << 20, 1 << 22, 1 << 28, 1 << 30
"""Items per GPU."""


def over_vendor(data: Data, in_paper: bool = False) -> Shown:
    """The speed of SCAN over CUB with NCCL at its largest and at few items, and why recorded times
    of CUB with NCCL are withdrawn."""
    form, scan = (power, typewriter(SCAN)) if in_paper else (size, f"`{SCAN}`")
    speeds = []
    try:
        timed = several(data, VENDOR)
        rows = pick(main_kind(compared(usual(timed))), algorithm=SCAN)
        rows = rows[rows["ranks"] == rows["ranks"].max()]
        rows = rows[[ratio.known for ratio in rows["of_vendor"]]]
        ratios = dict(zip(rows["items_per_rank"].astype(int), rows["of_vendor"], strict=True))
        speeds = [
            f"{number(ratio.value)} [{number(ratio.low)}, {number(ratio.high)}] times that "
            f"of CUB with NCCL at {form(items)} 32-bit integers per GPU"
            for items in dict.fromkeys((max(ratios, default=0), FEW))
            if (ratio := ratios.get(items))
        ]
    except Lacking:
        pass
    sentences = []
    if speeds:
        where = f"On {rows['ranks'].max()} GPUs ({sources(data, timed)[0].line()})"
        sentences = [f"{where}, the speed of {scan} is {', and '.join(speeds)}."]
    which = "Earlier" if speeds else "The"
    withdrawn = [entry for entry in corrections()["withdrawn"] if VENDOR in entry["names"]]
    for reason in dict.fromkeys(entry["reason"] for entry in withdrawn):
        sentences.append(f"{which} recorded times of CUB with NCCL are withdrawn. {reason}")
    return Shown(" ".join(sentences), "")


def peers(data: Data) -> Numbers:
    cases = usual(several(data, "ranks"))
    gpus = int(cases["ranks"].max())
    scans = pick(compared(cases), ranks=gpus)
    sums = main_kind(scans)
    large, middle, few = (_at(sums, SCAN, items) for items in (MOST, MIDDLE, FEW))
    faster = pick(main_kind(strong(cases)), algorithm=SCAN, ranks=gpus)
    if faster.empty:
        raise Lacking(f"times of {SCAN} on {gpus} ranks at as many items as best on one GPU")
    faster = faster.loc[faster["items"].idxmax()]
    wide = pick(scans, type="i64", op="plus", algorithm=SCAN, items_per_rank=MOST)
    return {
        "peersGpus": gpus,
        "peersItems": power(MOST),
        "peersOfCopy": large["of_copy"],
        "peersWeak": _at(pick(main_kind(weak(cases)), ranks=gpus), SCAN, MOST)["efficiency"],
        "peersStrong": faster["speedup"],
        "peersMost": power(int(faster["items"])),
        "peersFew": power(FEW),
        "peersMiddle": power(MIDDLE),
        "peersMiddleOfCopy": (middle["of_copy"], 2),
        "peersSmall": (few["median_ns"] / 1e3, 2),
        "peersBlocked": _at(sums, BLOCKED, MOST)["of_bound"],
        "peersWide": (last(wide["of_copy"][:1]), 2),
    }


def _at(rows: pd.DataFrame, algorithm: str, items: int) -> pd.Series:
    rows = pick(rows, algorithm=algorithm, items_per_rank=items)
    if rows.empty:
        raise Lacking(f"times of {algorithm} at {size(items)} items per rank on all ranks")
    return rows.iloc[0]


def folding(data: Data) -> Numbers:
    rows = pick(folds(main_kind(several(data, STATES))), items_per_rank=FOLDED)
    rows = rows[rows["ranks"] == rows["ranks"].max()]
    rows = rows[rows["as_ranks"] == rows["as_ranks"].max()].set_index("tells")
    if not {"chunk", "tile"} <= set(rows.index):
        raise Lacking(f"times of {SCAN} by states per aggregate at {size(FOLDED)} items per rank")
    return {
        "peersFoldGpus": rows.at["chunk", "ranks"],
        "peersFolded": rows.at["chunk", "as_ranks"],
        "peersFoldChunks": (rows.at["chunk", "of_copy"], 2),
        "peersFoldTiles": (rows.at["tile", "of_copy"], 2),
    }


FUNCTIONS = (peers, folding)
