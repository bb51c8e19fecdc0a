"""Axes of sizes, decades and powers; error bars."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from scanlab_report.intervals import FEWEST_OF_MEDIAN


def power_of_two(value: float) -> str:
    """2^k as mathematics when the value is a power of two, else the plain number."""
    n = round(value)
    if n > 0 and n & (n - 1) == 0:
        return rf"$2^{{{n.bit_length() - 1}}}$"
    return f"{n:,}".replace(",", " ")


def items_axis(axes: Axes, items: Iterable[int]) -> None:
    """Make an axis of array sizes logarithmic, with at most eight ticks, at powers of two."""
    sizes = [n for n in items if n > 0]
    low, high = int(np.floor(np.log2(min(sizes)))), int(np.ceil(np.log2(max(sizes))))
    step = next(s for s in (1, 2, 4, 8) if (high - low) / s <= 7 or s == 8)
    axes.set_xscale("log", base=2)
    axes.set_xlim(2.0 ** (low - 0.4), 2.0 ** (high + 0.4))
    axes.xaxis.set_major_locator(
        FixedLocator([2.0**k for k in range(low, high + 1) if (k - high) % step == 0])
    )
    axes.xaxis.set_minor_locator(FixedLocator([2.0**k for k in range(low, high + 1)]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: power_of_two(value)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("items $n$")


def decade_axis(axis: Any) -> None:
    """Put plain numbers (0.01, 1, 100, 10 000) at the decades of a logarithmic axis, without minor
    ticks."""
    axis.set_major_formatter(
        FuncFormatter(
            lambda value, _: f"{value:g}" if value < 1e4 else f"{value:,.0f}".replace(",", "\u2009")
        )
    )
    axis.set_major_locator(_Decades())
    axis.set_minor_locator(NullLocator())


class _Decades(LogLocator):
    """Ticks at decades. An axis of less than two decades has ticks at 2 and 5 times those as well,
    since it would have few numbers."""

    def tick_values(self, vmin: float, vmax: float) -> np.ndarray:
        self.set_params(subs=(1, 2, 5) if vmax < 100 * vmin else (1,))
        return super().tick_values(vmin, vmax)


def power_axis(axis: Any) -> None:
    """Put ticks at 0, 1, 10 and then at powers of ten on a logarithmic axis of counts, for narrow
    panels."""
    axis.set_major_formatter(
        FuncFormatter(
            lambda value, _: f"{value:g}" if value <= 10 else f"$10^{{{np.log10(value):.0f}}}$"
        )
    )
    axis.set_minor_locator(NullLocator())


def bars_said(repetitions: Iterable[int]) -> str:
    """Return what bars mean, or why there are none, for the caption of medians of so many
    repetitions each."""
    enough = {count >= FEWEST_OF_MEDIAN for count in repetitions}
    if enough == {False}:
        return f"There are no error bars: fewer than {FEWEST_OF_MEDIAN} repetitions."
    return (
        "Bars: 95% intervals"
        + f", where there are {FEWEST_OF_MEDIAN} repetitions" * (False in enough)
        + "."
    )


def ticks_at(panel: Axes, numbers: Iterable[int]) -> None:
    """A tick at each of some numbers, and no others."""
    panel.xaxis.set_major_locator(FixedLocator(sorted({float(n) for n in numbers})))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def error_bars(axes: Axes, x: Any, middle: Any, low: Any, high: Any, colour: str) -> None:
    """Draw vertical 95% intervals, only where they are known."""
    x, *interval = (np.asarray(v, dtype=float) for v in (x, middle, low, high))
    known, middle, lengths = _lengths(*interval)
    if known.any():
        axes.errorbar(x[known], middle, yerr=lengths, ecolor=colour, zorder=1.5, **_BARS)


def ratio_bars(axes: Axes, rows: Any, colour: str) -> None:
    """Draw the intervals of `ratio` against `items`."""
    error_bars(axes, rows["items"], rows["ratio"], rows["low"], rows["high"], colour)


def error_bars_across(axes: Axes, middle: Any, y: Any, low: Any, high: Any, colour: str) -> None:
    """Draw horizontal 95% intervals, only where they are known."""
    y, *interval = (np.asarray(v, dtype=float) for v in (y, middle, low, high))
    known, middle, lengths = _lengths(*interval)
    if known.any():
        axes.errorbar(middle, y[known], xerr=lengths, ecolor=colour, zorder=3, **_BARS)


_BARS: dict[str, Any] = dict(fmt="none", elinewidth=0.8, capsize=1.4, capthick=0.6)


def _lengths(
    middle: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Where intervals are known; there the middle, and the lengths below and above it."""
    known = np.isfinite(low) & np.isfinite(high)
    below, above = np.clip(middle - low, 0, None), np.clip(high - middle, 0, None)
    return known, middle[known], [below[known], above[known]]
