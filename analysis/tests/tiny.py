"""Tables of a few cases with times chosen by hand: what is drawn, printed and claimed of them can
be worked out on paper."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure

from scanlab_report import looks, style
from scanlab_report.data import Data, File, Variants
from scanlab_report.formats import Table
from scanlab_report.intervals import Interval
from scanlab_report.schema import documents
from scanlab_report.schema.fields import convert
from scanlab_report.schema.results import Variant
from scanlab_report.schema.samples import Choice
from scanlab_report.shown import Shown
from scanlab_report.tables import ELEMENT_BYTES, MEASURED, RECORDED
from tests import fixtures

SPREAD = (1.0, 1.4, 0.9, 1.0, 0.9, 1.4)
"""The samples of a case in multiples of their median; their mean is 1.1, and intervals, of the
median and of ratios, reach from the least to the most."""
LEAST, MOST = 0.9, 1.4
EXACT = (1.0,) * 6
"""Samples that all took as long: where the interval of a ratio is to be known, one side is exact.
"""
ABOUT = Variants(msgspec.convert(fixtures.VARIANTS, dict[str, Variant]))
USUAL = dict(launches=1.0, threads=256.0, registers=64.0, shared_bytes=1024.0, local_bytes=0.0)
USUAL |= dict(workspace_bytes=4096.0, prepare_ns=2000.0)
"""Resources of the kernels of a case."""


def near(value: Any) -> Any:
    """A number, or several, but for the last digits."""
    return pytest.approx(value, rel=1e-9)


class Case(NamedTuple):
    """One variant at one size, and its times in nanoseconds."""

    variant: str
    items: int
    times: Sequence[float]
    settings: str = ""
    type: str = "i32"
    op: str = "plus"
    mode: str = "inclusive"
    cache: str = "cold"
    launch: str = "stream"
    choice: Choice | None = None
    kernel: Mapping[str, float] = USUAL


def case(
    variant: str, items: int, ns: float, spread: Sequence[float] = SPREAD, **named: Any
) -> Case:
    """A case with this median."""
    return Case(variant, items, [ns * factor for factor in spread], **named)


def several(times: Mapping[str, float], *items: int, exact: Any = (), **named: Any) -> list[Case]:
    """Cases of some variants at each size; samples of `exact`, or all if it is true, have no
    spread."""
    return [
        case(variant, n, ns, EXACT if exact is True or variant in exact else SPREAD, **named)
        for variant, ns in times.items()
        for n in items
    ]


def tables(*sessions: Iterable[Case], **context: Any) -> Data:
    """One results file per session, the oldest first, each of a commit (`a…`, `b…`) and a day of
    its own."""
    data, rows = Data(), []
    for number, cases in enumerate(sessions):
        about = {
            "kind": "cuda",
            "device": "Test Device",
            "cpu": "Test CPU",
            "cores": "4",
            "date": f"2026-01-{number + 1:02}",
            "git_commit": "abcdefghijk"[number] * 40,
        }
        data.files.append(File(Path(f"{number}.json"), MEASURED, about | context, ABOUT))
        for own in cases:
            named = [part.split("=", 1) for part in own.settings.split()]
            data.settings[own.settings] = dict(named)
            row = own._asdict() | {"file": number, "sm_clock_mhz": np.nan, "converged": np.nan}
            row |= row.pop("kernel")
            row["bytes"] = 2 * own.items * ELEMENT_BYTES[own.type]
            rows += [
                row | {"round": place, "ns": time} for place, time in enumerate(row.pop("times"))
            ]
    data.tables["scan"] = pd.DataFrame(rows)
    return data


def recorded(data: Data, *numbers: int) -> Data:
    """The same, some files being recorded ones."""
    for number in numbers:
        data.files[number] = replace(data.files[number], origin=RECORDED)
    return data


def about(data: Data, number: int, **context: Any) -> Data:
    """The same, a file stating more in its context."""
    file = data.files[number]
    data.files[number] = replace(file, context={**file.context, **context})
    return data


def count(variant: str, items: int, transactions: int = 0, **changes: Any) -> dict[str, Any]:
    """A row of `counts`: the totals of a variant, to which a test adds the rest."""
    totals = dict(operations=1, swaps=0, barriers=3, shared_requests=10)
    totals |= dict(global_bytes_read=0, global_bytes_written=0) | changes.pop("totals", {})
    totals["banks32"] = {"max_degree": 0, "transactions": transactions}
    document = dict(schema="scanlab-explain/2", variant=variant, items=items, totals=totals)
    document |= dict(type="i32", op="plus", mode="inclusive", launches=[{"steps": []}])
    content = convert(document | changes, documents.Explanation)
    names = ("primitive", "variant", "padding", "load", "type", "op", "mode", "items")
    row = {name: getattr(content, name) for name in names}
    return row | {"unpadded": content.unpadded or variant, "content": content}


def with_rows(data: Data, table: str, rows: Iterable[Mapping[str, Any]], **context: Any) -> Data:
    """The data with rows of one more file in a table."""
    number = len(data.files)
    of_no_device = table == "counts"
    data.files.append(File(Path(f"{table}.json"), MEASURED, context, of_no_device=of_no_device))
    added = pd.DataFrame([{"file": number, **row} for row in rows])
    before = data.tables.get(table)
    data.tables[table] = added if before is None else pd.concat([before, added], ignore_index=True)
    return replace(data)


def shown(make: Callable[[Data], Shown], data: Data) -> Shown:
    """Return the result of a figure function."""
    with style.sheet():
        made = make(data)
    pyplot.close(made.content)
    return made


def drawn(make: Callable[[Data], Shown], data: Data) -> Figure:
    """A figure of these data."""
    return shown(make, data).content


def built(make: Callable[[Data], Shown], data: Data) -> Table:
    """A table of these data."""
    return make(data).content


def look(variant: str) -> style.Look:
    """Return the look of a variant, where ABOUT describes all."""
    return looks.look(variant, ABOUT)


def lines(axes: Axes, look: style.Look) -> list[list[tuple[float, float]]]:
    """The points of each line that is drawn with a look."""
    wanted = (look.colour, look.line, look.marker)
    chosen = [
        line
        for line in axes.get_lines()
        if (line.get_color(), line.get_linestyle(), line.get_marker()) == wanted
    ]
    return [
        [(float(x), float(y)) for x, y in zip(*line.get_data(), strict=True)] for line in chosen
    ]


def points(axes: Axes, look: style.Look) -> list[tuple[float, float]]:
    """The points of the only line that is drawn with a look."""
    (line,) = lines(axes, look)
    return line


def bars(axes: Axes, colour: str | None = None) -> list[tuple[float, float, float]]:
    """Where error bars stand and end, those of a colour alone if given; of upright ones: x, low,
    high."""
    ends = []
    for container in axes.containers:
        if isinstance(container, ErrorbarContainer):
            (bar,) = container.lines[2]
            same = pyplot.matplotlib.colors.same_color
            if colour is None or same(bar.get_color(), colour):
                for (x0, y0), (x1, y1) in bar.get_segments():
                    ends.append((x0, y0, y1) if x0 == x1 else (y0, x0, x1))
    return ends


def cells(table: Table, row: int = 0) -> dict[str, str]:
    """A row as it is printed, by the keys of the columns."""
    return {column.key: column.form(table.rows[column.key].iloc[row]) for column in table.columns}


def printed(table: Table, keys: str, row: int = 0) -> str:
    """Some cells of a row, as they are printed."""
    own = cells(table, row)
    return " | ".join(own[key] for key in keys.split())


def ends(interval: Interval) -> tuple[float, float, float]:
    return interval.value, interval.low, interval.high
