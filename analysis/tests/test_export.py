"""export: tidy tables that agree with what was read, and a dictionary that leaves no column out."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from scanlab_report.commands.__main__ import main
from scanlab_report.commands.export import tables as export
from scanlab_report.read import results
from scanlab_report.select import opened
from tests import fixtures


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fixtures.write_all(tmp_path_factory.mktemp("recorded"), rounds=5, top=18)


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
        assert [column["column"] for column in table["columns"]] == list(rows.columns) and table["rows"] == len(rows) > 0
        for column in table["columns"]:
            assert column["meaning"] and f"| `{column['column']}` |" in page


def test_nothing_is_described_that_no_table_has(tidy: Path) -> None:
    columns = {name: set(pd.read_csv(tidy / f"{name}.csv", nrows=1).columns) for name in export.TABLES}
    optional = {("bank_conflicts", "load")}  # a column that not every file has
    assert {(name, column) for name, table in export.TABLES.items() for column in set(table.own) - columns[name]} == optional
    assert set(export._COLUMNS) <= set().union(*columns.values())


def test_a_column_that_nobody_described_is_no_export(recorded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new = export.Table("a row", lambda read: read.timings.assign(surprise=1))
    monkeypatch.setitem(export.TABLES, "repetitions", new)
    with pytest.raises(KeyError, match="surprise"):
        export.tables(results.read([recorded], []))


def test_a_row_is_a_repetition_and_its_run_says_where_it_is_from(tidy: Path, recorded: Path) -> None:
    rows, runs = pd.read_csv(tidy / "repetitions.csv"), pd.read_csv(tidy / "runs.csv", index_col="run")
    timed = [e for e in json.loads((recorded / "scan.json").read_text())["benchmarks"] if not e.get("error_occurred")]
    of_scans = rows[rows["run"] == runs.index[runs["file"] == "scan.json"][0]]
    assert of_scans["time_ns"].tolist() == pytest.approx([e["real_time"] for e in timed])
    assert set(runs["git_commit"]) == {fixtures.COMMIT} and not runs["file"].str.startswith("/").any()
    schedules = pd.read_csv(tidy / "schedules.csv")
    assert set(runs.loc[schedules["run"], "file"]) == {"streams.json"}


def test_parquet_says_the_same_as_csv(tidy: Path) -> None:
    pytest.importorskip("pyarrow")
    for name in export.TABLES:
        parquet = pd.read_parquet(tidy / f"{name}.parquet")
        text = parquet.to_csv(index=False)
        assert text == (tidy / f"{name}.csv").read_text(), name


def test_recorded_data_are_exported_whole_though_sessions_of_a_device_have_the_same_cases(
    tmp_path: Path, recorded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "recorded"
    for session in ("one", "two"):
        (data / session).mkdir(parents=True)
        for name in ("dram_bytes.csv", "larger.json"):
            (data / session / name).write_text((recorded / name).read_text())
    assert main(["export", str(data), "--out", str(tmp_path / "out")]) == 2 and "of the cases of" in capsys.readouterr().err
    (data / "two" / "larger.json").unlink()
    monkeypatch.setattr(opened, "RECORDED", data)
    assert main(["export", str(data), "--out", str(tmp_path / "out")]) == 0
    assert len(pd.read_csv(tmp_path / "out" / "dram_bytes.csv")) == 2 * len(fixtures.dram_bytes(18).splitlines()[1:])


def test_where_there_is_nothing_to_export_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder in ("nowhere", "empty"):
        assert main(["export", str(tmp_path / folder), "--out", str(tmp_path / "out")]) == 2
