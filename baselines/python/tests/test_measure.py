"""The Python baselines without a GPU: numpy stands in for a library, and its faults must be caught."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baselines.python import __main__ as command
from baselines.python import libraries, provenance, ranks, scans
from baselines.python.session import Bench, Plan, is_last, runs_per_sample
from scanlab_report.read import results
from scanlab_report.read.documents.results import SCHEMA


class StandIn(libraries.Library):
    """numpy's sum as a library; ``spoil`` may change what it has summed, the k-th time that it does."""

    id, label = "stand_in", "a stand-in"

    def __init__(self, spoil: Callable[[np.ndarray, int], Any] = lambda sums, k: sums) -> None:
        self._spoil = spoil
        self._runs = 0

    def versions(self) -> dict[str, str]:
        return {"numpy": np.__version__}

    def put(self, items: np.ndarray) -> np.ndarray:
        return items

    def prepare(self, items: np.ndarray) -> Callable[[], Any]:
        def run() -> Any:
            self._runs += 1
            return self._spoil(np.cumsum(items, dtype=items.dtype), self._runs)

        return run

    def fetch(self, result: Any) -> np.ndarray:
        return result

    def seconds(self, run: Callable[[], Any], runs: int, cache: str) -> float:
        run()
        return 1e-5 if cache == "warm" else 2e-5


def measured(path: Path, library: libraries.Library, items: tuple[int, ...] = (100, 4096), rounds: int = 2) -> Bench:
    session = Bench(Plan(list(scans.TYPES), list(items), rounds, seed=1), [library], lambda _: None)
    command.measure(session, {"schema": SCHEMA, "kind": "cuda", "device": "stand-in", "variants": {"stand_in": StandIn().about()}}, path)
    return session


def test_the_analysis_reads_what_is_written(tmp_path: Path) -> None:
    session = measured(tmp_path / "python.json", StandIn())
    read = results.read([tmp_path], [])
    assert not read.problems and not len(read.skipped)
    assert len(read.timings) == len(session.entries) == 7 * 2 * 2 * 2  # types, sizes, caches, rounds
    assert set(read.timings["variant"]) == {"stand_in"}
    assert set(read.timings["time_ns"]) == {1e4, 2e4}
    entry = json.loads((tmp_path / "python.json").read_text())["benchmarks"][0]
    assert entry["name"] == "scan/variant:stand_in/type:i8/op:plus/mode:inclusive/items:100/cache:cold/launch:stream"
    assert entry["bytes"] == 200 and entry["verified"] is True
    assert next(e for e in session.entries if "cache:warm" in e["name"])["iterations"] == 500  # 5 ms of 10 us


def one_off(sums: np.ndarray, place: int) -> np.ndarray:
    sums[place] += 1
    return sums


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda sums, k: one_off(sums, -1), "1 items are wrong, the first is"),
        (lambda sums, k: one_off(sums, 0), "1 items are wrong, the first is 0"),
        (lambda sums, k: np.full_like(sums, np.nan) if sums.dtype.kind == "f" else sums + 1, "items are wrong"),
        (lambda sums, k: sums.astype(np.int64 if sums.dtype != np.int64 else np.int32), "not "),
        (lambda sums, k: sums[:-1], "not "),
        (lambda sums, k: np.concatenate([[0], sums[:-1]]).astype(sums.dtype), "items are wrong"),  # exclusive
    ],
)
def test_a_wrong_sum_is_never_timed(tmp_path: Path, spoil: Callable[..., Any], says: str) -> None:
    path = tmp_path / "python.json"
    session = measured(path, StandIn(spoil))
    assert session.failed == 7 * 2 * 2
    assert all(entry["error_occurred"] and says in entry["error_message"] for entry in session.entries)
    assert len(results.read([path], []).skipped) == 7 * 2 * 2


def test_a_sum_that_goes_wrong_later_loses_its_times(tmp_path: Path) -> None:
    # Once to verify, twice to calibrate and four times to time: the eighth is the second look.
    library = StandIn(lambda sums, k: one_off(sums, 5) if k >= 8 else sums)
    session = Bench(Plan(["i32"], [64], 2, seed=1), [library], lambda _: None)
    status = command.measure(session, {"schema": SCHEMA, "variants": {}}, tmp_path / "python.json")
    assert status == command.FAILED
    assert ["after its last timed run" in entry["error_message"] for entry in session.entries] == [True, True]


