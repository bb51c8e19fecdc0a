"""The Python baselines without a GPU: numpy stands in for a library, and its faults are caught."""

from __future__ import annotations

import itertools
import json
import subprocess
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from baselines.python import __main__ as command
from baselines.python import compaction, libraries, provenance, scans
from baselines.python.protocol import Plan, Shape, runs_per_sample
from baselines.python.session import Bench
from scanlab_report.load import load
from scanlab_report.schema.results import SCHEMA

EXAMPLES = Path(__file__).parents[3] / "tests" / "measure" / "runs_per_sample.json"


class StandIn(libraries.Library):
    """numpy's sum as a library; ``spoil`` may change the sums of the k-th run."""

    id, label, title, slower = "stand_in", "a stand-in", "numpy.cumsum", 1.0

    def __init__(self, spoil: Callable[[np.ndarray, int], Any] = lambda sums, k: sums) -> None:
        self._spoil, self._runs = spoil, 0

    def versions(self) -> dict[str, str]:
        return {}

    def put(self, items: np.ndarray) -> np.ndarray:
        return items

    def prepare(self, items: np.ndarray, axis: int) -> Callable[[], Any]:
        def run() -> Any:
            self._runs += 1
            return self._spoil(np.cumsum(items, axis, dtype=items.dtype), self._runs)

        return run

    def fetch(self, result: Any) -> np.ndarray:
        return result

    def seconds(self, run: Callable[[], Any], runs: int, cache: str, untimed: int) -> float:
        run()
        return self.slower * (1e-5 if cache == "warm" else 2e-5)


def measure(
    path: Path,
    library: libraries.Library,
    repetitions: int | None = 2,
    ends: int | None = None,
    **plan: Any,
) -> Bench:
    plan = {"types": list(scans.TYPES), "items": [100, 4096]} | plan
    bench = Bench(Plan(**plan, repetitions=repetitions), [library], lambda _: None)
    about = {"stand_in": StandIn().about()}
    context = {"schema": SCHEMA, "kind": "cuda", "device": "stand-in", "variants": about}
    status = command.measure(bench, context, path)
    lacks_memory = command.LACKS_MEMORY if bench.out_of_memory else command.DONE
    assert status == (ends or (command.FAILED if bench.failed else lacks_memory))
    return bench


def test_the_analysis_reads_the_results(tmp_path: Path) -> None:
    bench = measure(tmp_path / "python.json", StandIn())
    data = load([tmp_path])
    assert not data.problems and not len(data["skipped"])
    sizes = 7 * 2 * 2 * 2  # types, sizes, caches, repetitions
    assert len(data["scan"]) == len(bench.entries) == sizes
    assert set(data["scan"]["variant"]) == {"stand_in"}
    assert set(data["scan"]["ns"]) == {1e4, 2e4}
    entries = json.loads((tmp_path / "python.json").read_text())["benchmarks"]
    assert entries[0]["bytes"] == 200 and entries[0]["verified"] is True
    warm = next(entry for entry in bench.entries if "cache:warm" in entry["name"])
    assert warm["iterations"] == 500  # 5 ms of 10 us


class SelectStandIn(StandIn):
    """numpy's selection."""

    id, primitive = "stand_in_select", "select"

    def prepare(self, data: Any, axis: int) -> Callable[[], Any]:
        items, flags = data
        return lambda: self._spoil(items[flags], 0)


class RunsStandIn(StandIn):
    """A loop over runs."""

    id, primitive = "stand_in_runs", "run_length_encode"

    def prepare(self, keys: Any, axis: int) -> Callable[[], Any]:
        groups = [(key, len(list(own))) for key, own in itertools.groupby(keys.tolist())]
        return lambda: self._spoil(np.array(groups).T.reshape(-1), 0)


class UniqueStandIn(StandIn):
    """The same loop, for the keys."""

    id, primitive = "stand_in_unique", "unique"

    def prepare(self, keys: Any, axis: int) -> Callable[[], Any]:
        return lambda: self._spoil(np.array([key for key, _ in itertools.groupby(keys)]), 0)


