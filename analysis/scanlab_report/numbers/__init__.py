"""The numbers in the text of the papers: `numbers.json`, and LaTeX macros made from it.

Each is a text, a count, a value or an interval of three digits, or a pair of a value and its
digits. Numbers of one source are left out together if it lacks data.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd

from scanlab_report.chapters import ranks
from scanlab_report.data import Data
from scanlab_report.formats import significant
from scanlab_report.intervals import Interval
from scanlab_report.load_others import corrections
from scanlab_report.shown import Shown

Numbers = dict[str, Any]


def known() -> suppress:
    """Leave out the numbers that lack data."""
    return suppress(LookupError, ValueError)


def numbers_of(data: Data) -> dict[str, str]:
    """Every number by its macro, of the first device, which the text names once."""
    from scanlab_report.numbers import scans, streams

    everywhere = {"peersVendor": over_vendor(data).content} | printed(streams.blind(data))
    data = data.on(data.devices[0]) if data.devices else data
    return everywhere | printed(scans.numbers(data) | streams.numbers(data))


def over_vendor(data: Data) -> Shown:
    """Why the recorded times of CUB with NCCL are withdrawn."""
    names = lambda entry: ranks.VENDOR in entry["names"]
    reasons = dict.fromkeys(entry["reason"] for entry in filter(names, corrections()["withdrawn"]))
    text = "The recorded times of CUB with NCCL are withdrawn."
    return Shown(" ".join((text, *reasons)) if reasons else "", "")


def printed(numbers: Numbers) -> dict[str, str]:
    """Numbers as text, without those that are not known."""
    texts = {name: _text(value) for name, value in numbers.items()}
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


def macros(numbers: Mapping[str, str]) -> str:
    """The file that the papers read."""
    lines = [f"\\newcommand{{\\{name}}}{{{value}}}" for name, value in sorted(numbers.items())]
    return "\n".join(["% Written by scanlab-report build. Do not edit.", *lines]) + "\n"
