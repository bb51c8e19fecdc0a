"""Where numbers come from: devices, dates, commits, samples."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from scanlab_report.data import Data, File
from scanlab_report.tables import MEASURED

SIMULATED, COUNTED = "simulated", "counted now"
_VERSIONS = (
    *(("toolkit", "CUDA {}"), ("driver", "driver {}"), ("cccl", "CCCL {} in the toolkit")),
    *(("cccl_newest", "CCCL {} as the newest"), ("torch", "PyTorch {}"), ("cupy", "CuPy {}")),
)
"""Fields of a context that hold a version, and how each is stated."""


@dataclass(frozen=True)
class Source:
    """Where numbers come from. `computed_by`: the program that made numbers of the measurements.
    `versions`: the vendor's code that ran. `of_checkout`: any build makes the same numbers, so that
    date and commit are left out."""

    device: str
    origin: str
    dates: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    samples: tuple[int, int] | None = None
    computed_by: str = ""
    versions: tuple[str, ...] = ()
    of_checkout: bool = False

    @property
    def date(self) -> str:
        """One day, or the first and the last."""
        return " to ".join(sorted({*self.dates[:1], *self.dates[-1:]})) or "date unknown"

    @property
    def revision(self) -> str:
        return ", ".join(self.commits) or "unknown"

    @property
    def repeated(self) -> str:
        """The number of samples behind each median, in words."""
        numbers = " to ".join(map(str, dict.fromkeys(self.samples or ())))
        return f"median of {numbers} repetition{'s' * (numbers != '1')}" if numbers else ""

    def on_page(self) -> Source:
        """The same for a page of the repository, which every checkout can make anew."""
        return replace(self, of_checkout=self.origin in (SIMULATED, COUNTED))

    def line(self) -> str:
        """One line for a footer."""
        if self.of_checkout:
            return f"{self.device} of this checkout, {self.origin}"
        line = (self.device, self.date, f"commit {self.revision}", self.computed_by, self.origin)
        return ", ".join(filter(None, line))


def source_of(
    files: Iterable[File], samples: tuple[int, int] | None = None, **changes: Any
) -> Source:
    """The source of numbers from some files of one origin."""
    used = list(files)
    every = lambda value: tuple(sorted({text for file in used if (text := value(file))}))
    stated = {form: every(lambda f: str(f.context.get(name) or "")) for name, form in _VERSIONS}
    fields: dict[str, Any] = {
        "device": ", ".join(sorted({file.device for file in used})),
        "origin": used[0].origin,
        "dates": every(lambda file: file.date[:10]),
        "commits": every(lambda file: file.revision),
        "samples": samples,
        "versions": tuple(form.format(" and ".join(own)) for form, own in stated.items() if own),
    }
    return Source(**fields | changes)


def sources(data: Data, *drawn: pd.DataFrame) -> list[Source]:
    """The source of each table that a figure draws, by its `file` and the `count` of medians."""
    lines: dict[str, Source] = {}
    for rows in drawn:
        if rows.empty:
            continue
        files = [data.files[number] for number in sorted(set(rows["file"]))]
        origin = files[0].origin
        counted = {"device": "SIMT emulator", "origin": COUNTED if origin == MEASURED else origin}
        samples = (int(rows["count"].min()), int(rows["count"].max())) if "count" in rows else None
        source = source_of(files, samples, **counted if "content" in rows else {})
        lines.setdefault(source.line(), source)
    return list(lines.values())
