"""The tables of an export, one observation a row, and the dictionary of their columns."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from scanlab_report import DATA
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table
from scanlab_report.intervals import summarise
from scanlab_report.tables import CASE, KERNEL
from scanlab_report.tidy_columns import (
    BANKS,
    OF_FILES,
    OF_RUNS,
    ORIGIN,
    RUN_COLUMNS,
    TABLES,
    TOTALS,
    described_as,
)


def tables(data: Data, paths: Sequence[Path]) -> dict[str, pd.DataFrame]:
    """Every table that the data have rows for, read from the paths."""
    made = dict(_tables(data))
    folder = os.path.commonpath(
        [os.path.abspath(path if path.is_dir() else path.parent) for path in paths]
    )
    for rows in made.values():
        if "file" in rows:
            rows["file"] = rows["file"].map(
                {file: _place(file, folder) for file in rows["file"].unique()}
            )
    return {name: made[name] for name in TABLES if name in made and len(made[name])}


def _place(file: str, folder: str) -> str:
    """Name a file of the data by its place there, and another file by its place in the folder.
    Names hold no paths of a machine, and no two files have the same name."""
    whole = Path(file).resolve()
    if whole.is_relative_to(DATA):
        return whole.relative_to(DATA).as_posix()
    return Path(os.path.abspath(file)).relative_to(folder).as_posix()


def of_model(data: Data) -> list[Path]:
    """The files of the engine model, which are not exported: they hold computed times."""
    simulated = data.rows("spans", lambda file: file.of_no_device)
    numbers = {*data["comparison"]["file"], *data["advice"]["file"], *simulated["file"]}
    return [data.files[number].path for number in sorted(numbers)]


def _tables(data: Data) -> Iterator[tuple[str, pd.DataFrame]]:
    measured = {
        name: data.rows(table, lambda file: not file.of_no_device)
        for name, (table, _) in OF_RUNS.items()
    }
    numbers = sorted({number for rows in measured.values() for number in rows["file"]})
    runs = {number: place for place, number in enumerate(numbers)}
    yield (
        "runs",
        pd.DataFrame(
            [
                {
                    "run": runs[n],
                    "file": str(data.files[n].path),
                    **{key: str(data.files[n].context.get(key, "")) for key in RUN_COLUMNS},
                }
                for n in numbers
            ]
        ),
    )
    for name, (_, columns) in OF_RUNS.items():
        rows = measured[name].rename(
            columns={"run": "round"} if name == "several_gpus_operations" else {}
        )
        rows = rows[["file", *columns]].rename(columns={"ns": "time_ns"})
        if "converged" in rows:
            rows = rows.astype({"converged": float})
        if name == "implicit_sync":
            environments = [
                " ".join(f"{k}={v}" for k, v in sorted(variables.items()))
                for variables in rows["environment"]
            ]
            rows = rows.assign(environment=environments)
        if name == "concurrency" and len(rows):
            rows = rows.explode("makespan_seconds").astype({"makespan_seconds": float})
        yield name, _of_runs(rows, runs)
    scans = data["scan"].astype({"converged": float})
    cases = summarise(scans, ["file", *CASE])
    converged = scans.groupby(["file", *CASE], dropna=False)["converged"].max()
    columns = ["file", *CASE, "count", "median_ns", "low_ns", "high_ns"]
    yield "cases", _of_runs(cases[columns].merge(converged.reset_index(), how="left"), runs)
    kernels = scans[scans["registers"].notna()].drop_duplicates(["file", *CASE])
    choices = [str(choice or "") for choice in kernels["choice"]]
    yield "kernels", _of_runs(kernels[["file", *CASE, *KERNEL]].assign(choice=choices), runs)
    for name, table in OF_FILES.items():
        rows = data[table]
        files = [data.files[number] for number in rows["file"]]
        about = {key: [str(file.context.get(key, "")) for file in files] for key in ORIGIN}
        yield (
            name,
            rows.drop(columns="content", errors="ignore").assign(
                file=[str(f.path) for f in files], **about
            ),
        )
    yield (
        "verifications",
        pd.DataFrame(
            [
                {
                    "file": str(verification.file),
                    **{
                        key: str(verification.context.get(key, ""))
                        for key in (*ORIGIN, "backend", "seed")
                    },
                    "variant": variant,
                    "types": " ".join(checks.types),
                    "passed": checks.passed,
                    "failed": checks.failed,
                    "skipped": checks.skipped,
                    "wrong": checks.wrong,
                    "interrupted": verification.interrupted,
                }
                for verification in data.verifications
                for variant, checks in verification.variants.items()
            ]
        ),
    )
    yield (
        "emulator_counts",
        pd.DataFrame([_count(data, row) for row in data["counts"].itertuples()]),
    )


def _of_runs(rows: pd.DataFrame, runs: Mapping[int, int]) -> pd.DataFrame:
    return rows.assign(file=rows["file"].map(runs)).rename(columns={"file": "run"})


def _count(data: Data, row) -> dict[str, object]:
    file, totals = data.files[row.file], row.content.totals
    names = ("variant", "type", "op", "mode", "items", "padding", "load")
    return {
        "file": str(file.path),
        "date": file.date,
        "git_commit": file.commit,
        **{name: getattr(row, name) for name in names},
        "launches": len(row.content.launches),
        **{key: getattr(totals, key) for key in TOTALS},
        **{key: getattr(getattr(totals, key[:7]), key[8:]) for key in BANKS},
        "operations_stated": row.content.closed_forms.operations,
    }


# -------------------------------------------------------------------------------- the dictionary


def _described(name: str, rows: pd.DataFrame) -> pd.DataFrame:
    """One row a column: `column`, `unit`, `meaning`, and `kind`."""
    return pd.DataFrame(
        [(column, *described_as(name, column), _kind(rows[column])) for column in rows],
        columns=["column", "unit", "meaning", "kind"],
    )


def _kind(values: pd.Series) -> str:
    is_ = pd.api.types
    kinds = (
        (is_.is_bool_dtype, "yes or no"),
        (is_.is_integer_dtype, "whole number"),
        (is_.is_numeric_dtype, "number"),
    )
    return next((name for test, name in kinds if test(values)), "text")


def dictionary_json(made: Mapping[str, pd.DataFrame]) -> str:
    """The dictionary for programs."""
    content = {
        name: {
            "row": TABLES[name][0],
            "rows": len(rows),
            "columns": _described(name, rows).to_dict("records"),
        }
        for name, rows in made.items()
    }
    return (
        json.dumps({"schema": "scanlab-export/1", "tables": content}, indent=1, ensure_ascii=False)
        + "\n"
    )


def dictionary_markdown(made: Mapping[str, pd.DataFrame]) -> str:
    """The dictionary for people."""
    cells = [
        Column(name, name, "`{}`".format if name == "column" else str, right=False)
        for name in ("column", "unit", "kind", "meaning")
    ]
    parts = [
        "# Data dictionary",
        "Each table is in a file of its own, as CSV (UTF-8, a line of headings) and as Parquet.",
    ]
    for name, rows in made.items():
        page = Table("", cells, _described(name, rows)).markdown().strip()
        parts.append(f"## {name}\n\nA row is {TABLES[name][0]}; there are {len(rows)}.\n\n{page}")
    return "\n\n".join(parts) + "\n"
