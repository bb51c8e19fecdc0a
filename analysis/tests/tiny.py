"""Results of a few cases with times chosen by hand: what is drawn, printed and claimed of them can be worked out on paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure

from scanlab_report.layout import looks, style
from scanlab_report.layout.table_formats import Table
from scanlab_report.schema import counts
from scanlab_report.schema.results import Choice, Variant
from scanlab_report.schema.fields import convert
from scanlab_report.read.records import MEASURED, Explanation, Results, Run
from scanlab_report.read.variants import Variants
from scanlab_report.select.needs import gather
from scanlab_report.select.provenance import Provenance
from tests import fixtures

SPREAD = (1.0, 1.4, 0.9, 1.0, 0.9, 1.4)
"""Of a case's repetitions, in multiples of their median; their mean is 1.1, and intervals, of the median and of ratios, reach from the least to the most."""
LEAST, MOST = 0.9, 1.4
EXACT = (1.0,) * 6
"""Repetitions that all took as long: where a ratio's interval is to be known, one side of it does not vary."""
ABOUT = Variants(msgspec.convert(fixtures.variants() | fixtures.shapes(), dict[str, Variant]))
"""What is said of every variant."""
KERNEL = {"launches": 1.0, "threads": 256.0, "registers": 64.0, "shared_bytes": 1024.0, "local_bytes": 0.0, "workspace_bytes": 4096.0, "prepare_ns": 2000.0}


NOWHERE = Provenance("", "")


def near(of: Any) -> Any:
    """A number, or several, but for the last digits."""
    return pytest.approx(of, rel=1e-9)


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
    kernel: Mapping[str, float] = KERNEL


def case(variant: str, items: int, ns: float, spread: Sequence[float] = SPREAD, **named: Any) -> Case:
    """A case with this median."""
    return Case(variant, items, [ns * of for of in spread], **named)


def results(*sessions: Iterable[Case], **context: Any) -> Results:
    """What was read of a results file a session, the oldest first, each of a commit of its own (``a…``, ``b…``) and of a day of its own."""
    found = Results()
    for run, cases in enumerate(sessions):
        about = {"kind": "cuda", "device": "Test Device", "cpu": "Test CPU", "cores": "4", "date": f"2026-01-{run + 1:02}", "git_commit": "abcdefghijk"[run] * 40}
        found.runs.append(Run(Path(f"{run}.json"), MEASURED, about | context, ABOUT))
        for of in cases:
            found.settings[of.settings] = dict(setting.split("=", 1) for setting in of.settings.split())
            key = (run, of.variant, of.settings, of.type, of.op, of.mode, of.items, of.cache, of.launch)
            found.timing_rows += [(*key, place, time, np.nan, np.nan) for place, time in enumerate(of.times)]
            found.kernel_rows[key] = (*(of.kernel[name] for name in KERNEL), of.choice)
    return found


def degrees(worst: int) -> dict[str, float]:
    """How some requests of shared memory were served."""
    return {"max_degree": worst, "mean_degree": 0.0, "transactions": 0}


def explanation(variant: str, items: int, banks32: Mapping[str, float], parameters: Mapping[str, str] | None = None, **changes: Any) -> Explanation:
    """The emulator's counts of a variant: totals, to which a test adds the rest."""
    totals = {"operations": 1, "swaps": 0, "barriers": 3, "shared_requests": 10, "global_bytes_read": 0, "global_bytes_written": 0, "banks32": banks32,
              "banks16": banks32} | changes.pop("totals", {})  # fmt: skip
    totals |= {banks: degrees(0) | totals[banks] for banks in ("banks16", "banks32")}
    content = {"schema": "scanlab-explain/2", "variant": variant, "unpadded": fixtures.unpadded(variant), "type": "i32", "op": "plus", "mode": "inclusive", "items": items,
               "parameters": parameters or {}, "launches": [{"steps": []}],
               "totals": totals}  # fmt: skip
    return Explanation(Path("e.json"), MEASURED, convert(content | changes, counts.Explanation))


def gathered(module: ModuleType, read: Results, published: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What a figure or table asks for."""
    found = gather(module.NEEDS, read, dict(published or {}))
    assert not found.reasons, found.reasons
    return found.found


def drawn(module: ModuleType, read: Results, published: Mapping[str, Any] | None = None) -> Figure:
    """A figure of these results."""
    with style.sheet():
        figure = module.draw(**gathered(module, read, published))
    pyplot.close(figure)
    return figure


def built(module: ModuleType, read: Results, published: Mapping[str, Any] | None = None) -> Table:
    """A table of these results."""
    return module.build(**gathered(module, read, published))


def look(variant: str) -> style.Look:
    """What a variant is drawn with, where ABOUT is what is said of all."""
    return looks.look(variant, ABOUT)


def lines(axes: Axes, look: style.Look) -> list[list[tuple[float, float]]]:
    """The points of each line that is drawn with a look."""
    of = [line for line in axes.get_lines() if (line.get_color(), line.get_linestyle(), line.get_marker()) == (look.colour, look.line, look.marker)]
    return [[(float(x), float(y)) for x, y in zip(*line.get_data(), strict=True)] for line in of]


def points(axes: Axes, look: style.Look) -> list[tuple[float, float]]:
    """The points of the one line that is drawn with a look."""
    (found,) = lines(axes, look)
    return found


def bars(axes: Axes, colour: str | None = None) -> list[tuple[float, float, float]]:
    """Where error bars stand and where they end, those of a colour alone if one is given; of upright ones: x, low, high."""
    found = []
    for container in axes.containers:
        if isinstance(container, ErrorbarContainer):
            (bar,) = container.lines[2]
            if colour is None or pyplot.matplotlib.colors.same_color(bar.get_color(), colour):
                for (x0, y0), (x1, y1) in bar.get_segments():
                    found.append((x0, y0, y1) if x0 == x1 else (y0, x0, x1))
    return found


def cells(table: Table, row: int = 0) -> dict[str, str]:
    """A row as it is printed, by the keys of the columns."""
    return {column.key: column.form(table.rows[column.key].iloc[row]) for column in table.columns}
