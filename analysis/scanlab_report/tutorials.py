"""The generated parts of docs/tutorials: lines of the kernels' sources, and recorded times."""

from __future__ import annotations

import re
import textwrap
from functools import partial
from itertools import accumulate
from pathlib import Path

import pandas as pd

from scanlab_report import DATA, markers
from scanlab_report.chapters import bounds, standings
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table, code, significant, size, whole
from scanlab_report.groups import CEILING
from scanlab_report.markers import MarkerError
from scanlab_report.page.columns import source_line
from scanlab_report.pick import pick
from scanlab_report.pick import scans as pick_scans
from scanlab_report.sources import sources

ROOT = DATA.parent
"""The checkout: pages name sources by their place in it."""
PAGES = ROOT / "docs" / "tutorials"
MARKER = re.compile(r"<!-- ((code|speed|schedules) (.+?)):begin -->")


def filled(page: Path, data: Data) -> str:
    """The text of a page with its generated parts."""
    text = page.read_text(encoding="utf-8")
    for name, kind, words in MARKER.findall(text):
        try:
            part = excerpt(words) if kind == "code" else _TIMES[kind](data, words)
            text = markers.replaced(text, name, part)
        except MarkerError as error:
            raise MarkerError(f"{page}: {error}") from None
    return text


def excerpt(words: str) -> str:
    """Return lines of a source. `FILE LINE`: from the line that begins so, to where its braces
    close; `FILE FIRST … LAST`: up to the next line that begins with LAST; `FILE`: all of it."""
    name, _, line = words.partition(" ")
    file = ROOT / name
    if not file.is_file():
        raise MarkerError(f"there is no source {name}")
    lines = file.read_text(encoding="utf-8").splitlines()
    if line:
        first, _, last = line.partition(" … ")
        starts = [n for n, text in enumerate(lines) if text.strip().startswith(first)]
        if len(starts) != 1:
            raise MarkerError(f"{name}: {len(starts)} lines begin with: {first}")
        lines = lines[starts[0] :]
        ends = [n for n, text in enumerate(lines) if last and text.strip().startswith(last)]
        if not last:
            code_ = [text.partition("//")[0] for text in lines]
            braces = [[*accumulate(text.count(brace) for text in code_)] for brace in "{}"]
            ends = [n for n, (o, c) in enumerate(zip(*braces, strict=True)) if 0 < o == c]
        if not ends:
            raise MarkerError(f"{name}: no end of: {line}")
        lines = lines[: ends[0] + 1]
    language = {".sh": "sh", ".txt": "text", ".toml": "toml"}.get(file.suffix, "cpp")
    text = textwrap.dedent("\n".join(lines)).rstrip()
    return f"```{language}\n{text}\n```"


def speeds(data: Data, variants: str) -> str:
    """The time of each variant at its largest size, and its speed as a share of a device copy's."""
    cases = pick_scans(data, all_of=(CEILING,))
    stands = standings.standings(data, cases).set_index("variant")
    rows = _known(stands, variants).reset_index()
    ratios = zip(rows["variant"], rows["of_memcpy"], strict=True)
    rows["share"] = [1.0 if variant == CEILING else ratio.value for variant, ratio in ratios]
    columns = (
        Column("variant", "variant", code, right=False),
        Column("items", "items", size),
        Column("median_us", "time, µs", partial(significant, digits=4)),
        Column("share", "speed, copy = 1", significant),
    )
    caption = (
        "Inclusive sums of 32-bit integers, cold cache. The last column is the time of a "
        "device copy over the time of the scan."
    )
    return _with_source(data, Table(caption, columns, rows), cases)


def schedules(data: Data, words: str) -> str:
    """`SCHEDULE[/CHUNKS[/STREAMS]]…`: the time of each at its largest problem, with the least work
    per item, at these chunks or its best ones."""
    every = bounds.schedules_of(data)
    cases = pick(every, workload=bounds.MAIN_WORKLOAD)
    cases = pick(cases, items=cases["items"].max())
    cases = pick(cases, work=cases["work"].min())
    fastest = {}
    for word in words.split():
        id_, *counts = word.split("/")
        wanted = zip(("chunks", "streams"), map(int, counts), strict=False)
        fastest[word] = pick(cases, id=id_, **dict(wanted)).nsmallest(1, "median_ns")
    rows = _known(pd.concat(fastest).droplevel(1), words)
    rows["streams"] = rows["streams"].astype("Int64").mask(rows["own_streams"] == 1)
    rows["time"] = rows["median_ns"] / 1e6
    caption = (
        f"{size(int(cases['items'].max()))} floats to the device, a kernel that scales each, and "
        "back. A schedule without a number of streams makes its own."
    )
    columns = (
        Column("id", "schedule", code, right=False),
        Column("memory", "memory", right=False),
        Column("chunks", "chunks", whole),
        Column("streams", "streams", whole),
        Column("time", "time, ms", partial(significant, digits=4)),
    )
    return _with_source(data, Table(caption, columns, rows), every)


_TIMES = {"speed": speeds, "schedules": schedules}


def _known(rows: pd.DataFrame, names: str) -> pd.DataFrame:
    """The rows of these names."""
    if lost := [name for name in names.split() if name not in rows.index]:
        raise MarkerError(f"no recorded times of {', '.join(lost)}")
    return rows.loc[names.split()]


def _with_source(data: Data, table: Table, rows: pd.DataFrame) -> str:
    """A table, its caption, and where its numbers are from."""
    return f"{table.markdown()}\n{table.caption} {source_line(sources(data, rows)[0])}."
