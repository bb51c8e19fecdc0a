"""Invented results in the harness's formats, for tests only.

Times come from a toy model with seeded noise and say nothing about any device.
"""

import copy
import functools
import gzip
import itertools
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from tests import stream_fixtures

Document = dict[str, Any]
ROOT = Path(__file__).parents[2]
SESSION = stream_fixtures.SESSION
COMMIT = "0123456789abcdef0123456789abcdef01234567"
_KERNEL = json.loads("""{"launches": 1, "threads_per_block": 256, "registers": 64,
    "shared_bytes": 1024, "local_bytes": 0, "workspace_bytes": 4096, "prepare_ns": 2000.0}""")
_CONTEXT = json.loads("""{"schema": "scanlab-results/2", "kind": "cuda", "device": "Test Device",
    "cpu": "Test CPU", "cores": "4", "date": "2026-01-02T03:04:05+00:00", "git_dirty": "false",
    "driver": "0", "toolkit": "0", "cccl": "0", "cccl_newest": "0", "seed": "1", "argv": "test"}""")
PARAMETERS = json.loads("""{
    "look_ahead": {"tile": "30", "piece": "4", "stages": "all", "loading": "tile",
        "assignment": "dynamic", "asking": "late", "folding": "kept", "arrivals": "warp",
        "pdl": "yes"},
    "hso_block_padded": {"padding": "two_level", "load": "halves"},
    "hso_blocked_padded": {"padding": "two_level", "load": "halves"},
    "hso_reentry_padded": {"padding": "two_level", "load": "halves"}}""")
_MODEL = json.loads("""{
    "hs_block": [1, 1.0, 0.002], "hs_multipass": [0, 0, 0.9], "hs_blocked": [3, 2.0, 0.45],
    "hso_block": [1, 1.0, 0.0015], "hso_block_padded": [1, 1.0, 0.002],
    "hso_blocked": [3, 2.0, 0.3], "hso_blocked_padded": [3, 2.0, 0.6],
    "hso_reentry": [5, 4.0, 0.2], "hso_reentry_padded": [5, 4.0, 0.28],
    "cub_device_scan": [2, 1.0, 0.73], "thrust_scan": [2, 1.0, 0.66], "memcpy": [1, 1.0, 1.0],
    "cub_newest": [2, 1.0, 0.71], "copy_bulk": [1, 1.0, 0.96], "copy_vector": [1, 1.0, 1.0],
    "copy_one_wave": [1, 1.0, 0.8], "warp_shuffle": [3, 2.0, 0.8], "one_wave": [1, 1.0, 0.8],
    "reduce_then_scan": [3, 1.5, 0.85], "decoupled_lookback": [1, 1.0, 0.75],
    "look_ahead": [1, 1.0, 0.95], "best": [1, 1.0, 0.95], "device_scan": [2, 1.0, 0.94],
    "cub_tuned": [2, 1.0, 0.72]}""")
"""Launches at n, bytes that an item moves over the ideal, share of the copy's rate."""
_LIMIT = dict(hs_block=1 << 10, hso_block=1 << 11, hso_block_padded=1 << 11, one_wave=1 << 20)
_LIMIT |= {"copy_one_wave": 1 << 22}
_IN_GRAPHS = "look_ahead one_wave best cub_device_scan cub_newest memcpy copy_bulk copy_vector"
_IN_I64 = "hs_blocked hso_blocked hso_blocked_padded hso_reentry hso_reentry_padded memcpy best"
_OTHER = "tile=12 tile=26 tile=28 tile=36 tile=10 piece=1 piece=1,tile=36 stages=2 stages=3"
_OTHER += " stages=4 stages=5 loading=1 loading=4 loading=all assignment=static pdl=no"
_OTHER += " asking=at_once arrivals=lane"
"""Settings of look_ahead beside its defaults."""
_SHAPES = {"cub_look_ahead_shape": {"warps": ("2", "4"), "items": ("63",)}}
_SHAPES |= {"cub_look_back_shape": {"threads": ("128", "256"), "items": ("32",)}}


def _described() -> dict[str, Any]:
    """The descriptions of all variants, as in a context."""
    about: dict[str, Any] = {}
    for name in ("bank_conflicts.ranges", "cpu", "python", "dram_bytes.ranges"):
        document = json.loads(gzip.decompress((SESSION / f"{name}.json.gz").read_bytes()))
        about |= document["context"]["variants"]
    return about


_VARIANTS = _described()


