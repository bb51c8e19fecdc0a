"""Scans over several GPUs: 32-bit sums on the most GPUs of the session that answers."""

from __future__ import annotations

from typing import Any

import pandas as pd

from scanlab_report.chapters import rank_cases
from scanlab_report.chapters.ranks import folds
from scanlab_report.data import Data
from scanlab_report.load_others import corrections
from scanlab_report.numbers import Numbers, power
from scanlab_report.pick import pick
from scanlab_report.shown import Shown

SUMS = {"type": "i32", "op": "plus", "mode": "inclusive"}
FEW, MIDDLE, FOLDED, MOST = 1 << 20, 1 << 22, 1 << 28, 1 << 30
"""Items per GPU."""


def over_vendor(data: Data) -> Shown:
    """Why the recorded times of CUB with NCCL are withdrawn."""
    names = lambda entry: rank_cases.VENDOR in entry["names"]
    reasons = dict.fromkeys(entry["reason"] for entry in filter(names, corrections()["withdrawn"]))
    text = "The recorded times of CUB with NCCL are withdrawn."
    return Shown(" ".join((text, *reasons)) if reasons else "", "")


def peers(data: Data) -> Numbers:
    cases = rank_cases.usual(rank_cases.several(data, "ranks"))
    most = {"algorithm": "peer_look_ahead", "ranks": int(cases["ranks"].max())}
    scans, weak = rank_cases.compared(cases), rank_cases.weak(cases)
    faster = pick(rank_cases.strong(cases), **SUMS, **most).sort_values("items").iloc[-1]

    def at(rows: pd.DataFrame, items: int, column: str, **kind: Any) -> Any:
        return pick(rows, **SUMS | most | {"items_per_rank": items} | kind)[column].iloc[0]

    return {
        "peersGpus": most["ranks"],
        "peersItems": power(MOST),
        "peersOfCopy": at(scans, MOST, "of_copy"),
        "peersWeak": at(weak, MOST, "efficiency"),
        "peersStrong": faster["speedup"],
        "peersMost": power(int(faster["items"])),
        "peersFew": power(FEW),
        "peersMiddle": power(MIDDLE),
        "peersMiddleOfCopy": (at(scans, MIDDLE, "of_copy"), 2),
        "peersSmall": (at(scans, FEW, "median_ns") / 1e3, 2),
        "peersBlocked": at(scans, MOST, "of_bound", algorithm="reduce_exchange_scan"),
        "peersWide": (at(scans, MOST, "of_copy", type="i64"), 2),
    }


def folding(data: Data) -> Numbers:
    cases = pick(rank_cases.several(data, rank_cases.STATES), **SUMS)
    rows = pick(folds(cases), items_per_rank=FOLDED)
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
