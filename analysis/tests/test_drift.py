"""Drift, outliers and lowered clocks are seen where they are planted, and not where nothing was."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from scanlab_report.commands.__main__ import main
from scanlab_report.commands.export import tables as export
from scanlab_report.read import results
from scanlab_report.select import drift
from scanlab_report.select.drift import Sessions, TimedFiles
from scanlab_report.tables import sessions as table
from tests import stream_fixtures
from tests.fixtures import case, context, cub_shapes, repetition, timings

CASES, ROUNDS = 40, 11


def write(file: Path, factors: np.ndarray, seed: int = 1, spread: float = 0.002, clocks: np.ndarray | None = None, **about: Any) -> Path:
    """A run of scans with some spread; ``factors`` and ``clocks`` by case and round."""
    times = 1e5 * factors * np.random.default_rng(seed).lognormal(0, spread, factors.shape)
    entries = [repetition(case("best", 1000 + place), round_, times[place, round_])
               | ({} if clocks is None else {"sm_clock_mhz": float(clocks[place, round_])})
               for round_ in range(factors.shape[1]) for place in range(factors.shape[0])]  # fmt: skip
    file.write_text(json.dumps({"context": context(sm_clock_mhz_max="1980", **about), "benchmarks": entries}))
    return file


def of(file: Path) -> TimedFiles:
    """The only session of a file."""
    (session,) = Sessions().find(results.read([file], []), {}).sessions
    return session


def still(cases: int = CASES, rounds: int = ROUNDS) -> np.ndarray:
    return np.ones((cases, rounds))


def test_a_planted_drift_is_seen_in_its_cases_and_rounds(tmp_path: Path) -> None:
    factors = still()
    factors[:30] *= 1 + 0.002 * np.arange(ROUNDS)
    session = of(write(tmp_path / "a.json", factors))
    assert session.trending(slower=True) == 30 and session.trending(slower=False) == 0
    assert session.rounds["median"].is_monotonic_increasing and session.later_slower > 0.8
    last = session.rounds.iloc[-1]
    assert last["low"] > 1 and session.farthest_round["round"] in (0, ROUNDS - 1)


def test_candidates_of_a_tuning_are_no_session_but_can_be_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "cub_shapes.json"
    file.write_text(json.dumps(cub_shapes(rounds=11)))
    assert Sessions().find(results.read([file], []), {}) is None
    assert main(["compare", str(file), str(file)]) == 0
    assert "neither" in capsys.readouterr().out


def test_a_drift_downwards_is_told_from_one_upwards(tmp_path: Path) -> None:
    session = of(write(tmp_path / "a.json", still() * (1 - 0.002 * np.arange(ROUNDS))))
    assert session.trending(slower=False) == CASES and session.trending(slower=True) == 0


def test_a_single_slow_round_is_seen_though_it_is_no_trend(tmp_path: Path) -> None:
    factors = still()
    factors[:, 4] = 1.02
    session = of(write(tmp_path / "a.json", factors))
    assert session.farthest_round["round"] == 4 and session.farthest_round["low"] == pytest.approx(1.02, abs=0.003)
    assert session.trending(slower=True) == session.trending(slower=False) == 0


def test_without_drift_few_sessions_show_any(tmp_path: Path) -> None:
    """Under the null the chance of a trend anywhere in a session is 5%, and an interval of a round has 1 in it 95 times in 100."""
    shown, covered = 0, []
    for seed in range(60):
        session = of(write(tmp_path / "a.json", still(20, 8), seed))
        shown += bool(session.trending(slower=True) + session.trending(slower=False))
        covered += ((session.rounds["low"] <= 1) & (session.rounds["high"] >= 1)).tolist()
    assert shown <= 8
    assert np.mean(covered) >= 0.93


def test_a_drift_below_the_spread_of_a_case_is_seen_at_its_full_size(tmp_path: Path) -> None:
    """Of an odd number of repetitions one is the median: over the median of all, rounds would stay at 1 far longer than they may."""
    factors = still(400, 5)
    factors[:, 2] = 1.001
    session = of(write(tmp_path / "a.json", factors))
    assert session.rounds["median"].iloc[2] == pytest.approx(1.001, abs=0.0004)  # 1.00025 over the median of all


@pytest.mark.parametrize("count", [5, 8, 11])
def test_the_p_of_a_trend_is_that_of_kendalls_exact_test(count: int) -> None:
    rows = np.random.default_rng(2).normal(size=(50, count)) + np.linspace(0, 1, count)
    ours = drift._trend_p(count)[np.abs(drift._scores(rows))]
    theirs = [stats.kendalltau(np.arange(count), row, method="exact").pvalue for row in rows]
    assert ours == pytest.approx(theirs)
    assert drift._trend_p(count)[-1] == pytest.approx(2 / math.factorial(count))


def test_a_round_is_over_the_same_cases_as_those_it_is_compared_with(tmp_path: Path) -> None:
    """Cases that converged have no later rounds: over all, those rounds would look slow or fast by who is in them, and hide a change among these."""
    factors = still(100, 11)
    factors[60:, 6:] = 0.99
    file = write(tmp_path / "a.json", factors)
    content = json.loads(file.read_text())
    content["benchmarks"] = [of for of in content["benchmarks"] if of["repetition_index"] < 6 or of["items"] >= 1060]
    file.write_text(json.dumps(content))
    session = of(file)
    sets = session.rounds.groupby("of")["cases"].agg(["size", "first", "nunique"])
    assert sets.values.tolist() == [[6, 60, 1], [11, 40, 1]]
    assert session.rounds.loc[session.rounds["of"] == 6, "median"].to_numpy() == pytest.approx(1, abs=0.002)
    assert session.went_on.later.count == 40 and session.went_on.later.value == pytest.approx(0.99, abs=0.002)
    assert "40 cases of `a` had not converged after 6 rounds and went on to 11. They changed by −0.98%" in session.went_on_said()
    assert session.power["least_p"].iloc[0] == pytest.approx(2 / math.factorial(6))
    assert session.power["at_once"].tolist() == [math.floor(2 / 720 * 100 / 0.05) + 1, 1]
    assert "With 6 rounds (60 cases) p is at least 0.0028, and 6 cases must rise or fall together. With 11 rounds one is enough" in session.power_said()


def test_the_share_of_cases_that_settled_is_of_those_that_say_so(tmp_path: Path) -> None:
    file = write(tmp_path / "a.json", still(25, 6))
    content = json.loads(file.read_text())
    for entry in content["benchmarks"]:
        if entry["items"] < 1020:
            entry["converged"] = entry["items"] < 1015 and entry["repetition_index"] == 5
    file.write_text(json.dumps(content))
    session = of(file)
    assert len(session.converged) == 20 and session.converged.sum() == 15
    exported = export.tables(results.read([file], []), [file])
    assert exported["cases"]["converged"].isna().sum() == 5
    assert exported["cases"]["converged"].sum() == exported["repetitions"]["converged"].sum() == 15


def test_outliers_are_those_beyond_the_fences_and_none_is_dropped(tmp_path: Path) -> None:
    factors = still()
    factors[7, 3] = 1.5
    factors[9, 5] = 0.9
    session = of(write(tmp_path / "a.json", factors, spread=0.0001))
    assert session.outliers["name"].iloc[0] == "best i32 plus inclusive 1007 cold stream"
    assert session.outliers["relative"].iloc[:2].tolist() == pytest.approx([1.5, 0.9], abs=0.001)
    assert len(session.repetitions) == CASES * ROUNDS


@pytest.mark.parametrize(("count", "share"), [(5, 0.086), (20, 0.017)])
def test_of_normal_times_as_many_are_outliers_as_hoaglin_iglewicz_and_tukey_say(count: int, share: float) -> None:
    assert drift._normal_share(count) == pytest.approx(share, abs=0.002)


def test_with_fewer_than_five_repetitions_nothing_is_an_outlier_or_a_trend(tmp_path: Path) -> None:
    session = of(write(tmp_path / "a.json", still(rounds=4) * np.array([1, 2, 3, 40])))
    assert not session.repetitions["outlier"].any() and session.trends.empty and session.power.empty and session.power_said() == ""


@pytest.mark.parametrize("rounds", [1, 2])
def test_of_one_round_nothing_is_said_and_of_two_no_more_than_there_is(tmp_path: Path, drawn: list[str], rounds: int) -> None:
    file = write(tmp_path / "a.json", still(rounds=rounds))
    assert main(["build", str(file), "--out", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "tables" / "sessions.md").exists() == (rounds == 2)


def test_lowered_clocks_are_said_by_build_and_compare(tmp_path: Path, drawn: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    clocks, factors = np.full((CASES, ROUNDS), 1980.0), still()
    clocks[:, 6], factors[:, 6] = 1410.0, 1.4
    throttled = write(tmp_path / "run_b.json", factors, clocks=clocks, date="2026-01-03")
    sound = write(tmp_path / "sound.json", still(), seed=2, clocks=np.full((CASES, ROUNDS), 1980.0))
    said = ("run_b ran at a lowered clock: 40 of 440 readings of the SM clock are below its maximum, 1980 MHz, the lowest 1410 MHz. "
            "The median such repetition took 1.40")  # fmt: skip
    assert main(["compare", str(sound), str(throttled), "--threshold", "0.05"]) == 0
    assert f"B: {said}" in capsys.readouterr().out
    assert main(["compare", str(sound), str(sound), "--threshold", "0.05"]) == 0
    assert "lowered clock" not in capsys.readouterr().out
    assert main(["build", str(throttled), "--out", str(tmp_path / "out")]) == 0
    assert said in capsys.readouterr().out
    assert of(throttled).lowered == 40


def test_lowered_clocks_of_schedules_are_said_as_those_of_scans(tmp_path: Path, drawn: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    sound, throttled = (tmp_path / f"{name}.json" for name in ("sound", "throttled"))
    for file in (sound, throttled):
        document = stream_fixtures.schedules()
        document["context"]["sm_clock_mhz_max"] = "1980"
        for entry in document["benchmarks"][::2]:  # the others were asked for too soon
            entry["sm_clock_mhz"] = 1410.0 if file == throttled and entry["round"] == 3 else 1980.0
        file.write_text(json.dumps(document))
    assert main(["compare", str(sound), str(throttled), "--threshold", "0.05"]) == 0
    said = "throttled ran at a lowered clock: {} of {} readings of the SM clock are below its maximum, 1980 MHz, the lowest 1410 MHz"
    session = of(throttled)
    assert session.kind == "schedules" and 0 < session.lowered < len(session.clocks) < len(session.repetitions)
    assert f"B: {said.format(session.lowered, len(session.clocks))}" in capsys.readouterr().out
    assert main(["build", str(throttled), "--out", str(tmp_path / "out")]) == 0
    assert said.format(session.lowered, len(session.clocks)) in capsys.readouterr().out
    assert of(sound).throttling() == ""


def test_where_no_clock_was_read_nothing_is_claimed_of_it(tmp_path: Path) -> None:
    stream_fixtures.write_all(tmp_path)
    evidence = Sessions().find(results.read([tmp_path], []), {})
    assert all(session.throttling() == "" for session in evidence.sessions)
    built = table.build(evidence)
    assert built.rows["lowered"].isna().all()
    assert any("was read only before the first repetition; drift alone could show later throttling" in note for note in built.notes)


def test_controls_are_no_part_of_a_session_and_small_files_stand_together(tmp_path: Path) -> None:
    for number in range(2):
        document = stream_fixtures.stream_scan()
        document["benchmarks"] = [entry for entry in document["benchmarks"] if entry["items"] == 2**28]
        document["context"]["date"] = f"2026-01-02T03:04:0{number}Z"
        (tmp_path / f"larger_{number}.json").write_text(json.dumps(document))
    (tmp_path / "streams.json").write_text(json.dumps(stream_fixtures.schedules()))
    kinds = Sessions().find(results.read([tmp_path], []), {}).kinds()
    assert not any("three_streams_unordered" in name for name in kinds["schedules"][0].names)
    (larger,) = kinds["stream_scan"]
    assert larger.name == "2 files of stream-scan"
    assert len(larger.names) == larger.repetitions["case"].nunique() == 2 * 9


def test_a_gpu_on_record_comes_before_a_cpu_that_was_timed_now(tmp_path: Path) -> None:
    entries = [repetition(case("cpu_parallel", 2**k, "warm"), i, 900.0 * 2**k + i) for k in (10, 11) for i in range(5)]
    about = context(kind="host", device="", cpu="Lone CPU", cores="2", date="2026-03-04T00:00:00")
    for folder, document in (("recorded", timings(rounds=5, top=12)), ("now", {"context": about, "benchmarks": entries})):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "scan.json").write_text(json.dumps(document))
    read = results.read([tmp_path / "now"], [tmp_path / "recorded"])
    assert {run.device for of in Sessions().find(read, {}).sessions for run in of.runs} == {"Test Device"}
