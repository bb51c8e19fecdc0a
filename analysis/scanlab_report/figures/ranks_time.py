"""Time of scans over several GPUs against items per GPU, with the floors."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from scanlab_report.derive.ranks import COPY, FLOORS, beside, floors, main_kind, three_n
from scanlab_report.layout import style
from scanlab_report.layout.ranks import COPIES, COPY_WIDTH, THREE_N, WIDTH, look, ordered
from scanlab_report.select.ranks_evidence import RanksEvidence, SeveralGpus

CAPTION = (
    "Time of a scan of one array against items per GPU, on the most GPUs that were timed, warm, in a stream. Thick: copies on all GPUs. Dashed: "
    "reading and then copying. Horizontal: an empty kernel on every GPU, and an NCCL all-gather of 8 bytes per GPU, the floors of a "
    "launch and of an exchange. Bars: 95% intervals."
)
NEEDS = {"timed": SeveralGpus("items")}
NAMES = {"launch_all": "empty kernels", "nccl_all_gather": "NCCL all-gather"}


def shown(timed: RanksEvidence) -> pd.DataFrame:
    """The cases of the most ranks of which a scan was timed at several sizes."""
    cases = main_kind(timed.usual())
    sizes = cases[cases["kind"] == "scan"].groupby("ranks")["items"].nunique()
    return cases[cases["ranks"] == max(sizes.index, key=lambda ranks: (sizes[ranks] > 1, ranks))]


def draw(timed: RanksEvidence) -> Figure:
    cases = shown(timed)
    ranks, on_gpus = int(cases["ranks"].iloc[0]), bool((cases["on"] == "gpus").all())
    rows = beside(cases)
    drawn, (axes,) = style.figure(style.DOUBLE, 2.9)
    axes.set_yscale("log")
    style.items_axis(axes, (cases["items"] / ranks).tolist())
    style.decade_axis(axes.yaxis)
    ends = []
    copies = cases[cases["algorithm"] == COPY].sort_values("items")
    both = pd.Series({of[-1]: time for of, time in three_n(cases).items()}, dtype=float).sort_index()
    for name, look_, width, of in (("copies, 2n", COPIES, COPY_WIDTH, copies.set_index("items")["median_ns"]), ("reading and copying, 3n", THREE_N, WIDTH, both)):
        if len(of):
            axes.plot(of.index / ranks, of / 1e3, linewidth=width, zorder=1, **look_.plot())
            ends.append(style.End(name, look_, float(of.index[-1] / ranks), float(of.iloc[-1]) / 1e3, width))
    for name in ordered(rows["algorithm"]):
        of, seen = rows[rows["algorithm"] == name].sort_values("items"), look(name)
        axes.plot(of["items_per_rank"], of["median_ns"] / 1e3, zorder=2, **seen.plot())
        style.error_bars(axes, of["items_per_rank"], of["median_ns"] / 1e3, of["low_ns"] / 1e3, of["high_ns"] / 1e3, seen.colour)
        ends.append(style.End(name, seen, float(of["items_per_rank"].iloc[-1]), float(of["median_ns"].iloc[-1]) / 1e3))
    for name, _, time in sorted(floors(cases), key=lambda of: FLOORS.index(of[0])):
        axes.axhline(time / 1e3, linewidth=WIDTH, **look(name).plot())
        ends.append(style.End(f"{NAMES[name]}, {time / 1e3:.1f} µs", look(name), axes.get_xlim()[1], time / 1e3, WIDTH))
    axes.set_xlabel("items per GPU" if on_gpus else "items per rank")
    axes.set_ylabel("time, µs")
    axes.set_title(f"{ranks} {'GPUs' if on_gpus else 'ranks'}")
    style.margin_legend(axes, ends)
    return drawn
