"""No two variants look the same, whatever the context says, and the page can draw each look."""

from __future__ import annotations

import re
from pathlib import Path

from scanlab_report import looks, page, style
from scanlab_report.chapters import rank_cases, schedules
from scanlab_report.data import Variants
from scanlab_report.schema.results import Variant
from tests import tiny


def about(families: str, kind: str = "scan", ours: bool = True, on_host: bool = False) -> Variants:
    """A variant of each family, which is a letter."""
    origin, more = "variant" if ours else "baseline", dict(overview=False, on_host=on_host)
    of = dict(label="x", kind=kind, origin=origin) | more
    names = [f"{kind}{origin}{on_host}{place}" for place in range(len(families))]
    return Variants({n: Variant(family=f, **of) for n, f in zip(names, families, strict=True)})


MANY = Variants(about("abcdefghab" * 2) | about("C" * 15, ours=False) | about("f", "empty_launch"))
"""More families than colours."""
MANY.update(about("H" * 3, ours=False, on_host=True) | about("cc", "copy"))


def test_no_two_looks_are_the_same_and_spares_are_of_no_variant() -> None:
    places = [schedules.schedule_look(place) for place in range(24)]
    algorithms = [*map(rank_cases.look, [*rank_cases._LOOKS, "another"])]
    for known in (MANY, tiny.ABOUT):
        drawn_as = looks.looks(known)
        assert set(drawn_as) == set(known)
        variants = [*drawn_as.values(), *map(looks.spare, range(40)), *looks.host_looks(known)]
        for drawn in (variants, places, algorithms):
            unlike = {(own.colour, own.marker, own.line) for own in drawn}
            assert len(unlike) == len(drawn), "by more than the fill"


def test_copies_and_launches_are_drawn_as_captions_say() -> None:
    known = looks.looks(tiny.ABOUT)
    assert {known[id_].colour for id_ in ("memcpy", "copy_bulk", "empty_launch")} == {style.GREY}
    assert (known["memcpy"].line, known["empty_launch"].line) == ("-", ":")


def test_the_page_has_every_marker_and_line() -> None:
    script = (Path(page.__file__).parent / "page.js").read_text(encoding="utf-8")
    markers = script[script.index("const MARKERS") : script.index("const DASHES")]
    for marker, line, _ in looks.FORMS:
        assert re.search(rf'[ {{]("{re.escape(marker)}"|{re.escape(marker)}):', markers), marker
        assert f'"{line}": [' in script
