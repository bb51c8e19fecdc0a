"""Every field of every kind of file, with values that it cannot have: one sentence with file, entry and field, or a meaning; never a traceback.

The files are small and sound. Each of their fields in turn is left out, or takes each of some wrong values, and a command reads the file.
"""

from __future__ import annotations

import copy
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scanlab_report.commands.__main__ import main
from scanlab_report.read import records, results
from tests import fixtures, ranks_fixtures, stream_fixtures, test_ncu
from tests.conftest import PUBLISHED
from tests.fixtures import case, repetition
from tests.test_add_device import write_run

Document = dict[str, Any]
Keys = tuple[str | int, ...]
"""Keys and indices on the way to a field."""

MISSING = object()
WRONG: list[Any] = [MISSING, -1, 0.5, math.nan, True, None, [], [[1]], {"a": [1]}, "", "no such", "12", "a\nb"]
WRONG_TEXT = ["", "-1", "0.5", "1e3", "inf", "no such"]
"""Cells of a table in the place of a number."""


# ------------------------------------------------------------------------------------------------ sound documents


def timings() -> Document:
    more = {"converged": True, "sm_clock_mhz": 1900.5, "choice": {"variant": "look_ahead", "settings": {"tile": "30"}}, "device": "Test Device", "launches": 1,
            "threads_per_block": 256, "registers": 64, "shared_bytes": 1024, "local_bytes": 0, "workspace_bytes": 4096, "prepare_ns": 2000.5}  # fmt: skip
    entries = [repetition(case("best", 1024), i, 1000.0 + i, **copy.deepcopy(more), round=i) for i in range(5)]
    entries.append(repetition(case("hs_block", 4096), 0, 0.0, error_occurred=True, error_message="too large"))
    about = {"sm_clock_mhz_max": "1980", "l2_bytes": "100", "rounds": "5", "cccl": "3", "cccl_newest": "3", "compiler": "g", "ecc": "on", "num_cpus": 4}
    known = {id_: fixtures.variant(id_) for id_ in ("best", "hs_block")}
    known["best"]["parameters"] = [{"name": "tile", "values": ["30"], "meaning": "a tile"}]
    return {"context": fixtures.context(**about, variants=known), "benchmarks": entries}


def schedules() -> Document:
    entries = stream_fixtures.schedule("depth_first", 1.0, converged=True, sm_clock_mhz=1900.5, bytes=1024, inputs=1, items=1024)
    entries += stream_fixtures.repetitions({"kind": "kernel", "workload": "scale", "items": 1024, "work": 1, "blocks": 0}, 1.0)
    entries += stream_fixtures.repetitions({"kind": "copy", "direction": "h2d", "both_ways": True, "memory": "pinned", "bytes": 1024}, 1.0)
    return {"context": stream_fixtures.about(schema="scanlab-results/2", kind="cuda"), "benchmarks": entries}


def stream_scan() -> Document:
    of = {"kind": "stream_scan", "way": "streamed", "variant": "best", "type": "i32", "op": "plus", "mode": "inclusive", "items": 64, "from": "file",
          "to": "file", "budget_bytes": 64, "chunks": 2, "mapped": True, "bytes_each_way": 256}  # fmt: skip
    return {"context": stream_fixtures.about(schema="scanlab-results/2", kind="cuda"), "benchmarks": stream_fixtures.repetitions(of, 1.0)}


def trace() -> Document:
    about = {"items": 1 << 20, "chunks": 2, "streams": 2, "workload": "scale", "memory": "pinned", "work": 1, "connections": 8, "overlap": 0.5,
             "traced_us": [1.5, 2.5], "makespan_us": 3.5}  # fmt: skip
    document = stream_fixtures.trace(operations=3, **about)
    document["traceEvents"].insert(0, {"name": "thread_name", "ph": "M", "pid": 2, "tid": 1, "args": {"name": "copies in", "engine": "copies in", "overlapping": 0}})
    document["traceEvents"][-1]["args"] |= {"operation": 2, "bytes": 64}
    return document


def scenario() -> Document:
    return stream_fixtures.scenario("one", 4, makespan_us=1600.5)


def explanation() -> Document:
    document = fixtures.explanation("hso_block", 8, "row")
    steps = [{key: step[key] for key in ("name", "shared")} for step in document["launches"][0]["steps"]]
    return document | {"faults": [{"kind": "race", "where": "here"}], "launches": [{"steps": steps}]}


