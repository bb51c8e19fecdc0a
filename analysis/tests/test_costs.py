"""Costs: what was counted stands beside the closed forms, and a difference is said."""

from __future__ import annotations

from pathlib import Path

from scanlab_report.read import published
from scanlab_report.schema import counts
from scanlab_report.schema.fields import convert
from scanlab_report.read.records import RECORDED, Explanation
from scanlab_report.tables import costs
from tests import fixtures
from tests.conftest import PUBLISHED


def explained(variant: str, items: int, padding: str = "none", **closed_forms: int) -> Explanation:
    content = fixtures.explanation(variant, items, padding)
    content["closed_forms"] |= closed_forms
    return Explanation(Path("e.json"), RECORDED, convert(content, counts.Explanation))


def test_difference_from_a_closed_form_is_said() -> None:
    assert costs.disagreements([explained("hso_block", 64)]) == []
    (sentence,) = costs.disagreements([explained("hso_block", 64, operations=125)])
    assert "hso_block" in sentence and "126 operations" in sentence and "125" in sentence


def test_default_settings_are_preferred() -> None:
    every = [explained("hso_block_padded", 64, padding) for padding in ("row", "two_level", "one_in_16")]
    (chosen,) = costs.default_only(every)
    assert chosen.padding == "two_level"


def test_best_has_no_counts_since_the_emulator_runs_its_fallback() -> None:
    every = [explained(variant, 64) for variant in ("best", "hs_block")]
    assert [of.variant for of in costs.default_only(every)] == [of.variant for of in costs.chosen(every)] == ["hs_block"]


def test_published_speedups_follow_from_the_published_times() -> None:
    problems: list = []
    table = published.read(PUBLISHED, problems)["hso2007_table2"].table
    assert not problems
    assert (table["cpu_ms"] / table["gpu_ms"] - table["speedup_printed"]).abs().max() <= 0.005
    misprints = table[table["items"] != table["items_printed"]]
    assert misprints[["items", "items_printed"]].values.tolist() == [[8388608, 8388688]]
