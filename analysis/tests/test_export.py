"""export: tidy tables that agree with what was read, and a dictionary that leaves no column out."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pandas as pd
import pytest

from scanlab_report import DATA, opened, tidy_columns
from scanlab_report import tidy as export
from scanlab_report.commands.__main__ import main
from tests import fixtures, stream_fixtures


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = fixtures.write_all(tmp_path_factory.mktemp("recorded"), rounds=5, top=18)
    (folder / "issued.json").write_text(json.dumps(stream_fixtures.trace(issued=True)))
    (folder / "verify.jsonl").write_text(fixtures.verification())
    return folder


@pytest.fixture(scope="module")
def tidy(recorded: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("export") / "tidy"
    assert main(["export", str(recorded), "--out", str(out)]) == 0
    return out


def test_every_table_is_there_and_every_column_of_it_is_described(tidy: Path) -> None:
    described = json.loads((tidy / "dictionary.json").read_text())["tables"]
    page = (tidy / "dictionary.md").read_text()
    assert set(described) == set(export.TABLES)
    for name, table in described.items():
        rows = pd.read_csv(tidy / f"{name}.csv")
        assert [column["column"] for column in table["columns"]] == list(rows.columns) and table[
            "rows"
        ] == len(rows) > 0
        for column in table["columns"]:
            assert column["meaning"] and f"| `{column['column']}` |" in page


def test_every_sample_that_was_read_is_in_a_table(
    recorded: Path, tidy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of each file with measurements; those of the engine model are computed, and named."""
    tables = {name: pd.read_csv(tidy / f"{name}.csv") for name in export.TABLES}
    named = set().union(
        *(table["run"] for name, table in tables.items() if "run" in table and name != "runs")
    )
    assert named == set(tables["runs"]["run"])
    assert tables["several_gpus"]["time_ns"].sum() == pytest.approx(
        sum(
            entry["real_time"]
            for file in recorded.glob("*.json")
            for entry in (json.loads(file.read_text()).get("benchmarks") or [])
            if entry.get("kind") == "distributed"
        )
    )
    assert main(["export", str(recorded / "advice.json"), "--out", str(tidy.parent / "model")]) == 2
    assert (
        f"Not exported: 1 file of the engine model, such as {recorded / 'advice.json'}"
        in capsys.readouterr().err
    )
    assert (
        main(
            [
                "export",
                str(recorded / "advice.json"),
                str(recorded / "scan.json"),
                "--out",
                str(tidy.parent / "model"),
            ]
        )
        == 0
    )
    assert "Not exported: 1 file of the engine model" in capsys.readouterr().out


def test_what_is_counted_says_of_which_device_and_code_it_is(tmp_path: Path) -> None:
    for device in ("One", "Other"):
        (folder := tmp_path / "in" / device).mkdir(parents=True)
        (folder / "scan.json").write_text(
            json.dumps(
                fixtures.timings(rounds=5, top=10) | {"context": fixtures.context(device=device)}
            )
        )
        (folder / "bank_conflicts.csv").write_text(
            f"variant,padding,type,op,items,kernel,launch_index,shared_load_wavefronts,shared_store_wavefronts,shared_load_conflicts,shared_store_conflicts\n"
            f"hso_block,none,i32,plus,{1024 if device == 'One' else 2048},kernel,0,9,9,1,1\n"
        )
    assert main(["export", str(tmp_path / "in"), "--out", str(tmp_path / "out")]) == 0
    rows = pd.read_csv(tmp_path / "out" / "bank_conflicts.csv").set_index("file")
    assert rows["device"].to_dict() == {
        f"{device}/bank_conflicts.csv": device for device in ("One", "Other")
    }
    assert set(rows["git_commit"]) == {fixtures.COMMIT} and rows["date"].notna().all()


def test_files_of_one_name_are_told_apart_however_they_are_given(tmp_path: Path) -> None:
    for seed in (1, 2):
        (tmp_path / str(seed)).mkdir()
        (tmp_path / str(seed) / "scan.json").write_text(
            json.dumps(
                fixtures.timings(rounds=5, top=10) | {"context": fixtures.context(seed=str(seed))}
            )
        )
    for paths in ([tmp_path / "1" / "scan.json", tmp_path / "2"], [tmp_path]):
        assert main(["export", *map(str, paths), "--out", str(tmp_path / "out")]) == 0
        assert pd.read_csv(tmp_path / "out" / "runs.csv")["file"].tolist() == [
            "1/scan.json",
            "2/scan.json",
        ]


