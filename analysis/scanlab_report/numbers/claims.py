"""The numbers on claims, published statements and targets in the text of the papers."""

from __future__ import annotations

from collections.abc import Sequence

from scanlab_report.claims.checked import literature, targets
from scanlab_report.claims.standing import Standing
from scanlab_report.claims.stated import OF_ENGINES, OF_LITERATURE_ON_SCANS, OF_SCANS, OF_STREAMS
from scanlab_report.data import Data
from scanlab_report.intervals import Interval
from scanlab_report.numbers import Numbers


def targets_of_scans(data: Data) -> Numbers:
    """How many claims and targets of scans are known and reached."""
    standings = targets(data, *OF_SCANS)
    floor = _measured(standings, "floor")
    return _counted(standings, "targets") | {"smallOverFloor": floor}


def targets_of_streams(data: Data) -> Numbers:
    """The same of schedules, of scans larger than the device, and of the engine model."""
    standings = targets(data, *OF_STREAMS, *OF_ENGINES)
    made, duplex = _counted(standings, "streamTargets"), _measured(standings, "duplex")
    return made | {
        "streamScanOfDuplex": duplex,
        "streamScanOfDuplexLow": duplex and duplex.low,
        "streamScanOfDuplexHigh": duplex and duplex.high,
    }


def literature_on_scans(data: Data) -> Numbers:
    """How many published statements on scans are known, and how many differ."""
    reached = [standing.reached for standing in literature(data, *OF_LITERATURE_ON_SCANS)]
    return {"claimsKnown": len(reached) - reached.count(None), "claimsFail": reached.count(False)}


def _counted(standings: Sequence[Standing], name: str) -> Numbers:
    reached = [standing.reached for standing in standings]
    known = len(reached) - reached.count(None)
    return {f"{name}Known": known, f"{name}Reached": reached.count(True)}


def _measured(standings: Sequence[Standing], measure: str) -> Interval | None:
    return next((s.measured for s in standings if s.claim.measure == measure), None)


FUNCTIONS = (targets_of_scans, targets_of_streams, literature_on_scans)
