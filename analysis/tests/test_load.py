"""Reading: what is sound is read as its fields say; what is not is named with file, entry and
field, and the rest goes on."""

from __future__ import annotations

import codecs
import copy
import gzip
import json
import math
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pytest

from scanlab_report import DATA
from scanlab_report.data import Data
from scanlab_report.load import load
from scanlab_report.load_others import corrections
from scanlab_report.published import load_published
from scanlab_report.schema import samples as schema
from scanlab_report.schema.base import NAN, Positive, means
from scanlab_report.tables import COLUMNS
from tests import fixtures, ranks_fixtures, stream_fixtures
from tests.fixtures import PUBLISHED, Document, case, repetition, results, samples

CASE = case("hs_blocked", 1024)
RECORDED = DATA / "recorded"


def write(file: Path, content: Any) -> Path:
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def problems(*paths: Path) -> list[str]:
    return [str(problem) for problem in load(paths).problems]


def read(folder: Path, *entries: Document, **about: Any) -> Data:
    return load([write(folder / "results.json", results(*entries, **about))])


# ------------------------------------------------------------------------------------ sound files

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


def test_a_row_is_what_the_fields_of_its_entry_say(tmp_path: Path) -> None:
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


def test_what_a_file_lacks_is_no_number_and_never_0(tmp_path: Path) -> None:
    row = read(tmp_path, repetition(CASE, 0, 5.0))["scan"].iloc[0]
    absent = ["sm_clock_mhz", "converged", "registers", "local_bytes", "prepare_ns"]
    assert row[absent].isna().all() and row["choice"] is None


def test_a_new_field_of_a_sample_is_a_column_with_its_meaning_and_unit() -> None:
    class Fed(schema.KernelSample, kw_only=True, frozen=True, tag="fed"):  # type: ignore[call-arg]
        power: Annotated[Positive, means("power draw during the sample", "W", "power_w")] = NAN

    column = schema.columns(Fed)["power_w"]
    assert column == ("power", "power draw during the sample", "W")


def test_code_of_the_host_is_launched_like_a_stream_and_rounds_tell_samples_apart(
    tmp_path: Path,
) -> None:
    own = CASE | {"launch": "host"}
    data = read(tmp_path, *(repetition(own, 0, 5.0, round=number) for number in range(2)))
    assert data["scan"][["launch", "round"]].values.tolist() == [["stream", 0], ["stream", 1]]
    assert not data.problems


@pytest.mark.parametrize("outcome", ["skipped", "failed"])
def test_a_case_that_was_not_timed_is_listed_with_the_reason(tmp_path: Path, outcome: str) -> None:
    data = read(tmp_path, repetition(CASE, 0, 0.0, error_message="no room", outcome=outcome))
    assert data["scan"].empty and not data.problems
    rows = data["skipped"][["reason", "failed"]].values.tolist()
    assert rows == [["no room", outcome == "failed"]]


def test_times_of_a_case_whose_last_check_failed_count_for_nothing(tmp_path: Path) -> None:
    before = [repetition(CASE, index, 5.0) for index in range(2)]
    failed = repetition(CASE, 2, 0.0, error_occurred=True, error_message="item 3 is 5")
    other = repetition(CASE | {"items": 2048}, 0, 5.0)
    data = read(tmp_path, *before, failed, other)
    assert data["scan"]["items"].tolist() == [2048]
    assert data["skipped"]["reason"].tolist() == ["item 3 is 5"]


def test_a_wrong_output_counts_for_nothing_but_in_a_control(tmp_path: Path) -> None:
    wrong = {"verified": False}
    assert "verified" in str(read(tmp_path, SCAN | wrong, variants=ABOUT).problems[0])
    assert "wrong" in str(read(tmp_path, SCHEDULE | wrong).problems[0])
    assert not read(tmp_path, SCHEDULE | wrong | {"control": True}).problems


def test_a_file_is_read_once_whatever_it_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = write(tmp_path / "a.json", results(repetition(CASE, 0, 5.0)))
    data = load([file, file, Path("a.json"), tmp_path])
    assert len(data["scan"]) == 1 and not data.problems


def test_explanations_may_be_a_list_and_numbers_names(tmp_path: Path) -> None:
    listed = [fixtures.explanation("hso_block", n) for n in (64, 128)]
    write(tmp_path / "e.json", listed)
    counters = ",".join(COLUMNS["counters"]) + "\n7,8,i32,9,64,10,0,1,2,3,4\n"
    write(tmp_path / "bank_conflicts.csv", counters)
    data = load([tmp_path])
    assert not data.problems and data["counts"]["items"].tolist() == [64, 128]
    names = data["counters"].iloc[0][["variant", "padding", "op", "kernel"]]
    assert names.tolist() == ["7", "8", "9", "10"]


