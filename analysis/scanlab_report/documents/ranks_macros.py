"""The numbers of scans over several GPUs in the scan paper's text: 32-bit sums on the most GPUs of the recorded session."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from scanlab_report.derive.ranks import beside, folds, main_kind, strong, weak
from scanlab_report.documents.numbers import number, power
from scanlab_report.layout import table_formats
from scanlab_report.read import corrections
from scanlab_report.select.needs import Need
from scanlab_report.select.ranks_evidence import STATES, VENDOR, RanksEvidence, SeveralGpus

SCAN, BLOCKED = "peer_look_ahead", "reduce_exchange_scan"
FEW, MIDDLE, FOLDED, MOST = 1 << 20, 1 << 22, 1 << 28, 1 << 30
"""Items per GPU."""

NAMES = {
    "peersGpus": "GPUs of the recorded session over several",
    "peersItems": "items per GPU of the next numbers, as a power of two",
    "peersOfCopy": "share of copies on all GPUs that peer_look_ahead has there",
    "peersVendor": "sentences on its speed over CUB with NCCL, of whichever device has that on record",
    "peersWeak": "its time on one GPU over that on all, at equal items per GPU",
    "peersStrong": "its speed over best on one GPU at peersMost items in all",
    "peersMost": "most items in all beside best, as a power of two",
    "peersFew": "items per GPU of the next number, as a power of two",
    "peersSmall": "its time, microseconds",
    "peersMiddle": "items per GPU of the next number, as a power of two",
    "peersMiddleOfCopy": "its share of copies",
    "peersWide": "defined if they were timed: its share of copies for 64-bit integers",
    "peersFoldGpus": "defined if it was timed: GPUs that fold aggregates as if there were more, at 2^28 items per GPU",
    "peersFolded": "most GPUs whose aggregates they fold",
    "peersFoldChunks": "peer_look_ahead's share of copies then, where GPUs tell each other of chunks",
    "peersFoldTiles": "and where they tell each other of tiles",
    "peersBlocked": "share of the 3n bound that reduce_exchange_scan has there",
}

VENDOR_NEEDS = {"timed": SeveralGpus(VENDOR)}


def over_vendor(timed: RanksEvidence | None, latex: bool = False) -> str:
    """The speed of :data:`SCAN` over CUB with NCCL at its largest and at few items, and why other recordings of CUB with NCCL are withdrawn."""
    sentences = []
    if timed is not None:
        rows = main_kind(beside(timed.usual()))
        rows = rows[(rows["algorithm"] == SCAN) & (rows["ranks"] == rows["ranks"].max())]
        ratios = {int(row.items_per_rank): row.of_vendor for row in rows.itertuples() if row.of_vendor.known}
        power_of, scan = (power, f"\\texttt{{{table_formats.latex(SCAN)}}}") if latex else (table_formats.size, f"`{SCAN}`")
        speeds = [f"{number(ratio.value)} [{number(ratio.low)}, {number(ratio.high)}] times that of CUB with NCCL at {power_of(items)} 32-bit integers per GPU"
                  for items, ratio in ((items, ratios[items]) for items in dict.fromkeys((max(ratios, default=0), FEW)) if items in ratios)]  # fmt: skip
        if speeds:
            sentences.append(f"On {rows['ranks'].max()} GPUs ({timed.provenance.line()}), the speed of {scan} is {', and '.join(speeds)}.")
    reasons = dict.fromkeys(entry["reason"] for entry in corrections.known()["withdrawn"] if VENDOR in entry["names"])
    return " ".join([*sentences, *(f"{'Earlier' if sentences else 'The'} recorded times of CUB with NCCL are withdrawn. {reason}" for reason in reasons)])


def describers() -> tuple[tuple[Mapping[str, Need], Callable[..., dict[str, str]]], ...]:
    """Needs, and what defines macros from them."""
    return (({"timed": SeveralGpus("ranks")}, _peers), ({"timed": SeveralGpus(STATES)}, _folds))


def _peers(timed: RanksEvidence) -> dict[str, str]:
    usual = timed.usual()
    gpus = int(usual["ranks"].max())
    scans = beside(usual)
    scans = scans[scans["ranks"] == gpus]
    sums = main_kind(scans)

    def at(rows: pd.DataFrame, algorithm: str, items: int) -> pd.Series | None:
        found = rows[(rows["algorithm"] == algorithm) & (rows["items_per_rank"] == items)]
        return None if found.empty else found.iloc[0]

    large, middle, few, blocked = at(sums, SCAN, MOST), at(sums, SCAN, MIDDLE), at(sums, SCAN, FEW), at(sums, BLOCKED, MOST)
    scaled = at(main_kind(weak(usual)).query("ranks == @gpus"), SCAN, MOST)
    several = main_kind(strong(timed)).query("algorithm == @SCAN and ranks == @gpus").sort_values("items")
    faster = None if several.empty else several.iloc[-1]
    if large is None or middle is None or few is None or blocked is None or scaled is None or faster is None:
        return {}
    named = {
        "peersGpus": str(gpus),
        "peersItems": power(MOST),
        "peersOfCopy": number(large["of_copy"].value),
        "peersWeak": number(scaled["efficiency"].value),
        "peersStrong": number(faster["speedup"].value),
        "peersMost": power(int(faster["items"])),
        "peersFew": power(FEW),
        "peersMiddle": power(MIDDLE),
        "peersMiddleOfCopy": number(middle["of_copy"].value, 2),
        "peersSmall": number(few["median_ns"] / 1e3, 2),
        "peersBlocked": number(blocked["of_bound"].value),
    }
    wide = at(scans[(scans["type"] == "i64") & (scans["op"] == "plus")], SCAN, MOST)
    return named if wide is None else named | {"peersWide": number(wide["of_copy"].value, 2)}


def _folds(timed: RanksEvidence) -> dict[str, str]:
    folded = main_kind(folds(timed.cases)).query("items_per_rank == @FOLDED")
    folded = folded[folded["ranks"] == folded["ranks"].max()]
    folded = folded[folded["as_ranks"] == folded["as_ranks"].max()].set_index("told")
    if not {"chunk", "tile"} <= set(folded.index):
        return {}
    by_chunk, by_tile = (number(folded.at[told, "of_copy"].value, 2) for told in ("chunk", "tile"))
    return {"peersFoldGpus": str(folded.at["chunk", "ranks"]), "peersFolded": str(folded.at["chunk", "as_ranks"]),
            "peersFoldChunks": by_chunk, "peersFoldTiles": by_tile}  # fmt: skip
