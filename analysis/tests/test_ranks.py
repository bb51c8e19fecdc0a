"""Scans over several ranks: how their samples are read and chosen, what is computed of them, and the table of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scanlab_report.derive import ranks as derived
from scanlab_report.derive.ranks import beside
from scanlab_report.documents import ranks_macros
from scanlab_report.read import results, streams
from scanlab_report.select.ranks_evidence import RanksEvidence, RanksTimelines, SeveralGpus, told_of
from scanlab_report.select.sessions import chosen
from scanlab_report.tables import several_gpus as table
from tests import fixtures, ranks_fixtures, tiny
from tests.ranks_fixtures import copy_us, document, entry, read_us, run, write
from tests.stream_fixtures import several_gpus


def read(folder: Path, content: dict[str, Any]) -> results.Results:
    (folder / "distributed.json").write_text(json.dumps(content))
    return results.read([folder], [])


def found(*folders: Path, **of: Any) -> RanksEvidence:
    said = results.read(folders, [])
    assert not said.problems
    evidence = SeveralGpus(**of).find(said, {})
    assert evidence is not None
    return evidence


def test_a_scan_stands_beside_a_copy_on_every_gpu_and_beside_the_vendor(tmp_path: Path) -> None:
    said = read(tmp_path, several_gpus())
    assert not said.problems and [of.kind for of in said.streams] == [streams.DISTRIBUTED]
    rows = beside(found(tmp_path).cases)
    assert list(rows["algorithm"]) == ["peer_look_ahead", "nccl_cub"], "the fastest first, and no copy among scans"
    assert [of.value for of in rows["of_copy"]] == pytest.approx([0.5 / 0.52, 0.5 / 1.04])
    assert [of.value for of in rows["of_vendor"]] == pytest.approx([2, 1])
    assert rows["gb_per_s"][0] == pytest.approx(2**33 / 0.52e6) and rows["items_per_rank"].tolist() == [2**28, 2**28]
    assert rows["of_copy"][0].low < rows["of_copy"][0].value < rows["of_copy"][0].high


def test_cases_of_other_numbers_of_ranks_are_not_compared(tmp_path: Path) -> None:
    two = several_gpus(ranks=2)
    two["benchmarks"] = [of for of in two["benchmarks"] if of["variant"] == "peer_look_ahead"]
    four = several_gpus()
    four["benchmarks"] += two["benchmarks"]
    read(tmp_path, four)
    rows = beside(found(tmp_path).cases)
    assert [of.known for of in rows.loc[rows["ranks"] == 2, "of_copy"]] == [False] and all(of.known for of in rows.loc[rows["ranks"] == 4, "of_copy"])


@pytest.mark.parametrize(("change", "said"), [
    ({"variant": "unknown"}, "context.algorithms says nothing"),
    ({"verified": False}, "its output was wrong, or not looked at"),
    ({"ranks": "four"}, "ranks"),
])  # fmt: skip
def test_what_is_wrong_with_an_entry_is_said_with_its_place(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    content = several_gpus()
    content["benchmarks"][3] |= change
    wrong = read(tmp_path, content)
    assert [said in str(problem) and "benchmarks[3]" in str(problem) for problem in wrong.problems] == [True]


# ------------------------------------------------------------------------------------------------- which runs answer


def test_runs_with_1_2_and_4_ranks_are_pooled_though_each_is_a_file(tmp_path: Path) -> None:
    write(tmp_path, {f"{of}": run(of, [2**20, 2**24]) for of in (1, 2, 4)})
    assert sorted(set(found(tmp_path).cases["ranks"])) == [1, 2, 4]


def test_a_case_that_was_asked_for_per_rank_and_in_all_counts_once_and_is_of_the_newer_file(tmp_path: Path) -> None:
    per_rank = run(4, [2**18, 2**20], date="2026-01-02T00:00:00Z")
    in_all = run(4, [2**20, 2**22], total=True, date="2026-01-03T00:00:00Z")
    for of in in_all["benchmarks"]:
        of["real_time"] *= 2
    write(tmp_path, {"a": in_all, "b": per_rank})
    cases = found(tmp_path).cases
    peer = cases[cases["algorithm"] == "peer_look_ahead"].set_index("items")
    assert peer.index.tolist() == [2**20, 2**22] and peer["count"].tolist() == [5, 5], "2^20 in all are 2^18 per rank"
    times = [ranks_fixtures.times_us(n, 4)["peer_look_ahead"] for n in (2**20, 2**22)]
    assert peer["median_ns"].tolist() == pytest.approx([2e3 * times[0], 2e3 * times[1]])


def test_of_two_files_the_one_with_most_algorithms_answers_so_that_what_is_compared_is_of_one(tmp_path: Path) -> None:
    alone = document([entry("peer_look_ahead", 2**22, 4, 1.0)], 4, date="2026-02-02T00:00:00Z")
    write(tmp_path, {"whole": run(4, [2**20]), "alone": alone})
    (row,) = beside(found(tmp_path).cases)[["algorithm", "median_ns"]].query("algorithm == 'peer_look_ahead'").itertuples()
    assert row.median_ns == pytest.approx(1e3 * ranks_fixtures.times_us(2**22, 4)["peer_look_ahead"])


def session(recorded: Path, name: str, gpus: int, date: str, complete: bool = True, slower: float = 1.0) -> None:
    folder = recorded / name
    files = {f"ranks_{of}": run(of, [2**20], date=date) for of in (1, gpus)}
    for of in files.values():
        for sample in of["benchmarks"]:
            sample["real_time"] *= slower
    files["best"] = ranks_fixtures.best(fixtures.context(date=date), fixtures.repetition, fixtures.case)
    write(folder, files)
    (folder / "session.json").write_text(json.dumps({
        "schema": "scanlab-session/1", "device": "Test Device", "date": date, "commit": "", "complete": complete, "gpus": gpus,
        "files": [{"file": f"{name}.json", "kind": "timings" if name == "best" else "distributed"} for name in files]}))  # fmt: skip


def test_each_number_of_gpus_has_a_session_of_its_own_and_none_answers_for_one_gpu(tmp_path: Path) -> None:
    document_ = {
        "context": fixtures.context(date="2026-01-01T00:00:00"),
        "benchmarks": [fixtures.repetition(fixtures.case("best", 2**20, "warm"), i, 7.0) for i in range(5)],
    }
    write(tmp_path / "one", {"scan": document_})
    session(tmp_path / "x2", "2026-03-01", 2, "2026-03-01T00:00:00Z")
    session(tmp_path / "x4", "2026-02-01", 4, "2026-02-01T00:00:00Z", slower=3)
    session(tmp_path / "x4", "2026-02-02", 4, "2026-02-02T00:00:00Z", slower=2)
    session(tmp_path / "x4", "2026-02-03", 4, "2026-02-03T00:00:00Z", complete=False)
    read = chosen(results.read([], [tmp_path]))
    assert not read.problems and {run.date[:10] for run in read.runs} == {"2026-01-01"}, "best of the other sessions is not among timings"

    def peer(of: RanksEvidence, ranks: int) -> float:
        rows = of.cases[(of.cases["algorithm"] == "peer_look_ahead") & (of.cases["ranks"] == ranks)]
        return float(rows["median_ns"].iloc[0]) / 1e3 / ranks_fixtures.times_us(2**20 * ranks, ranks)["peer_look_ahead"]

    four, two = SeveralGpus().find(read, {}), SeveralGpus(ranks=2).find(read, {})
    assert four is not None and two is not None
    assert [peer(four, 4), peer(four, 1)] == pytest.approx([2, 2]), "the newest complete one, with one rank on the same host"
    assert peer(two, 2) == pytest.approx(1) and 4 not in set(two.cases["ranks"])
    assert len(four.best) == 6 and four.provenance.dates == ("2026-02-02",)
    assert SeveralGpus(ranks=4).find(read, {}).provenance.dates == SeveralGpus(ranks=8).find(read, {}).provenance.dates == ("2026-02-02",)
    named = chosen(results.read([], [tmp_path]), "2026-03-01")
    assert [of.find(named, {}).provenance.dates for of in (SeveralGpus(), SeveralGpus(ranks=4))] == [("2026-03-01",)] * 2


def test_a_setting_that_varies_in_an_older_session_alone_is_shown_of_that(tmp_path: Path) -> None:
    session(tmp_path / "x4", "2026-02-02", 4, "2026-02-02T00:00:00Z")
    write(tmp_path / "x2" / "2026-01-02", {"a": ranks_fixtures.fold_run(1, "chunk"), "b": ranks_fixtures.fold_run(2, "chunk")})
    read = chosen(results.read([], [tmp_path]))
    newest, folds = SeveralGpus().find(read, {}), SeveralGpus("states").find(read, {})
    assert newest is not None and folds is not None
    assert newest.provenance.dates == ("2026-02-02",) and folds.provenance.dates == ("2026-01-02",)
    assert SeveralGpus("chunk").find(read, {}) is None


def test_runs_that_were_measured_now_come_before_recorded_ones(tmp_path: Path) -> None:
    session(tmp_path / "x4", "2026-02-01", 4, "2026-02-01T00:00:00Z")
    now = write(tmp_path / "now", {"two": run(2, [2**20])})
    evidence = SeveralGpus().find(chosen(results.read([now], [tmp_path / "x4"])), {})
    assert set(evidence.cases["ranks"]) == {2} and evidence.best.empty


@pytest.mark.parametrize(("over", "files"), [
    ("ranks", {"a": run(4, [2**20]), "b": run(2, [2**20])}), ("items", {"a": run(4, [2**20]), "b": run(1, [2**20])}),
    ("chunk", {"a": run(4, [2**20]), "b": ranks_fixtures.chunk_run(8, [2**24])}),
    ("chunk", {"a": ranks_fixtures.chunk_run(16, [2**20], tells="tile"), "b": ranks_fixtures.chunk_run(8, [2**20])}),
    ("states", {"a": ranks_fixtures.fold_run(1, "tile"), "b": ranks_fixtures.fold_run(2, "chunk")}),
])  # fmt: skip
def test_what_does_not_vary_is_said(tmp_path: Path, over: str, files: dict[str, Any]) -> None:
    write(tmp_path, files)
    read = results.read([tmp_path], [])
    assert SeveralGpus().find(read, {}) is not None and SeveralGpus(over).find(read, {}) is None
    assert SeveralGpus(over).asked().startswith("times of scans over several ranks ")


def test_the_usual_settings_are_those_of_most_cases(tmp_path: Path) -> None:
    write(tmp_path, {"usual": run(4, [2**20, 2**24]), "chunk": ranks_fixtures.chunk_run(8, [2**20])})
    evidence = found(tmp_path)
    peer = evidence.usual().query("algorithm == 'peer_look_ahead'")
    assert set(peer["settings"]) == {"chunk=32"} and len(peer) == 2
    assert told_of("other=2,tells=tile") == "tile" and told_of("") == told_of("tiles=4") == ""


# ------------------------------------------------------------------------------------------------- what is computed


def times(**changes: Any) -> dict[str, Any]:
    """4 ms on one rank and 5 ms on four, per rank as many items; and beside a copy of 4.5 ms, and reading of 2.5 ms."""
    of = {"peer_look_ahead": 5.0, "copy_all": 4.5, "read_all": 2.5} | changes
    return document([entry(name, 2**22, 4, 1e3 * time) for name, time in of.items()], 4)


def test_weak_efficiency_is_the_time_on_one_rank_over_that_on_all_at_equal_items_per_rank(tmp_path: Path) -> None:
    write(tmp_path, {"one": document([entry("peer_look_ahead", n, 1, 1e3 * ms) for n, ms in ((2**20, 4.0), (2**22, 16.0))], 1), "four": times()})
    (row,) = derived.weak(found(tmp_path).cases).itertuples()
    assert (row.ranks, row.items, row.items_per_rank) == (4, 2**22, 2**20)
    assert row.efficiency.value == pytest.approx(0.8) and 0.79 < row.efficiency.low < 0.8 < row.efficiency.high < 0.81


def test_items_that_ranks_do_not_share_evenly_have_no_weak_efficiency(tmp_path: Path) -> None:
    write(tmp_path, {"one": document([entry("peer_look_ahead", 2**20, 1, 4e3)], 1), "four": document([entry("peer_look_ahead", 2**22 + 1, 4, 5e3)], 4)})
    assert derived.weak(found(tmp_path).cases).empty


def test_strong_speedup_is_over_the_best_on_one_gpu_at_equal_items_in_all(tmp_path: Path) -> None:
    best = {"context": fixtures.context(), "benchmarks": [fixtures.repetition(fixtures.case("best", 2**22, cache), i, time)
            for cache, time in (("warm", 18e6), ("cold", 90e6)) for i in range(6)]}  # fmt: skip
    write(tmp_path, {"best": best, "four": times()})
    evidence = found(tmp_path)
    (row,) = derived.strong(evidence).itertuples()
    assert row.ranks == 4 and row.speedup.value == pytest.approx(3.6), "of 18 ms, warm"
    (bounds,) = derived.strong_bounds(evidence).itertuples()
    assert (bounds.two_n, bounds.three_n) == pytest.approx((18 / 4.5, 18 / 7))
    assert np.isnan(derived.strong_bounds(RanksEvidence(evidence.cases.query("algorithm != 'read_all'"), evidence.best, tiny.NOWHERE))["three_n"]).all()


def test_the_bound_of_3n_is_reading_and_then_copying(tmp_path: Path) -> None:
    write(tmp_path, {"four": times()})
    (row,) = beside(found(tmp_path).cases).itertuples()
    assert row.of_bound.value == pytest.approx(7 / 5) and not row.of_bound.known, "of five samples no interval of a median is known"
    samples = np.array([4.0, 5.0, 5.0, 5.0, 5.0, 10.0])
    share = derived.over_time(4.0, samples)
    assert (share.value, share.low, share.high) == pytest.approx((0.8, 0.4, 1.0))
    write(tmp_path, {"four": document([entry("peer_look_ahead", 2**22, 4, 5e3), entry("copy_all", 2**22, 4, 5e3)], 4)})
    assert np.isnan(beside(found(tmp_path).cases)["of_bound"][0].value)


def test_floors_and_chunks(tmp_path: Path) -> None:
    write(tmp_path, ranks_fixtures.documents())
    evidence = found(tmp_path)
    assert {(name, ranks): time for name, ranks, time in derived.floors(evidence.cases)}["nccl_all_gather", 4] == pytest.approx(11e3)
    rows = derived.chunks(evidence.cases)
    for told in ("chunk", "tile"):
        at = rows[(rows["items"] == 2**30) & (rows["told"] == told)]
        assert at["chunk"].tolist() == [8, 16, 32, 64] and at["gb_per_s"].idxmax() == at.index[1]
    assert set(rows["algorithm"]) == {"peer_look_ahead"}
    folded = derived.folds(evidence.cases)
    assert folded["told"].tolist() == ["chunk"] * 3 + ["tile"] * 3 and folded["as_ranks"].tolist() == [4, 8, 16] * 2
    assert [of.value for of in folded["of_copy"]] == pytest.approx([1 / 1.01, 1 / 1.02, 1 / 1.04, 1 / 1.1, 1 / 1.2, 1 / 1.4])
    main = derived.main_kind(evidence.cases.assign(type=np.where(evidence.cases["algorithm"] == "copy_all", "i64", "f32")))
    assert set(main["type"]) == {"f32"} and len(derived.main_kind(evidence.cases)) == len(evidence.cases)


def test_the_invented_times_are_those_of_the_formulas(tmp_path: Path) -> None:
    """What other tests rely on."""
    write(tmp_path, {"four": run(4, [2**28])})
    rows = beside(found(tmp_path).cases).set_index("algorithm")
    bound = copy_us(2**30, 4) + read_us(2**30, 4)
    assert rows.at["reduce_exchange_scan", "of_bound"].value == pytest.approx(bound / (12 + bound / 0.98))


def test_the_table_has_the_usual_settings_and_no_floor(tmp_path: Path) -> None:
    write(tmp_path, {"usual": run(4, [2**20, 2**24]), "chunk": ranks_fixtures.chunk_run(8, [2**20])})
    rows = table.build(found(tmp_path)).rows
    assert set(rows["algorithm"]) == {"peer_look_ahead", "reduce_exchange_scan", "nccl_cub"} and len(rows) == 6


# ----------------------------------------------------------------------------------------------------- timelines


@pytest.mark.parametrize(("change", "place", "said"), [
    ({"end_ns": 0}, "traces[0].activities[7]", "end_ns is before start_ns"), ({"kind": "wait"}, "traces[0].activities[7].kind", "wait"),
    ({"verified": False}, "traces[0]", "its output was wrong, or not looked at"), ({"activities": []}, "traces[0]", "activities is empty"),
    ({"ranks": 0}, "traces[0].ranks", "0"),
])  # fmt: skip
def test_what_is_wrong_with_a_timeline_is_said_with_its_place(tmp_path: Path, change: dict[str, Any], place: str, said: str) -> None:
    content = ranks_fixtures.timeline()
    case = content["traces"][0]
    case["activities"][7]["start_ns"] = 1
    (case["activities"][7] if set(change) & {"end_ns", "kind"} else case).update(change)
    (problem,) = read(tmp_path, content).problems
    assert place in str(problem) and said in str(problem)


def test_the_timeline_of_most_gpus_answers_of_several_the_newest_and_what_was_measured_now_first(tmp_path: Path) -> None:
    def seen(measured: list[str], recorded: list[str]) -> tuple[int, str]:
        evidence = RanksTimelines().find(results.read([tmp_path / of for of in measured], [tmp_path / of for of in recorded]), {})
        assert evidence is not None
        return int(evidence.rows["ranks"].max()), evidence.provenance.date

    for name, ranks, day in (("two", 2, "04"), ("four", 4, "02"), ("newer", 4, "03")):
        content = ranks_fixtures.timeline(ranks)
        content["context"]["date"] = f"2026-01-{day}T00:00:00Z"
        write(tmp_path / name, {"ranks_trace": content})
    assert seen(["two", "four", "newer"], []) == (4, "2026-01-03")
    assert seen(["two"], ["four"]) == (2, "2026-01-04")
    named = results.read([], [tmp_path / of for of in ("two", "four", "newer")])
    named.named = "two"
    assert RanksTimelines().find(named, {}).provenance.date == "2026-01-04"
    assert RanksTimelines().find(results.read([], []), {}) is None


def test_a_recorded_session_over_several_gpus_answers_for_timelines(tmp_path: Path) -> None:
    for name in ("x4/2026-01-02", "x4/2026-01-03"):
        folder = write(tmp_path / name, {"four": run(4, [2**20], date=f"{name[3:]}T00:00:00Z"), "ranks_trace": ranks_fixtures.timeline()})
        session = {"schema": "scanlab-session/1", "device": "Test Device", "date": name[3:], "complete": True, "gpus": 4,
                   "files": [{"file": "four.json", "kind": "distributed"}, {"file": "ranks_trace.json", "kind": "ranks_trace"}]}  # fmt: skip
        (folder / "session.json").write_text(json.dumps(session))
    kept = chosen(results.read([], [tmp_path])).streams
    assert {(of.kind, of.run.file.parent.name) for of in kept} == {("distributed", "2026-01-03"), ("ranks_trace", "2026-01-03")}


def test_the_text_tells_of_all_gpus_and_of_no_fewer(tmp_path: Path) -> None:
    write(tmp_path, {name: of for name, of in ranks_fixtures.documents().items() if name.startswith(("ranks_scaling", "ranks_strong"))})
    write(tmp_path, {"ranks_strong_best": ranks_fixtures.best(fixtures.context(), fixtures.repetition, fixtures.case)})
    named = ranks_macros._peers(found(tmp_path))
    times = {ranks: ranks_fixtures.times_us(2**30 * ranks, ranks)["peer_look_ahead"] for ranks in (1, 2, 4)}
    assert named["peersGpus"] == "4" and float(named["peersWeak"]) == pytest.approx(times[1] / times[4], abs=6e-4)
    assert abs(times[1] / times[2] - times[1] / times[4]) > 2e-3, "so that one is not taken for the other"
