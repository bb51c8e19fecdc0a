"""Reading: what is sound is read as its fields say; what is not is named with file, entry and
field, and the rest goes on."""

import copy
import gzip
import json
import math
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from scanlab_report import DATA
from scanlab_report.choosing import choose_session
from scanlab_report.data import Data
from scanlab_report.load import load
from scanlab_report.load_others import corrections
from scanlab_report.reading import HISTORY
from scanlab_report.tables import COLUMNS
from tests import fixtures
from tests.fixtures import Document, case, record, repetition, results, samples, write

CASE = case("hs_blocked", 1024)
RECORDED = DATA / "recorded"


def problems(*paths: Path) -> list[str]:
    return [str(problem) for problem in load(paths).problems]


def read(folder: Path, *entries: Document, **about: Any) -> Data:
    return load([write(folder / "results.json", results(*entries, **about))])


SAMPLE = json.loads("""{"iterations": 3, "real_time": 1500.0, "time_unit": "ns", "round": 0,
    "repetition_index": 0, "outcome": "timed", "verified": true, "name": "of no matter"}""")
SCAN = SAMPLE | json.loads("""{"kind": "scan", "variant": "look_ahead", "type": "i32",
    "op": "plus", "mode": "inclusive", "items": 4096, "cache": "cold", "launch": "batch",
    "settings": {"tile": "36", "piece": "4"}, "threads_per_block": 288, "converged": false,
    "choice": {"variant": "look_ahead", "settings": {"tile": "30"}}}""")
SCHEDULE = SAMPLE | json.loads("""{"kind": "schedule", "schedule": "graph", "workload": "scale",
    "items": 4096, "chunks": 4, "streams": 2, "memory": "pinned", "work": 1, "blocks": 0,
    "buffers": 2, "bytes": 32768, "inputs": 1, "streams_created": 3, "side_kernels": 2,
    "control": false, "device_time_ms": 1.25}""")
COPY = SAMPLE | {"kind": "copy", "direction": "h2d", "both_ways": True, "memory": "pinned"}
COPY |= {"bytes": 1024}
KERNEL = SAMPLE | {"kind": "kernel", "workload": "scale", "items": 1024, "work": 1, "blocks": 0}
STREAM_SCAN = SAMPLE | json.loads("""{"kind": "stream_scan", "way": "streamed", "variant": "best",
    "type": "i32", "op": "plus", "mode": "inclusive", "items": 4096, "from": "memory",
    "to": "memory", "budget_bytes": 1048576, "chunks": 4, "mapped": false,
    "bytes_each_way": 16384}""")
TILE, PIECE = {"name": "tile", "values": ["30", "36"]}, {"name": "piece", "values": ["4"]}
ABOUT = {"look_ahead": fixtures.variant("look_ahead") | {"parameters": [TILE, PIECE]}}


def test_a_row_is_what_the_fields_of_its_entry_say(tmp_path) -> None:
    entries = (SCAN, SCHEDULE, COPY, KERNEL, SCHEDULE | {"buffers": 4}, STREAM_SCAN)
    data = read(tmp_path, *entries, variants=ABOUT)
    assert not data.problems
    row = data["scan"].iloc[0]
    wanted = ["look_ahead", "tile=36", 4096, "cold", "batch", 1500, 0, 288, 2 * 4 * 4096]
    names = ["variant", "settings", "items", "cache", "launch", "ns", "converged", "threads"]
    assert row[[*names, "bytes"]].tolist() == wanted and str(row["choice"]) == "look_ahead/tile:30"
    rows = data["schedule"]
    assert rows["entry"].tolist() == ["schedule", "copy", "kernel", "schedule"]
    assert rows["id"].tolist() == ["graph", "duplex_h2d", "scale", "graph"]
    assert rows["buffers"].tolist() == [2, 0, 0, 0], "a buffer per chunk is one case"
    assert rows["side_kernels"].tolist() == rows["own_streams"].tolist() == [1, 0, 0, 1]
    assert rows.iloc[0]["device_ns"] == 1.25e6 and math.isnan(rows.iloc[1]["device_ns"])
    row = data["stream_scan"].iloc[0]
    assert (row["scan"], row["budget"], row["bytes"]) == ("best", 1 << 20, 16384)


def test_what_a_file_lacks_is_no_number_and_never_0(tmp_path) -> None:
    row = read(tmp_path, repetition(CASE, 0, 5.0))["scan"].iloc[0]
    absent = ["sm_clock_mhz", "converged", "registers", "local_bytes", "prepare_ns"]
    assert row[absent].isna().all() and row["choice"] is None


def test_times_of_a_case_whose_last_check_failed_count_for_nothing(tmp_path) -> None:
    before = [repetition(CASE, index, 5.0) for index in range(2)]
    failed = repetition(CASE, 2, 0.0, error_occurred=True, error_message="item 3 is 5")
    other = repetition(CASE | {"items": 2048}, 0, 5.0)
    data = read(tmp_path, *before, failed, other)
    assert data["scan"]["items"].tolist() == [2048]
    assert data["skipped"]["reason"].tolist() == ["item 3 is 5"]


