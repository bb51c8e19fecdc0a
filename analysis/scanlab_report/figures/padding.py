"""Speedup of the tree by padding, measured, beside the bank conflicts that padding removes, counted: below 1 padding costs time."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from scanlab_report.derive.counts import default_only
from scanlab_report.derive.shares import shares
from scanlab_report.layout import style
from scanlab_report.layout.looks import look
from scanlab_report.schema.counts import Degrees
from scanlab_report.read.records import Explanation
from scanlab_report.read.variants import Variants
from scanlab_report.select.counted import Counts, pairs
from scanlab_report.select.evidence import CountEvidence, TimingEvidence
from scanlab_report.select.timings import ANY_TYPE, Timings
from scanlab_report.select.variants import PADDED

CAPTION = (
    "Left: time without padding over time with padding of each work-efficient scan, against array size: inclusive {scan} of "
    "{items}, stream launches. Above 1, padding pays. Right: mean wavefronts per shared-memory request, counted by the SIMT "
    "emulator; the worst step in brackets. Bars: 95% intervals."
)
NEEDS = {"timings": Timings(ANY_TYPE, any_of=(PADDED,)), "counts": Counts(padded=True)}
FOLLOWS = ("type", "op")


def draw(timings: TimingEvidence, counts: CountEvidence) -> Figure:
    drawn, (measured, counted) = style.figure(style.DOUBLE, 2.4, 2, width_ratios=[1.25, 1])
    padded = pairs(counts.explanations)
    _measured(measured, timings, padded)
    _counted(counted, counts, padded, timings.about)
    return drawn


def _measured(axes: Axes, timings: TimingEvidence, padded: dict[str, str]) -> None:
    cache = timings.caches()[0]
    items: list[int] = []
    for bare, variant in padded.items():
        rows = shares(timings, variant, bare, cache)
        if rows.empty:
            continue
        of = look(variant, timings.about)
        axes.plot(rows["items"], rows["ratio"], label=bare, **of.plot())
        style.error_bars(axes, rows["items"], rows["ratio"], rows["low"], rows["high"], of.colour)
        items += rows["items"].tolist()
    style.items_axis(axes, items or [1, 2])
    axes.axhline(1, color=style.BLACK, linewidth=0.6)
    axes.set_ylabel("time, unpadded / padded")
    axes.set_title(f"measured ({cache} cache)")
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.15 * (high - low))
    axes.legend(loc="upper right", ncols=len(padded), borderaxespad=0.2)


def _counted(axes: Axes, counts: CountEvidence, padded: dict[str, str], about: Variants) -> None:
    rows = [(_largest(counts, bare), _largest(counts, variant)) for bare, variant in padded.items()]
    degrees = [_banks(e).mean_degree for both in rows for e in both]
    top = max([1.0, *degrees])
    for height, (bare, of_padded) in enumerate(reversed(rows)):
        of = look(of_padded.variant, about)
        values = [(_banks(e).mean_degree, _banks(e).max_degree) for e in (of_padded, bare)]
        axes.plot([v[0] for v in values], [height, height], color=of.colour, linewidth=1.0, zorder=1)
        for (mean, worst), filled in zip(values, (True, False), strict=True):
            axes.plot(mean, height, linestyle="none", marker=of.marker, markersize=5, color=of.colour,
                      markerfacecolor=of.colour if filled else "white", zorder=2)  # fmt: skip
            axes.annotate(f"{mean:.2f} ({worst:g})", (mean, height), xytext=(0, 6), textcoords="offset points",
                          ha="center", fontsize=7)  # fmt: skip
    axes.set_yticks(range(len(rows)), [f"{bare.variant}\n$n$ = {style.power_of_two(bare.items)}" for bare, _ in reversed(rows)])
    axes.set_ylim(-0.5, len(rows) - 0.35)
    span = max(top - 1, 0.5)
    axes.set_xlim(1 - 0.16 * span, top + 0.16 * span)
    axes.set_xlabel("wavefronts per request (filled: padded)")
    axes.set_title("counted, 32 banks")
    axes.grid(axis="y", visible=False)


def _largest(counts: CountEvidence, variant: str) -> Explanation:
    """The counts of a variant at its largest size, with its default settings."""
    return max((e for e in default_only(counts.explanations) if e.variant == variant), key=lambda e: e.items)


def _banks(explanation: Explanation) -> Degrees:
    return explanation.totals.banks32
