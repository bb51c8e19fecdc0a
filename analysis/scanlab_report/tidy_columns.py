"""Meaning and unit of every column of the exported tables."""

from __future__ import annotations

from typing import get_args, get_type_hints

from msgspec import Struct

from scanlab_report.schema import results, samples, timelines, verification
from scanlab_report.tables import CASE, COLUMNS, SAMPLE, WAITING

Description = tuple[str, str]
"""The unit of a column (empty: a name or a yes or no), and its meaning."""
COUNT = "count"


def _means(document: type[Struct], field: str) -> str:
    """The meaning of a field of a document, with every word that it may be."""
    hint = get_type_hints(document, include_extras=True)[field]
    meaning = "".join(note.description or "" for note in getattr(hint, "__metadata__", ())).replace(
        "`", ""
    )
    words = [str(word) for word in get_args(get_args(hint)[0] if meaning else hint)]
    if all(word in meaning for word in words):
        return meaning
    return ": ".join(filter(None, (f"{', '.join(words[:-1])} or {words[-1]}", meaning)))


_COMMON: dict[str, Description] = {
    "run": ("number", "which file, as in the table runs"),
    "variant": ("", "id of the scan or baseline"),
    "settings": ("", "its parameters that are not the default ones, as name=value"),
    **{name: ("", _means(samples.ScanSample, name)) for name in ("type", "op", "mode", "cache")},
    "items": (COUNT, "size of the array"),
    "launch": ("", f"{_means(samples.ScanSample, 'launch')}, and is called stream here"),
    "round": ("number", "which repetition of the case, from 0"),
    "time_ns": ("ns", "time of one run"),
    "sm_clock_mhz": (
        "MHz",
        "the multiprocessors' clock while it ran, of schedules just after; "
        "empty where it was not read",
    ),
    "converged": (
        "",
        "1 from when the interval of the case's median is within width_percent of it, and "
        "there are no more rounds; empty where a file does not say",
    ),
    "file": ("", "the file that it was read from, from the folder that was exported"),
    "device": ("", "the GPU"),
    "date": ("UTC", "start of the run, ISO 8601"),
    "git_commit": ("", "the code that ran"),
    "chunks": (COUNT, "pieces that the array passes through in"),
    "streams": (COUNT, "CUDA streams, as asked for: some schedules make as many as they need"),
    "memory": ("", "host memory: pinned or pageable"),
    "work": (COUNT, "times that the kernel repeats its arithmetic"),
    "blocks": (COUNT, "blocks of the kernel; 0: as many as the workload takes"),
    "bytes": (
        "bytes",
        "of a schedule: all that cross the bus, both ways; of a copy or scan: each way",
    ),
    "kernel": ("", "name of the kernel"),
    "launch_index": ("number", "which launch of the case, from 0"),
    "padding": ("", "padding of shared memory; none where the variant has none"),
    "registers": (COUNT, "registers a thread, the most of all kernels of the scan"),
    "threads": (COUNT, "threads a block, the most of all kernels of the scan"),
    "launches": (COUNT, "kernel launches of one run"),
    "algorithm": ("", "id of the scan or baseline"),
    "start_us": ("µs", "start"),
    "end_us": ("µs", "end"),
    "chunk": ("number", "which chunk; -1: the trace does not say"),
    "load": ("", "how the variant loads, where it can do so in several ways"),
}
"""Columns that mean the same in every table."""


ORIGIN = ("device", "date", "git_commit")
"""The provenance in each row of a table whose files are not in the table of runs."""


RUN_COLUMNS = {
    "kind": (
        "",
        f"{_means(results.Context, 'kind')}; empty where the file does not say, and then cuda",
    ),
    **{key: _COMMON[key] for key in ORIGIN},
    "git_dirty": ("", "whether it had uncommitted changes"),
    "cpu": ("", "the host's processor"),
    "cores": (COUNT, "its cores"),
    "driver": ("", "version of the driver"),
    "toolkit": ("", "version of CUDA"),
    "cccl": ("", "version of CCCL in the toolkit"),
    "cccl_newest": ("", "version of the newest CCCL, of the baselines cub_newest"),
    "compiler": ("", "of the host's code"),
    "ecc": ("", "whether memory is error-corrected"),
    "sm_clock_mhz_max": ("MHz", "highest clock of the multiprocessors"),
    "rounds": (COUNT, "repetitions of a case at most"),
    "width_percent": (
        "%",
        "a case whose median is known to so much of it has no more rounds; "
        "empty: all have the same number of rounds, but for the cap",
    ),
    "cap_seconds": ("s", "a case takes no longer than this"),
    "seed": ("number", "of the inputs"),
    "argv": ("", "the command"),
}


BANKS = {
    f"{banks}_{what}": (unit, f"shared memory of {banks[5:]} banks: {meaning}")
    for banks in ("banks16", "banks32")
    for what, unit, meaning in (
        ("transactions", COUNT, "passes that all accesses take"),
        ("mean_degree", "ways", "mean conflict of an access"),
        ("max_degree", "ways", "worst conflict of an access"),
    )
}


