"""What needs find: timings, counts, counters and tables of one device, each with its provenance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from scanlab_report.read.documents.base import ELEMENT_BYTES
from scanlab_report.read.documents.results import Choice
from scanlab_report.read.records import STREAM, Explanation
from scanlab_report.read.variants import Variants, Wanted
from scanlab_report.select.provenance import Provenance
from scanlab_report.select.variants import BEST, CUBS, FLOOR
from scanlab_report.stats import intervals
from scanlab_report.stats.intervals import Interval


class Scanned(NamedTuple):
    """What is scanned, and how it is said."""

    type: str = "i32"
    op: str = "plus"

    @property
    def items(self) -> str:
        """``32-bit integers``."""
        return f"{8 * ELEMENT_BYTES[self.type]}-bit {'floats' if self.type.startswith('f') else 'integers'}"

    @property
    def scan(self) -> str:
        """``sum``."""
        return "sum" if self.op == "plus" else f"scan by {self.op}"


I32_SUM = Scanned()
"""What is shown unless something else was asked for or measured."""


def powers_of_two(items: pd.Series) -> pd.Series:
    return (items > 0) & (items & (items - 1) == 0)


@dataclass(frozen=True)
class TimingEvidence:
    """Timings of one device, summarised by case."""

    cases: pd.DataFrame
    device: str
    host: str
    provenance: Provenance
    about: Variants
    scanned: Scanned = I32_SUM
    named: Sequence[str] = ()
    """Variants that were asked for by name: these are shown, and no others beside what a figure refers to."""

    def of(self, variant: str, settings: str = "", **wanted: object) -> pd.DataFrame:
        """The cases of one variant with some settings, default ones if none are given, ordered by size."""
        rows = self.cases[(self.cases["variant"] == variant) & (self.cases["settings"] == settings)]
        for column, value in wanted.items():
            rows = rows[rows[column] == value]
        return rows.sort_values("items")

    def series(self, variant: str, settings: str = "", **wanted: object) -> pd.DataFrame:
        """The cases of a line over sizes: those of :meth:`of` at :meth:`line_sizes`."""
        return self.line_sizes(self.of(variant, settings, **wanted))

    def line_sizes(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Of these cases, those at powers of two, where a line is meant to be smooth; all, if none was timed there."""
        return rows[powers_of_two(rows["items"])] if self._at_powers else rows

    @cached_property
    def _at_powers(self) -> bool:
        """Whether a scan or copy was timed at a power of two."""
        return bool(powers_of_two(self.cases.loc[self.cases["variant"] != FLOOR, "items"]).any())

    def floor_ns(self, cache: str, launch: str = STREAM) -> float:
        """Time of an empty launch in one column; it was timed at one size or at several, and they do not matter."""
        rows = self.cases[(self.cases["variant"] == FLOOR) & (self.cases["launch"] == launch)]
        in_cache = rows[rows["cache"] == cache]
        return float((rows if in_cache.empty else in_cache)["median_ns"].median())

    def vendor(self, items: int, cache: str, launch: str = STREAM) -> str | None:
        """The fastest of CUB's scans in one case; None if none was timed."""
        return self.vendors.get((items, cache, launch))

    @cached_property
    def vendors(self) -> dict[tuple[int, str, str], str]:
        """The fastest of CUB's scans by items, cache and launch."""
        rows = self.cases[self.cases["variant"].isin(self.about.ids(CUBS)) & (self.cases["settings"] == "")]
        case = ["items", "cache", "launch"]
        fastest = rows.loc[rows.groupby(case)["median_ns"].idxmin()]
        return dict(zip(fastest[case].itertuples(index=False, name=None), fastest["variant"], strict=True))

    def caches(self) -> list[str]:
        """``cold`` before ``warm``, those that were timed."""
        present = set(self.cases.loc[self.cases["variant"] != FLOOR, "cache"])
        return [cache for cache in ("cold", "warm") if cache in present] + sorted(present - {"cold", "warm"})

    def variants(self) -> list[str]:
        """Every variant and baseline that was timed with default settings, by id."""
        return sorted(set(self.cases.loc[self.cases["settings"] == "", "variant"]))


@dataclass(frozen=True)
class SessionTimingEvidence:
    """Timings of one device, session by session, the newest first: each is one results file, and what is compared is of one session."""

    sessions: list[TimingEvidence]
    provenance: Provenance

    @property
    def named(self) -> Sequence[str]:
        return self.sessions[0].named

    def variants(self) -> list[str]:
        return sorted({variant for session in self.sessions for variant in session.variants()})


class Key(NamedTuple):
    """What scans that are compared have in common."""

    type: str
    op: str
    mode: str
    items: int
    cache: str
    launch: str


class Match(NamedTuple):
    """A scan against the fastest of some others in one run: their time over its own, so that above 1 it is faster."""

    rival: str
    ratio: Interval
    run: int


@dataclass(frozen=True)
class AllTimingEvidence:
    """Every case of one device, by run: what is compared is taken from one run."""

    samples: dict[Key, dict[int, dict[str, np.ndarray]]]
    """Nanoseconds by case, run (in the order in which they answer, see :mod:`scanlab_report.select.timings`) and variant, of default settings."""
    choices: dict[tuple[int, Key], Choice | None]
    """What ``best`` ran, by run and case."""
    device: str
    provenance: Provenance
    about: Variants
    variant: str = BEST
    """The one that is held against others."""

    def variants(self) -> list[str]:
        return sorted({variant for of in self.samples.values() for by in of.values() for variant in by})

    def keys(self, **wanted: object) -> list[Key]:
        """The cases with these properties, ordered by size; a tuple admits each of its members."""
        admitted = {name: value if isinstance(value, tuple) else (value,) for name, value in wanted.items()}
        found = (key for key in self.samples if all(getattr(key, name) in values for name, values in admitted.items()))
        return sorted(found, key=lambda key: (key.items, key))

    def match(self, key: Key, ours: str, theirs: Sequence[Wanted], first: int | None = None) -> Match | None:
        """Ours against the fastest of theirs in one run that has both: the run ``first``, else the first in their order; None if no run has."""
        if (found := self._rival(key, ours, self.about.ids(*theirs), first)) is None:
            return None
        rival, run = found
        of = self.samples[key][run]
        return Match(rival, intervals.ratio_interval(of[rival], of[ours]), run)

    def _rival(self, key: Key, ours: str, rivals: Sequence[str], first: int | None = None) -> tuple[str, int] | None:
        """The rival and the run of a match."""
        for run, of in sorted(self.samples.get(key, {}).items(), key=lambda item: item[0] != first):  # a stable sort
            present = [variant for variant in rivals if variant in of] if ours in of else []
            if present:
                return min(present, key=lambda variant: float(np.median(of[variant]))), run
        return None

    def of(self, key: Key, variant: str, run: int | None = None) -> np.ndarray | None:
        """A variant's samples in one run, or else in the first run that has them."""
        runs = self.samples.get(key, {})
        if run in runs and variant in runs[run]:
            return runs[run][variant]
        return next((of[variant] for of in runs.values() if variant in of), None)

    def chosen(self, key: Key, run: int) -> Choice | None:
        """What ``best`` said that it ran; None if it did not say."""
        return self.choices.get((run, key))

    @cached_property
    def comparisons(self) -> pd.DataFrame:
        """One row a case that ``variant`` and CUB were timed in: ``time_us`` of it, ``rival``, ``ratio``, ``low``, ``high``, ``outcome``."""
        cubs = self.about.ids(CUBS)
        found = [(key, *rival) for key in self.keys() if (rival := self._rival(key, self.variant, cubs))]
        theirs = [self.samples[key][run][rival] for key, rival, run in found]
        ours = [self.samples[key][run][self.variant] for key, _, run in found]
        rows = [(*key, float(np.median(of)) / 1e3, rival, str(self.chosen(key, run) or ""), ratio.value, ratio.low, ratio.high, outcome(ratio))
                for (key, rival, run), of, ratio in zip(found, ours, intervals.ratio_intervals(theirs, ours), strict=True)]  # fmt: skip
        return pd.DataFrame(rows, columns=[*Key._fields, "time_us", "rival", "chosen", "ratio", "low", "high", "outcome"])

    @cached_property
    def decided(self) -> pd.DataFrame:
        """The comparisons with repetitions enough for an interval."""
        return self.comparisons[self.comparisons["outcome"] != OPEN]


WIN, TIE, LOSS, OPEN = "win", "tie", "loss", "open"


def outcome(ratio: Interval) -> str:
    """Who won, for their time over ours: a tie where the 95% interval has 1 in it, and open where there is none."""
    if not ratio.known:
        return OPEN
    return WIN if ratio.low > 1 else LOSS if ratio.high < 1 else TIE


@dataclass(frozen=True)
class TrafficEvidence:
    """DRAM bytes of one scan as the hardware counted them: one row a case, summed over its launches."""

    cases: pd.DataFrame
    l2_bytes: int
    """0 if it is not known."""
    provenance: Provenance
    about: Variants


@dataclass(frozen=True)
class TableEvidence:
    """Rows of one kind: cycles that a role's warps waited, bits of repeated runs, what kernels take, or cases not timed."""

    rows: pd.DataFrame
    provenance: Provenance
    about: Variants = field(default_factory=Variants)


@dataclass(frozen=True)
class HostEvidence:
    """CPU baselines, machine by machine."""

    machines: list[TimingEvidence]


@dataclass(frozen=True)
class CountEvidence:
    """Emulator counts."""

    explanations: list[Explanation]
    provenance: Provenance


@dataclass(frozen=True)
class CounterEvidence:
    """Hardware counters beside emulator counts of the same kernels."""

    counters: pd.DataFrame
    explanations: list[Explanation]
    provenance: Provenance
    counted: Provenance