def write(file: Path, content: Any) -> Path:
    """Writes a text, or another document as JSON."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def contents(folder: Path) -> dict[str, bytes]:
    """Return the content of each file below a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def variants() -> dict[str, Any]:
    return copy.deepcopy(_VARIANTS)


def variant(id_: str) -> dict[str, Any]:
    """The least description of an invented variant in a context."""
    about = {"label": id_, "kind": "scan", "origin": "variant", "family": ""}
    return about | {"overview": False, "on_host": False}


def context(**changes: Any) -> dict[str, Any]:
    """A context as the harness writes it, for an invented device."""
    return _CONTEXT | {"git_commit": COMMIT, "variants": variants()} | changes


def repetition(case: dict[str, Any], index: int, time: float, **changes: Any) -> dict[str, Any]:
    """One sample; `time` in nanoseconds."""
    name = "scan/" + "/".join(f"{key}:{value}" for key, value in case.items())
    outcome = "failed" if changes.get("error_occurred") else "timed"
    entry = {"name": name, "run_name": name, "run_type": "iteration", "repetition_index": index}
    entry |= {"iterations": 10, "real_time": time, "cpu_time": time, "time_unit": "ns"}
    entry |= {"round": index, "kind": "scan", "outcome": outcome, "verified": outcome == "timed"}
    return entry | case | changes


def case(
    variant: str,
    items: int,
    cache: str = "cold",
    type_name: str = "i32",
    op: str = "plus",
    launch: str = "stream",
    **settings: str,
) -> dict[str, Any]:
    """An inclusive scan, with all settings of the variant."""
    scan = {"variant": variant, "type": type_name, "op": op, "mode": "inclusive", "items": items}
    own = PARAMETERS.get(variant, {}) | settings
    return scan | {"cache": cache, "launch": launch, "settings": own}


def results(*entries: dict[str, Any], **about: Any) -> Document:
    """A results file."""
    return {"context": context(**about), "benchmarks": list(entries)}


def samples(number: int, of_case: dict[str, Any], time: float = 1000.0, **changes: Any) -> list:
    """Samples of a case, each a nanosecond after the other."""
    return [repetition(of_case, i, time + i, **changes) for i in range(number)]


def _time(variant: str, n: int, cache: str) -> float:
    launches, traffic, share = _MODEL[variant]
    if variant == "hs_multipass":
        launches = traffic = max(1, math.ceil(math.log2(n)))
    resident = cache == "warm" and 8 * n * traffic < 30e6
    rate = 4250 * share * (1.6 if resident else 1.0)
    return 3100 + 1200 * (launches - 1) + 8 * n * traffic / rate


def timings(rounds: int = 11, top: int = 28) -> Document:
    """A whole ladder to 2^top, cold and warm, with the CPU baselines and a skipped case. `best`
    loses one case to CUB."""
    noise, entries = np.random.default_rng(7), []

    def add(scan: dict[str, Any], time: float) -> None:
        chosen = {"choice": {"variant": "look_ahead", "settings": {"tile": "30"}}}
        more = _KERNEL | (chosen if scan["variant"] == "best" else {})
        for index in range(rounds):
            noisy = time * float(noise.lognormal(0, 0.015))
            entries.append(repetition(scan, index, noisy, **more))

    for n in (2**exponent for exponent in range(10, top + 1)):
        for cache, id_ in itertools.product(("cold", "warm"), _MODEL):
            if n <= _LIMIT.get(id_, n):
                add(case(id_, n, cache), _time(id_, n, cache))
                if cache == "warm" and id_ in [*_IN_GRAPHS.split(), "copy_one_wave"]:
                    add(case(id_, n, cache, launch="graph"), _time(id_, n, cache) - 2000)
        usual = _time("look_ahead", n, "cold")
        for place, settings in enumerate(_OTHER.split()):
            own = dict(setting.split("=") for setting in settings.split(","))
            add(case("look_ahead", n, **own), (1.01 + 0.02 * (place % 7)) * usual)
        for folding, slower in (("kept", 2.0), ("repeated", 2.7)):
            own = {"tile": "49", "folding": folding}
            add(case("look_ahead", n, type_name="f32", op="log_sum_exp", **own), slower * usual)
        for id_ in ("best", "cub_device_scan", "cub_newest"):
            slower = 6.8 if (id_, n) == ("best", 1 << 12) else 3.4
            add(case(id_, n, type_name="i64", op="affine"), slower * _time(id_, n, "cold"))
        for padding, slower in (("row", 1.02), ("one_in_16", 1.2)):
            padded_ = case("hso_blocked_padded", n, padding=padding)
            add(padded_, slower * _time("hso_blocked_padded", n, "cold"))
        for id_ in [*_IN_I64.split(), "cub_device_scan"]:
            add(case(id_, n, type_name="i64"), 1.7 * _time(id_, n, "cold"))
        for id_, start, rate in (("cpu_sequential", 20.0, 8.0), ("cpu_parallel", 9000.0, 70.0)):
            if n <= 1 << 24:
                add(case(id_, n, "warm"), start + 8 * n / rate)
    add(case("empty_launch", 0, "warm"), 3100.0)
    add(case("empty_launch", 0, "warm", launch="graph"), 600.0)
    refused = {"error_occurred": True, "error_message": "hs_block takes n <= 1024"}
    return results(*entries, repetition(case("hs_block", 4096), 0, 0.0, **refused))