def test_repeated_runs_tell_what_kept_its_bits(tmp_path: Path) -> None:
    text = fixtures.verification(repeated=True)
    for file in (tmp_path / "repeat.jsonl", tmp_path / "again.jsonl.gz"):
        file.write_bytes(gzip.compress(text.encode()) if file.suffix == ".gz" else text.encode())
        rows = load([file])["repeats"].set_index("variant")[["cases", "varying", "runs"]]
        assert rows.loc["look_ahead"].tolist() == [12, 0, 100]
        assert rows.loc["decoupled_lookback"].tolist() == [12, 3, 100]
    assert "has 2 of the cases of" in problems(tmp_path)[0]
    data = load([write(tmp_path / "verify.jsonl", fixtures.verification())])
    assert data["repeats"].empty and [checks.passed for checks in data.verifications] == [9]


def test_a_byte_order_mark_and_compression_change_nothing(tmp_path: Path) -> None:
    """JSON, JSON lines, CSV and TOML, as editors of Windows save them."""
    file = write(tmp_path / "sound.json", results(repetition(CASE, 0, 5.0)))
    write(tmp_path / "verify.jsonl", fixtures.verification())
    write(tmp_path / "dram_bytes.csv", fixtures.dram_bytes(18))
    tables = shutil.copytree(PUBLISHED, tmp_path / "published")
    for marked in (*tmp_path.glob("*.*"), *tables.iterdir()):
        marked.write_bytes(codecs.BOM_UTF8 + marked.read_bytes())
    (tmp_path / "sound.json.gz").write_bytes(gzip.compress(file.read_bytes()))
    file.unlink()
    data, wrong = load([tmp_path]), []
    assert load_published(tables, wrong) and not wrong + data.problems
    assert len(data["scan"]) == 1 and len(data["traffic"]) == 6 and len(data.verifications) == 1


# ---------------------------------------------------------------------------------- faulty files


def test_a_cut_file_is_named_with_its_position_and_the_others_are_read(tmp_path: Path) -> None:
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
    where = {problem.file.name: f"{problem.place}: {problem.message}" for problem in data.problems}
    assert (
        "truncated" in where["cut.json"] and f"line {text.count(chr(10)) + 1} " in where["cut.json"]
    )
    assert "position 7" in where["d.json"]


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
    about = stream_fixtures.about(schema="scanlab-results/2", kind="cuda")
    return {"context": about, "benchmarks": [SCHEDULE | changes, KERNEL, COPY, STREAM_SCAN]}


def other(make: Callable[[], Document], *keys: Any, value: Any) -> Document:
    """A document with another value at the end of some keys."""
    document = json.loads(json.dumps(make()))
    inside = document
    for key in keys[:-1]:
        inside = inside[key]
    inside[keys[-1]] = value
    return document


sync, grids = stream_fixtures.implicit_sync, stream_fixtures.concurrency
compared, advised = stream_fixtures.comparison, stream_fixtures.advice
counted = partial(fixtures.explanation, "hso_block", 8)
trace = partial(stream_fixtures.trace, operations=3)


