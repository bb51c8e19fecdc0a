"""The numbers on claims, published statements and targets in the text of the papers."""

from __future__ import annotations

from scanlab_report.chapters.claims import OF_ENGINES, OF_LITERATURE_ON_SCANS, OF_SCANS, OF_STREAMS
from scanlab_report.claims.standing import FAILS, HOLDS, literature, targets
from scanlab_report.data import Data
from scanlab_report.numbers import Numbers


def targets_of_scans(data: Data) -> Numbers:
    """How many claims and targets of scans are known and reached."""
    standings = targets(data, *OF_SCANS)
    verdicts = [standing.verdict for standing in standings]
    (floor,) = (s.measured for s in standings if s.claim.measure == "floor")
    return {
        "targetsKnown": verdicts.count(HOLDS) + verdicts.count(FAILS),
        "targetsReached": verdicts.count(HOLDS),
        "smallOverFloor": floor,
    }


def targets_of_streams(data: Data) -> Numbers:
    """The same of schedules, of scans larger than the device, and of the engine model."""
    standings = targets(data, *OF_STREAMS, *OF_ENGINES)
    verdicts = [standing.verdict for standing in standings]
    (duplex,) = (s.measured for s in standings if s.claim.measure == "duplex")
    return {
        "streamTargetsKnown": verdicts.count(HOLDS) + verdicts.count(FAILS),
        "streamTargetsReached": verdicts.count(HOLDS),
        "streamScanOfDuplex": duplex,
        "streamScanOfDuplexLow": duplex and duplex.low,
        "streamScanOfDuplexHigh": duplex and duplex.high,
    }


def literature_on_scans(data: Data) -> Numbers:
    """How many published statements on scans are known, and how many differ."""
    verdicts = [standing.verdict for standing in literature(data, *OF_LITERATURE_ON_SCANS)]
    known = verdicts.count(HOLDS) + verdicts.count(FAILS)
    return {"claimsKnown": known, "claimsFail": verdicts.count(FAILS)}


FUNCTIONS = (targets_of_scans, targets_of_streams, literature_on_scans)
