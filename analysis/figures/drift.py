"""Drift and outliers: every repetition by its round, over the median of its case's others, and the median of each round."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from analysis import style
from analysis.drift import TITLES, Session, SessionEvidence, Sessions

WIDTH = "double"
CAPTION = (
    "What changed while the results files were measured, a column a session: one file, or all those of few cases. Above, each repetition by its "
    "round, and within it by its case, over the median of the other repetitions of its case; those beyond Tukey's fences are orange, and none was left out of anything. Below, the "
    "median over all cases of each round less 1, linear up to 0.1%; bars are 95% intervals between order statistics. Without drift it stays at 0."
)
NEEDS = {"sessions": Sessions()}
MOST = 6
"""Columns for which there is room; the table has every session."""


def draw(sessions: SessionEvidence) -> Figure:
    shown = sorted(sorted(sessions.sessions, key=lambda of: len(of.names))[-MOST:], key=sessions.sessions.index)
    drawn, axes = style.figure(style.DOUBLE, 3.4, len(shown), 2, sharex="col", sharey="row", height_ratios=(1.25, 1))
    for session, above, below in zip(shown, axes[: len(shown)], axes[len(shown) :], strict=True):
        above.set_title(f"{TITLES[session.kind]}, {len(session.names)} cases\n{session.name}", fontsize=7)
        _repetitions(above, session)
        _rounds(below, session)
    axes[0].set_ylabel("time, of the others’ median")
    axes[len(shown)].set_ylabel("median of a round, %")
    return drawn


def details(sessions: SessionEvidence) -> str:
    """Where clocks were lowered, in words."""
    return " ".join(said for session in sessions.sessions if (said := session.throttling()))


def _repetitions(axes: Axes, session: Session) -> None:
    """A dot a repetition: rounds from left to right, and within each the cases."""
    rows = session.repetitions
    when = 0.5 + rows["round"] + rows["case"] / len(session.names)
    for outlier, colour, size in ((False, style.GREY, 0.4), (True, style.ORANGE, 1.2)):
        of = rows["outlier"] == outlier
        axes.plot(when[of], rows.loc[of, "relative"], ".", color=colour, markersize=size, markeredgewidth=0.2, rasterized=True)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(0.5, 0.7, 1, 1.5, 2, 3, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _rounds(axes: Axes, session: Session) -> None:
    rounds = session.rounds
    median, low, high = (100 * (rounds[column] - 1) for column in ("median", "low", "high"))
    axes.plot(1 + rounds["round"], median, "o", color=style.BLUE)
    style.error_bars(axes, 1 + rounds["round"], median, low, high, style.BLUE)
    axes.axhline(0, color=style.BLACK, linewidth=0.6, zorder=1)
    axes.set_yscale("symlog", linthresh=0.1)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}".replace("-", "−")))
    axes.set_xlabel("round")
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
