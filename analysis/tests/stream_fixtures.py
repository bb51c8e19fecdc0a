"""Files of the stream laboratory: invented schedules, in which a copy of 1 GiB takes 20 ms, and 22
ms while another runs against it; and recorded files, as if of the invented device."""

import gzip
import itertools
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd

from scanlab_report.chapters.scenarios import PICTURES
from scanlab_report.chapters.schedules import bounds

RECORDED = Path(__file__).parents[2] / "data" / "recorded"
SESSION = RECORDED / "nvidia-h200" / "2026-11-26"
PAIR = RECORDED / "nvidia-h200-x2" / "2026-11-25"
"""A session of scans over two GPUs."""
ITEMS = 2**28
COPY_MS, DUPLEX_MS = 20.0, 22.0
SIDE_KERNELS = {"null_stream_nonblocking", "null_stream_trap", "per_thread_default"}
OWN_STREAMS = {"serial", "serial_pinned", "three_streams", "event_handoff", "double_buffered"}
CHUNKS, WORKS = (1, 2, 4, 16, 64), (1, 32, 128, 512)
SPREAD = (0.998, 0.999, 1.0, 1.001, 1.002)
SLOWER = dict(double_buffered=1.01, three_streams=1.02, graph=1.03, depth_first=1.04, skewed=1.04)
SLOWER |= dict(event_handoff=1.08, per_thread_default=1.035, breadth_first=1.2)
SLOWER |= dict(null_stream_nonblocking=1.036)
"""Times over the pipeline estimate."""
Document = dict[str, Any]


def about(**changes: Any) -> Document:
    """The provenance that every document has."""
    commit = "0123456789abcdef0123456789abcdef01234567"
    run = dict(device="Test Device", date="2026-01-02T03:04:05Z", git_commit=commit)
    return run | dict(git_dirty="false") | changes


def recorded(file: Path) -> Document:
    """A recorded document with this provenance."""
    text = gzip.decompress(file.read_bytes()).decode()
    for key, value in about().items():
        text = re.sub(rf'"{key}": ?"[^"]*"', f'"{key}": "{value}"', text)
    return json.loads(text)


def ranks(*kinds: str) -> dict[str, Document]:
    """Scans over two GPUs by name, of some kinds, or all but what `best` takes on one."""
    kinds = kinds or ("scaling", "strong_[12]", "types", "chunk", "fold")
    files = [file for kind in kinds for file in PAIR.glob(f"ranks_{kind}*.json.gz")]
    return {file.name.partition(".")[0]: recorded(file) for file in files}


def implicit_sync() -> Document:
    return recorded(SESSION / "implicit_sync.json.gz")


def results(*entries: list[Document], **context: Any) -> Document:
    samples = [sample for own in entries for sample in own]
    context = about(schema="scanlab-results/2", kind="cuda") | context
    return {"context": context, "benchmarks": samples}


def repetitions(case: Document, milliseconds: float, **fields: Any) -> list[Document]:
    """Samples of a case; the name says no more than its fields do."""
    name = "/".join(f"{key}:{value}" for key, value in case.items())
    usual = dict(name=name, run_name=name, run_type="iteration", iterations=1, outcome="timed")
    usual |= dict(verified=True, time_unit="ns") | case | fields
    return [
        dict(repetition_index=i, round=i, real_time=milliseconds * 1e6 * spread) | usual
        for i, spread in enumerate(SPREAD)
    ]


def kernel_ms(work: int) -> float:
    """All chunks together."""
    return 0.5 + 0.04 * work


def bound_ms(work: int, chunks: int, inputs: int = 1) -> float:
    """The least time of a pipeline."""
    parts = dict(kernels=kernel_ms(work), side=0.0, chunks=chunks)
    for kind, ms in (("copy", COPY_MS), ("duplex", DUPLEX_MS)):
        parts |= {f"{kind}_in": inputs * ms, f"{kind}_out": ms}
    return float(bounds(pd.DataFrame([parts]))["bound"].iloc[0])


