"""Invented results in the harness's formats, for tests only.

Times come from a toy model with seeded noise and say nothing about any device; bank-conflict degrees are counted here
from the addresses of the tree, so that they are right.
"""

from __future__ import annotations

import copy
import gzip
import itertools
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from tests import ranks_fixtures, stream_fixtures

SESSION = Path(__file__).parents[2] / "data" / "recorded" / "nvidia-h200" / "2026-11-26"
"""The recorded session that tests use."""
COMMIT = "0123456789abcdef0123456789abcdef01234567"

_MODEL = {  # launches at n, bytes moved an item over the ideal, share of the copy's rate
    "hs_block": (1, 1.0, 0.002), "hs_multipass": (0, 0, 0.9), "hs_blocked": (3, 2.0, 0.45),
    "hso_block": (1, 1.0, 0.0015), "hso_block_padded": (1, 1.0, 0.002),
    "hso_blocked": (3, 2.0, 0.3), "hso_blocked_padded": (3, 2.0, 0.6),
    "hso_reentry": (5, 4.0, 0.2), "hso_reentry_padded": (5, 4.0, 0.28),
    "cub_device_scan": (2, 1.0, 0.73), "thrust_scan": (2, 1.0, 0.66), "memcpy": (1, 1.0, 1.0),
    "cub_newest": (2, 1.0, 0.71), "copy_bulk": (1, 1.0, 0.96), "copy_vector": (1, 1.0, 1.0), "copy_one_wave": (1, 1.0, 0.8),
    "warp_shuffle": (3, 2.0, 0.8), "reduce_then_scan": (3, 1.5, 0.85), "decoupled_lookback": (1, 1.0, 0.75),
    "look_ahead": (1, 1.0, 0.95), "one_wave": (1, 1.0, 0.8), "best": (1, 1.0, 0.95),
    "device_scan": (2, 1.0, 0.94), "cub_tuned": (2, 1.0, 0.72),
}
_IN_GRAPHS = ("look_ahead", "one_wave", "best", "cub_device_scan", "cub_newest", "memcpy", "copy_bulk", "copy_vector",
              "copy_one_wave")
_KERNEL = {"launches": 1, "threads_per_block": 256, "registers": 64, "shared_bytes": 1024, "local_bytes": 0,
           "workspace_bytes": 4096, "prepare_ns": 2000.0}  # fmt: skip
PARAMETERS = {"look_ahead": {"tile": "30", "piece": "4", "stages": "all", "loading": "tile", "assignment": "dynamic", "asking": "late", "folding": "kept", "arrivals": "warp", "pdl": "yes"},
               **{f"{pair}_padded": {"padding": "two_level", "load": "halves"} for pair in ("hso_block", "hso_blocked", "hso_reentry")}}
_LIMIT = {"hs_block": 1024, "hso_block": 2048, "hso_block_padded": 2048, "one_wave": 2**20, "copy_one_wave": 2**22}
_CPU = {"cpu_sequential": (20.0, 8.0), "cpu_parallel": (9000.0, 70.0)}  # ns to start, GB/s


_VARIANTS = {id_: about for name in ("bank_conflicts.ranges", "cpu", "python", "dram_bytes.ranges")
             for id_, about in json.loads(gzip.decompress((SESSION / f"{name}.json.gz").read_bytes()))["context"]["variants"].items()}  # fmt: skip


def variant(id_: str) -> dict[str, Any]:
    """What a context says of an invented variant, as far as it must."""
    return {"label": id_, "kind": "scan", "origin": "variant", "family": "", "overview": False, "on_host": False}


def variants() -> dict[str, Any]:
    """What the contexts of the recorded session say of every variant that there is."""
    return copy.deepcopy(_VARIANTS)


def context(**changes: Any) -> dict[str, Any]:
    """A context as the harness writes it, for an invented device."""
    return {
        "schema": "scanlab-results/2", "kind": "cuda", "device": "Test Device", "cpu": "Test CPU", "cores": "4", "date": "2026-01-02T03:04:05+00:00",
        "git_commit": COMMIT, "git_dirty": "false", "driver": "0", "toolkit": "0", "cccl": "0", "cccl_newest": "0", "seed": "1", "argv": "test", "variants": variants(),
    } | changes  # fmt: skip


