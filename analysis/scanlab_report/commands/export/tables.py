"""Everything that was read as tidy tables, one observation a row, and the dictionary that says what each column is."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args, get_type_hints

import pandas as pd
from msgspec import Struct

from scanlab_report import DATA
from scanlab_report.layout.table_formats import Column as Cell
from scanlab_report.layout.table_formats import Table as Page
from scanlab_report.read import streams
from scanlab_report.schema import results as documents
from scanlab_report.schema import timelines, verification
from scanlab_report.read.records import CASE, WAIT_PREFIX, Results, StreamFile
from scanlab_report.stats import intervals

Description = tuple[str, str]
"""The unit of a column (empty: a name or a yes or no), and what it means."""

_COUNT = "count"


def _means(document: type[Struct], field: str) -> str:
    """What a field of a document means, with every word that it may be."""
    hint = get_type_hints(document, include_extras=True)[field]
    said = "".join(of.description or "" for of in getattr(hint, "__metadata__", ())).replace("`", "")
    words = [str(word) for word in get_args(get_args(hint)[0] if said else hint)]
    if all(word in said for word in words):
        return said
    return ": ".join(filter(None, (f"{', '.join(words[:-1])} or {words[-1]}", said)))


_COLUMNS: dict[str, Description] = {
    "run": ("number", "which file, as in the table runs"),
    "variant": ("", "id of the scan or baseline"),
    "settings": ("", "its parameters that are not the default ones, as name=value"),
    "type": ("", _means(documents.ScanSample, "type")),
    "op": ("", _means(documents.ScanSample, "op")),
    "mode": ("", _means(documents.ScanSample, "mode")),
    "items": (_COUNT, "size of the array"),
    "cache": ("", _means(documents.ScanSample, "cache")),
    "launch": ("", f"{_means(documents.ScanSample, 'launch')}, and is called stream here"),
    "round": ("number", "which repetition of the case, from 0"),
    "time_ns": ("ns", "time of one run"), "sm_clock_mhz": ("MHz", "the multiprocessors' clock while it ran, of schedules just after; empty where it was not read"),
    "converged": ("", "1 from when the interval of the case's median is within width_percent of it, and there are no more rounds; empty where a file does not say"),
    "file": ("", "the file that it was read from, from the folder that was exported"),
    "device": ("", "the GPU"), "date": ("UTC", "start of the run, ISO 8601"), "git_commit": ("", "the code that ran"),
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
}
"""Columns that mean the same in every table."""

_ORIGIN = ("device", "date", "git_commit")
"""What each row of a table says whose files are in no table of runs."""
_RUN = {
    "kind": ("", f"{_means(documents.Context, 'kind')}; empty where the file does not say, and then cuda"),
    **{key: _COLUMNS[key] for key in _ORIGIN},
    "git_dirty": ("", "whether it had uncommitted changes"), "cpu": ("", "the host's processor"), "cores": (_COUNT, "its cores"),
    "driver": ("", "version of the driver"), "toolkit": ("", "version of CUDA"), "cccl": ("", "version of CCCL in the toolkit"),
    "cccl_newest": ("", "version of the newest CCCL, of the baselines cub_newest"), "compiler": ("", "of the host's code"),
    "ecc": ("", "whether memory is error-corrected"), "sm_clock_mhz_max": ("MHz", "highest clock of the multiprocessors"),
    "rounds": (_COUNT, "repetitions of a case at most"), "width_percent": ("%", "a case whose median is known to so much of it has no more rounds; "
               "empty: all have the same number of rounds, but for the cap"), "cap_seconds": ("s", "a case takes no longer than this"),
    "seed": ("number", "of the inputs"), "argv": ("", "the command"),
}  # fmt: skip
_BANKS = {f"{banks}_{what}": (unit, f"shared memory of {number} banks: {meaning}")
          for banks, number in (("banks16", 16), ("banks32", 32))
          for what, unit, meaning in (("transactions", _COUNT, "passes that all accesses take"), ("mean_degree", "ways", "mean conflict of an access"),
                                      ("max_degree", "ways", "worst conflict of an access"))}  # fmt: skip
_TOTALS = {
    "operations": (_COUNT, "applications of the operator"), "swaps": (_COUNT, "exchanges"),
    "barriers": (_COUNT, "barriers of one block, summed over launches"), "global_bytes_read": ("bytes", "read from global memory"),
    "global_bytes_written": ("bytes", "written to global memory"), "shared_requests": (_COUNT, "shared-memory accesses of whole warps"),
}  # fmt: skip


@dataclass(frozen=True)
class Table:
    """A table of the export: what a row is, how its rows come about, and the columns that it describes itself."""

    row: str
    rows: Callable[[Results], pd.DataFrame]
    own: Mapping[str, Description] = field(default_factory=dict)

    def describe(self, column: str) -> Description:
        """The unit and meaning of a column; KeyError if nobody wrote them down."""
        if column.startswith(WAIT_PREFIX):  # there may be any of them
            return "cycles", f"of the total, spent waiting; for what: {column.removeprefix(WAIT_PREFIX)}"
        return self.own[column] if column in self.own else _COLUMNS[column]


MODEL = (streams.SIMULATION, streams.COMPARISON, streams.ADVICE)
"""Kinds of file without a table: what they hold is computed, not measured."""


def tables(results: Results, paths: Sequence[Path]) -> dict[str, pd.DataFrame]:
    """Every table that the results have rows for, read from the paths; KeyError if one has a column that nobody described."""
    found = {name: table.rows(results) for name, table in TABLES.items()}
    found = {name: rows for name, rows in found.items() if len(rows)}
    folder = os.path.commonpath([os.path.abspath(path if path.is_dir() else path.parent) for path in paths])
    for name, rows in found.items():
        for column in rows:
            TABLES[name].describe(column)
        if "file" in rows:
            rows["file"] = rows["file"].map({file: _from(file, folder) for file in rows["file"].unique()})
    return found


def _from(file: str, folder: str) -> str:
    """A file of the data by its place there, another by that in the folder: no paths of one machine, and no two files alike."""
    whole = Path(file).resolve()
    return whole.relative_to(DATA).as_posix() if whole.is_relative_to(DATA) else Path(os.path.abspath(file)).relative_to(folder).as_posix()


def of_model(results: Results) -> list[Path]:
    """The files of the engine model, which are not exported."""
    return [file.run.file for file in results.streams if file.kind in MODEL]


def _measured(results: Results) -> list[tuple[int, StreamFile]]:
    """The other files of the stream laboratory, which are numbered behind those with scans."""
    return list(enumerate((file for file in results.streams if file.kind not in MODEL), len(results.runs)))


def _runs(results: Results) -> pd.DataFrame:
    runs = [*results.runs, *(file.run for _, file in _measured(results))]
    rows = [{"run": number, "file": str(run.file), **{key: str(run.context.get(key, "")) for key in _RUN}}
            for number, run in enumerate(runs)]  # fmt: skip
    return pd.DataFrame(rows)


def _stream_rows(kind: str, part: str = "rows") -> Callable[[Results], pd.DataFrame]:
    """The rows of a kind of file; ``part``: or the host's ``calls``."""

    def rows(results: Results) -> pd.DataFrame:
        found = [getattr(file, part).rename(columns={"run": "round"}).assign(run=number) for number, file in _measured(results) if file.kind == kind]
        table = pd.concat(found, ignore_index=True) if found else pd.DataFrame({"run": []})
        return table[["run", *(column for column in table if column != "run")]]

    return rows


