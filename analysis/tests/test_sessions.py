"""Drift, outliers and clocks are seen where they are planted; which recorded session answers."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from scanlab_report import drift
from scanlab_report.chapters import sessions
from scanlab_report.choosing import NoSession, choose_session
from scanlab_report.data import Data
from scanlab_report.data import Session as Recorded
from scanlab_report.drift import Session, sessions_of
from scanlab_report.pick import Lacking, of_variant, scans
from scanlab_report.tables import RECORDED
from tests import test_streams, tiny
from tests.tiny import case, count, tables, with_rows

CASES, ROUNDS = 40, 11


def timed(
    factors: np.ndarray,
    seed: int = 1,
    spread: float = 0.002,
    clocks: np.ndarray | None = None,
    converged: np.ndarray | None = None,
    data: Data | None = None,
    **context: Any,
) -> Data:
    """A file of scans with some spread; factors, clocks and the like by case and round."""
    noise = np.random.default_rng(seed).lognormal(0, spread, factors.shape)
    columns = dict(ns=1e5 * factors * noise, sm_clock_mhz=clocks, converged=converged)
    same = dict(variant="best", settings="", type="i32", op="plus", mode="inclusive", cache="cold")
    rows = [
        same
        | {"items": 1000 + place, "launch": "stream", "round": round_}
        | {n: np.nan if own is None else own[place, round_] for n, own in columns.items()}
        for place, round_ in np.ndindex(factors.shape)
        if factors[place, round_] > 0  # 0: there is no such sample
    ]
    about = dict(kind="cuda", device="Test Device", sm_clock_mhz_max="1980") | context
    return with_rows(data or Data(), "scan", rows, **about)


def session(*arguments: Any, **named: Any) -> Session:
    (found,) = sessions_of(timed(*arguments, **named))
    return found


def still(cases: int = CASES, rounds: int = ROUNDS) -> np.ndarray:
    return np.ones((cases, rounds))


# ------------------------------------------------------------------------------------------ drift


def test_a_drift_is_seen_in_its_cases_and_rounds() -> None:
    factors = still()
    factors[:30] *= 1 + 0.002 * np.arange(ROUNDS)
    found = session(factors)
    assert found.trending(slower=True) == 30 and found.trending(slower=False) == 0
    assert found.rounds["median"].is_monotonic_increasing and found.later_slower > 0.8
    assert found.rounds["low"].iloc[-1] > 1 and found.farthest_round["round"] in (0, ROUNDS - 1)
    falling = session(still() * (1 - 0.002 * np.arange(ROUNDS)))
    assert falling.trending(slower=False) == CASES and falling.trending(slower=True) == 0


def test_a_single_slow_round_is_seen_though_it_is_no_trend() -> None:
    factors = still()
    factors[:, 4] = 1.02
    found = session(factors)
    farthest = found.farthest_round
    assert farthest["round"] == 4 and farthest["low"] == pytest.approx(1.02, abs=0.003)
    assert found.trending(slower=True) == found.trending(slower=False) == 0


def test_without_drift_few_sessions_show_any() -> None:
    """The chance of a trend anywhere in a session is 5%, and 1 is in the interval of a round 95
    times in 100."""
    drifting, covered = 0, []
    for seed in range(60):
        found = session(still(20, 8), seed)
        drifting += bool(found.trending(slower=True) + found.trending(slower=False))
        covered += ((found.rounds["low"] <= 1) & (found.rounds["high"] >= 1)).tolist()
    assert drifting <= 8 and np.mean(covered) >= 0.93


def test_a_drift_below_the_spread_of_a_case_is_seen_at_its_full_size() -> None:
    """Over the median of all samples, which is one of them, it would be a quarter of that."""
    factors = still(400, 5)
    factors[:, 2] = 1.001
    assert session(factors).rounds["median"].iloc[2] == pytest.approx(1.001, abs=0.0004)


@pytest.mark.parametrize("count", [5, 8, 11])
def test_the_p_of_a_trend_is_that_of_kendalls_exact_test(count: int) -> None:
    rows = np.random.default_rng(2).normal(size=(50, count)) + np.linspace(0, 1, count)
    ours = drift._trend_p(count)[np.abs(drift._scores(rows))]
    theirs = [stats.kendalltau(np.arange(count), row, method="exact").pvalue for row in rows]
    assert ours == pytest.approx(theirs)


def test_a_round_is_compared_with_rounds_of_the_same_cases() -> None:
    """Cases that converged have no later rounds: who is in a round must not make it slow."""
    factors = still(100, 11)
    factors[60:, 6:] = 0.99
    factors[:60, 6:] = 0
    found = session(factors)
    sets = found.rounds.groupby("rounds")["cases"].agg(["size", "first", "nunique"])
    assert sets.values.tolist() == [[6, 60, 1], [11, 40, 1]]
    short = found.rounds.loc[found.rounds["rounds"] == 6, "median"]
    assert short.to_numpy() == pytest.approx(1, abs=0.002)
    assert (
        "40 cases of `scan` had not converged after 6 rounds and went on to 11" in found.went_on()
    )
    assert "changed by −0.98%" in found.went_on()
    least = 2 / math.factorial(6)
    assert f"With 6 rounds (60 cases) p is at least {least:.2g}, and 6 cases" in found.power()
    assert "With 11 rounds one is enough" in found.power()


def test_outliers_are_those_beyond_the_fences_and_none_is_dropped() -> None:
    factors = still()
    factors[7, 3], factors[9, 5] = 1.5, 0.9
    found = session(factors, spread=0.0001)
    assert found.outliers["name"].iloc[0] == "best i32 plus inclusive 1007 cold stream"
    assert found.outliers["relative"].iloc[:2].tolist() == pytest.approx([1.5, 0.9], abs=0.001)
    assert len(found.samples) == CASES * ROUNDS


@pytest.mark.parametrize(("count", "share"), [(5, 0.086), (20, 0.017)])
def test_of_normal_times_as_many_are_outliers_as_hoaglin_and_others_say(count, share) -> None:
    assert drift._normal_share(count) == pytest.approx(share, abs=0.002)


def test_there_is_nothing_to_say_on_a_single_round_but_on_two() -> None:
    with pytest.raises(Lacking):
        sessions_of(timed(still(rounds=1)))
    assert tiny.printed(tiny.built(sessions.sessions, timed(still(rounds=2))), "rounds") == "2"


@pytest.mark.parametrize("kind", ["tuning", "cuda --sweep odd_sizes"])
def test_candidates_of_a_tuning_and_odd_sizes_are_no_session(kind: str) -> None:
    kind, _, argv = kind.partition(" ")
    with pytest.raises(Lacking):
        sessions_of(timed(still(), kind=kind, argv=argv))


# ----------------------------------------------------------------------------------------- clocks


def test_a_lowered_clock_is_said_with_what_it_cost() -> None:
    clocks, factors = np.full((CASES, ROUNDS), 1980.0), still()
    clocks[:, 6], factors[:, 6] = 1410.0, 1.4
    found = session(factors, clocks=clocks)
    assert found.throttling().startswith(
        "scan ran at a lowered clock: 40 of 440 readings of the SM clock are below its maximum, "
        "1980 MHz, the lowest 1410 MHz. The median such repetition took 1.40"
    )
    assert session(still(), clocks=np.full((CASES, ROUNDS), 1980.0)).throttling() == ""


# -------------------------------------------------------------------------------------- the table

DRIFT = np.array([[1, 1, 1, 1, 1.01 + n / 1e4] for n in range(20)] + [[1, 0.98, 0.99, 1.02, 2.0]])


def test_a_session_has_its_drift_outliers_and_clocks() -> None:
    clocks = np.where(DRIFT > 1.5, 1900.0, 1980.0)
    data = timed(DRIFT, spread=0.0, clocks=clocks, converged=np.ones(DRIFT.shape))
    table = tiny.built(sessions.scan_sessions, data)
    keys = "session cases rounds converged_percent drift_cases slower faster"
    assert tiny.printed(table, keys) == "scan | 21 | 5 | 100 | 21 | 0 | 0"
    assert tiny.printed(table, "drift_percent").startswith("1.1 [1.0")
    assert tiny.printed(table, "outliers_percent worst clocks lowered") == "20 | 2.01 | 105 | 1"
    # In each of 20 cases four of ten pairs rise and six are ties; in the other case, eight rise.
    assert tiny.printed(table, "later_slower_percent") == "70.5"


def test_controls_are_in_no_session_and_small_files_are_one() -> None:
    control = test_streams.schedule("skewed", 2, 21.0, control=1)
    data = test_streams.scheduled(*test_streams.CASES, control)
    scan = test_streams.scan
    for gib in (1, 2):
        rows = [*scan("streamed", gib, 100.0), *scan("naive", gib, 200.0)]
        data = with_rows(data, "stream_scan", rows, device="Test Device", kind="cuda")
    schedules, larger = sessions_of(data)
    assert schedules.kind == "schedule" and not any("skewed" in name for name in schedules.names)
    assert larger.name == "2 files of stream-scan"
    assert len(larger.names) == larger.samples["case"].nunique() == 4


def test_a_recorded_gpu_comes_before_a_cpu_that_was_timed_now() -> None:
    data = timed(still(), kind="host", device="", cpu="Lone CPU")
    data = tiny.recorded(timed(still(), data=data), 1)
    assert {file.device for found in sessions_of(data) for file in found.files} == {"Test Device"}


# ----------------------------------------------------------------------------- which one answers


def recorded(*folders: tuple[str, bool | None], variants: tuple[str, ...] = ()) -> Data:
    """A folder with times of a copy for each day, which take so many nanoseconds; whether its
    session.json says that it is complete, None if it has none."""
    variants = variants or ("memcpy",) * len(folders)
    cases = [
        [case(v, 1024, float(day[-2:]))] for v, (day, _) in zip(variants, folders, strict=True)
    ]
    data = tables(*cases)
    for number, (day, complete) in enumerate(folders):
        path = Path(day) / "scan.json"
        context = {**data.files[number].context, "date": day}
        data.files[number] = replace(
            data.files[number], path=path, origin=RECORDED, context=context
        )
        if complete is not None:
            files = frozenset([path.resolve()])
            folder = path.parent.resolve()
            data.sessions.append(Recorded(folder, "Test Device", day, complete, files))
    return data


def answer(data: Data, name: str = "") -> float:
    return float(of_variant(scans(choose_session(data, name)), "memcpy")["median_ns"].iloc[0])


DAYS = [f"2026-01-0{day}" for day in range(1, 5)]


def test_the_newest_complete_session_answers_else_the_newest() -> None:
    assert answer(recorded(*zip(DAYS, (True, True, False, None), strict=True))) == 2
    assert answer(recorded((DAYS[1], False), (DAYS[2], None), (DAYS[0], None))) == 3


def test_a_named_session_answers_whatever_it_lacks() -> None:
    data = recorded((DAYS[0], None), (DAYS[1], True))
    assert answer(data, DAYS[0]) == 1
    with pytest.raises(NoSession, match="2026-01-07; there are 2026-01-01, 2026-01-02"):
        choose_session(data, "2026-01-07")


def test_what_was_measured_now_answers_before_any_session() -> None:
    data = recorded((DAYS[0], None), (DAYS[1], True))
    data.files[0] = replace(data.files[0], origin="measured now")
    assert answer(data) == 1


def test_nothing_of_another_session_is_mixed_in_though_it_has_what_the_newest_lacks() -> None:
    data = recorded((DAYS[0], True), (DAYS[1], True), variants=("memcpy", "best"))
    chosen = choose_session(data)
    with pytest.raises(Lacking):
        scans(chosen, all_of=("memcpy",))
    assert set(chosen["scan"]["variant"]) == {"best"}
    assert len(chosen.every["scan"]["variant"].unique()) == 2, "for what differs by the session"


def test_each_device_has_a_session_of_its_own() -> None:
    data = recorded((DAYS[0], None), (DAYS[1], None))
    for number, device in enumerate("AB"):
        tiny.about(data, number, device=device)
    data.first = "A"
    chosen = choose_session(data)
    assert chosen.devices == ["A", "B"]
    assert [answer(data.on(device)) for device in chosen.devices] == [1, 2]


def test_counts_of_the_emulator_are_of_no_device_and_stay() -> None:
    data = with_rows(recorded((DAYS[0], True)), "counts", [count("hso_block", 64, {})])
    data.files[1] = replace(data.files[1], origin=RECORDED)
    assert len(choose_session(data)["counts"]) == 1
