"""export: tidy tables that agree with what was read, and a dictionary that leaves no column out."""

from pathlib import Path

import pandas as pd
import pytest

from scanlab_report import DATA
from scanlab_report.commands.__main__ import main
from scanlab_report.load import load
from tests.fixtures import PAIR, SESSION

NAMES = ("python", "schedules", "stream_scan_memory_1024MiB")
FILES = [SESSION / f"{name}.json.gz" for name in NAMES] + [PAIR / "ranks_scaling_2.json.gz"]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("export")
    assert main(["export", *map(str, FILES), "--out", str(out)]) == 0
    return out


def test_every_column_of_every_table_is_described(out) -> None:
    parts = (out / "dictionary.md").read_text().split("\n## ")[1:]
    described = {part.partition("\n")[0]: part for part in parts}
    assert set(described) == {file.stem for file in out.glob("*.csv")}
    for name, part in described.items():
        rows = pd.read_csv(out / f"{name}.csv")
        assert f"there are {len(rows)}." in part and len(rows)
        cells = [line[2:-2].split(" | ") for line in part.splitlines() if line.startswith("| `")]
        assert [cell[0].strip("`") for cell in cells] == list(rows.columns)
        assert all(cell[2] for cell in cells)
    assert "| `ns` | ns | mean time" in described["scan"]
    assert "(cold, warm)" in described["scan"] and "(gpus, hosts)" in described["distributed"]


def test_every_sample_that_was_read_is_in_a_table_and_its_file_is_named(out) -> None:
    data, files = load([], FILES), pd.read_csv(out / "files.csv", index_col="file")
    for name in ("scan", "schedule", "stream_scan", "distributed"):
        rows = pd.read_csv(out / f"{name}.csv")
        assert rows["ns"].tolist() == pytest.approx(data[name]["ns"].tolist())
        own = files.loc[rows["file"], ["path", "git_commit"]].drop_duplicates()
        read = {data.files[number] for number in data[name]["file"]}
        paths = {(file.path.relative_to(DATA).as_posix(), file.commit) for file in read}
        assert {*own.itertuples(index=False, name=None)} == paths


def test_parquet_says_the_same_as_csv(out) -> None:
    pytest.importorskip("pyarrow")
    for file in out.glob("*.csv"):
        parquet = pd.read_parquet(file.with_suffix(".parquet"))
        assert parquet.to_csv(index=False) == file.read_text(), file
