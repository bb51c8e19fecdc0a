"""Where numbers come from: devices, dates, commits, repetitions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from scanlab_report.read.records import MEASURED, Explanation, Results, Run

COMPUTED = ("simulated", "counted now")
"""Origins of numbers that the program makes without a measurement."""


@dataclass(frozen=True)
class Provenance:
    """Where numbers come from."""

    what: str
    origin: str
    device: str = ""
    dates: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    dirty: bool = False
    repetitions: tuple[int, int] | None = None
    computed_by: str = ""
    """What made numbers of the measurements, with its own commit; empty if nothing did."""
    made_by_checkout: bool = False
    """Date and commit are not said."""
    versions: tuple[str, ...] = ()
    """Of the vendor's code that ran: driver, toolkit, libraries."""

    @property
    def date(self) -> str:
        """One day, or the first and the last."""
        if not self.dates:
            return "date unknown"
        return self.dates[0] if len(self.dates) == 1 else f"{self.dates[0]} to {self.dates[-1]}"

    @property
    def revision(self) -> str:
        """Abbreviated commits; ``+`` marks a tree with uncommitted changes."""
        mark = "+" if self.dirty else ""
        return ", ".join(c[:9] + mark for c in self.commits) or "unknown"

    @property
    def commit(self) -> str:
        """The same, as a footer has it."""
        return f"commit {self.revision}"

    @property
    def repeated(self) -> str:
        """The number of repetitions behind each median, in words."""
        if self.repetitions is None:
            return ""
        low, high = self.repetitions
        count = f"{low}" if low == high else f"{low} to {high}"
        return f"median of {count} repetition{'' if high == 1 else 's'}"

    def of_checkout(self) -> Provenance:
        """For a page of the repository: without date and commit where a model or the emulator made the numbers, which any build of the checkout repeats."""
        return replace(self, made_by_checkout=self.origin in COMPUTED)

    def line(self) -> str:
        """One line for a footer."""
        if self.made_by_checkout:
            return f"{self.device or self.what} of this checkout, {self.origin}"
        return ", ".join(part for part in (self.device or self.what, self.date, self.commit, self.computed_by, self.origin) if part)


_VERSIONS = (("toolkit", "CUDA {}"), ("driver", "driver {}"), ("cccl", "CCCL {} in the toolkit"), ("cccl_newest", "CCCL {} as the newest"),
             ("torch", "PyTorch {}"), ("cupy", "CuPy {}"))  # fmt: skip
"""Fields of a context that hold a version, and how each is said."""


def _day(date: str) -> str:
    return date[:10]


def _versions(runs: Iterable[Run]) -> tuple[str, ...]:
    """Each version that ran; those of one name side by side."""
    contexts = [run.context for run in runs]
    found = ((form, sorted({str(of[name]) for of in contexts if of.get(name)})) for name, form in _VERSIONS)
    return tuple(form.format(" and ".join(of)) for form, of in found if of)


def timing_provenance(rows: pd.DataFrame, cases: pd.DataFrame, runs: Sequence[Run], origin: str) -> Provenance:
    used = [runs[i] for i in sorted(set(rows["run"]))]
    repetitions = (int(cases["count"].min()), int(cases["count"].max()))
    return run_provenance("timings", used, origin, repetitions)


def run_provenance(
    what: str, runs: Iterable[Run], origin: str, repetitions: tuple[int, int] | None = None
) -> Provenance:
    used = list(runs)
    return Provenance(
        what=what,
        origin=origin,
        device=", ".join(sorted({run.device for run in used})),
        dates=tuple(sorted({_day(run.date) for run in used if run.date})),
        commits=tuple(sorted({run.commit for run in used if run.commit})),
        dirty=any(run.dirty for run in used),
        repetitions=repetitions,
        versions=_versions(used),
    )


def count_provenance(explanations: Sequence[Explanation], origin: str) -> Provenance:
    return Provenance(
        what="emulator counts",
        origin="counted now" if origin == MEASURED else origin,
        device="SIMT emulator",
        dates=tuple(sorted({_day(e.date) for e in explanations if e.date})),
        commits=tuple(sorted({e.commit for e in explanations if e.commit})),
        dirty=any(e.dirty for e in explanations),
    )


def counter_provenance(results: Results, table: pd.DataFrame, origin: str) -> Provenance:
    """Counters lie beside the timings of the same session; that run's provenance is theirs."""
    beside = [results.beside(file, origin) for file in sorted(set(table["file"]))]
    return run_provenance("hardware counters", [run for run in beside if run], origin)
