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


def write_run(
    folder: Path,
    change: Callable[[Document], None] = lambda document: None,
    name: str = "scan.json",
    **about: Any,
) -> Path:
    """A run of two variants at two sizes, as ``./reproduce`` leaves it, with a change to its scan
    timings."""
    entries = [
        repetition(case(variant, n, launch="stream"), i, 1000.0 + i, verified=True)
        for variant in ("best", "memcpy")
        for n in (1024, 2048)
        for i in range(5)
    ]
    entries.append(
        repetition(
            case("hs_block", 4096),
            0,
            0.0,
            error_occurred=True,
            error_message="too large",
            verified=False,
        )
    )
    document = {"context": context(device="NVIDIA Test(R) GPU 9") | about, "benchmarks": entries}
    change(document)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(document))
    (folder / "verify.jsonl").write_text(fixtures.verification(device="NVIDIA Test(R) GPU 9"))
    return folder


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    (tmp_path / "recorded").mkdir()
    return tmp_path / "recorded"


def add(run: Path, recorded: Path) -> int:
    return main(["add-device", str(run), "--recorded", str(recorded)])


def test_a_sound_run_is_filed_by_device_and_day(tmp_path: Path, recorded: Path) -> None:
    run = write_run(tmp_path / "run")
    (run / "dram_bytes.csv").write_text(fixtures.dram_bytes(18))
    (run / "notes.txt").write_text("mine")
    assert add(run, recorded) == 0
    filed = recorded / "nvidia-test-gpu-9" / "2026-01-02"
    assert sorted(path.name for path in filed.iterdir()) == [
        "dram_bytes.csv",
        "scan.json.gz",
        "session.json",
        "verify.jsonl.gz",
    ]
    assert (
        gzip.decompress((filed / "scan.json.gz").read_bytes()) == (run / "scan.json").read_bytes()
    )
    data = load([], [recorded])
    assert len(data["scan"]) == 20 and not data.problems
    said = json.loads((filed / "session.json").read_text())
    assert said["files"] == [
        {"file": "dram_bytes.csv", "kind": "traffic"},
        {"file": "scan.json.gz", "kind": "timings"},
    ]
    assert (said["device"], said["date"], said["commit"], said["complete"]) == (
        "NVIDIA Test(R) GPU 9",
        "2026-01-02T03:04:05+00:00",
        COMMIT,
        False,
    )


@pytest.mark.parametrize(("sweep", "status"), [("odd_sizes", 0), ("head_to_head", 2)])
def test_processes_that_repeat_a_sweep_may_have_few_rounds(
    tmp_path: Path, recorded: Path, sweep: str, status: int
) -> None:
    def leave_three(document: Document) -> None:
        document["benchmarks"] = [
            entry for entry in document["benchmarks"] if entry["repetition_index"] < 3
        ]

    assert (
        add(
            write_run(
                tmp_path / "run", leave_three, argv=f"scanlab bench --sweep {sweep} --seed 1"
            ),
            recorded,
        )
        == status
    )


@pytest.mark.parametrize(("rounds", "status"), [(5, 0), (4, 2)])
def test_repetitions_of_a_schedule_are_counted_whatever_each_of_them_measured(
    tmp_path: Path, recorded: Path, capsys: pytest.CaptureFixture[str], rounds: int, status: int
) -> None:
    """Clocks and times between events are of a repetition, not of a case."""
    entries = stream_fixtures.schedule("depth_first", 20.0)[:rounds]
    for number, entry in enumerate(entries):
        entry |= {
            "sm_clock_mhz": 1900.0 + number,
            "device_time_ms": 19.0 + number,
            "converged": number == 4,
        }
    (tmp_path / "run").mkdir()
    document = {
        "context": stream_fixtures.about(
            schema="scanlab-results/2", kind="cuda", driver="580", argv="streams run", seed="1"
        ),
        "benchmarks": entries,
    }
    (tmp_path / "run" / "schedules.json").write_text(json.dumps(document))
    assert add(tmp_path / "run", recorded) == status
    if status:
        assert (
            "1 of 1 cases have fewer than 5 repetitions, such as schedule scale"
            in capsys.readouterr().err
        )


