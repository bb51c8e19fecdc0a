"""The look of each variant, from what the results files say of it: no two have the same.

Colour says the family, as far as there are colours; baselines are black, CPUs purple, and what does
not scan is grey. Within a colour, marker and dash tell variants apart, by their place in the order
of the context, those of overviews first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from scanlab_report import style
from scanlab_report.data import Variants
from scanlab_report.schema.results import Variant
from scanlab_report.style import Look

FAMILIES = (style.VERMILLION, style.GREEN, style.SKY, style.ORANGE, style.BLUE, style.WINE)
"""Colours of families of our scans, in order; from the beginning again if there are more families.
"""
LINES = ("-", "--", "-.", ":")
FORMS = [(m, LINES[place % 4], place % 2 == 0) for place, m in enumerate("os^DvPXdph*<>")]
"""Markers, lines and fills in order. If there are more variants, the next of LINES is used and the
fill is reversed."""
COPIES, FLOOR = LINES[:3], LINES[3]
"""Lines of variants without a marker: copies in order, and an empty launch."""


def form(place: int, colour: str) -> Look:
    """The look at a place within a colour."""
    around, place = divmod(place, len(FORMS))
    marker, line, filled = FORMS[place]
    line = LINES[(LINES.index(line) + around) % len(LINES)]
    return Look(colour, marker, line, filled ^ (around % 2 == 1))


def looks(about: Variants) -> dict[str, Look]:
    """Return the look of every described variant."""
    families = list(dict.fromkeys(v.family for v in about.values() if _of_a_family(v)))
    styles: dict[str, Look] = {}
    placed: Counter[tuple[str, bool]] = Counter()
    for id_ in sorted(about, key=lambda id_: not about[id_].overview):  # else as in the context
        variant, bare = about[id_], about[id_].kind == "copy"
        colour = style.GREY
        if _of_a_family(variant):
            colour = FAMILIES[families.index(variant.family) % len(FAMILIES)]
        elif variant.on_host or variant.kind == "scan":
            colour = style.PURPLE if variant.on_host else style.BLACK
        if variant.kind == "empty_launch":
            styles[id_] = Look(colour, "", FLOOR)
            continue
        place = placed[colour, bare]
        placed[colour, bare] += 1
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
    return (form(place, style.PURPLE) for place in range(taken, taken + len(FORMS)))


def ordered(variants: Iterable[str], about: Variants) -> list[str]:
    """Return variants by family, and within a family in the order of their looks. Variants without
    a description follow by id."""
    families = list(dict.fromkeys(variant.family for variant in about.values()))
    known = list(looks(about))

    def place(id_: str) -> tuple[int, int, str]:
        if id_ not in about:
            return len(families), 0, id_
        return families.index(about[id_].family), known.index(id_), ""

    return sorted(variants, key=place)
