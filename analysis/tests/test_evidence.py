"""The choice of files within a session: measured before recorded, what is compared from one file, one device at a time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from scanlab_report.read import results
from scanlab_report.read.records import MEASURED
from scanlab_report.select.counted import Traffic
from scanlab_report.select.needs import gather
from scanlab_report.select.provenance import Provenance, counter_provenance
from scanlab_report.select.timings import AllTimings, EachSession, Timings
from scanlab_report.select.variants import CUBS, OWN
from tests import fixtures, tiny
from tests.fixtures import case, context, dram_bytes, repetition


def run(folder: Path, name: str, time: float, variant: str = "memcpy", **changes: Any) -> None:
    folder.mkdir(exist_ok=True)
    entries = [repetition(case(variant, 1024), i, time) for i in range(5)]
    (folder / name).write_text(json.dumps({"context": context(**changes), "benchmarks": entries}))


def median(measured: list[Path], recorded: list[Path], **need: Any) -> tuple[float, str]:
    evidence = Timings(**need).find(results.read(measured, recorded), {})
    assert evidence is not None
    return float(evidence.of("memcpy")["median_ns"].iloc[0]), evidence.provenance.line()


def test_what_was_measured_now_is_preferred_and_said(tmp_path: Path) -> None:
    run(tmp_path / "now", "a.json", 1.0)
    run(tmp_path / "then", "a.json", 2.0)
    assert median([tmp_path / "now"], [tmp_path / "then"]) == (1.0, "Test Device, 2026-01-02, commit 012345678, measured now")
    assert median([], [tmp_path / "then"])[1].endswith("recorded")


def test_recorded_is_taken_where_what_was_measured_does_not_suffice(tmp_path: Path) -> None:
    run(tmp_path / "now", "a.json", 1.0, variant="cpu_sequential", kind="host")
    run(tmp_path / "then", "a.json", 2.0)
    assert median([tmp_path / "now"], [tmp_path / "then"])[0] == 2.0


def test_two_files_are_never_pooled_and_the_newer_is_taken(tmp_path: Path) -> None:
    run(tmp_path, "a.json", 3.0, date="2026-02-01T00:00:00", git_commit="f" * 40, git_dirty="true")
    run(tmp_path, "b.json", 2.0, date="2026-01-01T00:00:00")
    assert median([], [tmp_path]) == (3.0, "Test Device, 2026-02-01, commit fffffffff+, recorded")


def test_of_two_files_the_one_that_has_more_beside_each_other_is_taken(tmp_path: Path) -> None:
    run(tmp_path, "head_to_head.json", 9.0, date="2026-01-02")
    run(tmp_path, "full.json", 2.0, date="2026-01-01")
    document = json.loads((tmp_path / "full.json").read_text())
    document["benchmarks"] += [repetition(case("look_ahead", 1024), i, 3.0) for i in range(5)]
    (tmp_path / "full.json").write_text(json.dumps(document))
    assert median([], [tmp_path])[0] == 2.0


def test_libraries_of_python_and_older_floors_are_not_named_where_they_are_not_shown(tmp_path: Path) -> None:
    run(tmp_path, "new.json", 2.0, date="2026-01-02")
    document = json.loads((tmp_path / "new.json").read_text())
    document["benchmarks"] += [repetition(case("empty_launch", 256), i, 1.0) for i in range(5)]
    (tmp_path / "new.json").write_text(json.dumps(document))
    run(tmp_path, "floor.json", 7.0, variant="empty_launch", date="2026-01-01", git_commit="f" * 40)
    run(tmp_path, "python.json", 5.0, variant="torch_cumsum", git_commit="e" * 40)
    read = results.read([], [tmp_path])
    plain, beside = Timings().find(read, {}), Timings(python=True).find(read, {})
    assert plain.provenance.commit == "commit 012345678" and plain.floor_ns("cold") == 1.0
    assert beside.provenance.commit == "commit 012345678, eeeeeeeee"


def test_stream_and_graph_are_not_pooled(tmp_path: Path) -> None:
    entries = [repetition(case("memcpy", 1024, launch=launch), i, time) for launch, time in (("stream", 5.0), ("graph", 1.0)) for i in range(5)]
    (tmp_path / "a.json").write_text(json.dumps({"context": context(), "benchmarks": entries}))
    read = results.read([], [tmp_path])
    assert Timings().find(read, {}).of("memcpy")["median_ns"].tolist() == [5.0]
    both = Timings(launches=("stream", "graph")).find(read, {})
    assert both.of("memcpy", launch="graph")["median_ns"].tolist() == [1.0]


def test_a_case_that_two_tables_have_counted_is_refused(tmp_path: Path) -> None:
    """Neither says when: added up, or of one of them, the bytes would be wrong."""
    for day, top in (("2026-01-01", 18), ("2026-01-02", 19)):
        (tmp_path / day).mkdir()
        (tmp_path / day / "dram_bytes.csv").write_text(dram_bytes(top))
    measured, recorded = results.read([tmp_path], []), results.read([], [tmp_path])
    (problem,) = measured.problems
    assert problem.file == tmp_path / "2026-01-02" / "dram_bytes.csv" and "has 3 of the cases of" in str(problem) and not recorded.problems


def test_a_case_that_was_counted_on_two_devices_is_two_cases(tmp_path: Path) -> None:
    """By the folder's run, or by the table itself."""
    for device, bits in (("A", "A"), ("B", "B"), ("A again", "A")):
        (tmp_path / device).mkdir()
        run(tmp_path / device, "scan.json", 1.0, device=device, argv=device)
        (tmp_path / device / "dram_bytes.csv").write_text(dram_bytes(18))
        (tmp_path / device / "repeat.jsonl").write_text(fixtures.verification(repeated=True, device=bits, seed=str(len(device))))
    assert not results.read([tmp_path / "A", tmp_path / "B"], []).problems
    (problem,) = results.read([tmp_path], []).problems
    assert problem.file == tmp_path / "A again" / "repeat.jsonl" and f"of the cases of {tmp_path / 'A' / 'repeat.jsonl'}" in str(problem)


