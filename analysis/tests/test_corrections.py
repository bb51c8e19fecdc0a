"""Recorded files are corrected beside them: withdrawn measurements answer nothing, a table gets its run, and one rule says which file answers."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import msgspec
import pytest
from scanlab_report.documents import markers, ranks_macros
from scanlab_report.read import corrections, results
from scanlab_report.read.records import RECORDED, Run
from scanlab_report.select import files
from scanlab_report.select.counted import Waits
from scanlab_report.select.drift import Sessions
from scanlab_report.select.experiments import plan
from scanlab_report.select.provenance import Provenance
from scanlab_report.select.ranks_evidence import VENDOR, SeveralGpus

from scanlab_report import DATA
from scanlab_report.chapters.rivals import rivals
from scanlab_report.commands.build import devices
from tests import ranks_fixtures, tiny
from tests.tiny import EXACT, case

RECORD = DATA / "recorded"


def test_each_correction_is_of_recorded_files_and_of_names_in_them() -> None:
    for entry in corrections.known()["withdrawn"]:
        found = list(RECORD.glob(entry["files"]))
        text = b"".join(gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes() for file in found).decode()
        assert found and all(f'"{name}"' in text for name in entry["names"]) and entry["reason"].endswith(".")
    for entry in corrections.known()["source"]:
        assert (RECORD / entry["file"]).is_file() and entry["git_commit"] not in (RECORD / entry["file"]).read_text()


def test_withdrawn_algorithms_answer_nothing() -> None:
    ranks = results.read([], [RECORD / "nvidia-h200-x4/2026-11-26/ranks_scaling_1.json.gz"]).streams[0].rows
    assert "peer_look_ahead" in set(ranks["algorithm"]) and not {"nccl_cub", "nccl_thrust"} & set(ranks["algorithm"])


def test_a_copy_of_a_recorded_file_elsewhere_is_not_corrected(tmp_path: Path) -> None:
    four = ranks_fixtures.run(4, [1 << 20])
    read = results.read([ranks_fixtures.write(tmp_path, {"ranks_scaling_4": four})], [])
    assert VENDOR in set(read.streams[0].rows["algorithm"])


def test_stall_cycles_name_their_day_and_commit() -> None:
    read = results.read([], [RECORD / "nvidia-h200/2026-11-26/prefix_wait.csv"])
    assert Waits().find(read, {}).provenance.line() == "NVIDIA H200, 2026-11-26, commit c47ca4cc1, recorded"


def test_the_speed_over_cub_with_nccl_is_of_the_data_and_without_them_withdrawn(tmp_path: Path) -> None:
    assert ranks_macros.over_vendor(None) == "The recorded times of CUB with NCCL are withdrawn. CUB ran without its tuned shapes, and counted in 64 bits."
    read = results.read([ranks_fixtures.write(tmp_path, {f"ranks_scaling_{ranks}": ranks_fixtures.run(ranks, [1 << 20, 1 << 24]) for ranks in (1, 4)})], [])
    timed = SeveralGpus(VENDOR).find(read, {})
    few, many = (ranks_fixtures.times_us(4 * items, 4) for items in (1 << 20, 1 << 24))
    for latex, power in ((False, "2^24"), (True, r"\ensuremath{2^{24}}")):
        told = ranks_macros.over_vendor(timed, latex)
        assert told.startswith("On 4 GPUs (") and f"at {power} 32-bit integers per GPU" in told and "Earlier recorded times" in told
        assert all(f"{of['nccl_cub'] / of['peer_look_ahead']:.2f} [" in told for of in (few, many))


@pytest.mark.parametrize(("timed", "dates", "first"), [({0: 5, 1: 9}, "21", 1), ({0: 9, 1: 9}, "12", 1), ({0: 9, 1: 9}, "21", 0), ({0: 9, 1: 5}, "12", 0)])
def test_the_file_that_timed_the_most_variants_answers_and_of_equals_the_newest(timed: dict[int, int], dates: str, first: int) -> None:
    assert files.places(timed, dict(enumerate(dates)))[first] == 0


def test_of_several_gpus_and_of_one_the_same_rule_says_which_file_answers(tmp_path: Path) -> None:
    """The file of more variants answers, although it is older and the question is of one variant."""
    def slower(document: dict) -> dict:
        for entry in document["benchmarks"]:
            entry["real_time"] *= 2
        return document

    old, new = ranks_fixtures.run(4, [1 << 20], date="2026-01-01T00:00:00"), slower(ranks_fixtures.run(4, [1 << 20], date="2026-01-02T00:00:00"))
    folder = ranks_fixtures.write(tmp_path, {"old": old, "new": new})
    expected = ranks_fixtures.times_us(4 << 20, 4)["peer_look_ahead"] * 1e3

    def median() -> float:
        cases = SeveralGpus().find(results.read([folder], []), {}).cases
        return cases.loc[cases["algorithm"] == "peer_look_ahead", "median_ns"].iloc[0]

    assert median() == pytest.approx(2 * expected, rel=0.05)
    new["benchmarks"] = [entry for entry in new["benchmarks"] if entry["variant"] != "nccl_cub"]
    ranks_fixtures.write(tmp_path, {"new": new})
    assert median() == pytest.approx(expected, rel=0.05)


def test_the_pages_name_the_recorded_devices_alike(tmp_path: Path) -> None:
    for page in ("README.md", "docs/METHOD.md", "docs/CLAIMS.md", "docs/DEVICES.md"):
        text = (DATA.parent / page).read_text(encoding="utf-8")
        assert text[slice(*markers.find(text, "devices"))].strip() == devices.recorded(), page
    for device, gpus in (("A", 2), ("B", 1), ("B", 4)):
        (tmp_path / device / str(gpus)).mkdir(parents=True)
        (tmp_path / device / str(gpus) / "session.json").write_text(json.dumps({"device": device, "gpus": gpus, "files": [{"kind": "waits"}]}))
    assert devices.recorded(tmp_path).startswith("Recorded GPU times are of A (2 GPUs) and B (1 and 4 GPUs).")


def test_below_9_0_variants_that_need_it_answer_nothing() -> None:
    about = tiny.ABOUT["best"]
    read = tiny.results([case("best", 1024, 1.0), case("look_ahead", 1024, 1.0)])
    limited = {"best": "any n", "look_ahead": "any n; compute capability 9.0 and later", "cub_tuned": "shapes that look ahead: compute capability 9.0 and later"}
    run = read.runs[0]
    read.runs[0] = Run(run.file, run.origin, run.context, {id_: msgspec.structs.replace(about, limits=limits) for id_, limits in limited.items()})
    older, refused = devices.without_newer(read)
    assert refused == ["look_ahead"] and set(older.timings["variant"]) == {"best"}


def test_scans_on_the_hosts_cores_are_no_outliers_of_a_gpu() -> None:
    wild = [1.0, 1.0, 1.0, 1.0, 1.0, 9.0]
    read = tiny.results([case("best", 1024, 1.0, EXACT), case("cpu_parallel", 1024, 1.0, wild)])
    (session,) = Sessions().find(read, {}).sessions
    assert session.outliers.empty and len(session.names) == 1
    host = tiny.results([case("cpu_parallel", 1024, 1.0, wild)], kind="host")
    assert len(Sessions().find(host, {}).sessions[0].outliers) == 1


def test_a_command_of_several_gpus_has_as_many_as_its_figure_shows() -> None:
    assert plan(["ranks_chunk"], 2).commands == ("tools/record build/cuda/scanlab results/x2 --gpus 2 ranks_chunk",)


def test_ratios_of_narrow_sums_say_that_cub_adds_in_32_bits() -> None:
    for type_name, told in (("i8", True), ("i32", False)):
        read = tiny.results([case("best", 1 << 30, 1.0, type=type_name), case("cub_newest", 1 << 30, 2.0, type=type_name), case("memcpy", 1 << 30, 1.0, type=type_name)])
        gathered = tiny.gathered(rivals, read)
        assert all((rivals.NARROW in " ".join(build(**gathered).notes)) == told for build in (rivals.build, rivals.fastest))
        assert (rivals.NARROW in rivals.score(**gathered)) == told


def test_numbers_of_a_model_name_no_commit_on_a_page_of_the_repository() -> None:
    simulated = Provenance("scenarios", "simulated", "Engine model", ("2026-01-01",), ("a" * 40,))
    assert simulated.line() == "Engine model, 2026-01-01, commit aaaaaaaaa, simulated" and simulated.of_checkout().line() == "Engine model of this checkout, simulated"
    recorded = Provenance("timings", RECORDED, "A", ("2026-01-01",), ("a" * 40,))
    assert recorded.of_checkout() == recorded
