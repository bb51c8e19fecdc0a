"""Counts of the SIMT emulator: cost, bank conflicts, padding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from scanlab_report import marks, style
from scanlab_report.data import Data, Group
from scanlab_report.groups import BEST
from scanlab_report.looks import look
from scanlab_report.pick import Lacking, caches, origin_first, pick, scans, shares
from scanlab_report.shown import Shown, figure, shown

PADDINGS = {
    "none": "none",
    "one_in_16": "one in 16",
    "two_level_16": "two levels, 16 banks",
    "row": "row of 32 banks",
    "two_level": "two levels, 32 banks",
}
"""Each padding in words."""
PADDED = Group("a scan that pads shared memory", lambda about: "padding" in about.defaults)


def counts(data: Data, variants: Sequence[str] = ()) -> pd.DataFrame:
    """Emulator counts of sums by some variants, all if none is named: counted now, else
    recorded."""
    rows = pick(data["counts"], op="plus", primitive="scan")
    rows = pick(rows, variant=list(variants)) if variants else rows
    named = f" of {' or '.join(variants)}" if variants else ""
    return origin_first(data, rows, f"counts of the SIMT emulator{named}")


def usual_load(rows: pd.DataFrame) -> pd.Series:
    return rows["load"].isin(("", "halves"))


def one_per_padding(rows: pd.DataFrame) -> pd.DataFrame:
    """One case per padding: the largest inclusive sum of 32-bit integers by the usual loads."""
    rows = pick(rows[usual_load(rows)], type="i32", mode="inclusive")
    return pick(rows, items=rows["items"].max()).drop_duplicates("padding")


def usual_counts(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one case per variant and size: 32-bit integers, default settings, the mode that costs
    least. `best` is left out: on the emulator it runs its fallback, which has a row of its own."""
    rows = rows[rows["variant"] != BEST]
    pads = rows["unpadded"] != rows["variant"]
    ranked = rows.assign(
        i32=rows["type"] == "i32",
        usual_load=usual_load(rows),
        usual=rows["padding"] == np.where(pads, "two_level", "none"),
        cost=[-content.totals.operations for content in rows["content"]],
        inclusive=rows["mode"] == "inclusive",
    )
    keys = ["i32", "usual", "usual_load", "cost", "inclusive"]
    ranked = ranked.sort_values(keys, kind="stable")
    return ranked.drop_duplicates(["variant", "items"], keep="last").drop(columns=keys)


def worst_degrees(content: Any, model: str) -> list[float]:
    """The worst degree of each tree step under a bank model (`banks16` or `banks32`)."""
    return [float(getattr(step.shared, model).max_degree) for step in content.tree_steps()]


@figure("scans", "explain")
def padding(data: Data) -> Shown:
    """Speedup of the tree by padding, measured, beside the bank conflicts that padding removes,
    counted: below 1 padding costs time."""
    cases, rows = scans(data, any_of=(PADDED,)), counts(data)
    named = rows.drop_duplicates("variant").sort_values("variant")
    pads = (named["unpadded"] != named["variant"]) & named["unpadded"].isin(named["variant"])
    pairs = dict(zip(named["unpadded"][pads], named["variant"][pads], strict=True))
    if not pairs:
        raise Lacking("counts of the SIMT emulator of scans with and without padding")
    looks = {bare: look(padded, data.variants) for bare, padded in pairs.items()}
    drawn, (left, right) = style.figure(style.DOUBLE, 2.4, 2, width_ratios=[1.25, 1])
    cache = caches(cases)[0]
    gains = {bare: shares(cases, padded, bare, cache) for bare, padded in pairs.items()}
    for bare, own in gains.items():
        marks.curve(left, own, "items", looks[bare], bare, "ratio")
    marks.items_axis(left, [*pd.concat(gains.values())["items"]] or [1, 2])
    left.axhline(1, color=style.BLACK, linewidth=0.6)
    left.set_ylabel("time, unpadded / padded")
    left.set_title(f"measured ({cache} cache)")
    left.margins(y=0.15)
    left.legend(loc="upper right", ncols=len(pairs), borderaxespad=0.2)
    largest = usual_counts(rows).sort_values("items", kind="stable")
    largest = largest.drop_duplicates("variant", keep="last").set_index("variant")
    above = {"xytext": (0, 6), "textcoords": "offset points", "ha": "center", "fontsize": 7}
    names = []
    for height, (bare, padded) in enumerate(reversed(pairs.items())):
        banks = [largest.at[v, "content"].totals.banks32 for v in (padded, bare)]
        means, drawn_as = [bank.mean_degree for bank in banks], looks[bare]
        right.plot(means, [height, height], color=drawn_as.colour, zorder=1)
        for bank, filled in zip(banks, (True, False), strict=True):
            marker = replace(drawn_as, line="None", filled=filled).plot()
            right.plot(bank.mean_degree, height, markersize=5, zorder=2, **marker)
            text = f"{bank.mean_degree:.2f} ({bank.max_degree:g})"
            right.annotate(text, (bank.mean_degree, height), **above)
        names.append(f"{bare}\n$n$ = {marks.power_of_two(largest.at[bare, 'items'])}")
    right.set_yticks(range(len(names)), names)
    right.set_ylim(-0.5, len(names) - 0.35)
    right.margins(x=0.16)
    right.set_xlabel("wavefronts per request (filled: padded)")
    right.set_title("counted, 32 banks")
    right.grid(axis="y", visible=False)
    caption = (
        "Left: time without padding over time with padding of each work-efficient scan, against "
        "array size: inclusive sums of 32-bit integers, stream launches; above 1, padding pays. "
        "Right: mean wavefronts per shared-memory request, counted by the SIMT emulator; the worst "
        "step in brackets. Bars: 95% intervals."
    )
    return shown(data, drawn, caption, cases, pick(rows, variant=[*pairs, *pairs.values()]))


def cost(content: Any) -> dict[str, Any]:
    """The costs of one case, for the page of the variants."""
    totals = content.totals
    moved = float(totals.global_bytes_read + totals.global_bytes_written)
    return {
        "items": content.items,
        "operations": totals.operations,
        "barriers": totals.barriers,
        "global_bytes_per_item": moved / max(content.items, 1),
        "worst_degree": totals.banks32.max_degree or None,
    }


def disagreements(data: Data) -> list[str]:
    """Return one sentence per count that differs from the closed form of the variant."""
    sentences = []
    for row in data["counts"].itertuples():
        for key in ("operations", "swaps"):
            stated = getattr(row.content.closed_forms, key)
            counted = getattr(row.content.totals, key)
            if stated not in (None, counted):
                case = f"{data.files[row.file].path}: {row.variant}, {row.mode}, {row.items} items"
                form = f"{counted} {key} were counted, the closed form says {stated}"
                sentences.append(f"{case}: {form}")
    return sentences
