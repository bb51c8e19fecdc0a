"""Drift and outliers within a session: each repetition in grey and the median of each round in orange, one panel per results file."""

from __future__ import annotations

import textwrap

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from scanlab_report.layout import style
from scanlab_report.select.drift import TITLES, SessionEvidence, Sessions, TimedFiles

CAPTION = (
    "Change of timings within each session, one column per session. Above: each repetition over the median of the others of "
    "its case, by round; outliers are orange, scales differ. Below: the median change of each round on one scale, linear up "
    "to 0.1%, for cases with equal numbers of rounds (n). Without drift both stay flat. Bars: 95% intervals."
)
NEEDS = {"sessions": Sessions()}
WIDE = True
LOOKS = ((style.BLUE, "o"), (style.VERMILLION, "^"), (style.BLACK, "s"), (style.GREEN, "D"))
"""Of sets of cases with as many rounds, the fewest first."""
MOST = 6
"""Columns for which there is room; the table has every session."""
LETTERS = 15
"""Of a line above a column."""
FEW = 1000
"""Repetitions of which each dot is to be seen, not where they lie dense."""


def draw(sessions: SessionEvidence) -> Figure:
    shown = sorted(sorted(sessions.sessions, key=lambda of: len(of.names))[-MOST:], key=sessions.sessions.index)
    drawn, axes = style.figure(style.DOUBLE, 3.9, len(shown), 2, sharex="col", height_ratios=(1.25, 1))
    drawn.get_layout_engine().set(hspace=0.2)  # for the legends between
    for session, above, below in zip(shown, axes[: len(shown)], axes[len(shown) :], strict=True):
        if below is not axes[len(shown)]:  # above, the outliers of one session would leave a line of another
            below.sharey(axes[len(shown)])
            below.tick_params(labelleft=False)
        above.set_title(f"{TITLES[session.kind]}\n{len(session.names)} cases\n{_in_lines(session.name)}", fontsize=6.5)
        _repetitions(above, session)
        _rounds(below, session)
    axes[0].set_ylabel("time / median of others")
    axes[len(shown)].set_ylabel("median change, %")
    return drawn


def details(sessions: SessionEvidence) -> str:
    """In words, where clocks were lowered; the table of sessions says the rest."""
    return " ".join(filter(None, (session.throttling() for session in sessions.sessions)))


def _in_lines(name: str) -> str:
    """Of two lines, so that the titles above narrow panels do not meet."""
    lines = textwrap.wrap(style.plain(name).replace("_", "_ "), LETTERS)
    return "\n".join(line.replace("_ ", "_") for line in [*lines, ""][:2])


def _repetitions(axes: Axes, session: TimedFiles) -> None:
    """A dot a repetition: rounds from left to right, and within each the cases."""
    rows = session.repetitions
    when = 0.5 + rows["round"] + rows["case"] / len(session.names)
    for outlier, colour, size in ((False, style.GREY, 0.4 if len(rows) > FEW else 1.2), (True, style.ORANGE, 1.2)):
        of = rows["outlier"] == outlier
        axes.plot(when[of], rows.loc[of, "relative"], ".", color=colour, markersize=size, markeredgewidth=0.2, rasterized=True)
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.yaxis.set_major_locator(LogLocator(subs=(0.5, 0.7, 1, 1.5, 2, 3, 5)) if high > 2 * low else MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _rounds(axes: Axes, session: TimedFiles) -> None:
    sets = list(session.rounds.groupby("of"))
    for place, (of, rounds) in enumerate(sets):
        median, low, high = (100 * (rounds[column] - 1) for column in ("median", "low", "high"))
        x = 1 + rounds["round"] + 0.2 * (place - (len(sets) - 1) / 2)
        colour, marker = LOOKS[place % len(LOOKS)]
        axes.plot(x, median, marker, color=colour, markersize=3.5, linestyle="none", label=f"{of} rounds: n = {rounds['cases'].iloc[0]}")
        style.error_bars(axes, x, median, low, high, colour)
    legend = axes.legend(fontsize=5.5, loc="lower left", bbox_to_anchor=(0, 1), handlelength=1, handletextpad=0.2, borderpad=0, labelspacing=0.2)
    legend.set_in_layout(False)  # or it would take its width from the panels
    axes.axhline(0, color=style.BLACK, linewidth=0.6, zorder=1)
    axes.set_yscale("symlog", linthresh=0.1)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}".replace("-", "−")))
    axes.set_xlabel("round")
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