def odd_sizes(process: int) -> Document:
    """One process of the sweep; ratios are the same in each."""
    ids = ("best", "device_scan", "memcpy", "cub_device_scan", "cub_newest")
    every = itertools.product((4099, 100_001), (("cold", "stream"), ("warm", "graph")), ids)
    entries = [
        repetition(case(id_, n, cache, launch=launch), index, slower * _time(id_, n, cache))
        for slower in (1 + 0.01 * process,)
        for n, (cache, launch), id_ in every
        for index in range(3)
    ]
    argv = f"scanlab bench --sweep odd_sizes --seed {process}"
    return results(*entries, argv=argv, seed=str(process))


@functools.cache
def _counted() -> list[Document]:
    """The recorded counts of the emulator."""
    (file,) = (ROOT / "data" / "recorded").glob("amd-epyc/*/explain.json.gz")
    return json.loads(gzip.decompress(file.read_bytes()))


def explanation(variant: str, items: int, padding: str = "none") -> Document:
    """The counts of a sum of 32-bit integers, those of 1024 items if none of so many are on record.
    They are said to be of another run."""
    own = [
        document
        for document in _counted()
        if (document["variant"], document["type"], document["op"], document["mode"])
        == (variant, "i32", "plus", "inclusive")
        and document["parameters"].get("padding", "none") == padding
        and document["parameters"].get("load", "halves") == "halves"
    ]
    counted = next((d for d in own if d["items"] == items), own[0])
    run = {"git_commit": COMMIT, "git_dirty": False, "date": _CONTEXT["date"], "items": items}
    return copy.deepcopy(counted) | run


# ------------------------------------------------------------------ counters, waits, repeated runs


def dram_bytes(top: int) -> str:
    """A scan that reads twice finds the second read in a cache of 60 MB; whatever is written is
    written."""
    lines = ["variant,settings,type,op,mode,items,kernel,launch_index,dram_bytes_read"]
    lines[0] += ",dram_bytes_written"
    ways = (("warp_shuffle", 2, 2), ("reduce_then_scan", 2, 1), ("look_ahead", 1, 1))
    for exponent, (id_, reads, writes) in itertools.product(range(18, top + 1, 2), ways):
        once = 4 << exponent
        moved = f"{once * (reads if once > 60e6 else 1) // 2},{once * writes // 2}"
        lines += [
            f"{id_},,i32,plus,inclusive,{1 << exponent},k,{launch},{moved}" for launch in (0, 1)
        ]
    return "\n".join(lines) + "\n"


_WAITS = ",".join(f"cycles_waiting_{what}" for what in ("data", "prefix", "reduced", "store"))
PREFIX_WAIT = f"""variant,tile,items,type,role,cycles_total,{_WAITS}
look_ahead,30,1048576,i32,scan,1000,300,250,0,20
look_ahead,30,16777216,i32,scan,10000,5000,1000,0,200
look_ahead,30,16777216,i32,reduce,10000,7000,0,100,0
look_ahead,30,16777216,i32,look ahead,2500,0,2000,100,0
look_ahead,30,16777216,i32,load,2500,1000,0,0,500
decoupled_lookback,16,16777216,i32,block,10000,2000,4000,0,0
"""