def _concurrency(results: Results) -> pd.DataFrame:
    rows = _stream_rows(streams.CONCURRENCY)(results)
    return rows.explode("makespan_seconds").astype({"makespan_seconds": float}) if len(rows) else rows


def _implicit_sync(results: Results) -> pd.DataFrame:
    rows = _stream_rows(streams.IMPLICIT_SYNC)(results).drop(columns=["works", "seconds"], errors="ignore")
    if len(rows):
        rows["environment"] = [" ".join(f"{key}={value}" for key, value in sorted(of.items())) for of in rows["environment"]]
    return rows


def _cases(results: Results) -> pd.DataFrame:
    converged = results.timings.groupby(["run", *CASE], dropna=False)["converged"].max().reset_index()
    return intervals.summarise(results.timings, ["run", *CASE]).drop(columns="samples").merge(converged, how="left")


def _kernels(results: Results) -> pd.DataFrame:
    rows = results.kernels[results.kernels["registers"].notna()].drop(columns=["origin"])
    return rows.assign(choice=[str(of or "") for of in rows["choice"]])


def _of_file(name: str) -> Callable[[Results], pd.DataFrame]:
    """A table of :class:`Results` whose rows name the file, and of which run its folder says that they are."""

    def rows(results: Results) -> pd.DataFrame:
        table = getattr(results, name)
        runs = {of: results.beside(*of) for of in set(zip(table["file"], table["origin"], strict=True))}
        of_rows = [runs[of] for of in zip(table["file"], table["origin"], strict=True)]
        return table.assign(**{key: [str(run.context.get(key, "")) if run else "" for run in of_rows] for key in _ORIGIN}).drop(columns="origin")

    return rows


