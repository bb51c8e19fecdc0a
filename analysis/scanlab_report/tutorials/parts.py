"""The generated parts of the pages: lines of the kernels' sources, and how fast a step was."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import pandas as pd

from scanlab_report.chapters import bounds, concurrency, standings
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table, code, significant, size, whole
from scanlab_report.groups import CEILING
from scanlab_report.pick import newest, pick
from scanlab_report.pick import scans as pick_scans
from scanlab_report.sources import sources

ROOT = Path(__file__).resolve().parents[3]
"""The checkout: pages name sources by their place in it."""
_MARKER = re.compile(r"<!-- ((code|speed|schedules|calls|pages) (.+?)):begin -->")


class PartError(ValueError):
    """A marker that asks for what is not there."""


def asked(page: str) -> Iterator[tuple[str, str, str]]:
    """The parts that a page's markers ask for: the marker's name, the kind, and its words."""
    for marker in _MARKER.finditer(page):
        yield marker[1], marker[2], marker[3]


def generated(kind: str, words: str, data: Data, page: Path, before: Mapping[Path, str]) -> str:
    """The text between a pair of markers of a page; `before` has the pages that are done."""
    if kind == "pages":
        return pages(page.parent / words, before)
    return {
        "code": lambda _, words: excerpt(words),
        "speed": speeds,
        "schedules": schedules,
        "calls": calls,
    }[kind](data, words)


def excerpt(words: str) -> str:
    """Return lines of a source. `FILE LINE`: from the line that begins so, to where its braces
    close; `FILE FIRST … LAST`: up to the next line that begins with LAST; `FILE`: all of it."""
    name, _, line = words.partition(" ")
    file = ROOT / name
    if not file.is_file():
        raise PartError(f"there is no source {name}")
    lines = file.read_text(encoding="utf-8").splitlines()
    if line:
        first, _, last = line.partition(" … ")
        starts = [n for n, text in enumerate(lines) if text.strip().startswith(first)]
        if len(starts) != 1:
            many = "several lines begin" if starts else "no line begins"
            raise PartError(f"{name}: {many} with: {first}")
        stop = _closes(lines, starts[0])
        if last:
            behind = range(starts[0], len(lines))
            ends = (n for n in behind if lines[n].strip().startswith(last))
            stop = next(ends, -1)
        if stop < 0:
            raise PartError(f"{name}: no line behind that begins with: {last}")
        lines = lines[starts[0] : stop + 1]
    language = {".sh": "sh", ".txt": "text", ".toml": "toml"}.get(file.suffix, "cpp")
    text = textwrap.dedent("\n".join(lines)).rstrip()
    return f"```{language}\n{text}\n```"


def _closes(lines: list[str], start: int) -> int:
    """The line in which the braces that are opened from `start` on are closed."""
    depth, opened = 0, False
    for number in range(start, len(lines)):
        for letter in re.sub(r"//.*", "", lines[number]):
            depth += {"{": 1, "}": -1}.get(letter, 0)
            opened = opened or letter == "{"
        following = lines[min(number + 1, len(lines) - 1)]
        if opened and depth == 0 and not re.match(r"\s*} else", following):
            return number
    raise PartError(f"the braces behind this line do not close: {lines[start].strip()}")


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
        raise PartError(f"no recorded times of {', '.join(missing)}")
    rows = [
        {
            "variant": name,
            "items": stands.at[name, "items"],
            "time": stands.at[name, "median_us"],
            "share": 1.0 if name == CEILING else stands.at[name, "of_memcpy"].value,
        }
        for name in names
    ]
    columns = (
        Column("variant", "variant", code, right=False),
        Column("items", "items", size),
        Column("time", "time, µs", partial(significant, digits=4)),
        Column("share", "speed, copy = 1", significant),
    )
    caption = (
        "Inclusive sums of 32-bit integers, cold cache. The last column is the time of a "
        "device copy over the time of the scan."
    )
    return _with_source(data, Table(caption, columns, pd.DataFrame(rows)), cases)


def schedules(data: Data, words: str) -> str:
    """`SCHEDULE[/CHUNKS[/STREAMS]]…`: the time of each at its largest problem, with the least work
    per item, at these chunks or its best ones."""
    every = bounds.schedules_of(data)
    cases = pick(every, workload=bounds.MAIN_WORKLOAD)
    cases = pick(cases, items=cases["items"].max())
    cases = pick(cases, work=cases["work"].min())
    rows = []
    for word in words.split():
        wanted = zip(("id", "chunks", "streams"), word.split("/"), strict=False)
        values = {name: value if name == "id" else int(value) for name, value in wanted}
        own = pick(cases, **values)
        if own.empty:
            raise PartError(f"no recorded times of {word}")
        case = own.loc[own["median_ns"].idxmin()]
        number = None if case["own_streams"] == 1 else case["streams"]
        rows.append(
            {
                "schedule": values["id"],
                "memory": case["memory"],
                "chunks": case["chunks"],
                "streams": number,
                "time": case["median_ns"] / 1e6,
            }
        )
    made = pd.DataFrame(rows)
    made["streams"] = made["streams"].astype("Int64")
    caption = (
        f"{size(int(cases['items'].max()))} floats to the device, a kernel that scales each, and "
        "back. A schedule without a number of streams makes its own."
    )
    columns = (
        Column("schedule", "schedule", code, right=False),
        Column("memory", "memory", right=False),
        Column("chunks", "chunks", whole),
        Column("streams", "streams", whole),
        Column("time", "time, ms", partial(significant, digits=4)),
    )
    return _with_source(data, Table(caption, columns, made), every)


def calls(data: Data, names: str) -> str:
    """Whether each call blocks the host, and whether it serialises two other streams."""
    every = newest(data, "implicit_sync", "experiments on implicit synchronisation")
    rows, made = every.drop_duplicates("name").set_index("name"), []
    for name in names.split():
        known = {
            who: rows.loc[f"{name}.{who}"]
            for who in ("host", "streams")
            if f"{name}.{who}" in rows.index
        }
        if not known:
            raise PartError(f"no recorded experiment {name}")
        subject = next(iter(known.values()))["subject"].replace(" behind the kernel,", "")
        answers = {
            who: concurrency.text(known[who]["answer"]) if who in known else "—"
            for who in ("host", "streams")
        }
        made.append({"call": subject} | answers)
    caption = (
        "Between kernels: whether the call returns only when the kernel before it has ended, and "
        "whether it serialises kernels of two other streams."
    )
    columns = (
        Column("call", "call", right=False),
        Column("host", "blocks the host", right=False),
        Column("streams", "serialises streams", right=False),
    )
    return _with_source(data, Table(caption, columns, pd.DataFrame(made)), every)


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
