"""Scans over several GPUs: what is computed and drawn of times chosen by hand."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from scanlab_report.chapters import ranks
from scanlab_report.chapters.ranks import look, several
from scanlab_report.choosing import choose_session
from scanlab_report.data import Data
from scanlab_report.data import Session as Recorded
from scanlab_report.pick import pick
from scanlab_report.sources import sources
from scanlab_report.tables import RECORDED
from tests import tiny
from tests.tiny import LEAST, MOST, SPREAD, Case, case, near, with_rows

N = 1 << 20
PEER, COPIES = look("peer_look_ahead"), look("copy_all")
THREE_N = ranks.BOUND_LOOKS["three_n"][1]
KINDS = {"copy_all": "copy", "read_all": "empty_launch", "nccl_all_gather": "empty_launch"}
RATE = 8 * N / 1e6
"""Bytes of 2^20 items over microseconds, in TB/s."""
Rows = list[dict[str, Any]]


def entry(algorithm: str, items: int, count: int, us: float, settings: str = "", **named) -> Rows:
    """The samples of a case on so many ranks."""
    usual = dict(algorithm=algorithm, settings=settings, type="i32", op="plus", mode="inclusive")
    usual |= dict(ranks=count, items=items, on="gpus", bytes=8 * items, rows=1, inner=1)
    usual |= dict(kind=KINDS.get(algorithm, "scan"), sm_clock_mhz=np.nan, converged=np.nan)
    return [usual | named | {"round": n, "ns": 1e3 * us * f} for n, f in enumerate(SPREAD)]


def timed(*cases: Rows, data: Data | None = None, date: str = "2026-01-01", **about: Any) -> Data:
    """One more file of such samples."""
    rows = [row for own in cases for row in own]
    about = dict(kind="cuda", device="Test Device", date=date) | about
    return with_rows(data or Data(), "distributed", rows, **about)


def on(count: int, per_rank: int, **us: float) -> list[Rows]:
    """A case per algorithm at so many items per rank."""
    return [entry(name, count * per_rank, count, time) for name, time in us.items()]


def with_best(data: Data, *cases: Case) -> Data:
    """The same beside `best` on one GPU; it comes first, for what was read is in its files."""
    best = tiny.tables(cases)
    best.files += data.files
    rows = data.tables["distributed"]
    best.tables["distributed"] = rows.assign(file=rows["file"] + 1)
    return best


def best(ns: float, items: int = N) -> Case:
    return case("best", items, ns, tiny.EXACT, cache="warm")


def only(rows: Any, **wanted: Any) -> Any:
    (row,) = pick(rows, **wanted).itertuples()
    return row


def test_a_scan_stands_beside_copies_the_vendor_the_bound_and_one_gpu() -> None:
    us = dict(peer_look_ahead=5.0, nccl_cub=10.0, copy_all=4.5, read_all=2.5)
    timed_ = timed(*on(4, N, **us), *on(2, N, peer_look_ahead=4.0), *on(1, N, peer_look_ahead=4.0))
    cold = case("best", 4 * N, 90e3)
    cases = several(with_best(timed_, best(18e3, 4 * N), best(1.0), cold))
    rows = ranks.compared(cases)
    row = only(rows, algorithm="peer_look_ahead", ranks=4)
    assert (row.of_copy.value, row.of_vendor.value) == near((0.9, 2.0))
    assert tiny.ends(row.of_bound) == near((7 / 5, 7 / 5 / MOST, 7 / 5 / LEAST))
    assert row.gb_per_s == near(8 * 4 * N / 5e3) and row.items_per_rank == N
    assert row.efficiency.value == near(0.8)
    assert tiny.ends(row.speedup) == near((3.6, 3.6 / MOST, 3.6 / LEAST))
    two = only(rows, ranks=2)
    assert not two.of_copy.known, "copies of as many ranks count alone"
    assert np.isnan([two.of_bound.value, two.speedup.value]).all()
    assert set(rows["algorithm"]) == {"peer_look_ahead", "nccl_cub"}, "no copy is among scans"


def test_scaling_stands_at_its_throughput_and_its_speedup_over_best() -> None:
    two = on(2, N, peer_look_ahead=10.0, copy_all=5.0, read_all=2.5)
    half = on(2, N // 2, peer_look_ahead=6.0, copy_all=3.0, read_all=1.5)
    data = timed(*on(1, N, peer_look_ahead=8.0, copy_all=4.0, read_all=2.0), *two, *half)
    left, right = tiny.drawn(ranks.ranks_scaling, with_best(data, best(9e3))).axes
    for look_, one, two_, half_ in ((PEER, 8, 10, 6), (COPIES, 4, 5, 3), (THREE_N, 6, 7.5, 4.5)):
        points = tiny.points(left, look_)
        assert points == [near((1, RATE / one)), near((2, 2 * RATE / two_))]
        assert tiny.points(right, look_) == [near((1, 9 / one)), near((2, 9 / half_))]
    assert tiny.points(right, ranks.LINEAR) == [(1, 1), (2, 2)]
    bars = tiny.bars(left, PEER.colour)
    assert bars[0] == near((1, RATE / 8 / MOST, RATE / 8 / LEAST))
    (alone,) = tiny.drawn(ranks.ranks_scaling, data).axes
    assert len(tiny.points(alone, PEER)) == 2, "without best"


def test_scans_along_a_sharded_axis_stand_beside_copies_two_bounds_and_pytorch() -> None:
    us = dict(peer_axis=5.0, torch_recurrence=20.0, copy_all=4.0, read_all=2.0)
    tensor = [entry(name, 2 * N, 2, time, inner=64) for name, time in us.items()]
    content = ranks.sharded_axis(timed(*tensor, *on(2, N, peer_look_ahead=1.0))).content
    peer, torch = (only(content.rows, algorithm=name) for name in ("peer_axis", "torch_recurrence"))
    assert (peer.of_copy, peer.of_bound, peer.of_torch) == near((0.8, 1.2, 4.0))
    assert torch.of_torch == 1 and len(content.rows) == 2, "neither copies nor plain arrays"


def peers(data: Data, count: int = 0) -> list[float]:
    """Microseconds of the scan over the most ranks."""
    rows = pick(several(data, ranks=count), algorithm="peer_look_ahead")
    return (pick(rows, ranks=rows["ranks"].max())["median_ns"] / 1e3).tolist()


def sessions(*recorded: tuple[str, int, float], complete: Sequence[bool] = ()) -> Data:
    """Recorded sessions by day, GPUs and time."""
    data = Data()
    for place, (day, count, us) in enumerate(recorded):
        cases = [*on(count, N, peer_look_ahead=us), *on(1, N, peer_look_ahead=us)]
        data = timed(*cases, data=data, date=day)
        path = Path(day) / "ranks.json"
        data.files[place] = replace(data.files[place], path=path, origin=RECORDED)
        done, files = (complete or (True,) * 9)[place], frozenset([path.resolve()])
        folder = path.parent.resolve()
        data.sessions.append(Recorded(folder, "Test Device", day, done, files, gpus=count))
    return data


def test_each_number_of_gpus_has_a_session_of_its_own_the_newest_complete_one() -> None:
    recorded = (("2026-03-01", 2, 9.0), ("2026-02-01", 4, 3.0), ("2026-02-02", 4, 2.0))
    last = ("2026-02-03", 4, 1.0)
    data = sessions(*recorded, last, complete=(True, True, True, False))
    chosen = choose_session(data)
    assert peers(chosen) == [near(2)] and peers(chosen, count=2) == [near(9)]
    assert peers(choose_session(data, "2026-03-01")) == [near(9)], "the one that is named"
    (source,) = sources(chosen, several(chosen))
    assert source.dates == ("2026-02-02",)
