"""Scans larger than the device: the fastest of each way, and one way over another."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scanlab_report.select.streams_evidence import STREAMED
from scanlab_report.stats.intervals import Interval, ratio_interval


def fastest(cases: pd.DataFrame) -> pd.DataFrame:
    """One row a way, place and size, the fastest of them; ``place`` is how it is written, ``where`` from where to where."""
    written = np.where(cases["mapped"] == 1, "mapping", "pwrite")
    place = np.where(cases["to"] == "file", written, np.where(cases["from"] == "generated", "generated", ""))
    where = [f"file, {how}" if to == "file" else start for start, to, how in zip(cases["from"], cases["to"], written, strict=True)]
    named = cases.assign(place=place, where=where)
    return named.loc[named.groupby(["way", "place", "where", "bytes"])["median_ns"].idxmin()]


def of_file(cases: pd.DataFrame, way: str, over: str = STREAMED) -> list[tuple[int, Interval, str]]:
    """From file to file, the time of ``way`` over that of ``over`` at each size that has both, the smallest first; and how the
    latter writes. Each by the way to write that is the faster for it: these can be of two processes.
    """
    rows = fastest(cases)
    rows = rows[(rows["from"] == "file") & (rows["to"] == "file")]
    found = []
    for size, of in rows.groupby("bytes"):
        pair = [of[of["way"] == each] for each in (way, over)]
        if not any(side.empty for side in pair):
            other, scan = (side.loc[side["median_ns"].idxmin()] for side in pair)
            found.append((int(size), ratio_interval(other["samples"], scan["samples"]), scan["place"]))
    return found
