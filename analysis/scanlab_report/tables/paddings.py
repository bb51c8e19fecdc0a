"""Paddings: bank-conflict degree, counted, and gain over none, measured."""

from __future__ import annotations

import math

import pandas as pd

from scanlab_report.derive.counts import PADDINGS
from scanlab_report.derive.shares import shares
from scanlab_report.layout.table_formats import Column, Table, code, significant, size, whole
from scanlab_report.read.records import Explanation
from scanlab_report.select.counted import Counts, pairs
from scanlab_report.select.evidence import CountEvidence, TimingEvidence
from scanlab_report.select.timings import Timings
from scanlab_report.select.variants import PADDED

NEEDS = {"timings": Timings(any_of=(PADDED,)), "counts": Counts(padded=True)}
SIZES = (2**10, 2**16, 2**20, 2**24, 2**28)
DEFAULT = "two_level"


def build(timings: TimingEvidence, counts: CountEvidence) -> Table:
    rows = [row for pair in pairs(counts.explanations).items() for padding in PADDINGS if (row := _row(timings, counts, pair, padding))]
    table = pd.DataFrame(rows)
    gains = [n for n in SIZES if table[_key(n)].notna().any()]
    degree = lambda v: "—" if pd.isna(v) else f"{v:.2f}"
    return Table(
        caption="Paddings of the work-efficient scans. Counted: bank-conflict degree of one scan, by the SIMT emulator for 32-bit integers. Gain: "
        f"measured time without padding over time with it, inclusive sum, {timings.caches()[0]} cache. Two levels add one item per row of banks, and one per row of rows.",
        columns=(
            Column("variant", "variant", code, right=False),
            Column("padding", "padding", PADDINGS.__getitem__, right=False),
            Column("counted_items", "n", lambda v: "—" if pd.isna(v) else size(v), group="counted"),
            Column("worst16", "worst", whole, group="16 banks"),
            Column("mean16", "mean", degree, group="16 banks"),
            Column("worst32", "worst", whole, group="32 banks"),
            Column("mean32", "mean", degree, group="32 banks"),
            *(Column(_key(n), size(n), significant, group="gain over none") for n in gains),
        ),
        rows=table,
    )


def _key(n: int) -> str:
    return f"gain_2^{n.bit_length() - 1}"


def _row(timings: TimingEvidence, counts: CountEvidence, pair: tuple[str, str], padding: str) -> dict[str, object] | None:
    """pair: of a variant without padding, and with it."""
    bare, padded = pair
    variant = bare if padding == "none" else padded
    settings = "" if padding in ("none", DEFAULT) else f"padding={padding}"
    gains = shares(timings, variant, bare, timings.caches()[0], settings).set_index("items")["ratio"]
    explanation = _counted(counts, variant, padding)
    if explanation is None and gains.empty:
        return None
    degrees = {
        f"{name}{banks}": getattr(getattr(explanation.totals, f"banks{banks}"), f"{key}_degree") if explanation else math.nan
        for banks in (16, 32) for name, key in (("worst", "max"), ("mean", "mean"))
    }  # fmt: skip
    counted = {"counted_items": explanation.items if explanation else math.nan}
    return {"variant": bare, "padding": padding} | counted | degrees | {_key(n): gains.get(n, math.nan) for n in SIZES}


def _counted(counts: CountEvidence, variant: str, padding: str) -> Explanation | None:
    """The largest case with this padding and otherwise default settings."""
    found = [e for e in counts.explanations
             if (e.variant, e.padding, e.type) == (variant, padding, "i32") and e.load in ("", "halves")]  # fmt: skip
    return max(found, key=lambda e: (e.items, e.mode == "inclusive"), default=None)
