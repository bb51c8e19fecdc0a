"""Invented times of scans over several ranks, for tests only: of a session over four GPUs, as tools/record leaves it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests import stream_fixtures
from tests.stream_fixtures import repetitions

COPY_RATE, READ_RATE = 4277.0, 4566.0
"""Bytes per nanosecond of each GPU."""
FLOORS_US = {"launch_all": 2.5, "nccl_all_gather": 11.0}
GPUS = 4
_BYTES = {"i8": 1, "i16": 2, "i32": 4, "f32": 4, "i64": 8, "f64": 8}
_KINDS = {"copy_all": "copy", "launch_all": "empty_launch", "nccl_all_gather": "empty_launch", "read_all": "empty_launch"}


def copy_us(items: int, ranks: int, item: int = 4) -> float:
    return FLOORS_US["launch_all"] + 2 * item * items / ranks / COPY_RATE / 1e3


def read_us(items: int, ranks: int, item: int = 4) -> float:
    return FLOORS_US["launch_all"] + item * items / ranks / READ_RATE / 1e3


def times_us(items: int, ranks: int, item: int = 4) -> dict[str, float]:
    """Of every algorithm, by a formula."""
    copy = copy_us(items, ranks, item)
    both = copy + read_us(items, ranks, item)
    return {**FLOORS_US, "copy_all": copy, "read_all": read_us(items, ranks, item), "peer_look_ahead": 4.0 + copy / (0.97 - 0.005 * ranks),
            "reduce_exchange_scan": 12.0 + both / 0.98, "nccl_cub": 25.0 + 1.9 * copy}  # fmt: skip


def entry(algorithm: str, items: int, ranks: int, microseconds: float, type_name: str = "i32", op: str = "plus", chunk: int = 32, more: dict[str, str] | None = None,
          bytes_of_item: int = 0, **fields: Any) -> list[dict[str, Any]]:  # fmt: skip
    """The samples of one case."""
    of = {"kind": "distributed", "variant": algorithm, "type": type_name, "op": op, "mode": "inclusive", "items": items, "ranks": ranks, "on": "gpus"}
    settings = {"chunk": str(chunk), **(more or {})} if algorithm == "peer_look_ahead" else {}
    return repetitions(of, microseconds / 1e3, settings=settings, chunk_items=max(1, -(-items // ranks)),
                       bytes=2 * items * (bytes_of_item or _BYTES[type_name]), compared_every=1, **fields)  # fmt: skip


def document(entries: Iterable[list[dict[str, Any]]], ranks: int, **changes: Any) -> dict[str, Any]:
    """A results file of `scanlab distributed bench`."""
    samples = [sample for of in entries for sample in of]
    algorithms = {id_: {"title": id_, "source": "a test", "kind": _KINDS.get(id_, "scan"), "origin": "variant", "family": "test", "on_gpus": True}
                  for id_ in dict.fromkeys(sample["variant"] for sample in samples)}  # fmt: skip
    about = {"schema": "scanlab-results/2", "kind": "cuda", "ranks": ranks, "ranks_are": "threads", "algorithms": algorithms, "driver": "580", "seed": "1",
             "argv": f"scanlab distributed bench --gpus {ranks}"}  # fmt: skip
    return {"context": stream_fixtures.about(**about | changes), "benchmarks": samples}


def run(ranks: int, sizes: Iterable[int], total: bool = False, **changes: Any) -> dict[str, Any]:
    """Every algorithm at sizes per rank, or in all."""
    all_items = [n if total else n * ranks for n in sizes]
    entries = [entry(algorithm, n, ranks, time) for n in all_items for algorithm, time in times_us(n, ranks).items()]
    return document(entries, ranks, **{"argv": f"scanlab distributed bench --gpus {ranks}{' --total' * total}"} | changes)


def chunk_run(chunk: int, sizes: Iterable[int], ranks: int = GPUS, tells: str = "chunk") -> dict[str, Any]:
    """One chunk size: the farther from 16 tiles, the slower; and telling of tiles is a tenth faster."""
    slower = (1 + 0.03 * abs(chunk.bit_length() - 5)) * (0.9 if tells == "tile" else 1)
    entries = [of for n in (size * ranks for size in sizes) for of in (entry("peer_look_ahead", n, ranks, slower * times_us(n, ranks)["peer_look_ahead"], chunk=chunk, more={"tells": tells}),
               entry("copy_all", n, ranks, copy_us(n, ranks)))]  # fmt: skip
    return document(entries, ranks, argv=f"scanlab distributed bench --gpus {ranks} --set chunk={chunk} --set tells={tells}")


def fold_run(states: int, tells: str, ranks: int = GPUS) -> dict[str, Any]:
    """So many states per aggregate: each costs 1 % of a copy by chunks, and 10 % by tiles."""
    n = ranks << 28
    slower = 1 + (0.1 if tells == "tile" else 0.01) * states
    entries = [
        entry("peer_look_ahead", n, ranks, slower * copy_us(n, ranks), more={"states": str(states), "tells": tells}),
        entry("copy_all", n, ranks, copy_us(n, ranks)),
    ]
    return document(entries, ranks, argv=f"scanlab distributed bench --gpus {ranks} --set states={states} --set tells={tells}")


def documents(gpus: int = GPUS) -> dict[str, dict[str, Any]]:
    """The files of a session by name, but for what ``best`` takes on one GPU."""
    ranks = [of for of in (1, 2, 3, 4, 8) if of <= gpus]
    weak = {f"ranks_scaling_{of}": run(of, [2**k for k in range(12, 31, 2)], date="2026-01-02T03:04:05Z") for of in ranks}
    strong = {f"ranks_strong_{of}": run(of, [2**k for k in range(20, 31, 2)], total=True, date="2026-01-02T04:04:05Z") for of in ranks}
    told = {f"ranks_chunk_{tells}_{chunk}": chunk_run(chunk, (2**20, 2**24, 2**28), gpus, tells) for chunk in (8, 16, 32, 64) for tells in ("chunk", "tile")}
    return weak | strong | told | {f"ranks_fold_{tells}_{states}": fold_run(states, tells, gpus) for states in (1, 2, 4) for tells in ("chunk", "tile")}


def activity(run: int, rank: int, name: str, start: int, end: int, kind: str = "kernel") -> dict[str, Any]:
    """Of a GPU, in nanoseconds."""
    return {"run": run, "rank": rank, "device": rank, "kind": kind, "name": name, "bytes": 0, "start_ns": start, "end_ns": end}


def traced(algorithm: str, items: int, activities: list[dict[str, Any]], ranks: int = GPUS, **changes: Any) -> dict[str, Any]:
    """A case of `scanlab distributed trace`."""
    return {"kind": "distributed", "variant": algorithm, "type": "i32", "op": "plus", "mode": "inclusive", "items": items, "ranks": ranks, "on": "gpus",
            "settings": {"chunk": "32"} if algorithm == "peer_look_ahead" else {}, "chunk_items": items // ranks, "bytes": 8 * items, "compared_every": 1,
            "verified": True, "activities": activities} | changes  # fmt: skip


def traces(cases: list[dict[str, Any]], ranks: int = GPUS, **changes: Any) -> dict[str, Any]:
    """A file of `scanlab distributed trace --out`."""
    about = {"kind": "cuda", "ranks": ranks, "ranks_are": "threads", "driver": "580", "seed": "1", "argv": f"scanlab distributed trace --gpus {ranks}"}
    return {"schema": "scanlab-ranks-trace/1", "context": stream_fixtures.about(**about | changes), "traces": cases}


def timeline(ranks: int = GPUS, runs: int = 5) -> dict[str, Any]:
    """Three scans at two sizes: run 2 has the median length."""
    cases = []
    for per_rank in (2**20, 2**28):
        times = {name: int(1e3 * of) for name, of in times_us(per_rank * ranks, ranks).items()}
        late = [200 * rank + 100 * run for run in range(runs) for rank in range(ranks)]
        for name, parts in (("peer_look_ahead", ["peer_look_ahead"]), ("reduce_exchange_scan", ["ReduceSharesKernel", "ncclDevKernel_AllGather", "look_ahead_scan"]),
                            ("nccl_cub", ["DeviceReduceKernel", "ncclDevKernel_AllGather", "DeviceScanKernel"])):  # fmt: skip
            share = times[name] // len(parts)
            activities = [activity(place // ranks, place % ranks, part, after * share + behind * (after > 0), (after + 1) * share + behind)
                          for place, behind in enumerate(late) for after, part in enumerate(parts)]  # fmt: skip
            cases.append(traced(name, per_rank * ranks, activities, ranks))
    return traces(cases, ranks)


def waits(ranks: int = GPUS, sizes: Iterable[int] = (2**20, 2**28), commit: str = "") -> str:
    """What `scanlab distributed cycles --csv` writes; sizes are items per rank. A rank waits the longer for others the higher its number is.

    Without a commit: as older programs wrote it.
    """
    of_run, run = (",device,date,git_commit,git_dirty", f",Test Device,2026-01-03T00:00:00Z,{commit},false") if commit else ("", "")
    lines = [f"variant,items,type,ranks,rank{of_run},role,cycles_total,cycles_waiting_data,cycles_waiting_prefix,cycles_waiting_reduced,cycles_waiting_store"]
    for items in (size * ranks for size in sizes):
        for rank in range(ranks):
            for role, data, prefix, reduced, store in (("load", 400, 0, 0, 300), ("look ahead", 0, 500 + 50 * rank, 100, 0), ("reduce", 600, 0, 100, 0),
                                                       ("scan", 0, 300 + 50 * rank, 200, 100), ("tell", 0, 200, 700, 0)):  # fmt: skip
                lines.append(f"peer_look_ahead,{items},i32,{ranks},{rank}{run},{role},1000,{data},{prefix},{reduced},{store}")
    return "\n".join(lines) + "\n"


def best(context: Mapping[str, Any], repetition: Any, case: Any) -> dict[str, Any]:
    """What `scanlab bench` says of ``best`` on one GPU; the arguments are what tests/fixtures.py makes results of."""
    entries = [repetition(case("best", 2**k, "warm"), i, 1e3 * (1.0 + copy_us(2**k, 1) / 0.97) * spread)
               for k in range(20, 31, 2) for i, spread in enumerate(stream_fixtures.SPREAD)]  # fmt: skip
    return {"context": dict(context), "benchmarks": entries}


def write(folder: Path, files: Mapping[str, dict[str, Any]]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder
