"""The tables of an export, one observation a row, and the dictionary of their columns."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import get_args, get_type_hints

import pandas as pd
from msgspec import Struct

from scanlab_report import DATA
from scanlab_report.data import Data
from scanlab_report.formats import Column, Table
from scanlab_report.intervals import summarise
from scanlab_report.schema import results, samples, timelines, verification
from scanlab_report.tables import CASE, COLUMNS, KERNEL, SAMPLE, WAITING

Description = tuple[str, str]
"""The unit of a column (empty: a name or a yes or no), and its meaning."""
_COUNT = "count"


def _means(document: type[Struct], field: str) -> str:
    """The meaning of a field of a document, with every word that it may be."""
    hint = get_type_hints(document, include_extras=True)[field]
    meaning = "".join(of.description or "" for of in getattr(hint, "__metadata__", ())).replace("`", "")
    words = [str(word) for word in get_args(get_args(hint)[0] if meaning else hint)]
    if all(word in meaning for word in words):
        return meaning
    return ": ".join(filter(None, (f"{', '.join(words[:-1])} or {words[-1]}", meaning)))


_COMMON: dict[str, Description] = {
    "run": ("number", "which file, as in the table runs"),
    "variant": ("", "id of the scan or baseline"),
    "settings": ("", "its parameters that are not the default ones, as name=value"),
    **{name: ("", _means(samples.ScanSample, name)) for name in ("type", "op", "mode", "cache")},
    "items": (_COUNT, "size of the array"),
    "launch": ("", f"{_means(samples.ScanSample, 'launch')}, and is called stream here"),
    "round": ("number", "which repetition of the case, from 0"),
    "time_ns": ("ns", "time of one run"),
    "sm_clock_mhz": ("MHz", "the multiprocessors' clock while it ran, of schedules just after; "
                     "empty where it was not read"),
    "converged": ("", "1 from when the interval of the case's median is within width_percent of it, and "
                  "there are no more rounds; empty where a file does not say"),
    "file": ("", "the file that it was read from, from the folder that was exported"),
    "device": ("", "the GPU"), "date": ("UTC", "start of the run, ISO 8601"),
    "git_commit": ("", "the code that ran"),
    "chunks": (_COUNT, "pieces that the array passes through in"),
    "streams": (_COUNT, "CUDA streams, as asked for: some schedules make as many as they need"),
    "memory": ("", "host memory: pinned or pageable"),
    "work": (_COUNT, "times that the kernel repeats its arithmetic"),
    "blocks": (_COUNT, "blocks of the kernel; 0: as many as the workload takes"),
    "bytes": ("bytes", "of a schedule: all that cross the bus, both ways; of a copy or scan: each way"),
    "kernel": ("", "name of the kernel"),
    "launch_index": ("number", "which launch of the case, from 0"),
    "padding": ("", "padding of shared memory; none where the variant has none"),
    "registers": (_COUNT, "registers a thread, the most of all kernels of the scan"),
    "threads": (_COUNT, "threads a block, the most of all kernels of the scan"),
    "launches": (_COUNT, "kernel launches of one run"),
    "algorithm": ("", "id of the scan or baseline"),
    "start_us": ("µs", "start"), "end_us": ("µs", "end"),
    "chunk": ("number", "which chunk; -1: the trace does not say"),
    "load": ("", "how the variant loads, where it can do so in several ways"),
}  # fmt: skip
"""Columns that mean the same in every table."""
_ORIGIN = ("device", "date", "git_commit")
"""The provenance in each row of a table whose files are not in the table of runs."""
_RUN = {
    "kind": ("", f"{_means(results.Context, 'kind')}; empty where the file does not say, and then cuda"),
    **{key: _COMMON[key] for key in _ORIGIN},
    "git_dirty": ("", "whether it had uncommitted changes"), "cpu": ("", "the host's processor"),
    "cores": (_COUNT, "its cores"), "driver": ("", "version of the driver"),
    "toolkit": ("", "version of CUDA"), "cccl": ("", "version of CCCL in the toolkit"),
    "cccl_newest": ("", "version of the newest CCCL, of the baselines cub_newest"),
    "compiler": ("", "of the host's code"), "ecc": ("", "whether memory is error-corrected"),
    "sm_clock_mhz_max": ("MHz", "highest clock of the multiprocessors"),
    "rounds": (_COUNT, "repetitions of a case at most"),
    "width_percent": ("%", "a case whose median is known to so much of it has no more rounds; "
                      "empty: all have the same number of rounds, but for the cap"),
    "cap_seconds": ("s", "a case takes no longer than this"), "seed": ("number", "of the inputs"),
    "argv": ("", "the command"),
}  # fmt: skip
_BANKS = {
    f"{banks}_{what}": (unit, f"shared memory of {banks[5:]} banks: {meaning}")
    for banks in ("banks16", "banks32")
    for what, unit, meaning in (("transactions", _COUNT, "passes that all accesses take"),
                                ("mean_degree", "ways", "mean conflict of an access"),
                                ("max_degree", "ways", "worst conflict of an access"))
}  # fmt: skip
_TOTALS = {
    "operations": (_COUNT, "applications of the operator"), "swaps": (_COUNT, "exchanges"),
    "barriers": (_COUNT, "barriers of one block, summed over launches"),
    "global_bytes_read": ("bytes", "read from global memory"),
    "global_bytes_written": ("bytes", "written to global memory"),
    "shared_requests": (_COUNT, "shared-memory accesses of whole warps"),
}  # fmt: skip
_RANKS = {"settings": ("", "all its parameters, as name=value"), "items": (_COUNT, "size of the whole array"),
          "ranks": (_COUNT, "GPUs or hosts that hold it")}  # fmt: skip
_WAYS = [(f"{way}s", f"shared_{way}") for way in ("load", "store")]

TABLES: dict[str, tuple[str, dict[str, Description]]] = {
    "runs": ("a results file, with its provenance", _RUN),
    "repetitions": ("a repetition of a scan or baseline", {}),
    "cases": ("a case of a run, all its repetitions together", {
        "count": (_COUNT, "repetitions"), "median_ns": ("ns", "median of their times"),
        "low_ns": ("ns", "lower end of its 95% interval; empty where repetitions were too few"),
        "high_ns": ("ns", "upper end"),
    }),
    "kernels": ("a case of a run: what its kernels take", {
        "shared_bytes": ("bytes", "shared memory a block"),
        "local_bytes": ("bytes", "local memory a thread, where spilled registers go"),
        "workspace_bytes": ("bytes", "of the scan"),
        "prepare_ns": ("ns", "time on the device to prepare the workspace, once"),
        "choice": ("", "of best: the variant that it ran, with its settings"),
    }),
    "skipped": ("a case that was not timed", {
        "reason": ("", "why, in words"), "failed": ("", "whether its result was wrong, or an error ended it"),
    }),
    "schedules": ("a repetition of a schedule, or of a copy or kernel that it is held against", {
        "entry": ("", "schedule, copy or kernel"),
        "id": ("", "which schedule, direction of copy or workload"), "workload": ("", "what the kernels do"),
        "buffers": (_COUNT, "device buffers an array; 0: as many as chunks"),
        "inputs": (_COUNT, "arrays that are copied in"),
        "control": ("", "1: the schedule is wrong on purpose"),
        "side_kernels": ("", "1: it runs kernels beside those of the chunks"),
        "own_streams": ("", "1: it makes another number of streams than it was asked for"),
        "device_ns": ("ns", "of a schedule: the device's own time between events, in a replay of its own; "
                      "time_ns is by the host's clock"),
    }),
    "stream_scans": ("a repetition of a scan larger than the device", {
        "way": ("", _means(samples.StreamScanSample, "way")), "scan": ("", "what scanned each chunk"),
        "from": ("", _means(samples.StreamScanSample, "from_")),
        "to": ("", _means(samples.StreamScanSample, "to")),
        "budget": ("bytes", "device memory that was allowed"),
        "mapped": ("", "1: files are written by a mapping"),
    }),
    "operations": ("an operation of a recorded timeline", {
        "label": ("", "what a scenario file calls the operation"), "lane": ("number", "the engine's"),
        "lane_name": ("", "what the trace calls the engine"),
        "kind": ("", "copies in, kernels or copies out"),
        "operation": ("number", "which operation in order of issue; -1: the trace does not say"),
        "stream": ("", "the CUDA stream"),
        "channel": ("number", "the hardware queue; -1: the trace does not say"),
    }),
    "calls": ("a call of the host, in a recorded timeline", {
        "lane_name": ("", "host, and of which of two runs where there are two"),
        "kind": ("", "of the engine that the call gives work to; empty for other calls"),
        "operation": ("number", "which operation it enqueues; -1: the trace does not say"),
    }),
    "several_gpus": ("a repetition of a scan over several GPUs or hosts, or of what it is held against", {
        **_RANKS, "kind": ("", _means(results.Algorithm, "kind")),
        "on": ("", _means(samples.DistributedSample, "on")),
        "bytes": ("bytes", _means(samples.DistributedSample, "bytes")),
        "time_ns": ("ns", "time of one run, of the slowest rank"),
    }),
    "several_gpus_operations": ("a kernel, copy or memset of a recorded scan over several GPUs", {
        **_RANKS, "ranks": (_COUNT, "GPUs that hold it"), "rank": ("number", "the GPU, from 0"),
        "kind": ("", _means(timelines.RankActivity, "kind")),
        "name": ("", _means(timelines.RankActivity, "name")),
        "start_us": ("µs", "start, from the first of the run on any GPU"),
    }),
    "nvbench": ("a scan or copy that nvbench timed", {
        "cache": ("", "cold: nvbench's isolated runs; warm: its batches"),
        "launch": ("", "stream: its isolated runs; batch: its batches"),
        "time_ns": ("ns", "median of isolated runs, mean of batches"),
    }),
    "implicit_sync": ("an experiment on what blocks what", {
        "name": ("", "the experiment"), "question": ("", "the statement, or what is asked"),
        "subject": ("", "its subject; of a call, the call"),
        "asks": ("", "of a call: whether it blocks the host, or serialises kernels of two streams"),
        "stated": ("", "the source's answer"), "claim": ("", "the source, in a sentence"),
        "source": ("", "which source"), "answer": ("", "what the device does"),
        "differs": ("", "whether that is not what was said"), "yes": (_COUNT, "trials that said yes"),
        "trials": (_COUNT, "trials"), "refusal": ("", "why it was not tried"),
        "environment": ("", "variables that were set, as NAME=value"),
    }),
    "concurrency": ("a repetition of small grids side by side", {
        "kernels": (_COUNT, "kernels a stream"), "slots": (_COUNT, "blocks that the device holds at once"),
        "connections": (_COUNT, "CUDA_DEVICE_MAX_CONNECTIONS"),
        "block_seconds": ("s", "how long a block runs"), "waves": (_COUNT, "blocks over slots, rounded up"),
        "fluid_seconds": ("s", "makespan by formula, without rounding up"),
        "predicted_seconds": ("s", "makespan by formula"),
        "serial_seconds": ("s", "makespan without any overlap"), "makespan_seconds": ("s", "makespan"),
    }),
    "bank_conflicts": ("a kernel launch, counted by the hardware", {
        **{f"{column}_wavefronts": (_COUNT, f"passes that shared-memory {way} took") for way, column in _WAYS},
        **{f"{column}_conflicts": (_COUNT, f"passes of {way} beyond the first, for bank conflicts") for way, column in _WAYS},
    }),
    "dram_bytes": ("a kernel launch, counted by the hardware", {
        "dram_bytes_read": ("bytes", "from DRAM to L2"), "dram_bytes_written": ("bytes", "from L2 to DRAM"),
    }),
    "waits": ("a role of warps within a kernel", {
        "role": ("", "what the warps do: load, reduce, look ahead, tell, scan, or block for all"),
        "ranks": (_COUNT, "GPUs that share the array"), "rank": ("", "which of them, from 0"),
        "tile": ("KiB", "size of a tile"), "cycles_total": ("cycles", "from the first tile to the last"),
    }),
    "repeated_bits": ("a variant whose runs were repeated on the same input", {
        "cases": (_COUNT, "cases that were repeated"), "varying": (_COUNT, "cases whose bits varied"),
        "runs": (_COUNT, "runs of each case"),
    }),
    "verifications": ("a variant whose results were compared with the oracle's", {
        "backend": ("", _means(verification.VerificationContext, "backend")),
        "seed": ("number", "of inputs and sizes"),
        "types": ("", "element types of which a check passed"), "passed": (_COUNT, "checks that passed"),
        "failed": (_COUNT, "checks that failed"), "skipped": (_COUNT, "checks that were skipped"),
        "wrong": ("", "the first check that failed, and why"),
        "interrupted": ("", "whether not all checks were made"),
    }),
    "emulator_counts": ("a case that the CPU emulator counted", {
        "git_commit": ("", "the code that counted"), **_TOTALS, **_BANKS,
        "operations_stated": (_COUNT, "operations as the source states them; empty where it states none"),
    }),
}  # fmt: skip
"""By name, which is the file's: what a row is, and the columns that only this table has."""
_OF_RUNS = {
    "repetitions": ("scan", [*CASE, *SAMPLE]), "skipped": ("skipped", COLUMNS["skipped"]),
    "schedules": ("schedule", COLUMNS["schedule"]), "stream_scans": ("stream_scan", COLUMNS["stream_scan"]),
    "operations": ("spans", COLUMNS["spans"]), "calls": ("calls", COLUMNS["calls"]),
    "several_gpus": ("distributed", COLUMNS["distributed"]),
    "several_gpus_operations": ("rank_spans", ["round", *(c for c in COLUMNS["rank_spans"] if c != "run")]),
    "nvbench": ("nvbench", COLUMNS["nvbench"]),
    "implicit_sync": ("implicit_sync", [c for c in COLUMNS["implicit_sync"] if c not in ("works", "seconds")]),
    "concurrency": ("concurrency", COLUMNS["concurrency"]),
}  # fmt: skip
"""By name the table of `Data`, and its columns, of each table whose files are runs."""
_OF_FILES = {"bank_conflicts": "counters", "dram_bytes": "traffic", "waits": "waits", "repeated_bits": "repeats"}


def _describe(table: str, column: str) -> Description:
    """The unit and meaning of a column; KeyError if nobody wrote them down."""
    if column.startswith(WAITING):  # there may be any of them
        return "cycles", f"of the total, spent waiting; for what: {column.removeprefix(WAITING)}"
    own = TABLES[table][1]
    return own[column] if column in own else _COMMON[column]


def tables(data: Data, paths: Sequence[Path]) -> dict[str, pd.DataFrame]:
    """Every table that the data have rows for, read from the paths."""
    made = dict(_tables(data))
    folder = os.path.commonpath([os.path.abspath(path if path.is_dir() else path.parent) for path in paths])
    for rows in made.values():
        if "file" in rows:
            rows["file"] = rows["file"].map({file: _place(file, folder) for file in rows["file"].unique()})
    return {name: made[name] for name in TABLES if name in made and len(made[name])}


def _place(file: str, folder: str) -> str:
    """A file of the data by its place there, another by that in the folder: no paths of one
    machine, and no two files alike."""
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
    measured = {name: data.rows(table, lambda file: not file.of_no_device) for name, (table, _) in _OF_RUNS.items()}
    numbers = sorted({number for rows in measured.values() for number in rows["file"]})
    runs = {number: place for place, number in enumerate(numbers)}
    yield "runs", pd.DataFrame([
        {"run": runs[n], "file": str(data.files[n].path), **{key: str(data.files[n].context.get(key, "")) for key in _RUN}}
        for n in numbers])  # fmt: skip
    for name, (_, columns) in _OF_RUNS.items():
        rows = measured[name].rename(columns={"run": "round"} if name == "several_gpus_operations" else {})
        rows = rows[["file", *columns]].rename(columns={"ns": "time_ns"})
        if "converged" in rows:
            rows = rows.astype({"converged": float})
        if name == "implicit_sync":
            environments = [" ".join(f"{k}={v}" for k, v in sorted(of.items())) for of in rows["environment"]]
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
    for name, table in _OF_FILES.items():
        rows = data[table]
        files = [data.files[number] for number in rows["file"]]
        about = {key: [str(file.context.get(key, "")) for file in files] for key in _ORIGIN}
        yield name, rows.drop(columns="content", errors="ignore").assign(file=[str(f.path) for f in files], **about)
    yield "verifications", pd.DataFrame([
        {"file": str(of.file), **{key: str(of.context.get(key, "")) for key in (*_ORIGIN, "backend", "seed")},
         "variant": variant, "types": " ".join(checks.types), "passed": checks.passed, "failed": checks.failed,
         "skipped": checks.skipped, "wrong": checks.wrong, "interrupted": of.interrupted}
        for of in data.verifications for variant, checks in of.variants.items()])  # fmt: skip
    yield "emulator_counts", pd.DataFrame([_count(data, row) for row in data["counts"].itertuples()])