@pytest.mark.parametrize("wrong", [False, True])
def test_selections_and_runs_are_verified_and_read(tmp_path: Path, wrong: bool) -> None:
    spoil = (lambda out, k: add_to(out.copy(), -1)) if wrong else (lambda out, k: out)
    own = [SelectStandIn(spoil), RunsStandIn(spoil), UniqueStandIn(spoil)]
    shapes = [compaction.Selection(5120, 64), compaction.Runs(5000, 8), compaction.Runs(5000, 1)]
    shapes += [compaction.Unique(5000, 8)]
    bench = compaction.Compaction(Plan(["i32"], [5000], 2, shapes=shapes), own, lambda _: None)
    variants = {library.id: library.about() for library in own}
    context = {"schema": SCHEMA, "kind": "cuda", "device": "stand-in", "variants": variants}
    status = command.measure(bench, context, tmp_path / "python_select.json")
    data = load([tmp_path])
    assert not data.problems
    if wrong:
        assert status == command.FAILED and bench.failed == len(bench.entries) == 4 * 2
        assert not len(data["select"]) and not len(data["runs"])
    else:
        assert len(data["select"]) == 2 * 2 and set(data["select"]["kept"]) == {64}
        assert len(data["runs"]) == 3 * 2 * 2 and set(data["runs"]["segment"]) == {1, 8}


def add_to(sums: np.ndarray, place: int) -> np.ndarray:
    sums[place] += 1
    return sums


@pytest.mark.parametrize(
    "spoil",
    [
        lambda sums, k: add_to(sums, -1),
        lambda sums, k: sums * np.nan if sums.dtype.kind == "f" else sums + 1,
        lambda sums, k: sums.astype("i8" if sums.dtype != "i8" else "i4"),
    ],
)
def test_a_wrong_sum_is_never_timed(tmp_path: Path, spoil: Callable[..., Any]) -> None:
    bench = measure(tmp_path / "python.json", StandIn(spoil))
    assert bench.failed == len(load([tmp_path])["skipped"]) == 7 * 2 * 2


def test_a_sum_that_goes_wrong_later_loses_its_times(tmp_path: Path) -> None:
    # One run verifies, four calibrate and four are timed: the tenth verifies again.
    library = StandIn(lambda sums, k: add_to(sums, 5) if k >= 10 else sums)
    bench = measure(tmp_path / "python.json", library, types=["i32"], items=[64])
    assert all("after its last timed run" in entry["error_message"] for entry in bench.entries)


@pytest.mark.parametrize(
    ("error", "lacks"),
    [(RuntimeError("CUDA out of memory. Tried to"), 7 * 2), (libraries.Refused("no such type"), 0)],
)
def test_an_exception_ends_its_case_alone(tmp_path: Path, error: Exception, lacks: int) -> None:
    def spoil(sums: np.ndarray, k: int) -> np.ndarray:
        if sums.size == 4096:
            raise error
        return sums

    bench = measure(tmp_path / "python.json", StandIn(spoil), repetitions=1)
    assert (bench.failed, bench.out_of_memory) == (0, lacks)
    assert len(load([tmp_path])["scan"]) == len(load([tmp_path])["skipped"]) == 7 * 2


SHAPES = "300x7,5x6x4,1x100x3"


def test_an_axis_of_a_tensor_has_entries_as_in_the_harness(tmp_path: Path) -> None:
    shapes = command.parse_shapes(SHAPES)
    bench = measure(tmp_path / "python.json", StandIn(), types=["f32", "i32"], shapes=shapes)
    assert not bench.failed and len(bench.entries) == 2 * 3 * 2 * 2
    sizes = itemgetter("kind", "rows", "items", "inner", "bytes")
    assert {sizes(entry) for entry in bench.entries} == {
        ("scan_axis", 300, 7, 1, 2 * 2100 * 4),
        ("scan_axis", 5, 6, 4, 2 * 120 * 4),
        ("scan_axis", 1, 100, 3, 2 * 300 * 4),
    }
    names = {entry["name"].partition("/items:")[2] for entry in bench.entries}
    warm = {"7/rows:300", "6/rows:5/inner:4", "100/inner:3"}
    assert names == {f"{n}/cache:{c}/launch:stream" for n in warm for c in ("cold", "warm")}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda sums, k: add_to(sums, (-1,) * sums.ndim),
        lambda sums, k: sums * np.nan,
        lambda sums, k: np.cumsum(sums, dtype=sums.dtype).reshape(sums.shape),
        lambda sums, k: sums.reshape(-1),
    ],
)
def test_a_wrong_sum_along_an_axis_is_never_timed(
    tmp_path: Path, spoil: Callable[..., Any]
) -> None:
    shapes = command.parse_shapes(SHAPES)
    bench = measure(tmp_path / "python.json", StandIn(spoil), types=["f32"], shapes=shapes)
    assert bench.failed == len(bench.entries) == 3 * 2


