"""Scans larger than the device."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.ticker import NullFormatter

from scanlab_report import marks, style
from scanlab_report.data import Data
from scanlab_report.intervals import Interval, summarise
from scanlab_report.pick import answering, newest_first, pick
from scanlab_report.shown import Shown, figure, shown
from scanlab_report.tables import STREAM_SCAN
from scanlab_report.versus import or_lacking, ratios

STREAMED, NAIVE, DUPLEX, FILES = "streamed", "naive", "duplex_copy", "files"
_WAYS = {DUPLEX: "copies in both directions", FILES: "file access alone"}
_PLACES = {
    "": (style.BLUE, "o"),
    "generated": (style.SKY, "D"),
    "pwrite": (style.ORANGE, "^"),
    "mapping": (style.VERMILLION, "s"),
}


def larger_cases(data: Data) -> pd.DataFrame:
    """The cases of scans larger than the device, each of the file that answers."""
    rows = pick(data["stream_scan"], file=newest_first(data, "stream_scan"))
    rows = or_lacking(rows[rows["bytes"] > 0], "scans larger than the device")
    return summarise(answering(data, rows, "stream_scan"), STREAM_SCAN)


def larger_sessions(data: Data) -> list[pd.DataFrame]:
    """Return the same cases of each folder separately, the newest first."""
    every = data.every or data
    folders: dict[Path, list[int]] = {}
    for number in newest_first(every, "stream_scan"):
        folders.setdefault(every.files[number].path.parent, []).append(number)
    tables = (pick(every["stream_scan"], file=numbers) for numbers in folders.values())
    return [summarise(rows, STREAM_SCAN) for rows in tables]


def fastest_ways(cases: pd.DataFrame) -> pd.DataFrame:
    """The fastest case per way, `place` (how it is written), `where` (from and to) and size."""
    written = np.where(cases["mapped"] == 1, "mapping", "pwrite")
    to_file, made = cases["to"] == "file", np.where(cases["from"] == "generated", "generated", "")
    where = np.where(to_file, "file, " + pd.Series(written, cases.index), cases["from"])
    named = cases.assign(place=np.where(to_file, written, made), where=where)
    return named.loc[named.groupby(["way", "place", "where", "bytes"])["median_ns"].idxmin()]


def over_files(cases: pd.DataFrame, way: str) -> list[tuple[int, Interval, str]]:
    """Bytes, time of `way` over that of the scan, and how the scan writes, from file to file."""
    rows = pick(fastest_ways(cases), **{"from": "file", "to": "file", "way": [way, STREAMED]})
    rows = rows.sort_values("median_ns").drop_duplicates(["bytes", "way"])
    others, scans = (pick(rows, way=each) for each in (way, STREAMED))
    both = others.merge(scans, on="bytes", suffixes=("_other", "")).sort_values("bytes")
    over = ratios(both["samples_other"], both["samples"])
    return list(zip(map(int, both["bytes"]), over, both["place"], strict=True))


def size_name(bytes_: int) -> str:
    """Bytes in the largest binary unit that leaves a whole number, else with one decimal."""
    for unit, number in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if bytes_ >= number:
            form = "g" if bytes_ % number == 0 else ".1f"
            return f"{bytes_ / number:{form}} {unit}"
    return f"{bytes_} B"


@figure("from_memory", "from_files", "from_large_files")
def stream_scan(data: Data) -> Shown:
    """Throughput of out-of-core scans against input size, beside copies and file access alone."""
    every = larger_cases(data)
    cases = fastest_ways(every)
    drawn, (axes,) = style.figure(style.DOUBLE, 2.2)
    axes.set_yscale("log")
    marks.factor_axis(axes.yaxis, 1, 2, 5)
    sizes, ends = sorted(set(cases["bytes"])), []
    axes.set_xscale("log", base=2)
    axes.set_xlim(sizes[0] / 1.5, sizes[-1] * 1.5)
    axes.set_xticks(sizes, map(size_name, sizes))
    axes.xaxis.set_minor_formatter(NullFormatter())
    for (way, place, where), rows in cases.groupby(["way", "place", "where"]):
        (colour, marker), streamed = _PLACES[place], way == STREAMED
        drawn_as = style.Look(colour, marker, "-" if streamed else ":", filled=streamed)
        if way in _WAYS:
            drawn_as = style.Look(style.GREY if way == DUPLEX else colour, "", "-")
        name, rows = f"{_WAYS.get(way, way)}, {where}", marks.rates(rows.sort_values("bytes"))
        form = marks.THICK if way in _WAYS else {}
        ends.append(marks.curve(axes, rows, "bytes", drawn_as, name, **form))
    axes.set(xlabel="bytes of the input", ylabel="throughput, GB/s each way")
    style.margin_legend(axes, ends)
    caption = (
        "Throughput of scans within a budget of device memory against input size, counting input "
        "bytes. Thick lines are the same transfers without a scan, a reference and not a bound; "
        "naive is one synchronous loop on pageable memory. Recorded files lie in memory (tmpfs), "
        "written by pwrite or through a mapping; bars are 95% intervals, where there are six "
        "repetitions."
    )
    return shown(data, drawn, caption, every)