def _verifications(results: Results) -> pd.DataFrame:
    rows = [{"file": str(of.file), **{key: str(of.context.get(key, "")) for key in (*_ORIGIN, "backend", "seed")}, "variant": variant, "types": " ".join(checks.types),
             "passed": checks.passed, "failed": checks.failed, "skipped": checks.skipped, "wrong": checks.wrong, "interrupted": of.interrupted}
            for of in results.verifications for variant, checks in of.of.items()]  # fmt: skip
    return pd.DataFrame(rows)


def _counts(results: Results) -> pd.DataFrame:
    rows = []
    for e in results.explanations:
        banks = {f"{model}_{what}": getattr(getattr(e.totals, model), what) for model in ("banks16", "banks32") for what in ("transactions", "mean_degree", "max_degree")}
        rows.append({"file": str(e.file), "date": e.date, "git_commit": e.commit, "variant": e.variant, "type": e.type, "op": e.op, "mode": e.mode, "items": e.items,
                     "padding": e.padding, "load": e.load, "launches": e.launches, **{key: getattr(e.totals, key) for key in _TOTALS}, **banks,
                     "operations_stated": e.closed_forms.operations})  # fmt: skip
    return pd.DataFrame(rows)


TABLES: dict[str, Table] = {
    "runs": Table("a results file, with its provenance", _runs, _RUN),
    "repetitions": Table("a repetition of a scan or baseline", lambda results: results.timings),
    "cases": Table("a case of a run, all its repetitions together", _cases, {
        "count": (_COUNT, "repetitions"), "median_ns": ("ns", "median of their times"),
        "low_ns": ("ns", "lower end of its 95% interval; empty where repetitions were too few"), "high_ns": ("ns", "upper end")}),
    "kernels": Table("a case of a run: what its kernels take", _kernels, {
        "shared_bytes": ("bytes", "shared memory a block"), "local_bytes": ("bytes", "local memory a thread, where spilled registers go"),
        "workspace_bytes": ("bytes", "of the scan"), "prepare_ns": ("ns", "time on the device to prepare the workspace, once"),
        "choice": ("", "of best: the variant that it ran, with its settings")}),
    "skipped": Table("a case that was not timed", lambda results: results.skipped.drop(columns="origin"), {"reason": ("", "why, in words"), "failed": ("", "whether its result was wrong, or an error ended it")}),
    "schedules": Table("a repetition of a schedule, or of a copy or kernel that it is held against", _stream_rows(streams.SCHEDULES), {
        "entry": ("", "schedule, copy or kernel"), "id": ("", "which schedule, direction of copy or workload"), "workload": ("", "what the kernels do"),
        "buffers": (_COUNT, "device buffers an array; 0: as many as chunks"), "inputs": (_COUNT, "arrays that are copied in"),
        "control": ("", "1: the schedule is wrong on purpose"), "side_kernels": ("", "1: it runs kernels beside those of the chunks"),
        "own_streams": ("", "1: it makes another number of streams than it was asked for"),
        "device_ns": ("ns", "of a schedule: the device's own time between events, in a replay of its own; time_ns is by the host's clock")}),
    "stream_scans": Table("a repetition of a scan larger than the device", _stream_rows(streams.STREAM_SCAN), {
        "way": ("", _means(documents.StreamScanSample, "way")), "scan": ("", "what scanned each chunk"), "from": ("", _means(documents.StreamScanSample, "from_")),
        "to": ("", _means(documents.StreamScanSample, "to")), "budget": ("bytes", "device memory that was allowed"), "mapped": ("", "1: files are written by a mapping")}),
    "operations": Table("an operation of a recorded timeline", _stream_rows(streams.TRACE), {
        "label": ("", "what a scenario file calls the operation"), "lane": ("number", "the engine's"), "lane_name": ("", "what the trace calls the engine"), "kind": ("", "copies in, kernels or copies out"),
        "start_us": ("µs", "start"), "end_us": ("µs", "end"), "chunk": ("number", "which chunk; -1: the trace does not say"),
        "operation": ("number", "which operation in order of issue; -1: the trace does not say"), "stream": ("", "the CUDA stream"),
        "channel": ("number", "the hardware queue; -1: the trace does not say")}),
    "calls": Table("a call of the host, in a recorded timeline", _stream_rows(streams.TRACE, "calls"), {
        "lane_name": ("", "host, and of which of two runs where there are two"), "kind": ("", "of the engine that the call gives work to; empty for other calls"),
        "start_us": ("µs", "start"), "end_us": ("µs", "end"), "chunk": ("number", "which chunk; -1: the trace does not say"),
        "operation": ("number", "which operation it enqueues; -1: the trace does not say")}),
    "several_gpus": Table("a repetition of a scan over several GPUs or hosts, or of what it is held against", _stream_rows(streams.DISTRIBUTED), {
        "algorithm": ("", "id of the scan or baseline"), "kind": ("", _means(documents.Algorithm, "kind")), "settings": ("", "all its parameters, as name=value"),
        "items": (_COUNT, "size of the whole array"), "ranks": (_COUNT, "GPUs or hosts that hold it"), "on": ("", _means(documents.DistributedSample, "on")),
        "bytes": ("bytes", _means(documents.DistributedSample, "bytes")), "time_ns": ("ns", "time of one run, of the slowest rank")}),
    "several_gpus_operations": Table("a kernel, copy or memset of a recorded scan over several GPUs", _stream_rows(streams.RANKS_TRACE), {
        "algorithm": ("", "id of the scan or baseline"), "settings": ("", "all its parameters, as name=value"),
        "items": (_COUNT, "size of the whole array"), "ranks": (_COUNT, "GPUs that hold it"), "rank": ("number", "the GPU, from 0"),
        "kind": ("", _means(timelines.RankActivity, "kind")), "name": ("", _means(timelines.RankActivity, "name")),
        "start_us": ("µs", "start, from the first of the run on any GPU"), "end_us": ("µs", "end")}),
    "nvbench": Table("a scan or copy that nvbench timed", _stream_rows(streams.STOPWATCH), {
        "cache": ("", "cold: nvbench's isolated runs; warm: its batches"), "launch": ("", "stream: its isolated runs; batch: its batches"),
        "time_ns": ("ns", "median of isolated runs, mean of batches")}),
    "implicit_sync": Table("an experiment on what blocks what", _implicit_sync, {
        "name": ("", "the experiment"), "question": ("", "the statement, or what is asked"), "subject": ("", "its subject; of a call, the call"),
        "asks": ("", "of a call: whether it blocks the host, or serialises kernels of two streams"), "stated": ("", "the source's answer"),
        "claim": ("", "the source, in a sentence"),
        "source": ("", "which source"), "answer": ("", "what the device does"), "differs": ("", "whether that is not what was said"),
        "yes": (_COUNT, "trials that said yes"), "trials": (_COUNT, "trials"), "refusal": ("", "why it was not tried"),
        "environment": ("", "variables that were set, as NAME=value")}),
    "concurrency": Table("a repetition of small grids side by side", _concurrency, {
        "kernels": (_COUNT, "kernels a stream"), "slots": (_COUNT, "blocks that the device holds at once"),
        "connections": (_COUNT, "CUDA_DEVICE_MAX_CONNECTIONS"), "block_seconds": ("s", "how long a block runs"), "waves": (_COUNT, "blocks over slots, rounded up"),
        "fluid_seconds": ("s", "makespan by formula, without rounding up"), "predicted_seconds": ("s", "makespan by formula"),
        "serial_seconds": ("s", "makespan without any overlap"), "makespan_seconds": ("s", "makespan")}),
    "bank_conflicts": Table("a kernel launch, counted by the hardware", _of_file("counters"), {
        f"shared_{way}_{what}": (_COUNT, meaning.format(f"{way}s")) for way in ("load", "store")
        for what, meaning in (("wavefronts", "passes that shared-memory {} took"), ("conflicts", "passes of {} beyond the first, for bank conflicts"))}
        | {"load": ("", "how the variant loads, where it can do so in several ways")}),
    "dram_bytes": Table("a kernel launch, counted by the hardware", _of_file("traffic"), {
        "dram_bytes_read": ("bytes", "from DRAM to L2"), "dram_bytes_written": ("bytes", "from L2 to DRAM")}),
    "waits": Table("a role of warps within a kernel", _of_file("waits"), {
        "role": ("", "what the warps do: load, reduce, look ahead, tell, scan, or block for all"), "ranks": (_COUNT, "GPUs that share the array"),
        "rank": ("", "which of them, from 0"), "tile": ("KiB", "size of a tile"),
        "cycles_total": ("cycles", "from the first tile to the last")}),
    "repeated_bits": Table("a variant whose runs were repeated on the same input", _of_file("repeats"), {
        "cases": (_COUNT, "cases that were repeated"), "varying": (_COUNT, "cases whose bits varied"), "runs": (_COUNT, "runs of each case")}),
    "verifications": Table("a variant whose results were compared with the oracle's", _verifications, {
        "backend": ("", _means(verification.VerificationContext, "backend")), "seed": ("number", "of inputs and sizes"),
        "types": ("", "element types of which a check passed"), "passed": (_COUNT, "checks that passed"), "failed": (_COUNT, "checks that failed"),
        "skipped": (_COUNT, "checks that were skipped"), "wrong": ("", "the first check that failed, and why"),
        "interrupted": ("", "whether not all checks were made")}),
    "emulator_counts": Table("a case that the CPU emulator counted", _counts, {
        "git_commit": ("", "the code that counted"), "load": ("", "how the variant loads, where it can do so in several ways"), **_TOTALS, **_BANKS,
        "operations_stated": (_COUNT, "operations as the source states them; empty where it states none")}),
}  # fmt: skip
"""Every table by name, which is its file's."""


