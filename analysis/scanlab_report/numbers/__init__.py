"""The numbers in the text of the papers: `numbers.json`, and LaTeX macros made from it."""

from __future__ import annotations

from collections.abc import Mapping

from scanlab_report.data import Data
from scanlab_report.pick import Lacking


def numbers_of(data: Data) -> dict[str, str]:
    """Return every number that the data give, by the name of its macro. The numbers are of the
    first device, which the text names once."""
    from scanlab_report.numbers import claims, head_to_head, ranks, scans, sessions, streams

    numbers = ranks.of_all_devices(data)
    data = data.on(data.devices[0]) if data.devices else data
    for module in (scans, head_to_head, ranks, sessions, streams, claims):
        for function in module.FUNCTIONS:
            try:
                numbers |= function(data)
            except Lacking:
                continue  # the text is of the recorded session; typesetting names what it lacks
    return numbers


def macros(numbers: Mapping[str, str]) -> str:
    """The file that the papers read."""
    lines = [f"\\newcommand{{\\{name}}}{{{value}}}" for name, value in sorted(numbers.items())]
    return "\n".join(["% Written by scanlab-report build. Do not edit.", *lines]) + "\n"
