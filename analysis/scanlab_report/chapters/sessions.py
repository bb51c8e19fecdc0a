"""Did anything drift while results were measured? Outliers and clocks by results file."""

from functools import partial

from scanlab_report.data import Data
from scanlab_report.drift import summary, timed_in_rounds
from scanlab_report.formats import Column, Table, records, significant, whole, with_interval
from scanlab_report.shown import Shown, shown, table
from scanlab_report.sources import source_of

_two = partial(significant, digits=2)
COLUMNS = (
    Column("session", "results file", right=False, wrap=6),
    Column("cases", "cases", whole),
    Column("rounds", "rounds", right=False, wrap=4),
    Column("converged_percent", "converged, %", _two),
    Column("drift_percent", "median, %", partial(with_interval, digits=2), group="drift"),
    Column("drift_cases", "n", whole, group="drift"),
    Column("outliers_percent", "%", _two, group="outliers"),
    Column("outliers_of_normal_percent", "of normal", _two, group="outliers"),
    Column("worst", "worst, ×", significant, group="outliers"),
    Column("clocks", "read", whole, group="clock"),
    Column("lowered", "below max", whole, group="clock"),
)
CAPTION = (
    "Drift, outliers and clocks by results file. Converged: cases that the stopping rule ended. "
    "Drift: the round that differs most, of n cases. Outliers: beyond Tukey's fences, of normal "
    "times, the farthest. Clocks: readings, every 20 ms at most, and those below maximum. The "
    "host's cores are left out."
)


@table("scans")
def scan_sessions(data: Data) -> Shown:
    """Drift, outliers and clocks of each results file of scans."""
    timed = timed_in_rounds(data, "scan")
    rows = [summary(own, "scan") for own in timed]
    samples = min(row["samples"][0] for row in rows), max(row["samples"][1] for row in rows)
    source = source_of([own.file for own in timed], samples)
    return shown(data, Table(CAPTION, COLUMNS, records(rows)), CAPTION, source)