TOTALS = {
    "operations": (COUNT, "applications of the operator"),
    "swaps": (COUNT, "exchanges"),
    "barriers": (COUNT, "barriers of one block, summed over launches"),
    "global_bytes_read": ("bytes", "read from global memory"),
    "global_bytes_written": ("bytes", "written to global memory"),
    "shared_requests": (COUNT, "shared-memory accesses of whole warps"),
}


_RANKS = {
    "settings": ("", "all its parameters, as name=value"),
    "items": (COUNT, "size of the whole array"),
    "ranks": (COUNT, "GPUs or hosts that hold it"),
}


_WAYS = [(f"{way}s", f"shared_{way}") for way in ("load", "store")]


TABLES: dict[str, tuple[str, dict[str, Description]]] = {
    "runs": ("a results file, with its provenance", RUN_COLUMNS),
    "repetitions": ("a repetition of a scan or baseline", {}),
    "cases": (
        "a case of a run, all its repetitions together",
        {
            "count": (COUNT, "repetitions"),
            "median_ns": ("ns", "median of their times"),
            "low_ns": ("ns", "lower end of its 95% interval; empty where repetitions were too few"),
            "high_ns": ("ns", "upper end"),
        },
    ),
    "kernels": (
        "a case of a run: what its kernels take",
        {
            "shared_bytes": ("bytes", "shared memory a block"),
            "local_bytes": ("bytes", "local memory a thread, where spilled registers go"),
            "workspace_bytes": ("bytes", "of the scan"),
            "prepare_ns": ("ns", "time on the device to prepare the workspace, once"),
            "choice": ("", "of best: the variant that it ran, with its settings"),
        },
    ),
    "skipped": (
        "a case that was not timed",
        {
            "reason": ("", "why, in words"),
            "failed": ("", "whether its result was wrong, or an error ended it"),
        },
    ),
    "schedules": (
        "a repetition of a schedule, or of a copy or kernel that it is held against",
        {
            "entry": ("", "schedule, copy or kernel"),
            "id": ("", "which schedule, direction of copy or workload"),
            "workload": ("", "what the kernels do"),
            "buffers": (COUNT, "device buffers an array; 0: as many as chunks"),
            "inputs": (COUNT, "arrays that are copied in"),
            "control": ("", "1: the schedule is wrong on purpose"),
            "side_kernels": ("", "1: it runs kernels beside those of the chunks"),
            "own_streams": ("", "1: it makes another number of streams than it was asked for"),
            "device_ns": (
                "ns",
                "of a schedule: the device's own time between events, in a replay of its own; "
                "time_ns is by the host's clock",
            ),
        },
    ),
    "stream_scans": (
        "a repetition of a scan larger than the device",
        {
            "way": ("", _means(samples.StreamScanSample, "way")),
            "scan": ("", "what scanned each chunk"),
            "from": ("", _means(samples.StreamScanSample, "from_")),
            "to": ("", _means(samples.StreamScanSample, "to")),
            "budget": ("bytes", "device memory that was allowed"),
            "mapped": ("", "1: files are written by a mapping"),
        },
    ),
    "operations": (
        "an operation of a recorded timeline",
        {
            "label": ("", "what a scenario file calls the operation"),
            "lane": ("number", "the engine's"),
            "lane_name": ("", "what the trace calls the engine"),
            "kind": ("", "copies in, kernels or copies out"),
            "operation": (
                "number",
                "which operation in order of issue; -1: the trace does not say",
            ),
            "stream": ("", "the CUDA stream"),
            "channel": ("number", "the hardware queue; -1: the trace does not say"),
        },
    ),
    "calls": (
        "a call of the host, in a recorded timeline",
        {
            "lane_name": ("", "host, and of which of two runs where there are two"),
            "kind": ("", "of the engine that the call gives work to; empty for other calls"),
            "operation": ("number", "which operation it enqueues; -1: the trace does not say"),
        },
    ),
    "several_gpus": (
        "a repetition of a scan over several GPUs or hosts, or of what it is held against",
        {
            **_RANKS,
            "kind": ("", _means(results.Algorithm, "kind")),
            "on": ("", _means(samples.DistributedSample, "on")),
            "bytes": ("bytes", _means(samples.DistributedSample, "bytes")),
            "time_ns": ("ns", "time of one run, of the slowest rank"),
        },
    ),
    "several_gpus_operations": (
        "a kernel, copy or memset of a recorded scan over several GPUs",
        {
            **_RANKS,
            "ranks": (COUNT, "GPUs that hold it"),
            "rank": ("number", "the GPU, from 0"),
            "kind": ("", _means(timelines.RankActivity, "kind")),
            "name": ("", _means(timelines.RankActivity, "name")),
            "start_us": ("µs", "start, from the first of the run on any GPU"),
        },
    ),
    "nvbench": (
        "a scan or copy that nvbench timed",
        {
            "cache": ("", "cold: nvbench's isolated runs; warm: its batches"),
            "launch": ("", "stream: its isolated runs; batch: its batches"),
            "time_ns": ("ns", "median of isolated runs, mean of batches"),
        },
    ),
    "implicit_sync": (
        "an experiment on what blocks what",
        {
            "name": ("", "the experiment"),
            "question": ("", "the statement, or what is asked"),
            "subject": ("", "its subject; of a call, the call"),
            "asks": (
                "",
                "of a call: whether it blocks the host, or serialises kernels of two streams",
            ),
            "stated": ("", "the source's answer"),
            "claim": ("", "the source, in a sentence"),
            "source": ("", "which source"),
            "answer": ("", "what the device does"),
            "differs": ("", "whether that is not what was said"),
            "yes": (COUNT, "trials that said yes"),
            "trials": (COUNT, "trials"),
            "refusal": ("", "why it was not tried"),
            "environment": ("", "variables that were set, as NAME=value"),
        },
    ),
    "concurrency": (
        "a repetition of small grids side by side",
        {
            "kernels": (COUNT, "kernels a stream"),
            "slots": (COUNT, "blocks that the device holds at once"),
            "connections": (COUNT, "CUDA_DEVICE_MAX_CONNECTIONS"),
            "block_seconds": ("s", "how long a block runs"),
            "waves": (COUNT, "blocks over slots, rounded up"),
            "fluid_seconds": ("s", "makespan by formula, without rounding up"),
            "predicted_seconds": ("s", "makespan by formula"),
            "serial_seconds": ("s", "makespan without any overlap"),
            "makespan_seconds": ("s", "makespan"),
        },
    ),
    "bank_conflicts": (
        "a kernel launch, counted by the hardware",
        {
            **{
                f"{column}_wavefronts": (COUNT, f"passes that shared-memory {way} took")
                for way, column in _WAYS
            },
            **{
                f"{column}_conflicts": (
                    COUNT,
                    f"passes of {way} beyond the first, for bank conflicts",
                )
                for way, column in _WAYS
            },
        },
    ),
    "dram_bytes": (
        "a kernel launch, counted by the hardware",
        {
            "dram_bytes_read": ("bytes", "from DRAM to L2"),
            "dram_bytes_written": ("bytes", "from L2 to DRAM"),
        },
    ),
    "waits": (
        "a role of warps within a kernel",
        {
            "role": (
                "",
                "what the warps do: load, reduce, look ahead, tell, scan, or block for all",
            ),
            "ranks": (COUNT, "GPUs that share the array"),
            "rank": ("", "which of them, from 0"),
            "tile": ("KiB", "size of a tile"),
            "cycles_total": ("cycles", "from the first tile to the last"),
        },
    ),
    "repeated_bits": (
        "a variant whose runs were repeated on the same input",
        {
            "cases": (COUNT, "cases that were repeated"),
            "varying": (COUNT, "cases whose bits varied"),
            "runs": (COUNT, "runs of each case"),
        },
    ),
    "verifications": (
        "a variant whose results were compared with the oracle's",
        {
            "backend": ("", _means(verification.VerificationContext, "backend")),
            "seed": ("number", "of inputs and sizes"),
            "types": ("", "element types of which a check passed"),
            "passed": (COUNT, "checks that passed"),
            "failed": (COUNT, "checks that failed"),
            "skipped": (COUNT, "checks that were skipped"),
            "wrong": ("", "the first check that failed, and why"),
            "interrupted": ("", "whether not all checks were made"),
        },
    ),
    "emulator_counts": (
        "a case that the CPU emulator counted",
        {
            "git_commit": ("", "the code that counted"),
            **TOTALS,
            **BANKS,
            "operations_stated": (
                COUNT,
                "operations as the source states them; empty where it states none",
            ),
        },
    ),
}
"""The meaning of a row, and the columns that only this table has, by the name of the table, which
is that of the file."""