def verification(repeated: bool = False, **changes: Any) -> str:
    """The lines of `scanlab verify --json`, with `--repeat` or without: look_ahead keeps its bits,
    and decoupled_lookback in 9 of 12 cases."""
    usual = json.loads("""{"type": "f32", "op": "plus", "mode": "inclusive", "settings": {},
        "input": "uniform", "aliasing": "apart", "outcome": "passed", "reason": ""}""")
    checks = [{"variant": "look_ahead", "items": 100 + n} | usual for n in range(9)]
    skipped = {"outcome": "skipped", "reason": "n <= 1024", "out_of_memory": False}
    checks.append({"variant": "hs_block", "items": 1025} | usual | skipped)
    if repeated:
        checks = [
            {"variant": id_, "items": 1000 + n, "runs": 100, "different_outputs": outputs} | usual
            for id_ in ("look_ahead", "decoupled_lookback")
            for n in range(12)
            for outputs in (7 if id_ != "look_ahead" and n < 3 else 1,)
        ]
    kind = {"check": "repeat" if repeated else "verify"}
    about = {"device": "Test Device", "git_commit": COMMIT, "git_dirty": "false", "seed": "1"}
    about |= {"backend": "cuda", "date": "2026-01-02T03:00:00Z"} | changes
    ended: dict[str, Any] = dict.fromkeys(("passed", "failed", "skipped"), 0)
    ended |= Counter(check["outcome"] for check in checks) | {"interrupted": False}
    lines = [{"schema": "scanlab-verification/1", "context": about}]
    lines += [*(kind | check for check in checks), {"ended": ended}]
    return "".join(json.dumps(line) + "\n" for line in lines)


def python_timings(rounds: int) -> Document:
    """A library timed from Python, in a file of its own, whose context knows less."""
    document = results(*samples(rounds, case("torch_cumsum", 2**20), 9000.0))
    for name in ("cpu", "cores", "toolkit"):
        del document["context"][name]
    return document


def cub_shapes(rounds: int) -> Document:
    """The samples of `scanlab tune --rival cub` for sums and of complex products: two shapes
    of each of CUB's algorithms, one of which is timed at more sizes."""
    entries: list[dict[str, Any]] = []
    scanned = ({}, {"type_name": "f32", "op": "complex_multiply"})
    for (n, last), own in itertools.product(((1 << 18, 1), (1 << 22, 2), (1 << 26, 2)), scanned):
        timed = [(case("memcpy", n, **own), 1.0), (case("cub_newest", n, **own), 1.4)]
        for id_, shape in _SHAPES.items():
            (first, values), (items, (few,)) = shape.items()
            timed += [
                (case(id_, n, **own) | {"settings": {first: value, items: few}}, 1.3 + place / 10)
                for place, value in enumerate(values[:last])
            ]
        for scan, slower in timed:
            entries += [repetition(scan, i, (2000 + n / 500) * slower) for i in range(rounds)]
    return results(*entries, kind="tuning", variants=variants() | shapes())


def shapes() -> dict[str, Any]:
    """The shapes that the context of such a file describes."""
    return {
        id_: variant(id_) | {"origin": "baseline", "family": "CUB", "parameters": parameters}
        for id_, shape in _SHAPES.items()
        for parameters in ([{"name": name, "values": values} for name, values in shape.items()],)
    }


def record(
    recorded: Path,
    name: str,
    time: float,
    complete: bool | None = None,
    variant: str = "memcpy",
    **changes: Any,
) -> Path:
    """A folder with timings of one variant, of the day that it is called by; with a session.json if
    it says whether it is complete."""
    (folder := recorded / name).mkdir(parents=True)
    entries = [repetition(case(variant, 1024), i, time) for i in range(6)]
    document = results(*entries, date=f"{name}T00:00:00", **changes)
    (folder / "scan.json").write_text(json.dumps(document))
    if complete is not None:
        session = {"schema": "scanlab-session/1", "commit": "", "complete": complete}
        session |= {key: document["context"][key] for key in ("device", "date")}
        session |= {"files": [{"file": "scan.json", "kind": "timings"}]}
        (folder / "session.json").write_text(json.dumps(session))
    return folder


def block_scans(rounds: int) -> Document:
    """Block scans by 32 and 256 threads, and a warp scan: ours take 100 µs, theirs twice that."""
    entries = []
    for id_, ns in {
        "block_best": 1e5,
        "block_tree": 9e5,
        "block_copy": 1e4,
        "cub_warp": 2e5,
    }.items():
        for threads in (32, 256):
            name = id_.replace("cub_warp", "cub_block_scan")
            settings = {"items_per_thread": "4", "arrangement": "blocked", "scans": "256"}
            own = case(name, 4 * threads, "warm", **settings) | {"rows": 8448, "kind": "block_scan"}
            own |= {"registers": 32, "shared_bytes": 64, "local_bytes": 0}
            entries += [repetition(own, i, ns + i, cycles=ns / 100 + i) for i in range(rounds)]
    return results(*entries)