def test_a_wrong_output_counts_for_nothing_but_in_a_control(tmp_path) -> None:
    wrong = {"verified": False}
    assert "verified" in str(read(tmp_path, SCAN | wrong, variants=ABOUT).problems[0])
    assert "wrong" in str(read(tmp_path, SCHEDULE | wrong).problems[0])
    assert not read(tmp_path, SCHEDULE | wrong | {"control": True}).problems


def test_repeated_runs_tell_what_kept_its_bits(tmp_path) -> None:
    text = fixtures.verification(repeated=True)
    for file in (tmp_path / "repeat.jsonl", tmp_path / "again.jsonl.gz"):
        file.write_bytes(gzip.compress(text.encode()) if file.suffix == ".gz" else text.encode())
        rows = load([file])["repeats"].set_index("variant")[["cases", "varying", "runs"]]
        assert rows.loc["look_ahead"].tolist() == [12, 0, 100]
        assert rows.loc["decoupled_lookback"].tolist() == [12, 3, 100]
    assert "has 2 of the cases of" in problems(tmp_path)[0]
    data = load([write(tmp_path / "verify.jsonl", fixtures.verification())])
    assert data["repeats"].empty and data["checks"]["outcome"].value_counts().to_dict() == {
        "passed": 9,
        "skipped": 1,
    }