@pytest.mark.parametrize(("other", "said"), [("b", "commit bbbbbbbbb"), ("a", "commit unknown")])
def test_a_table_names_its_own_commit_or_the_one_of_its_folder(tmp_path: Path, other: str, said: str) -> None:
    """And none, if the runs of the folder have several: it could be of any."""
    run(tmp_path, "another.json", 1.0, git_commit=other * 40)
    run(tmp_path, "scan.json", 1.0, variant="best", git_commit="b" * 40)
    (tmp_path / "repeat.jsonl").write_text(fixtures.verification(repeated=True, git_commit="c" * 40))
    (tmp_path / "prefix_wait.csv").write_text(fixtures.PREFIX_WAIT)
    read = results.read([tmp_path], [])
    assert not read.problems
    assert [counter_provenance(read, table, MEASURED).commit for table in (read.repeats, read.waits)] == ["commit ccccccccc", said]


def test_of_a_variant_the_newest_run_is_heard_and_one_that_none_describes_is_ours_by_its_id(tmp_path: Path) -> None:
    for day, label in (("02", "now"), ("01", "then")):
        run(tmp_path, f"{label}.json", 1.0, date=f"2026-01-{day}", variants={"memcpy": fixtures.variant("memcpy") | {"label": label, "origin": "baseline"}})
    about = results.read([], [tmp_path]).variants
    assert about["memcpy"].label == "now" and about["gone"].label == "gone" and OWN.has(about["gone"])
    assert about.ids("gone", OWN) == ["gone"] and Timings().find(results.read([], [tmp_path]), {}).about == about


def test_missing_evidence_is_said_in_a_clause(tmp_path: Path) -> None:
    gathered = gather({"timings": Timings(all_of=("memcpy",))}, results.Results(), {})
    assert gathered.reasons == ("no i32 plus inclusive timings of memcpy on a CUDA device",)


# ----------------------------------------------------------------------------- what is found in a device's timings


def test_the_fastest_of_cubs_scans_is_found_in_each_case_by_itself() -> None:
    cubs = tiny.ABOUT.ids(CUBS)
    times = {(1024, "cold"): (30.0, 20.0, 25.0), (1024, "warm"): (8.0, 9.0, 10.0), (2048, "cold"): (30.0, 40.0, 20.0)}
    cases = [tiny.case(cub, n, ns, cache=cache) for (n, cache), of in times.items() for cub, ns in zip(cubs, of, strict=False)]
    timings = Timings().find(tiny.results([*cases, tiny.case(cubs[2], 1024, 1.0, settings="tile=1"), tiny.case("best", 1024, 1.0)]), {})
    found = [timings.vendor(n, cache) for n, cache in times]
    assert found == [cubs[1], cubs[0], cubs[2]] and timings.vendor(4096, "cold") is None


def test_a_line_over_sizes_has_powers_of_two_alone_and_a_table_all() -> None:
    timings = Timings().find(tiny.results([tiny.case("best", n, float(n)) for n in (4096, 1000, 1024, 3072, 1)]), {})
    assert timings.series("best")["items"].tolist() == [1, 1024, 4096]
    assert timings.of("best")["items"].tolist() == [1, 1000, 1024, 3072, 4096]


def test_a_line_has_all_sizes_where_none_is_a_power_of_two() -> None:
    timings = Timings().find(tiny.results([tiny.case("best", n, float(n)) for n in (3000, 1000)]), {})
    assert timings.series("best")["items"].tolist() == [1000, 3000]


def test_the_floor_is_that_of_the_column_whatever_its_size() -> None:
    floors = [tiny.case("empty_launch", 0, 3000.0, cache="warm"), tiny.case("empty_launch", 64, 3000.0, cache="cold"), tiny.case("empty_launch", 0, 600.0, cache="warm", launch="graph")]
    timings = Timings(launches=("stream", "graph")).find(tiny.results([*floors, tiny.case("best", 1024, 1.0)]), {})
    assert [timings.floor_ns("warm"), timings.floor_ns("warm", "graph"), timings.floor_ns("cold")] == [3000, 600, 3000]
    assert timings.floor_ns("cold", "graph") == 600  # where it was not timed so, as it was
    assert timings.caches() == ["cold"]  # a floor is no scan


def test_a_match_is_their_time_over_ours_with_the_fastest_of_them() -> None:
    read = tiny.results([tiny.case("best", 1024, 200.0), tiny.case("memcpy", 1024, 100.0, tiny.EXACT), tiny.case("copy_bulk", 1024, 80.0, tiny.EXACT)],
                        [tiny.case("best", 1024, 100.0)])  # fmt: skip
    timings = AllTimings().find(read, {})
    (key,) = timings.keys()
    match = timings.match(key, "best", ("memcpy", "copy_bulk"))
    assert (match.rival, match.run) == ("copy_bulk", 0) and match.ratio.value == pytest.approx(0.4)
    assert (match.ratio.low, match.ratio.high) == pytest.approx((0.4 / tiny.MOST, 0.4 / tiny.LEAST))
    assert timings.match(key, "best", ("memcpy",)).ratio.value == pytest.approx(0.5) and timings.match(key, "best", (CUBS,)) is None


def test_each_session_has_its_own_timings_the_newest_first_whatever_its_code() -> None:
    sessions = [[tiny.case("memcpy", 1024, ns), tiny.case("cpu_sequential", 1024, 2 * ns)] for ns in (10.0, 20.0)] + [[tiny.case("memcpy", 1024, 5.0)]]
    found = EachSession(Timings(all_of=("memcpy", "cpu_sequential"))).find(tiny.results(*sessions), {})
    assert [session.of("memcpy")["median_ns"].tolist() for session in found.sessions] == [[20], [10]]
    assert found.provenance.commits == ("a" * 40, "b" * 40) and found.provenance.dates == ("2026-01-01", "2026-01-02")
    assert EachSession(Timings(all_of=("memcpy", "best"))).find(tiny.results(*sessions), {}) is None


def test_dram_bytes_of_all_launches_of_a_case_are_added_up() -> None:
    read = tiny.results([tiny.case("memcpy", 1024, 1.0)], l2_bytes="77")
    case = {"settings": "", "type": "i32", "op": "plus", "mode": "inclusive", "items": 64, "kernel": "k", "origin": MEASURED, "file": "d.csv"}
    read.traffic_tables = [pd.DataFrame([case | {"variant": "v", "launch_index": i, "dram_bytes_read": of, "dram_bytes_written": 10 * of} for i, of in enumerate((3, 4))])]
    found = Traffic().find(read, {})
    assert found.cases[["dram_bytes_read", "dram_bytes_written"]].values.tolist() == [[7, 70]] and found.l2_bytes == 77


def test_how_often_and_from_which_tree_is_said() -> None:
    read = tiny.results([tiny.case("memcpy", 1024, 1.0), tiny.case("memcpy", 2048, 1.0, (1, 1, 1))], git_dirty="true")
    said = Timings().find(read, {}).provenance
    assert said.repeated == "median of 3 to 6 repetitions" and said.line() == "Test Device, 2026-01-01, commit aaaaaaaaa+, measured now"
    assert Provenance("", "", repetitions=(1, 1)).repeated == "median of 1 repetition" and Provenance("", "", repetitions=(4, 4)).repeated == "median of 4 repetitions"
