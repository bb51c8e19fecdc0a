"""The data that figures and tables use: timings, counts, counters and tables of one device, each with its provenance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from scanlab_report.schema.base import ELEMENT_BYTES
from scanlab_report.schema.results import Choice
from scanlab_report.read.records import STREAM, Explanation
from scanlab_report.read.variants import Variants, Wanted
from scanlab_report.select.provenance import Provenance
from scanlab_report.select.variants import BEST, CUBS, FLOOR
from scanlab_report.stats import intervals
from scanlab_report.stats.intervals import Interval


class Scanned(NamedTuple):
    """A type and an operator, with their names in print."""

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
"""The default of figures and tables."""


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
    """Variants that the user named: a figure shows only these and its references."""

    def of(self, variant: str, settings: str = "", **wanted: object) -> pd.DataFrame:
        """Return the cases of one variant ordered by size, with default settings unless others are given."""
        rows = self.cases[(self.cases["variant"] == variant) & (self.cases["settings"] == settings)]
        for column, value in wanted.items():
            rows = rows[rows[column] == value]
        return rows.sort_values("items")

    def series(self, variant: str, settings: str = "", **wanted: object) -> pd.DataFrame:
        """Return the cases of a line over sizes: :meth:`of`, limited by :meth:`line_sizes`."""
        return self.line_sizes(self.of(variant, settings, **wanted))

    def line_sizes(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the cases at powers of two, where lines are smooth; all cases if none was timed there."""
        return rows[powers_of_two(rows["items"])] if self._at_powers else rows

    @cached_property
    def _at_powers(self) -> bool:
        """Whether a scan or copy was timed at a power of two."""
        return bool(powers_of_two(self.cases.loc[self.cases["variant"] != FLOOR, "items"]).any())

    def floor_ns(self, cache: str, launch: str = STREAM) -> float:
        """Return the time of an empty launch, the median over all sizes."""
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
        """Return the cache states that were timed, ``cold`` before ``warm``."""
        present = set(self.cases.loc[self.cases["variant"] != FLOOR, "cache"])
        return [cache for cache in ("cold", "warm") if cache in present] + sorted(present - {"cold", "warm"})

    def variants(self) -> list[str]:
        """Every variant and baseline that was timed with default settings, by id."""
        return sorted(set(self.cases.loc[self.cases["settings"] == "", "variant"]))


@dataclass(frozen=True)
class SessionTimingEvidence:
    """Timings of one device by session, the newest first. A session is one results file; comparisons stay within a session."""

    sessions: list[TimingEvidence]
    provenance: Provenance

    @property
    def named(self) -> Sequence[str]:
        return self.sessions[0].named

    def variants(self) -> list[str]:
        return sorted({variant for session in self.sessions for variant in session.variants()})


class Key(NamedTuple):
    """The properties that compared scans share."""

    type: str
    op: str
    mode: str
    items: int
    cache: str
    launch: str


class Match(NamedTuple):
    """A scan against its fastest rival in one run. ``ratio``: time of the rival over its own, above 1 if it is faster."""

    rival: str
    ratio: Interval
    run: int


@dataclass(frozen=True)
class AllTimingEvidence:
    """All cases of one device, by run. Comparisons stay within a run."""

    samples: dict[Key, dict[int, dict[str, np.ndarray]]]
    """Nanoseconds with default settings, by case, run (in order of precedence, see :mod:`scanlab_report.select.timings`) and variant."""
    choices: dict[tuple[int, Key], Choice | None]
    """The variant that ``best`` ran, by run and case."""
    device: str
    provenance: Provenance
    about: Variants
    variant: str = BEST
    """The variant that is compared with its rivals."""

    def variants(self) -> list[str]:
        return sorted({variant for runs in self.samples.values() for variants in runs.values() for variant in variants})

    def keys(self, **wanted: object) -> list[Key]:
        """Return the cases with these properties, ordered by size; a tuple admits each of its members."""
        admitted = {name: value if isinstance(value, tuple) else (value,) for name, value in wanted.items()}
        matching = (key for key in self.samples if all(getattr(key, name) in values for name, values in admitted.items()))
        return sorted(matching, key=lambda key: (key.items, key))

    def match(self, key: Key, ours: str, theirs: Sequence[Wanted], first: int | None = None) -> Match | None:
        """Compare ``ours`` with the fastest of ``theirs`` in a run that has both: ``first`` if possible, else the first such run."""
        if (choice := self._rival(key, ours, self.about.ids(*theirs), first)) is None:
            return None
        rival, run = choice
        samples = self.samples[key][run]
        return Match(rival, intervals.ratio_interval(samples[rival], samples[ours]), run)

    def _rival(self, key: Key, ours: str, rivals: Sequence[str], first: int | None = None) -> tuple[str, int] | None:
        """The rival and the run of a match."""
        for run, samples in sorted(self.samples.get(key, {}).items(), key=lambda item: item[0] != first):  # a stable sort
            present = [variant for variant in rivals if variant in samples] if ours in samples else []
            if present:
                return min(present, key=lambda variant: float(np.median(samples[variant]))), run
        return None

    def of(self, key: Key, variant: str, run: int | None = None) -> np.ndarray | None:
        """Return a variant's samples in one run, or else in the first run that has them."""
        runs = self.samples.get(key, {})
        if run in runs and variant in runs[run]:
            return runs[run][variant]
        return next((samples[variant] for samples in runs.values() if variant in samples), None)

    def chosen(self, key: Key, run: int) -> Choice | None:
        """Return the variant that ``best`` ran; None if the file does not name it."""
        return self.choices.get((run, key))

    @cached_property
    def comparisons(self) -> pd.DataFrame:
        """One row per case in which ``variant`` and CUB were timed: ``time_us`` of ``variant``, ``rival``, ``ratio``, ``low``, ``high``, ``outcome``."""
        cubs = self.about.ids(CUBS)
        pairs = [(key, *rival) for key in self.keys() if (rival := self._rival(key, self.variant, cubs))]
        theirs = [self.samples[key][run][rival] for key, rival, run in pairs]
        ours = [self.samples[key][run][self.variant] for key, _, run in pairs]
        rows = [(*key, float(np.median(times)) / 1e3, rival, str(self.chosen(key, run) or ""), ratio.value, ratio.low, ratio.high, outcome(ratio))
                for (key, rival, run), times, ratio in zip(pairs, ours, intervals.ratio_intervals(theirs, ours), strict=True)]  # fmt: skip
        return pd.DataFrame(rows, columns=[*Key._fields, "time_us", "rival", "chosen", "ratio", "low", "high", "outcome"])

    @cached_property
    def decided(self) -> pd.DataFrame:
        """The comparisons with enough repetitions for an interval."""
        return self.comparisons[self.comparisons["outcome"] != OPEN]


WIN, TIE, LOSS, OPEN = "win", "tie", "loss", "open"


def outcome(ratio: Interval) -> str:
    """Return the outcome of a ratio of their time over ours: a tie if its 95% interval contains 1, open if it has none."""
    if not ratio.known:
        return OPEN
    return WIN if ratio.low > 1 else LOSS if ratio.high < 1 else TIE


@dataclass(frozen=True)
class TrafficEvidence:
    """DRAM bytes of one scan, from hardware counters: one row per case, summed over its launches."""

    cases: pd.DataFrame
    l2_bytes: int
    """0 if unknown."""
    provenance: Provenance
    about: Variants


@dataclass(frozen=True)
class TableEvidence:
    """Rows of one kind: stall cycles by warp role, bits of repeated runs, resources of kernels, or skipped cases."""

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
