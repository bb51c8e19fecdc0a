"""Drift, outliers and lowered clocks within a results file. They are reported; no sample is omitted because of them.

A session is one results file. Its cases were timed in rounds, one repetition per case and round, so that changes over time
show as differences between rounds. (``streams run`` has separate rounds for each group of schedules with the same host arrays.)
Each time is divided by the median of the other repetitions of its case, which makes cases comparable. If it were divided by the
median of all, one repetition in five would be exactly 1, and hide the spread of the others.

* drift: the median of each round over cases with the same number of rounds, since a case stops once it has converged. The 95%
  interval lies between order statistics (Le Boudec 2010; Hoefler and Belli recommend it, since it assumes no distribution). Each
  case also has Mann's rank test for trend (1945), which is Kendall's tau of time and round: exact, and corrected over the cases
  of the session by Benjamini and Hochberg.
* outliers: repetitions beyond Tukey's fences, 1.5 interquartile ranges outside the quartiles of a case.
* clocks: readings below the device's highest clock, taken during repetitions, or just after them for schedules.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np
import pandas as pd

from scanlab_report.read import records, streams
from scanlab_report.read.published import Publication
from scanlab_report.read.records import MEASURED, RECORDED, REPEATED, SCANS, Repeated, Results, Run
from scanlab_report.select.provenance import Provenance, run_provenance
from scanlab_report.select.variants import HOST
from scanlab_report.stats.intervals import FEWEST, SEED, SIGNIFICANT, Interval, median_interval
from scanlab_report.stats.many_tests import corrected

TITLES = {SCANS: "scans", streams.SCHEDULES: "schedules", streams.STREAM_SCAN: "stream-scan"}
"""Names of the kinds of sessions in figures and tables."""
FENCE = 1.5
"""Distance of Tukey's fences from the quartiles, in interquartile ranges."""


TOGETHER = 20
"""Files of one kind with fewer cases than this count as one session: three cases give no interval per round."""


@dataclass(frozen=True)
class WentOn:
    """Cases with ``rounds`` rounds, while others stopped after ``first`` ones. ``later``: median time after those rounds over that in them."""

    rounds: int
    first: int
    later: Interval


