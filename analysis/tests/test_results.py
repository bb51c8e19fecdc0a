"""Reading: what is sound is read; what is not is named with its place, and the rest goes on."""

from __future__ import annotations

import codecs
import gzip
import json
import math
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from scanlab_report.read import published, records, results

from scanlab_report.claims import stated
from tests import fixtures
from tests.conftest import PUBLISHED
from tests.fixtures import case, context, repetition

CASE = case("hs_blocked", 1024)


def write(folder: Path, name: str, *entries: dict[str, Any], **changes: Any) -> Path:
    file = folder / name
    file.write_text(json.dumps({"context": context(**changes), "benchmarks": list(entries)}))
    return file


def read(folder: Path) -> results.Results:
    return results.read([], [folder])


def only_problem(folder: Path) -> str:
    (problem,) = read(folder).problems
    return str(problem)


def test_truncated_file_is_named_with_its_position_and_the_others_are_read(tmp_path: Path) -> None:
    write(tmp_path, "sound.json", repetition(CASE, 0, 5.0))
    text = json.dumps({"context": context(), "benchmarks": [repetition(CASE, 0, 5.0)]}, indent=1)
    (tmp_path / "cut.json").write_text(text[:300])
    read_ = read(tmp_path)
    assert len(read_.timings) == 1
    (problem,) = read_.problems
    lines = text[:300].split("\n")
    assert problem.file.name == "cut.json"
    assert f"line {len(lines)}" in problem.place and "column" in problem.place and "byte" in problem.place
    assert "truncated" in problem.message


def test_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    """JSON, JSON lines, CSV and TOML, as editors of Windows save them."""
    write(tmp_path, "sound.json", repetition(CASE, 0, 5.0))
    (tmp_path / "verify.jsonl").write_text(fixtures.verification())
    (tmp_path / "dram_bytes.csv").write_text(fixtures.dram_bytes(18))
    published_tables, claims = tmp_path / "published", tmp_path / "claims.toml"
    shutil.copytree(PUBLISHED, published_tables)
    shutil.copy(stated.CLAIMS, claims)
    without = read(tmp_path), published.read(published_tables, []), stated.read(claims)
    for file in (*tmp_path.glob("*.*"), *published_tables.iterdir()):
        if file.is_file():
            file.write_bytes(codecs.BOM_UTF8 + file.read_bytes())
    stated.read.cache_clear()
    marked, problems = (read(tmp_path), published.read(published_tables, found := []), stated.read(claims)), found
    assert not problems and not marked[0].problems and marked[2] == without[2] and marked[1].keys() == without[1].keys()
    for table in ("timings", "traffic", "verifications"):
        assert len(getattr(marked[0], table)) == len(getattr(without[0], table)) > 0


def test_compressed_results_are_read(tmp_path: Path) -> None:
    text = write(tmp_path, "t.json", repetition(CASE, 0, 5.0)).read_bytes()
    (tmp_path / "t.json").unlink()
    (tmp_path / "t.json.gz").write_bytes(gzip.compress(text))
    assert len(read(tmp_path).timings) == 1 and not read(tmp_path).problems