def test_what_nvbench_timed_is_filed_though_it_draws_no_input_from_a_seed(
    tmp_path: Path, recorded: Path
) -> None:
    run = write_run(tmp_path / "run")
    timed = stream_fixtures.stopwatch([stream_fixtures.timed_by_nvbench("best", 1024, mean=3e-6)])
    timed["context"] |= {
        "device": GPU,
        "driver": "580",
        "argv": "scanlab_nvbench",
        "git_commit": COMMIT,
        "git_dirty": "false",
    }
    (run / "nvbench.json").write_text(json.dumps(timed))
    assert add(run, recorded) == 0
    assert (recorded / "nvidia-test-gpu-9" / "2026-01-02" / "nvbench.json.gz").exists()


def test_a_second_run_of_a_day_gets_a_letter_and_the_first_stays(
    tmp_path: Path, recorded: Path
) -> None:
    assert add(write_run(tmp_path / "a"), recorded) == 0
    before = {path: path.read_bytes() for path in recorded.rglob("*") if path.is_file()}
    assert add(write_run(tmp_path / "b", date="2026-01-02T09:00:00+00:00"), recorded) == 0
    assert sorted(path.name for path in (recorded / "nvidia-test-gpu-9").iterdir()) == [
        "2026-01-02",
        "2026-01-02b",
    ]
    assert all(path.read_bytes() == content for path, content in before.items())


def test_runs_keep_their_order_where_one_of_a_day_was_removed(
    tmp_path: Path, recorded: Path
) -> None:
    (recorded / "nvidia-test-gpu-9" / "2026-01-02c").mkdir(parents=True)
    assert add(write_run(tmp_path / "a"), recorded) == 0
    assert sorted(path.name for path in (recorded / "nvidia-test-gpu-9").iterdir()) == [
        "2026-01-02c",
        "2026-01-02d",
    ]


def test_baselines_of_a_cpu_are_filed_under_the_cpu(tmp_path: Path, recorded: Path) -> None:
    run = write_run(tmp_path / "run", kind="host", device="", cpu="Some CPU @ 3 GHz")
    (run / "verify.jsonl").unlink()
    assert add(run, recorded) == 0
    assert (recorded / "some-cpu-3-ghz" / "2026-01-02" / "scan.json.gz").exists()