OF_RUNS = {
    "repetitions": ("scan", [*CASE, *SAMPLE]),
    "skipped": ("skipped", COLUMNS["skipped"]),
    "schedules": ("schedule", COLUMNS["schedule"]),
    "stream_scans": ("stream_scan", COLUMNS["stream_scan"]),
    "operations": ("spans", COLUMNS["spans"]),
    "calls": ("calls", COLUMNS["calls"]),
    "several_gpus": ("distributed", COLUMNS["distributed"]),
    "several_gpus_operations": (
        "rank_spans",
        ["round", *(c for c in COLUMNS["rank_spans"] if c != "run")],
    ),
    "nvbench": ("nvbench", COLUMNS["nvbench"]),
    "implicit_sync": (
        "implicit_sync",
        [c for c in COLUMNS["implicit_sync"] if c not in ("works", "seconds")],
    ),
    "concurrency": ("concurrency", COLUMNS["concurrency"]),
}
"""The table of `Data` and its columns, for each exported table whose files are runs."""


OF_FILES = {
    "bank_conflicts": "counters",
    "dram_bytes": "traffic",
    "waits": "waits",
    "repeated_bits": "repeats",
}


def described_as(table: str, column: str) -> Description:
    """The unit and meaning of a column; KeyError if nobody wrote them down."""
    if column.startswith(WAITING):  # there may be any of them
        return "cycles", f"of the total, spent waiting; for what: {column.removeprefix(WAITING)}"
    own = TABLES[table][1]
    return own[column] if column in own else _COMMON[column]