def test_a_verification_alone_is_exported(tmp_path: Path) -> None:
    (tmp_path / "verify.jsonl").write_text(fixtures.verification())
    assert main(["export", str(tmp_path / "verify.jsonl"), "--out", str(tmp_path / "out")]) == 0
    rows = pd.read_csv(tmp_path / "out" / "verifications.csv", index_col="variant")
    assert (
        rows[["passed", "failed", "skipped"]].loc["look_ahead"].tolist() == [9, 0, 0]
        and rows["skipped"]["hs_block"] == 1
    )
    assert rows["device"]["look_ahead"] == "Test Device" and rows["file"].eq("verify.jsonl").all()


def test_the_dictionary_names_every_value_of_columns_with_a_few(tidy: Path) -> None:
    """Those of the recorded scans are more than those of invented ones. Operators, of which anybody
    may add one, are in no list."""
    recorded = [
        entry
        for file in (DATA / "recorded").glob("*/*/scan.json.gz")
        for entry in json.loads(gzip.decompress(file.read_bytes()))["benchmarks"]
    ]
    values = {
        ("repetitions", column): {entry[column] for entry in recorded}
        for column in ("type", "mode", "cache", "launch")
    }
    values |= {("runs", "kind"): {"cuda", "host", "tuning"}}
    for name in ("stream_scans", "several_gpus", "several_gpus_operations", "verifications"):
        table = pd.read_csv(tidy / f"{name}.csv")
        values |= {
            (name, column): set(table[column])
            for column in ("way", "from", "to", "on", "kind", "backend", "type", "mode")
            if column in table
        }
    assert {"pipeline", "batch", "graph", "stream", "host"} == values["repetitions", "launch"]
    for (name, column), found in values.items():
        meaning = tidy_columns.described_as(name, column)[1]
        assert found and all(value in meaning for value in found), (name, column, meaning)
    assert "variants/operators/" in tidy_columns.described_as("repetitions", "op")[1]


def test_a_row_is_a_repetition_and_its_run_says_where_it_is_from(
    tidy: Path, recorded: Path
) -> None:
    rows, runs = (
        pd.read_csv(tidy / "repetitions.csv"),
        pd.read_csv(tidy / "runs.csv", index_col="run"),
    )
    timed = [
        e
        for e in json.loads((recorded / "scan.json").read_text())["benchmarks"]
        if not e.get("error_occurred")
    ]
    of_scans = rows[rows["run"] == runs.index[runs["file"] == "scan.json"][0]]
    assert of_scans["time_ns"].tolist() == pytest.approx([e["real_time"] for e in timed])
    assert (
        set(runs["git_commit"]) == {fixtures.COMMIT} and not runs["file"].str.startswith("/").any()
    )
    schedules = pd.read_csv(tidy / "schedules.csv")
    assert set(runs.loc[schedules["run"], "file"]) == {"streams.json"}


def test_parquet_says_the_same_as_csv(tidy: Path) -> None:
    pytest.importorskip("pyarrow")
    for name in export.TABLES:
        parquet = pd.read_parquet(tidy / f"{name}.parquet")
        text = parquet.to_csv(index=False)
        assert text == (tidy / f"{name}.csv").read_text(), name


def test_recorded_data_are_exported_whole_though_sessions_of_a_device_have_the_same_cases(
    tmp_path: Path,
    recorded: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    data = tmp_path / "recorded"
    for session in ("one", "two"):
        (data / session).mkdir(parents=True)
        for name in ("dram_bytes.csv", "larger.json"):
            (data / session / name).write_text((recorded / name).read_text())
    assert (
        main(["export", str(data), "--out", str(tmp_path / "out")]) == 2
        and "of the cases of" in capsys.readouterr().err
    )
    (data / "two" / "larger.json").unlink()
    monkeypatch.setattr(opened, "RECORDED", data)
    assert main(["export", str(data), "--out", str(tmp_path / "out")]) == 0
    assert len(pd.read_csv(tmp_path / "out" / "dram_bytes.csv")) == 2 * len(
        fixtures.dram_bytes(18).splitlines()[1:]
    )


def test_where_there_is_nothing_to_export_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder in ("nowhere", "empty"):
        assert main(["export", str(tmp_path / folder), "--out", str(tmp_path / "out")]) == 2
