"""The numbers on claims, published statements and targets in the text of the papers."""

from __future__ import annotations

from scanlab_report.claims.standing import FAILS, HOLDS, NOT_MEASURED, literature, targets
from scanlab_report.claims.stated import OF_ENGINES, OF_LITERATURE_ON_SCANS, OF_SCANS, OF_STREAMS
from scanlab_report.data import Data
from scanlab_report.numbers import Numbers


def of_scans(data: Data) -> Numbers:
    """How many claims and targets of scans are known and reached, and how many published statements
    differ."""
    standings = targets(data, *OF_SCANS)
    verdicts = [s.verdict for s in standings]
    published = [s.verdict for s in literature(data, *OF_LITERATURE_ON_SCANS)]
    return {
        "targetsKnown": len(verdicts) - verdicts.count(NOT_MEASURED),
        "targetsReached": verdicts.count(HOLDS),
        "smallOverFloor": next(s.measured for s in standings if s.claim.measure == "floor"),
        "claimsKnown": len(published) - published.count(NOT_MEASURED),
        "claimsFail": published.count(FAILS),
    }


def of_streams(data: Data) -> Numbers:
    """The same of schedules, of scans larger than the device, and of the engine model."""
    standings = targets(data, *OF_STREAMS, *OF_ENGINES)
    verdicts = [s.verdict for s in standings]
    duplex = next(s.measured for s in standings if s.claim.measure == "duplex")
    return {
        "streamTargetsKnown": len(verdicts) - verdicts.count(NOT_MEASURED),
        "streamTargetsReached": verdicts.count(HOLDS),
        "streamScanOfDuplex": duplex,
        "streamScanOfDuplexLow": duplex and duplex.low,
        "streamScanOfDuplexHigh": duplex and duplex.high,
    }


FUNCTIONS = (of_scans, of_streams)
