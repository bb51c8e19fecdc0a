"""The cases of some files on their way into figures and tables, each with the name of its file, and how times are printed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scanlab_report.layout import style
from scanlab_report.read.foreign.cases import Case, Foreign, without_numbers
from scanlab_report.stats.intervals import UNKNOWN, Interval, median_interval
from scanlab_report.stats.means import mean_interval

COLOURS = (style.BLUE, style.VERMILLION, style.GREEN, style.PURPLE, style.ORANGE, style.SKY, style.BLACK, style.GREY)
MARKERS = ("o", "s", "D", "^", "v", "p", "*", "X")
LINES = ("-", "--", "-.", ":")
_UNITS = ((1e-6, "ns", 1e9), (1e-3, "µs", 1e6), (1.0, "ms", 1e3), (np.inf, "s", 1.0))


@dataclass(frozen=True)
class Shown:
    """A case, and the file that it is of by name and number."""

    file: str
    number: int
    case: Case

    def time(self) -> Interval:
        """The median, with its interval; of a case without samples the mean."""
        of = self.case
        return median_interval(of.samples) if len(of.samples) else mean_interval(of.mean, of.stdev, of.count)

    def rate(self) -> Interval:
        """Bytes per second, likewise; the file's own rate where there are no samples."""
        rates = self.case.rates
        return UNKNOWN if not len(rates) else median_interval(rates)


def named(files: list[Foreign]) -> list[Shown]:
    """Every case of every file. Files of one name are told apart by their folders."""
    names = [of.run.file.name for of in files]
    names = names if len(set(names)) == len(names) else [str(of.run.file) for of in files]
    return [Shown(name, number, case) for number, (name, of) in enumerate(zip(names, without_numbers(files), strict=True)) for case in of.cases]


def unit(seconds: float) -> tuple[str, float]:
    """The unit for times of about so many seconds, and how many of it are a second."""
    return next((name, factor) for most, name, factor in _UNITS if seconds < most)