@pytest.mark.parametrize("shape", [(4, 70000), (1, 256, 8), (2, 8, 8)])
def test_triton_takes_short_rows_and_cuda_compute_none(shape: tuple[int, ...]) -> None:
    tensor = Shape(*shape)
    items, kernels = np.zeros(tensor.extents), SimpleNamespace(ITEMS_PER_ROW=65536)
    for library in (libraries.TritonScan, libraries.CudaCompute):
        mine = SimpleNamespace(_kernels=kernels)
        with pytest.raises(libraries.Refused):
            library.prepare(mine, items, tensor.dim)  # type: ignore[arg-type]


def test_slow_cases_have_few_runs_and_long_ones_none(tmp_path: Path) -> None:
    runs: dict[float, int] = {}
    for slower in (2e5, 6e5):  # cold runs of 4 s and of 12 s
        library = StandIn()
        library.slower, library.caches = slower, ("cold",)
        bench = measure(tmp_path / "a.json", library, None, types=["i32"], items=[64])
        runs[slower] = library._runs
    assert runs == {2e5: 1 + 1 + 7 + 1, 6e5: 1 + 1}, "the first verifies, the second calibrates"
    assert [entry["outcome"] for entry in bench.entries] == ["skipped"]
    assert bench.entries[0]["error_message"] == "a run takes 12.0 s, above 5 s"


def test_ctrl_c_keeps_the_sizes_before(tmp_path: Path) -> None:
    def press(sums: np.ndarray, k: int) -> np.ndarray:
        if sums.size == 4096:
            raise KeyboardInterrupt
        return sums

    measure(tmp_path / "python.json", StandIn(press), types=["i32"], ends=command.INTERRUPTED)
    assert set(load([tmp_path])["scan"]["items"]) == {100}


def test_sizes() -> None:
    assert command.parse_items("2^10:2^14:x4") == [2**10, 2**12, 2**14]
    assert command.parse_items("2^3") == [8]
    for wrong in ("", "0", "2^41", "2^1:2^2", "2^1:2^3:x1", "a"):
        with pytest.raises(command.argparse.ArgumentTypeError):
            command.parse_items(wrong)


def test_shapes(tmp_path: Path) -> None:
    shapes = command.parse_shapes("8x32,1x8x32,1x9x1")
    assert shapes == [Shape(8, 32, 1), Shape(1, 8, 32), Shape(1, 9, 1)]
    assert [shape.extents for shape in shapes] == [(8, 32), (8, 32), (9,)]
    assert [shape.dim for shape in shapes] == [1, 0, 0]
    for wrong in ("", "8", "8x", "0x8", "8x8,", "8x8x8x8", "2^3x8", "1048577x1048576"):
        with pytest.raises(command.argparse.ArgumentTypeError):
            command.parse_shapes(wrong)
    with pytest.raises(SystemExit, match="2"):
        command.main(["--out", str(tmp_path / "a"), "--shapes", "8x8", "--items", "2^3"])


def test_results_are_kept_without_force(tmp_path: Path) -> None:
    out = tmp_path / "python.json"
    out.write_text("kept")
    assert command.main(["--out", str(out)]) == command.BAD_INPUT
    assert out.read_text() == "kept"


@pytest.mark.parametrize(
    ("changed", "dirty"),
    [("results/a.json", "false"), ("new_local.py", "true"), ("scans.py", "true")],
)
def test_results_name_a_commit_only_with_its_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str, dirty: str
) -> None:
    folder = tmp_path / "baselines/python"
    (folder / "results").mkdir(parents=True)
    (folder / "scans.py").write_text("")
    (folder / ".gitignore").write_text("*_local.py\n")
    name = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "all", "--no-gpg-sign"]):
        subprocess.run(["git", *name, *words], cwd=tmp_path, check=True)
    (folder / changed).write_text("x = 1\n")
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    monkeypatch.delenv("SCANLAB_COMMIT", raising=False)
    assert provenance.context(Plan([], []), "baselines.python")["git_dirty"] == dirty


@pytest.mark.parametrize("example", json.loads(EXAMPLES.read_text()), ids=itemgetter("why"))
def test_a_sample_has_as_many_runs_as_in_the_harness(example: dict[str, Any]) -> None:
    assert runs_per_sample(example["seconds"], example["cache"]) == example["runs"]


def test_samples_are_interleaved_and_few_if_a_run_is_long() -> None:
    plan = Plan([], [])
    assert (plan.repetitions_of(1e-3), plan.repetitions_of(2.0)) == (11, 7)
    cases = [SimpleNamespace(id="a", repetitions=11), SimpleNamespace(id="b", repetitions=7)]
    order = [case.id for case in plan.interleave(cases)]
    assert sorted(order) == ["a"] * 11 + ["b"] * 7 and order != sorted(order)
    assert order == [case.id for case in plan.interleave(cases)]