def schedule(
    id_: str, milliseconds: float, chunks: int = 16, streams: int = 4, work: int = 1, **fields: Any
) -> list[Document]:
    inputs = fields.get("inputs", 1)
    case = dict(kind="schedule", schedule=id_, workload=fields.pop("workload", "scale"))
    case |= dict(items=ITEMS, chunks=chunks, streams=streams, memory="pinned", work=work)
    usual = dict(bytes=4 * ITEMS * (inputs + 1), inputs=inputs, control=False)
    usual |= dict(streams_created=3 if id_ in OWN_STREAMS else streams)
    usual |= dict(side_kernels=chunks if id_ in SIDE_KERNELS else 0)
    return repetitions(case | dict(blocks=0, buffers=chunks), milliseconds, **usual | fields)


def rates() -> list[list[Document]]:
    """Copies alone and against each other, and the kernels over the whole array."""
    entries = []
    for direction in ("h2d", "d2h"):
        for both_ways, time in ((False, COPY_MS), (True, DUPLEX_MS)):
            case = dict(kind="copy", direction=direction, both_ways=both_ways, memory="pinned")
            entries.append(repetitions(case | dict(bytes=4 * ITEMS), time))
    for workload, work in itertools.product(("scale", "vector_add"), WORKS):
        case = dict(kind="kernel", workload=workload, items=ITEMS, work=work, blocks=0)
        entries.append(repetitions(case, kernel_ms(work)))
    return entries


def schedules() -> Document:
    entries = rates()
    for work, chunks in itertools.product(WORKS, CHUNKS):
        serial = 2 * COPY_MS + kernel_ms(work)
        case = (chunks, 4, work)
        entries.append(schedule("serial_pinned", serial + 0.01 * chunks, *case))
        entries.append(schedule("null_stream_trap", 1.1 * serial, *case))
        control = dict(control=True, verified=False)
        entries.append(schedule("three_streams_unordered", 21.0, *case, **control))
        for id_, slower in SLOWER.items():
            twice = 2 * kernel_ms(work) if id_ in SIDE_KERNELS else 0.0
            entries.append(schedule(id_, slower * max(bound_ms(work, chunks), twice), *case))
    for work, streams in itertools.product(WORKS, (1, 2, 8)):
        time = (1.0 + 0.5 / streams) * bound_ms(work, 64)
        entries.append(schedule("depth_first", time, 64, streams, work))
    time = 1.02 * bound_ms(1, 16, inputs=2)
    entries.append(schedule("three_streams", time, workload="vector_add", inputs=2))
    return results(*entries)


def process(pid: int, kind: str) -> Document:
    args = dict(name=kind, kind=kind)
    return dict(name="process_name", ph="M", pid=pid, tid=0, args=args)


def event(pid: int, tid: int, ts: float, dur: float, name: str, cat: str, **args: Any) -> Document:
    return dict(name=name, cat=cat, ph="X", pid=pid, tid=tid, ts=ts, dur=dur, args=args)


def trace(
    name: str = "depth_first", operations: int = 48, channels: int = 4, **changes: Any
) -> Document:
    """A timeline whose three engines take turns."""
    events = [process(1, "streams"), process(2, "engines")]
    kinds = (("copies in", 1, 300.0), ("kernels", 101, 8.0), ("copies out", 201, 310.0))
    for i in range(operations):
        chunk, (kind, lane, lasts) = i // 3, kinds[i % 3]
        args = dict(chunk=chunk, stream=f"stream {chunk % 4}", channel=chunk % channels)
        for pid, tid in ((1, chunk % 4 + 1), (2, lane)):
            begin = 320.0 * (chunk + i % 3) + 50
            events.append(event(pid, tid, begin, lasts, f"{kind} {chunk}", kind, **args))
    data = about(schedule=name, tracing_overhead_percent=-2.0, connections=channels) | changes
    document = dict(schema="scanlab-trace/1", traceEvents=events, displayTimeUnit="ms")
    return document | dict(otherData=data)


