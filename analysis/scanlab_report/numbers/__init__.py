"""The numbers in the text of the papers: `numbers.json`, and LaTeX macros made from it.

A section is a function that returns numbers by the names of their macros: text, a count, a value or
an interval with three digits, or a pair of a value and its digits. A section that lacks data is
left out as a whole; typesetting names a macro that a paper lacks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from scanlab_report.data import Data
from scanlab_report.formats import latex, significant
from scanlab_report.intervals import Interval

Numbers = dict[str, Any]


def numbers_of(data: Data) -> dict[str, str]:
    """Return every number that the data give, by the name of its macro. The numbers are of the
    first device, which the text names once."""
    from scanlab_report.numbers import claims, head_to_head, ranks, scans, streams

    everywhere = {"peersVendor": ranks.over_vendor(data).content}
    data = data.on(data.devices[0]) if data.devices else data
    modules = (scans, head_to_head, ranks, streams, claims)
    return everywhere | printed(data, (make for module in modules for make in module.FUNCTIONS))


def printed(data: Data, sections: Iterable[Callable[[Data], Numbers]]) -> dict[str, str]:
    """The numbers of some sections as text, without those that are not known."""
    made: Numbers = {}
    for section in sections:
        with contextlib.suppress(LookupError, ValueError):
            made |= section(data)
    texts = {name: _text(value) for name, value in made.items()}
    return {name: text for name, text in texts.items() if text}


def _text(value: Any) -> str:
    value, digits = value if isinstance(value, tuple) else (value, 3)
    value = value.value if isinstance(value, Interval) else value
    if value is None or pd.isna(value):
        return ""
    whole = isinstance(value, str | int | np.integer)
    return f"{value}" if whole else significant(value, digits).replace("\u2009", "")


def power(n: int) -> str:
    """2^k where n is a power of two, else n."""
    return f"\\ensuremath{{2^{{{n.bit_length() - 1}}}}}" if n & (n - 1) == 0 else f"{n}"


def typewriter(name: str) -> str:
    return f"\\texttt{{{latex(name)}}}"


def last(values: pd.Series) -> Any:
    """The value at the largest size; None if there is none."""
    return values.iloc[-1] if len(values) else None


def macros(numbers: Mapping[str, str]) -> str:
    """The file that the papers read."""
    lines = [f"\\newcommand{{\\{name}}}{{{value}}}" for name, value in sorted(numbers.items())]
    return "\n".join(["% Written by scanlab-report build. Do not edit.", *lines]) + "\n"
