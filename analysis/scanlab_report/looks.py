"""The look of each variant, from what the results files say of it: no two have the same.

Colour says the family, as far as there are colours; baselines are black, CPUs purple, and what does
not scan is grey. Within a colour, marker and dash tell variants apart.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from scanlab_report import style
from scanlab_report.data import Variants
from scanlab_report.schema.results import Variant
from scanlab_report.style import Look

FAMILIES = (style.VERMILLION, style.GREEN, style.SKY, style.ORANGE, style.BLUE, style.WINE)
"""Colours of families of our scans, in order; from the beginning again if there are more."""
LINES = ("-", "--", "-.", ":")
FORMS = [(m, LINES[place % 4], place % 2 == 0) for place, m in enumerate("os^DvPXdph*<>")]
"""Markers, lines and fills in order; for more variants other lines, and the fill reversed."""


def form(place: int, colour: str) -> Look:
    """The look at a place within a colour."""
    around, place = divmod(place, len(FORMS))
    marker, line, filled = FORMS[place]
    line = LINES[(LINES.index(line) + around) % len(LINES)]
    return Look(colour, marker, line, filled ^ (around % 2 == 1))


def looks(about: Variants) -> dict[str, Look]:
    """Return the look of every described variant, those of overviews first."""
    families = list(dict.fromkeys(v.family for v in about.values() if _is_ours(v)))
    styles: dict[str, Look] = {}
    placed: Counter[tuple[str, bool]] = Counter()
    for id_ in sorted(about, key=lambda id_: not about[id_].overview):
        variant, bare = about[id_], about[id_].kind == "copy"
        if _is_ours(variant):
            colour = FAMILIES[families.index(variant.family) % len(FAMILIES)]
        elif variant.on_host:
            colour = style.PURPLE
        else:
            colour = style.BLACK if variant.kind == "scan" else style.GREY
        if variant.kind == "empty_launch":
            styles[id_] = Look(colour, "", ":")
            continue
        place = placed[colour, bare]
        placed[colour, bare] += 1
        styles[id_] = Look(colour, "", LINES[place % 3]) if bare else form(place, colour)
    return styles


def _is_ours(variant: Variant) -> bool:
    return variant.kind == "scan" and variant.origin == "variant" and not variant.on_host


def look(variant: str, about: Variants) -> Look:
    """The look of a variant; one without a description gets a spare that depends on its id."""
    return looks(about).get(variant) or spare(sum(variant.encode()))


def spare(number: int) -> Look:
    """Return a look that no variant has, from the end of the colours."""
    last = (len(LINES) - 1) * len(FORMS)
    return form(last + number // len(FAMILIES) % len(FORMS), FAMILIES[number % len(FAMILIES)])


def host_looks(about: Variants) -> Iterator[Look]:
    """Yield the looks of CPUs of machines without a GPU."""
    taken = sum(variant.on_host for variant in about.values())
    return (form(place, style.PURPLE) for place in range(taken, taken + len(FORMS)))


def ordered(variants: Iterable[str], about: Variants) -> list[str]:
    """Return described variants by family, and within a family in the order of their looks."""
    families = list(dict.fromkeys(variant.family for variant in about.values()))
    known = list(looks(about))
    return sorted(variants, key=lambda id_: (families.index(about[id_].family), known.index(id_)))