@pytest.mark.parametrize(("cpu", "status"), [("Test CPU", 0), ("Another CPU", 2)])
def test_what_the_host_timed_alone_is_filed_beside_what_its_gpu_did(
    tmp_path: Path, recorded: Path, capsys: pytest.CaptureFixture[str], cpu: str, status: int
) -> None:
    run = write_run(tmp_path / "run", cpu="Test CPU")
    alone = json.loads((run / "scan.json").read_text())
    alone["context"] |= {"kind": "host", "device": "", "cpu": cpu, "argv": "bench cpu"}
    (run / "cpu.json").write_text(json.dumps(alone))
    assert add(run, recorded) == status
    assert (
        "these files are of Another CPU, 4 cores and Test CPU, 4 cores" in capsys.readouterr().err
    ) is bool(status)
    assert [path.name for path in recorded.rglob("cpu.json.gz")] == ["cpu.json.gz"][status // 2 :]


@pytest.mark.parametrize(("commit", "status"), [(COMMIT, 0), ("f" * 40, 2)])
def test_what_the_engine_model_is_held_against_is_filed_and_no_figure_reads_it(
    tmp_path: Path, recorded: Path, capsys: pytest.CaptureFixture[str], commit: str, status: int
) -> None:
    run = write_run(tmp_path / "run")
    about = context(device="NVIDIA Test(R) GPU 9", git_commit=commit)
    (run / "model" / "traces").mkdir(parents=True)
    for name, content in (
        ("calibration.json", {"context": about}),
        ("advise.json", {"context": about}),
        ("traces/one.json", {"schema": "scanlab-trace/1", "otherData": about, "traceEvents": []}),
    ):
        (run / "model" / name).write_text(json.dumps(content))
    assert add(run, recorded) == status
    assert ("advise.json: context.git_commit: is" in capsys.readouterr().err) is bool(status)
    filed = sorted(
        path.relative_to(recorded / "nvidia-test-gpu-9" / "2026-01-02" / "model").as_posix()
        for path in recorded.rglob("model/**/*.json.gz")
    )
    assert filed == (
        [] if status else ["advise.json.gz", "calibration.json.gz", "traces/one.json.gz"]
    )
    assert not load([], [recorded]).problems


def test_counts_of_a_machine_without_a_gpu_are_filed_in_one_file_and_are_of_the_timed_code(
    tmp_path: Path, recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_run(tmp_path / "run", name="cpu.json", kind="host", device="", cpu="Test CPU 9")
    (run / "verify.jsonl").write_text(fixtures.verification(device="", backend="simt"))
    (run / "explain").mkdir()
    for items in (64, 128):
        (run / "explain" / f"{items}.json").write_text(
            json.dumps(fixtures.explanation("hso_block", items))
        )
    assert add(run, recorded) == 0
    assert "the counts of 2 cases" in capsys.readouterr().out
    assert sorted(path.name for path in (recorded / "test-cpu-9" / "2026-01-02").iterdir()) == [
        "cpu.json.gz",
        "explain.json.gz",
        "session.json",
        "verify.jsonl.gz",
    ]
    data = load([], [recorded])
    assert sorted(data["counts"]["items"]) == [64, 128] and not data.problems

    older = fixtures.explanation("hso_block", 64) | {"git_commit": "f" * 40}
    (run / "explain" / "64.json").write_text(json.dumps(older))
    assert add(run, recorded) == 2 and "explain/64.json: git_commit" in capsys.readouterr().err


def test_one_case_in_twenty_may_have_been_stopped_by_a_cap(tmp_path: Path, recorded: Path) -> None:
    def many(document: Document, stopped: int) -> None:
        document["benchmarks"] = [
            repetition(case("best", n), i, 1000.0, verified=True)
            for n in range(1, 41)
            for i in range(3 if n <= stopped else 5)
        ]

    assert add(write_run(tmp_path / "3", lambda document: many(document, 3)), recorded) == 2
    assert add(write_run(tmp_path / "2", lambda document: many(document, 2)), recorded) == 0


def about(**changes: Any) -> Callable[[Document], None]:
    return lambda document: document["context"].update(changes)


def without(index: int) -> Callable[[Document], None]:
    return lambda document: document["benchmarks"].pop(index) and None


@pytest.mark.parametrize(
    ("change", "place", "said"),
    [
        (
            without(4),
            "benchmarks",
            (
                "1 of 4 cases have fewer than 5 repetitions, such as best i32 plus inclusive "
                "1024 cold stream with 4"
            ),
        ),
        (about(git_dirty="true"), "context.git_dirty", "uncommitted changes"),
        (about(git_commit="unknown"), "context.git_commit", "is 'missing', not a commit"),
        (about(driver=""), "context.driver", "is missing"),
        (about(seed=""), "context.seed", "is missing"),
        (about(date="yesterday"), "context.date", "expected a date of ISO 8601"),
        (about(assertions="on"), "context.assertions", "makes code slower"),
    ],
)
def test_what_is_not_sound_is_refused_with_file_and_place(
    tmp_path: Path,
    recorded: Path,
    capsys: pytest.CaptureFixture[str],
    change: Callable[[Document], None],
    place: str,
    said: str,
) -> None:
    run = write_run(tmp_path / "run", change)
    assert add(run, recorded) == 2
    error = capsys.readouterr().err
    assert (
        f"{run / 'scan.json'}: {place}" in error
        and said in error
        and "nothing was recorded" in error
    )
    assert not list(recorded.iterdir())


def test_a_run_is_recorded_once(
    tmp_path: Path, recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_run(tmp_path / "run")
    assert add(run, recorded) == 0 and add(run, recorded) == 2
    assert "scan.json: is recorded already" in capsys.readouterr().err
    (run / "again.json").write_text((run / "scan.json").read_text())
    (tmp_path / "none").mkdir()
    assert add(run, tmp_path / "none") == 2
    assert "is the same run as again.json" in capsys.readouterr().err


@pytest.mark.parametrize("other", [{"device": "NVIDIA Other"}, {"git_commit": "f" * 40}])
def test_files_of_two_devices_or_commits_are_no_run(
    tmp_path: Path, recorded: Path, capsys: pytest.CaptureFixture[str], other: dict[str, str]
) -> None:
    run = write_run(
        write_run(tmp_path / "run"),
        name="head_to_head.json",
        date="2026-01-02T09:00:00+00:00",
        **other,
    )
    assert add(run, recorded) == 2
    assert (
        "record one run of one device and commit at a time" in capsys.readouterr().err
        and not list(recorded.iterdir())
    )


def test_that_results_are_of_two_commits_is_said_alone(
    tmp_path: Path, recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_run(
        write_run(tmp_path / "run"),
        name="a.json",
        date="2026-01-01T09:00:00+00:00",
        git_commit="f" * 40,
    )
    assert add(run, recorded) == 2
    said = capsys.readouterr().err.splitlines()
    assert (
        len(said) == 2
        and "record one run of one device and commit at a time" in said[0]
        and "nothing was recorded" in said[1]
    )


GPU = "NVIDIA Test(R) GPU 9"


@pytest.mark.parametrize(
    ("commit", "dirty", "said"),
    [
        ("f" * 40, "false", "record one run of one device and commit at a time"),
        (COMMIT, "true", "had uncommitted changes"),
        (COMMIT, "false", ""),
    ],
)
def test_waits_are_of_the_commit_of_the_run(
    tmp_path: Path,
    recorded: Path,
    capsys: pytest.CaptureFixture[str],
    commit: str,
    dirty: str,
    said: str,
) -> None:
    run = write_run(tmp_path / "run")
    rows = [line.split(",") for line in fixtures.PREFIX_WAIT.splitlines()]
    told = [
        ["device", "date", "git_commit", "git_dirty"],
        *[[GPU, "2026-01-02T00:00:00Z", commit, dirty]] * (len(rows) - 1),
    ]
    (run / "prefix_wait.csv").write_text(
        "".join(
            ",".join([*row[:4], *of, *row[4:]]) + "\n" for row, of in zip(rows, told, strict=True)
        )
    )
    assert add(run, recorded) == (2 if said else 0)
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"device": "NVIDIA Other"}, "context.device: is 'NVIDIA Other'"),
        ({"git_commit": "f" * 40}, f"context.git_commit: is '{'f' * 40}'"),
        ({"git_dirty": "true"}, "had uncommitted changes"),
        ({"driver": ""}, "context.driver: is missing"),
        ({}, ""),
    ],
)
def test_what_a_profiler_counted_is_of_the_device_and_the_commit_of_the_run(
    tmp_path: Path,
    recorded: Path,
    capsys: pytest.CaptureFixture[str],
    changes: dict[str, str],
    said: str,
) -> None:
    run = write_run(tmp_path / "run")
    (run / "dram_bytes.csv").write_text(dram_report())
    beside = json.loads(ranges(TILES[1]))
    beside["context"] |= {"device": GPU} | changes
    (run / "dram_bytes.ranges.json").write_text(json.dumps(beside))
    assert add(run, recorded) == (2 if said else 0)
    assert said in capsys.readouterr().err and bool(list(recorded.iterdir())) is not bool(said)


