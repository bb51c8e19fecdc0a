"""The generated parts of the pages: lines of the kernels' sources, and how fast a step was."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

import pandas as pd

from scanlab_report.derive.standings import standings
from scanlab_report.layout.table_formats import Column, Table, code, significant, size, whole
from scanlab_report.read import streams
from scanlab_report.select.evidence import TableEvidence, TimingEvidence
from scanlab_report.select.needs import Gathered, Need
from scanlab_report.select.provenance import Provenance
from scanlab_report.select.streams_evidence import MAIN_WORKLOAD, Experiments, ScheduleEvidence, Schedules, TraceEvidence, Traces
from scanlab_report.select.timings import Timings
from scanlab_report.select.variants import CEILING

ROOT = Path(__file__).resolve().parents[4]
"""The checkout: pages name sources by their place in it."""
NEEDS: dict[str, Need] = {"timings": Timings(all_of=(CEILING,)), "schedules": Schedules(), "traces": Traces(("depth_first", "breadth_first")),
                          "calls": Experiments(streams.IMPLICIT_SYNC)}  # fmt: skip
_MARKER = re.compile(r"<!-- ((code|speed|schedules|calls|pages) (.+?)):begin -->")


class PartError(ValueError):
    """A marker that asks for what is not there."""


def asked(page: str) -> Iterator[tuple[str, str, str]]:
    """The parts that a page's markers ask for: the marker's name, the kind, and what of it."""
    for found in _MARKER.finditer(page):
        yield found[1], found[2], found[3]


def excerpt(words: str) -> str:
    """``FILE LINE``: from the line that begins so, to where its braces close; ``FILE FIRST … LAST``: to the next line that begins so; ``FILE``: all of it."""
    name, _, line = words.partition(" ")
    file = ROOT / name
    if not file.is_file():
        raise PartError(f"there is no source {name}")
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines()
    if line:
        line, _, last = line.partition(" … ")
        starts = [number for number, of in enumerate(lines) if of.strip().startswith(line)]
        if len(starts) != 1:
            raise PartError(f"{name}: {'no line begins' if not starts else 'several lines begin'} with: {line}")
        stop = next((number for number in range(starts[0], len(lines)) if lines[number].strip().startswith(last)), None) if last else _closes(lines, starts[0])
        if stop is None:
            raise PartError(f"{name}: no line behind that begins with: {last}")
        lines = lines[starts[0] : stop + 1]
    language = {".sh": "sh", ".txt": "text", ".toml": "toml"}.get(file.suffix, "cpp")
    return f"```{language}\n{textwrap.dedent(chr(10).join(lines)).rstrip()}\n```"


def _closes(lines: list[str], start: int) -> int:
    """The line in which the braces that are opened from ``start`` on are closed."""
    open_, opened = 0, False
    for number in range(start, len(lines)):
        for letter in re.sub(r"//.*", "", lines[number]):
            open_ += {"{": 1, "}": -1}.get(letter, 0)
            opened = opened or letter == "{"
        if opened and open_ == 0 and not re.match(r"\s*} else", lines[min(number + 1, len(lines) - 1)]):
            return number
    raise PartError(f"the braces behind this line do not close: {lines[start].strip()}")


def speeds(timings: TimingEvidence, variants: str, footer: str) -> str:
    """How long each variant takes at its largest size, and its speed as a share of a device copy's."""
    stands = standings(timings).set_index("variant")
    names = variants.split()
    if missing := [name for name in names if name not in stands.index]:
        raise PartError(f"no recorded times of {', '.join(missing)}")
    rows = pd.DataFrame([{"variant": name, "items": stands.at[name, "items"], "time": stands.at[name, "median_us"],
                          "share": 1.0 if name == CEILING else stands.at[name, "of_memcpy"].value} for name in names])  # fmt: skip
    table = Table(
        caption="Inclusive sums of 32-bit integers, cold cache. The last column is the time of a device copy over the time of the scan.",
        columns=(
            Column("variant", "variant", code, right=False),
            Column("items", "items", size),
            Column("time", "time, µs", lambda v: significant(v, 4)),
            Column("share", "speed, copy = 1", lambda v: significant(v, 3)),
        ),
        rows=rows,
    )
    return f"{table.markdown()}\n{table.caption} {footer}."