def ranks_trace() -> Document:
    document = ranks_fixtures.timeline(ranks=2, runs=1)
    return document | {"traces": [of | {"activities": of["activities"][:2]} for of in document["traces"][:2]]}


def cut(document: Document, key: str) -> Document:
    """A document with two of its cases."""
    return document | {key: document[key][:2]}


DOCUMENTS: dict[str, Callable[[], Document]] = {
    "timings": timings, "schedules": schedules, "stream_scan": stream_scan, "trace": trace, "scenario": scenario,
    "implicit_sync": lambda: cut(stream_fixtures.implicit_sync(), "experiments"), "concurrency": lambda: cut(stream_fixtures.concurrency(), "cases"),
    "comparison": lambda: cut(stream_fixtures.comparison(), "traces"), "advice": lambda: cut(stream_fixtures.advice(), "problems"),
    "explanation": explanation, "ranks_trace": ranks_trace,
}  # fmt: skip
UNREAD = {"advice": {"stated"}, "explanation": {"depth"}}
"""Fields that may hold anything, or are of a choice that need not have been measured."""
NULLABLE = {"stated", "measured", "operations", "swaps", "small", "device"}
SIGNED = {"chunk", "operation", "channel", "bytes", "tracing_overhead_percent", "overlap", "slower", "cpu_time"}
"""Numbers that may be less than 0: -1 stands for what a trace does not say."""
FREE = {"error_message", "kind", "where", "reason", "source"}
"""Text that may have several lines."""


# ------------------------------------------------------------------------------------------------------- changing


def keys(value: Any, so_far: Keys = ()) -> Iterator[Keys]:
    """Every field of a document: of a list those of the first entry and of the last, which is of another kind where there are several."""
    if so_far:
        yield so_far
    if isinstance(value, dict):
        for key, of in value.items():
            yield from keys(of, (*so_far, key))
    elif isinstance(value, list) and value:
        for index in sorted({0, len(value) - 1}):
            yield from keys(value[index], (*so_far, index))


def at(document: Any, path: Keys) -> Any:
    for key in path:
        document = document[key]
    return document


def changed(document: Document, path: Keys, value: Any) -> str:
    """The text of the document with another value at one place."""
    other = copy.deepcopy(document)
    inside = at(other, path[:-1])
    if value is MISSING:
        del inside[path[-1]]
    else:
        inside[path[-1]] = value
    return json.dumps(other)


def said(path: Keys) -> str:
    """A path as sentences have it."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).lstrip(".")


def refusal(capsys: pytest.CaptureFixture[str], line: list[str], file: Path, status: int = 2) -> str:
    """What a command says of a file that it must refuse, without the file's name; asserts that it is one sentence."""
    assert main(line) == status
    first, *rest = capsys.readouterr().err.splitlines()
    assert first.startswith(f"error: {file}: ") and first.isprintable(), first
    assert not any(str(file) in other for other in rest) or "one device a file" in first, (first, rest)
    return first.removeprefix(f"error: {file}: ")


# -------------------------------------------------------------------------------------------------- JSON documents


