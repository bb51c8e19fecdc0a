"""The numbers about sessions in the paper's text."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from scanlab_report.documents.numbers import number
from scanlab_report.read import streams
from scanlab_report.read.records import SCANS
from scanlab_report.select.drift import SessionEvidence, Sessions
from scanlab_report.select.needs import Need
from scanlab_report.stats.intervals import FEWEST_OF_MEDIAN


def describers() -> tuple[tuple[Mapping[str, Need], Callable[..., dict[str, str]]], ...]:
    """Needs, and what defines macros from them."""
    return (({"sessions": Sessions()}, _session_values),)


def _session_values(sessions: SessionEvidence) -> dict[str, str]:
    """What happened while everything was measured."""
    every = sessions.sessions
    named = {
        "driftRising": str(sum(of.trending(slower=True) for of in every)),
        "driftFalling": str(sum(of.trending(slower=False) for of in every)),
        "driftCases": str(sum(len(of.names) for of in every)),
    }
    if readings := sum(len(of.clocks) for of in every):
        lowered = sum(of.lowered for of in every)
        named |= {"clockReadings": str(readings), "clockLowered": str(lowered)}
        if lowered:
            named["clockLowest"] = number(min(of.clocks.min() for of in every if len(of.clocks)), 4)
    kinds = sessions.kinds()
    went = [on for of in kinds.get(SCANS, ()) if (on := of.went_on)]
    if on := max(went, key=lambda on: on.later.count, default=None):
        named |= {"driftWentOn": str(on.later.count), "driftWentOnRounds": str(on.rounds), "driftWentOnFirst": str(on.first),
                  "driftWentOnFaster" if on.later.value < 1 else "driftWentOnSlower": number(100 * abs(on.later.value - 1), 1)}  # fmt: skip
    powers = [of.power for of in kinds.get(SCANS, ()) if len(of.power)]
    if powers:
        least = pd.concat(powers).sort_values(["rounds", "at_once"]).iloc[0]
        named |= {"trendRounds": str(int(least["rounds"])), "trendLeastP": number(float(least["least_p"]), 2), "trendAtOnce": str(int(least["at_once"]))}
    for macro, kind in (("settledScans", SCANS), ("settledSchedules", streams.SCHEDULES)):
        able = [of.settled for of in kinds.get(kind, ()) if can_settle(of.runs[0].context)]
        if len(settled := pd.concat([pd.Series(dtype=bool), *able])):
            named |= {macro: number(100 * float(settled.mean()), 2), f"{macro}Cases": str(len(settled))}
    for macro, kind in (("driftScans", SCANS), ("driftSchedules", streams.SCHEDULES)):
        if kind in kinds:
            named[macro] = number(100 * max(abs(of.farthest_round["median"] - 1) for of in kinds[kind]), 2)
    if scans := kinds.get(SCANS):
        repetitions = [len(of.repetitions) for of in scans]
        worst = max((of.outliers["relative"].iloc[0] for of in scans if len(of.outliers)), key=lambda ratio: abs(math.log(ratio)), default=1.0)
        named |= {
            "outlierShare": number(100 * sum(of.repetitions["outlier"].sum() for of in scans) / sum(repetitions), 2),
            "outlierNormal": number(100 * float(np.average([of.outliers_of_normal for of in scans], weights=repetitions)), 2),
            "outlierWorst": number(worst),
        }
    return named


def can_settle(context: Mapping[str, object]) -> bool:
    """Whether a session has so many rounds that a case may stop by the width of its interval; True of one that does not say."""
    return int(str(context.get("rounds", FEWEST_OF_MEDIAN))) >= FEWEST_OF_MEDIAN
