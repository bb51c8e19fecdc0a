"""The numbers about sessions in the paper's text."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from scanlab_report.documents.numbers import number
from scanlab_report.read import streams
from scanlab_report.select.drift import SessionEvidence, Sessions
from scanlab_report.select.needs import Need
from scanlab_report.stats.intervals import FEWEST_OF_MEDIAN


def describers() -> tuple[tuple[Mapping[str, Need], Callable[..., dict[str, str]]], ...]:
    """Needs, and what defines macros from them."""
    return (({"sessions": Sessions()}, _session_values),)


def _session_values(sessions: SessionEvidence) -> dict[str, str]:
    """What happened while schedules were measured."""
    named: dict[str, str] = {}
    of_schedules = sessions.kinds().get(streams.SCHEDULES, [])
    able = [of.converged for of in of_schedules if can_converge(of.runs[0].context)]
    if len(converged := pd.concat([pd.Series(dtype=bool), *able])):
        named |= {"convergedSchedules": number(100 * float(converged.mean()), 2), "convergedSchedulesCases": str(len(converged))}
    if of_schedules:
        named["driftSchedules"] = number(100 * max(abs(of.farthest_round["median"] - 1) for of in of_schedules), 2)
    return named


def can_converge(context: Mapping[str, object]) -> bool:
    """Whether a session has so many rounds that a case may stop by the width of its interval; True of one that does not say."""
    return int(str(context.get("rounds", FEWEST_OF_MEDIAN))) >= FEWEST_OF_MEDIAN
