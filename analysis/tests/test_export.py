"""export: tidy tables that agree with what was read, and a dictionary that leaves no column out."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from scanlab_report import opened
from scanlab_report.commands.__main__ import main
from scanlab_report.load import load
from tests import fixtures, stream_fixtures

FEW = {("scan", "type"), ("scan", "cache"), ("stream_scan", "way"), ("distributed", "on")}
"""Columns whose meaning lists what they may be."""
TIMED = ("scan", "schedule", "stream_scan", "distributed")


def write(file: Path, content: object) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def export(out: Path, *paths: Path) -> dict[str, pd.DataFrame]:
    assert main(["export", *map(str, paths), "--out", str(out)]) == 0
    return {file.stem: pd.read_csv(file) for file in out.glob("*.csv")}


def scan(**context: str) -> object:
    document = fixtures.timings(rounds=5, top=10)
    return document | {"context": fixtures.context(**context)}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = fixtures.write_all(tmp_path_factory.mktemp("run"), rounds=5, top=12)
    write(folder / "issued.json", stream_fixtures.trace(issued=True))
    write(folder / "verify.jsonl", fixtures.verification())
    return folder


@pytest.fixture(scope="module")
def out(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("export")
    export(out, run)
    return out


def test_every_column_of_every_table_is_described(out: Path) -> None:
    described = json.loads((out / "dictionary.json").read_text())["tables"]
    page = (out / "dictionary.md").read_text()
    assert set(described) == {file.stem for file in out.glob("*.csv")}
    for name, table in described.items():
        rows = pd.read_csv(out / f"{name}.csv")
        assert [column["column"] for column in table["columns"]] == list(rows.columns)
        assert table["rows"] == len(rows) > 0 and f"\n## {name}\n" in page
        for column in table["columns"]:
            assert column["meaning"] and f"| `{column['column']}` |" in page
            if (name, column["column"]) in FEW:
                assert all(word in column["meaning"] for word in set(rows[column["column"]]))


def test_every_sample_that_was_read_is_in_a_table_and_its_file_is_named(
    run: Path, out: Path
) -> None:
    data, files = load([run]), pd.read_csv(out / "files.csv", index_col="file")
    for name in TIMED:
        rows = pd.read_csv(out / f"{name}.csv")
        assert rows["ns"].tolist() == pytest.approx(data[name]["ns"].tolist())
        paths = [data.files[number].path.name for number in data[name]["file"]]
        assert files.loc[rows["file"], "path"].tolist() == paths
    assert set(files["git_commit"].dropna()) == {fixtures.COMMIT}
    assert not files["path"].str.startswith("/").any()


def test_times_of_the_engine_model_are_named_and_not_exported(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    advice, out = str(run / "advice.json"), str(tmp_path)
    assert main(["export", advice, "--out", out]) == 2
    stated = f"Not exported: 1 file of the engine model, such as {advice}"
    assert stated in capsys.readouterr().err
    assert main(["export", advice, str(run / "scan.json"), "--out", out]) == 0
    assert stated in capsys.readouterr().out and not list(tmp_path.glob("advice.*"))


def test_what_is_counted_says_of_which_device_and_code_it_is(tmp_path: Path) -> None:
    head = "variant,padding,type,op,items,kernel,launch_index,shared_load_wavefronts,"
    head += "shared_store_wavefronts,shared_load_conflicts,shared_store_conflicts\n"
    for items, device in ((1024, "One"), (2048, "Other")):
        write(tmp_path / "in" / device / "scan.json", scan(device=device))
        row = f"hso_block,none,i32,plus,{items},kernel,0,9,9,1,1\n"
        write(tmp_path / "in" / device / "bank_conflicts.csv", head + row)
    tables = export(tmp_path / "out", tmp_path / "in")
    rows = tables["counters"].merge(tables["files"], on="file")
    assert rows[["items", "device"]].values.tolist() == [[1024, "One"], [2048, "Other"]]
    assert set(rows["git_commit"]) == {fixtures.COMMIT} and rows["date"].notna().all()


def test_files_of_one_name_are_told_apart_however_they_are_given(tmp_path: Path) -> None:
    for seed in "12":
        write(tmp_path / seed / "scan.json", scan(seed=seed))
    for paths in ([tmp_path / "1" / "scan.json", tmp_path / "2"], [tmp_path]):
        files = export(tmp_path / "out", *paths)["files"]
        assert files["path"].tolist() == ["1/scan.json", "2/scan.json"]


def test_a_verification_alone_is_exported(tmp_path: Path) -> None:
    tables = export(tmp_path, write(tmp_path / "verify.jsonl", fixtures.verification()))
    rows = tables["verification"].merge(tables["files"], on="file").set_index("variant")
    assert rows.loc["look_ahead", ["passed", "failed", "skipped"]].tolist() == [9, 0, 0]
    assert rows["skipped"]["hs_block"] == 1
    assert rows["device"]["look_ahead"] == "Test Device" and rows["path"].eq("verify.jsonl").all()


def test_parquet_says_the_same_as_csv(out: Path) -> None:
    pytest.importorskip("pyarrow")
    for file in out.glob("*.csv"):
        parquet = pd.read_parquet(file.with_suffix(".parquet"))
        assert parquet.to_csv(index=False) == file.read_text(), file


def test_recorded_data_are_exported_whole_though_sessions_of_a_device_have_the_same_cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data, text = tmp_path / "recorded", fixtures.dram_bytes(18)
    for session in ("one", "two"):
        write(data / session / "dram_bytes.csv", text)
    write(data / "one" / "scan.json", scan())
    assert main(["export", str(data), "--out", str(tmp_path / "out")]) == 2
    assert "of the cases of" in capsys.readouterr().err
    monkeypatch.setattr(opened, "RECORDED", data)
    rows = export(tmp_path / "out", data)["traffic"]
    assert len(rows) == 2 * len(text.splitlines()[1:])


def test_where_there_is_nothing_to_export_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder in ("nowhere", "empty"):
        assert main(["export", str(tmp_path / folder), "--out", str(tmp_path / "out")]) == 2
