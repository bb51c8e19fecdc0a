"""Every command: bad results, a full disk and an interruption are one sentence, and what was there
stays."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scanlab_report import commands
from scanlab_report.commands.__main__ import main
from tests.conftest import full_disk
from tests.fixtures import case, contents, results, samples, timings, trace, write

ANALYSIS = Path(__file__).parents[1]
COMMANDS = commands.NAMES
PAGE = "<!-- claims:begin -->\nthe last good one\n<!-- claims:end -->\n"
GOOD = results(*samples(6, case("best", 1024)))


def command_lines(bad: Path, good: Path, out: Path) -> dict[str, list[Any]]:
    """Each command that reads results, with a bad file."""
    both = [good, bad]
    return {
        "build": ["build", "--no-pdf", *both, "--out", out, "--paper", out / "paper"],
        "compare": ["compare", *both, "--threshold", "0.1", "--out", out],
        "gantt": ["gantt", *both, "--out", out / "timeline.png"],
        "export": ["export", *both, "--out", out],
        "claims": ["claims", *both, "--page", out / "README.md"],
        "session": ["session", out, bad],
        "figure": ["figure", "throughput", *both, "--out", out / "figures" / "time.pdf"],
        "table": ["table", "summary", *both, "--out", out / "cases.csv"],
        "mine": ["mine", "look_ahead", *both, "--out", out],
        "tutorials": ["tutorials", *both],
        "add_device": ["add-device", bad.parent, "--recorded", out],
    }


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in ("schema", "list")])
def test_bad_results_are_named_and_nothing_is_overwrite(tmp_path, said, command) -> None:
    wrong = results(*samples(6, case("best", 1024)))
    wrong["benchmarks"][2] |= {"real_time": -1.0}
    bad, out = write(tmp_path / "run" / "bad.json", wrong), tmp_path / "out"
    good = write(tmp_path / "good.json", GOOD)
    for name in ("compare.md", "cases.csv", "figures/throughput.pdf", "paper/macros.tex"):
        write(out / name, "the last good one")
    write(out / "README.md", PAGE)
    before = contents(out)
    refused = said(*command_lines(bad, good, out)[command], status=2)
    stated = f"{bad}: benchmarks[2].real_time: expected float >= 0.0, got -1.0"
    assert stated in refused and contents(out) == before


OUTPUTS: dict[str, tuple[str, Callable[..., list[Any]]]] = {
    "build": ("out", lambda good, out: ["build", "--no-pdf", good, "--out", out]),
    "compare": ("out", lambda good, out: ["compare", good, good, "--out", out]),
    "gantt": ("t.png", lambda good, out: ["gantt", good.parent / "trace.json", "--out", out]),
    "export": ("out", lambda good, out: ["export", good, "--out", out]),
    "claims": ("README.md", lambda good, out: ["claims", good, "--page", out]),
    "figure": ("f.pdf", lambda good, out: ["figure", "throughput", good, "--out", out]),
    "table": ("t.csv", lambda good, out: ["table", "summary", good, "--out", out]),
    "mine": ("out", lambda good, out: ["mine", "best", good, "--out", out]),
}


@pytest.mark.parametrize("command", OUTPUTS)
def test_a_full_disk_is_one_sentence_and_what_was_there_stays(
    tmp_path, said, blank, command
) -> None:
    good = write(tmp_path / "good.json", timings(device="NVIDIA H200"))
    write(tmp_path / "trace.json", trace())
    write(tmp_path / "README.md", PAGE)
    name, line = OUTPUTS[command]
    before = contents(tmp_path)
    with full_disk(room=4):
        refused = said(*line(good, tmp_path / name), status=2)
    where = re.escape(str(tmp_path / name))
    sentence = rf"error: {where}\S*: cannot be written: File too large\n"
    assert re.fullmatch(sentence, refused) and contents(tmp_path) == before


def test_an_output_that_cannot_be_written_is_status_2_and_one_that_nobody_reads_is_sound() -> None:
    line = f"{sys.executable} -m scanlab_report.commands list"
    shell = f"{line} >/dev/full; echo $? >&2; set -o pipefail; {line} | true; echo $? >&2"
    environment = os.environ | {"PYTHONPATH": str(ANALYSIS)}
    ended = subprocess.run(["bash", "-c", shell], env=environment, capture_output=True, text=True)
    full = "error: standard output: No space left on device"
    assert ended.stderr.splitlines() == [full, "2", "0"]


def test_who_interrupts_gets_one_line(tmp_path, capsys, monkeypatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("scanlab_report.load.load", interrupted)
    good = write(tmp_path / "good.json", GOOD)
    assert main(["export", str(good), "--out", str(tmp_path / "out")]) == 130
    assert capsys.readouterr().err == "error: interrupted\n" and list(contents(tmp_path)) == [
        "good.json"
    ]


@pytest.mark.parametrize("command", [name.replace("_", "-") for name in COMMANDS])
def test_every_command_has_help_with_an_example(command, capsys) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    text = capsys.readouterr().out
    assert "example:\n" in text and f"  scanlab-report {command}" in text


NOTHING = ["build --no-pdf --out out", "claims", "export --out out", "tutorials", "table summary"]


@pytest.mark.parametrize("line", NOTHING)
def test_no_results_are_no_report(tmp_path, said, monkeypatch, line) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    error = said(*line.split(), "empty", "/dev/null", status=2)
    wanted = r"error: nothing to (read|export): no results among empty, /dev/null\n"
    assert re.fullmatch(wanted, error) and not contents(tmp_path)
