"""Drift, outliers and lowered clocks are seen where they are planted."""

from typing import Any

import numpy as np
import pytest

from scanlab_report.chapters import sessions
from scanlab_report.data import Data
from tests import tiny
from tests.tiny import near, with_rows

CASES, ROUNDS = 40, 11
DRIFT = np.array([[1, 1, 1, 1, 1.01 + n / 1e4] for n in range(20)] + [[1, 0.98, 0.99, 1.02, 2.0]])


def timed(
    factors: np.ndarray,
    spread: float = 0.002,
    clocks: np.ndarray | None = None,
    converged: np.ndarray | None = None,
    data: Data | None = None,
    **context: Any,
) -> Data:
    """A file of scans with some spread; factors, clocks and the like by case and round."""
    noise = np.random.default_rng(1).lognormal(0, spread, factors.shape)
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


def row(*arguments: Any, **named: Any) -> dict[str, Any]:
    """The row of the only file."""
    (own,) = sessions.timed_in_rounds(timed(*arguments, **named), "scan")
    return sessions.summary(own, "scan")


def still(cases: int = CASES, rounds: int = ROUNDS) -> np.ndarray:
    return np.ones((cases, rounds))


def test_a_slow_round_is_seen_at_its_full_size_with_its_interval() -> None:
    """Over the median of all samples, which is one of them, it would be a quarter of that."""
    factors = still(400, 5)
    factors[:, 2] = 1.001
    slow = row(factors)["drift_percent"]
    assert slow.value == pytest.approx(0.1, abs=0.04) and slow.low > 0 and slow.count == 400
    assert abs(row(still())["drift_percent"].value) < 0.2


def test_a_round_is_compared_with_rounds_of_the_same_cases() -> None:
    """Cases that converged have no later rounds: who is in a round must not make it slow."""
    factors = still(100, 11)
    factors[60:] = 3.0
    factors[:60, 6:] = 0
    assert abs(row(factors)["drift_percent"].value) < 0.3


def test_an_outlier_lies_beyond_the_fences() -> None:
    factors = still(rounds=5)
    factors[7, 3], factors[9, 4] = 1.5, 0.9
    own = row(factors, spread=0.0)
    assert own["outliers_percent"] == near(100 * 2 / (5 * CASES)) and own["worst"] == near(1.5)
    # Hoaglin, Iglewicz and Tukey (1986) have the share of normal times.
    assert own["outliers_of_normal_percent"] == pytest.approx(8.6, abs=0.2)


def test_the_table_has_a_row_per_results_file() -> None:
    clocks = np.where(DRIFT > 1.5, 1900.0, 1980.0)
    data = timed(DRIFT, spread=0.0, clocks=clocks, converged=np.ones(DRIFT.shape))
    table = tiny.built(sessions.scan_sessions, data)
    keys = "session cases rounds converged_percent drift_cases"
    assert tiny.printed(table, keys) == "scan | 21 | 5 | 100 | 21"
    assert tiny.printed(table, "drift_percent").startswith("1.1 [1.0")
    assert tiny.printed(table, "outliers_percent worst clocks lowered") == "20 | 2.01 | 105 | 1"
