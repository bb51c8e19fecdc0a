"""How panels show data: scales, ticks, lines and bars."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, LogLocator, NullFormatter, NullLocator

from scanlab_report.style import End, Look

# ----------------------------------------------------------------------------------------- axes


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
    axes.xaxis.set_major_locator(FixedLocator([2.0**k for k in range(high, low - 1, -step)]))
    axes.xaxis.set_minor_locator(FixedLocator([2.0**k for k in range(low, high + 1)]))
    axes.xaxis.set_major_formatter(lambda value, _: power_of_two(value))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("items $n$")


def decade_axis(axis: Any) -> None:
    """Put plain numbers at the decades of a logarithmic axis, without minor ticks."""
    plain_form = lambda v: f"{v:g}" if v < 1e4 else f"{v:,.0f}".replace(",", "\u2009")
    axis.set_major_formatter(lambda value, _: plain_form(value))
    axis.set_major_locator(_Decades())
    axis.set_minor_locator(NullLocator())


class _Decades(LogLocator):
    """Ticks at decades, and at 2 and 5 times those on an axis of less than two decades."""

    def tick_values(self, vmin: float, vmax: float) -> np.ndarray:
        self.set_params(subs=(1, 2, 5) if vmax < 100 * vmin else (1,))
        return super().tick_values(vmin, vmax)


def factor_axis(axis: Any, *factors: float) -> None:
    """Put plain numbers at these multiples of the decades of a logarithmic axis."""
    axis.set_major_locator(LogLocator(subs=factors))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def ticks_at(panel: Axes, numbers: Iterable[int], base: int = 0) -> None:
    """A tick at each of some numbers, and no others; on a logarithmic axis if it has a base."""
    if base:
        panel.set_xscale("log", base=base)
    panel.xaxis.set_major_locator(FixedLocator(sorted({float(n) for n in numbers})))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter("{x:g}")


def rows_of_names(axes: Axes, names: Sequence[str], space: float = 0.4) -> None:
    """Name the rows of a figure of bars, the first at the top."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - space, space - 1)
    axes.grid(visible=False, axis="y")


# ---------------------------------------------------------------------------------------- lines

THICK: dict[str, Any] = {"linewidth": 2.6, "zorder": 1}
"""The form of a curve behind all others, which are compared with it."""


def times(rows: pd.DataFrame, unit: float) -> pd.DataFrame:
    """With the median time as `y` and its interval as `low` and `high`, in units of so many ns."""
    y, low, high = (rows[f"{name}_ns"] / unit for name in ("median", "low", "high"))
    return rows.assign(y=y, low=low, high=high)


def rates(rows: pd.DataFrame, unit: float = 1.0) -> pd.DataFrame:
    """With the throughput as `y`, `low` and `high`, in units of so many GB/s."""
    y, low, high = (rows["bytes"] / unit / rows[f"{name}_ns"] for name in ("median", "high", "low"))
    return rows.assign(y=y, low=low, high=high)


def heights(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """With intervals as `y`, `low` and `high`."""
    ends = {"y": "value", "low": "low", "high": "high"}
    return rows.assign(**{y: [getattr(i, end) for i in rows[column]] for y, end in ends.items()})


def curve(
    axes: Axes, rows: pd.DataFrame, x: str, look: Look, label: str = "", y: str = "y", **form: Any
) -> End | None:
    """Draw a line with bars from `low` to `high`; return its end for `margin_legend`, if any."""
    if rows.empty:
        return None
    axes.plot(rows[x], rows[y], label=label, **look.plot() | form)
    if "low" in rows:
        error_bars(axes, rows[x], rows[y], rows["low"], rows["high"], look.colour)
    last = rows.iloc[-1]
    return End(label, look, float(last[x]), float(last[y]), form.get("linewidth"))


def level(axes: Axes, y: float, look: Look, label: str = "", width: float | None = None) -> End:
    """Draw a line across a panel, and return its end."""
    axes.axhline(y, linewidth=width, zorder=1, label=label, **look.plot())
    return End(label, look, axes.get_xlim()[1], y, width)


def error_bars(
    axes: Axes, x: Any, y: Any, low: Any, high: Any, colour: str, across: bool = False
) -> None:
    """Draw 95% intervals where they are known, of y, or `across` of x."""
    x, y, low, high = (np.asarray(values, dtype=float) for values in (x, y, low, high))
    known, middle = np.isfinite(low) & np.isfinite(high), x if across else y
    if known.any():
        lengths = np.clip([middle - low, high - middle], 0, None)[:, known]
        bars = {"xerr": lengths, "zorder": 3} if across else {"yerr": lengths, "zorder": 1.5}
        form = {"fmt": "none", "elinewidth": 0.8, "capsize": 1.4, "capthick": 0.6}
        axes.errorbar(x[known], y[known], ecolor=colour, **form, **bars)
