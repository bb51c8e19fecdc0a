"""Reading: what is sound is read as its fields say; what is not is named with file, entry and
field, and the rest goes on."""

from __future__ import annotations

import codecs
import copy
import gzip
import json
import math
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from scanlab_report import DATA
from scanlab_report.data import Data
from scanlab_report.load import load
from scanlab_report.load_others import corrections
from scanlab_report.published import load_published
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

SAMPLE = json.loads("""{"run_type": "iteration", "iterations": 3, "real_time": 1500.0,
    "time_unit": "ns", "round": 0, "repetition_index": 0, "outcome": "timed", "verified": true,
    "converged": false, "threads": 1, "name": "of no matter"}""")
SCAN = SAMPLE | json.loads("""{"kind": "scan", "variant": "look_ahead", "type": "i32",
    "op": "plus", "mode": "inclusive", "items": 4096, "cache": "cold", "launch": "batch",
    "settings": {"tile": "36", "piece": "4"}, "threads_per_block": 288, "registers": 64,
    "choice": {"variant": "look_ahead", "settings": {"tile": "30"}}}""")
SCHEDULE = SAMPLE | json.loads("""{"kind": "schedule", "schedule": "graph", "workload": "scale",
    "items": 4096, "chunks": 4, "streams": 2, "memory": "pinned", "work": 1, "blocks": 0,
    "buffers": 2, "bytes": 32768, "inputs": 1, "operations": 12, "streams_created": 2,
    "side_kernels": 0, "control": false, "device_time_ms": 1.25}""")
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
    wanted = ["look_ahead", "tile=36", 4096, "cold", "batch", 1500, 0, 288]
    names = ["variant", "settings", "items", "cache", "launch", "ns", "converged", "threads"]
    assert row[names].tolist() == wanted and str(row["choice"]) == "look_ahead/tile:30"
    rows = data["schedule"]
    assert rows["entry"].tolist() == ["schedule", "copy", "kernel", "schedule"]
    assert rows["id"].tolist() == ["graph", "duplex_h2d", "scale", "graph"]
    assert rows["buffers"].tolist() == [2, 0, 0, 0], "a buffer per chunk is one case"
    assert rows.iloc[0]["device_ns"] == 1.25e6
    row = data["stream_scan"].iloc[0]
    assert (row["scan"], row["budget"], row["bytes"]) == ("best", 1 << 20, 16384)


def test_code_of_the_host_is_launched_like_a_stream(tmp_path: Path) -> None:
    data = read(
        tmp_path, *(repetition(CASE | {"launch": way}, 0, 5.0) for way in ("host", "graph"))
    )
    assert data["scan"]["launch"].tolist() == ["stream", "graph"]


def test_rounds_tell_samples_apart_where_each_has_index_0(tmp_path: Path) -> None:
    data = read(tmp_path, *(repetition(CASE, 0, 5.0, round=number) for number in range(4)))
    assert len(data["scan"]) == 4 and not data.problems


@pytest.mark.parametrize("outcome", ["skipped", "failed"])
def test_a_case_that_was_not_timed_is_listed_with_the_reason(tmp_path: Path, outcome: str) -> None:
    refused = {"error_occurred": True, "error_message": "no room"}
    data = read(tmp_path, repetition(CASE, 0, 0.0, **refused) | {"outcome": outcome})
    assert data["scan"].empty and not data.problems
    assert data["skipped"]["reason"].tolist() == ["no room"]


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
    plain, printed = load([tmp_path]), load_published(tables, [])
    for marked in (*tmp_path.glob("*.*"), *tables.iterdir()):
        marked.write_bytes(codecs.BOM_UTF8 + marked.read_bytes())
    (tmp_path / "sound.json.gz").write_bytes(gzip.compress(file.read_bytes()))
    file.unlink()
    data, wrong = load([tmp_path]), []
    assert load_published(tables, wrong).keys() == printed.keys() and not wrong + data.problems
    for table in ("scan", "traffic"):
        assert len(data[table]) == len(plain[table]) > 0
    assert len(data.verifications) == 1


# ---------------------------------------------------------------------------------- damaged files