def test_what_a_library_raises_ends_its_case_alone(tmp_path: Path) -> None:
    def raises(sums: np.ndarray, k: int) -> np.ndarray:
        if sums.size == 4096:
            raise RuntimeError("CUDA out of memory. Tried to allocate 1 GiB.")
        return sums

    session = measured(tmp_path / "python.json", StandIn(raises), rounds=1)
    assert (session.failed, session.out_of_memory) == (0, 7 * 2)
    assert len(results.read([tmp_path / "python.json"], []).timings) == 7 * 2


@pytest.mark.parametrize("type_name", scans.TYPES)
def test_sums_are_exact_in_any_grouping(type_name: str) -> None:
    items = scans.make_items(type_name, 100_000, seed=3)
    expected = scans.reference(items)
    assert expected.dtype == items.dtype == scans.TYPES[type_name]
    halves = np.concatenate([np.cumsum(items[:60_000], dtype=items.dtype),
                             np.cumsum(items[60_000:], dtype=items.dtype) + expected[59_999]])  # fmt: skip
    assert scans.fault(halves.astype(items.dtype), expected) == ""
    assert len(np.unique(expected)) > 50  # a sum that stood still would prove nothing
    assert np.array_equal(scans.reference(items[:777]), expected[:777])


def test_integers_wrap() -> None:
    assert scans.reference(np.array([127, 1, 1], np.int8)).tolist() == [127, -128, -127]


def test_sizes() -> None:
    assert command.parse_items("2^10:2^14:x4") == [2**10, 2**12, 2**14]
    assert command.parse_items("7,2^3") == [7, 8]
    for wrong in ("", "0", "2^41", "-1", "1:2", "1:8:x1", "1:8:+1", "a"):
        with pytest.raises(command.argparse.ArgumentTypeError):
            command.parse_items(wrong)


def test_what_is_missing_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    class Absent(StandIn):
        id = "torch_cumsum"

        def __init__(self) -> None:
            raise ImportError("No module named 'torch'")

    monkeypatch.setattr(libraries, "KNOWN", (Absent,))
    out = tmp_path / "python.json"
    assert command.main(["--out", str(out)]) == command.NO_DEVICE
    assert "left out torch_cumsum: No module named 'torch'" in capsys.readouterr().out
    assert not out.exists()
    out.write_text("kept")
    assert command.main(["--out", str(out)]) == command.BAD_INPUT
    assert out.read_text() == "kept"


@pytest.mark.parametrize(("planted", "dirty"), [
    (None, "false"), ("results/a.json", "false"), ("baselines/python/new.py", "true"), ("baselines/python/my_local.py", "true"),
    ("baselines/python/scans.py", "true"),
])  # fmt: skip
def test_results_are_a_commits_only_without_modules_that_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, planted: str | None, dirty: str
) -> None:
    def git(*words: str) -> str:
        about = ("-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false")
        return subprocess.run(("git", *about, *words), cwd=tmp_path, check=True, capture_output=True, text=True).stdout.strip()

    (tmp_path / "baselines/python").mkdir(parents=True)
    (tmp_path / "baselines/python/scans.py").write_text("")
    (tmp_path / ".gitignore").write_text("*_local.py\n")
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "all")
    if planted:
        (tmp_path / planted).parent.mkdir(exist_ok=True)
        (tmp_path / planted).write_text("x = 1\n")
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    monkeypatch.delenv("SCANLAB_COMMIT", raising=False)
    about = provenance.context(seed=1, rounds=1, width=0.01, cap_seconds=1)
    assert (about["git_commit"], about["git_dirty"]) == (git("rev-parse", "HEAD"), dirty)


def test_a_sample_has_as_many_runs_as_of_the_harness() -> None:
    examples = Path(__file__).parents[3] / "tests/measure/runs_per_sample.json"
    for example in json.loads(examples.read_text(encoding="utf-8")):
        cap = example["rounds"], example["cap_seconds"]
        runs = ranks.runs_per_sample(example["seconds_per_run"], *cap) if example["of"] == "ranks" else runs_per_sample(example["seconds_per_run"], example["of"], *cap)
        assert runs == example["runs"], example["why"]


def test_a_case_gets_as_many_samples_as_of_the_harness() -> None:
    rule = Path(__file__).parents[3] / "tests/measure/stopping_rule.json"
    for example in json.loads(rule.read_text(encoding="utf-8")):
        times: list[float] = []
        for nanoseconds, spent in zip(example["nanoseconds"], range(len(example["nanoseconds"])), strict=True):
            times.append(nanoseconds)
            if is_last(times, example["rounds"], example["width"], example["cap_seconds"], spent * example["seconds_per_sample"], example["seconds_per_sample"]):
                break
        assert len(times) == example["samples"], example["why"]
