"""Scans of one array over several ranks: every run of one session, each case once.

Runs with 1, 2 and 4 ranks are files of their own, and so are those that were asked for by items per rank or in all. A case is named by
its ranks and by its items in all, whichever way it was asked for, so that none is counted twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import ClassVar

import pandas as pd

from scanlab_report.read import streams
from scanlab_report.read.published import Publication
from scanlab_report.read.records import MEASURED, RECORDED, STREAM, Results, Run, StreamFile, ranked
from scanlab_report.select.files import of_first, places
from scanlab_report.select.provenance import Provenance, run_provenance
from scanlab_report.select.variants import BEST
from scanlab_report.stats import intervals

PROBLEM = ["type", "op", "mode", "ranks", "items"]
"""What algorithms that are compared have in common; ``items`` are those of the whole array."""
CASE = ["algorithm", "settings", *PROBLEM]
_SAID = ["kind", "on", "bytes"]
"""What follows from the case."""
SCAN = "scan"
VENDOR = "nccl_cub"
CHUNK, STATES, TELLS = "chunk", "states", "tells"
"""Settings: tiles per chunk, states per aggregate, and what GPUs tell each other of."""
_OVER = {
    "": (("ranks_scaling", "ranks_types"), ""),
    "ranks": (("ranks_scaling", "ranks_strong"), " with 1 rank and with more"),
    "items": (("ranks_scaling",), " of several sizes"),
    VENDOR: (("ranks_scaling",), ", CUB with NCCL among them"),
    CHUNK: (("ranks_chunk",), " with several chunk sizes"),
    STATES: (("ranks_fold",), " with several states per aggregate"),
}
"""By what varies, the experiments that vary it, and how that is said."""


@dataclass(frozen=True)
class RanksEvidence:
    """Scans over several ranks, of one session. ``cases`` has one row a case with its ``samples``, ``median_ns`` and interval;
    ``best`` has the variant of that name on one GPU, warm and in a stream, one row a problem of one rank.
    """

    cases: pd.DataFrame
    best: pd.DataFrame
    provenance: Provenance

    def usual(self) -> pd.DataFrame:
        """The cases with each algorithm's usual settings: those with which it was timed in most cases, of equals the first by name."""
        counts = self.cases.groupby(["algorithm", "settings"]).size().reset_index(name="cases")
        first = counts.sort_values(["cases", "settings"], ascending=[False, True]).drop_duplicates("algorithm")
        return self.cases.merge(first[["algorithm", "settings"]])

    def varies(self, over: str) -> bool:
        """Whether a scan was timed with several of these, all else being equal: ``ranks`` (1 and more), ``items``, ``chunk`` or ``states``;
        of :data:`VENDOR`, whether it was timed.
        """
        if over == VENDOR:
            return VENDOR in set(self.cases["algorithm"])
        scans = self.cases[self.cases["kind"] == SCAN]
        if over in (CHUNK, STATES):
            return len(varied(scans, over)) > 0
        if over == "items":
            return bool((scans.groupby(["algorithm", "settings", *(of for of in PROBLEM if of != "items")])["items"].nunique() > 1).any())
        ranks = scans.groupby(["algorithm", "settings", "type", "op", "mode"])["ranks"].agg(["min", "max"])
        return bool(((ranks["min"] == 1) & (ranks["max"] > 1)).any())


def varied(scans: pd.DataFrame, name: str) -> pd.DataFrame:
    """The scans of which several numbers of a setting were timed, all else being equal: ``name``, the number; ``others``, the other settings."""
    settings = [streams.settings_in(key) for key in scans["settings"]]
    numbers = [of.pop(name, "") for of in settings]
    scans = scans.assign(others=[streams.settings_text(rest) for rest in settings])
    scans[name] = [int(of) if of.isdigit() else 0 for of in numbers]
    scans = scans[scans[name] > 0]
    return scans[scans.groupby(["algorithm", *PROBLEM, "others"])[name].transform("nunique") > 1]


def told_of(others: str) -> str:
    """What GPUs tell each other of, by settings; empty where these do not say it."""
    return streams.settings_in(others).get(TELLS, "")


@dataclass(frozen=True)
class SeveralGpus:
    """Every run over several ranks on one device: what was measured now, else the session that was named, else one that is chosen. A session
    in which nothing varies so is passed over, a named one too: the figure's source says which it is.

    ``over``: what varies in them (:meth:`RanksEvidence.varies`). ``ranks``: the session with so many GPUs is chosen; 0: the one with most
    of those in which it varies.
    """

    over: str = ""
    ranks: int = 0

    @property
    def measured_by(self) -> tuple[str, ...]:
        return _OVER[self.over][0]

    def find(self, results: Results, published: dict[str, Publication]) -> RanksEvidence | None:
        key = (SeveralGpus, self.ranks)
        if key not in results.found:
            results.found[key] = _sessions(results, self.ranks)
        return next((of() for of in results.found[key] if not self.over or of().varies(self.over)), None)

    def asked(self) -> str:
        return f"times of scans over several ranks{_OVER[self.over][1]}"