def test_files_of_gpus_are_compared_with_each_other_though_the_first_file_is_of_the_host(
    tmp_path: Path, recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_run(
        write_run(tmp_path / "run", name="cpu.json", kind="host", device="", argv="bench cpu")
    )
    write_run(run, name="tuned.json", kind="tuning", device="NVIDIA Other")
    assert add(run, recorded) == 2
    assert (
        "tuned.json: context.device: is 'NVIDIA Other', and 'NVIDIA Test(R) GPU 9' in scan.json"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (None, "verify.jsonl: is missing"),
        (fixtures.verification(device=GPU).splitlines()[:-1], "did not come to its end"),
        (
            fixtures.verification(device=GPU)
            .replace('"passed": 9, "failed": 0', '"passed": 8, "failed": 1')
            .replace('"passed"', '"failed"', 1)
            .splitlines(),
            "says that 1 verifications failed",
        ),
        (
            fixtures.verification(device=GPU).replace('"passed": 9', '"passed": 10').splitlines(),
            "ended.passed: is 10, and 9 lines say so",
        ),
        (fixtures.verification(device=GPU, backend="simt").splitlines(), "is not of the GPU"),
        (
            fixtures.verification(device=GPU, git_commit="9" * 40).splitlines(),
            f"is of commit {'9' * 40}, not of the results'",
        ),
        (
            fixtures.verification(device=GPU, git_dirty="true").splitlines(),
            f"is of commit {COMMIT}+, not",
        ),
        (
            fixtures.verification(device="Other GPU").splitlines(),
            "is of Other GPU, and the results are of",
        ),
        (
            fixtures.verification(device=GPU).replace("false}", "nothing}").splitlines(),
            "line 11, column",
        ),
        (
            fixtures.verification(device=GPU).replace('"items": 103', '"items": -1').splitlines(),
            "line 5.items: expected int >= 0, got -1",
        ),
    ],
)
def test_the_verification_must_be_there_and_have_passed(
    tmp_path: Path,
    recorded: Path,
    capsys: pytest.CaptureFixture[str],
    lines: list[str] | None,
    said: str,
) -> None:
    run = write_run(tmp_path / "run")
    (run / "verify.jsonl").unlink()
    if lines is not None:
        (run / "verify.jsonl").write_text("\n".join(lines))
    assert add(run, recorded) == 2
    assert said in capsys.readouterr().err and not list(recorded.iterdir())