def repetition(case: dict[str, Any], index: int, time: float, **changes: Any) -> dict[str, Any]:
    """One raw repetition; ``time`` in nanoseconds."""
    name = "scan/" + "/".join(f"{key}:{value}" for key, value in case.items())
    outcome = "failed" if changes.get("error_occurred") else "timed"
    return {
        "name": name, "run_name": name, "run_type": "iteration", "repetition_index": index, "iterations": 10, "real_time": time, "cpu_time": time,
        "time_unit": "ns", "round": index, "kind": "scan", "outcome": outcome, "verified": outcome == "timed", **case,
    } | changes  # fmt: skip


def case(variant: str, items: int, cache: str = "cold", type_name: str = "i32", op: str = "plus", launch: str = "stream", **settings: str) -> dict[str, Any]:
    """An inclusive scan, with all settings of the variant."""
    return {"variant": variant, "type": type_name, "op": op, "mode": "inclusive", "items": items, "cache": cache, "launch": launch,
            "settings": PARAMETERS.get(variant, {}) | settings}  # fmt: skip


def timings(rounds: int = 11, top: int = 28) -> dict[str, Any]:
    """A whole ladder to 2^top, cold and warm, with the CPU baselines and a skipped case. ``best`` loses one case to CUB."""
    noise = np.random.default_rng(7)
    entries: list[dict[str, Any]] = []

    def add(of: dict[str, Any], time: float) -> None:
        more = _KERNEL | ({"choice": {"variant": "look_ahead", "settings": {"tile": "30"}}} if of["variant"] == "best" else {})
        for index in range(rounds):
            entries.append(repetition(of, index, time * float(noise.lognormal(0, 0.015)), **more))

    for exponent in range(10, top + 1):
        n = 2**exponent
        for cache in ("cold", "warm"):
            for variant in _MODEL:
                if n <= _LIMIT.get(variant, n):
                    add(case(variant, n, cache), _time(variant, n, cache))
                    if variant in _IN_GRAPHS and cache == "warm":
                        add(case(variant, n, cache, launch="graph"), _time(variant, n, cache) - 2000)
        for settings, slower in (({"tile": "12"}, 1.2), ({"tile": "26"}, 1.02), ({"tile": "28"}, 1.01), ({"tile": "36"}, 1.05), ({"piece": "1"}, 1.1), ({"piece": "1", "tile": "36"}, 1.3),
                                 ({"tile": "10"}, 1.25), ({"stages": "2"}, 1.2), ({"stages": "3"}, 1.1), ({"stages": "4"}, 1.05), ({"stages": "5"}, 1.02), ({"loading": "1"}, 1.15), ({"loading": "4"}, 1.01), ({"loading": "all"}, 1.01), ({"assignment": "static"}, 1.04), ({"pdl": "no"}, 1.1), ({"asking": "at_once"}, 1.02), ({"arrivals": "lane"}, 1.01)):
            add(case("look_ahead", n, **settings), slower * _time("look_ahead", n, "cold"))
        for folding, slower in (("kept", 2.0), ("repeated", 2.7)):
            add(case("look_ahead", n, type_name="f32", op="log_sum_exp", tile="49", folding=folding), slower * _time("look_ahead", n, "cold"))
        for variant in ("best", "cub_device_scan", "cub_newest"):
            losing = 2.0 if (variant, exponent) == ("best", 12) else 1.0
            add(case(variant, n, "cold", "i64", "affine", "stream"), losing * 3.4 * _time(variant, n, "cold"))
        for padding, slower in (("row", 1.02), ("one_in_16", 1.2)):
            add(case("hso_blocked_padded", n, padding=padding), slower * _time("hso_blocked_padded", n, "cold"))
        for variant in ("hs_blocked", "hso_blocked", "hso_blocked_padded", "hso_reentry", "hso_reentry_padded", "memcpy",
                        "cub_device_scan", "best"):
            add(case(variant, n, "cold", "i64"), 1.7 * _time(variant, n, "cold"))
        for variant, (start, rate) in _CPU.items():
            if exponent <= 24:
                add(case(variant, n, "warm"), start + 8 * n / rate)
    add(case("empty_launch", 0, "warm"), 3100.0)
    add(case("empty_launch", 0, "warm", launch="graph"), 600.0)
    entries.append(
        repetition(case("hs_block", 4096), 0, 0.0, error_occurred=True, error_message="hs_block takes n <= 1024")
    )
    return {"context": context(), "benchmarks": entries}