@pytest.mark.parametrize("damage", [lambda raw: raw[: len(raw) // 2], lambda raw: raw[:20] + b"\xff" * 40 + raw[60:],
                                    lambda raw: b"no gzip" + raw])  # fmt: skip
def test_damaged_compressed_file_is_named_and_the_others_are_read(tmp_path: Path, damage: Any) -> None:
    text = write(tmp_path, "sound.json", repetition(CASE, 0, 5.0)).read_bytes()
    (tmp_path / "cut.json.gz").write_bytes(damage(gzip.compress(text)))
    read_ = read(tmp_path)
    assert len(read_.timings) == 1
    (problem,) = read_.problems
    assert problem.file.name == "cut.json.gz" and problem.message


def test_a_file_that_is_named_twice_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = write(tmp_path, "a.json", repetition(CASE, 0, 5.0))
    again = results.read([file, file, Path("a.json"), tmp_path], [])
    assert len(again.timings) == 1 and not again.problems


def test_position_counts_bytes_and_not_characters(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"µµ": 1,\n x}', encoding="utf-8")
    assert "line 2, column 2, byte 13" in only_problem(tmp_path)


def test_file_that_is_not_text_is_named_with_its_position(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_bytes(b'{"a":\n"\xff"}')
    assert "line 2, column 2, byte 7: is not UTF-8" in only_problem(tmp_path)


@pytest.mark.parametrize(("schema", "said"), [
    ("scanlab-results/9", "is scanlab-results/9, of a newer Scanlab: update"), (None, "is missing: expected scanlab-results/2"), ("other/1", "is 'other/1': expected scanlab-results/2"),
    ("scanlab-results/1", "is scanlab-results/1, of an older Scanlab: measure again"),
])  # fmt: skip
def test_another_schema_is_one_sentence_that_says_what_to_do(tmp_path: Path, schema: str | None, said: str) -> None:
    file = write(tmp_path, "other.json", repetition(CASE, 0, 5.0), schema=schema)
    (problem,) = results.read([file], []).problems
    assert str(problem).startswith(f"{file}: context.schema: ") and said in str(problem)


@pytest.mark.parametrize("time", [math.nan, math.inf, -1.0, 0.0, "fast", None, True])
def test_impossible_times_are_refused_by_name(tmp_path: Path, time: Any) -> None:
    write(tmp_path, "t.json", repetition(CASE, 0, 5.0), repetition(CASE, 1, time))
    read_ = read(tmp_path)
    assert len(read_.timings) == 1
    assert "benchmarks[1]" in str(read_.problems[0]) and "real_time" in str(read_.problems[0])


def test_rounds_tell_repetitions_apart_when_each_round_has_index_0(tmp_path: Path) -> None:
    write(tmp_path, "t.json", *(repetition(CASE, 0, 5.0, round=r) for r in range(4)))
    assert len(read(tmp_path).timings) == 4 and not read(tmp_path).problems


@pytest.mark.parametrize("outcome", ["skipped", "failed"])
def test_skipped_cases_are_listed_with_the_reason_and_not_analysed(tmp_path: Path, outcome: str) -> None:
    write(tmp_path, "t.json", repetition(CASE, 0, 0.0, error_occurred=True, error_message="no room") | {"outcome": outcome})
    read_ = read(tmp_path)
    assert read_.timings.empty and not read_.problems
    assert read_.skipped["reason"].tolist() == ["no room"]


def test_launch_is_a_column_of_its_own(tmp_path: Path) -> None:
    write(tmp_path, "t.json", *(repetition(CASE | {"launch": launch}, 0, 5.0) for launch in ("stream", "graph")))
    assert read(tmp_path).timings["launch"].tolist() == ["stream", "graph"] and not read(tmp_path).problems


def test_what_kernels_take_is_kept_once_a_case(tmp_path: Path) -> None:
    facts = {"registers": 70, "local_bytes": 0, "choice": {"variant": "look_ahead", "settings": {"tile": "30"}}}
    write(tmp_path, "t.json", *(repetition(CASE, i, 5.0, **facts) for i in range(3)))
    (kernel,) = read(tmp_path).kernels.itertuples()
    assert (kernel.registers, kernel.local_bytes, str(kernel.choice)) == (70, 0, "look_ahead/tile:30")


def test_list_of_explanations_is_read(tmp_path: Path) -> None:
    (tmp_path / "e.json").write_text(json.dumps([fixtures.explanation("hso_block", n) for n in (64, 128)]))
    assert len(read(tmp_path).explanations) == 2


@pytest.mark.parametrize("name", ["prefix_wait.csv", "dram_bytes.csv", "bank_conflicts.csv"])
def test_a_type_that_is_none_is_named_with_its_row(tmp_path: Path, name: str) -> None:
    text = (fixtures.write_all(tmp_path / "whole", rounds=5, top=18) / name).read_text()
    (tmp_path / name).write_text(text.replace(",i32,", ",i33,", 1))
    (problem,) = results.read([tmp_path / name], []).problems
    assert re.fullmatch(r"row \d+ after the header", problem.place) and "refused: type is i33: invalid enum value 'i33'" in problem.message


def test_counters_without_their_columns_or_with_impossible_counts_are_named(tmp_path: Path) -> None:
    (tmp_path / "bank_conflicts.csv").write_text("variant,padding\nhso_block,none\n")
    assert "lacks the columns type" in only_problem(tmp_path)
    head = ",".join(records.COUNTER_COLUMNS)
    row = "hso_block,none,i32,plus,64,k,0,1,2,{},4\n"
    (tmp_path / "bank_conflicts.csv").write_text(f"{head}\n{row.format(3)}{row.format('n/a')}{row.format(-1)}")
    read_ = read(tmp_path)
    assert len(read_.counters) == 1 and len(read_.problems) == 2
    assert "shared_load_conflicts" in str(read_.problems[0])
