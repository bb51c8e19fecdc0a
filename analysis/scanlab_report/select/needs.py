"""What a figure or table can ask for, and how it is found.

A figure declares needs; a need looks first among what was measured now, then in the recorded session that was chosen
(:mod:`scanlab_report.select.sessions`), and takes one device. What it finds carries its provenance, which the driver prints
below the figure and into the caption. Where several devices were measured, :func:`by_device` finds the needs of a figure on each.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from scanlab_report.read.published import Publication
from scanlab_report.read.records import Results
from scanlab_report.select.evidence import (
    I32_SUM,
    AllTimingEvidence,
    Scanned,
    SessionTimingEvidence,
    TimingEvidence,
)
from scanlab_report.select.provenance import Provenance
from scanlab_report.select.timings import ANY_TYPE, AllTimings, EachSession, Hosts, Selection, Timings
from scanlab_report.select.variants import BEST


class Need(Protocol):
    """What a figure needs: finds it, and says in a few words what is asked for.

    ``measured_by`` names the experiments that answer it (:mod:`scanlab_report.select.experiments`); none where a figure goes without.
    """

    @property
    def measured_by(self) -> tuple[str, ...]: ...

    def find(self, results: Results, published: dict[str, Publication]) -> object | None: ...

    def asked(self) -> str: ...


@dataclass(frozen=True)
class Gathered:
    """The evidence of one figure by the names of its needs, or the reasons why there is none."""

    found: dict[str, object] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()

    @property
    def scanned(self) -> Scanned:
        """What is scanned in the timings."""
        return next((of.scanned for of in self.found.values() if isinstance(of, TimingEvidence)), I32_SUM)

    @property
    def named(self) -> bool:
        """Whether variants were asked for by name."""
        return any(of.named for of in self.found.values() if isinstance(of, TimingEvidence | SessionTimingEvidence))

    def has(self, variant: str) -> bool:
        """Whether there are timings of a variant."""
        return any(variant in of.variants() for of in self.found.values() if isinstance(of, TimingEvidence | SessionTimingEvidence | AllTimingEvidence))

    @property
    def variant(self) -> str:
        """The one that is held against others."""
        return next((of.variant for of in self.found.values() if isinstance(of, AllTimingEvidence)), BEST)

    @property
    def unusual(self) -> list[str]:
        """What a reader would not expect: another variant than best, another type than i32, another operator than plus."""
        return [said for said, usual in zip((self.variant, *self.scanned), (BEST, *I32_SUM), strict=True) if said != usual]

    @property
    def provenances(self) -> list[Provenance]:
        """Each distinct provenance, in the order of the needs."""
        lines: dict[str, Provenance] = {}
        for item in itertools.chain.from_iterable(getattr(found, "machines", [found]) for found in self.found.values()):
            for provenance in (getattr(item, "provenance", None), getattr(item, "counted", None)):
                if provenance is not None and provenance.origin:
                    lines.setdefault(provenance.line(), provenance)
        return list(lines.values())


def told(text: str, shown: Iterable[Gathered]) -> str:
    """A caption with what stands in it for the items, the scan and the variant; of ``{this|that}``, that where variants were asked for by name."""
    of = list(shown)
    text = re.sub(r"\{([^{}|]*)\|([^{}|]*)\}", r"\2" if any(one.named for one in of) else r"\1", text)
    for field_, said in (("{items}", [one.scanned.items for one in of]), ("{scan}", [one.scanned.scan for one in of]), ("{variant}", [one.variant for one in of])):
        text = text.replace(field_, " or ".join(dict.fromkeys(said)))
    return text


Lacks = Callable[..., str]
"""``lacks`` of a figure or table: what the evidence that was found still has too little of, in words; empty if it can be shown."""


def gather(needs: Mapping[str, Need], results: Results, published: dict[str, Publication], lacks: Lacks | None = None) -> Gathered:
    """Finds what a table declares, all of it on the first device that answers it; if none does, what the first one lacks."""
    answers = (_gather(needs, results.on(device), published, lacks) for device in results.devices or [""])
    first = next(answers)
    return next((answer for answer in itertools.chain([first], answers) if not answer.reasons), first)


def by_device(needs: Mapping[str, Need], results: Results, published: dict[str, Publication], lacks: Lacks | None = None) -> dict[str, Gathered]:
    """What a figure declares, on each device that answers it; once, under no name, if all have the same or none has it."""
    answers = {device: _gather(needs, results.on(device, alike=True), published, lacks) for device in results.devices}
    answers = {device: answer for device, answer in answers.items() if not answer.reasons}
    if len({tuple(p.line() for p in answer.provenances) for answer in answers.values()}) > 1:
        return answers
    return {"": gather(needs, results, published, lacks)}


def _gather(needs: Mapping[str, Need], results: Results, published: dict[str, Publication], lacks: Lacks | None) -> Gathered:
    found: dict[str, Any] = {}
    for name, need in needs.items():
        shown = next((of for of in found.values() if isinstance(of, TimingEvidence)), None)
        found[name] = (need.like(shown) if shown and isinstance(need, Hosts) else need).find(results, published)
    missing = tuple(f"no {needs[name].asked()}" for name, item in found.items() if item is None)
    if not missing and lacks and (too_little := lacks(**found)):
        missing = (f"no {too_little}",)
    return Gathered({} if missing else found, missing)


def chosen(needs: Mapping[str, Need], selection: Selection) -> dict[str, Need]:
    """The same of what a user asked for; what is of no scans in particular stays."""
    return {name: need.chosen(selection) if isinstance(need, Timings | EachSession | AllTimings) else need for name, need in needs.items()}


def of_any_type(needs: Mapping[str, Need], types: Sequence[str] = ANY_TYPE) -> dict[str, Need]:
    """The same, where timings of their types are missing of another: for what can be shown of each."""

    def wider(need: Timings) -> Timings:
        return replace(need, types=tuple(dict.fromkeys((*need.types, *types))))

    return {name: wider(need) if isinstance(need, Timings) else replace(need, timings=wider(need.timings)) if isinstance(need, EachSession) else need
            for name, need in needs.items()}  # fmt: skip