def odd_sizes(process: int) -> dict[str, Any]:
    """One process of the sweep; ratios are the same in each."""
    entries = [repetition(case(variant, n, cache, launch=launch), index, _time(variant, n, cache) * (1 + 0.01 * process)) for n in (4099, 100_001)
               for cache, launch in (("cold", "stream"), ("warm", "graph")) for variant in ("best", "device_scan", "memcpy", "cub_device_scan", "cub_newest") for index in range(3)]  # fmt: skip
    return {"context": context(argv=f"scanlab bench --sweep odd_sizes --seed {process}", seed=str(process)), "benchmarks": entries}


def _time(variant: str, n: int, cache: str) -> float:
    launches, traffic, share = _MODEL[variant]
    if variant == "hs_multipass":
        launches = traffic = max(1, math.ceil(math.log2(n)))
    resident = cache == "warm" and 8 * n * traffic < 30e6
    rate = 4250 * share * (1.6 if resident else 1.0)
    return 3100 + 1200 * (launches - 1) + 8 * n * traffic / rate


# ---------------------------------------------------------------------------------------------- emulator counts


def padded(index: int, padding: str) -> int:
    """Where an element lies in shared memory, 32 banks of 4 bytes."""
    return index + {"none": 0, "one_in_16": index // 16, "row": index // 32, "two_level": index // 32 + index // 1024}[padding]


def degree(addresses: list[int], banks: int, group: int) -> list[int]:
    """The conflict degree of each request: ``group`` threads at once over ``banks`` banks."""
    found = []
    for start in range(0, len(addresses), group):
        distinct = set(addresses[start : start + group])
        found.append(max(Counter(a % banks for a in distinct).values()))
    return found


def unpadded(variant: str) -> str:
    """As the program says it."""
    return variant.removesuffix("_padded") if variant.endswith("_padded") else ""


def explanation(variant: str, items: int, padding: str = "none") -> dict[str, Any]:
    """The counts of the one-block tree, or of Hillis–Steele in one block."""
    tree = variant.startswith("hso")
    steps = _tree_steps(items, padding) if tree else _doubling_steps(items)
    both = {model: [d for step in steps for d in step.pop(f"_{model}")] for model in ("banks16", "banks32")}
    operations = sum(step["operations"] for step in steps)
    swaps = sum(step["swaps"] for step in steps)
    totals = {
        "launches": 1, "operations": operations, "swaps": swaps, "barriers": len(steps) + 1,
        "global_bytes_read": 4 * items, "global_bytes_written": 4 * items, "global_sectors": items // 4,
        "global_ideal_sectors": items // 4, "shared_requests": len(both["banks32"]),
    } | {model: _summary(values) for model, values in both.items()}  # fmt: skip
    forms = (
        {"operations": 2 * (items - 1), "swaps": items - 1, "depth": None} if tree
        else {"operations": items * round(math.log2(items)) - items + 1, "swaps": 0, "depth": None}
    )  # fmt: skip
    return {
        "schema": "scanlab-explain/2", "variant": variant, "title": variant, "type": "i32", "op": "plus",
        "unpadded": unpadded(variant), "mode": "inclusive", "items": items, "parameters": {"load": "halves"} | ({} if padding == "none" else {"padding": padding}),
        "git_commit": COMMIT, "git_dirty": False, "date": "2026-01-02T03:04:05+00:00",
        "launches": [{"kernel": variant, "blocks": 1, "threads": items // 2, "shared_bytes": 4 * items,
                      "barriers": len(steps) + 1, "steps": steps}],
        "totals": totals, "closed_forms": forms, "faults": [],
    }  # fmt: skip


def _tree_steps(items: int, padding: str) -> list[dict[str, Any]]:
    strides = [2**k for k in range(int(math.log2(items)))]
    sweeps = [("up-sweep", s) for s in strides] + [("down-sweep", s) for s in reversed(strides)]
    steps = []
    for sweep, stride in sweeps:
        threads = range(items // (2 * stride))
        near = [padded(stride * (2 * t + 1) - 1, padding) for t in threads]
        far = [padded(stride * (2 * t + 2) - 1, padding) for t in threads]
        accesses = [near, far, far] if sweep == "up-sweep" else [near, far, near, far]
        swaps = len(near) if sweep == "down-sweep" else 0
        steps.append(_step(sweep, stride, len(near), len(near), swaps, accesses))
    return steps


def _doubling_steps(items: int) -> list[dict[str, Any]]:
    steps = []
    for k in range(round(math.log2(items))):
        threads = list(range(items))
        steps.append(_step("offset", 2**k, items, items - 2**k, 0, [threads, threads]))
    return steps


def _step(name: str, number: int, active: int, operations: int, swaps: int, accesses: list[list[int]]) -> dict[str, Any]:
    of = {"banks16": (16, 16), "banks32": (32, 32)}
    counted = {m: [d for a in accesses for d in degree(a, *shape)] for m, shape in of.items()}
    return {
        "name": name, "number": number, "active_threads": active, "operations": operations, "swaps": swaps,
        "shared": {"requests": len(counted["banks32"])} | {m: _summary(values) for m, values in counted.items()},
        "global": {"bytes": 0, "sectors": 0, "ideal_sectors": 0},
    } | {f"_{m}": values for m, values in counted.items()}  # fmt: skip


def _summary(values: list[int]) -> dict[str, float]:
    return {"max_degree": max(values), "mean_degree": sum(values) / len(values), "transactions": sum(values)}


# ------------------------------------------------------------------------------- counters, waits, repeated runs


def dram_bytes(top: int) -> str:
    """A scan that reads twice finds the second read in a cache of 60 MB; whatever is written is written."""
    lines = ["variant,settings,type,op,mode,items,kernel,launch_index,dram_bytes_read,dram_bytes_written"]
    for exponent in range(18, top + 1, 2):
        once = 4 * 2**exponent
        for variant, reads, writes in (("warp_shuffle", 2, 2), ("reduce_then_scan", 2, 1), ("look_ahead", 1, 1)):
            for launch in range(2):
                read = once * (reads if once > 60e6 else 1) // 2
                lines.append(f"{variant},,i32,plus,inclusive,{2**exponent},k,{launch},{read},{once * writes // 2}")
    return "\n".join(lines) + "\n"


PREFIX_WAIT = """variant,tile,items,type,role,cycles_total,cycles_waiting_data,cycles_waiting_prefix,cycles_waiting_reduced,cycles_waiting_store
look_ahead,30,1048576,i32,scan,1000,300,250,0,20
look_ahead,30,16777216,i32,scan,10000,5000,1000,0,200
look_ahead,30,16777216,i32,reduce,10000,7000,0,100,0
look_ahead,30,16777216,i32,look ahead,2500,0,2000,100,0
look_ahead,30,16777216,i32,load,2500,1000,0,0,500
decoupled_lookback,16,16777216,i32,block,10000,2000,4000,0,0
"""

def verification(repeated: bool = False, **changes: Any) -> str:
    """What ``scanlab verify --json`` writes, of ``--repeat`` or not: look_ahead keeps its bits, and decoupled_lookback in 9 of 12 cases."""
    of = {"type": "f32", "op": "plus", "mode": "inclusive", "settings": {}, "input": "uniform", "aliasing": "apart", "outcome": "passed", "reason": ""}
    checks = [{"check": "verify", "variant": "look_ahead", "items": 100 + n} | of for n in range(9)]
    checks.append({"check": "verify", "variant": "hs_block", "items": 1025} | of | {"outcome": "skipped", "reason": "n <= 1024", "out_of_memory": False})
    if repeated:
        checks = [{"check": "repeat", "variant": variant, "items": 1000 + n, "runs": 100, "different_outputs": 7 if variant != "look_ahead" and n < 3 else 1} | of
                  for variant in ("look_ahead", "decoupled_lookback") for n in range(12)]  # fmt: skip
    context = {"device": "Test Device", "git_commit": COMMIT, "git_dirty": "false", "backend": "cuda", "seed": "1", "date": "2026-01-02T03:00:00Z"} | changes
    count = {outcome: sum(check["outcome"] == outcome for check in checks) for outcome in ("passed", "failed", "skipped")}
    lines = [{"schema": "scanlab-verification/1", "context": context}, *checks, {"ended": count | {"interrupted": False}}]
    return "".join(json.dumps(line) + "\n" for line in lines)


def python_timings(rounds: int) -> dict[str, Any]:
    """A library timed from Python, in a file of its own, whose context knows less."""
    facts = {key: value for key, value in context().items() if key not in ("cpu", "cores", "toolkit")}
    entries = [repetition(case("torch_cumsum", 2**20, launch="stream"), index, 9000.0 + index) for index in range(rounds)]
    return {"context": facts | {"executable": "baselines.python"}, "benchmarks": entries}


_SHAPES = {"cub_look_ahead_shape": {"warps": ("2", "4"), "items": ("63",)}, "cub_look_back_shape": {"threads": ("128", "256"), "items": ("32",)}}


def cub_shapes(rounds: int) -> dict[str, Any]:
    """What ``scanlab tune --rival cub --samples`` keeps of sums and of complex products: of each of CUB's algorithms two shapes, one of which is timed at more sizes."""
    entries = []
    for (n, last), of_op in itertools.product(((2**18, 1), (2**22, 2), (2**26, 2)), ({}, {"type_name": "f32", "op": "complex_multiply"})):
        timed = [(case("memcpy", n, **of_op), 1.0), (case("cub_newest", n, **of_op), 1.4)]
        for id_, of in _SHAPES.items():
            (first, values), (items, (few,)) = of.items()
            timed += [(case(id_, n, **of_op) | {"settings": {first: value, items: few}}, 1.3 + place / 10) for place, value in enumerate(values[:last])]
        entries += [repetition(of, index, (2000 + 2 * n / 1000) * slower) for of, slower in timed for index in range(rounds)]
    return {"context": context(kind="tuning", variants=variants() | shapes()), "benchmarks": entries}


def shapes() -> dict[str, Any]:
    """What the context of such a file says of them."""
    return {id_: variant(id_) | {"origin": "baseline", "family": "CUB", "parameters": [{"name": name, "values": values} for name, values in of.items()]}
            for id_, of in _SHAPES.items()}  # fmt: skip


# -------------------------------------------------------------------------------------------------- whole folders


def write_all(folder: Path, rounds: int = 11, top: int = 28, extra: int = 64) -> Path:
    """A results folder in which nothing is missing; the hardware counts ``extra`` load transactions more a launch."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "scan.json").write_text(json.dumps(timings(rounds, top)))
    (folder / "python.json").write_text(json.dumps(python_timings(rounds)))
    (folder / "cub_shapes.json").write_text(json.dumps(cub_shapes(rounds)))
    for process in range(1, 9):
        (folder / f"odd_sizes_{process}.json").write_text(json.dumps(odd_sizes(process)))
    (folder / "dram_bytes.csv").write_text(dram_bytes(top))
    (folder / "prefix_wait.csv").write_text(PREFIX_WAIT)
    (folder / "ranks_prefix_wait.csv").write_text(ranks_fixtures.waits())
    (folder / "repeat.jsonl").write_text(verification(repeated=True))
    stream_fixtures.write_all(folder)
    stream_fixtures.write_scenarios(folder)
    counter_lines = ["variant,padding,type,op,items,kernel,launch_index,shared_load_wavefronts,"
                     "shared_store_wavefronts,shared_load_conflicts,shared_store_conflicts"]  # fmt: skip
    for variant, items, padding in _explained():
        content = explanation(variant, items, padding)
        (folder / f"{variant}-{padding}-{items}.explain.json").write_text(json.dumps(content))
        if variant.startswith("hso"):
            all_of = content["totals"]["banks32"]["transactions"]
            loads = int(all_of * 0.6)
            conflicts = all_of - content["totals"]["shared_requests"]
            counter_lines.append(f"{variant},{padding},i32,plus,{items},{variant},0,{loads + extra},{all_of - loads},"
                                 f"{int(conflicts * 0.6)},{conflicts - int(conflicts * 0.6)}")  # fmt: skip
    (folder / "bank_conflicts.csv").write_text("\n".join(counter_lines) + "\n")
    return folder


def _explained() -> list[tuple[str, int, str]]:
    cases = [("hs_block", 1024, "none")]
    for items in (1024, 2048):
        cases.append(("hso_block", items, "none"))
        cases += [("hso_block_padded", items, padding) for padding in ("one_in_16", "row", "two_level")]
    # The blocked and reentry forms are stood in for by one block: enough to draw, and named as what they are not.
    cases.append(("hs_blocked", 2048, "none"))
    for variant in ("hso_blocked", "hso_reentry"):
        cases += [(variant, 2048, "none"), (f"{variant}_padded", 2048, "two_level")]
    return cases