def dictionary(found: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """One row a column of a table: ``table``, ``column``, ``unit``, ``meaning``, and ``kind``: text, whole number, number, yes or no."""
    rows = [(name, column, *TABLES[name].describe(column), _kind(rows[column])) for name, rows in found.items() for column in rows]
    return pd.DataFrame(rows, columns=["table", "column", "unit", "meaning", "kind"])


def _kind(values: pd.Series) -> str:
    kinds = ((pd.api.types.is_bool_dtype, "yes or no"), (pd.api.types.is_integer_dtype, "whole number"), (pd.api.types.is_numeric_dtype, "number"))
    return next((name for test, name in kinds if test(values)), "text")


def dictionary_json(found: Mapping[str, pd.DataFrame]) -> str:
    """The dictionary for programs."""
    described = dictionary(found)
    content = {name: {"row": TABLES[name].row, "rows": len(rows),
                      "columns": described[described["table"] == name].drop(columns="table").to_dict("records")}
               for name, rows in found.items()}  # fmt: skip
    return json.dumps({"schema": "scanlab-export/1", "tables": content}, indent=1, ensure_ascii=False) + "\n"


def dictionary_markdown(found: Mapping[str, pd.DataFrame]) -> str:
    """The dictionary for people."""
    described = dictionary(found)
    cells: Sequence[Cell] = [Cell(name, name, "`{}`".format if name == "column" else str, right=False) for name in ("column", "unit", "kind", "meaning")]
    parts = ["# Data dictionary", "Each table is in a file of its own, as CSV (UTF-8, a line of headings) and as Parquet."]
    for name, rows in found.items():
        page = Page("", cells, described[described["table"] == name])
        parts.append(f"## {name}\n\nA row is {TABLES[name].row}; there are {len(rows)}.\n\n{page.markdown().strip()}")
    return "\n\n".join(parts) + "\n"