def _sessions(results: Results, ranks: int) -> list[Callable[[], RanksEvidence]]:
    """What was measured now; else every recorded session of one device, the one that answers best first. Each is made once, when asked for."""
    for origin in (MEASURED, RECORDED):
        files = [of for of in results.streams if (of.kind, of.run.origin) == (streams.DISTRIBUTED, origin) and len(of.rows)]
        if not files:
            continue
        device = ranked([of.run for of in files], results.first)[0]
        files = [of for of in files if of.run.device == device]
        if origin == MEASURED:
            runs = [run for run in results.runs if run.origin == MEASURED and run.device == device]
            return [cache(lambda: _evidence(files, _best(results, runs)))]
        by_folder: dict[Path, list[StreamFile]] = {}
        for of in files:
            by_folder.setdefault(of.run.file.parent, []).append(of)
        everything = results.every or results

        def session(folder: Path) -> RanksEvidence:
            beside = [run for run in everything.runs if run.file.parent == folder and run.device == device]
            return _evidence(by_folder[folder], _best(everything, beside))

        best_first = sorted(by_folder, key=lambda folder: (folder.name == results.named, *_fits(by_folder[folder], ranks)), reverse=True)
        return [cache(partial(session, folder)) for folder in best_first]
    return []


def _fits(files: Sequence[StreamFile], ranks: int) -> tuple[bool, bool, int, str]:
    """How well a session answers for so many ranks: it has as many, or more of them; then the one with most, then the newest."""
    most = max(int(of.rows["ranks"].max()) for of in files)
    return most == ranks, any((of.rows["ranks"] == ranks).any() for of in files), most, max(of.run.date for of in files)


def _evidence(files: Sequence[StreamFile], best: tuple[pd.DataFrame, list[Run]]) -> RanksEvidence:
    rows = pd.concat([of.rows.assign(file=number) for number, of in enumerate(files)], ignore_index=True)
    place = places(rows.groupby("file")["algorithm"].nunique().to_dict(), {number: of.run.date for number, of in enumerate(files)})
    rows = of_first(rows, CASE, "file", place)
    cases = intervals.summarise(rows, [*CASE, *_SAID])
    used = [files[number].run for number in sorted(set(rows["file"]))]
    counts = pd.concat([cases["count"], best[0]["count"]]).astype(int)
    provenance = run_provenance(streams.DISTRIBUTED, [*used, *best[1]], used[0].origin, (int(counts.min()), int(counts.max())))
    return RanksEvidence(cases, best[0], provenance)


def _best(results: Results, runs: Sequence[Run]) -> tuple[pd.DataFrame, list[Run]]:
    """What ``best`` took on one GPU, of each problem in the newest of some runs; and the runs that say it."""
    wanted = {id(run) for run in runs}
    oldest_first = sorted((place for place, run in enumerate(results.runs) if id(run) in wanted), key=lambda place: results.runs[place].date)
    rows = results.timings[results.timings["run"].isin(oldest_first)]
    rows = rows[(rows["variant"] == BEST) & (rows["settings"] == "") & (rows["cache"] == "warm") & (rows["launch"] == STREAM)]
    age = rows["run"].map({place: age for age, place in enumerate(oldest_first)})
    rows = rows[age == age.groupby([rows[of] for of in PROBLEM if of != "ranks"]).transform("max")]
    return intervals.summarise(rows.assign(ranks=1), PROBLEM), [results.runs[place] for place in sorted(set(rows["run"]))]


# ------------------------------------------------------------------------------------------------------ timelines


@dataclass(frozen=True)
class RanksTimeline:
    """Runs over several GPUs of one file: ``rows`` as of :data:`scanlab_report.read.streams.RANKS_TRACE_COLUMNS`."""

    rows: pd.DataFrame
    provenance: Provenance


@dataclass(frozen=True)
class RanksTimelines:
    """What each GPU did, in the file of most GPUs, the newest of several; what was measured now comes first."""

    measured_by: ClassVar = ("ranks_trace",)

    def find(self, results: Results, published: dict[str, Publication]) -> RanksTimeline | None:
        files = [of for of in results.streams if of.kind == streams.RANKS_TRACE and len(of.rows)]
        if not files:
            return None
        used = max(files, key=lambda of: (of.run.origin == MEASURED, of.run.file.parent.name == results.named, int(of.rows["ranks"].max()), of.run.date))
        runs = used.rows.groupby(CASE)["run"].nunique()
        provenance = run_provenance(streams.RANKS_TRACE, [used.run], used.run.origin, (int(runs.min()), int(runs.max())))
        return RanksTimeline(used.rows, provenance)

    def asked(self) -> str:
        return "timelines of scans over several GPUs"
