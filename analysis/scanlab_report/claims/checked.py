"""Claims against results: each holds, fails, or was not measured."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scanlab_report.claims import of_literature, of_models, of_ranks, of_scans, of_streams
from scanlab_report.claims.standing import Standing
from scanlab_report.claims.stated import MEASURES, ON_EVERY_DEVICE, OURS, Claim, read
from scanlab_report.read.published import Publication
from scanlab_report.read.records import Results
from scanlab_report.select.needs import Need
from scanlab_report.select.provenance import Provenance

MEASURED = {name: stand for module in (of_scans, of_streams, of_models, of_ranks, of_literature) for name, stand in module.MEASURED.items()}
"""By measure, what computes how a claim stands."""
assert set(MEASURED) == set(MEASURES)


def check(claims: Sequence[Claim], results: Results, published: Mapping[str, Publication], about: str = "") -> list[Standing]:
    """Every claim in order, on the device that it is about, or else on the first one that tells of it; some on each one that does.

    ``about``: the device that a reader expects, by default the first; a claim that another one tells of names it.
    """
    checked = []
    expected = about or next(iter(results.devices), "")
    for claim in claims:
        answers = (_named(_check(claim, results.on(device), published), device, expected) for device in ([claim.on] if claim.on else results.devices))
        known = (one for one in answers if one.reached is not None)
        standings = list(known if claim.measure in ON_EVERY_DEVICE else itertools.islice(known, 1))
        checked += standings or [_check(claim, results.on(claim.on), published)]
    return checked


def _named(standing: Standing, device: str, expected: str) -> Standing:
    """With the device where it stands, unless that is expected, or what tells of it is of no device."""
    of_it = any(device in provenance.device.split(", ") for provenance in standing.provenances)
    return replace(standing, where=", ".join(filter(None, (standing.where, device)))) if of_it and device != expected else standing


def _check(claim: Claim, results: Results, published: Mapping[str, Publication]) -> Standing:
    found: list[Any] = []

    def find(need: Need) -> Any:
        found.append(need.find(results, dict(published)))
        return found[-1]

    standing = MEASURED[claim.measure](claim, find)
    known = tuple(evidence.provenance for evidence in found if hasattr(evidence, "provenance"))
    return replace(standing, provenances=known if standing.measured else ())


@dataclass(frozen=True)
class ClaimEvidence:
    """How every claim stands, and the runs that tell of them: those of the first origin, and of any others."""

    checked: list[Standing]
    provenance: Provenance
    counted: Provenance | None


@dataclass(frozen=True)
class Claims:
    """The claims, where the results tell of one at least."""

    claims: tuple[Claim, ...]

    @property
    def measured_by(self) -> tuple[str, ...]:
        """What answers the needs that claims begin with: without results no claim asks for more."""
        asked: list[Need] = []
        for claim in self.claims:
            MEASURED[claim.measure](claim, lambda need: asked.append(need))
        return tuple(dict.fromkeys(name for need in asked for name in need.measured_by))

    def find(self, results: Results, published: dict[str, Publication]) -> ClaimEvidence | None:
        checked = check(self.claims, results, published)
        if all(one.reached is None for one in checked):
            return None
        first, *others = provenances(checked)
        return ClaimEvidence(checked, first, others[0] if others else None)

    def asked(self) -> str:
        return "results that any claim speaks of"


def literature(measures: Sequence[str] = ()) -> Claims:
    """What others claim, by certain measures if any are given."""
    return Claims(tuple(claim for claim in read() if claim.source != OURS and (not measures or claim.measure in measures)))


def targets(measures: Sequence[str]) -> Claims:
    """Our own claims of certain measures, on whichever device tells of them: a report of another device has them too."""
    return Claims(tuple(replace(claim, on="") for claim in read() if claim.source == OURS and claim.measure in measures))


def provenances(checked: Sequence[Standing]) -> list[Provenance]:
    """All that claims rest on, one an origin: measured, recorded, simulated."""
    by: dict[str, list[Provenance]] = {}
    for one in checked:
        for provenance in one.provenances:
            by.setdefault(provenance.origin, []).append(provenance)
    return [
        Provenance("results", origin, ", ".join(sorted({p.device for p in of})), tuple(sorted({date for p in of for date in p.dates})),
                   tuple(sorted({commit for p in of for commit in p.commits})), any(p.dirty for p in of))
        for origin, of in by.items()
    ]  # fmt: skip
