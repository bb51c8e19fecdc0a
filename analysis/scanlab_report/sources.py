"""Where numbers come from: devices, dates, commits, samples."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from scanlab_report.data import Data, File
from scanlab_report.tables import MEASURED

SIMULATED, COUNTED = "simulated", "counted now"


@dataclass(frozen=True)
class Source:
    """Where numbers come from."""

    device: str
    origin: str
    dates: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    dirty: bool = False
    samples: tuple[int, int] | None = None
    computed_by: str = ""
    """The program that made numbers of the measurements, with its own commit."""
    versions: tuple[str, ...] = ()
    """The vendor's code that ran: driver, toolkit, libraries."""
    of_checkout: bool = False
    """Whether any build of the checkout makes the same numbers; date and commit are then left out.
    """

    @property
    def date(self) -> str:
        """One day, or the first and the last."""
        if not self.dates:
            return "date unknown"
        first, last = self.dates[0], self.dates[-1]
        return first if len(self.dates) == 1 else f"{first} to {last}"

    @property
    def revision(self) -> str:
        """Abbreviated commits; `+` marks a tree with uncommitted changes."""
        return ", ".join(c[:9] + "+" * self.dirty for c in self.commits) or "unknown"

    @property
    def repeated(self) -> str:
        """The number of samples behind each median, in words."""
        if self.samples is None:
            return ""
        low, high = self.samples
        number = f"{low}" if low == high else f"{low} to {high}"
        return f"median of {number} repetition{'' if high == 1 else 's'}"

    def on_page(self) -> Source:
        """Return one line for a page of the repository."""
        return replace(self, of_checkout=self.origin in (SIMULATED, COUNTED))

    def line(self) -> str:
        """One line for a footer."""
        if self.of_checkout:
            return f"{self.device} of this checkout, {self.origin}"
        line = (self.device, self.date, f"commit {self.revision}", self.computed_by, self.origin)
        return ", ".join(part for part in line if part)


_VERSIONS = {
    "toolkit": "CUDA {}",
    "driver": "driver {}",
    "cccl": "CCCL {} in the toolkit",
    "cccl_newest": "CCCL {} as the newest",
    "torch": "PyTorch {}",
    "cupy": "CuPy {}",
}
"""Fields of a context that hold a version, and how each is stated."""


def source_of(
    files: Iterable[File], samples: tuple[int, int] | None = None, **changes: Any
) -> Source:
    """The source of numbers from some files of one origin."""
    used = list(files)
    all_of = lambda value: tuple(sorted({text for file in used if (text := value(file))}))
    stated = {key: all_of(lambda f: str(f.context.get(key) or "")) for key in _VERSIONS}
    fields: dict[str, Any] = {
        "device": ", ".join(sorted({file.device for file in used})),
        "origin": used[0].origin,
        "dates": all_of(lambda file: file.date[:10]),
        "commits": all_of(lambda file: file.commit),
        "dirty": any(file.dirty for file in used),
        "samples": samples,
        "versions": tuple(
            form.format(" and ".join(stated[key])) for key, form in _VERSIONS.items() if stated[key]
        ),
    }
    return Source(**fields | changes)


def sources(data: Data, *drawn: pd.DataFrame) -> list[Source]:
    """Return the source of each table of cases that a figure draws. A table has `file`, and `count`
    if its numbers are medians. Emulator counts have `content`."""
    lines: dict[str, Source] = {}
    for rows in drawn:
        if rows.empty:
            continue
        files = [data.files[number] for number in sorted(set(rows["file"]))]
        changes: dict[str, Any] = {}
        if "content" in rows:
            counted = COUNTED if files[0].origin == MEASURED else files[0].origin
            changes = {"device": "SIMT emulator", "origin": counted}
        samples = None
        if "count" in rows:
            samples = (int(rows["count"].min()), int(rows["count"].max()))
        source = source_of(files, samples, **changes)
        lines.setdefault(source.line(), source)
    return list(lines.values())
