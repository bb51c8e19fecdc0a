"""Degree of the bank conflicts in each step of the tree, by padding, for the 16 banks of 2007 and the 32 of today."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from scanlab_report.derive.counts import choose, degrees
from scanlab_report.layout import style
from scanlab_report.read.records import Explanation, ideal_bytes
from scanlab_report.select.counted import Counts
from scanlab_report.select.evidence import CountEvidence

CAPTION = (
    "Bank-conflict degree of each tree step of the one-block work-efficient scan, counted by the SIMT emulator: the most "
    "wavefronts that one shared-memory request takes. Columns: strides of the up-sweep, then of the down-sweep. Rows: the "
    "padding added to index i. Degree 1 is free of conflicts; darker is worse. Exact counts, so no bars."
)
NEEDS = {"counts": Counts(variants=("hso_block", "hso_block_padded"))}
WIDE = True
MODELS = (("banks16", "16 banks per half-warp (2007)"), ("banks32", "32 banks per warp (today)"))


def draw(counts: CountEvidence) -> Figure:
    chosen = choose(counts.explanations)
    steps = [(sweep, stride) for sweep, stride, _ in chosen[0].tree_steps()]
    drawn, panels = style.figure(style.DOUBLE, 0.75 + 0.46 * len(chosen), rows=len(MODELS), sharex=True)
    for panel, (model, name) in zip(panels, MODELS, strict=True):
        _heatmap(panel, chosen, model, name)
    _name_steps(panels[-1], steps)
    return drawn


def formula(padding: str, type_name: str) -> str:
    """What a padding adds to index i, for items of a type (without ``affine``); banks are 4 bytes wide."""
    row16, row32 = (4 * banks // (ideal_bytes(type_name, "plus", 1) // 2) for banks in (16, 32))
    return {
        "none": "none",
        "one_in_16": "$i/16$",
        "two_level_16": f"$i/{row16} + i/{row16}^2$",
        "row": f"$i/{row32}$",
        "two_level": f"$i/{row32} + i/{row32}^2$",
    }.get(padding, padding)


def _heatmap(axes: Axes, chosen: list[Explanation], model: str, name: str) -> None:
    values = np.array([degrees(e, model) for e in chosen])
    axes.imshow(np.maximum(values, 1), aspect="auto", cmap="Blues", norm=LogNorm(0.8, 48), interpolation="nearest")
    for (row, column), value in np.ndenumerate(values):
        axes.text(column, row, f"{value:g}" if value else "·", ha="center", va="center_baseline", fontsize=7.5,
                  color="white" if value >= 12 else "black")  # fmt: skip
    axes.set_yticks(range(len(chosen)), [formula(e.padding, e.type) for e in chosen])
    axes.set_title(f"{name}; {chosen[0].type}, $n$ = {style.power_of_two(chosen[0].items)}")
    axes.grid(visible=False)
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    half = values.shape[1] / 2 - 0.5
    axes.axvline(half, color="white", linewidth=2.5)


def _name_steps(axes: Axes, steps: list[tuple[str, int]]) -> None:
    axes.set_xticks(range(len(steps)), [str(stride) for _, stride in steps])
    up = sum(sweep == "up-sweep" for sweep, _ in steps)
    for count, start, name in ((up, 0, "up-sweep, by stride →"), (len(steps) - up, up, "down-sweep, by stride →")):
        if count:
            centre = (start + (count - 1) / 2 + 0.5) / len(steps)
            axes.annotate(name, (centre, 0), xycoords="axes fraction", xytext=(0, -19), textcoords="offset points",
                          ha="center", va="top", fontsize=8.5)  # fmt: skip