@dataclass(frozen=True)
class TimedFiles:
    """One results file, or several small ones, with one row per repetition in the order of the files.

    Columns: ``case`` (its place in ``names``, which are in the order in which cases were first timed), ``round``, ``time_ns``,
    ``relative`` (to the median of the case's other repetitions; NaN if there are none), ``outlier``, ``sm_clock_mhz`` (NaN where
    the clock was not read), and ``converged`` (1 from when the median was known well enough; NaN where the file does not say).
    """

    runs: list[Run]
    kind: str
    names: list[str]
    repetitions: pd.DataFrame

    @property
    def name(self) -> str:
        """The file name without endings, or the number of files."""
        return self.runs[0].file.name.partition(".")[0] if len(self.runs) == 1 else f"{len(self.runs)} files of {TITLES[self.kind]}"

    @cached_property
    def rounds(self) -> pd.DataFrame:
        """One row per round and set of cases with the same number of rounds: ``of`` (that number), ``round``, ``cases``, and the ``median``
        of the relative times with ``low`` and ``high``. Sets that are too small are omitted if there is a larger one.
        """
        rows = self.repetitions.dropna(subset="relative")
        rows = rows.assign(of=rows.groupby("case")["round"].transform("size"))
        sizes = rows.groupby("of")["case"].nunique()
        rows = rows[rows["of"].map(sizes) >= min(TOGETHER, sizes.max())]
        medians = [(*key, len(times), interval.value, interval.low, interval.high) for key, times in rows.groupby(["of", "round"])["relative"]
                   for interval in [median_interval(times.to_numpy())]]
        return pd.DataFrame(medians, columns=["of", "round", "cases", "median", "low", "high"])

    @cached_property
    def went_on(self) -> WentOn | None:
        """The change of the cases with the most rounds after others had stopped; None if all have equally many."""
        first, most = (int(end(self.rounds["of"])) for end in (min, max))
        if first == most:
            return None
        places = next(places for places in _by_count(self.repetitions) if places.shape[1] == most)
        times = self.repetitions["time_ns"].to_numpy()[places]
        later = np.median(times[:, first:], axis=1) / np.median(times[:, :first], axis=1)
        return WentOn(most, first, median_interval(later))

    @cached_property
    def trends(self) -> pd.DataFrame:
        """One row per case with five repetitions or more: ``count``, ``later_slower`` (the share of pairs of repetitions in which the
        later one took longer; ties count half), ``p`` and ``p_corrected``.
        """
        parts = []
        times = self.repetitions["time_ns"].to_numpy()
        for places in _by_count(self.repetitions):
            if (count := places.shape[1]) >= FEWEST:
                score = _scores(times[places])
                pairs = count * (count - 1) // 2
                parts.append(pd.DataFrame({"count": count, "later_slower": (1 + score / pairs) / 2, "p": _trend_p(count)[np.abs(score)]}))
        columns = ["count", "later_slower", "p"]
        trends = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns, dtype=float)
        return trends.assign(p_corrected=corrected(trends["p"]))

    def trending(self, slower: bool) -> int:
        """Number of cases whose later repetitions are significantly slower, or faster."""
        sure = self.trends[self.trends["p_corrected"] < SIGNIFICANT]
        return int(((sure["later_slower"] > 0.5) == slower).sum())

    @cached_property
    def power(self) -> pd.DataFrame:
        """Power of the trend test, one row per number of rounds: ``rounds``, its ``cases``, the ``least_p`` that a case can reach, and how
        many cases must reach it ``at_once`` to be significant after the correction.
        """
        cases = self.trends.groupby("count").size()
        least = [_trend_p(int(count))[-1] for count in cases.index]
        at_once = [math.floor(p * len(self.trends) / SIGNIFICANT) + 1 for p in least]
        return pd.DataFrame({"rounds": cases.index, "cases": cases.to_numpy(), "least_p": least, "at_once": at_once})

    def power_said(self) -> str:
        """Sentences on :attr:`power`; empty if no case has enough rounds."""
        sentences = [f"With {row.rounds} rounds ({row.cases} case{'s' * (row.cases > 1)}) p is at least {row.least_p:.2g}, and {row.at_once} cases must rise or fall together"
                     for row in self.power[self.power["at_once"] > 1].itertuples()]  # fmt: skip
        if enough := [str(rounds) for rounds in self.power.loc[self.power["at_once"] == 1, "rounds"]]:
            sentences.append(f"With {' or '.join(enough)} rounds one is enough")
        return ". ".join(sentences)

    def went_on_said(self) -> str:
        """A sentence on :attr:`went_on`; empty if all cases have as many rounds."""
        if (on := self.went_on) is None:
            return ""
        low, value, high = (100 * (end - 1) for end in (on.later.low, on.later.value, on.later.high))
        return (f"{on.later.count} cases of `{self.name}` had not converged after {on.first} rounds and went on to {on.rounds}. They changed by {value:+.2f}% "
                f"[{low:+.2f}, {high:+.2f}] from the first {on.first} rounds to the later ones, in the median over cases. They are the cases that spread most.").replace("-", "−")  # fmt: skip

    @property
    def later_slower(self) -> float:
        """Share of pairs of repetitions, over all cases, in which the later one took longer: 0.5 without drift."""
        pairs = self.trends["count"] * (self.trends["count"] - 1)
        return float((self.trends["later_slower"] * pairs).sum() / pairs.sum()) if len(pairs) else np.nan

    @property
    def farthest_round(self) -> pd.Series:
        """The round whose median is farthest from 1."""
        return self.rounds.loc[np.abs(self.rounds["median"] - 1).idxmax()]

    @cached_property
    def outliers(self) -> pd.DataFrame:
        """The repetitions beyond the fences, the farthest first, with the ``name`` of their case."""
        rows = self.repetitions[self.repetitions["outlier"]]
        rows = rows.assign(name=[self.names[case] for case in rows["case"]])
        return rows.loc[np.abs(np.log(rows["relative"])).sort_values(ascending=False, kind="stable").index]

    @property
    def outliers_of_normal(self) -> float:
        """Expected share of outliers for normal times; it is larger for few repetitions (Hoaglin et al. 1986)."""
        counts = self.repetitions.groupby("case").size()
        return float(sum(count * _normal_share(count) for count in counts) / counts.sum())

    @cached_property
    def converged(self) -> pd.Series:
        """Whether each case converged, rather than stopped at a cap; only cases whose file says so."""
        return self.repetitions.groupby("case")["converged"].max().dropna() == 1

    @cached_property
    def clocks(self) -> pd.Series:
        """All readings of the SM clock, in MHz."""
        return self.repetitions["sm_clock_mhz"].dropna()

    @property
    def highest_mhz(self) -> float:
        """Maximum clock of the device; NaN if the file lacks it."""
        return float(self.runs[0].context.get("sm_clock_mhz_max") or np.nan)

    @property
    def lowered(self) -> int:
        """Number of readings below the maximum clock."""
        return int((self.clocks < self.highest_mhz).sum())

    def throttling(self) -> str:
        """A sentence on how often, and how far, the clock was lowered; empty if it never was."""
        if not self.lowered:
            return ""
        slower = self.repetitions.loc[self.repetitions["sm_clock_mhz"] < self.highest_mhz, "relative"].median()
        return (f"{self.name} ran at a lowered clock: {self.lowered} of {len(self.clocks)} readings of the SM clock are below its "
                f"maximum, {self.highest_mhz:g} MHz, the lowest {self.clocks.min():g} MHz. The median such repetition took {slower:.3f} times as long as "
                "the others of its case.")  # fmt: skip


