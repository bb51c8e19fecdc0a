"""The look of each variant, from what the results files say of it: no two have the same.

Colour says the family, as far as there are colours; baselines are black, CPUs purple, and what does
not scan is grey. Within a colour, marker and dash tell variants apart, by their place in the order
of the context, those of overviews first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scanlab_report.data import Variants
from scanlab_report.schema.results import Variant
from scanlab_report.style.base import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    WINE,
    Look,
)

FAMILIES = (VERMILLION, GREEN, SKY, ORANGE, BLUE, WINE)
"""Colours of families of our scans, in order; from the beginning again if there are more families.
"""
FORMS = (
    ("o", "-", True),
    ("s", "--", False),
    ("^", "-.", True),
    ("D", ":", False),
    ("v", "-", True),
    ("P", "--", False),
    ("X", "-.", True),
    ("d", ":", False),
    ("p", "-", True),
    ("h", "--", False),
    ("*", "-.", True),
    ("<", ":", False),
    (">", "-", True),
)
"""Markers, lines and fills in order. If there are more variants, the next of LINES is used and the
fill is reversed."""
LINES = ("-", "--", "-.", ":")
COPIES, FLOOR = LINES[:3], LINES[3]
"""Lines of variants without a marker: copies in order, and an empty launch."""


def form(place: int, colour: str) -> Look:
    """The look at a place within a colour."""
    marker, line, filled = FORMS[place % len(FORMS)]
    around = place // len(FORMS)
    return Look(
        colour, marker, LINES[(LINES.index(line) + around) % len(LINES)], filled ^ (around % 2 == 1)
    )


def looks(about: Variants) -> dict[str, Look]:
    """Return the look of every described variant."""
    families = list(
        dict.fromkeys(variant.family for variant in about.values() if _of_a_family(variant))
    )
    styles: dict[str, Look] = {}
    placed: dict[tuple[str, bool], int] = {}
    for id_ in sorted(
        about, key=lambda id_: not about[id_].overview
    ):  # a stable sort: else as the context has them
        variant = about[id_]
        colour = (
            FAMILIES[families.index(variant.family) % len(FAMILIES)]
            if _of_a_family(variant)
            else PURPLE
            if variant.on_host
            else BLACK
            if variant.kind == "scan"
            else GREY
        )
        if variant.kind == "empty_launch":
            styles[id_] = Look(colour, "", FLOOR)
            continue
        bare = variant.kind == "copy"
        place = placed[colour, bare] = placed.get((colour, bare), -1) + 1
        styles[id_] = Look(colour, "", COPIES[place % len(COPIES)]) if bare else form(place, colour)
    return styles


def _of_a_family(variant: Variant) -> bool:
    return variant.kind == "scan" and variant.origin == "variant" and not variant.on_host


def look(variant: str, about: Variants) -> Look:
    """The look of a variant; one without a description gets a spare that depends on its id."""
    return looks(about).get(variant) or spare(sum(variant.encode()))


def spare(number: int) -> Look:
    """Return a look that no variant has, from the end of the colours. As many looks in a row differ
    as there are."""
    last = (len(LINES) - 1) * len(FORMS)
    return form(last + number // len(FAMILIES) % len(FORMS), FAMILIES[number % len(FAMILIES)])


def host_looks(about: Variants) -> Iterator[Look]:
    """Yield the looks of CPUs of machines without a GPU."""
    taken = sum(variant.on_host for variant in about.values())
    return (form(place, PURPLE) for place in range(taken, taken + len(FORMS)))


def ordered(variants: Iterable[str], about: Variants) -> list[str]:
    """Return variants by family, and within a family in the order of their looks. Variants without
    a description follow by id."""
    families = list(dict.fromkeys(variant.family for variant in about.values()))
    known = list(looks(about))
    return sorted(
        variants,
        key=lambda id_: (
            (families.index(about[id_].family), known.index(id_), "")
            if id_ in about
            else (len(families), 0, id_)
        ),
    )
