"""Bad results, whatever the command: a sentence with file and place, status 2, and nothing is overwritten."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from scanlab_report import commands
from scanlab_report.commands.__main__ import main
from scanlab_report.modules import modules
from tests import stream_fixtures
from tests.conftest import PUBLISHED, Built, full_disk
from tests.fixtures import case, context, explanation, repetition, verification
from tests.test_history import record

Document = dict[str, Any]
ANALYSIS = Path(__file__).parents[1]


def document(**about: Any) -> Document:
    entries = [repetition(case("best", 1024), i, 1000.0 + i, verified=True) for i in range(6)]
    return {"context": context(**about), "benchmarks": entries}


def changed(index: int, **changes: Any) -> Document:
    content = document()
    content["benchmarks"][index] |= changes
    return content


def without(index: int) -> Document:
    content = document()
    del content["benchmarks"][index]
    return content


BAD: dict[str, tuple[Any, str, str]] = {
    "another schema version": (document(schema="scanlab-results/3"), "context.schema", "is scanlab-results/3, of a newer Scanlab: update"),
    "two devices, two documents": ([document(), document(device="Other")], "[1].context.device", "one device a file"),
    "two devices, one document": (changed(2, device="Other"), "benchmarks[2].device", "is 'Other', and the file is of"),
    "a missing repetition": (without(2), "benchmarks", "repetitions are missing of best i32 plus inclusive 1024 cold stream: round 2 of 0 to 5"),
    "a time that is no number": (changed(2, real_time=float("nan")), "benchmarks[2].real_time", "expected float >= 0.0, got nan"),
    "a negative time": (changed(2, real_time=-1.0), "benchmarks[2].real_time", "expected float >= 0.0, got -1.0"),
    "an output that was wrong": (changed(2, verified=False), "benchmarks[2]", "verified is false"),
    "times of no device": (document(device=""), "context", "device is missing: times of a GPU say of which"),
    "a duplicated case": (changed(2, round=1, repetition_index=1), "benchmarks[2]", "was already read"),
}


def command_lines(bad: str, good: str, folder: Path) -> dict[str, list[str]]:
    """Each command with the bad file, and the folder that it may write to."""
    (folder / "README.md").write_text("<!-- claims:begin -->\nthe last good one\n<!-- claims:end -->\n")
    return {
        "build": ["build", "--no-pdf", good, bad, "--published", str(PUBLISHED), "--out", str(folder), "--paper", str(folder / "paper")],
        "compare": ["compare", good, bad, "--threshold", "0.1", "--out", str(folder)],
        "gantt": ["gantt", good, bad, "--out", str(folder / "timeline.png")],
        "export": ["export", good, bad, "--out", str(folder)],
        "claims": ["claims", good, bad, "--page", str(folder / "README.md")],
        "session": ["session", str(folder), bad],
        "figure": ["figure", "throughput", bad, good, "--out", str(folder / "figures" / "time.pdf")],
        "table": ["table", "summary", bad, good, "--out", str(folder / "cases.csv")],
        "mine": ["mine", "look_ahead", bad, good, "--out", str(folder)],
        "tutorials": ["tutorials", good, bad, "--pages", str(folder)],
        "history": ["history", str(Path(bad).parent)],
        "add_device": ["add-device", str(Path(bad).parent), "--recorded", str(folder)],
    }


def contents(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("fault", BAD)
@pytest.mark.parametrize("command", [name for name, _ in modules(commands) if name not in ("schema", "list")])  # which read no results
def test_bad_results_are_named_and_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, fault: str) -> None:
    content, place, said = BAD[fault]
    bad, good, out = tmp_path / "run" / "bad.json", tmp_path / "good.json", tmp_path / "out"
    bad.parent.mkdir()
    bad.write_text(json.dumps(content))
    good.write_text(json.dumps(document(device="Good")))
    for name in ("compare.md", "cases.csv", "runs.csv", "figures/time.pdf", "paper/macros.tex"):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text("the last good one")
    line = command_lines(str(bad), str(good), out)[command]
    before = contents(out)
    assert main(line) == 2
    error = capsys.readouterr().err
    assert f"{bad}: {place}" in error and said in error
    assert contents(out) == before


OUTPUTS = {"build": "", "compare": "", "gantt": "timeline.png", "export": "", "claims": "../../README.md", "session": "session.json", "figure": "f.pdf", "table": "t.csv",
           "mine": "", "noise": "noise.json", "history": "../history.csv.gz"}  # fmt: skip
"""By command what is written below the folder; nothing stands for the folder."""


@pytest.mark.parametrize("command", OUTPUTS)
def test_a_full_disk_is_one_sentence_and_what_was_there_stays(
    built: Built, tmp_path: Path, capsys: pytest.CaptureFixture[str], drawn: list[str], command: str
) -> None:
    good, other, trace, out = tmp_path / "good.json", tmp_path / "other.json", tmp_path / "trace.json", record(tmp_path / "run" / "2026-01-02", 1.0)
    good.write_text(json.dumps(document()))
    other.write_text(json.dumps(document(date="2026-02-01T00:00:00Z")))
    trace.write_text(json.dumps(stream_fixtures.trace()))
    (tmp_path / "README.md").write_text("<!-- claims:begin -->\nthe last good one\n<!-- claims:end -->\n")
    written = Path(os.path.normpath(out / OUTPUTS[command]))
    line = {
        "build": ["build", "--no-pdf", good, "--out", out], "compare": ["compare", good, good, "--out", out], "gantt": ["gantt", trace, "--out", written],
        "export": ["export", good, "--out", out], "claims": ["claims", built.recorded, "--page", written], "session": ["session", out],
        "figure": ["figure", "cub_shapes", "--out", written], "table": ["table", "summary", built.recorded, "--out", written], "mine": ["mine", "best", good, "--out", out],
        "noise": ["compare", good, other, "--record-noise", written], "history": ["history", out],
    }[command]  # fmt: skip
    before = contents(tmp_path)
    with full_disk():
        assert main([str(of) for of in line]) == 2
    assert re.fullmatch(rf"error: {re.escape(str(written))}\S*: cannot be written: File too large\n", capsys.readouterr().err)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("line", [["list"], ["compare", "good.json", "good.json"]])
@pytest.mark.parametrize(("redirected", "said"), [(">/dev/full", "cannot be written whole: No space left on device"), (">&-", "is closed")])
def test_an_output_that_cannot_be_written_is_status_2(tmp_path: Path, line: list[str], redirected: str, said: str) -> None:
    (tmp_path / "good.json").write_text(json.dumps(document()))
    command = ["sh", "-c", f'exec "$@" {redirected}', "sh", sys.executable, "-m", "scanlab_report.commands", *line]
    ended = subprocess.run(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ANALYSIS)}, stderr=subprocess.PIPE, text=True)
    assert (ended.returncode, ended.stderr) == (2, f"error: standard output: {said}\n")


def test_who_interrupts_is_told_so_without_a_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "good.json").write_text(json.dumps(document()))
    monkeypatch.setattr("scanlab_report.commands.export.tables.dictionary_json", interrupted)  # all but the last file was written
    assert main(["export", str(tmp_path / "good.json"), "--out", str(tmp_path / "out")]) == 130
    assert capsys.readouterr().err == "error: interrupted\n" and not contents(tmp_path / "out")


def test_interrupted_processes_say_nothing_of_their_own(tmp_path: Path) -> None:
    files = [tmp_path / str(number) for number in range(60)]
    of = (f"import time; from pathlib import Path; from scanlab_report import processes; processes.WORKERS = 2\n"
          f"def wait(file): Path(file).touch(); time.sleep(1)\n"
          f"try: processes.side_by_side({{file: lambda file=file: wait(file) for file in {list(map(str, files))}}})\n"
          f"except KeyboardInterrupt: print('interrupted')")  # fmt: skip
    process = subprocess.Popen([sys.executable, "-c", of], cwd=ANALYSIS, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while not all(file.exists() for file in files[:2]) and process.poll() is None:
        time.sleep(0.01)
    time.sleep(0.2)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    assert process.communicate(timeout=20) == ("interrupted\n", "")
    assert not files[-1].exists()


@pytest.mark.parametrize(
    ("content", "words", "says"),
    [
        (document(), [], "t.json: there is no timeline in it"),
        ({}, [], "t.json: there is no timeline in it"),
        ({"traceEvents": []}, [], "t.json: schema: is missing: expected scanlab-trace/1, as `scanlab streams trace` writes"),
        ({"schema": "scanlab-trace/1", "traceEvents": 5}, [], "t.json: traceEvents: expected array, got int"),
        ("no object", [], "t.json: there is no timeline in it"),
        (stream_fixtures.trace(), ["none.json"], "none.json: no such file"),
        (stream_fixtures.trace(), ["--out", "timeline.gif"], "timeline.gif: a figure's name ends in .png, .pdf or .svg"),
        (stream_fixtures.trace(), ["--out", "t.json/below.png"], "t.json/below.png: cannot be written"),
    ],
)
def test_what_is_no_timeline_and_what_cannot_be_drawn_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, content: Any, words: list[str], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.json").write_text(json.dumps(content))
    assert main(["gantt", "--out", "timeline.png", "t.json", *words]) == 2
    assert says in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["t.json"]


def test_missing_repetitions_of_schedules_are_named_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = stream_fixtures.schedules()
    content["benchmarks"] = [e for e in content["benchmarks"] if e["round"] != 1]
    (tmp_path / "streams.json").write_text(json.dumps(content))
    assert main(["export", str(tmp_path / "streams.json"), "--out", str(tmp_path / "out")]) == 2
    assert "cases lack repetitions, the first of them" in capsys.readouterr().err


@pytest.mark.parametrize("command", [name.replace("_", "-") for name, _ in modules(commands)])
def test_every_command_has_help_with_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    assert "example:\n" in (said := capsys.readouterr().out) and f"  scanlab-report {command} " in said


@pytest.mark.parametrize("line", [[], ["draw"], ["gantt"], ["build"], ["compare", "one.json"]])
def test_wrong_words_are_status_2(line: list[str]) -> None:
    try:
        status: object = main(line)
    except SystemExit as ended:
        status = ended.code
    assert status == 2


@pytest.mark.parametrize("kind", ["implicit_sync", "concurrency", "comparison", "advice"])
def test_a_case_that_an_experiment_has_twice_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    content = getattr(stream_fixtures, kind)()
    (entries,) = (of for of in content.values() if isinstance(of, list))
    (tmp_path / "twice.json").write_text(json.dumps(content))
    (tmp_path / "verify.jsonl").write_text(verification())  # what is exported beside files of the engine model, which are not
    assert main(["export", str(tmp_path), "--out", str(tmp_path / "sound")]) == 0
    entries.append(dict(entries[1]))
    (tmp_path / "twice.json").write_text(json.dumps(content))
    assert main(["export", str(tmp_path / "twice.json"), "--out", str(tmp_path / "out")]) == 2
    assert re.search(rf"twice\.json: \w+\[{len(entries) - 1}\]: refused: \w+\[1\] is the same case", capsys.readouterr().err)


@pytest.mark.parametrize("count", [float("nan"), -1, True, None])
@pytest.mark.parametrize("place", ["operations", "banks32.transactions"])
def test_a_count_that_cannot_be_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], place: str, count: Any) -> None:
    content = explanation("hso_block", 64)
    of = content["totals"]
    *folders, name = place.split(".")
    for folder in folders:
        of = of[folder]
    of[name] = count
    (tmp_path / "counts.json").write_text(json.dumps(content))
    assert main(["export", str(tmp_path / "counts.json"), "--out", str(tmp_path / "out")]) == 2
    assert re.search(rf"counts\.json: totals\.{place}: expected int", capsys.readouterr().err)