def test_a_cut_file_is_named_with_its_position_and_the_others_are_read(tmp_path: Path) -> None:
    document = results(repetition(CASE, 0, 5.0))
    raw = write(tmp_path / "sound.json", document).read_bytes()
    text = json.dumps(document, indent=1)[:300]
    write(tmp_path / "cut.json", text)
    packed = gzip.compress(raw)
    broken = {"a": packed[: len(packed) // 2], "b": packed[:20] + b"\xff" * 40, "c": b"no" + packed}
    for name, damaged in broken.items():
        (tmp_path / f"{name}.json.gz").write_bytes(damaged)
    data = load([tmp_path])
    assert len(data["scan"]) == 1 and len(data.problems) == 4
    where = next(str(p) for p in data.problems if p.file.name == "cut.json")
    line = len(text.split("\n"))
    assert f"cut.json: line {line}, column " in where and "byte" in where and "truncated" in where


def test_a_position_counts_bytes_and_not_letters(tmp_path: Path) -> None:
    file = write(tmp_path / "bad.json", '{"µµ": 1,\n x}')
    assert "line 2, column 2, byte 13" in problems(file)[0]
    file.write_bytes(b'{"a":\n"\xff"}')
    assert "line 2, column 2, byte 7: is not UTF-8" in problems(file)[0]


@pytest.mark.parametrize(
    ("schema", "stated"),
    [
        ("scanlab-results/9", "is scanlab-results/9, of a newer Scanlab: update"),
        ("scanlab-results/1", "is scanlab-results/1, of an older Scanlab: measure again"),
        ("other/1", "is 'other/1': expected scanlab-results/2"),
        (None, "is missing: expected scanlab-results/2"),
    ],
)
def test_another_schema_is_one_sentence_that_says_what_to_do(
    tmp_path: Path, schema: str | None, stated: str
) -> None:
    (problem,) = read(tmp_path, repetition(CASE, 0, 5.0), schema=schema).problems
    assert str(problem).startswith(f"{tmp_path}/results.json: context.schema: ")
    assert stated in str(problem)


SIX = samples(6, case("best", 1024))
GAP = "repetitions are missing of best i32 plus inclusive 1024 cold stream: round 2 of 0 to 5"
SYNC = stream_fixtures.implicit_sync()


@pytest.mark.parametrize(
    ("content", "stated"),
    [
        (results(*SIX[:2], *SIX[3:]), f"benchmarks: {GAP}"),
        (results(*SIX[:2], SIX[1]), "benchmarks[2]: repetition 1 of this case was already read"),
        (results(SIX[0] | {"device": "Other"}), "benchmarks[0].device: is 'Other', and the file"),
        ([results(SIX[0]), results(SIX[0], device="B")], "[1].context.device: it is 'B', and that"),
        (results(SIX[0], device=""), "context: device is missing: times of a GPU say of which"),
        (results(SIX[0], variants=None), "context.variants"),
        (
            results(SIX[0], variants={}),
            "benchmarks[0].variant: is 'best', of which context.variants",
        ),
        (results(SIX[0] | {"bytes": 12}), "benchmarks[0]: bytes is 12, no multiple of 8192"),
        (SYNC | {"experiments": SYNC["experiments"][:1] * 2}, "experiments[1]: refused: "),
    ],
)
def test_what_contradicts_itself_is_named(tmp_path: Path, content: Any, stated: str) -> None:
    (problem,) = problems(write(tmp_path / "a.json", content))
    assert problem.startswith(f"{tmp_path}/a.json: {stated}")


# -------------------------------------------------------- every field with a value that cannot be

Keys = tuple[str | int, ...]
"""Keys and indices on the way to a field."""
MISSING = object()
WRONG: list[Any] = [MISSING, -1, math.nan, True, None, [[1]], "", "a\nb"]


def timings() -> Document:
    more = {"converged": True, "sm_clock_mhz": 1900.5, "device": "Test Device"} | fixtures._KERNEL
    more |= {"choice": {"variant": "look_ahead", "settings": {"tile": "30"}}}
    refused = {"error_occurred": True, "error_message": "too large"}
    entries = samples(2, case("best", 1024), **more)
    entries.append(repetition(case("hs_block", 4096), 0, 0.0, **refused))
    parameters = [{"name": "tile", "values": ["30"], "meaning": "a tile"}]
    about = {id_: fixtures.variant(id_) for id_ in ("best", "hs_block")}
    about["best"] |= {"parameters": parameters}
    document = results(*entries, variants=about, sm_clock_mhz_max="1980", rounds="5", num_cpus=4)
    return json.loads(json.dumps(document))  # nothing is shared by two entries


def streams() -> Document:
    about = stream_fixtures.about(schema="scanlab-results/2", kind="cuda")
    return {"context": about, "benchmarks": [SCHEDULE, KERNEL, COPY, STREAM_SCAN]}


def trace() -> Document:
    document = stream_fixtures.trace(operations=3, items=1, chunks=2, traced_us=[1.5], overlap=0.5)
    document["traceEvents"][-1]["args"] |= {"operation": 2, "bytes": 64}
    return document


def explanation() -> Document:
    document = fixtures.explanation("hso_block", 8, "row")
    steps = [{key: document["launches"][0]["steps"][0][key] for key in ("name", "shared")}]
    return document | {
        "faults": [{"kind": "race", "where": "here"}],
        "launches": [{"steps": steps}],
    }


def cut(make: Callable[[], Document], key: str) -> Document:
    document = make()
    return document | {key: document[key][:2]}


def ranks_trace() -> Document:
    document = ranks_fixtures.timeline(ranks=2, runs=1)
    return document | {
        "traces": [t | {"activities": t["activities"][:2]} for t in document["traces"]][:2]
    }


DOCUMENTS: dict[str, Callable[[], Document]] = {
    "timings": timings,
    "streams": streams,
    "trace": trace,
    "scenario": partial(stream_fixtures.scenario, "one", 4, makespan_us=1600.5),
    "implicit_sync": partial(cut, stream_fixtures.implicit_sync, "experiments"),
    "concurrency": partial(cut, stream_fixtures.concurrency, "cases"),
    "comparison": partial(cut, stream_fixtures.comparison, "traces"),
    "advice": partial(cut, stream_fixtures.advice, "problems"),
    "explanation": explanation,
    "ranks_trace": ranks_trace,
    "ranks": partial(ranks_fixtures.run, 2, [64]),
}
FREE = {"advice": {"said"}, "explanation": {"depth"}}
"""Fields that may hold anything, or are of a choice that need not have been measured."""
NULLABLE = {"stated", "measured", "operations", "swaps", "small", "device", "multiprocessors"}
SIGNED = {"chunk", "operation", "channel", "bytes", "overlap", "slower", "cpu_time"}
SIGNED |= {"tracing_overhead_percent"}
"""Numbers that may be less than 0: -1 stands for what a trace does not say."""
LINES = {"error_message", "kind", "where", "reason", "source"}
"""Text that may have several lines."""
INSTEAD = {"outcome": "real_time", "variants": "variant", "best": "variant", "ts": "lacks ts"}
INSTEAD |= {
    "schema": "program",
    "dur": "lacks",
    "title": "a scenario lacks",
    "algorithms": "variant",
}
"""The word that names a field where its own name does not."""


def keys(value: Any, before: Keys = ()) -> Iterator[Keys]:
    """Every field; of a list those of the first entry of each kind."""
    if before:
        yield before
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from keys(inner, (*before, key))
    elif isinstance(value, list) and value:
        kinds = [v.get("kind") if isinstance(v, dict) else "" for v in value]
        for index in sorted({kinds.index(kind) for kind in kinds}):
            yield from keys(value[index], (*before, index))


def at(document: Any, path: Keys) -> Any:
    for key in path:
        document = document[key]
    return document


def changed(document: Document, path: Keys, value: Any) -> Document:
    """The document with another value at one place."""
    other = copy.deepcopy(document)
    inside = at(other, path[:-1])
    if value is MISSING:
        del inside[path[-1]]
    else:
        inside[path[-1]] = value
    return other


def may_stand(sound: Any, value: Any, key: str) -> bool:
    """Whether a value that was accepted can stand where a sound one stood."""
    if value is MISSING or value in (None, "") or sound is None:
        return value is MISSING or value == sound or key in NULLABLE or isinstance(sound, str)
    if isinstance(sound, bool) or isinstance(value, bool):
        return isinstance(sound, bool) and isinstance(value, bool)
    if isinstance(sound, (int, float)):
        number = isinstance(value, (int, float)) and not math.isnan(value)
        return number and (value >= 0 or key in SIGNED)
    return isinstance(value, type(sound)) and (value != "a\nb" or key in LINES)


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_every_field_is_named_where_it_cannot_be(tmp_path: Path, kind: str) -> None:
    document, file, free = DOCUMENTS[kind](), tmp_path / "document.json", FREE.get(kind, set())
    assert not problems(write(file, document))
    refused = 0
    for path in keys(document):
        if kind != "timings" and path[0] == "context" and path[-1] not in ("context", "date"):
            continue
        if kind != "timings" and path[0] == "benchmarks" and set(path[2:]) & {*SAMPLE, "run_name"}:
            continue  # one table has the fields of all contexts, and one those of all samples
        indices = [place for place, key in enumerate(path) if isinstance(key, int)]
        entry = "".join(
            f"[{key}]" if isinstance(key, int) else f".{key}"
            for key in path[: max(indices, default=-1) + 1]
        ).lstrip(".")
        named = [key for key in path if isinstance(key, str)]
        for value in WRONG if not free & set(named) else ():
            wrong = problems(write(file, changed(document, path, value)))
            if not wrong:
                stands = path[-1] == "schema" or may_stand(at(document, path), value, named[-1])
                assert stands, (path, value)
                continue
            refused += 1
            sentence = wrong[0].removeprefix(f"{file}: ")
            assert sentence != wrong[0] and sentence.isprintable(), wrong
            assert len(wrong) == 1 or path[0] == "context" or named[-1] == "device", wrong
            if isinstance(path[-1], str) and not sentence.startswith("benchmarks: "):
                assert entry in sentence or "[...]" in sentence, (path, value, sentence)
                words = (path[-1], INSTEAD.get(path[-1], path[-1]), "[...]")
                assert any(word in sentence for word in words), (path, value, sentence)
    assert refused > 40


def test_every_field_of_a_verification_is_named_with_its_line(tmp_path: Path) -> None:
    for repeated, numbers in ((True, (1,)), (False, (0, 1, -1))):
        lines = fixtures.verification(repeated).splitlines()
        for number in numbers:
            sound = json.loads(lines[number])
            place = f"line {number % len(lines) + 1}"
            for path in keys(sound):
                if path[:-1] == ("context",) and path[-1] not in ("backend", "date"):
                    continue
                for value in WRONG:
                    changed_ = list(lines)
                    changed_[number] = json.dumps(changed(sound, path, value))
                    wrong = problems(write(tmp_path / "verify.jsonl", "\n".join(changed_)))
                    if wrong:
                        elsewhere = path[0] in ("schema", "ended", "outcome")
                        assert len(wrong) == 1 and wrong[0].isprintable()
                        assert place in wrong[0] or elsewhere, (path, value, wrong)
                    else:
                        stands = may_stand(at(sound, path), value, str(path[-1]))
                        assert stands or path[-1] in ("input", "aliasing"), (path, value)


TABLES = {
    "bank_conflicts.csv": ",".join(COLUMNS["counters"])
    + "\nhso_block,none,i32,plus,64,k,0,1,2,3,4\n",
    "dram_bytes.csv": fixtures.dram_bytes(18),
    "prefix_wait.csv": fixtures.PREFIX_WAIT,
}


@pytest.mark.parametrize("name", TABLES)
def test_every_cell_of_a_table_is_named_where_it_cannot_be(tmp_path: Path, name: str) -> None:
    file, (head, first, *rest) = tmp_path / name, TABLES[name].splitlines()
    columns, cells = head.split(","), first.split(",")
    with_ = lambda head, *rows: problems(write(file, "\n".join([head, *rows]) + "\n"))
    for place, column in enumerate(columns):
        number = cells[place].isdigit()
        bad = (
            ["", "-1", "0.5", "inf", "no such"] if number else ["i33"] if column == "type" else [""]
        )
        for value in bad if column != "settings" else []:
            row = ",".join([*cells[:place], value, *cells[place + 1 :]])
            (sentence,) = with_(head, row, *rest)
            assert f"{name}: row 1 after the header: refused: {column} is " in sentence
        if column in COLUMNS[{"b": "counters", "d": "traffic", "p": "waits"}[name[0]]]:
            renamed = ",".join("other" if other == column else other for other in columns)
            assert f"lacks the columns {column}" in with_(renamed, first, *rest)[0]
    assert "cannot be read as counters" in with_(head, first + ",1", *rest)[0]


@pytest.mark.parametrize("name", [*TABLES, "repeat.jsonl"])
def test_what_is_no_table_is_named(tmp_path: Path, name: str) -> None:
    long = '"ID","Process ID","Kernel Name","Metric Name","Metric Value"\n"' + "x" * 200_000
    texts = ["", "\n", "variant", "\0", '"', "a,b\n1,2,3\n", "variant,settings\nx", '"ID"\n', long]
    for raw in (*(text.encode() for text in texts), "µ".encode("latin-1")):
        (tmp_path / name).write_bytes(raw)
        (sentence,) = problems(tmp_path / name)
        assert sentence.startswith(f"{tmp_path / name}: ") and sentence.isprintable()


@pytest.mark.parametrize(
    ("name", "sound", "wrong", "stated"),
    [
        ("harris2012_overlap.csv", "12.92381", "fast", "row 1 after the header: refused: millise"),
        (
            "harris2012_overlap.csv",
            "12.92381",
            "0",
            "row 1 after the header: refused: milliseconds",
        ),
        ("harris2012_overlap.csv", "milliseconds", "ms", "line 1: lacks the columns milliseconds"),
        ("hso2007_table2.csv", "1024,", "-1,", "row 1 after the header: refused: items is -1"),
        ("hso2007_table2.toml", 'short = "Harris 2007"', "", "short: is missing"),
        ("hso2007_table2.toml", 'short = "Harris 2007"', "short = [1]", "short: expected str, got"),
        ("hso2007_table2.toml", "year = 2007", "year = ", "is not TOML"),
    ],
)
def test_a_table_of_the_literature_is_named(
    tmp_path: Path, name: str, sound: str, wrong: str, stated: str
) -> None:
    file = shutil.copytree(PUBLISHED, tmp_path / "published") / name
    assert sound in file.read_text()
    file.write_text(file.read_text().replace(sound, wrong, 1))
    load_published(file.parent, found := [])
    assert str(found[0]).startswith(f"{file}: {stated}")


# ------------------------------------------------------------------ corrections of recorded files


def test_each_correction_is_of_recorded_files_and_of_names_in_them() -> None:
    for entry in corrections()["withdrawn"]:
        files = list(RECORDED.glob(entry["files"]))
        raw = [file.read_bytes() for file in files]
        text = b"".join(gzip.decompress(r) if r[:2] == b"\x1f\x8b" else r for r in raw).decode()
        assert files and all(f'"{name}"' in text for name in entry["names"])
        assert entry["reason"].endswith(".")
    for entry in corrections()["source"]:
        assert entry["git_commit"] not in (RECORDED / entry["file"]).read_text()


def test_recorded_files_are_corrected_and_copies_elsewhere_are_not(tmp_path: Path) -> None:
    file = RECORDED / "nvidia-h200-x4/2026-11-26/ranks_scaling_1.json.gz"
    known = lambda path: set(load([], [path])["distributed"]["algorithm"])
    assert "peer_look_ahead" in known(file) and not {"nccl_cub", "nccl_thrust"} & known(file)
    shutil.copy(file, tmp_path)
    assert "nccl_cub" in known(tmp_path / file.name)
    waits = load([], [RECORDED / "nvidia-h200/2026-11-26/prefix_wait.csv"])
    run = waits.files[waits["waits"]["file"].iloc[0]]
    assert (run.device, run.commit[:9]) == ("NVIDIA H200", "c47ca4cc1")
