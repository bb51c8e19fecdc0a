"""The distribution of every case's samples, one panel a case, with those of all files in it."""

from __future__ import annotations

import textwrap

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, ScalarFormatter

from scanlab_report.commands.build.foreign.shown import COLOURS, LINES, Shown, unit
from scanlab_report.layout import style
from scanlab_report.read.foreign.cases import Case
from scanlab_report.stats.intervals import median_interval

CAPTION = ("Cumulative distribution of the samples of each case. A flat step separates two modes. Marks at one half: medians with 95% intervals. "
           "Axes leave out 0.5% at each end")  # fmt: skip
MOST = 24
"""Panels that a page has room for."""
_COLUMNS, _LETTERS = 4, 30
_STEPS = 1000
"""Points of a line: more samples than this are drawn by as many quantiles."""


def draw(shown: list[Shown]) -> Figure | str:
    by_case: dict[tuple[str, ...], list[Shown]] = {}
    for of in shown:
        if len(of.case.samples) > 1:
            by_case.setdefault(of.case.key, []).append(of)
    if not by_case:
        return "no case has two samples or more"
    chosen = sorted(by_case, key=lambda key: max(map(_spread, by_case[key])), reverse=True)[:MOST]
    panels = [of for key, of in by_case.items() if key in chosen]
    rows = -(-len(panels) // _COLUMNS)
    columns = min(_COLUMNS, len(panels))
    drawn, axes = style.figure(style.DOUBLE * columns / _COLUMNS if columns > 1 else style.COLUMN, 0.3 + 1.45 * rows, columns, rows, sharey=True)
    names = [(them[0].case.benchmark, them[0].case.label, them[0].case.device) for them in by_case.values()]
    varies = [len({part for part in parts if part}) > 1 for parts in zip(*names, strict=True)]
    for panel, them in zip(axes, panels, strict=False):
        _panel(panel, them)
        _heading(panel, them[0].case, *varies)
    for unused in axes[len(panels) :]:
        unused.remove()
    for panel in axes[: len(panels) : columns]:
        panel.set_ylabel("share of samples")
    files = {of.number: of.file for them in panels for of in them}
    said = f"The {len(panels)} of {len(by_case)} cases whose middle half is the widest" if len(panels) < len(by_case) else ""
    if len(files) > 1 or said:
        lines = [Line2D([], [], color=_colour(number), linestyle=_line(number), label=style.plain(name)) for number, name in files.items()] if len(files) > 1 else []
        drawn.legend(handles=lines, loc="outside upper left", ncols=4, title=said or None, title_fontsize=7.5, alignment="left")
    return drawn


def _panel(axes: Axes, files: list[Shown]) -> None:
    every = np.concatenate([of.case.samples for of in files])
    name, factor = unit(float(np.median(every)))
    for place, of in enumerate(files):
        samples = np.sort(of.case.samples) * factor
        if len(samples) > _STEPS:
            samples = np.quantile(samples, np.linspace(0, 1, _STEPS), method="inverted_cdf")
        shares = np.arange(len(samples) + 1) / len(samples)
        axes.step(np.concatenate([samples[:1], samples]), shares, where="post", color=_colour(of.number), linestyle=_line(of.number))
        median = median_interval(of.case.samples * factor)
        height = 0.5 - 0.07 * place  # so that one hides no other
        axes.plot([median.value], [height], "o", color=_colour(of.number), markersize=2.5)
        style.error_bars_across(axes, [median.value], [height], [median.low], [median.high], _colour(of.number))
    ends = [np.quantile(of.case.samples, share) * factor for of in files for share in (0.005, 0.995)]
    margin = 0.05 * (max(ends) - min(ends)) or 0.01 * max(ends)
    axes.set_xlim(min(ends) - margin, max(ends) + margin)
    axes.set_ylim(0, 1.02)
    axes.xaxis.set_major_locator(MaxNLocator(3))
    axes.xaxis.set_major_formatter(ScalarFormatter(useOffset=False))
    axes.set_xlabel(f"time, {name}", fontsize=7)


def _heading(axes: Axes, case: Case, benchmark: bool, point: bool, device: bool) -> None:
    """What tells a case from the others: its benchmark, its point, its device."""
    parts = ((case.benchmark, benchmark or not case.label), (case.label, point or not benchmark), (case.device and f"on device {case.device}", device))
    said = " ".join(part for part, varies in parts if part and varies)
    axes.set_title(style.plain("\n".join(textwrap.wrap(said, _LETTERS, max_lines=3, placeholder=" …"))), fontsize=6.5)


def _spread(of: Shown) -> float:
    low, middle, high = np.quantile(of.case.samples, (0.25, 0.5, 0.75))
    return float((high - low) / middle)


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _line(number: int) -> str:
    return LINES[number // 2 % len(LINES)] if number > 1 else LINES[number]