def test_a_cut_file_is_named_with_its_position_and_the_others_are_read(tmp_path) -> None:
    document = results(repetition(CASE, 0, 5.0))
    packed = gzip.compress(write(tmp_path / "sound.json", document).read_bytes())
    text = json.dumps(document, indent=1)[:300]
    write(tmp_path / "cut.json", text)
    broken = {"a": packed[: len(packed) // 2], "b": packed[:20] + b"\xff" * 40, "c": b"no" + packed}
    for name, damaged in broken.items():
        (tmp_path / f"{name}.json.gz").write_bytes(damaged)
    (tmp_path / "d.json").write_bytes(b'{"a":\n"\xff"}')
    data = load([tmp_path])
    assert len(data["scan"]) == 1 and len(data.problems) == 5
    (cut,) = (problem for problem in data.problems if "cut.json" in problem)
    assert "truncated" in cut and f"line {text.count(chr(10)) + 1} " in cut
    assert "position 7" in "".join(data.problems)


Change = Callable[[Document], Any]
SIX = samples(6, case("best", 1024))


def timings(change: Change = lambda document: None, **about: Any) -> Document:
    document = copy.deepcopy(results(*SIX, **about))
    change(document)
    return document


def entry(**changes: Any) -> Document:
    """Timings whose third entry is other."""
    return timings(lambda document: document["benchmarks"][2].update(changes))


def streams(**changes: Any) -> Document:
    about = fixtures.about(schema="scanlab-results/2", kind="cuda")
    return {"context": about, "benchmarks": [SCHEDULE | changes, KERNEL, COPY, STREAM_SCAN]}


def other(make: Callable[[], Document], *keys: Any, value: Any) -> Document:
    """A document with another value at the end of some keys."""
    document = json.loads(json.dumps(make()))
    inside = document
    for key in keys[:-1]:
        inside = inside[key]
    inside[keys[-1]] = value
    return document


sync = partial(fixtures.recorded, fixtures.SESSION / "implicit_sync.json.gz")
counted = partial(fixtures.explanation, 8)


@pytest.mark.parametrize(
    ("content", "stated"),
    [
        (timings(schema="scanlab-results/9"), "context.schema: is 'scanlab-results/9': expected"),
        (timings(schema=None), "context.schema: is missing: expected scanlab-results/2"),
        (timings(lambda d: d["benchmarks"].append(SIX[1])), "benchmarks[6]: repetition 1 of this"),
        (timings(lambda d: d.pop("benchmarks")), "benchmarks: is missing"),
        (timings(device=""), "context: device is missing: times of a GPU say of which"),
        (entry(real_time=math.nan), "benchmarks[2].real_time: expected float >= 0.0, got nan"),
        (entry(real_time=0), "benchmarks[2]: real_time is 0, and the outcome is timed"),
        (streams(chunks=-1), "benchmarks[0].chunks: expected int >= 0, got -1"),
        (other(sync, "experiments", 1, "yes", value=1.5), "experiments[1].yes: expected int"),
        (other(counted, "totals", value={}), "totals.operations: is missing"),
        (other(fixtures.trace, "traceEvents", value=[]), "traceEvents: holds no operation"),
    ],
)
def test_what_cannot_be_is_named_with_its_place(tmp_path, content, stated) -> None:
    file = write(tmp_path / "a.json", content)
    sentence = problems(file)[0]
    assert sentence.startswith(f"{file}: ") and stated in sentence and sentence.isprintable()


TABLES = {
    "bank_conflicts.csv": ",".join(COLUMNS["counters"])
    + "\nhso_block,none,i32,plus,64,k,0,1,2,3,4",
    "dram_bytes.csv": ",".join(COLUMNS["traffic"]) + "\nbest,,i32,plus,inclusive,64,k,0,8,8",
    "prefix_wait.csv": (fixtures.SESSION / "prefix_wait.csv").read_text(),
    "tile_times_a.csv": ",".join(COLUMNS["tile_times"]) + "\none_wave,rows=8,64,i32,0,0,9,9,9,9",
    "repeat.jsonl": fixtures.verification(repeated=True),
}


@pytest.mark.parametrize(
    ("name", "sound", "wrong", "stated"),
    [
        ("bank_conflicts.csv", ",64,", ",-1,", "row 1 after the header: refused: items is -1: "),
        ("bank_conflicts.csv", ",4", ",4,1", "cannot be read as counters"),
        ("dram_bytes.csv", "dram_bytes_read", "x", "line 1: lacks the columns dram_bytes_read"),
        ("prefix_wait.csv", "484950", "0.5", "refused: cycles_total is 0.5: expected int"),
        ("tile_times_a.csv", "told_ns", "x", "line 1: lacks the columns told_ns"),
        ("repeat.jsonl", '"passed": 24', '"passed": 25', "line 26.ended.passed: is 25, and 24"),
        ("repeat.jsonl", '{"ended"', '{"other"', "verification did not come to its end"),
    ],
)
def test_a_table_that_cannot_be_is_named_with_its_place(
    tmp_path, name, sound, wrong, stated
) -> None:
    assert sound in TABLES[name]
    file = write(tmp_path / name, TABLES[name].replace(sound, wrong, 1))
    sentence = problems(file)[0]
    assert sentence.startswith(f"{file}: ") and stated in sentence


def test_recorded_files_are_corrected_and_copies_elsewhere_are_not(tmp_path) -> None:
    for withdrawn in corrections()["withdrawn"]:
        assert [*RECORDED.glob(withdrawn["files"])] and withdrawn["reason"].endswith(".")
    file = RECORDED / "nvidia-h200-x4/2026-11-26/ranks_scaling_1.json.gz"
    known = lambda path: set(load([], [path])["distributed"]["algorithm"])
    assert "peer_look_ahead" in known(file) and not {"nccl_cub", "nccl_thrust"} & known(file)
    shutil.copy(file, tmp_path)
    assert "nccl_cub" in known(tmp_path / file.name)
    waits = load([], [RECORDED / "nvidia-h200/2026-11-26/prefix_wait.csv"])
    run = waits.files[waits["waits"]["file"].iloc[0]]
    assert (run.device, run.commit[:9]) == ("NVIDIA H200", "c47ca4cc1")


HEADER = (
    "session,date,git_commit,kind,device,cpu,cores,variant,settings,type,op,mode,items,cache,"
    "launch,way,scan,from,to,budget,chunks,mapped,bytes,times_ns"
)
OLD_SCAN = "cub_device_scan,,i32,plus,inclusive,1048576,cold,stream,,,,,,,,"
OLD_STREAM = ",,i32,plus,inclusive,4096,,,streamed,best,file,memory,2048,2,1,16384"
RUN = "2025-12-0{0},2025-12-0{0}T00:00:00Z,abc,cuda,Test Device,Test CPU,4"
ROWS = [
    f"{RUN.format(day)},{own},{day}0 {day}1" for day in (1, 2) for own in (OLD_SCAN, OLD_STREAM)
]
TABLE = "\n".join([HEADER, *ROWS]) + "\n"


def test_a_history_has_the_samples_of_each_session_and_answers_for_none(tmp_path) -> None:
    record(tmp_path, "2026-01-02", 5.0)
    (tmp_path / HISTORY).write_bytes(gzip.compress(TABLE.encode()))
    data = load([], [tmp_path])
    assert not data.problems
    for table, moved in (("scan", 2 * 4 * 2**20), ("stream_scan", 16384)):
        rows = data[table]
        days = rows["file"].map(lambda number: data.files[number].date[:10])
        for day in (1, 2):
            old = rows[days == f"2025-12-0{day}"]
            assert old["ns"].tolist() == [10 * day, 10 * day + 1] and set(old["bytes"]) == {moved}
            assert old["round"].tolist() == [0, 1]
    assert data["stream_scan"]["mapped"].tolist() == [1] * 4
    data = choose_session(data)
    assert {data.files[number].date for number in data["scan"]["file"]} == {"2026-01-02T00:00:00"}
    assert len(data.every["stream_scan"]) == 4, "for what differs by the session"


@pytest.mark.parametrize(
    ("content", "stated"),
    [
        (b"junk", "cannot be read"),
        (gzip.compress(TABLE.encode())[:-9], "is truncated or damaged"),
        *(
            (gzip.compress(TABLE.replace(*change).encode()), "is no history of sessions")
            for change in (("times_ns", "times"), ("20 21", "20 nan"), ("1048576", "many"))
        ),
    ],
)
def test_a_history_that_is_none_is_named(tmp_path, content, stated) -> None:
    (file := tmp_path / HISTORY).write_bytes(content)
    (problem,) = load([], [file]).problems
    assert str(problem).startswith(f"{file}: {stated}")
