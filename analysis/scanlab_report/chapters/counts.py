"""Counts of the SIMT emulator: cost, bank conflicts, padding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from msgspec import UNSET

from scanlab_report import marks, style
from scanlab_report.data import Data, Group
from scanlab_report.formats import Column, Table, code, significant, size, whole
from scanlab_report.groups import ANY_TYPE, BEST
from scanlab_report.looks import look
from scanlab_report.pick import (
    Lacking,
    caches,
    items_words,
    origin_first,
    pick,
    scan_of,
    scan_words,
    scans,
    shares,
)
from scanlab_report.shown import Shown, figure, shown, table
from scanlab_report.tables import ELEMENT_BYTES

PADDINGS = {
    "none": "none",
    "one_in_16": "one in 16",
    "two_level_16": "two levels, 16 banks",
    "row": "row of 32 banks",
    "two_level": "two levels, 32 banks",
}
"""Each padding in words."""
PADDED = Group("a scan that pads shared memory", lambda about: "padding" in about.defaults)


def counts(data: Data, variants: Sequence[str] = (), op: str = "plus") -> pd.DataFrame:
    """Emulator counts of some variants, all if none is named: counted now, else recorded."""
    rows = pick(data["counts"], op=op)
    rows = pick(rows, variant=list(variants)) if variants else rows
    named = f" of {' or '.join(variants)}" if variants else ""
    return origin_first(data, rows, f"counts of the SIMT emulator{named}")


def padded_of(rows: pd.DataFrame) -> dict[str, str]:
    """Return the variants that pad, by their name without padding; both were counted."""
    named = rows.drop_duplicates("variant").sort_values("variant")
    counted, pairs = set(named["variant"]), zip(named["unpadded"], named["variant"], strict=True)
    return {bare: padded for bare, padded in pairs if bare != padded and bare in counted}


def usual_load(rows: pd.DataFrame) -> pd.Series:
    return rows["load"].isin(("", "halves"))


def one_per_padding(rows: pd.DataFrame) -> pd.DataFrame:
    """One case per padding, in the order of PADDINGS: one type, mode and size, the largest."""
    order = [*PADDINGS, *sorted(set(rows["padding"]) - set(PADDINGS))]
    ranked = rows.assign(
        i32=rows["type"] == "i32",
        usual=usual_load(rows),
        inclusive=rows["mode"] == "inclusive",
        place=rows["padding"].map(order.index),
    ).sort_values(["i32", "items", "inclusive", "usual"], ascending=False, kind="stable")
    best = ranked.iloc[0]
    same = pick(ranked, **{name: best[name] for name in ("type", "mode", "items")})
    same = same.sort_values(["place", "usual"], kind="stable")
    return same.drop_duplicates("place", keep="last").reset_index(drop=True)


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


@figure("explain", wide=True)
def bank_conflicts(data: Data) -> Shown:
    """Degree of the bank conflicts in each step of the tree, by padding, for the 16 banks of 2007
    and the 32 of today."""
    rows = counts(data, ("hso_block", "hso_block_padded"))
    chosen = one_per_padding(rows)
    models = {"16 banks per half-warp (2007)": "banks16", "32 banks per warp (today)": "banks32"}
    height = 0.75 + 0.46 * len(chosen)
    drawn, panels = style.figure(style.DOUBLE, height, rows=len(models), sharex=True)
    for panel, (name, model) in zip(panels, models.items(), strict=True):
        _degrees(panel, chosen, model, name)
    steps = chosen["content"][0].tree_steps()
    panels[-1].set_xticks(range(len(steps)), [str(step.number) for step in steps])
    up = sum(step.name == "up-sweep" for step in steps)
    below = {"xycoords": "axes fraction", "textcoords": "offset points", "xytext": (0, -19)}
    for number, start, name in ((up, 0, "up-sweep"), (len(steps) - up, up, "down-sweep")):
        centre = ((start + number / 2) / len(steps), 0)
        text = f"{name}, by stride →"
        panels[-1].annotate(text, centre, ha="center", va="top", fontsize=8.5, **below)
    caption = (
        "Bank-conflict degree of each tree step of the one-block work-efficient scan, counted by "
        "the SIMT emulator: the most wavefronts that one shared-memory request takes. Columns: "
        "strides of the up-sweep, then of the down-sweep. Rows: the padding added to index i. "
        "Degree 1 is free of conflicts; darker is worse. Exact counts, so no bars."
    )
    return shown(data, drawn, caption, rows)


def _formula(padding: str, type_name: str) -> str:
    """Return the words that a padding adds to index i, as a formula. Banks are 4 bytes wide."""
    row16, row32 = (4 * banks // ELEMENT_BYTES[type_name] for banks in (16, 32))
    return {
        "none": "none",
        "one_in_16": "$i/16$",
        "row": f"$i/{row32}$",
        "two_level_16": f"$i/{row16} + i/{row16}^2$",
        "two_level": f"$i/{row32} + i/{row32}^2$",
    }.get(padding, padding)


def _degrees(axes: Axes, chosen: pd.DataFrame, model: str, name: str) -> None:
    values = np.array([worst_degrees(content, model) for content in chosen["content"]])
    shades = {"cmap": "Blues", "norm": LogNorm(0.8, 48), "interpolation": "nearest"}
    axes.imshow(np.maximum(values, 1), aspect="auto", **shades)
    for (row, column), value in np.ndenumerate(values):
        text, colour = f"{value:g}" if value else "·", "white" if value >= 12 else "black"
        centred = {"ha": "center", "va": "center_baseline"}
        axes.text(column, row, text, fontsize=7.5, color=colour, **centred)
    first = chosen.iloc[0]
    names = [_formula(row.padding, row.type) for row in chosen.itertuples()]
    axes.set_yticks(range(len(chosen)), names)
    axes.set_title(f"{name}; {first['type']}, $n$ = {marks.power_of_two(first['items'])}")
    axes.grid(visible=False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.axvline(values.shape[1] / 2 - 0.5, color="white", linewidth=2.5)


@figure("scans", "explain", follows=("type", "op"))
def padding(data: Data) -> Shown:
    """Speedup of the tree by padding, measured, beside the bank conflicts that padding removes,
    counted: below 1 padding costs time."""
    cases = scans(data, types=ANY_TYPE, any_of=(PADDED,))
    rows = counts(data)
    pairs = padded_of(rows)
    if not pairs:
        raise Lacking("counts of the SIMT emulator of scans with and without padding")
    drawn, (left, right) = style.figure(style.DOUBLE, 2.4, 2, width_ratios=[1.25, 1])
    cache, items = caches(cases)[0], []
    for bare, variant in pairs.items():
        own, drawn_as = shares(cases, variant, bare, cache), look(variant, data.variants)
        marks.curve(left, own, "items", drawn_as, bare, "ratio")
        items += own["items"].tolist()
    marks.items_axis(left, items or [1, 2])
    left.axhline(1, color=style.BLACK, linewidth=0.6)
    left.set_ylabel("time, unpadded / padded")
    left.set_title(f"measured ({cache} cache)")
    low, high = left.get_ylim()
    left.set_ylim(low, high + 0.15 * (high - low))
    left.legend(loc="upper right", ncols=len(pairs), borderaxespad=0.2)
    _padded_counts(right, data, usual_counts(rows), pairs)
    type_name, op = scan_of(cases)
    members = [variant for pair in pairs.items() for variant in pair]
    caption = (
        "Left: time without padding over time with padding of each work-efficient scan, against "
        f"array size: inclusive {scan_words(op)} of {items_words(type_name)}, stream launches. "
        "Above 1, padding pays. Right: mean wavefronts per shared-memory request, counted by the "
        "SIMT emulator; the worst step in brackets. Bars: 95% intervals."
    )
    return shown(data, drawn, caption, cases, pick(rows, variant=members), scanned=(type_name, op))


def _padded_counts(axes: Axes, data: Data, usual: pd.DataFrame, pairs: dict[str, str]) -> None:
    """Wavefronts per request of the largest case of each scan, with and without padding."""
    largest = usual.sort_values("items", kind="stable").drop_duplicates("variant", keep="last")
    largest = largest.set_index("variant")
    names, means = [], [1.0, 1.5]
    above = {"xytext": (0, 6), "textcoords": "offset points", "ha": "center", "fontsize": 7}
    for height, (bare, padded) in enumerate(reversed(pairs.items())):
        drawn_as = replace(look(padded, data.variants), line="None")
        banks = [largest.at[v, "content"].totals.banks32 for v in (padded, bare)]
        means += [bank.mean_degree for bank in banks]
        axes.plot(means[-2:], [height, height], color=drawn_as.colour, zorder=1)
        for bank, filled in zip(banks, (True, False), strict=True):
            marker = replace(drawn_as, filled=filled).plot()
            axes.plot(bank.mean_degree, height, markersize=5, zorder=2, **marker)
            text = f"{bank.mean_degree:.2f} ({bank.max_degree:g})"
            axes.annotate(text, (bank.mean_degree, height), **above)
        names.append(f"{bare}\n$n$ = {marks.power_of_two(largest.at[bare, 'items'])}")
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(-0.5, len(names) - 0.35)
    top, span = max(means), max(means) - 1
    axes.set_xlim(1 - 0.16 * span, top + 0.16 * span)
    axes.set_xlabel("wavefronts per request (filled: padded)")
    axes.set_title("counted, 32 banks")
    axes.grid(axis="y", visible=False)


@table("explain")
def costs(data: Data) -> Shown:
    """Cost of one scan: additions, swaps, barriers and bytes, beside the closed forms."""
    rows = counts(data)
    usual = usual_counts(rows)
    if usual.empty:
        raise Lacking("counts of other variants than best")
    variants_at = Counter(usual["items"])
    common = max(variants_at, key=lambda n: (variants_at[n], n))
    chosen = pick(usual, items={common, max(variants_at)}).sort_values(["items", "variant"])
    columns = (
        Column("variant", "variant", code, right=False),
        Column("mode", "mode", right=False),
        Column("items", "n", size),
        Column("launches", "launches", whole),
        Column("operations", "counted", whole, group="additions"),
        Column("operations_closed_form", "closed form", whole, group="additions"),
        Column("swaps", "counted", whole, group="swaps"),
        Column("swaps_closed_form", "closed form", whole, group="swaps"),
        Column("barriers", "barriers", whole),
        Column("global_bytes_per_item", "bytes/item", significant),
        Column("worst_degree", "worst degree", whole),
    )
    caption = (
        "Cost of one scan, counted by the SIMT emulator beside the closed forms of the sources, in "
        "the cheaper mode of each variant. Barriers are those of one block, summed over launches. "
        "The degree is the worst bank conflict for 32 banks. A dash: no closed form, or no shared "
        "memory."
    )
    made = pd.DataFrame([cost(content) for content in chosen["content"]])
    return shown(data, Table(caption, columns, made), caption, rows)


def cost(content: Any) -> dict[str, Any]:
    """The costs of one case by the column's name."""
    totals, forms = content.totals, content.closed_forms
    moved = float(totals.global_bytes_read + totals.global_bytes_written)
    launches = len(content.launches) if totals.launches is UNSET else totals.launches
    return {
        "variant": content.variant,
        "mode": content.mode,
        "items": content.items,
        "launches": launches,
        "operations": totals.operations,
        "operations_closed_form": forms.operations,
        "swaps": totals.swaps,
        "swaps_closed_form": forms.swaps,
        "barriers": totals.barriers,
        "global_bytes_per_item": moved / max(content.items, 1),
        "worst_degree": totals.banks32.max_degree or None,
    }


def disagreements(data: Data) -> list[str]:
    """Return one sentence per count that differs from the closed form of the variant."""
    sentences = []
    for row in data["counts"].itertuples():
        for key in ("operations", "swaps"):
            sides = row.content.closed_forms, row.content.totals
            stated, counted = (getattr(side, key) for side in sides)
            if stated not in (None, counted):
                case = f"{data.files[row.file].path}: {row.variant}, {row.mode}, {row.items} items"
                form = f"{counted} {key} were counted, the closed form says {stated}"
                sentences.append(f"{case}: {form}")
    return sentences
