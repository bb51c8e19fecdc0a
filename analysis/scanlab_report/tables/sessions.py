"""What happened while each file was measured: drift, outliers and clocks, a row a session."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scanlab_report.layout.table_formats import Column, Table, significant, whole, with_interval
from scanlab_report.read import streams
from scanlab_report.select.drift import SessionEvidence, Sessions
from scanlab_report.stats.intervals import Interval

NEEDS = {"sessions": Sessions()}


def build(sessions: SessionEvidence) -> Table:
    rows = []
    for session in sessions.sessions:
        farthest, read = session.farthest_round, len(session.clocks)
        drift, low, high = (100 * (float(farthest[end]) - 1) for end in ("median", "low", "high"))
        rows.append({
            "session": session.name, "cases": len(session.names),
            "rounds": _rounds(session.repetitions.groupby("case").size()),
            "drift_percent": Interval(drift, low, high, int(farthest["cases"])),
            "drift_cases": int(farthest["cases"]),
            "slower": session.trending(slower=True), "faster": session.trending(slower=False),
            "later_slower_percent": 100 * session.later_slower,
            "outliers_percent": 100 * session.repetitions["outlier"].mean(),
            "outliers_of_normal_percent": 100 * session.outliers_of_normal,
            "worst": session.outliers["relative"].iloc[0] if len(session.outliers) else np.nan,
            "clocks": read, "lowered": session.lowered if read else None,
        })  # fmt: skip
    return Table(
        caption="Drift, outliers and clocks of each session, which is a results file, or all those of few cases. Drift: of the cases that have as "
        "many rounds, the round whose median is farthest from that of the other rounds, with its 95% interval between order statistics and the number of these cases (n); in how many cases the times rise or fall with the rounds "
        "(Mann's rank test, exact, p under 0.05 after the correction of Benjamini and Hochberg); and the share of pairs of repetitions of a case of which "
        "the later took longer, 50 without drift. Outliers: repetitions beyond Tukey's fences, what they would be were times normal, and the one farthest from the median of its "
        "case's others; none was left out of anything. Clocks: readings of the multiprocessors' clock beside repetitions, and those below the device's highest.",
        columns=(
            Column("session", "session", right=False, wrap=6),
            Column("cases", "cases", whole),
            Column("rounds", "rounds", right=False, wrap=4),
            Column("drift_percent", "median, %", lambda value: with_interval(value, 2), group="drift"),
            Column("drift_cases", "n", whole, group="drift"),
            Column("slower", "rise", whole, group="drift"),
            Column("faster", "fall", whole, group="drift"),
            Column("later_slower_percent", "later", significant, group="drift"),
            Column("outliers_percent", "%", lambda value: significant(value, 2), group="outliers"),
            Column("outliers_of_normal_percent", "of normal", lambda value: significant(value, 2), group="outliers"),
            Column("worst", "worst", significant, group="outliers"),
            Column("clocks", "read", whole, group="clock"),
            Column("lowered", "low", whole, group="clock"),
        ),
        rows=pd.DataFrame(rows),
        notes=tuple(_said(sessions)),
    )


def _rounds(counts: pd.Series) -> str:
    return str(counts.min()) if counts.nunique() == 1 else f"{counts.min()} to {counts.max()}"


def _said(sessions: SessionEvidence) -> list[str]:
    """What became of cases that went on, and what cannot be concluded of trends and clocks."""
    said = []
    said += [f"Of {of.name} {100 * of.settled.mean():.0f}% of {len(of.settled)} cases stopped because their median was known well enough, the others at a cap on rounds or time."
             for of in sessions.sessions if len(of.settled)]  # fmt: skip
    said += filter(None, (of.went_on_said() for of in sessions.sessions))
    said += [f"What the test for trend can tell of {of.name}: {power}." for of in sessions.sessions if (power := of.power_said())]
    if streams.SCHEDULES in sessions.kinds():
        said.append("Rounds of schedules go over those with the same host arrays, one group behind another: what changes between groups does not show.")
    if any(len(of.clocks) for of in sessions.sessions):
        said.append("A clock is read every 20 ms at most: what happened between two readings is not known, nor why a clock was lowered.")
    if unread := [of.name for of in sessions.sessions if not len(of.clocks)]:
        said.append(f"Of {' and '.join(unread)} the clock was read only before the first repetition, which says nothing of throttling later: there, "
                    "drift alone could show it.")  # fmt: skip
    return said
