"""Did anything drift while results were measured? Outliers and clocks by session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import pandas as pd

from scanlab_report.data import Data
from scanlab_report.drift import KINDS, Session, sessions_of
from scanlab_report.formats import Column, Table, significant, whole, with_interval
from scanlab_report.intervals import Interval
from scanlab_report.shown import Shown, shown, table
from scanlab_report.sources import source_of


def _sessions(data: Data, kinds: Sequence[str]) -> Shown:
    sessions, rows = sessions_of(data, kinds=kinds), []
    for session in sessions:
        farthest, read = session.farthest_round, len(session.clocks)
        drift, low, high = (100 * (float(farthest[end]) - 1) for end in ("median", "low", "high"))
        counts = session.samples.groupby("case").size()
        same = counts.nunique() == 1
        outliers, converged = session.outliers, session.converged
        rows.append(
            {
                "session": session.name,
                "cases": len(session.names),
                "rounds": str(counts.min()) if same else f"{counts.min()} to {counts.max()}",
                "drift_percent": Interval(drift, low, high, int(farthest["cases"])),
                "drift_cases": int(farthest["cases"]),
                "slower": session.trending(slower=True),
                "faster": session.trending(slower=False),
                "later_slower_percent": 100 * session.later_slower,
                "outliers_percent": 100 * session.samples["outlier"].mean(),
                "outliers_of_normal_percent": 100 * session.outliers_of_normal,
                "worst": outliers["relative"].iloc[0] if len(outliers) else np.nan,
                "converged_percent": 100 * converged.mean() if len(converged) else None,
                "clocks": read,
                "lowered": session.lowered if read else None,
            }
        )
    two = partial(significant, digits=2)
    columns = (
        Column("session", "results file", right=False, wrap=6),
        Column("cases", "cases", whole),
        Column("rounds", "rounds", right=False, wrap=4),
        Column("converged_percent", "converged, %", two),
        Column("drift_percent", "median, %", partial(with_interval, digits=2), group="drift"),
        Column("drift_cases", "n", whole, group="drift"),
        Column("slower", "rise", whole, group="drift"),
        Column("faster", "fall", whole, group="drift"),
        Column("later_slower_percent", "later, %", significant, group="drift"),
        Column("outliers_percent", "%", two, group="outliers"),
        Column("outliers_of_normal_percent", "of normal", two, group="outliers"),
        Column("worst", "worst, ×", significant, group="outliers"),
        Column("clocks", "read", whole, group="clock"),
        Column("lowered", "below max", whole, group="clock"),
    )
    caption = (
        "Drift, outliers and clocks by results file. Converged: cases that the stopping rule "
        "ended. Drift: the round that differs most, of n cases. Rise, fall: cases with a trend by "
        "Mann's test. Later: pairs whose later repetition took longer. Outliers: beyond Tukey's "
        "fences, of normal times, the farthest. Clocks: readings, those below maximum. The host's "
        "cores are left out."
    )
    details = [went_on for session in sessions if (went_on := session.went_on())]
    details += [
        f"Trend test of `{session.name}`. {power}."
        for session in sessions
        if (power := session.power())
    ]
    counts = [n for session in sessions for n in session.samples.groupby("case").size()]
    files = [file for session in sessions for file in session.files]
    source = source_of(files, (min(counts), max(counts)))
    content = Table(caption, columns, pd.DataFrame(rows), tuple(_notes(sessions)), tuple(details))
    return shown(data, content, caption, source)


def _notes(sessions: Sequence[Session]) -> Iterator[str]:
    """Yield sentences on the limits of conclusions from clocks and rounds."""
    if any(session.kind == "schedule" for session in sessions):
        yield (
            "Rounds of schedules cover one group of host arrays after another, so drift between "
            "groups does not show."
        )
    unread = [f"`{session.name}`" for session in sessions if not len(session.clocks)]
    if len(unread) < len(sessions):
        yield (
            "A clock is read every 20 ms at most; events between readings and the reasons of a "
            "lower clock are unknown."
        )
    if unread:
        yield (
            f"The clock of {' and '.join(unread)} was read only before the first repetition; "
            "drift alone could show later throttling."
        )


@table("scans")
def sessions(data: Data) -> Shown:
    """Drift, outliers and clocks of each session."""
    return _sessions(data, tuple(KINDS))


@table("scans")
def scan_sessions(data: Data) -> Shown:
    """Drift, outliers and clocks of each results file of scans."""
    return _sessions(data, ("scan",))