def session(file: Repeated) -> TimedFiles:
    """Return the session of a file of repeated timings."""
    timings, case = file.timings, REPEATED[file.kind]
    names = [" ".join(str(part) for part in named if part != "") for named in timings[case].drop_duplicates().itertuples(index=False)]
    rows = pd.DataFrame({
        "case": timings.groupby(case, sort=False, dropna=False).ngroup(), "round": timings["round"],
        "time_ns": timings["time_ns"].astype(float), "sm_clock_mhz": timings.get("sm_clock_mhz", np.nan),
        "converged": timings.get("converged", np.nan),
    }).reset_index(drop=True)  # fmt: skip
    times, relative, outlier = rows["time_ns"].to_numpy(), np.full(len(rows), np.nan), np.zeros(len(rows), dtype=bool)
    for places in _by_count(rows):
        of, count = times[places], places.shape[1]
        if count > 1:
            relative[places] = of / np.stack([np.median(np.delete(of, one, axis=1), axis=1) for one in range(count)], axis=1)
        if count >= FEWEST:
            outlier[places] = _beyond_fences(of)
    return TimedFiles([file.run], file.kind, names, rows.assign(relative=relative, outlier=outlier))


def throttling(file: Repeated) -> str:
    """:meth:`TimedFiles.throttling`; most files are done with at a glance."""
    highest = float(file.run.context.get("sm_clock_mhz_max") or np.nan)
    return session(file).throttling() if "sm_clock_mhz" in file.timings and (file.timings["sm_clock_mhz"] < highest).any() else ""


def together(sessions: Sequence[TimedFiles]) -> list[TimedFiles]:
    """Sessions of one kind, the small ones as one."""
    small = [of for of in sessions if len(of.names) < TOGETHER]
    if len(small) < 2:
        return list(sessions)
    cases = np.cumsum([0] + [len(of.names) for of in small])
    rows = [of.repetitions.assign(case=of.repetitions["case"] + before) for of, before in zip(small, cases, strict=False)]
    runs, names = [run for of in small for run in of.runs], [name for of in small for name in of.names]
    joined = TimedFiles(runs, small[0].kind, names, pd.concat(rows, ignore_index=True))
    return [*(of for of in sessions if len(of.names) >= TOGETHER), joined]


def _by_count(rows: pd.DataFrame) -> Iterator[np.ndarray]:
    """The places of the repetitions, a row a case in the order of the rounds, of cases with as many repetitions at a time."""
    order = np.lexsort((rows["round"], rows["case"]))
    counts = rows.groupby("case")["case"].transform("size").to_numpy()[order]
    for count in np.unique(counts):
        yield order[counts == count].reshape(-1, count)


# ------------------------------------------------------------------------------------------------- statistics