def _of_runs(rows: pd.DataFrame, runs: Mapping[int, int]) -> pd.DataFrame:
    return rows.assign(file=rows["file"].map(runs)).rename(columns={"file": "run"})


def _count(data: Data, row) -> dict[str, object]:
    file, totals = data.files[row.file], row.content.totals
    names = ("variant", "type", "op", "mode", "items", "padding", "load")
    return {
        "file": str(file.path), "date": file.date, "git_commit": file.commit,
        **{name: getattr(row, name) for name in names}, "launches": len(row.content.launches),
        **{key: getattr(totals, key) for key in _TOTALS},
        **{key: getattr(getattr(totals, key[:7]), key[8:]) for key in _BANKS},
        "operations_stated": row.content.closed_forms.operations,
    }  # fmt: skip


# -------------------------------------------------------------------------------- the dictionary


def _described(name: str, rows: pd.DataFrame) -> pd.DataFrame:
    """One row a column: `column`, `unit`, `meaning`, and `kind`."""
    return pd.DataFrame([(column, *_describe(name, column), _kind(rows[column])) for column in rows],
                        columns=["column", "unit", "meaning", "kind"])  # fmt: skip


def _kind(values: pd.Series) -> str:
    is_ = pd.api.types
    kinds = ((is_.is_bool_dtype, "yes or no"), (is_.is_integer_dtype, "whole number"), (is_.is_numeric_dtype, "number"))
    return next((name for test, name in kinds if test(values)), "text")


def dictionary_json(made: Mapping[str, pd.DataFrame]) -> str:
    """The dictionary for programs."""
    content = {name: {"row": TABLES[name][0], "rows": len(rows), "columns": _described(name, rows).to_dict("records")}
               for name, rows in made.items()}  # fmt: skip
    return json.dumps({"schema": "scanlab-export/1", "tables": content}, indent=1, ensure_ascii=False) + "\n"


def dictionary_markdown(made: Mapping[str, pd.DataFrame]) -> str:
    """The dictionary for people."""
    cells = [Column(name, name, "`{}`".format if name == "column" else str, right=False) for name in ("column", "unit", "kind", "meaning")]
    parts = ["# Data dictionary", "Each table is in a file of its own, as CSV (UTF-8, a line of headings) and as Parquet."]
    for name, rows in made.items():
        page = Table("", cells, _described(name, rows)).markdown().strip()
        parts.append(f"## {name}\n\nA row is {TABLES[name][0]}; there are {len(rows)}.\n\n{page}")
    return "\n\n".join(parts) + "\n"
