"""Invented results of the stream laboratory, for tests only; a copy of 1 GiB takes 20 ms, and 22 ms while another runs against it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from scanlab_report import figures
from scanlab_report.modules import modules

ITEMS = 2**28
COPY_MS, DUPLEX_MS = 20.0, 22.0
SIDE_KERNELS = {"null_stream_nonblocking", "null_stream_trap", "per_thread_default"}
OWN_STREAMS = {"serial", "serial_pinned", "three_streams", "event_handoff", "double_buffered"}
CHUNKS, STREAMS, WORKS = (1, 2, 4, 16, 64), (1, 2, 4, 8), (1, 32, 128, 512)
SPREAD = (0.998, 0.999, 1.0, 1.001, 1.002)
_SLOWER = {"double_buffered": 1.01, "three_streams": 1.02, "graph": 1.03, "depth_first": 1.04, "skewed": 1.04, "event_handoff": 1.08,
           "per_thread_default": 1.035, "null_stream_nonblocking": 1.036, "breadth_first": 1.2}  # fmt: skip
"""Times over the pipeline estimate."""


def about(**changes: Any) -> dict[str, Any]:
    """The provenance that every document has."""
    return {"device": "Test Device", "date": "2026-01-02T03:04:05Z", "git_commit": "0123456789abcdef0123456789abcdef01234567",
            "git_dirty": "false"} | changes  # fmt: skip


def repetitions(of: dict[str, Any], milliseconds: float, **fields: Any) -> list[dict[str, Any]]:
    """Samples of a case; the name says no more than its fields do."""
    name = "/".join(f"{key}:{value}" for key, value in of.items())
    return [{"name": name, "run_name": name, "run_type": "iteration", "repetition_index": i, "round": i, "iterations": 1, "outcome": "timed",
             "verified": True, "real_time": milliseconds * 1e6 * spread, "time_unit": "ns"} | of | fields for i, spread in enumerate(SPREAD)]  # fmt: skip


def kernel_ms(work: int) -> float:
    """All chunks together."""
    return 0.5 + 0.04 * work


def bound_ms(work: int, chunks: int, inputs: int = 1) -> float:
    """The least time of a pipeline, by trying how long both directions run: nothing runs against the first copy in and the last out."""
    first, last, kernels = inputs * COPY_MS, COPY_MS, kernel_ms(work)
    slow = COPY_MS / DUPLEX_MS

    def least(both: float) -> float:
        into, out = (alone + (1 - slow) * both for alone in (first, last))
        return max(into + (kernels + last) / chunks, out + (first + kernels) / chunks, first + last - (2 * slow - 1) * both)

    low, high = 0.0, (1 - 1 / chunks) * last / slow
    for _ in range(100):  # the function falls, and then rises
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, b) if least(a) <= least(b) else (a, high)
    return max(least(low), kernels + (first + last) / chunks)


def schedule(id_: str, milliseconds: float, chunks: int = 16, streams: int = 4, work: int = 1, workload: str = "scale",
             memory: str = "pinned", inputs: int = 1, **fields: Any) -> list[dict[str, Any]]:  # fmt: skip
    of = {"kind": "schedule", "schedule": id_, "workload": workload, "items": ITEMS, "chunks": chunks, "streams": streams, "memory": memory, "work": work,
          "blocks": 0, "buffers": chunks}  # fmt: skip
    return repetitions(of, milliseconds, **{"bytes": 4 * ITEMS * (inputs + 1), "inputs": inputs, "control": False, "streams_created": 3 if id_ in OWN_STREAMS else streams,
                                           "side_kernels": chunks if id_ in SIDE_KERNELS else 0} | fields)  # fmt: skip


def rates() -> list[dict[str, Any]]:
    """Copies alone and against each other, and the kernels of all chunk sizes."""
    entries: list[dict[str, Any]] = []
    for direction, both_ways, time in (("h2d", False, COPY_MS), ("d2h", False, COPY_MS), ("h2d", True, DUPLEX_MS), ("d2h", True, DUPLEX_MS)):
        entries += repetitions({"kind": "copy", "direction": direction, "both_ways": both_ways, "memory": "pinned", "bytes": 4 * ITEMS}, time)
    for workload in ("scale", "vector_add"):
        for chunks in CHUNKS:
            for work in WORKS:
                of = {"kind": "kernel", "workload": workload, "items": ITEMS // chunks, "work": work, "blocks": 0}
                entries += repetitions(of, kernel_ms(work) / chunks)
    return entries


def schedules() -> dict[str, Any]:
    entries = rates()
    for work in WORKS:
        for chunks in CHUNKS:
            serial = 2 * COPY_MS + kernel_ms(work)
            entries += schedule("serial_pinned", serial + 0.01 * chunks, chunks, work=work)
            entries += schedule("null_stream_trap", 1.1 * serial, chunks, work=work)
            entries += schedule("three_streams_unordered", 21.0, chunks, work=work, control=True, verified=False)
            for id_, slower in _SLOWER.items():
                twice = 2 * kernel_ms(work) if id_ in SIDE_KERNELS else 0.0
                entries += schedule(id_, slower * max(bound_ms(work, chunks), twice), chunks, work=work)
        for streams in STREAMS[:2] + STREAMS[3:]:
            entries += schedule("depth_first", (1.0 + 0.5 / streams) * bound_ms(work, 64), 64, streams, work=work)
    entries += schedule("three_streams", 1.02 * bound_ms(1, 16, inputs=2), workload="vector_add", inputs=2)
    return {"context": about(schema="scanlab-results/2", kind="cuda"), "benchmarks": entries}


def stream_scan() -> dict[str, Any]:
    entries: list[dict[str, Any]] = []
    for exponent in (28, 30, 32):
        items, size = 2**exponent, 4 * 2**exponent
        for way, place, mapped, rate in (("duplex_copy", "memory", False, 50.0), ("streamed", "memory", False, 48.0), ("naive", "memory", False, 2.6),
                                         ("streamed", "file", False, 4.0), ("streamed", "file", True, 6.0), ("naive", "file", False, 1.6),
                                         ("naive", "file", True, 1.2), ("files", "file", False, 5.0), ("files", "file", True, 7.0)):  # fmt: skip
            of = {"kind": "stream_scan", "way": way, "variant": "best", "type": "i32", "op": "plus", "mode": "inclusive", "items": items, "from": place,
                  "to": place, "budget_bytes": 2**31, "chunks": 512, "mapped": mapped, "bytes_each_way": size}  # fmt: skip
            entries += repetitions(of, size / rate / 1e6)
    return {"context": about(schema="scanlab-results/2", kind="cuda"), "benchmarks": entries}


def trace(schedule_: str = "depth_first", operations: int = 48, channels: int = 4, issued: bool = False, **changes: Any) -> dict[str, Any]:
    """A timeline whose three engines take turns; ``issued``: with the host's calls, which begin 40 µs before the first operation."""
    events: list[dict[str, Any]] = [{"name": "process_name", "ph": "M", "pid": pid, "tid": 0, "args": {"name": name, "kind": name}}
                                    for pid, name in ((1, "streams"), (2, "engines"))]  # fmt: skip
    kinds = (("copies in", 1, 300.0), ("kernels", 101, 8.0), ("copies out", 201, 310.0))
    for i in range(operations):
        chunk, (kind, lane, lasts) = i // 3, kinds[i % 3]
        for pid in (1, 2):
            events.append({"name": f"{kind} {chunk}", "cat": kind, "ph": "X", "pid": pid, "tid": lane if pid == 2 else chunk % 4 + 1,
                           "ts": 320.0 * (chunk + i % 3) + 50, "dur": lasts,
                           "args": {"chunk": chunk, "stream": f"stream {chunk % 4}", "channel": chunk % channels}})  # fmt: skip
    if issued:
        events.append({"name": "process_name", "ph": "M", "pid": 3, "tid": 0, "args": {"name": "host", "kind": "host"}})
        events += [{"name": kind, "cat": "issue", "ph": "X", "pid": 3, "tid": 1, "ts": 10.0 + 4 * i, "dur": 3.0, "args": {"operation": i, "kind": kind, "chunk": i // 3}}
                   for i, kind in enumerate(["copy_in", "kernel", "copy_out"] * (operations // 3) + ["synchronize_device"])]  # fmt: skip
    return {"schema": "scanlab-trace/1", "traceEvents": events, "displayTimeUnit": "ms",
            "otherData": about(schedule=schedule_, tracing_overhead_percent=-2.0) | changes}  # fmt: skip


def scenario(name: str, multiprocessors: int = 0, **changes: Any) -> dict[str, Any]:
    """A simulated timeline of three chunks, or of three blocks that fill half of the multiprocessors."""
    document = trace("", operations=9)
    document["otherData"] = about(scenario=name, simulated_on="didactic", title=name, fact=f"What {name} shows.", unit="units",
                                  machine="a machine", makespan_us=1600.0) | changes  # fmt: skip
    if multiprocessors:
        document["otherData"]["multiprocessors"] = multiprocessors
        document["traceEvents"].append({"name": "process_name", "ph": "M", "pid": 4, "tid": 0, "args": {"name": "multiprocessors", "kind": "multiprocessors"}})
        document["traceEvents"] += [{"name": "side kernel", "cat": "kernels", "ph": "X", "pid": 4, "tid": lane + 1, "ts": 0.0, "dur": 1000.0,
                                     "args": {"operation": 0, "stream": "stream 0"}} for lane in range(multiprocessors // 2)]  # fmt: skip
    return document


def scenario_ids() -> list[str]:
    """Those that figures ask for."""
    needs = [module.NEEDS.get("scenarios") for _, module in modules(figures)]
    return [name for need in needs if need for row in need.rows for name in row]


def experiment(name: str, subject: str, verb: str, object_: str, said: str | None, found: str | None) -> dict[str, Any]:
    return {"name": name, "subject": subject, "verb": verb, "object": object_, "statement": f"{subject} {verb} {object_}", "stated": said,
            "claim": "a claim", "sources": [{"work": "a lecture", "place": "its first slide"}], "measured": found, "differs": bool(said and found and said != found),
            "yes": 15 if found == "yes" else 0, "trials": 15 if found else 0, "seconds": [],
            "refusal": "" if found else "it needs a second device", "environment": {}, "fresh_process": False}  # fmt: skip


def implicit_sync() -> dict[str, Any]:
    blocks, serialises = ("blocks", "the host"), ("serialises", "kernels of two streams")
    return {"schema": "scanlab-implicit-sync/3", "context": about(), "experiments": [
        experiment("device_allocation.host", "cudaMalloc (64 MiB)", *blocks, None, "no"),
        experiment("device_allocation.streams", "cudaMalloc (64 MiB)", *serialises, "yes", "no"),
        experiment("peer_copy.streams", "cudaMemcpyPeerAsync to another device, behind the kernel", *serialises, None, None),
        experiment("kernel_launch", "a kernel launch", "waits for", "the end of its kernel", "no", "no"),
    ]}  # fmt: skip


def concurrency() -> dict[str, Any]:
    cases = []

    def add(streams: int, kernels: int, blocks: int, connections: int, predicted: float) -> None:
        cases.append({"streams": streams, "kernels": kernels, "blocks": blocks, "slots": 132, "connections": connections,
                      "block_seconds": 1e-3, "waves": -(-streams * blocks // 132), "fluid_seconds": 1e-3 * streams * blocks / 132,
                      "predicted_seconds": predicted, "serial_seconds": 1e-3 * streams * kernels * -(-blocks // 132),
                      "makespan_seconds": [predicted * (1 + 1e-3 * i) for i in range(5)]})  # fmt: skip

    for connections in (1, 8, 32):
        for streams in (1, 4, 16):
            for blocks in (1, 33, 67, 132):
                add(streams, 1, blocks, connections, 1e-3 * -(-streams * blocks // 132))
        add(4, 3, 8, connections, 9e-3 if connections == 1 else 3e-3)
    return {"schema": "scanlab-concurrency/1", "context": about(), "cases": cases}


def comparison() -> dict[str, Any]:
    cases = [{"schedule": schedule_, "workload": "scale", "items": 1 << 26, "chunks": chunks, "streams": 4, "work": 1, "connections": connections,
              "measured_us": 1e4 / chunks, "measured_spread": 0.04 if chunks == 4 else 0.06, "predicted_us": 1.02e4 / chunks,
              "overlap_in_either": 10, "overlap_in_both": 9,
              "estimate_us": 0.9e4 / chunks, "unaided_us": 1.04e4 / chunks, "unaided_overlap_in_either": 10, "unaided_overlap_in_both": 8, "repeated_overlap_in_either": 210,
              "repeated_overlap_in_both": 190, "best_overlap_in_either": 100, "best_overlap_in_both": 95,
              "copy_queues": min(4, connections), "queues_ordered_as_modelled": schedule_ == "graph"}
             for schedule_ in ("depth_first", "graph") for chunks in (4, 16) for connections in (1, 8)]  # fmt: skip
    return {"schema": "scanlab-comparison/1", "context": about(), "traces": cases}


def advice() -> dict[str, Any]:
    def choice(chunks: int, microseconds: float) -> dict[str, Any]:
        return {"schedule": "depth_first", "chunks": chunks, "streams": 4, "measured_us": microseconds, "predicted_us": 1000.0}

    problems = [{"workload": "scale", "items": items, "work": 1, "copied_bytes": 8 * items, "choices": 40, "median_error": error,
                 "worst_error": 2 * error, "stated": choice(16, 1010.0), "stated_was_measured": items > 1 << 14, "advised": choice(16, 1010.0),
                 "fastest": choice(8, 1000.0), "slower": 0.01, "ties": 3, "ties_least_slower": 0.005, "ties_most_slower": 0.03}
                for items, error in ((1 << 14, 0.2), (1 << 20, 0.04), (1 << 26, 0.01))]  # fmt: skip
    return {"schema": "scanlab-advice-against/1", "context": about(), "problems": problems}


def timed_by_nvbench(variant: str, items: object, **summaries: float) -> dict[str, Any]:
    """A state of nvbench: its times by name, in seconds."""
    tags = {"mean": "nv/cold/time/gpu/mean", "median": "nv/cold/time/gpu/median", "batch": "nv/batch/time/gpu/mean"}
    axes = [{"name": name, "type": kind, "value": str(value)} for name, kind, value in
            (("variant", "string", variant), ("type", "string", "i32"), ("items", "int64", items))]  # fmt: skip
    said = [{"tag": tags[name], "data": [{"name": "value", "type": "float64", "value": repr(value)}]} for name, value in summaries.items()]
    said.append({"tag": "nv/cold/sample_size", "data": [{"name": "value", "type": "int64", "value": "10"}]})
    return {"device": 0, "axis_values": axes, "summaries": said}


def stopwatch(states: list[dict[str, Any]]) -> dict[str, Any]:
    """What ``scanlab_nvbench --json`` writes."""
    version = {"json": {"major": 1, "minor": 0, "patch": 0, "string": "1.0.0"}, "nvbench": {"major": 0, "minor": 1, "patch": 0, "string": "0.1.0"}}
    return {"context": about(schema="scanlab-nvbench/1"), "meta": {"argv": ["scanlab_nvbench"], "version": version},
            "devices": [{"id": 0, "name": "Test Device"}], "benchmarks": [{"name": "inclusive_sum", "states": states}]}  # fmt: skip


def several_gpus(ranks: int = 4) -> dict[str, Any]:
    """Scans over several GPUs: a copy of 2^30 items in all takes 0.5 ms, peer_look_ahead 4 % more, CUB and NCCL twice as long."""
    entries: list[dict[str, Any]] = []
    for variant, milliseconds in (("copy_all", 0.5), ("peer_look_ahead", 0.52), ("nccl_cub", 1.04)):
        of = {"kind": "distributed", "variant": variant, "type": "i32", "op": "plus", "mode": "inclusive", "items": 2**30, "ranks": ranks, "on": "gpus"}
        entries += repetitions(of, milliseconds, settings={}, chunk_items=2**28, bytes=2**33, compared_every=16)
    algorithms = {id_: {"title": id_, "source": "a test", "kind": "copy" if id_ == "copy_all" else "scan", "origin": "variant", "family": "test",
                        "on_gpus": True} for id_ in ("copy_all", "peer_look_ahead", "nccl_cub")}  # fmt: skip
    return {"context": about(schema="scanlab-results/2", kind="cuda", ranks=ranks, ranks_are="threads", algorithms=algorithms), "benchmarks": entries}


def write_all(folder: Path) -> None:
    """A file of each kind; two traces of each schedule, one of them with one hardware queue."""
    from tests import ranks_fixtures

    documents = {"streams": schedules(), "larger": stream_scan(), "implicit_sync": implicit_sync(), "concurrency": concurrency(),
                 "comparison": comparison(), "advice": advice(), **ranks_fixtures.documents(), "ranks_trace": ranks_fixtures.timeline(),
                 "nvbench": stopwatch([timed_by_nvbench(variant, 2**k, mean=1e-5, median=1e-5, batch=8e-6) for variant in ("best", "cub_device_scan") for k in (16, 20)])}  # fmt: skip
    for schedule_ in ("depth_first", "breadth_first"):
        documents |= {f"trace_{schedule_}_{channels}": trace(schedule_, channels=channels) for channels in (1, 4)}
    for name, document in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(document))


def write_scenarios(folder: Path) -> None:
    """Every scenario that a figure asks for; those of small grids show blocks."""
    for name in scenario_ids():
        (folder / f"scenario_{name}.json").write_text(json.dumps(scenario(name, 6 if name.startswith("small_grids") else 0)))
