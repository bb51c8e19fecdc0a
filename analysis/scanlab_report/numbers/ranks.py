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
from scanlab_report.load_others import corrections
from scanlab_report.numbers import Numbers, power
from scanlab_report.pick import pick
from scanlab_report.shown import Shown

SCAN, BLOCKED = "peer_look_ahead", "reduce_exchange_scan"
FEW, MIDDLE, FOLDED, MOST = 1 << 20, 1 << 22, 1 << 28, 1 << 30
"""Items per GPU."""


def over_vendor(data: Data) -> Shown:
    """Why the recorded times of CUB with NCCL are withdrawn."""
    withdrawn = [entry for entry in corrections()["withdrawn"] if VENDOR in entry["names"]]
    reasons = dict.fromkeys(entry["reason"] for entry in withdrawn)
    text = "The recorded times of CUB with NCCL are withdrawn."
    return Shown(" ".join((text, *reasons)) if reasons else "", "")


def peers(data: Data) -> Numbers:
    cases = usual(several(data, "ranks"))
    gpus = int(cases["ranks"].max())
    scans = pick(compared(cases), ranks=gpus)
    sums, wide = main_kind(scans), pick(scans, type="i64", op="plus")
    large, middle, few = (_at(sums, SCAN, items) for items in (MOST, MIDDLE, FEW))
    faster = pick(main_kind(strong(cases)), algorithm=SCAN, ranks=gpus)
    faster = faster.loc[faster["items"].idxmax()]
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
        "peersWide": (_at(wide, SCAN, MOST)["of_copy"], 2),
    }


def _at(rows: pd.DataFrame, algorithm: str, items: int) -> pd.Series:
    return pick(rows, algorithm=algorithm, items_per_rank=items).iloc[0]


def folding(data: Data) -> Numbers:
    rows = pick(folds(main_kind(several(data, STATES))), items_per_rank=FOLDED)
    for most in ("ranks", "as_ranks"):
        rows = rows[rows[most] == rows[most].max()]
    rows = rows.set_index("tells")
    return {
        "peersFoldGpus": rows.at["chunk", "ranks"],
        "peersFolded": rows.at["chunk", "as_ranks"],
        "peersFoldChunks": (rows.at["chunk", "of_copy"], 2),
        "peersFoldTiles": (rows.at["tile", "of_copy"], 2),
    }


FUNCTIONS = (peers, folding)
