"""Cases that both the emulator and the hardware counted."""

from __future__ import annotations

import pandas as pd
from msgspec import UNSET

from scanlab_report.derive.counts import PADDINGS
from scanlab_report.read.records import Explanation, ideal_bytes
from scanlab_report.select.counted import same_case
from scanlab_report.select.evidence import CounterEvidence

QUANTITIES = {"transactions": "wavefronts", "conflicts": "bank conflicts"}


def compared(counters: CounterEvidence) -> pd.DataFrame:
    """One row a case counted by both: ``transactions`` and ``conflicts``, summed over launches, by emulator and hardware."""
    rows: dict[tuple[int, ...], dict[str, object]] = {}
    for explanation in sorted(counters.explanations, key=_usual, reverse=True):
        launches = counters.counters[same_case(explanation, counters.counters)]
        if launches.empty or explanation.totals.banks32.transactions == 0:
            continue
        emulator = explanation.totals.banks32
        case = tuple(launches.index)  # counters that do not tell two explanations apart go with the more usual one
        rows.setdefault(case, {
            "variant": explanation.variant, "base": explanation.unpadded, "padding": explanation.padding,
            "load": explanation.load or "halves", "mode": explanation.mode,
            "type": explanation.type, "items": explanation.items,
            "transactions_emulator": emulator.transactions,
            "transactions_hardware": _sum(launches, "wavefronts"),
            "conflicts_emulator": emulator.transactions - groups(explanation),
            "conflicts_hardware": _sum(launches, "conflicts"),
        })  # fmt: skip
    table = pd.DataFrame(rows.values())
    return table.sort_values(["type", "items", "base", "load", "padding"], key=_order, ignore_index=True)


def _sum(launches: pd.DataFrame, what: str) -> int:
    return int(launches[f"shared_load_{what}"].sum() + launches[f"shared_store_{what}"].sum())


def groups(explanation: Explanation) -> int:
    """Groups of threads that shared memory serves together: a warp, or a part of one for items wider than a bank."""
    return explanation.totals.shared_requests if (of := explanation.totals.banks32.groups) is UNSET else of


def _usual(explanation: Explanation) -> tuple[bool, bool]:
    return (explanation.load in ("", "halves"), explanation.mode == "inclusive")


def _order(column: pd.Series) -> pd.Series:
    if column.name == "type":
        return column.map(lambda kind: (ideal_bytes(kind, "plus", 1), kind))
    if column.name == "padding":
        return column.map({padding: place for place, padding in enumerate(PADDINGS)}).fillna(len(PADDINGS))
    return column
