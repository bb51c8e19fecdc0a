"""How targets and claims stand: values of a few times chosen by hand, where each is farthest from what is wanted, and in how many sessions it holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from scanlab_report.claims import of_models, of_streams
from scanlab_report.claims.checked import check
from scanlab_report.claims.standing import FAILS, HOLDS, NOT_MEASURED, Bound, Standing
from scanlab_report.claims.stated import Claim
from scanlab_report.derive import implicit_sync
from scanlab_report.read.published import Publication
from scanlab_report.read.records import Results, Run, StreamFile
from scanlab_report.read.streams import IMPLICIT_SYNC
from scanlab_report.select.evidence import CounterEvidence, TableEvidence
from scanlab_report.select.streams_evidence import Trace, TraceEvidence
from scanlab_report.tables.claims import table
from tests import tiny
from tests.tiny import EXACT, LEAST, MOST, NOWHERE, case, near

N = 1 << 20


def claim(measure: str, **named: Any) -> Claim:
    return Claim(**({"statement": "all cases", "source": "scanlab", "figure": "time", "measure": measure} | named))


def of(claim_: Claim, read: Results, published: dict[str, Publication] | None = None) -> Standing:
    (checked,) = check([claim_], read, published or {})
    return checked


# ------------------------------------------------------------------------------------------------ scans


def comparisons(*ours: float) -> Results:
    return tiny.results([*(case("best", 1024 << place, ns, EXACT) for place, ns in enumerate(ours)), *(case("cub_device_scan", 1024 << place, 100.0, EXACT) for place in range(len(ours)))])


def test_lost_cases_are_counted_and_the_worst_is_named() -> None:
    found = of(claim("losses", at_most=0), comparisons(90.0, 110.0, 125.0, 100.0))
    assert (found.verdict, found.measured.value, found.what) == (FAILS, 2, "all 4 cases")
    assert found.where == "i32 plus, 4096"
    assert of(claim("losses", at_most=0), comparisons(90.0, 100.0)).verdict == HOLDS
    assert of(claim("losses", at_most=0), tiny.results([case("best", N, 1.0)])).verdict == NOT_MEASURED


def test_without_an_interval_nothing_is_said_of_losses() -> None:
    few = [case(variant, 1024, ns, (1.0,) * 3) for variant, ns in (("best", 500.0), ("cub_device_scan", 100.0))]
    assert of(claim("losses", at_most=0), tiny.results(few)).verdict == NOT_MEASURED
    decided = [case(variant, 2048, ns, EXACT) for variant, ns in (("best", 90.0), ("cub_device_scan", 100.0))]
    found = of(claim("losses", at_most=0), tiny.results([*few, *decided]))
    assert (found.verdict, found.what) == (HOLDS, "all 1 cases")


@pytest.mark.parametrize(("best", "says"), [(279.0, HOLDS), (281.0, FAILS)])
def test_the_floor_is_met_by_a_time_over_that_of_an_empty_launch_of_its_run_and_column(best: float, says: str) -> None:
    floors = [case("empty_launch", 0, ns, EXACT, cache=cache, launch=launch) for ns, cache, launch in ((200.0, "warm", "stream"), (20.0, "warm", "graph"), (2.0, "cold", "stream"))]
    read = tiny.results([*floors, case("best", 1024, best, cache="warm"), case("best", 512, 210.0, cache="warm"), case("best", N, 1e6, cache="warm")])
    found = of(claim("floor", variant="best", at_most=1.4, cases={"most_items": 4096, "cache": "warm"}), read)
    assert (found.verdict, found.where) == (says, "2^10") and found.measure == "× empty launch"
    assert (found.measured.value, found.measured.low, found.measured.high) == near((best / 200, best / 200 * LEAST, best / 200 * MOST))


def test_the_share_of_a_copy_is_the_copys_time_over_the_scans() -> None:
    read = tiny.results([case("best", N, 125.0), case("memcpy", N, 100.0, EXACT)])
    found = of(claim("speed", variant="best", over=["memcpy"], at_least=0.85, cases={"type": "i32"}), read)
    assert found.verdict == FAILS and found.measure == "of memcpy"
    assert (found.measured.value, found.measured.low, found.measured.high) == near((0.8, 0.8 / MOST, 0.8 / LEAST))
    assert of(claim("speed", variant="best", over=["memcpy"], at_least=0.79, cases={"type": "i32"}), read).unsure  # the interval begins at 0.57


def test_kernels_with_local_memory_are_counted_by_case() -> None:
    spills = tiny.KERNEL | {"local_bytes": 8.0}
    read = tiny.results([case("best", N, 1.0), case("best", 2 * N, 1.0, kernel=spills), case("look_ahead", N, 1.0, kernel=spills), case("memcpy", N, 1.0, kernel=spills)])
    found = of(claim("spills", at_most=0), read)  # a copy is none of our kernels
    assert (found.measured.value, found.where, found.reached) == (2, "best, look_ahead", False)
    assert of(claim("spills", at_most=2), read).reached


# --------------------------------------------------------------------------------------- over one core


def session(cpu: float, gpu: float = 100.0) -> list[tiny.Case]:
    return [case("cpu_sequential", N, cpu, cache="warm"), case("hso_blocked_padded", N, gpu, EXACT), case("cub_device_scan", N, gpu / 2, EXACT)]


THEN = {"hso2007_table2": Publication(pd.DataFrame({"items": [1024, N], "cpu_ms": [1.0, 9.0], "gpu_ms": [4.0, 2.0]}), {"short": "then"})}


def speedup(**named: Any) -> Claim:
    return claim("speedup", **({"source": "harris2007sdk", "variant": "hso_blocked_padded", "cases": {"least_items": 65536}} | named))


def test_a_published_speedup_is_what_one_of_now_is_divided_by() -> None:
    found = of(speedup(of_published="hso2007_table2", at_least=1), tiny.results(session(900.0)), THEN)  # 9 now, 4.5 then
    assert (found.measured.value, found.measured.low, found.measured.high) == near((2, 2 * LEAST, 2 * MOST))
    assert (found.verdict, found.where) == (HOLDS, "i32, 2^20")
    assert of(speedup(of_published="hso2007_table2", at_least=1), tiny.results(session(449.0)), THEN).verdict == FAILS


def test_over_one_core_every_session_counts_and_the_range_is_said() -> None:
    found = of(speedup(at_least=3), tiny.results(session(600.0), session(200.0), session(400.0)))
    assert found.measured.value == near(2) and found.where == "i32, 2^20; 2.00 to 6.00 by the session"
    assert (found.met, found.runs, found.verdict) == (2, 3, FAILS)
    assert "fails in 1 of 3 files" in table([found], "c").markdown()
    assert any("all sessions count" in note for note in table([found], "c").notes)
    assert len({commit for provenance in found.provenances for commit in provenance.commits}) == 3
    other = of(speedup(at_most=3), tiny.results(session(600.0), session(200.0), session(400.0)))
    assert other.measured.value == near(6) and (other.met, other.runs) == (1, 3)
    assert of(speedup(at_least=2), tiny.results(session(600.0), session(200.0))).verdict == HOLDS


def test_a_session_that_lacks_one_side_tells_nothing_of_one_core() -> None:
    read = tiny.results(session(600.0), session(1.0)[:1], session(1.0)[1:])
    assert of(speedup(at_least=6), read).verdict == HOLDS and of(speedup(at_least=6), read).where == "i32, 2^20"


# ------------------------------------------------------------------------------------------------ models


def counted(hardware: int, conflicts: int) -> CounterEvidence:
    """The emulator counts 40 transactions and 30 conflicts of the one case, and the same as the hardware of another."""
    columns = ["shared_load_wavefronts", "shared_store_wavefronts", "shared_load_conflicts", "shared_store_conflicts"]
    rows = [{"variant": variant, "padding": "none", "type": "i32", "op": "plus", "items": 64, "kernel": "k", "launch_index": 0} | dict(zip(columns, counts, strict=True))
            for variant, counts in (("hso_block", (hardware - 8, 8, conflicts, 0)), ("hso_blocked", (20, 5, 9, 6)))]  # fmt: skip
    explanations = [tiny.explanation(variant, 64, {"transactions": transactions}) for variant, transactions in (("hso_block", 40), ("hso_blocked", 25))]
    return CounterEvidence(pd.DataFrame(rows), explanations, NOWHERE, NOWHERE)


@pytest.mark.parametrize(("hardware", "conflicts", "differ"), [(40, 30, 0), (41, 30, 1), (39, 30, 1), (40, 29, 1), (40, 31, 1)])
def test_counts_differ_whichever_side_counts_more(hardware: int, conflicts: int, differ: int) -> None:
    found = of_models.counts(claim("counts", at_most=0), lambda _: counted(hardware, conflicts))
    assert (found.measured.value, found.where, found.reached) == (differ, "of 2", differ == 0)


@pytest.mark.parametrize("conflicts", [28, 32])
def test_conflicts_are_off_by_a_share_of_the_hardwares_transactions(conflicts: int) -> None:
    found = of_models.counts(claim("conflicts", at_most=1), lambda _: counted(50, conflicts))
    assert (found.measured.value, found.where, found.reached) == (near(4), "hso_block, i32, 64", False)


def compared(*predicted: float, both: int = 9, best: int = 10) -> TableEvidence:
    rows = [{"schedule": "graph", "chunks": place, "measured_us": 100.0, "predicted_us": us, "overlap_in_either": 10, "overlap_in_both": both,
             "best_overlap_in_either": 10, "best_overlap_in_both": best} for place, us in enumerate(predicted)]  # fmt: skip
    return TableEvidence(pd.DataFrame(rows), NOWHERE)


def test_a_makespan_is_off_whether_it_is_longer_or_shorter() -> None:
    rows = compared(80.0, 90.0, 97.0, 104.0, 110.0)
    median, worst = (of_models.engines(claim(measure, at_most=10), lambda _: rows) for measure in ("makespan_median", "makespan_worst"))
    assert (median.measured.value, median.where, median.reached) == (near(10), "of 5 configurations", True)
    assert (worst.measured.value, worst.where, worst.reached) == (near(20), "graph, 0 chunks", False)


def test_pairs_that_overlap_in_both_are_percent_of_those_that_do_in_either() -> None:
    found = of_models.engines(claim("overlap", at_least=95), lambda _: compared(100.0, 100.0))
    assert (found.measured.value, found.where, found.reached) == (near(90), "of 20 pairs", False)
    assert (found.bound.allows, found.bound.enough) == (near(100), True)
    assert of_models.engines(claim("overlap", at_least=95), lambda _: compared(100.0, best=9)).bound.enough is False
    assert of_models.engines(claim("overlap", at_least=90), lambda _: compared(100.0)).bound is None
    uncounted = TableEvidence(compared(100.0).rows.assign(best_overlap_in_either=0, best_overlap_in_both=0), NOWHERE)
    assert of_models.engines(claim("overlap", at_least=95), lambda _: uncounted).bound is None  # nothing is said of what is possible


# --------------------------------------------------------------------------- streams, orders and experiments


def test_collection_counts_by_how_far_it_changes_the_makespan_either_way() -> None:
    def traces(*percent: float) -> TraceEvidence:
        return TraceEvidence([Trace({"schedule": f"s{of}", "connections": 8, "tracing_overhead_percent": of}, pd.DataFrame()) for of in percent], NOWHERE)

    found = of_streams.tracing(claim("tracing", at_most=5), lambda _: traces(2.0, -6.0, 4.0))
    assert (found.measured.value, found.where, found.reached) == (-6, "s-6.0", False)
    assert of_streams.tracing(claim("tracing", at_most=5), lambda _: traces(2.0, -4.0)).reached


def test_an_order_of_schedules_is_the_time_of_the_one_that_was_faster_over_the_others() -> None:
    published = {"harris2012_overlap": Publication(pd.DataFrame({"device": ["d"] * 3, "schedule": ["a", "b", "c"], "milliseconds": [3.0, 1.0, 2.0]}), {})}
    read = Results()
    for name, us in (("a", 40.0), ("b", 10.0), ("c", 20.0)):
        read.streams.append(StreamFile(Run(Path(f"{name}.json"), "recorded", {"scenario": f"d_{name}", "makespan_us": us}), "simulation", pd.DataFrame()))
    found = of(claim("order", device="d", at_most=1), read, published)
    assert (found.measured.value, found.where, found.verdict) == (0.5, "b, c", HOLDS)
    read.streams[1].run.context["makespan_us"] = 25.0
    found = of(claim("order", device="d", at_most=1), read, published)
    assert (found.measured.value, found.where, found.verdict) == (1.25, "b, c", FAILS)


def asked(name: str, question: str, yes: int) -> dict[str, Any]:
    return {"name": name, "question": question, "stated": "yes", "answer": "yes" if yes > 7 else "no", "differs": yes <= 7, "yes": yes, "trials": 15, "claim": "", "source": "",
            "refusal": "", "environment": {}, "subject": "", "asks": ""}  # fmt: skip


def test_an_experiment_counts_by_the_share_of_its_trials() -> None:
    read = Results(streams=[StreamFile(Run(Path("c.json"), "recorded", {}), IMPLICIT_SYNC, pd.DataFrame([asked("one_call.host", "q", 12) | {"subject": "one call"}, asked("b", "q", 3)]))])
    of_one = [of(claim("implicit_sync", experiments=["one_call.host"], answer=answer, at_least=0.75), read) for answer in ("yes", "no")]
    assert [target.measured.value for target in of_one] == [near(0.8), near(0.2)] and of_one[0].where == "one call"
    worse = of(claim("implicit_sync", experiments=["one_call.host", "b"], answer="no", at_least=0.75), read)
    assert worse.measured.value == near(0.2) and worse.where == "one call"


def test_questions_keep_the_names_of_calls_and_every_word() -> None:
    """A call is named without ``cuda`` where the heading says so; in a sentence it has its name."""
    rows = pd.DataFrame([asked("stream_synchronize_elsewhere", "a kernel in another stream still run when cudaStreamSynchronize returns", 15),
                         asked("held", "a copy hold back a kernel of another stream with CUDA_DEVICE_MAX_CONNECTIONS=1", 15), asked("destroy", "cudaStreamDestroy wait", 0),
                         asked("malloc.host", "", 15) | {"subject": "cudaMallocAsync of cudaMalloc's pool", "asks": "host"}])  # fmt: skip
    assert [row.question for row in implicit_sync.others(rows).itertuples()] == [
        "a kernel in another stream still run when cudaStreamSynchronize returns", "a copy hold back a kernel of another stream with CUDA_DEVICE_MAX_CONNECTIONS=1",
        "cudaStreamDestroy wait"]  # fmt: skip
    assert [row.call for row in implicit_sync.calls(rows).itertuples()] == ["MallocAsync of cudaMalloc's pool"]


def test_of_several_values_the_one_farthest_from_what_is_wanted_counts() -> None:
    for bound, farthest in (({"at_least": 2}, 1), ({"at_most": 2}, 4), ({"equals": 2}, 4)):
        assert claim("speed", **bound).worst([1, 2, 4], key=float) == farthest
    assert claim("speed", equals=2).worst([-1, 4], key=float) == -1


def test_copies_beside_a_case_say_what_a_scan_of_their_speed_would_reach() -> None:
    times = {"best": 100.0, "cub_device_scan": 160.0, "cub_newest": 120.0, "memcpy": 80.0, "copy_one_wave": 90.0}
    read = tiny.results([case(variant, N, ns) for variant, ns in times.items()])
    found = of(claim("speed", variant="best", over="cub", at_least=1.3, cases={"type": "i32"}), read)
    assert found.measured.value == near(1.2)
    assert found.bound == Bound("copy_one_wave", near(4 / 3), True)


def test_nothing_is_known_of_intervals_of_single_counts() -> None:
    found = of(claim("losses", at_most=0), comparisons(90.0))
    assert not found.measured.known and np.isnan(found.measured.high) and not found.unsure
