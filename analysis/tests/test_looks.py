"""No two variants look the same, whatever the context says, and the page can draw each look."""

import re
from pathlib import Path

from scanlab_report import looks, page, style
from scanlab_report.data import Variants
from scanlab_report.schema.results import Variant
from tests import tiny


def about(families: str, kind: str = "scan", ours: bool = True, on_host: bool = False) -> Variants:
    """A variant of each family, which is a letter."""
    origin, more = "variant" if ours else "baseline", dict(overview=False, on_host=on_host)
    same = dict(label="x", kind=kind, origin=origin) | more
    names = [f"{kind}{origin}{on_host}{place}" for place in range(len(families))]
    return Variants({n: Variant(family=f, **same) for n, f in zip(names, families, strict=True)})


def test_no_two_looks_are_the_same_and_copies_are_drawn_as_captions_say() -> None:
    many = about("abcdefghab" * 2) | about("C" * 15, ours=False)  # more families than colours
    many |= about("H" * 3, ours=False, on_host=True) | about("cc", "copy")
    for known in (Variants(many), tiny.ABOUT):
        drawn_as = looks.looks(known)
        every = [*drawn_as.values(), *map(looks.spare, range(40)), *looks.host_looks(known)]
        assert set(drawn_as) == set(known)
        assert len({(own.colour, own.marker, own.line) for own in every}) == len(every)
    copy, floor = drawn_as["memcpy"], drawn_as["empty_launch"]
    assert (copy.colour, copy.line, floor.line) == (style.GREY, "-", ":")


def test_the_page_has_every_marker_and_line() -> None:
    script = (Path(page.__file__).parent / "page.js").read_text(encoding="utf-8")
    markers = script[script.index("const MARKERS") : script.index("const DASHES")]
    for marker, line, _ in looks.FORMS:
        assert re.search(rf'[ {{]("{re.escape(marker)}"|{re.escape(marker)}):', markers), marker
        assert f'"{line}": [' in script
