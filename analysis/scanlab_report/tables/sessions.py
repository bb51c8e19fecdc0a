"""Drift, outliers and clocks of each session."""

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
            "converged_percent": 100 * session.converged.mean() if len(session.converged) else None,
            "clocks": read, "lowered": session.lowered if read else None,
        })  # fmt: skip
    return Table(
        caption="Drift, outliers and clocks by results file. Converged: cases that the stopping rule ended. Drift: the round that differs most, of n cases. "
        "Rise, fall: cases with a trend by Mann's test. Later: pairs whose later repetition took longer. Outliers: beyond Tukey's fences, "
        "of normal times, the farthest. Clocks: readings, those below maximum. The host's cores are left out.",
        columns=(
            Column("session", "results file", right=False, wrap=6),
            Column("cases", "cases", whole),
            Column("rounds", "rounds", right=False, wrap=4),
            Column("converged_percent", "converged, %", lambda value: significant(value, 2)),
            Column("drift_percent", "median, %", lambda value: with_interval(value, 2), group="drift"),
            Column("drift_cases", "n", whole, group="drift"),
            Column("slower", "rise", whole, group="drift"),
            Column("faster", "fall", whole, group="drift"),
            Column("later_slower_percent", "later, %", significant, group="drift"),
            Column("outliers_percent", "%", lambda value: significant(value, 2), group="outliers"),
            Column("outliers_of_normal_percent", "of normal", lambda value: significant(value, 2), group="outliers"),
            Column("worst", "worst, ×", significant, group="outliers"),
            Column("clocks", "read", whole, group="clock"),
            Column("lowered", "below max", whole, group="clock"),
        ),
        rows=pd.DataFrame(rows),
        notes=tuple(_said(sessions)),
        details=tuple(_of_sessions(sessions)),
    )


def _rounds(counts: pd.Series) -> str:
    return str(counts.min()) if counts.nunique() == 1 else f"{counts.min()} to {counts.max()}"


def _said(sessions: SessionEvidence) -> list[str]:
    """What cannot be concluded of clocks and rounds."""
    said = []
    if streams.SCHEDULES in sessions.kinds():
        said.append("Rounds of schedules cover one group of host arrays after another, so drift between groups does not show.")
    if any(len(of.clocks) for of in sessions.sessions):
        said.append("A clock is read every 20 ms at most; events between readings and the reasons of a lower clock are unknown.")
    if unread := [of.name for of in sessions.sessions if not len(of.clocks)]:
        said.append(f"The clock of {' and '.join(f'`{name}`' for name in unread)} was read only before the first repetition; drift alone could show later throttling.")  # fmt: skip
    return said


def _of_sessions(sessions: SessionEvidence) -> list[str]:
    """What became of cases that went on, and the trends that a test of so few rounds can find."""
    said = list(filter(None, (of.went_on_said() for of in sessions.sessions)))
    return said + [f"Trend test of `{of.name}`. {power}." for of in sessions.sessions if (power := of.power_said())]
