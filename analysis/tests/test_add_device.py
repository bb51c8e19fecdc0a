"""add-device: a sound run is filed whole, and anything else is refused with file and reason, and
nothing is filed."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from scanlab_report.commands.__main__ import main
from scanlab_report.load import load
from scanlab_report.tables import COLUMNS
from tests import fixtures
from tests.fixtures import COMMIT, case, contents, context, repetition, write

GPU, FOLDER = "NVIDIA Test(R) GPU 9", "nvidia-test-gpu-9"
OTHER = "f" * 40
TRAFFIC = ",".join(COLUMNS["traffic"]) + "\nbest,,i32,plus,inclusive,64,k,0,8,8\n"
SOUND = fixtures.verification(device=GPU)
FAILED = SOUND.replace('"passed": 9, "failed": 0', '"passed": 8, "failed": 1')
FAILED = FAILED.replace('"passed"', '"failed"', 1)


def scans(rounds: int = 5, few: int = 0, **about: Any) -> dict[str, Any]:
    """40 cases of `best`, some of which have three rounds."""
    counts = {n: 3 if n <= few else rounds for n in range(1, 41)}
    entries = [repetition(case("best", n), i, 1e3) for n, c in counts.items() for i in range(c)]
    return {"context": context(device=GPU) | about, "benchmarks": entries}


def write_run(folder: Path, **about: Any) -> Path:
    write(folder / "verify.jsonl", SOUND)
    write(folder / "scan.json", scans(**about))
    return folder


def on_host(**about: Any) -> dict[str, Any]:
    return scans(kind="host", device="", argv="bench cpu", **about)


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    (tmp_path / "recorded").mkdir()
    return tmp_path / "recorded"


def add(run: Path, recorded: Path) -> int:
    return main(["add-device", str(run), "--recorded", str(recorded)])


def test_a_sound_run_is_filed_by_device_and_day(tmp_path, recorded) -> None:
    run = write_run(tmp_path / "run")
    write(run / "dram_bytes.csv", TRAFFIC)
    write(run / "tests.json", {"tests": 30, "failures": 0, "errors": 0})
    write(run / "model" / "traces" / "one.json", {"otherData": context(device=GPU)})
    write(run / "notes.txt", "mine")
    assert add(run, recorded) == 0
    filed = contents(recorded / FOLDER / "2026-01-02")
    wanted = {"dram_bytes.csv", "scan.json.gz", "verify.jsonl.gz", "tests.json.gz"}
    assert {*filed} == wanted | {"session.json", "model/traces/one.json.gz"}
    assert gzip.decompress(filed["scan.json.gz"]) == (run / "scan.json").read_bytes()
    data = load([], [recorded])
    assert len(data["scan"]) == 200 and not data.problems
    session = json.loads(filed["session.json"])
    about = (GPU, "2026-01-02T03:04:05+00:00", COMMIT, False)
    assert tuple(session[key] for key in ("device", "date", "commit", "complete")) == about
    assert len(session["files"]) == 2


def test_runs_of_a_day_have_letters_and_each_is_recorded_once(tmp_path, recorded, capsys) -> None:
    run = write_run(tmp_path / "run")
    assert add(run, recorded) == 0
    before = contents(recorded)
    assert add(run, recorded) == 2 and contents(recorded) == before
    assert f"{run / 'scan.json'}: is recorded already" in capsys.readouterr().err
    assert [add(write_run(run, seed=seed), recorded) for seed in "23"] == [0, 0]
    days = [path.name for path in sorted((recorded / FOLDER).iterdir())]
    assert days == ["2026-01-02", "2026-01-02b", "2026-01-02c"]
    assert before.items() <= contents(recorded).items()


def test_a_host_is_filed_by_its_processor_with_the_counts_of_the_timed_code(
    tmp_path, recorded, capsys
) -> None:
    run = tmp_path / "run"
    write(run / "cpu.json", on_host(cpu="Test CPU @ 9 GHz"))
    for items in (64, 128):
        write(run / "explain" / f"{items}.json", fixtures.explanation(items))
    assert add(run, recorded) == 0
    (filed,) = recorded.glob("test-cpu-9-ghz/2026-01-02")
    named = [row["file"] for row in json.loads((filed / "session.json").read_text())["files"]]
    assert named == ["cpu.json.gz", "explain.json.gz"]
    kept = json.loads(gzip.decompress((filed / "explain.json.gz").read_bytes()))
    written = sorted((run / "explain").glob("*.json"))
    assert kept == [json.loads(file.read_bytes()) for file in written]  # fields of no figure, too
    data = load([], [filed])
    assert sorted(data["counts"]["items"]) == [64, 128] and data.sessions[0].complete
    write(run / "cpu.json", on_host(cpu="Test CPU @ 9 GHz", git_commit=OTHER))
    assert add(run, recorded) == 2 and "explain/128.json: its commit" in capsys.readouterr().err


PROCESS = scans(argv="scanlab bench --sweep odd_sizes", rounds=3)


@pytest.mark.parametrize(
    ("files", "stated"),
    [
        ({"scan.json": PROCESS}, ""),  # processes repeat the sweep
        ({"scan.json": scans(few=2)}, ""),  # a cap stopped one case in twenty
        ({"scan.json": scans(few=3)}, "scan.json: benchmarks: 3 of 40 cases have fewer than 5"),
        ({"scan.json": scans(git_dirty="true")}, "scan.json: context.git_dirty: uncommitted"),
        ({"scan.json": scans(git_commit="unknown")}, "context.git_commit: is no commit"),
        ({"scan.json": scans(driver="")}, "scan.json: context.driver: is missing"),
        ({"scan.json": scans(assertions="on")}, "scan.json: context.assertions"),
        ({"a.json": scans(device="Other")}, f"its device is '{GPU}', and 'Other' in a.json"),
        ({"cpu.json": on_host()}, ""),
        ({"cpu.json": on_host(cpu="Another CPU")}, "scan.json: its host is"),
        ({"model/advise.json": {"context": context(device=GPU, git_commit=OTHER)}}, "its commit"),
        ({"model/calibration.json": {}}, "calibration.json: context.date: is missing"),
        ({"tests.json": {"tests": 30, "failures": 1}}, "tests.json: does not say that all"),
        ({"verify.jsonl": None}, "verify.jsonl: is missing"),
        ({"verify.jsonl": "\n".join(SOUND.splitlines()[:-1])}, "did not come to its end"),
        ({"verify.jsonl": FAILED}, "verify.jsonl: says that 1 verifications failed"),
        ({"verify.jsonl": fixtures.verification(device=GPU, backend="simt")}, "is of simt, and"),
        ({"verify.jsonl": fixtures.verification(device=GPU, git_commit=OTHER)}, "is of commit"),
        ({"verify.jsonl": SOUND.replace("false}", "true}")}, "verify.jsonl: was interrupted"),
        ({"scan.json": None, "verify.jsonl": None}, "run: is no folder with results"),
    ],
)
def test_a_run_is_filed_or_refused_with_the_reason(
    tmp_path, recorded, capsys, files, stated
) -> None:
    run = write_run(tmp_path / "run")
    for name, content in files.items():
        if content is None:
            (run / name).unlink()
        else:
            write(run / name, content)
    status, error = add(run, recorded), capsys.readouterr().err
    assert (status, stated in error) == (2 if stated else 0, True), error
    assert bool(list(recorded.iterdir())) is not bool(stated)
    assert not stated or "nothing was recorded" in error


@pytest.mark.parametrize(("lacks", "complete"), [("none", True), ("ranks_*_1.json", False)])
def test_scans_over_several_gpus_are_filed_by_their_number(
    tmp_path, recorded, lacks, complete
) -> None:
    run = tmp_path / "run"
    for name, document in fixtures.ranks("scaling", "strong", "types", "chunk", "fold").items():
        write(run / f"{name}.json", document)
    for file in run.glob(lacks):
        file.unlink()
    assert add(run, recorded) == 2, "it is not verified"
    write(run / "ranks_verify.jsonl", fixtures.verification())
    assert add(run, recorded) == 0
    folder = recorded / "test-device-x2" / "2026-01-02"
    session = json.loads((folder / "session.json").read_text())
    assert (session["gpus"], session["complete"]) == (2, complete)
