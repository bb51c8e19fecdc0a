"""Content of the report: figures and tables, each a function of `Data`, registered by its name.

    @figure("scans", follows=("variants", "type", "op"))
    def share_of_copy(data: Data) -> Shown:
        \"""One sentence on what it shows, for `scanlab-report list` and the gallery.\"""

Such a function picks its cases, raises `Lacking` if they are not there, and only then draws. It
returns the rows that it drew: the footer, the caption and the page take their source from them.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib import pyplot
from matplotlib.figure import Figure

from scanlab_report import style
from scanlab_report.data import Data
from scanlab_report.formats import Table, latex, latex_cell
from scanlab_report.pick import Lacking
from scanlab_report.sources import Source, sources


@dataclass(frozen=True)
class Shown:
    """A figure or table, its caption, and the sources of its numbers."""

    content: Any
    caption: str
    sources: Sequence[Source] = ()
    details: str = ""
    """Sentences on the data of one device, which follow the caption."""
    unusual: tuple[str, ...] = ()
    """Another type or operator than a reader expects."""
    device: str = ""
    """The only device that it is of, of several."""


def shown(
    data: Data,
    content: Any,
    caption: str,
    *drawn: pd.DataFrame | Source,
    details: str = "",
    scanned: tuple[str, str] = ("i32", "plus"),
) -> Shown:
    """Return what a figure or table function returns; `drawn` are the tables that it drew."""
    origins: list[Source] = []
    for rows in drawn:
        origins += [rows] if isinstance(rows, Source) else sources(data, rows)
    unusual = tuple(
        own for own, usual in zip(scanned, ("i32", "plus"), strict=True) if own != usual
    )
    unique = {source.line(): source for source in reversed(origins)}
    return Shown(content, caption, [*unique.values()][::-1], details, unusual)


@dataclass(frozen=True)
class Entry:
    """A figure or table: its name, its function, and the experiments that measure what it shows."""

    name: str
    make: Callable[[Data], Shown]
    measured_by: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()
    """Options of a user that change it: `variants`, `type`, `op`."""
    of_others: bool = False
    """Whether it is of files of other programs, all in one picture."""
    of_all: bool = False
    """Whether it is one table of all devices, side by side."""

    @property
    def title(self) -> str:
        return " ".join((self.make.__doc__ or "").partition("\n\n")[0].split())

    def needs(self) -> str:
        """Return the data that the entry needs, as words for a message; empty if it needs none."""
        try:
            self.make(Data())
        except Lacking as error:
            return str(error)
        return ""


FIGURES: dict[str, Entry] = {}
TABLES: dict[str, Entry] = {}


def _register(entries: dict[str, Entry], *measured_by: str, **options: Any):
    """Register a figure or table: the experiments that measure it, and the fields of `Entry`."""

    def add(make: Callable[[Data], Shown]) -> Callable[[Data], Shown]:
        name = options.pop("name", "") or make.__name__
        entries[name] = Entry(name, make, measured_by, **options)
        return make

    return add


figure, table = partial(_register, FIGURES), partial(_register, TABLES)


def first_of(entry: Entry, data: Data) -> Shown:
    """Return a table of the first device with data. Without any, raise its Lacking."""
    reason: Lacking | None = None
    for device in [""] if entry.of_others or entry.of_all else data.devices or [""]:
        try:
            return replace(entry.make(data.on(device) if device else data), device=device)
        except Lacking as error:
            reason = reason or error
    raise reason or Lacking("data")


def by_device(entry: Entry, data: Data) -> dict[str, Shown]:
    """Draw a figure on each device that has data, one part below the other. If all have the same
    sources, draw it once, under an empty name. The content is the whole figure."""
    if len(data.devices) < 2:
        return {"": first_of(entry, data)}
    on: dict[str, Shown] = {}
    with style.stack(len(data.devices)) as stack:
        for device in data.devices:
            stack.name = device
            with suppress(Lacking):
                on[device] = entry.make(data.on(device, alike=True))
                stack.heading.set_text(", ".join([device, *on[device].unusual]))
    if len({tuple(source.line() for source in own.sources) for own in on.values()}) > 1:
        return {device: replace(own, content=stack.sheet) for device, own in on.items()}
    pyplot.close(stack.sheet)
    return {"": first_of(entry, data)}


def draw(entry: Entry, data: Data, targets: Sequence[Path]) -> dict[str, Shown]:
    """Draw a figure with its footer and write it to files. Return the content by device."""
    with style.sheet():
        on = {"": first_of(entry, data)} if entry.of_others else by_device(entry, data)
        drawn: Figure = next(iter(on.values())).content
        unusual = [*on[""].unusual] if "" in on else []
        caption = [joint_caption(on)] * entry.of_others  # no page has it
        style.footer(drawn, [*unusual, *caption, *(source.line() for source in all_sources(on))])
        style.save(drawn, targets)
    return on


def all_sources(on: dict[str, Shown]) -> list[Source]:
    """The source of each part, once."""
    return list({s.line(): s for own in on.values() for s in own.sources}.values())


def joint_caption(on: dict[str, Shown]) -> str:
    """The caption of a figure, with the details of each device."""
    known = {name: own.details for name, own in on.items() if own.details}
    details = [f"{name}: {text}".removeprefix(": ") for name, text in known.items()]
    return " ".join([next(iter(on.values())).caption, *details])


def footer_line(origins: Sequence[Source]) -> str:
    """Device, date, commit and origin of everything that is shown."""
    return "; ".join(source.line() for source in origins)


def latex_caption(text: str, origins: Sequence[Source]) -> str:
    """A LaTeX caption: what is shown, then its sources, and how often it was repeated."""
    lines = "; ".join(f"{s.line()} ({s.repeated})".removesuffix(" ()") for s in origins)
    stated = re.sub(r"\b([234]n\b(?:/\(n \+ \d\))?)", r"$\1$", latex_cell(text))
    stated = stated.replace("index i", "index $i$")
    return f"\\caption{{{stated}{f' {latex(lines)}.' * bool(lines)}}}\n"


def markdown(made: Shown) -> str:
    """A table with its caption above it, and its sources below."""
    content: Table = made.content
    return f"{made.caption}\n\n{content.markdown()}\n{footer_line(made.sources)}\n"