@pytest.mark.parametrize("name", ["tests.json", "device_scan_tests.json"])
@pytest.mark.parametrize(("failures", "status"), [(0, 0), (1, 2)])
def test_the_tests_that_were_run_must_have_passed(
    tmp_path: Path,
    recorded: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    failures: int,
    status: int,
) -> None:
    run = write_run(tmp_path / "run")
    (run / name).write_text(
        json.dumps({"tests": 30, "failures": failures, "errors": 0, "name": "AllTests"})
    )
    assert add(run, recorded) == status
    assert (f"{name}: says that 1 tests failed" in capsys.readouterr().err) == bool(status)
    assert status or (recorded / "nvidia-test-gpu-9" / "2026-01-02" / f"{name}.gz").exists()


def test_folders_without_results_are_refused(
    tmp_path: Path, recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "notes.txt").write_text("mine")
    for name, said in (
        ("nowhere", "is no folder with results files"),
        ("empty", "is no folder"),
        ("notes", "holds no timings"),
    ):
        assert add(tmp_path / name, recorded) == 2
        assert said in capsys.readouterr().err
    assert add(write_run(tmp_path / "run"), tmp_path / "no such") == 2


# -------------------------------------------------------------------------------------------------
# several GPUs


def write_ranks(folder: Path, gpus: int = 4, best: bool = True) -> Path:
    """A run over several GPUs, as ``tools/record --gpus`` leaves it."""
    ranks_fixtures.write(folder, ranks_fixtures.documents(gpus))
    if best:
        ranks_fixtures.write(
            folder, {"ranks_strong_best": ranks_fixtures.best(context(), repetition, case)}
        )
    (folder / "ranks_verify_4.jsonl").write_text(fixtures.verification(device="Test Device"))
    return folder