def means_something(sound: Any, value: Any, key: str) -> bool:
    """Whether a value that was accepted can stand where a sound one stood: of its kind, and a number that is one."""
    if value is MISSING or value is None or sound is None:
        return value is MISSING or key in NULLABLE
    if isinstance(sound, bool) or isinstance(value, bool):
        return isinstance(sound, bool) and isinstance(value, bool)
    if isinstance(sound, (int, float)):
        return (key == "multiprocessors" and value in ("", "12")) or (isinstance(value, (int, float)) and abs(value) <= 1e18 and (value >= 0 or key in SIGNED) and (isinstance(value, int) or isinstance(sound, float)))
    return isinstance(value, type(sound)) and (value != "a\nb" or key in FREE)


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_every_field_of_a_document_is_named_where_it_cannot_be(tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    document, accepted, out = DOCUMENTS[kind](), tmp_path / "accepted", tmp_path / "out"
    accepted.mkdir()
    file = tmp_path / "document.json"
    tried = 0
    for path in keys(document):
        if kind != "timings" and path[0] == "context" and path[-1] not in ("context", "schema", "date"):
            continue  # one table has the fields of all contexts
        named = [key for key in path if isinstance(key, str)]
        entry = path[: max((place for place, key in enumerate(path) if isinstance(key, int)), default=-1) + 1]
        for value in WRONG if not UNREAD.get(kind, set()) & set(named) else (MISSING, [1]):
            file.write_text(changed(document, path, value))
            tried += 1
            if not results.read([file], []).problems:
                nothing_in_it = kind != "timings" and path[-1] == "schema"  # of another program, for all that it says
                assert nothing_in_it or UNREAD.get(kind, set()) & set(named) or means_something(at(document, path), value, named[-1]), (path, value)
                file.rename(accepted / f"{hashlib.sha256(file.read_bytes()).hexdigest()}.json")
                continue
            sentence = refusal(capsys, ["export", str(file), "--out", str(out)], file)
            assert not out.exists()
            if isinstance(path[-1], str) and not sentence.startswith("benchmarks: repetitions are missing"):
                assert said(entry) in sentence or "[...]" in sentence, (path, value, sentence)
                instead = {"outcome": "real_time", "variants": "variant", "best": "variant", "ts": "lacks ts", "dur": "lacks", "title": "a scenario lacks"}
                assert any(of in sentence for of in (path[-1], instead.get(path[-1], path[-1]), "[...]")), (path, value, sentence)
    assert tried > 100
    # Files of the engine model are not exported, and these are alone.
    assert main(["export", str(accepted), "--out", str(out)]) == (2 if kind in ("comparison", "advice") else 0)


# ---------------------------------------------------------------------------------------- tables, logs, other files


def tables() -> dict[str, tuple[str, str, list[str]]]:
    """Of each kind of table its name, its text, and the columns of numbers."""
    head = ",".join(records.COUNTER_COLUMNS)
    return {
        "counters": ("bank_conflicts.csv", f"{head}\nhso_block,none,i32,plus,64,k,0,1,2,3,4\n", records.COUNTER_COLUMNS[6:] + ["items"]),
        "traffic": ("dram_bytes.csv", fixtures.dram_bytes(18), ["items", "launch_index", "dram_bytes_read", "dram_bytes_written"]),
        "waits": ("prefix_wait.csv", fixtures.PREFIX_WAIT, ["tile", "items", "cycles_total", "cycles_waiting_data", "cycles_waiting_store"]),
    }


@pytest.mark.parametrize("kind", tables())
def test_every_cell_of_a_table_is_named_where_it_cannot_be(tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    name, text, numbers = tables()[kind]
    file = tmp_path / name
    head, first, *rest = text.splitlines()
    columns = head.split(",")
    for place, column in enumerate(columns):
        for wrong in WRONG_TEXT if column in numbers else [""] if column != "settings" else []:
            cells = first.split(",")
            cells[place] = wrong
            file.write_text("\n".join([head, ",".join(cells), *rest]) + "\n")
            if wrong == "1e3":  # a whole number, however it is written
                assert not results.read([file], []).problems
                continue
            sentence = refusal(capsys, ["export", str(file), "--out", str(tmp_path / "out")], file)
            assert sentence.startswith(f"row 1 after the header: refused: {column} is ")
    file.write_text("\n".join([head, first + ",1", *rest]) + "\n")
    assert "cannot be read as counters" in refusal(capsys, ["export", str(file), "--out", str(tmp_path / "out")], file)
    for column in set(columns) & {*records.COUNTER_COLUMNS, *records.TRAFFIC_COLUMNS, *records.WAIT_COLUMNS}:
        file.write_text("\n".join([",".join("other" if of == column else of for of in columns), first, *rest]) + "\n")
        assert f"lacks the columns {column}" in refusal(capsys, ["export", str(file), "--out", str(tmp_path / "out")], file)


@pytest.mark.parametrize("text", [
    "", "\n", "variant", "\x00", '"', "a,b\n1,2,3\n", "\u00b5".encode("latin-1"), "variant,settings\n" + "x" * 200_000, '"ID","Process ID"\n',
    '"ID","Process ID","Kernel Name","Metric Name","Metric Value"\n"' + "x" * 200_000 + '"\n',
])  # fmt: skip
@pytest.mark.parametrize("name", ["bank_conflicts.csv", "dram_bytes.csv", "prefix_wait.csv", "repeat.jsonl"])
def test_what_is_no_table_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str | bytes) -> None:
    file = tmp_path / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert refusal(capsys, ["export", str(file), "--out", str(tmp_path / "out")], file)


@pytest.mark.parametrize(("sound", "where"), [("1,596", "launch 0, l1tex__data_pipe"), ("1,260", "launch 0, l1tex__data_bank")])
@pytest.mark.parametrize("wrong", ["-1", "", "no such"])
def test_a_report_of_ncu_is_named_with_its_launch(tmp_path: Path, sound: str, where: str, wrong: str) -> None:
    (problem,) = results.read([], [test_ncu.write(tmp_path, test_ncu.REPORT.replace(sound, wrong))]).problems
    assert where in str(problem)


def test_every_field_of_a_verification_is_named_with_its_line(tmp_path: Path) -> None:
    for repeated in (False, True):
        lines = fixtures.verification(repeated=repeated).splitlines()
        for number in (1,) if repeated else (0, 1, len(lines) - 1):
            sound = json.loads(lines[number])
            for path in keys(sound):
                for value in WRONG:
                    if number == 0 and path[:-1] == ("context",) and path[-1] not in ("backend", "date"):
                        continue  # one table has the fields of all contexts
                    file = tmp_path / "verify.jsonl"
                    file.write_text("\n".join([*lines[:number], changed(sound, path, value), *lines[number + 1 :]]))
                    problems = [str(problem) for problem in results.read([file], []).problems]
                    if not problems:
                        assert means_something(at(sound, path), value, str(path[-1])) or path[-1] in ("input", "aliasing"), (path, value)
                        continue
                    (sentence,) = problems
                    assert sentence.isprintable() and (f"line {number + 1}" in sentence or path[0] in ("schema", "ended", "outcome")), (path, value, sentence)


def published(folder: Path) -> Path:
    folder.mkdir()
    for file in PUBLISHED.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    return folder


@pytest.mark.parametrize(("name", "sound", "wrong", "where"), [
    ("harris2012_overlap.csv", "12.92381", "fast", "row 1 after the header: refused: milliseconds is fast"),
    ("harris2012_overlap.csv", "12.92381", "0", "row 1 after the header: refused: milliseconds is 0"),
    ("harris2012_overlap.csv", "milliseconds", "ms", "line 1: lacks the columns milliseconds"),
    ("hso2007_table2.csv", "1024,", "-1,", "row 1 after the header: refused: items is -1"),
    ("hso2007_table2.csv", "0.002231", "", "row 1 after the header: refused: cpu_ms is empty"),
    ("hso2007_table2.toml", 'short = "Harris 2007"', "", "short: is missing"),
    ("hso2007_table2.toml", 'short = "Harris 2007"', "short = [1]", "short: expected str, got array"),
    ("hso2007_table2.toml", "year = 2007", "year = ", "is not TOML"),
])  # fmt: skip
def test_a_published_table_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, sound: str, wrong: str, where: str) -> None:
    folder, good = published(tmp_path / "published"), tmp_path / "good.json"
    good.write_text(json.dumps(timings()))
    text = (folder / name).read_text()
    assert sound in text
    (folder / name).write_text(text.replace(sound, wrong, 1))
    for line in (["claims", str(good)], ["build", str(good), "--no-pdf", "--out", str(tmp_path / "out")]):
        assert refusal(capsys, [*line, "--published", str(folder)], folder / name).startswith(where)


