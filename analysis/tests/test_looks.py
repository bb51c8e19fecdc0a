"""Looks: no two variants have the same, whatever the context says, and the page can draw each."""

from __future__ import annotations

import re
from pathlib import Path

from scanlab_report.layout import looks, schedules, style
from scanlab_report.read.variants import Variants

from scanlab_report import page
from scanlab_report.schema.results import Variant
from tests import tiny


def about(*families: str, **named: object) -> dict[str, Variant]:
    said = {"label": "x", "kind": "scan", "origin": "variant", "overview": False, "on_host": False} | named
    return {f"{named.get('kind', '')}{named.get('origin', '')}{named.get('on_host', '')}{place}": Variant(family=family, **said) for place, family in enumerate(families)}  # type: ignore[arg-type]


MANY = Variants(about(*"abcdefghab" * 2) | about(*"C" * 15, origin="baseline") | about(*"H" * 3, origin="baseline", on_host=True) | about("copy", "copy", kind="copy")
                | about("copy", kind="barrier_copy") | about("floor", kind="empty_launch"))  # fmt: skip
"""More families than colours."""


def test_no_two_variants_look_the_same_and_spares_are_nobodys() -> None:
    for said in (MANY, tiny.ABOUT):
        found = looks.looks(said)
        assert set(found) == set(said)
        drawn = [*found.values(), *map(looks.spare, range(40)), *looks.of_hosts(said)]
        assert len({(of.colour, of.marker, of.line) for of in drawn}) == len(drawn)  # by more than the fill


def test_a_family_has_a_colour_and_what_does_not_scan_is_grey() -> None:
    found = looks.looks(tiny.ABOUT)
    assert len({found[of].colour for of in tiny.ABOUT if tiny.ABOUT[of].family == "Hillis–Steele"}) == 1
    assert {found[of].colour for of in ("memcpy", "copy_bulk", "empty_launch")} == {style.GREY} and {found[of].colour for of in ("cub_newest", "torch_cumsum")} == {style.BLACK}
    assert (found["memcpy"].line, found["empty_launch"].line) == ("-", ":")  # as captions say


def test_schedules_differ_too() -> None:
    drawn = [schedules.look(place) for place in range(24)]
    assert len({(of.colour, of.marker, of.line) for of in drawn}) == len(drawn)


def test_the_page_has_every_marker_and_line() -> None:
    script = (Path(page.__file__).parent / "page.js").read_text(encoding="utf-8")
    markers = script[script.index("const MARKERS") : script.index("const DASHES")]
    for marker, line, _ in looks.FORMS:
        assert re.search(rf'[ {{]("{re.escape(marker)}"|{re.escape(marker)}):', markers), marker
        assert f'"{line}": [' in script
