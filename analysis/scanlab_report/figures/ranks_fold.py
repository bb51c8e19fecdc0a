"""Share of copies of a scan over several GPUs that folds as many aggregates as more GPUs have."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from scanlab_report.derive.ranks import folds, main_kind
from scanlab_report.layout import style
from scanlab_report.layout.ranks import IDEAL, told_look
from scanlab_report.select.ranks_evidence import STATES, RanksEvidence, SeveralGpus

CAPTION = (
    "Share of copies that `peer_look_ahead` reaches when it folds as many aggregates as more GPUs have. Leftmost: the GPUs that were "
    "timed. Right of them, one or three zeros follow each aggregate. The points show the cost of the fold alone, not that of "
    "more links. Bars: 95% intervals."
)
NEEDS = {"timed": SeveralGpus(STATES)}


def draw(timed: RanksEvidence) -> Figure:
    rows = folds(main_kind(timed.cases))
    rows = rows[(rows["ranks"] == rows["ranks"].max()) & (rows["items"] == rows["items"].max())]
    drawn, (axes,) = style.figure(style.COLUMN, 1.4)
    for (name, told), of in rows.groupby(["algorithm", "told"]):
        seen, shares = told_look(name, told), [*of["of_copy"]]
        middle = [share.value for share in shares]
        axes.plot(of["as_ranks"], middle, label=f"GPUs tell of {told}s", **seen.plot())
        style.error_bars(axes, of["as_ranks"], middle, [share.low for share in shares], [share.high for share in shares], seen.colour)
    axes.axhline(1.0, **IDEAL.plot())
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(sorted({float(n) for n in rows["as_ranks"]})))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_ylim(0, 1.06)
    axes.set_title(f"{style.power_of_two(rows['items_per_rank'].iloc[0])} items per GPU, {rows['ranks'].iloc[0]} GPUs")
    axes.set_xlabel("GPUs whose aggregates are folded")
    axes.set_ylabel("share of copies")
    axes.legend(loc="lower left")
    return drawn
