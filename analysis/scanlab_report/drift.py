"""Drift, outliers and lowered clocks within a results file. They are reported; no sample is left
out.

A session is a results file, whose cases were timed in rounds, so that changes over time show as
differences between rounds. Each time is divided by the median of the other samples of its case,
which makes cases comparable; divided by the median of all, one sample in five would be exactly 1.

* drift: the median of each round over cases with as many rounds, with its interval; and Mann's rank
  test for trend (1945) of each case, exact, corrected over the cases by Benjamini and Hochberg.
* outliers: samples beyond Tukey's fences, 1.5 interquartile ranges outside the quartiles of a case.
* clocks: readings below the device's highest clock, during samples or just after them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import pandas as pd

from scanlab_report.data import Data, File, ranked
from scanlab_report.groups import HOST
from scanlab_report.intervals import FEWEST, SEED, SIGNIFICANT, corrected, median_interval
from scanlab_report.pick import Lacking, pick
from scanlab_report.tables import CASES, ODD_SIZES

KINDS = {"scan": "scans", "schedule": "schedules", "stream_scan": "stream-scan"}
"""The tables that sessions are of, and their name in print."""
TOGETHER = 20
"""Files of one kind with fewer cases count as one session: three cases give no interval."""


@dataclass(frozen=True)
class Session:
    """One results file, or several small ones. `samples` has a row per sample: `case` (its place in
    `names`), `round`, `ns`, `relative` (to the median of the case's other samples), `outlier`,
    `sm_clock_mhz` and `converged` (NaN where the file does not say)."""

    files: list[File]
    kind: str
    names: list[str]
    samples: pd.DataFrame

    @property
    def name(self) -> str:
        """The file's name without endings, or the number of files."""
        if len(self.files) == 1:
            return self.files[0].path.name.partition(".")[0]
        return f"{len(self.files)} files of {KINDS[self.kind]}"

    @property
    def title(self) -> str:
        return f"{KINDS[self.kind]}: {self.name}"

    @cached_property
    def rounds(self) -> pd.DataFrame:
        """Return one row per round and set of cases with `rounds` rounds each: `round`, `cases`,
        and the `median` of relative times with `low` and `high`. A set that is too small is left
        out if a larger set exists."""
        rows = self.samples.dropna(subset="relative")
        rows = rows.assign(rounds=rows.groupby("case")["round"].transform("size"))
        sizes = rows.groupby("rounds")["case"].nunique()
        rows = rows[rows["rounds"].map(sizes) >= min(TOGETHER, sizes.max())]
        medians = rows.groupby(["rounds", "round"])["relative"].agg(median_interval)
        ends = [(each.count, each.value, each.low, each.high) for each in medians]
        columns = ["cases", "median", "low", "high"]
        return pd.DataFrame(ends, medians.index, columns).reset_index()

    @property
    def farthest_round(self) -> pd.Series:
        """The round whose median is farthest from 1."""
        return self.rounds.loc[np.abs(self.rounds["median"] - 1).idxmax()]

    @cached_property
    def trends(self) -> pd.DataFrame:
        """One row per case with five samples or more: `count`, `later_slower` (the share of pairs
        of samples in which the later took longer; ties count half), `p` and `p_corrected`."""
        rows, times = [], self.samples["ns"].to_numpy()
        for places in _by_count(self.samples):
            if (count := places.shape[1]) >= FEWEST:
                score = _scores(times[places])
                slower = (1 + score / (count * (count - 1) // 2)) / 2
                p = _trend_p(count)[np.abs(score)]
                rows += [(count, *values) for values in zip(slower, p, strict=True)]
        trends = pd.DataFrame(rows, columns=["count", "later_slower", "p"])
        return trends.assign(p_corrected=corrected(trends["p"].astype(float)))

    def trending(self, slower: bool) -> int:
        """The cases whose later samples are significantly slower, or faster."""
        sure = self.trends[self.trends["p_corrected"] < SIGNIFICANT]
        return int(((sure["later_slower"] > 0.5) == slower).sum())

    @property
    def later_slower(self) -> float:
        """The share of pairs of samples, over all cases, in which the later took longer."""
        pairs = self.trends["count"] * (self.trends["count"] - 1)
        total = float((self.trends["later_slower"] * pairs).sum())
        return total / float(pairs.sum()) if len(pairs) else np.nan

    def power(self) -> str:
        """The least trend that so few rounds show, in sentences; empty if no case has enough."""
        cases, enough, sentences = self.trends.groupby("count").size(), [], []
        for rounds, number in cases.items():
            least = _trend_p(int(rounds))[-1]
            at_once = math.floor(least * len(self.trends) / SIGNIFICANT) + 1
            if at_once > 1:
                sentences.append(
                    f"With {rounds} rounds ({number} case{'s' * (number > 1)}) p is at least "
                    f"{least:.2g}, and {at_once} cases must rise or fall together"
                )
            else:
                enough.append(str(rounds))
        if enough:
            sentences.append(f"With {' or '.join(enough)} rounds one is enough")
        return ". ".join(sentences)

    def went_on(self) -> str:
        """Return a sentence on how the cases with most rounds changed after others had stopped;
        empty if all cases have equally many rounds."""
        first, most = (int(end(self.rounds["rounds"])) for end in (min, max))
        if first == most:
            return ""
        places = next(p for p in _by_count(self.samples) if p.shape[1] == most)
        times = self.samples["ns"].to_numpy()[places]
        later = median_interval(
            np.median(times[:, first:], axis=1) / np.median(times[:, :first], axis=1)
        )
        low, value, high = (100 * (end - 1) for end in (later.low, later.value, later.high))
        sentence = (
            f"{later.count} cases of `{self.name}` had not converged after {first} rounds and went "
            f"on to {most}. They changed by {value:+.2f}% [{low:+.2f}, {high:+.2f}] from the first "
            f"{first} rounds to the later ones, in the median over cases. They are the cases that "
            "spread most."
        )
        return sentence.replace("-", "−")

    @cached_property
    def outliers(self) -> pd.DataFrame:
        """The samples beyond the fences, the farthest first, with the `name` of their case."""
        rows = self.samples[self.samples["outlier"]]
        rows = rows.assign(name=[self.names[case] for case in rows["case"]])
        far = np.abs(np.log(rows["relative"])).sort_values(ascending=False, kind="stable")
        return rows.loc[far.index]

    @property
    def outliers_of_normal(self) -> float:
        """Return the share of outliers expected for normal times, which is larger for few samples
        (Hoaglin et al. 1986)."""
        counts = self.samples.groupby("case").size()
        return float(sum(n * _normal_share(n) for n in counts) / counts.sum())

    @cached_property
    def converged(self) -> pd.Series:
        """Whether each case converged, rather than stopped at a cap, where the file says so."""
        return self.samples.groupby("case")["converged"].max().dropna() == 1

    @cached_property
    def clocks(self) -> pd.Series:
        """All readings of the SM clock, in MHz."""
        return self.samples["sm_clock_mhz"].dropna()

    @property
    def highest_mhz(self) -> float:
        return float(self.files[0].context.get("sm_clock_mhz_max") or np.nan)

    @property
    def lowered(self) -> int:
        """The readings below the highest clock."""
        return int((self.clocks < self.highest_mhz).sum())

    def throttling(self) -> str:
        """How often and how far the clock was lowered; empty if it never was."""
        if not self.lowered:
            return ""
        low = self.samples["sm_clock_mhz"] < self.highest_mhz
        slower = self.samples.loc[low, "relative"].median()
        return (
            f"{self.name} ran at a lowered clock: {self.lowered} of {len(self.clocks)} readings of "
            f"the SM clock are below its maximum, {self.highest_mhz:g} MHz, the lowest "
            f"{self.clocks.min():g} MHz. The median such repetition took {slower:.3f} times as "
            "long as the others of its case."
        )


def session_of(data: Data, rows: pd.DataFrame, kind: str) -> Session:
    """The session of one file's samples."""
    case = CASES[kind]
    named = rows[case].drop_duplicates().itertuples(index=False)
    names = [" ".join(str(part) for part in values if part != "") for values in named]
    samples = rows[["round", "ns", "sm_clock_mhz", "converged"]].reset_index(drop=True)
    number = rows.groupby(case, sort=False, dropna=False).ngroup().to_numpy()
    times = samples["ns"].to_numpy(dtype=float)
    samples = samples.assign(case=number)
    relative, outlier = np.full(len(rows), np.nan), np.zeros(len(rows), dtype=bool)
    for places in _by_count(samples):
        own, count = times[places], places.shape[1]
        if count > 1:
            others = [np.median(np.delete(own, n, axis=1), axis=1) for n in range(count)]
            relative[places] = own / np.stack(others, axis=1)
        if count >= FEWEST:
            outlier[places] = _beyond_fences(own)
    samples = samples.assign(relative=relative, outlier=outlier)
    return Session([data.files[rows["file"].iloc[0]]], kind, names, samples)


def sessions_of(data: Data, device: str = "", kinds: Sequence[str] = tuple(KINDS)) -> list[Session]:
    """Return the sessions of one device, scans first, each kind by date. Lacking if no session has
    two rounds."""
    every = [
        session
        for session in data.once("sessions", lambda: [*_each(data)])
        if session.kind in kinds and device in ("", session.files[0].device)
    ]
    if not every:
        raise Lacking("timings of two rounds or more")
    first = device or ranked([session.files[0] for session in every], data.first)[0]
    every = [session for session in every if session.files[0].device == first]
    origin = min(session.files[0].origin for session in every)  # measured now before recorded
    every = [session for session in every if session.files[0].origin == origin]
    every.sort(key=lambda session: session.files[0].date)
    return [
        session
        for kind in kinds
        for session in _together([session for session in every if session.kind == kind])
    ]


def _each(data: Data) -> Iterator[Session]:
    """The session of each file. Times of the host's cores in a file of a GPU are left out."""
    hosts = data.variants.ids(HOST)
    for kind in KINDS:
        for number, rows in data[kind].groupby("file"):
            file = data.files[number]
            if kind == "schedule":
                rows = pick(rows, control=0)
            if kind == "scan" and file.kind != "host":
                rows = rows[~rows["variant"].isin(hosts)]
            if file.kind not in ("tuning", ODD_SIZES) and rows["round"].max() > 0:
                yield session_of(data, rows, kind)


def _together(sessions: list[Session]) -> list[Session]:
    """Sessions of one kind, the small ones as one."""
    small = [session for session in sessions if len(session.names) < TOGETHER]
    if len(small) < 2:
        return sessions
    before = np.cumsum([0] + [len(session.names) for session in small])
    samples = [
        session.samples.assign(case=session.samples["case"] + shift)
        for session, shift in zip(small, before, strict=False)
    ]
    files = [file for session in small for file in session.files]
    names = [name for session in small for name in session.names]
    joined = Session(files, small[0].kind, names, pd.concat(samples, ignore_index=True))
    return [*(session for session in sessions if session not in small), joined]


def _by_count(rows: pd.DataFrame) -> Iterator[np.ndarray]:
    """Return the places of the samples of cases with equally many samples: a row per case, in order
    of rounds."""
    order = np.lexsort((rows["round"], rows["case"]))
    counts = rows.groupby("case")["case"].transform("size").to_numpy()[order]
    for count in np.unique(counts):
        yield order[counts == count].reshape(-1, count)


def _beyond_fences(rows: np.ndarray) -> np.ndarray:
    """Return which values of each row lie beyond Tukey's fences, 1.5 times the distance of the
    fourths outside them."""
    ordered, count = np.sort(rows, axis=1), rows.shape[1]
    depth = ((count + 1) // 2 + 1) / 2 - 1  # of the fourth: that of the median of a half
    ends = [math.floor(depth), math.ceil(depth)]
    low, high = (half[:, ends].mean(axis=1, keepdims=True) for half in (ordered, ordered[:, ::-1]))
    return (rows < low - 1.5 * (high - low)) | (rows > high + 1.5 * (high - low))


@lru_cache(maxsize=64)
def _normal_share(count: int) -> float:
    """The share of so many normal values beyond the fences, to a tenth of a percent."""
    if count < FEWEST:
        return 0.0
    values = np.random.default_rng(SEED).normal(size=(20_000, count))
    return float(_beyond_fences(values).mean())


def _scores(rows: np.ndarray) -> np.ndarray:
    """Return Kendall's score of each row: the number of pairs whose later value is larger, less the
    number whose later value is smaller."""
    count = rows.shape[1]
    return sum(
        np.sign(rows[:, later] - rows[:, earlier]).astype(int)
        for later in range(count)
        for earlier in range(later)
    )


@lru_cache(maxsize=64)
def _trend_p(count: int) -> np.ndarray:
    """Return, for each size of the score, the chance that values in random order have a score at
    least as large. The i-th value is equally likely to stand before 0 to i of the values before it.
    """
    chances = np.ones(1)
    for i in range(1, count):
        chances = np.convolve(chances, np.full(i + 1, 1 / (i + 1)))
    most = len(chances) - 1
    sizes = np.abs(most - 2 * np.arange(most + 1))
    return np.array([min(1.0, float(chances[sizes >= size].sum())) for size in range(most + 1)])
