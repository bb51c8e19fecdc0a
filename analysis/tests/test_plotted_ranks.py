"""What stands on the axes of the figures of scans over several GPUs, of a few times chosen by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from scanlab_report.commands.__main__ import main
from scanlab_report.figures import ranks_chunk, ranks_fold, ranks_scaling, ranks_time, ranks_timeline
from scanlab_report.layout import style
from scanlab_report.layout.ranks import COPIES, IDEAL, THREE_N, look, ordered, told_look
from scanlab_report.read import results
from scanlab_report.select.ranks_evidence import RanksEvidence, RanksTimelines, SeveralGpus
from tests import fixtures, ranks_fixtures, tiny
from tests.ranks_fixtures import activity, document, entry, traced, traces, write
from tests.tiny import near

N = 2**20
PEER, FLOOR = look("peer_look_ahead"), look("nccl_all_gather")


def found(folder: Path) -> RanksEvidence:
    evidence = SeveralGpus().find(results.read([folder], []), {})
    assert evidence is not None
    return evidence


def styled(draw, *evidence: Any) -> Figure:
    with style.sheet():
        return draw(*evidence)


def of_ranks(ranks: int, per_rank: int, peer: float, copy: float, read: float, **more: float) -> dict[str, Any]:
    times = {"peer_look_ahead": peer, "copy_all": copy, "read_all": read, "nccl_all_gather": 11.0} | more
    return document([entry(name, per_rank * ranks, ranks, time) for name, time in times.items()], ranks)


@pytest.fixture
def scaled(tmp_path: Path) -> RanksEvidence:
    """On one GPU 2^20 items in 8 µs; on two 2^20 each in 10 µs, and 2^19 each in 6 µs; best takes 9 µs of 2^20."""
    best = {"context": fixtures.context(), "benchmarks": [fixtures.repetition(fixtures.case("best", N, "warm"), i, 9e3) for i in range(6)]}
    write(tmp_path, {"best": best, "1": of_ranks(1, N, 8.0, 4.0, 2.0), "2": of_ranks(2, N, 10.0, 5.0, 2.5), "3": of_ranks(2, N // 2, 6.0, 3.0, 1.5)})
    return found(tmp_path)


def test_scaling_stands_at_its_throughput_and_its_speedup_over_best(scaled: RanksEvidence) -> None:
    left, right = styled(ranks_scaling.draw, scaled).axes
    rate = 8 * N / 1e6  # TB/s of so many µs: bytes / µs / 10^6
    assert tiny.points(left, PEER) == [near((1, rate / 8)), near((2, 2 * rate / 10))]
    assert tiny.points(left, COPIES) == [near((1, rate / 4)), near((2, 2 * rate / 5))]
    assert tiny.points(left, THREE_N) == [near((1, rate / 6)), near((2, 2 * rate / 7.5))]
    assert tiny.points(right, PEER) == [near((1, 9 / 8)), near((2, 9 / 6))]
    assert tiny.points(right, COPIES) == [near((1, 9 / 4)), near((2, 3))] and tiny.points(right, THREE_N) == [near((1, 9 / 6)), near((2, 2))]
    assert tiny.points(right, IDEAL) == [(1, 1), (2, 2)]
    assert [axes.get_title("left") for axes in (left, right)] == ["$2^{20}$ items per GPU", "$2^{20}$ items in all"]


def test_without_best_on_one_gpu_weak_scaling_stands_alone(scaled: RanksEvidence) -> None:
    (left,) = styled(ranks_scaling.draw, RanksEvidence(scaled.cases, scaled.best.iloc[:0], tiny.NOWHERE)).axes
    assert len(tiny.points(left, PEER)) == 2


def test_time_stands_over_items_per_gpu_of_the_most_gpus_with_floors_across(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "1": of_ranks(1, N, 1.0, 1.0, 1.0),
            "c": of_ranks(1, 4 * N, 1.0, 1.0, 1.0),
            "a": of_ranks(4, N, 9.0, 6.0, 4.0),
            "b": of_ranks(4, 4 * N, 30.0, 20.0, 9.0),
        },
    )
    (axes,) = styled(ranks_time.draw, found(tmp_path)).axes
    assert tiny.points(axes, PEER) == [near((N, 9)), near((4 * N, 30))]
    assert tiny.points(axes, COPIES) == [near((N, 6)), near((4 * N, 20))]
    assert tiny.points(axes, THREE_N) == [near((N, 10)), near((4 * N, 29))]
    assert [y for _, y in tiny.points(axes, FLOOR)] == near([11, 11])
    assert axes.get_title("left") == "4 GPUs"


def test_throughput_stands_over_tiles_per_chunk_beside_a_copy(tmp_path: Path) -> None:
    def chunked(chunk: int, microseconds: float, tells: str = "chunk") -> dict[str, Any]:
        return document([entry("peer_look_ahead", 4 * N, 4, microseconds, chunk=chunk, more={"tells": tells}), entry("copy_all", 4 * N, 4, 8.0)], 4)

    write(tmp_path, {"a": chunked(8, 12.0), "b": chunked(32, 10.0), "c": chunked(8, 9.0, "tile"), "d": chunked(32, 9.5, "tile")})
    (axes,) = styled(ranks_chunk.draw, found(tmp_path)).axes
    rate = 8 * 4 * N / 1e6
    assert tiny.points(axes, PEER) == [near((8, rate / 12)), near((32, rate / 10))]
    assert tiny.points(axes, told_look("peer_look_ahead", "tile")) == [near((8, rate / 9)), near((32, rate / 9.5))]
    assert [y for _, y in tiny.points(axes, COPIES)] == near([rate / 8] * 2)
    assert axes.get_title("left") == "$2^{20}$ items per GPU, 4 GPUs"


def test_the_share_of_copies_stands_over_the_gpus_whose_aggregates_are_folded(tmp_path: Path) -> None:
    write(tmp_path, {f"{tells}_{states}": ranks_fixtures.fold_run(states, tells, 2) for tells in ("chunk", "tile") for states in (1, 4)})
    (axes,) = styled(ranks_fold.draw, found(tmp_path)).axes
    assert tiny.points(axes, PEER) == [near((2, 1 / 1.01)), near((8, 1 / 1.04))]
    assert tiny.points(axes, told_look("peer_look_ahead", "tile")) == [near((2, 1 / 1.1)), near((8, 1 / 1.4))]
    assert axes.get_title("left") == "$2^{28}$ items per GPU, 2 GPUs"


def bars(axes: Axes) -> list[tuple[int, float, float]]:
    """Of each bar: the GPU, its start and its end."""
    boxes = [path.get_extents() for of in axes.collections for path in of.get_paths()]
    return sorted((round((box.y0 + box.y1) / 2), round(float(box.x0), 6), round(float(box.x1), 6)) for box in boxes)


def test_a_timeline_has_a_row_per_gpu_and_a_bar_per_activity_of_the_run_of_median_length(tmp_path: Path) -> None:
    runs = [activity(run, rank, name, start, end + 1000 * late) for run, late in ((0, 9), (1, 2), (2, 0)) for rank, name, start, end in
            ((0, "reduce", 0, 3000), (1, "reduce", 500, 4000), (0, "ncclDevKernel_AllGather", 4000, 5000), (1, "scan", 6000, 8000))]  # fmt: skip
    another = [activity(0, 0, "peer", 0, 2000), activity(0, 1, "", 250, 20_000, "copy")]
    write(tmp_path, {"trace": traces([traced("reduce_exchange_scan", 2 * N, runs, 2), traced("peer_look_ahead", 2 * N, another, 2)], 2)})
    timeline = RanksTimelines().find(results.read([tmp_path], []), {})
    assert timeline is not None and timeline.provenance.repetitions == (1, 3)
    upper, lower = styled(ranks_timeline.draw, timeline).axes
    assert bars(upper) == [(0, 0, 2), (1, 0.25, 20)] and bars(lower) == [(0, 0, 5), (0, 4, 7), (1, 0.5, 6), (1, 6, 10)]
    colours = {tuple(of.get_facecolor()[0]) for axes in (upper, lower) for of in axes.collections}
    assert colours == {to_rgba(ranks_timeline.COLOURS[of]) for of in ("kernels", "NCCL kernels", "copies")}
    assert [of.get_title("left") for of in (upper, lower)] == [
        f"{name}, $2^{{20}}$ items per GPU: {took} µs" for name, took in (("peer_look_ahead", "20.0"), ("reduce_exchange_scan", "10.0"))
    ]
    assert [of.get_text() for of in lower.get_yticklabels()] == ["GPU 0", "GPU 1"] and lower.get_xlabel() == "time, µs"
    assert upper.get_xlim() == lower.get_xlim() == near((0, 1.02 * 20))


def test_a_timeline_has_the_least_and_the_largest_size_and_says_what_was_not_traced(tmp_path: Path) -> None:
    cases = [traced("nccl_cub", 2 * size, [activity(0, rank, "scan", 0, 1000) for rank in range(2)], 2) for size in (N, 4 * N, 16 * N)]
    cases.append(traced("copy_all", 2 * N, [activity(0, rank, "", 0, 1, "copy") for rank in range(2)], 2))
    write(tmp_path, {"trace": traces(cases, 2)})
    timeline = RanksTimelines().find(results.read([tmp_path], []), {})
    axes = styled(ranks_timeline.draw, timeline).axes
    assert [of.get_title("left").replace(" items per GPU", "") for of in axes] == [
        "nccl_cub, $2^{20}$: 1.0 µs", "nccl_cub, $2^{24}$: 1.0 µs", "copy_all, $2^{20}$: 0.0 µs", "copy_all, $2^{24}$: not traced"]  # fmt: skip
    (_, start, end), _ = bars(axes[2])
    assert start == 0 and end == pytest.approx(1.02 * ranks_timeline.LEAST), "too short to be seen otherwise"


def test_each_is_left_out_with_its_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, {"a": of_ranks(4, N, 9.0, 6.0, 4.0)})
    for name, said in (
        ("scaling", "with 1 rank and with more"),
        ("time", "of several sizes"),
        ("chunk", "with several chunk sizes"),
        ("fold", "with several states per aggregate"),
    ):
        assert main(["figure", f"ranks_{name}", str(tmp_path), "--out", str(tmp_path / "f.png")]) != 0
        assert (
            f"no times of scans over several ranks {said}. To measure it: tools/record build/cuda/scanlab results/x4 --gpus 4 ranks_" in capsys.readouterr().err
        )
    assert main(["figure", "ranks_timeline", str(tmp_path), "--out", str(tmp_path / "f.png")]) != 0
    assert "no timelines of scans over several GPUs. To measure it: tools/record build/cuda/scanlab results/x4 --gpus 4 ranks_trace" in capsys.readouterr().err


def test_looks_differ_and_their_order_is_that_of_the_legend() -> None:
    names = ["nccl_cub", "peer_look_ahead", "another", "reduce_exchange_scan"]
    assert ordered(names) == ["peer_look_ahead", "reduce_exchange_scan", "nccl_cub", "another"]
    assert len({json.dumps(look(of).plot()) for of in (*names, "blocked_peer", "scan_exchange_add", "mpi_exscan", "torch_distributed", "copy_all")}) == 9
