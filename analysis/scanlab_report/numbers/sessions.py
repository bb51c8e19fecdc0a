"""The numbers on sessions in the text of the papers."""

from __future__ import annotations

import pandas as pd

from scanlab_report.data import Data
from scanlab_report.drift import sessions_of
from scanlab_report.intervals import FEWEST_OF_MEDIAN
from scanlab_report.numbers.scans import Numbers, number


def sessions(data: Data) -> Numbers:
    """Return the numbers on the sessions that timed schedules."""
    schedules = [s for s in sessions_of(data) if s.kind == "schedule"]
    able = [
        s.converged
        for s in schedules
        if int(s.files[0].context.get("rounds", FEWEST_OF_MEDIAN)) >= FEWEST_OF_MEDIAN
    ]
    made: Numbers = {}
    converged = pd.concat([pd.Series(dtype=bool), *able])
    if len(converged):
        made |= {
            "convergedSchedules": number(100 * float(converged.mean()), 2),
            "convergedSchedulesCases": str(len(converged)),
        }
    if schedules:
        drift = max(abs(s.farthest_round["median"] - 1) for s in schedules)
        made["driftSchedules"] = number(100 * drift, 2)
    return made


FUNCTIONS = (sessions,)
