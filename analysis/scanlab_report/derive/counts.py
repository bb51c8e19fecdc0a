"""The counts of the emulator: which explanation stands for a variant, and the conflicts of its tree's steps."""

from __future__ import annotations

from scanlab_report.read.records import Explanation
from scanlab_report.select.variants import BEST

PADDINGS = {
    "none": "none",
    "one_in_16": "one in 16",
    "two_level_16": "two levels, 16 banks",
    "row": "row of 32 banks",
    "two_level": "two levels, 32 banks",
}
"""Each padding in words."""


def choose(explanations: list[Explanation]) -> list[Explanation]:
    """One explanation a padding, in the order of ``PADDINGS``: one type, mode and size, the largest size there is."""
    def preference(e: Explanation) -> tuple[bool, int, bool, bool]:
        return (e.type == "i32", e.items, e.mode == "inclusive", e.load in ("", "halves"))

    best = max(explanations, key=preference)
    same = [e for e in explanations if (e.type, e.mode, e.items) == (best.type, best.mode, best.items)]
    chosen: dict[str, Explanation] = {}
    for explanation in sorted(same, key=lambda e: e.load in ("", "halves")):
        chosen[explanation.padding] = explanation
    order = [*PADDINGS, *sorted(set(chosen) - set(PADDINGS))]
    return [chosen[padding] for padding in order if padding in chosen]


def degrees(explanation: Explanation, model: str) -> list[float]:
    """The worst degree of each tree step under a bank model (``banks16`` or ``banks32``)."""
    return [float(getattr(step.shared, model).max_degree) for _, _, step in explanation.tree_steps()]


def default_only(explanations: list[Explanation]) -> list[Explanation]:
    """One explanation a variant and size: 32-bit integers, default settings, the mode that costs least. None of ``best``: on the
    emulator that is its fallback, which has a row of its own, and not what ``best`` picks on a device.
    """
    cheapest: dict[tuple[str, int], Explanation] = {}
    for explanation in sorted(explanations, key=_preference):
        if explanation.variant != BEST:
            cheapest[(explanation.variant, explanation.items)] = explanation
    return list(cheapest.values())


def _preference(e: Explanation) -> tuple[float, ...]:
    usual = e.padding == ("none" if e.unpadded == e.variant else "two_level")
    return (e.type == "i32", usual, e.load in ("", "halves"), -e.totals.operations,
            e.mode == "inclusive")  # fmt: skip
