"""Reports of ncu: cases, launches and counts are read; what is missing is named with its launch."""

import re
import shutil
from pathlib import Path

import pytest

from scanlab_report.load import load
from tests.fixtures import SESSION, write

CONFLICTS, DRAM = ((SESSION / f"{n}.csv").read_text() for n in ("bank_conflicts", "dram_bytes"))
STORES = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"
CASE = ["variant", "type", "items", "padding", "load"]


def report(folder: Path, stem: str, text: str) -> Path:
    """Another text of a recorded report, with the ranges beside it."""
    shutil.copy(SESSION / f"{stem}.ranges.json.gz", folder)
    return write(folder / f"{stem}.csv", text)


def test_each_launch_is_a_row_with_its_case_and_whole_counts(tmp_path) -> None:
    lines = f"==PROF== Profiling\n3 cases are timed\n{CONFLICTS}"  # of ncu and of the program
    data = load([report(tmp_path, "bank_conflicts", lines), report(tmp_path, "dram_bytes", DRAM)])
    rows = data["counters"].set_index(CASE).sort_index()
    launches = rows.loc[("hso_reentry_padded", "i32", 2048, "row", "halves")]
    assert launches["launch_index"].tolist() == [0, 1]
    assert launches["shared_store_wavefronts"].tolist() == [137, 211]
    row = rows.loc[("hso_block_padded", "i32", 2048, "one_in_16", "halves")]
    assert (row.shared_load_wavefronts, row.shared_load_conflicts) == (684, 348)
    assert len(rows) == CONFLICTS.count(STORES) and "neighbours" in set(data["counters"]["load"])
    moved = data["traffic"].query("variant == 'warp_shuffle' and items == 262144")
    assert moved["dram_bytes_read"].tolist() == [1_051_136, 256, 2304]
    commits = {data.files[number].commit for number in data["traffic"]["file"]}
    assert not data.problems and re.fullmatch("[0-9a-f]{40}", "".join(commits))


WITHOUT_STORES = "\n".join(
    line for line in CONFLICTS.splitlines() if not (STORES in line and line.startswith('"9"'))
)
WHOLE = "ld.sum must be a whole number of 0 to 2^53"


@pytest.mark.parametrize(
    ("stem", "text", "stated"),
    [
        ("bank_conflicts", WITHOUT_STORES, f"launch 9 lacks the metric {STORES}"),
        (
            "bank_conflicts",
            CONFLICTS.replace('"684"', '"n/a"'),
            "ld.sum must be a whole number of 0 to 2^53",
        ),
        ("bank_conflicts", CONFLICTS[: CONFLICTS.rindex("Command line")], "is cut off"),
        ("bank_conflicts", CONFLICTS.replace("scan/variant", "other"), "run ncu with --nvtx"),
        ("dram_bytes", DRAM.replace('"byte"', '"Mbyte"'), "run ncu with --print-units base"),
    ],
)
def test_what_a_report_lacks_is_named_with_its_launch(tmp_path, stem, text, stated) -> None:
    (problem,) = load([report(tmp_path, stem, text)]).problems
    assert f"{stem}.csv" in problem and stated in problem
    (tmp_path / f"{stem}.ranges.json.gz").unlink()
    (problem,) = load([tmp_path / f"{stem}.csv"]).problems
    assert f"{stem}.ranges.json is not beside it: scanlab bench --once --out writes it" in problem
