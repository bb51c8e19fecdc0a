"""The drawing of the pipeline: its order in time, and that the checked-in drawing is the one that is drawn here."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

from scanlab_report.figures import pipeline

DRAWING = Path(__file__).parents[2] / "variants" / "scan" / "look_ahead.svg"


def test_a_tile_goes_from_role_to_role_and_a_role_does_one_tile_after_another() -> None:
    spans = {(span.role, span.tile): span for span in pipeline.schedule()}
    for tile in range(pipeline.TILES):
        for before, after in itertools.pairwise(pipeline.ROLES):
            assert spans[after, tile].begin >= spans[before, tile].end
    for role in ("reduce", "look ahead", "scan"):
        for tile in range(1, pipeline.TILES):
            assert spans[role, tile].begin >= spans[role, tile - 1].end


def test_no_more_than_two_tiles_load_at_a_time() -> None:
    loads = [span for span in pipeline.schedule() if span.role == "load"]
    for load in loads:
        assert sum(other.begin <= load.begin < other.end for other in loads) <= 2


def test_the_drawing_of_the_documentation_is_this_one(tmp_path: Path) -> None:
    pipeline.write_svg(tmp_path / "now.svg")
    words = re.compile(r"<text[^>]*>([^<]+)</text>")
    drawn, kept = (words.findall(file.read_text(encoding="utf-8")) for file in (tmp_path / "now.svg", DRAWING))
    assert drawn == kept and "look ahead warp" in kept
