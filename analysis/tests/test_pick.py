"""Which samples answer: what was measured now, of one file, one device at a time."""

import pytest

from scanlab_report.data import Data
from scanlab_report.pick import Lacking, floor_ns, line, of_variant, scans, timed
from scanlab_report.sources import sources
from scanlab_report.versus import against, contests
from tests.tiny import EXACT, LEAST, MOST, Case, about, case, near, recorded, tables

N = 1024


def answer(data: Data) -> tuple[float, str]:
    """The time of the copy, and its source."""
    cases = scans(data)
    (source,) = sources(data, cases)
    return of_variant(cases, "memcpy")["median_ns"].iloc[0], source.line()


def copied(ns: float, **named: str) -> list[Case]:
    return [case("memcpy", N, ns, **named)]


def test_what_was_measured_now_answers_before_what_is_recorded() -> None:
    now = "Test Device, 2026-01-01, commit aaaaaaaaa, measured now"
    then = "Test Device, 2026-01-02, commit bbbbbbbbb, recorded"
    assert answer(recorded(tables(copied(1.0), copied(2.0)), 1)) == (1.0, now)
    assert answer(recorded(tables(copied(1.0), copied(2.0)), 0, 1)) == (2.0, then)
    too_little = recorded(tables([case("cpu_sequential", N, 1.0)], copied(2.0)), 1)
    assert answer(about(too_little, 0, kind="host"))[0] == 2.0


def test_two_files_are_never_pooled_and_the_one_with_more_variants_or_the_newer_answers() -> None:
    data = tables(copied(3.0), copied(2.0), git_dirty="true")
    assert answer(data) == (2.0, "Test Device, 2026-01-02, commit bbbbbbbbb+, measured now")
    assert answer(tables([*copied(2.0), case("best", N, 1.0)], copied(9.0)))[0] == 2.0


def test_stream_graph_and_libraries_of_python_are_apart_unless_asked_for() -> None:
    data = tables([*copied(5.0), *copied(1.0, launch="graph")], [case("torch_cumsum", N, 5.0)])
    cases = scans(data)
    assert of_variant(cases, "memcpy")["median_ns"].tolist() == [5] and timed(cases) == ["memcpy"]
    both = scans(data, launches=("stream", "graph"))
    assert of_variant(both, "memcpy", launch="graph")["median_ns"].tolist() == [1]
    assert timed(scans(data, python=True)) == ["memcpy", "torch_cumsum"]


def test_what_lacks_is_said_in_a_clause() -> None:
    with pytest.raises(Lacking, match=r"^i32 plus inclusive timings of memcpy on a CUDA device$"):
        scans(Data(), all_of=("memcpy",))


def test_a_line_has_powers_of_two_alone_where_there_are_any() -> None:
    cases = scans(tables([case("best", n, 1.0) for n in (4096, 1000, N, 3072, 1)]))
    assert line(cases, "best")["items"].tolist() == [1, N, 4096]
    cases = scans(tables([case("best", n, 1.0) for n in (3000, 1000)]))
    assert line(cases, "best")["items"].tolist() == [1000, 3000]


def test_the_floor_is_that_of_cache_and_launch() -> None:
    floors = [
        case("empty_launch", 0, 3000.0, cache="warm"),
        case("empty_launch", 64, 2000.0),
        case("empty_launch", 0, 600.0, cache="warm", launch="graph"),
    ]
    cases = scans(tables([*floors, case("best", N, 1.0)]), launches=("stream", "graph"))
    assert [floor_ns(cases, cache) for cache in ("warm", "cold")] == [3000, 2000]
    assert floor_ns(cases, "cold", "graph") == 600, "in a graph it was timed warm alone"


def test_rivals_are_compared_within_a_file_by_their_time_over_ours() -> None:
    theirs = [case("memcpy", N, 100.0, EXACT), case("copy_bulk", N, 80.0, EXACT)]
    fewer = [case("best", N, 100.0), case("memcpy", N, 10.0)]
    data = tables([case("best", N, 200.0), *theirs], fewer)
    (row,) = against(contests(data), "best", ["memcpy", "copy_bulk"]).itertuples()
    assert (row.rival, row.file, row.outcome) == ("copy_bulk", 0, "loss")
    assert (row.ratio, row.low, row.high) == near((0.4, 0.4 / MOST, 0.4 / LEAST))
    few, even = (case("memcpy", N, 1.1, samples) for samples in ((1.0,) * 3, EXACT))
    for other, outcome in ((few, "open"), (even, "tie")):
        both = contests(tables([case("best", N, 1.0), other]))
        assert against(both, "best", ["memcpy"])["outcome"].tolist() == [outcome]