@pytest.mark.parametrize(
    ("gpus", "folder"), [(4, "test-device-x4"), (2, "test-device-x2"), (1, "test-device")]
)
def test_a_run_over_several_gpus_is_filed_by_their_number(
    tmp_path: Path, recorded: Path, gpus: int, folder: str
) -> None:
    assert add(write_ranks(tmp_path / "run", gpus), recorded) == 0
    said = json.loads((recorded / folder / "2026-01-02" / "session.json").read_text())
    assert (said["device"], said.get("gpus", 1), said["complete"]) == (
        "Test Device",
        gpus,
        gpus > 1,
    )
    assert {of["kind"] for of in said["files"]} == {"timings", "distributed"}


def test_timelines_are_filed_with_their_session(tmp_path: Path, recorded: Path) -> None:
    run = write_ranks(tmp_path / "run")
    ranks_fixtures.write(run, {"ranks_trace": ranks_fixtures.timeline()})
    assert add(run, recorded) == 0
    folder = recorded / "test-device-x4" / "2026-01-02"
    said = json.loads((folder / "session.json").read_text())
    assert {of["kind"] for of in said["files"]} == {
        "timings",
        "distributed",
        "ranks_trace",
    } and said["complete"]
    assert (folder / "ranks_trace.json.gz").exists()


@pytest.mark.parametrize(
    "lacking",
    [
        "best",
        "one rank",
        "all ranks",
        "equal items per rank",
        "equal items in all",
        "copies on one",
    ],
)
def test_a_session_over_several_gpus_needs_both_kinds_of_scaling_beside_copies_and_best(
    tmp_path: Path, recorded: Path, lacking: str
) -> None:
    run = write_ranks(tmp_path / "run", best=lacking != "best")
    ranks = {"one rank": [2, 3, 4], "all ranks": [1, 2]}.get(lacking, [1, 4])
    for file in run.glob("ranks_*.json"):
        document = json.loads(file.read_text())
        if file.stem == "ranks_strong_best":
            continue
        document["benchmarks"] = [
            of
            for of in document["benchmarks"]
            if of["ranks"] in ranks
            and of["items"]
            in {
                "equal items per rank": (2**20,),
                "equal items in all": (2**20,) if of["ranks"] == 1 else (2**22,),
            }.get(lacking, (of["items"],))
            and not (lacking == "copies on one" and (of["ranks"], of["variant"]) == (1, "copy_all"))
        ]
        if document["benchmarks"]:
            file.write_text(json.dumps(document))
        else:
            file.unlink()
    if lacking == "all ranks":  # three GPUs at least were there, and two were used
        document = ranks_fixtures.document([ranks_fixtures.entry("copy_all", 2**20, 4, 1.0)], 4)
        ranks_fixtures.write(run, {"ranks_copy": document})
    assert add(run, recorded) == 0
    assert (
        json.loads((recorded / "test-device-x4" / "2026-01-02" / "session.json").read_text())[
            "complete"
        ]
        is False
    )


def test_what_is_of_one_gpu_is_not_filed_with_scans_over_several(
    tmp_path: Path, recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_ranks(tmp_path / "run")
    (run / "implicit_sync.json").write_text(json.dumps(stream_fixtures.implicit_sync()))
    assert add(run, recorded) == 2
    assert (
        "implicit_sync.json: is of one GPU, and scans of other files ran over 4: record "
        "these in a folder of their own"
    ) in capsys.readouterr().err


def test_scans_over_several_gpus_must_be_verified_and_repeated(
    tmp_path: Path, recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_ranks(tmp_path / "run")
    (run / "ranks_verify_4.jsonl").unlink()
    assert add(run, recorded) == 2
    assert "verify with scanlab distributed verify --gpus 4 --json" in capsys.readouterr().err
    for file in run.glob("ranks_*.json"):
        document = json.loads(file.read_text())
        document["benchmarks"] = [of for of in document["benchmarks"] if of["round"] < 4]
        file.write_text(json.dumps(document))
    assert (
        add(write_ranks(tmp_path / "whole"), recorded) == 0 and add(run, tmp_path / "recorded") == 2
    )
    assert (
        "cases have fewer than 5 repetitions, such as copy_all copy i32 plus inclusive"
        in (said := capsys.readouterr().err)
        and "distributed bench --benchmark_repetitions=5" in said
    )
