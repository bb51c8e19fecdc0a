"""Invented times of scans over several ranks: of a session over four GPUs, as tools/record leaves
it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests import stream_fixtures
from tests.stream_fixtures import Document, repetitions, results

COPY_RATE, READ_RATE = 4277.0, 4566.0
"""Bytes per nanosecond of each GPU."""
FLOORS_US = dict(launch_all=2.5, nccl_all_gather=11.0)
GPUS = 4
_KINDS = dict.fromkeys((*FLOORS_US, "read_all"), "empty_launch") | dict(copy_all="copy")


def copy_us(items: int, ranks: int) -> float:
    return FLOORS_US["launch_all"] + 8 * items / ranks / COPY_RATE / 1e3


def read_us(items: int, ranks: int) -> float:
    return FLOORS_US["launch_all"] + 4 * items / ranks / READ_RATE / 1e3


def times_us(items: int, ranks: int) -> dict[str, float]:
    """The time of every algorithm, by a formula."""
    copy, read = copy_us(items, ranks), read_us(items, ranks)
    times = dict(copy_all=copy, read_all=read, peer_look_ahead=4.0 + copy / (0.97 - 0.005 * ranks))
    times |= dict(reduce_exchange_scan=12.0 + (copy + read) / 0.98, nccl_cub=25.0 + 1.9 * copy)
    return FLOORS_US | times


def case_of(algorithm: str, items: int, ranks: int) -> Document:
    case = dict(kind="distributed", variant=algorithm, type="i32", op="plus", mode="inclusive")
    return case | dict(items=items, ranks=ranks, on="gpus")


def entry(
    algorithm: str, items: int, ranks: int, microseconds: float, more: dict[str, str] | None = None
) -> list[Document]:
    """The samples of one case."""
    settings = {"chunk": "32", **(more or {})} if algorithm == "peer_look_ahead" else {}
    about = dict(settings=settings, chunk_items=max(1, -(-items // ranks)), compared_every=1)
    case = case_of(algorithm, items, ranks)
    return repetitions(case, microseconds / 1e3, **about, bytes=8 * items)


def document(entries: Iterable[list[Document]], ranks: int, **changes: Any) -> Document:
    """A results file of `scanlab distributed bench`."""
    entries = [*entries]
    about = dict(source="a test", origin="variant", family="test", on_gpus=True)
    algorithms = {
        id_: about | dict(title=id_, kind=_KINDS.get(id_, "scan"))
        for id_ in dict.fromkeys(sample["variant"] for own in entries for sample in own)
    }
    run = dict(ranks=ranks, ranks_are="threads", algorithms=algorithms, driver="580", seed="1")
    argv = f"scanlab distributed bench --gpus {ranks}"
    return results(*entries, **run | dict(argv=argv) | changes)


def run(ranks: int, sizes: Iterable[int], total: bool = False, **changes: Any) -> Document:
    """Every algorithm at sizes per rank, or in all."""
    sizes = [n if total else n * ranks for n in sizes]
    entries = [entry(id_, n, ranks, us) for n in sizes for id_, us in times_us(n, ranks).items()]
    argv = f"scanlab distributed bench --gpus {ranks}{' --total' * total}"
    return document(entries, ranks, **dict(argv=argv) | changes)


def set_run(
    sizes: Iterable[int], ranks: int, slower: float, tells: str, **settings: int
) -> Document:
    """A scan with these settings, at sizes per rank, so much slower than a copy beside it."""
    named = {name: str(value) for name, value in settings.items()} | {"tells": tells}
    entries = []
    for n in (size * ranks for size in sizes):
        peer = entry("peer_look_ahead", n, ranks, slower * copy_us(n, ranks), more=named)
        entries += [peer, entry("copy_all", n, ranks, copy_us(n, ranks))]
    options = "".join(f" --set {name}={value}" for name, value in named.items())
    return document(entries, ranks, argv=f"scanlab distributed bench --gpus {ranks}{options}")


def documents(gpus: int = GPUS) -> dict[str, Document]:
    """The files of a session by name, but for what `best` takes on one GPU."""
    made = {}
    for ranks in (n for n in (1, 2, 3, 4, 8) if n <= gpus):
        weak, strong = ([2**k for k in range(first, 31, 2)] for first in (12, 20))
        made[f"ranks_scaling_{ranks}"] = run(ranks, weak)
        made[f"ranks_strong_{ranks}"] = run(ranks, strong, True, date="2026-01-02T04:04:05Z")
    for tells in ("chunk", "tile"):
        for chunk in (8, 16, 32, 64):
            slower = 1.05 * (1 + 0.03 * abs(chunk.bit_length() - 5))
            sizes = (2**20, 2**24, 2**28)
            made[f"ranks_chunk_{tells}_{chunk}"] = set_run(sizes, gpus, slower, tells, chunk=chunk)
        for states in (1, 2, 4):
            slower = 1 + (0.1 if tells == "tile" else 0.01) * states
            file = set_run([2**28], gpus, slower, tells, states=states)
            made[f"ranks_fold_{tells}_{states}"] = file
    return made


def timeline(ranks: int = GPUS, runs: int = 5) -> Document:
    """A file of `scanlab distributed trace --out`: three scans at two sizes."""
    parts_of = dict(peer_look_ahead=["peer_look_ahead"])
    exchange = "ncclDevKernel_AllGather"
    parts_of["reduce_exchange_scan"] = ["ReduceSharesKernel", exchange, "look_ahead_scan"]
    parts_of["nccl_cub"] = ["DeviceReduceKernel", exchange, "DeviceScanKernel"]
    cases = []
    for items in (ranks << 20, ranks << 28):
        for name, parts in parts_of.items():
            share, did = int(1e3 * times_us(items, ranks)[name]) // len(parts), []
            for place in range(runs * ranks):
                rank, late = place % ranks, 200 * (place % ranks) + 100 * (place // ranks)
                own = dict(run=place // ranks, rank=rank, device=rank, kind="kernel", bytes=0)
                for after, part in enumerate(parts):
                    begin, end = after * share + late * (after > 0), (after + 1) * share + late
                    did.append(own | dict(name=part, start_ns=begin, end_ns=end))
            settings = {"chunk": "32"} if name == "peer_look_ahead" else {}
            case = case_of(name, items, ranks) | dict(settings=settings)
            case |= dict(chunk_items=items // ranks, bytes=8 * items, compared_every=1)
            cases.append(case | dict(verified=True, activities=did))
    argv = f"scanlab distributed trace --gpus {ranks}"
    about = dict(kind="cuda", ranks=ranks, ranks_are="threads", driver="580", seed="1", argv=argv)
    context = stream_fixtures.about(**about)
    return dict(schema="scanlab-ranks-trace/1", context=context, traces=cases)


def waits(ranks: int = GPUS) -> str:
    """A file of `scanlab distributed cycles --csv`. A rank waits the longer for others the higher
    its number is."""
    cycles = ",".join(f"cycles_waiting_{what}" for what in ("data", "prefix", "reduced", "store"))
    lines = [f"variant,items,type,ranks,rank,role,cycles_total,{cycles}"]
    for items in (ranks << 20, ranks << 28):
        for rank in range(ranks):
            late = 50 * rank
            roles = {"load": (400, 0, 0, 300), "look ahead": (0, 500 + late, 100, 0)}
            roles |= dict(reduce=(600, 0, 100, 0), scan=(0, 300 + late, 200, 100))
            for role, own in (roles | dict(tell=(0, 200, 700, 0))).items():
                row = ("peer_look_ahead", items, "i32", f"{ranks},{rank}", role, 1000, *own)
                lines.append(",".join(map(str, row)))
    return "\n".join(lines) + "\n"


def best(context: Mapping[str, Any], repetition: Any, case: Any) -> Document:
    """Results of `scanlab bench` for `best` on one GPU; the arguments are what tests/fixtures.py
    makes results of."""
    entries = [
        repetition(case("best", 2**k, "warm"), i, 1e3 * (1.0 + copy_us(2**k, 1) / 0.97) * spread)
        for k in range(20, 31, 2)
        for i, spread in enumerate(stream_fixtures.SPREAD)
    ]
    return {"context": dict(context), "benchmarks": entries}


def write(folder: Path, files: Mapping[str, Document]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder
