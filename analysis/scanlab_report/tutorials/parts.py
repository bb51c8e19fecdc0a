"""The generated parts of the pages: lines of the kernels' sources, and how fast a step was."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import pandas as pd

from scanlab_report import markers
from scanlab_report.chapters import bounds, concurrency, standings
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table, code, significant, size, whole
from scanlab_report.groups import CEILING
from scanlab_report.markers import MarkerError
from scanlab_report.pick import newest, pick
from scanlab_report.pick import scans as pick_scans
from scanlab_report.sources import sources

ROOT = Path(__file__).resolve().parents[3]
"""The checkout: pages name sources by their place in it."""
MARKER = re.compile(r"<!-- ((code|speed|schedules|calls|pages) (.+?)):begin -->")


def filled(page: Path, data: Data, before: Mapping[Path, str]) -> str:
    """The text of a page with its generated parts. ``before``: the pages that are done."""
    text = page.read_text(encoding="utf-8")
    for name, kind, words in MARKER.findall(text):
        try:
            if kind == "pages":
                part = pages(page.parent / words, before)
            elif kind == "code":
                part = excerpt(words)
            else:
                part = {"speed": speeds, "schedules": schedules, "calls": calls}[kind](data, words)
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
            many = "several lines begin" if starts else "no line begins"
            raise MarkerError(f"{name}: {many} with: {first}")
        lines = lines[starts[0] :]
        closing = (n for n, text in enumerate(lines) if text.strip().startswith(last))
        stop = next(closing if last else _closing(lines), None)
        if stop is None:
            lack = f"no line behind that begins with: {last}" if last else f"no end of: {first}"
            raise MarkerError(f"{name}: {lack}")
        lines = lines[: stop + 1]
    language = {".sh": "sh", ".txt": "text", ".toml": "toml"}.get(file.suffix, "cpp")
    text = textwrap.dedent("\n".join(lines)).rstrip()
    return f"```{language}\n{text}\n```"


def _closing(lines: list[str]) -> Iterator[int]:
    """The lines at which all braces are closed that were opened."""
    opened = closed = 0
    for number, line in enumerate(lines):
        code_ = line.partition("//")[0]
        opened, closed = opened + code_.count("{"), closed + code_.count("}")
        if 0 < opened == closed:
            yield number


def _with_source(data: Data, table: Table, rows: pd.DataFrame) -> str:
    """A table, its caption, and where its numbers are from."""
    (source,) = sources(data, rows)
    line = "; ".join(filter(None, (source.line(), source.repeated)))
    return f"{table.markdown()}\n{table.caption} {line}."


def speeds(data: Data, variants: str) -> str:
    """The time of each variant at its largest size, and its speed as a share of a device copy's."""
    cases = pick_scans(data, all_of=(CEILING,))
    stands = standings.standings(data, cases).set_index("variant")
    names = variants.split()
    if missing := [name for name in names if name not in stands.index]:
        raise MarkerError(f"no recorded times of {', '.join(missing)}")
    rows = stands.loc[names].reset_index()
    ratios = zip(names, rows["of_memcpy"], strict=True)
    rows["share"] = [1.0 if name == CEILING else ratio.value for name, ratio in ratios]
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
    fastest = []
    for word in words.split():
        id_, *counts = word.split("/")
        wanted = zip(("chunks", "streams"), map(int, counts), strict=False)
        fastest.append(pick(cases, id=id_, **dict(wanted)).nsmallest(1, "median_ns"))
        if fastest[-1].empty:
            raise MarkerError(f"no recorded times of {word}")
    rows = pd.concat(fastest)
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


def calls(data: Data, names: str) -> str:
    """Whether each call blocks the host, and whether it serialises two other streams."""
    every = newest(data, "implicit_sync", "experiments on implicit synchronisation")
    experiments, rows = every.drop_duplicates("name").set_index("name"), []
    for name in names.split():
        row = {}
        for who in ("streams", "host"):
            row[who] = "—"
            if (key := f"{name}.{who}") in experiments.index:
                row[who] = concurrency.text(experiments.at[key, "answer"])
                row["call"] = experiments.at[key, "subject"].replace(" behind the kernel,", "")
        if "call" not in row:
            raise MarkerError(f"no recorded experiment {name}")
        rows.append(row)
    caption = (
        "Between kernels: whether the call returns only when the kernel before it has ended, and "
        "whether it serialises kernels of two other streams."
    )
    columns = (
        Column("call", "call", right=False),
        Column("host", "blocks the host", right=False),
        Column("streams", "serialises streams", right=False),
    )
    return _with_source(data, Table(caption, columns, pd.DataFrame(rows)), every)


def pages(folder: Path, texts: Mapping[Path, str]) -> str:
    """The pages of a folder, as `texts` has them, with the minutes that each takes."""
    lines = [f"| {folder.name} | minutes |", "|---|---:|"]
    for page, text in sorted((page, text) for page, text in texts.items() if page.parent == folder):
        pattern = r"^## Exercises\n(.*?)^<details>"
        exercises = re.search(pattern, text, re.MULTILINE | re.DOTALL)
        number = len(re.findall(r"^\d+\. ", exercises[1], re.MULTILINE)) if exercises else 0
        words = len(re.sub(r"<!--.*?-->|[|`#*]", " ", text, flags=re.DOTALL).split())
        title = text.splitlines()[0].removeprefix("# ")
        minutes = round(words / 150 + 3 * number)
        lines.append(f"| [{title}]({folder.name}/{page.name}) | {minutes} |")
    last = (
        "Minutes: 150 words per minute, code and tables included, and three minutes per exercise."
    )
    return "\n".join([*lines, "", last])
