"""Stall cycles of each warp role on each of several GPUs by cause."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from scanlab_report.derive.waits import kinds, shares
from scanlab_report.layout import style
from scanlab_report.layout.waits import stack
from scanlab_report.select.counted import RanksWaits
from scanlab_report.select.evidence import TableEvidence

CAPTION = (
    "Stall cycles of each warp role on each GPU, as shares of all cycles of the role there. The role tell stores aggregates on the other GPUs. "
    "Causes are those of prefix_wait; prefix includes waits for other GPUs. Clocks of an instrumented kernel, over one run of the "
    "largest array, so no bars."
)
NEEDS = {"waits": RanksWaits()}


def draw(waits: TableEvidence) -> Figure:
    rows = shares(waits)
    rows = rows[rows["variant"] == rows["variant"].iloc[0]]
    rows = rows[rows["type"] == rows["type"].iloc[0]]
    roles = list(dict.fromkeys(rows["role"]))
    ranks = sorted(set(rows["rank"]))
    drawn, axes = style.figure(style.DOUBLE, 0.85 + 0.17 * len(ranks), len(roles), sharey=True)
    for panel, role in zip(axes, roles, strict=True):
        of_role = rows[rows["role"] == role].sort_values("rank")
        stack(panel, of_role["rank"].astype(float), of_role, kinds(rows))
        panel.set_yticks(ranks, [f"GPU {rank:g}" for rank in ranks])
        panel.set_title(role)
        panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes[len(roles) // 2].set_xlabel(f"share of cycles, {rows['variant'].iloc[0]}, {style.power_of_two(rows['items'].iloc[0])} items in all")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=6, columnspacing=0.8, handlelength=1.4, borderpad=0)
    return drawn