def schedules(evidence: ScheduleEvidence, words: str, footer: str) -> str:
    """``SCHEDULE[/CHUNKS]…``: the time of each at its largest problem, with the least work per item, at these chunks or its best ones."""
    cases = evidence.cases[(evidence.cases["workload"] == MAIN_WORKLOAD)]
    cases = cases[cases["items"] == cases["items"].max()]
    cases = cases[cases["work"] == cases["work"].min()]
    rows = []
    for word in words.split():
        name, _, parts = word.partition("/")
        chunks, _, number = parts.partition("/")
        of = cases[cases["id"] == name]
        if chunks:
            of = of[of["chunks"] == int(chunks)]
        if number:
            of = of[of["streams"] == int(number)]
        if of.empty:
            raise PartError(f"no recorded times of {word}")
        case = of.loc[of["median_ns"].idxmin()]
        rows.append({"schedule": name, "memory": case["memory"], "chunks": case["chunks"],
                     "streams": case["streams"] if case["own_streams"] != 1 else None, "time": case["median_ns"] / 1e6})  # fmt: skip
    items = int(cases["items"].max())
    made = pd.DataFrame(rows)
    made["streams"] = made["streams"].astype("Int64")
    table = Table(
        caption=f"{size(items)} floats to the device, a kernel that scales each, and back. A schedule without a number of streams makes its own.",
        columns=(
            Column("schedule", "schedule", code, right=False),
            Column("memory", "memory", right=False),
            Column("chunks", "chunks", whole),
            Column("streams", "streams", whole),
            Column("time", "time, ms", lambda v: significant(v, 4)),
        ),
        rows=made,
    )
    return f"{table.markdown()}\n{table.caption} {footer}."


def calls(evidence: TableEvidence, names: str, footer: str) -> str:
    """What calls do, by the names of their experiments: whether each blocks the host, and whether it serialises two other streams."""
    rows = {row.name: row for row in evidence.rows[["name", "subject", "answer"]].itertuples(index=False, name="Call")}
    shown = []
    for name in names.split():
        asked_of = [rows.get(f"{name}.{who}") for who in ("host", "streams")]
        if not any(asked_of):
            raise PartError(f"no recorded experiment {name}")
        answers = [of.answer if of is not None and isinstance(of.answer, str) else "—" for of in asked_of]
        subject = next(of.subject for of in asked_of if of is not None)
        shown.append({"call": subject.replace(" behind the kernel,", ""), "host": answers[0], "streams": answers[1]})
    table = Table(
        caption="Between kernels: whether the call returns only when the kernel before it has ended, and whether it serialises kernels of two other streams.",
        columns=(Column("call", "call", right=False), Column("host", "blocks the host", right=False), Column("streams", "serialises streams", right=False)),
        rows=pd.DataFrame(shown),
    )
    return f"{table.markdown()}\n{table.caption} {footer}."


def pages(folder: Path, texts: Mapping[Path, str]) -> str:
    """The pages of a folder, of which ``texts`` holds what they will be, with the minutes that each takes."""
    lines = [f"| {folder.name} | minutes |", "|---|---:|"]
    for page, text in sorted((page, text) for page, text in texts.items() if page.parent == folder):
        exercises = re.search(r"^## Exercises\n(.*?)^<details>", text, re.MULTILINE | re.DOTALL)
        count = len(re.findall(r"^\d+\. ", exercises[1], re.MULTILINE)) if exercises else 0
        words = len(re.sub(r"<!--.*?-->|[|`#*]", " ", text, flags=re.DOTALL).split())
        lines.append(f"| [{text.splitlines()[0].removeprefix('# ')}]({folder.name}/{page.name}) | {round(words / 150 + 3 * count)} |")
    return "\n".join([*lines, "", "Minutes: 150 words per minute, code and tables included, and three minutes per exercise."])


def _footer(provenance: Provenance) -> str:
    """Device, date, commit and repetitions."""
    return "; ".join(part for part in (provenance.line(), provenance.repeated) if part)


class Found(NamedTuple):
    """The evidence that the pages show."""

    timings: TimingEvidence
    schedules: ScheduleEvidence
    traces: TraceEvidence
    calls: TableEvidence


def found(gathered: Gathered) -> Found:
    return Found(*(cast(Any, gathered.found[name]) for name in Found._fields))


def generated(kind: str, words: str, of: Found, page: Path, before: Mapping[Path, str]) -> str:
    """What stands between a pair of markers of a page; ``before`` has the pages that are done."""
    if kind == "pages":
        return pages(page.parent / words, before)
    if kind == "calls":
        return calls(of.calls, words, _footer(of.calls.provenance))
    if kind == "code":
        return excerpt(words)
    if kind == "speed":
        return speeds(of.timings, words, _footer(of.timings.provenance))
    return schedules(of.schedules, words, _footer(of.schedules.provenance))
