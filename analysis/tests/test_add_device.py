"""add-device: a sound run is filed whole, and anything else is refused with file and place, and
nothing is filed."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scanlab_report.commands.__main__ import main
from scanlab_report.load import load
from tests import fixtures, ranks_fixtures, stream_fixtures
from tests.fixtures import COMMIT, case, context, repetition
from tests.test_ncu import TILES, dram_report, ranges

Document = dict[str, Any]
GPU, FOLDER = "NVIDIA Test(R) GPU 9", "nvidia-test-gpu-9"
OTHER = "f" * 40
ONE_RUN = "record one run of one device and commit at a time"


def write(file: Path, content: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def write_run(folder: Path, name: str = "scan.json", rounds: int = 5, **about: Any) -> Path:
    """A run of two variants at two sizes, as ``./reproduce`` leaves it."""
    entries = [
        repetition(case(variant, n), i, 1000.0 + i)
        for variant in ("best", "memcpy")
        for n in (1024, 2048)
        for i in range(rounds)
    ]
    refused = {"error_occurred": True, "error_message": "too large", "verified": False}
    entries.append(repetition(case("hs_block", 4096), 0, 0.0, **refused))
    document = {"context": context(device=GPU) | about, "benchmarks": entries}
    write(folder / name, document)
    write(folder / "verify.jsonl", fixtures.verification(device=GPU))
    return folder


def changed(file: Path, change: Callable[[Document], Any]) -> None:
    document = json.loads(file.read_text())
    change(document)
    write(file, document)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    (tmp_path / "recorded").mkdir()
    return tmp_path / "recorded"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run")


def add(run: Path, recorded: Path) -> int:
    return main(["add-device", str(run), "--recorded", str(recorded)])


@pytest.fixture
def judged(recorded: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[Path, str], None]:
    """A run is refused in a sentence that has these words and nothing is filed; or filed if there
    are none."""

    def judge(run: Path, stated: str) -> None:
        status = add(run, recorded)
        error = capsys.readouterr().err
        assert (status, stated in error) == (2 if stated else 0, True), error
        assert bool(list(recorded.iterdir())) is not bool(stated)
        assert not stated or "nothing was recorded" in error

    return judge


# ------------------------------------------------------------------------------------- sound runs


def test_a_sound_run_is_filed_by_device_and_day(run: Path, recorded: Path) -> None:
    write(run / "dram_bytes.csv", fixtures.dram_bytes(18))
    write(run / "notes.txt", "mine")
    assert add(run, recorded) == 0
    filed = recorded / FOLDER / "2026-01-02"
    wanted = ["dram_bytes.csv", "scan.json.gz", "session.json", "verify.jsonl.gz"]
    assert names(filed) == wanted
    raw = gzip.decompress((filed / "scan.json.gz").read_bytes())
    assert raw == (run / "scan.json").read_bytes()
    data = load([], [recorded])
    assert len(data["scan"]) == 20 and not data.problems
    session = json.loads((filed / "session.json").read_text())
    files = [("dram_bytes.csv", "traffic"), ("scan.json.gz", "timings")]
    assert session["files"] == [{"file": file, "kind": kind} for file, kind in files]
    about = (GPU, "2026-01-02T03:04:05+00:00", COMMIT, False)
    assert tuple(session[key] for key in ("device", "date", "commit", "complete")) == about


@pytest.mark.parametrize(("sweep", "status"), [("odd_sizes", 0), ("head_to_head", 2)])
def test_processes_that_repeat_a_sweep_may_have_few_rounds(
    tmp_path: Path, recorded: Path, sweep: str, status: int
) -> None:
    argv = f"scanlab bench --sweep {sweep} --seed 1"
    assert add(write_run(tmp_path / "run", rounds=3, argv=argv), recorded) == status


@pytest.mark.parametrize("rounds", [5, 4])
def test_repetitions_of_a_schedule_are_counted_whatever_each_of_them_measured(
    tmp_path: Path, judged: Callable, rounds: int
) -> None:
    """Clocks and times between events are of a repetition, not of a case."""
    entries = stream_fixtures.schedule("depth_first", 20.0)[:rounds]
    for number, entry in enumerate(entries):
        entry |= {"sm_clock_mhz": 1900.0 + number, "device_time_ms": 19.0 + number}
        entry |= {"converged": number == 4}
    about = {"schema": "scanlab-results/2", "kind": "cuda", "driver": "580", "seed": "1"}
    about = stream_fixtures.about(**about, argv="streams run")
    write(tmp_path / "run" / "schedules.json", {"context": about, "benchmarks": entries})
    few = "1 of 1 cases have fewer than 5 repetitions, such as schedule scale"
    judged(tmp_path / "run", "" if rounds == 5 else few)


def test_what_nvbench_timed_is_filed_though_it_draws_no_input_from_a_seed(
    run: Path, recorded: Path
) -> None:
    timed = stream_fixtures.stopwatch([stream_fixtures.timed_by_nvbench("best", 1024, mean=3e-6)])
    about = {"device": GPU, "driver": "580", "argv": "scanlab_nvbench"}
    timed["context"] |= about | {"git_commit": COMMIT, "git_dirty": "false"}
    write(run / "nvbench.json", timed)
    assert add(run, recorded) == 0
    assert (recorded / FOLDER / "2026-01-02" / "nvbench.json.gz").exists()


def test_runs_of_a_day_have_letters_in_their_order_though_one_was_removed(
    tmp_path: Path, recorded: Path
) -> None:
    assert add(write_run(tmp_path / "a"), recorded) == 0
    before = {path: path.read_bytes() for path in recorded.rglob("*") if path.is_file()}
    assert add(write_run(tmp_path / "b", date="2026-01-02T09:00:00+00:00"), recorded) == 0
    (recorded / FOLDER / "2026-01-02d").mkdir()
    assert add(write_run(tmp_path / "c", date="2026-01-02T10:00:00+00:00"), recorded) == 0
    assert names(recorded / FOLDER) == [f"2026-01-02{letter}" for letter in ("", "b", "d", "e")]
    assert all(path.read_bytes() == content for path, content in before.items())


def test_baselines_of_a_cpu_are_filed_under_the_cpu(tmp_path: Path, recorded: Path) -> None:
    run = write_run(tmp_path / "run", kind="host", device="", cpu="Some CPU @ 3 GHz")
    (run / "verify.jsonl").unlink()
    assert add(run, recorded) == 0
    assert (recorded / "some-cpu-3-ghz" / "2026-01-02" / "scan.json.gz").exists()


@pytest.mark.parametrize("cpu", ["Test CPU", "Another CPU"])
def test_what_the_host_timed_alone_is_filed_beside_what_its_gpu_did(
    tmp_path: Path, recorded: Path, capsys: pytest.CaptureFixture[str], cpu: str
) -> None:
    run = write_run(tmp_path / "run", cpu="Test CPU")
    write_run(run, "cpu.json", kind="host", device="", cpu=cpu, argv="bench cpu")
    assert add(run, recorded) == (0 if cpu == "Test CPU" else 2)
    hosts = "these files are of Another CPU, 4 cores and Test CPU, 4 cores"
    assert (hosts in capsys.readouterr().err) is (cpu != "Test CPU")
    assert len(list(recorded.rglob("cpu.json.gz"))) == (cpu == "Test CPU")


@pytest.mark.parametrize("commit", [COMMIT, OTHER])
def test_what_the_engine_model_is_held_against_is_filed_and_no_figure_reads_it(
    run: Path, recorded: Path, judged: Callable, commit: str
) -> None:
    about = context(device=GPU, git_commit=commit)
    trace = {"schema": "scanlab-trace/1", "otherData": about, "traceEvents": []}
    for name in ("calibration.json", "advise.json"):
        write(run / "model" / name, {"context": about})
    write(run / "model" / "traces" / "one.json", trace)
    judged(run, "" if commit == COMMIT else "advise.json: context.git_commit: is")
    filed = sorted(path.name for path in recorded.rglob("model/**/*.json.gz"))
    wanted = ["advise.json.gz", "calibration.json.gz", "one.json.gz"]
    assert filed == (wanted if commit == COMMIT else [])
    assert not load([], [recorded]).problems


def test_counts_of_a_machine_without_a_gpu_are_filed_in_one_file_and_are_of_the_timed_code(
    tmp_path: Path, recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_run(tmp_path / "run", "cpu.json", kind="host", device="", cpu="Test CPU 9")
    write(run / "verify.jsonl", fixtures.verification(device="", backend="simt"))
    for items in (64, 128):
        write(run / "explain" / f"{items}.json", fixtures.explanation("hso_block", items))
    assert add(run, recorded) == 0
    assert "the counts of 2 cases" in capsys.readouterr().out
    wanted = ["cpu.json.gz", "explain.json.gz", "session.json", "verify.jsonl.gz"]
    assert names(recorded / "test-cpu-9" / "2026-01-02") == wanted
    data = load([], [recorded])
    assert sorted(data["counts"]["items"]) == [64, 128] and not data.problems
    changed(run / "explain" / "64.json", lambda document: document.update(git_commit=OTHER))
    assert add(run, recorded) == 2 and "explain/64.json: git_commit" in capsys.readouterr().err


@pytest.mark.parametrize(("stopped", "status"), [(3, 2), (2, 0)])
def test_one_case_in_twenty_may_have_been_stopped_by_a_cap(
    run: Path, recorded: Path, stopped: int, status: int
) -> None:
    entries = [
        repetition(case("best", n), i, 1000.0)
        for n in range(1, 41)
        for i in range(3 if n <= stopped else 5)
    ]
    changed(run / "scan.json", lambda document: document.update(benchmarks=entries))
    assert add(run, recorded) == status


# ------------------------------------------------------------------------------------ refused runs


@pytest.mark.parametrize(
    ("about", "place", "stated"),
    [
        ({"git_dirty": "true"}, "context.git_dirty", "uncommitted changes"),
        ({"git_commit": "unknown"}, "context.git_commit", "is 'missing', not a commit"),
        ({"driver": ""}, "context.driver", "is missing"),
        ({"seed": ""}, "context.seed", "is missing"),
        ({"date": "yesterday"}, "context.date", "expected a date of ISO 8601"),
        ({"assertions": "on"}, "context.assertions", "makes code slower"),
    ],
)
def test_what_is_not_sound_is_refused_with_file_and_place(
    tmp_path: Path, judged: Callable, about: dict[str, str], place: str, stated: str
) -> None:
    run = write_run(tmp_path / "run", **about)
    judged(run, f"{run / 'scan.json'}: {place}: ")
    judged(run, stated)


def test_too_few_repetitions_are_refused(run: Path, judged: Callable) -> None:
    changed(run / "scan.json", lambda document: document["benchmarks"].pop(4))
    few = "1 of 4 cases have fewer than 5 repetitions, such as best i32 plus inclusive 1024 cold "
    judged(run, f"scan.json: benchmarks: {few}stream with 4")


def test_a_run_is_recorded_once(
    run: Path, tmp_path: Path, recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert add(run, recorded) == 0 and add(run, recorded) == 2
    assert "scan.json: is recorded already" in capsys.readouterr().err
    write(run / "again.json", (run / "scan.json").read_text())
    (tmp_path / "none").mkdir()
    assert add(run, tmp_path / "none") == 2
    assert "is the same run as again.json" in capsys.readouterr().err


@pytest.mark.parametrize("other", [{"device": "NVIDIA Other"}, {"git_commit": OTHER}])
def test_files_of_two_devices_or_commits_are_no_run(
    run: Path, recorded: Path, capsys: pytest.CaptureFixture[str], other: dict[str, str]
) -> None:
    write_run(run, "a.json", date="2026-01-01T09:00:00+00:00", **other)
    assert add(run, recorded) == 2 and not list(recorded.iterdir())
    wrong, *consequences, last = capsys.readouterr().err.splitlines()
    assert ONE_RUN in wrong and "nothing was recorded" in last
    assert not consequences or "device" in other, "the verification is of one of the commits"


def test_files_of_gpus_are_compared_with_each_other_though_the_first_file_is_of_the_host(
    run: Path, judged: Callable
) -> None:
    write_run(run, "cpu.json", kind="host", device="", argv="bench cpu")
    write_run(run, "tuned.json", kind="tuning", device="NVIDIA Other")
    judged(run, f"tuned.json: context.device: is 'NVIDIA Other', and '{GPU}' in scan.json")


@pytest.mark.parametrize(
    ("commit", "dirty", "stated"),
    [(OTHER, "false", ONE_RUN), (COMMIT, "true", "uncommitted"), (COMMIT, "false", "")],
)
def test_waits_are_of_the_commit_of_the_run(
    run: Path, judged: Callable, commit: str, dirty: str, stated: str
) -> None:
    head, *rows = fixtures.PREFIX_WAIT.splitlines()
    origin = f",{GPU},2026-01-02T00:00:00Z,{commit},{dirty}\n"
    text = "".join(row + origin for row in rows)
    write(run / "prefix_wait.csv", f"{head},device,date,git_commit,git_dirty\n{text}")
    judged(run, stated)


@pytest.mark.parametrize(
    ("changes", "stated"),
    [
        ({"device": "NVIDIA Other"}, "context.device: is 'NVIDIA Other'"),
        ({"git_commit": OTHER}, f"context.git_commit: is '{OTHER}'"),
        ({"git_dirty": "true"}, "had uncommitted changes"),
        ({"driver": ""}, "context.driver: is missing"),
        ({}, ""),
    ],
)
def test_what_a_profiler_counted_is_of_the_device_and_the_commit_of_the_run(
    run: Path, judged: Callable, changes: dict[str, str], stated: str
) -> None:
    write(run / "dram_bytes.csv", dram_report())
    beside = json.loads(ranges(TILES[1]))
    beside["context"] |= {"device": GPU} | changes
    write(run / "dram_bytes.ranges.json", beside)
    judged(run, stated)


SOUND = fixtures.verification(device=GPU)
FAILED = SOUND.replace('"passed": 9, "failed": 0', '"passed": 8, "failed": 1')


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("", "verify.jsonl: is missing"),
        ("\n".join(SOUND.splitlines()[:-1]), "did not come to its end"),
        (FAILED.replace('"passed"', '"failed"', 1), "says that 1 verifications failed"),
        (SOUND.replace('"passed": 9', '"passed": 10'), "ended.passed: is 10, and 9 lines say so"),
        (fixtures.verification(device=GPU, backend="simt"), "is not of the GPU"),
        (fixtures.verification(device=GPU, git_commit=OTHER), f"is of commit {OTHER}, not of the"),
        (fixtures.verification(device=GPU, git_dirty="true"), f"is of commit {COMMIT}+, not"),
        (fixtures.verification(device="Other GPU"), "is of Other GPU, and the results are of"),
        (SOUND.replace("false}", "nothing}"), "line 11, column"),
        (SOUND.replace('"items": 103', '"items": -1'), "line 5.items: expected int >= 0, got -1"),
    ],
)
def test_the_verification_must_be_there_and_have_passed(
    run: Path, judged: Callable, text: str, stated: str
) -> None:
    (run / "verify.jsonl").unlink()
    if text:
        write(run / "verify.jsonl", text)
    judged(run, stated)


@pytest.mark.parametrize("name", ["tests.json", "device_scan_tests.json"])
@pytest.mark.parametrize("failures", [0, 1])
def test_the_tests_that_were_run_must_have_passed(
    run: Path, recorded: Path, judged: Callable, name: str, failures: int
) -> None:
    write(run / name, {"tests": 30, "failures": failures, "errors": 0, "name": "AllTests"})
    judged(run, f"{name}: says that 1 tests failed" if failures else "")
    assert failures or (recorded / FOLDER / "2026-01-02" / f"{name}.gz").exists()


@pytest.mark.parametrize(
    ("name", "stated"),
    [
        ("nowhere", "is no folder with results files"),
        ("empty", "is no folder with results files"),
        ("notes", "holds no timings"),
    ],
)
def test_folders_without_results_are_refused(
    tmp_path: Path, judged: Callable, name: str, stated: str
) -> None:
    (tmp_path / "empty").mkdir()
    write(tmp_path / "notes" / "notes.txt", "mine")
    judged(tmp_path / name, stated)
    assert add(write_run(tmp_path / "run"), tmp_path / "no such") == 2


# ------------------------------------------------------------------------------------ several GPUs


def write_ranks(folder: Path, gpus: int = 4, best: bool = True) -> Path:
    """A run over several GPUs, as ``tools/record --gpus`` leaves it."""
    documents = ranks_fixtures.documents(gpus)
    if best:
        documents |= {"ranks_strong_best": ranks_fixtures.best(context(), repetition, case)}
    ranks_fixtures.write(folder, documents)
    verified = fixtures.verification(device="Test Device")
    write(folder / "ranks_verify_4.jsonl", verified)
    return folder


def session_of(recorded: Path, folder: str = "test-device-x4") -> Document:
    return json.loads((recorded / folder / "2026-01-02" / "session.json").read_text())


@pytest.mark.parametrize(
    ("gpus", "folder"), [(4, "test-device-x4"), (2, "test-device-x2"), (1, "test-device")]
)
def test_a_run_over_several_gpus_is_filed_by_their_number(
    tmp_path: Path, recorded: Path, gpus: int, folder: str
) -> None:
    run = write_ranks(tmp_path / "run", gpus)
    kinds = {"timings", "distributed"}
    if gpus == 4:
        ranks_fixtures.write(run, {"ranks_trace": ranks_fixtures.timeline()})
        kinds |= {"ranks_trace"}
    assert add(run, recorded) == 0
    session = session_of(recorded, folder)
    assert (session["device"], session.get("gpus", 1)) == ("Test Device", gpus)
    assert session["complete"] == (gpus > 1)
    assert {file["kind"] for file in session["files"]} == kinds


def kept(lacking: str, entry: Document) -> bool:
    """Whether a session that lacks something has an entry."""
    on_one = entry["ranks"] == 1
    return {
        "one rank": not on_one,
        "all ranks": entry["ranks"] in (1, 2),
        "equal items per rank": entry["ranks"] in (1, 4) and entry["items"] == 2**20,
        "equal items in all": entry["ranks"] in (1, 4)
        and entry["items"] == (2**20 if on_one else 2**22),
        "copies on one": not (on_one and entry["variant"] == "copy_all"),
    }.get(lacking, True)


@pytest.mark.parametrize(
    "lacking",
    ["best", "one rank", "all ranks", "equal items per rank", "equal items in all"]
    + ["copies on one"],
)
def test_a_session_over_several_gpus_needs_both_kinds_of_scaling_beside_copies_and_best(
    tmp_path: Path, recorded: Path, lacking: str
) -> None:
    run = write_ranks(tmp_path / "run", best=lacking != "best")
    for file in run.glob("ranks_*.json"):
        document = json.loads(file.read_text())
        if file.stem != "ranks_strong_best":
            entries = [entry for entry in document["benchmarks"] if kept(lacking, entry)]
            file.unlink()
            if entries:
                write(file, document | {"benchmarks": entries})
    if lacking == "all ranks":  # three GPUs at least were there, and two were used
        document = ranks_fixtures.document([ranks_fixtures.entry("copy_all", 2**20, 4, 1.0)], 4)
        ranks_fixtures.write(run, {"ranks_copy": document})
    assert add(run, recorded) == 0
    assert session_of(recorded)["complete"] is False


def test_what_is_of_one_gpu_is_not_filed_with_scans_over_several(
    tmp_path: Path, judged: Callable
) -> None:
    run = write_ranks(tmp_path / "run")
    write(run / "implicit_sync.json", stream_fixtures.implicit_sync())
    folder = "record these in a folder of their own"
    judged(run, f"implicit_sync.json: is of one GPU, and scans of other files ran over 4: {folder}")


def test_scans_over_several_gpus_must_be_verified_and_repeated(
    tmp_path: Path, judged: Callable
) -> None:
    run = write_ranks(tmp_path / "run")
    (run / "ranks_verify_4.jsonl").unlink()
    judged(run, "verify with scanlab distributed verify --gpus 4 --json")
    for file in run.glob("ranks_*.json"):
        entries = [e for e in json.loads(file.read_text())["benchmarks"] if e["round"] < 4]
        changed(file, lambda document, entries=entries: document.update(benchmarks=entries))
    few = "cases have fewer than 5 repetitions, such as copy_all copy i32 plus inclusive"
    judged(run, few)
    judged(run, "distributed bench --benchmark_repetitions=5")
