"""Figures and tables by name: what is listed of them, and one drawn alone."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from scanlab_report import figures, tables
from scanlab_report.commands.__main__ import main
from scanlab_report.modules import modules
from scanlab_report.select import experiments

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def listed(capsys: pytest.CaptureFixture[str]) -> dict[tuple[str, str], dict[str, Any]]:
    assert main(["list", "--json"]) == 0
    return {(entry["kind"], entry["name"]): entry for entry in json.loads(capsys.readouterr().out)}


def test_every_figure_and_table_is_listed_with_what_measures_it(listed: dict[tuple[str, str], dict[str, Any]]) -> None:
    assert set(listed) == {(kind, name) for kind, package in (("figure", figures), ("table", tables)) for name, _ in modules(package)}
    for entry in listed.values():
        assert entry["shows"].endswith((".", "!")), entry
        assert bool(entry["commands"]) == bool(entry["experiments"]) == (entry["name"] not in ("pipeline", "skipped")), entry  # the rest is measured
        assert entry["seconds"] == sum(experiments.known()[name].seconds for name in entry["experiments"])


@pytest.mark.parametrize(("kind", "name", "by"), [
    ("figure", "throughput", ["scans"]), ("figure", "duel", ["duel_narrow", "duel_wide"]), ("figure", "dram_traffic", ["traffic"]),
    ("figure", "hardware_conflicts", ["counters", "explain"]), ("table", "rivals", ["duel_narrow", "duel_wide", "python"]),
    ("table", "caveats", ["caveats"]), ("figure", "scenes_order", ["scenes"]), ("table", "streams_targets", ["schedules", "traces", "from_memory", "from_files", "from_large_files"]),
])  # fmt: skip
def test_what_a_figure_needs_says_what_measures_it(listed: dict[tuple[str, str], dict[str, Any]], kind: str, name: str, by: list[str]) -> None:
    assert listed[kind, name]["experiments"] == by


def test_steps_of_one_session_are_one_command() -> None:
    measured = experiments.plan(["explain", "traffic", "scans"])
    assert measured.commands == ("tools/record build/cuda/scanlab results/run scans traffic", "build/cpu/scanlab explain --all --out results/run/explain")
    assert measured.seconds == 180 + 30 + 15 and str(measured).endswith(" (about 4 min)")


def test_tools_record_has_the_steps_of_the_table_and_does_each() -> None:
    steps = [of.name for of in experiments.known().values() if of.command == "record"]
    said = subprocess.run([REPOSITORY / "tools/record", "--help"], capture_output=True, text=True, check=True).stdout
    assert re.search(r"STEP\s+of\s+(.*?)\s+\(default", said, re.DOTALL)[1].split() == steps
    done = {name for script in ("tools/record", "tools/experiments.sh") for names in re.findall(r"^ +([a-z_| ]+)\)", (REPOSITORY / script).read_text(), re.MULTILINE)
            for name in names.split(" | ")}  # fmt: skip
    assert set(steps) <= done