def _beyond_fences(rows: np.ndarray) -> np.ndarray:
    """Which values of each row Tukey calls outside: 1.5 times the distance of the fourths beyond them."""
    ordered, count = np.sort(rows, axis=1), rows.shape[1]
    depth = ((count + 1) // 2 + 1) / 2 - 1  # of the fourth, from either end: that of the median of a half
    ends = [math.floor(depth), math.ceil(depth)]
    low, high = (half[:, ends].mean(axis=1, keepdims=True) for half in (ordered, ordered[:, ::-1]))
    return (rows < low - FENCE * (high - low)) | (rows > high + FENCE * (high - low))


@lru_cache(maxsize=64)
def _normal_share(count: int) -> float:
    """The share of so many normal values that lie beyond the fences, to a tenth of a percent."""
    return float(_beyond_fences(np.random.default_rng(SEED).normal(size=(20_000, count))).mean()) if count >= FEWEST else 0.0


def _scores(rows: np.ndarray) -> np.ndarray:
    """Kendall's score of each row: pairs of which the later is larger, less those of which it is smaller."""
    count = rows.shape[1]
    return sum(np.sign(rows[:, later] - rows[:, earlier]).astype(int) for later in range(count) for earlier in range(later))


@lru_cache(maxsize=64)
def _trend_p(count: int) -> np.ndarray:
    """For each size of the score, the chance that one of ``count`` values in any order is as large or larger, either way.

    The i-th value stands before 0 to i of the ones before it, all equally likely, which sums up to the inversions.
    """
    chances = np.ones(1)
    for i in range(1, count):
        chances = np.convolve(chances, np.full(i + 1, 1 / (i + 1)))
    most = len(chances) - 1
    sizes = np.abs(most - 2 * np.arange(most + 1))
    return np.array([min(1.0, float(chances[sizes >= size].sum())) for size in range(most + 1)])


# --------------------------------------------------------------------------------------------------- evidence


@dataclass(frozen=True)
class SessionEvidence:
    """Sessions on one device, scans first, each kind by date."""

    sessions: list[TimedFiles]
    provenance: Provenance

    def kinds(self) -> dict[str, list[TimedFiles]]:
        """The sessions by kind."""
        return {kind: of for kind in REPEATED if (of := [session for session in self.sessions if session.kind == kind])}


@dataclass(frozen=True)
class Sessions:
    """The files of a device with repeated timings, or those of the first device that has any."""

    device: str = ""
    kinds: tuple[str, ...] = tuple(REPEATED)
    measured_by: ClassVar = ("scans",)

    def find(self, read: Results, published: dict[str, Publication]) -> SessionEvidence | None:
        if self not in read.found:
            read.found[self] = self._find(read)
        return read.found[self]

    def _find(self, read: Results) -> SessionEvidence | None:
        hosts = read.variants.ids(HOST)
        files = [_on_gpu(file, hosts) for file in records.repeated(read) if self.device in ("", file.run.device) and file.kind in self.kinds
                 and file.run.kind not in ("tuning", records.ODD_SIZES)  # a few samples of candidates or of one process are no session
                 and file.timings["round"].max() > 0]  # of one round nothing can be said
        if not files:
            return None
        device = records.ranked((file.run for file in files), read.first)[0]
        of_device = sorted((file for file in files if file.run.device == device), key=lambda file: file.run.date)
        origin = MEASURED if any(file.run.origin == MEASURED for file in of_device) else RECORDED
        of_device = [file for file in of_device if file.run.origin == origin]
        found = []
        for kind in {file.kind: None for file in of_device}:
            found += together([session(file) for file in of_device if file.kind == kind])
        found.sort(key=lambda of: list(REPEATED).index(of.kind))
        counts = [size for of in found for size in of.repetitions.groupby("case").size()]
        provenance = run_provenance("sessions", [run for of in found for run in of.runs], origin, (min(counts), max(counts)))
        return SessionEvidence(found, provenance)

    def asked(self) -> str:
        return "timings of two rounds or more"


def _on_gpu(file: Repeated, hosts: Sequence[str]) -> Repeated:
    """A file of scans on a GPU without those that the host's cores ran beside them, whose times spread far more."""
    if file.kind != SCANS or file.run.kind == "host":
        return file
    return file._replace(timings=file.timings[~file.timings["variant"].isin(hosts)])