def scenario(name: str, multiprocessors: int = 0, **changes: Any) -> Document:
    """A simulated timeline of three chunks, or of three blocks that fill half of the
    multiprocessors."""
    document = trace("", operations=9)
    data = about(scenario=name, simulated_on="didactic", title=name, fact=f"What {name} shows.")
    data |= dict(unit="units", machine="a machine", makespan_us=1600.0) | changes
    if multiprocessors:
        data["multiprocessors"] = multiprocessors
        document["traceEvents"].append(process(4, "multiprocessors"))
        args = dict(operation=0, stream="stream 0")
        for lane in range(1, multiprocessors // 2 + 1):
            block = event(4, lane, 0.0, 1000.0, "side kernel", "kernels", **args)
            document["traceEvents"].append(block)
    return document | dict(otherData=data)


def scenario_ids() -> list[str]:
    """Return the scenarios that figures ask for."""
    return [name for rows in PICTURES.values() for row in rows for name in row]


def comparison() -> Document:
    traces = []
    for name, chunks, connections in itertools.product(("depth_first", "graph"), (4, 16), (1, 8)):
        case = dict(schedule=name, workload="scale", items=1 << 26, chunks=chunks, streams=4)
        times = dict(measured=1e4, predicted=1.02e4, unaided=1.04e4, estimate=0.9e4)
        case |= {f"{whose}_us": us / chunks for whose, us in times.items()}
        case |= dict(work=1, connections=connections, copy_queues=min(4, connections))
        case |= dict(measured_spread=0.04 if chunks == 4 else 0.06)
        case |= dict(queues_ordered_as_modelled=name == "graph")
        pairs = dict(best_=(100, 95), unaided_=(10, 8), repeated_=(210, 190)) | {"": (10, 9)}
        for which, (either, both) in pairs.items():
            case |= {f"{which}overlap_in_either": either, f"{which}overlap_in_both": both}
        traces.append(case)
    return dict(schema="scanlab-comparison/1", context=about(), traces=traces)


def advice() -> Document:
    choice = dict(schedule="depth_first", chunks=16, streams=4, measured_us=1010.0)
    choice |= dict(predicted_us=1000.0)
    problems = []
    for items, error in ((1 << 14, 0.2), (1 << 20, 0.04), (1 << 26, 0.01)):
        problem = dict(workload="scale", items=items, work=1, copied_bytes=8 * items, choices=40)
        problem |= dict(median_error=error, worst_error=2 * error, stated=choice, advised=choice)
        problem |= dict(stated_was_measured=items > 1 << 14, slower=0.01, ties=3)
        problem |= dict(fastest=choice | dict(chunks=8, measured_us=1000.0))
        problems.append(problem | dict(ties_least_slower=0.005, ties_most_slower=0.03))
    return dict(schema="scanlab-advice-against/1", context=about(), problems=problems)


def write_all(folder: Path) -> None:
    """A file of each kind; two traces of each schedule, one of them with one hardware queue."""
    made = dict(streams=schedules(), comparison=comparison(), advice=advice())
    names = ["implicit_sync", "concurrency", "nvbench"]
    names += [f"stream_scan_{way}_1024MiB" for way in ("memory", "file_pwrite", "file_mapping")]
    made |= {name: recorded(SESSION / f"{name}.json.gz") for name in names}
    made |= ranks()
    for name in ("depth_first", "breadth_first"):
        for channels in (1, 4):
            made[f"trace_{name}_{channels}"] = trace(name, channels=channels)
    for name, document in made.items():
        (folder / f"{name}.json").write_text(json.dumps(document))


def write_scenarios(folder: Path) -> None:
    """Every scenario that a figure asks for; those of small grids show blocks."""
    for name in scenario_ids():
        document = scenario(name, 6 if name.startswith("small_grids") else 0)
        (folder / f"scenario_{name}.json").write_text(json.dumps(document))