CLAIM = """device = "Test Device"
[[claim]]
statement = "fast"
source = "scanlab"
set_by = "012345678"
figure = "time"
measure = "speed"
variant = "best"
over = ["memcpy"]
at_least = 0.9
variation = 0.05
cases = { type = "i32", items = 1024 }
"""


@pytest.mark.parametrize("field", ["statement", "source", "figure", "measure", "variant", "over", "at_least", "variation", "cases", "type", "items"])
def test_every_field_of_a_claim_is_named_where_it_cannot_be(tmp_path: Path, capsys: pytest.CaptureFixture[str], field: str) -> None:
    good = tmp_path / "good.json"
    good.write_text(json.dumps(timings()))
    sound = re.search(rf"\b{field} = (\{{.*\}}|\[.*\]|\"[^\"]*\"|[0-9.]+)", CLAIM)
    for number, wrong in enumerate(("[[1]]", "{ a = 1 }", "nan", "true", "-1", '""', "1979-05-27")):
        file = tmp_path / f"{number}.toml"  # a process reads a file of claims once
        file.write_text(CLAIM.replace(sound[0], f"{field} = {wrong}"))
        status = main(["claims", str(good), "--claims", str(file), "--published", str(PUBLISHED)])
        said_ = capsys.readouterr()
        if status != 2:
            assert (field, wrong) in {("at_least", "-1")}, (field, wrong)
            continue
        (sentence,) = said_.err.splitlines()
        assert sentence.startswith(f"error: {file}: ") and "claim 1" in sentence and field in sentence, (field, wrong, sentence)


@pytest.mark.parametrize("text", ["claim = 1", "claim = [1]", "claim = [[1]]", "device = [1]\n" + CLAIM.partition("\n")[2], "\u00b5".encode("latin-1")])
def test_what_is_no_list_of_claims_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | bytes) -> None:
    good, file = tmp_path / "good.json", tmp_path / "claims.toml"
    good.write_text(json.dumps(timings()))
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert refusal(capsys, ["claims", str(good), "--claims", str(file), "--published", str(PUBLISHED)], file)


NOISE = {"schema": "scanlab-noise/1", "device": "Test Device", "pairs": [
    {"kind": "scans", "of": "all", "a": {"file": "a", "date": "d"}, "b": {"file": "b"}, "thresholds": [{"on": "device", "time": "under 10 µs", "cases": 3,
                                                                                                      "threshold": 0.5}]}]}  # fmt: skip


def test_every_field_of_recorded_noise_is_named_where_it_cannot_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b, file = tmp_path / "a.json", tmp_path / "b.json", tmp_path / "noise.json"
    a.write_text(json.dumps(timings()))
    b.write_text(changed(timings(), ("context", "date"), "2026-01-03T00:00:00Z"))
    for path in (path for path in keys(NOISE) if path[-1] != "of"):  # which nobody reads
        for value in (MISSING, -1, math.nan, True, None, [[1]], {"a": [1]}):
            file.write_text(changed(NOISE, path, value))
            before = file.read_bytes()
            if main(["compare", str(a), str(b), "--record-noise", str(file)]) == 2:
                sentence = capsys.readouterr().err
                assert sentence.startswith(f"error: {file}: ") and [key for key in path if isinstance(key, str)][-1] in sentence, (path, value, sentence)
                assert file.read_bytes() == before
            else:
                assert isinstance(path[-1], int) or value is MISSING and path[-2] in ("a", "b") or (path[-1], value) == ("thresholds", []), (path, value)


@pytest.mark.parametrize("command", ["build", "claims"])
def test_a_page_that_is_no_text_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    good, page = tmp_path / "good.json", tmp_path / "README.md"
    good.write_text(json.dumps(timings()))
    page.write_bytes("\u00b5".encode("latin-1"))
    assert "is not UTF-8 text" in refusal(capsys, [command, str(good), "--page", str(page), *(["--out", str(tmp_path / "out")] if command == "build" else [])], page)


def test_a_device_that_no_folder_can_be_called_by_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, recorded = write_run(tmp_path / "run", device="///"), tmp_path / "recorded"
    recorded.mkdir()
    assert refusal(capsys, ["add-device", str(run), "--recorded", str(recorded)], run / "scan.json").startswith("context.device")
    assert list(recorded.iterdir()) == []


# ------------------------------------------------------------------------------------------ what the lists leave out


def test_many_wrong_entries_are_twenty_sentences_and_how_many_more(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = timings()
    document["benchmarks"] = [repetition(case("best", 1024), i, -1.0) for i in range(1000)]
    (tmp_path / "d.json").write_text(json.dumps(document))
    assert main(["export", str(tmp_path / "d.json"), "--out", str(tmp_path / "out")]) == 2
    *named, more, outcome = capsys.readouterr().err.splitlines()
    assert len(named) == 20 and "and 980 more" in more and "nothing was written" in outcome


def test_names_of_digits_are_names(tmp_path: Path) -> None:
    file = tmp_path / "bank_conflicts.csv"
    file.write_text(",".join(records.COUNTER_COLUMNS) + "\n7,8,i32,9,64,10,0,1,2,3,4\n")
    read = results.read([file], [])
    assert not read.problems and read.counters.iloc[0][["variant", "padding", "op", "kernel"]].tolist() == ["7", "8", "9", "10"]