@pytest.mark.parametrize(
    ("content", "stated"),
    [
        (timings(schema="scanlab-results/9"), "context.schema: is 'scanlab-results/9': expected"),
        (timings(schema=None), "context.schema: is missing: expected scanlab-results/2"),
        (timings(lambda d: d["benchmarks"].append(SIX[1])), "benchmarks[6]: repetition 1 of this"),
        (timings(lambda d: d.pop("benchmarks")), "benchmarks: is missing"),
        (timings(device=""), "context: device is missing: times of a GPU say of which"),
        (timings(date="yesterday"), "context.date: expected a date of ISO 8601"),
        (entry(real_time=math.nan), "benchmarks[2].real_time: expected float >= 0.0, got nan"),
        (entry(real_time=0), "benchmarks[2]: real_time is 0, and the outcome is timed"),
        (entry(time_unit="us"), "benchmarks[2].time_unit: invalid enum value 'us'"),
        (entry(items=True), "benchmarks[2].items: expected int, got bool"),
        (entry(variant="a\nb"), "benchmarks[2].variant: expected a name, got 'a\\nb'"),
        (entry(kind="scam"), "benchmarks[2].kind: invalid value 'scam'"),
        (streams(chunks=-1), "benchmarks[0].chunks: expected int >= 0, got -1"),
        (other(sync, "experiments", 1, "yes", value=1.5), "experiments[1].yes: expected int"),
        (other(grids, "cases", 0, "makespan_seconds", value=[]), "makespan_seconds: is empty"),
        (other(compared, "traces", 0, "predicted_us", value=0), "traces[0].predicted_us: expected"),
        (other(advised, "problems", 0, "advised", value=None), "problems[0].advised: expected"),
        (other(counted, "totals", value={}), "totals.operations: is missing"),
        (other(trace, "traceEvents", -1, "dur", value="1"), "].dur: expected float, got str"),
        (other(trace, "traceEvents", value=[]), "traceEvents: holds no operation"),
        (other(ranks_fixtures.timeline, "traces", 0, "verified", value=False), "traces[0]: its"),
    ],
)
def test_what_cannot_be_is_named_with_its_place(tmp_path: Path, content: Any, stated: str) -> None:
    file = write(tmp_path / "a.json", content)
    sentence = problems(file)[0]
    assert sentence.startswith(f"{file}: ") and stated in sentence and sentence.isprintable()


TABLES = {
    "bank_conflicts.csv": ",".join(COLUMNS["counters"])
    + "\nhso_block,none,i32,plus,64,k,0,1,2,3,4",
    "dram_bytes.csv": fixtures.dram_bytes(18),
    "prefix_wait.csv": fixtures.PREFIX_WAIT,
    "repeat.jsonl": fixtures.verification(repeated=True),
    "hso2007_table2.csv": (PUBLISHED / "hso2007_table2.csv").read_text(),
    "hso2007_table2.toml": (PUBLISHED / "hso2007_table2.toml").read_text(),
}


@pytest.mark.parametrize(
    ("name", "sound", "wrong", "stated"),
    [
        ("bank_conflicts.csv", ",64,", ",-1,", "row 1 after the header: refused: items is -1: "),
        ("bank_conflicts.csv", ",i32,", ",i33,", "row 1 after the header: refused: type is i33: "),
        ("bank_conflicts.csv", "hso_block", "", "refused: variant is empty: expected a name"),
        ("bank_conflicts.csv", ",4", ",4,1", "cannot be read as counters"),
        ("dram_bytes.csv", "dram_bytes_read", "x", "line 1: lacks the columns dram_bytes_read"),
        ("prefix_wait.csv", "1000", "0.5", "refused: cycles_total is 0.5: expected int"),
        ("repeat.jsonl", '"passed": 24', '"passed": 25', "line 26.ended.passed: is 25, and 24"),
        ("repeat.jsonl", '{"ended"', '{"other"', "verification did not come to its end"),
        ("hso2007_table2.csv", "1024,", "-1,", "row 1 after the header: refused: items is -1"),
        ("hso2007_table2.toml", 'short = "Harris 2007"', "", "short: is missing"),
        ("hso2007_table2.toml", "year = 2007", "year = ", "cannot be read ("),
    ],
)
def test_a_table_that_cannot_be_is_named_with_its_place(
    tmp_path: Path, name: str, sound: str, wrong: str, stated: str
) -> None:
    assert sound in TABLES[name]
    for table in (
        name,
        *(own for own in TABLES if own.partition(".")[0] == name.partition(".")[0]),
    ):
        write(tmp_path / table, TABLES[table])
    write(tmp_path / name, TABLES[name].replace(sound, wrong, 1))
    complaints = load([tmp_path / name] if not name.startswith("hso") else []).problems
    load_published(tmp_path, complaints)
    sentence = str(complaints[-1 if name.startswith("hso") else 0])
    assert sentence.startswith(f"{tmp_path / name}: ") and stated in sentence


@pytest.mark.parametrize("name", ["bank_conflicts.csv", "prefix_wait.csv", "repeat.jsonl"])
def test_what_is_no_table_is_named(tmp_path: Path, name: str) -> None:
    for raw in (b"", b"\n", b"\0", b'"', b"a,b\n1,2,3\n", b'"ID"\n', "µ".encode("latin-1")):
        (tmp_path / name).write_bytes(raw)
        (sentence,) = problems(tmp_path / name)
        assert sentence.startswith(f"{tmp_path / name}: ") and sentence.isprintable()


# ------------------------------------------------------------------ corrections of recorded files


def test_recorded_files_are_corrected_and_copies_elsewhere_are_not(tmp_path: Path) -> None:
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
