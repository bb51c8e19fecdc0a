"""What is counted, and what is published: DRAM bytes, cycles and conflicts by the hardware, counts of the SIMT emulator, bits of repeated runs.

Of a table of counts nobody chooses the newest, so a case stands in one file (:mod:`scanlab_report.read.twice`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from scanlab_report.read.published import Publication
from scanlab_report.read.records import MEASURED, OPTIONAL_COUNTER_COLUMNS, RECORDED, Explanation, Results, of_ranks
from scanlab_report.select.evidence import (
    CounterEvidence,
    CountEvidence,
    TableEvidence,
    TrafficEvidence,
)
from scanlab_report.select.provenance import Provenance, count_provenance, counter_provenance


@dataclass(frozen=True)
class Traffic:
    """DRAM bytes of scans, by the hardware's counters."""

    measured_by: ClassVar = ("traffic",)

    def find(self, results: Results, published: dict[str, Publication]) -> TrafficEvidence | None:
        by = ["variant", "settings", "type", "op", "mode", "items"]
        table, provenance = _table(results, results.traffic)
        if table.empty:
            return None
        summed = table.groupby(by, sort=True)[["dram_bytes_read", "dram_bytes_written"]].sum().reset_index()
        caches = [int(run.context.get("l2_bytes", 0)) for run in results.runs if run.device == provenance.device]
        return TrafficEvidence(summed, max(caches, default=0), provenance, results.variants)

    def asked(self) -> str:
        return "DRAM bytes from hardware counters"


@dataclass(frozen=True)
class Conflicts:
    """Bank conflicts of all profiled launches, by the hardware's counters."""

    measured_by: ClassVar = ("counters",)

    def find(self, results: Results, published: dict[str, Publication]) -> TableEvidence | None:
        table, provenance = _table(results, results.counters)
        return None if table.empty else TableEvidence(table, provenance)

    def asked(self) -> str:
        return "bank conflicts from hardware counters"


@dataclass(frozen=True)
class Waits:
    """Cycles spent waiting within a kernel."""

    measured_by: ClassVar = ("cycles",)

    def find(self, results: Results, published: dict[str, Publication]) -> TableEvidence | None:
        table, provenance = _table(results, results.waits[~of_ranks(results.waits)])
        return None if table.empty else TableEvidence(table, provenance)

    def asked(self) -> str:
        return "cycles spent waiting"


@dataclass(frozen=True)
class RanksWaits:
    """Cycles spent waiting within a kernel on each of several GPUs: of the largest array over the most of them."""

    measured_by: ClassVar = ("ranks_cycles",)

    def find(self, results: Results, published: dict[str, Publication]) -> TableEvidence | None:
        table, _ = _table(results, results.waits[of_ranks(results.waits)])
        for column in ("ranks", "items"):
            table = table[table[column] == table[column].max()] if len(table) else table
        return None if table.empty else TableEvidence(*_table(results, table))

    def asked(self) -> str:
        return "cycles spent waiting on each of several GPUs"


@dataclass(frozen=True)
class Repeats:
    """Whether bits vary from run to run."""

    measured_by: ClassVar = ("repeat",)

    def find(self, results: Results, published: dict[str, Publication]) -> TableEvidence | None:
        table, provenance = _table(results, results.repeats)
        return None if table.empty else TableEvidence(table, provenance, results.variants)

    def asked(self) -> str:
        return "repeated runs of verify"


def pairs(explanations: list[Explanation]) -> dict[str, str]:
    """Variants by what they are without padding, both counted; in the order of their names."""
    counted = {e.variant for e in explanations}
    return {e.unpadded: e.variant for e in sorted(explanations, key=lambda e: e.variant) if e.unpadded != e.variant and e.unpadded in counted}


@dataclass(frozen=True)
class Counts:
    """Emulator counts of some variants (all when ``variants`` is empty), or of those that pad and of what these are without."""

    variants: Sequence[str] = ()
    padded: bool = False
    op: str = "plus"
    optional: bool = False

    @property
    def measured_by(self) -> tuple[str, ...]:
        return () if self.optional else ("explain",)

    def find(self, results: Results, published: dict[str, Publication]) -> CountEvidence | None:
        for origin in (MEASURED, RECORDED):
            found = [e for e in results.explanations if e.origin == origin and self._wanted(e)]
            if self.padded:
                of_pairs = {variant for pair in pairs(found).items() for variant in pair}
                found = [e for e in found if e.variant in of_pairs]
            if found:
                return CountEvidence(found, count_provenance(found, origin))
        if self.optional:
            return CountEvidence([], Provenance("emulator counts", ""))
        return None

    def asked(self) -> str:
        of = " of scans with and without padding" if self.padded else f" of {' or '.join(self.variants)}" if self.variants else ""
        return f"counts of the SIMT emulator{of}"

    def _wanted(self, explanation: Explanation) -> bool:
        return explanation.op == self.op and (not self.variants or explanation.variant in self.variants)


@dataclass(frozen=True)
class Counters:
    """Hardware counters that have emulator counts to stand beside."""

    measured_by: ClassVar = ("counters", "explain")

    def find(self, results: Results, published: dict[str, Publication]) -> CounterEvidence | None:
        if self not in results.found:
            results.found[self] = self._find(results)
        return results.found[self]

    def _find(self, results: Results) -> CounterEvidence | None:
        for origin in (MEASURED, RECORDED):
            table = results.counters[results.counters["origin"] == origin]
            counted_of = set(zip(table["variant"], table["items"], strict=True))
            both = [e for e in results.explanations if (e.variant, e.items) in counted_of and bool(np.any(same_case(e, table)))]
            now = [e for e in both if e.origin == MEASURED]
            if both:
                counted = count_provenance(now or both, MEASURED if now else RECORDED)
                return CounterEvidence(table, now or both, counter_provenance(results, table, origin), counted)
        return None

    def asked(self) -> str:
        return "hardware bank-conflict counters with counts of the SIMT emulator for the same cases"


@dataclass(frozen=True)
class Published:
    """A table of the literature, by file stem."""

    name: str
    measured_by: ClassVar[tuple[str, ...]] = ()

    def find(self, results: Results, published: dict[str, Publication]) -> Publication | None:
        return published.get(self.name)

    def asked(self) -> str:
        return f"published table {self.name}"


def _table(results: Results, table: pd.DataFrame) -> tuple[pd.DataFrame, Provenance]:
    """What was measured now, else what is recorded."""
    for origin in (MEASURED, RECORDED):
        rows = table[table["origin"] == origin]
        if not rows.empty:
            return rows, counter_provenance(results, rows, origin)
    return table, Provenance("", "")


def same_case(explanation: Explanation, table: pd.DataFrame) -> pd.Series:
    """Which counter rows are launches of the case that an explanation counted."""
    same = pd.Series(True, index=table.index)
    for column in ("variant", "padding", "type", "op", "items", *OPTIONAL_COUNTER_COLUMNS):
        if column in table.columns:
            same &= (table[column] == getattr(explanation, column)) | table[column].isna()
    return same
