"""What stands on the axes of the figures of scans over several GPUs, of a few times chosen by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from scanlab_report.commands.__main__ import main
from scanlab_report.figures import ranks_chunk, ranks_scaling, ranks_time
from scanlab_report.layout import style
from scanlab_report.layout.ranks import COPIES, IDEAL, THREE_N, look, ordered
from scanlab_report.read import results
from scanlab_report.select.ranks_evidence import RanksEvidence, SeveralGpus
from tests import fixtures, tiny
from tests.ranks_fixtures import document, entry, write
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
    write(tmp_path, {"1": of_ranks(1, N, 1.0, 1.0, 1.0), "c": of_ranks(1, 4 * N, 1.0, 1.0, 1.0), "a": of_ranks(4, N, 9.0, 6.0, 4.0), "b": of_ranks(4, 4 * N, 30.0, 20.0, 9.0)})
    (axes,) = styled(ranks_time.draw, found(tmp_path)).axes
    assert tiny.points(axes, PEER) == [near((N, 9)), near((4 * N, 30))]
    assert tiny.points(axes, COPIES) == [near((N, 6)), near((4 * N, 20))]
    assert tiny.points(axes, THREE_N) == [near((N, 10)), near((4 * N, 29))]
    assert [y for _, y in tiny.points(axes, FLOOR)] == near([11, 11])
    assert axes.get_title("left") == "4 GPUs"


def test_throughput_stands_over_tiles_per_chunk_beside_a_copy(tmp_path: Path) -> None:
    def chunked(chunk: int, microseconds: float) -> dict[str, Any]:
        return document([entry("peer_look_ahead", 4 * N, 4, microseconds, chunk=chunk), entry("copy_all", 4 * N, 4, 8.0)], 4)

    write(tmp_path, {"a": chunked(8, 12.0), "b": chunked(32, 10.0)})
    (axes,) = styled(ranks_chunk.draw, found(tmp_path)).axes
    rate = 8 * 4 * N / 1e6
    assert tiny.points(axes, PEER) == [near((8, rate / 12)), near((32, rate / 10))]
    assert [y for _, y in tiny.points(axes, COPIES)] == near([rate / 8] * 2)
    assert axes.get_title("left") == "$2^{20}$ items per GPU"


def test_each_is_left_out_with_its_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, {"a": of_ranks(4, N, 9.0, 6.0, 4.0)})
    for name, said in (("scaling", "with 1 rank and with more"), ("time", "of several sizes"), ("chunk", "with several chunk sizes")):
        assert main(["figure", f"ranks_{name}", str(tmp_path), "--out", str(tmp_path / "f.png")]) != 0
        assert f"no times of scans over several ranks {said}. To measure it: tools/record build/cuda/scanlab results/x4 --gpus 4 ranks_" in capsys.readouterr().err


def test_looks_differ_and_their_order_is_that_of_the_legend() -> None:
    names = ["nccl_cub", "peer_look_ahead", "another", "reduce_exchange_scan"]
    assert ordered(names) == ["peer_look_ahead", "reduce_exchange_scan", "nccl_cub", "another"]
    assert len({json.dumps(look(of).plot()) for of in (*names, "blocked_peer", "scan_exchange_add", "mpi_exscan", "torch_distributed", "copy_all")}) == 9
