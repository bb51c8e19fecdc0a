"""export: tidy tables that agree with what was read, and a dictionary that leaves no column out."""

from pathlib import Path

import pandas as pd
import pytest

from scanlab_report.commands.__main__ import main
from scanlab_report.load import load
from tests import fixtures


def export(out: Path, *paths: Path) -> dict[str, pd.DataFrame]:
    assert main(["export", *map(str, paths), "--out", str(out)]) == 0
    return {file.stem: pd.read_csv(file) for file in out.glob("*.csv")}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fixtures.write_all(tmp_path_factory.mktemp("run"), rounds=5, top=12)


@pytest.fixture(scope="module")
def out(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("export")
    export(out, run)
    return out


def test_every_column_of_every_table_is_described(out: Path) -> None:
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


def test_every_sample_that_was_read_is_in_a_table_and_its_file_is_named(
    run: Path, out: Path
) -> None:
    data, files = load([run]), pd.read_csv(out / "files.csv", index_col="file")
    for name in ("scan", "schedule", "stream_scan", "distributed"):
        rows = pd.read_csv(out / f"{name}.csv")
        assert rows["ns"].tolist() == pytest.approx(data[name]["ns"].tolist())
        paths = [data.files[number].path.name for number in data[name]["file"]]
        assert files.loc[rows["file"], "path"].tolist() == paths
    assert set(files["git_commit"].dropna()) == {fixtures.COMMIT}


def test_parquet_says_the_same_as_csv(out: Path) -> None:
    pytest.importorskip("pyarrow")
    for file in out.glob("*.csv"):
        parquet = pd.read_parquet(file.with_suffix(".parquet"))
        assert parquet.to_csv(index=False) == file.read_text(), file