def segmented_scans(rounds: int) -> dict[str, Any]:
    """Scans by key and of segments, beside a copy and a scan of CUB."""
    entries, about = [], {}
    for kind, prefix in (("scan_by_key", "key"), ("segmented_scan", "segment")):
        for id_, ns in ((f"{prefix}_best", 1.2e6), (f"{prefix}_copy", 1e6), (f"cub_{prefix}", 2e6)):
            family = {"family": "CUB", "origin": "baseline"} if ns == 2e6 else {}
            about[id_] = variant(id_) | family
            for mean in (8, 128):
                cut = {"kind": kind, "segment": mean, "lengths": "random", "width": 4}
                own = case(id_, 2**27) | cut
                entries += [repetition(own, i, ns + 10 * i) for i in range(rounds)]
    return results(*entries, variants=about)


def axes_scans(rounds: int) -> Document:
    """Sums of f32 along rows and columns of 2^27 items: a copy takes 1 ms, ours 1.2 and CUB 2."""
    entries, about = [], {id_: variant(id_) for id_ in ("axis_best", "axis_copy", "cub_rows")}
    about["axis_copy"] |= {"kind": "copy", "origin": "baseline", "label": "memcpy"}
    about["cub_rows"] |= {"family": "CUB", "origin": "baseline"}
    for id_, ns in {"axis_best": 1.2e6, "axis_copy": 1e6, "cub_rows": 2e6}.items():
        for axis, inner in ((32, 1), (4096, 1), (4096, 256)):
            if inner == 1 or id_ != "cub_rows":
                shape = {"rows": 2**27 // axis // inner, "inner": inner, "kind": "scan_axis"}
                own = case(id_, axis, type_name="f32") | shape
                entries += [repetition(own, i, ns + i, **_KERNEL) for i in range(rounds)]
    return results(*entries, variants=variants() | about)


def write_all(folder: Path, rounds: int = 11, top: int = 28) -> Path:
    """A results folder in which nothing is missing; the hardware counts 64 load transactions more
    per launch."""
    folder.mkdir(parents=True, exist_ok=True)
    documents = {"scan": timings(rounds, top), "python": python_timings(rounds)}
    documents |= {"cub_shapes": cub_shapes(rounds), "block_scan": block_scans(rounds)}
    documents["scan_axis"] = axes_scans(rounds)
    documents["segments"] = segmented_scans(rounds)
    documents |= {f"odd_sizes_{process}": odd_sizes(process) for process in range(1, 9)}
    stream_fixtures.write_all(folder)
    stream_fixtures.write_scenarios(folder)
    head = "variant,padding,type,op,items,kernel,launch_index"
    names = [
        f"shared_{way}_{what}" for what in ("wavefronts", "conflicts") for way in ("load", "store")
    ]
    counters = [",".join([head, *names])]
    padded = [("hso_block_padded", padding) for padding in ("one_in_16", "row", "two_level")]
    padded += [(f"hso_{kind}_padded", "two_level") for kind in ("blocked", "reentry")]
    plain = [(id_, "none") for id_ in ("hs_blocked", "hso_block", "hso_blocked", "hso_reentry")]
    for (id_, padding), items in itertools.product([*plain, *padded], (1024, 2048)):
        content = explanation(id_, items, padding)
        documents[f"{id_}-{padding}-{items}.explain"] = content
        if id_.startswith("hso"):
            every = content["totals"]["banks32"]["transactions"]
            loads, conflicts = int(every * 0.6), every - content["totals"]["shared_requests"]
            ours = int(conflicts * 0.6)
            counted = f"{loads + 64},{every - loads},{ours},{conflicts - ours}"
            counters.append(f"{id_},{padding},i32,plus,{items},{id_},0,{counted}")
    documents["hs_block.explain"] = explanation("hs_block", 1024)
    for name, document in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(document))
    texts = {"dram_bytes.csv": dram_bytes(top), "prefix_wait.csv": PREFIX_WAIT}
    texts |= {"ranks_prefix_wait.csv": (stream_fixtures.PAIR / "ranks_prefix_wait.csv").read_text()}
    texts |= {"repeat.jsonl": verification(repeated=True)}
    texts |= {"bank_conflicts.csv": "\n".join(counters) + "\n"}
    for name, text in texts.items():
        (folder / name).write_text(text)
    return folder
