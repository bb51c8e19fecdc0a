"""Results in the formats of the programs, for tests only: invented ones, whose times say nothing
about any device, and recorded ones, as if of an invented device."""

import gzip
import itertools
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

Document = dict[str, Any]
ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "data" / "recorded"
SESSION = RECORDED / "nvidia-h200" / "2026-11-26"
PAIR = RECORDED / "nvidia-h200-x2" / "2026-11-25"
"""A session of scans over two GPUs."""
COMMIT = "0123456789abcdef0123456789abcdef01234567"
_CONTEXT = json.loads("""{"schema": "scanlab-results/2", "kind": "cuda", "device": "Test Device",
    "cpu": "Test CPU", "cores": "4", "date": "2026-01-02T03:04:05+00:00", "git_dirty": "false",
    "driver": "0", "toolkit": "0", "cccl": "0", "cccl_newest": "0", "seed": "1", "argv": "test"}""")
SHARES = {"memcpy": 1.0, "best": 0.95, "look_ahead": 0.95, "cub_device_scan": 0.7}
SHARES |= {"cub_newest": 0.72, "hs_blocked": 0.45, "hso_block": 0.3}
"""The rate of each variant in `timings` over that of a copy."""


def unpacked(file: Path) -> Any:
    return json.loads(gzip.decompress(file.read_bytes()))


VARIANTS: dict[str, Any] = {}
"""The descriptions of all variants, as in a context."""
for _name in ("bank_conflicts.ranges", "cpu", "python", "dram_bytes.ranges", "cub_shapes"):
    VARIANTS |= unpacked(SESSION / f"{_name}.json.gz")["context"]["variants"]


def write(file: Path, content: Any) -> Path:
    """Writes a text, or another document as JSON."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def contents(folder: Path) -> dict[str, bytes]:
    """Return the content of each file below a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def variant(id_: str) -> dict[str, Any]:
    """The least description of an invented variant in a context."""
    about = {"label": id_, "kind": "scan", "origin": "variant", "family": ""}
    return about | {"overview": False, "on_host": False}


def context(**changes: Any) -> dict[str, Any]:
    """A context as the harness writes it, for an invented device."""
    return _CONTEXT | {"git_commit": COMMIT, "variants": VARIANTS} | changes


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
    """An inclusive scan."""
    scan = {"variant": variant, "type": type_name, "op": op, "mode": "inclusive", "items": items}
    return scan | {"cache": cache, "launch": launch, "settings": settings}


def results(*entries: dict[str, Any], **about: Any) -> Document:
    """A results file."""
    return {"context": context(**about), "benchmarks": list(entries)}


def samples(number: int, of_case: dict[str, Any], time: float = 1000.0, **changes: Any) -> list:
    """Samples of a case, each a nanosecond after the other."""
    return [repetition(of_case, i, time + i, **changes) for i in range(number)]


def nanoseconds(variant: str, items: int) -> float:
    """The least time of a variant in `timings`."""
    return 3000 + 8 * items / 4250 / SHARES[variant]


def timings(top: int = 11, type_name: str = "i32", **about: Any) -> Document:
    """Six samples of sums of 2^10 to 2^top items of each variant, and a case that was skipped."""
    entries = []
    ways = itertools.product(("cold", "warm"), ("stream", "graph"), range(10, top + 1), SHARES)
    for cache, launch, exponent, id_ in ways:
        own = case(id_, 1 << exponent, cache, type_name, launch=launch)
        entries += samples(6, own, nanoseconds(id_, 1 << exponent))
    refused = {"error_occurred": True, "error_message": "hs_block takes n <= 1024"}
    return results(*entries, repetition(case("hs_block", 4096), 0, 0.0, **refused), **about)


def explanation(items: int) -> Document:
    """The recorded counts of a sum by `hso_block`, as if of so many items and of another run."""
    (file,) = RECORDED.glob("amd-epyc/*/explain.json.gz")
    wanted = {"variant": "hso_block", "type": "i32", "op": "plus", "mode": "inclusive"}
    counted = next(d for d in unpacked(file) if wanted.items() <= d.items())
    return counted | {"git_commit": COMMIT, "git_dirty": False, "items": items}


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
    folder, own = recorded / name, samples(6, case(variant, 1024), time)
    document = results(*own, date=f"{name}T00:00:00", **changes)
    write(folder / "scan.json", document)
    if complete is not None:
        session = {"schema": "scanlab-session/1", "commit": "", "complete": complete}
        session |= {key: document["context"][key] for key in ("device", "date")}
        session |= {"files": [{"file": "scan.json", "kind": "timings"}]}
        write(folder / "session.json", session)
    return folder


def about(**changes: Any) -> Document:
    """The provenance that every document has."""
    run = dict(device="Test Device", date="2026-01-02T03:04:05Z", git_commit=COMMIT)
    return run | dict(git_dirty="false") | changes


def recorded(file: Path) -> Document:
    """A recorded document with this provenance."""
    text = gzip.decompress(file.read_bytes()).decode()
    for key, value in about().items():
        text = re.sub(rf'"{key}": ?"[^"]*"', f'"{key}": "{value}"', text)
    return json.loads(text)


def schedules() -> Document:
    return recorded(SESSION / "schedules.json.gz")


def ranks(*kinds: str) -> dict[str, Document]:
    """Scans over two GPUs by name, of some kinds."""
    files = [file for kind in kinds for file in PAIR.glob(f"ranks_{kind}*.json.gz")]
    return {file.name.partition(".")[0]: recorded(file) for file in files}


def _process(pid: int, kind: str) -> Document:
    args = dict(name=kind, kind=kind)
    return dict(name="process_name", ph="M", pid=pid, tid=0, args=args)


def _event(pid: int, tid: int, ts: float, dur: float, name: str, cat: str, **args: Any) -> Document:
    return dict(name=name, cat=cat, ph="X", pid=pid, tid=tid, ts=ts, dur=dur, args=args)


def trace(**changes: Any) -> Document:
    """A timeline of three chunks whose three engines take turns."""
    events = [_process(1, "streams"), _process(2, "engines")]
    kinds = (("copies in", 1, 300.0), ("kernels", 101, 8.0), ("copies out", 201, 310.0))
    for chunk, (place, (kind, lane, lasts)) in itertools.product(range(3), enumerate(kinds)):
        args = dict(chunk=chunk, stream=f"stream {chunk}", channel=chunk)
        for pid, tid in ((1, chunk + 1), (2, lane)):
            begin = 320.0 * (chunk + place) + 50
            events.append(_event(pid, tid, begin, lasts, f"{kind} {chunk}", kind, **args))
    return dict(schema="scanlab-trace/1", traceEvents=events, otherData=about(**changes))


def scenario(name: str, multiprocessors: int = 0, **changes: Any) -> Document:
    """The same simulated, or three blocks that fill half of the multiprocessors."""
    data = dict(scenario=name, simulated_on="didactic", title=name, fact=f"What {name} shows.")
    data |= dict(schedule="", unit="units", machine="a machine", makespan_us=1600.0) | changes
    document = trace(**data)
    if multiprocessors:
        document["otherData"]["multiprocessors"] = multiprocessors
        document["traceEvents"].append(_process(4, "multiprocessors"))
        args = dict(operation=0, stream="stream 0")
        for lane in range(1, multiprocessors // 2 + 1):
            block = _event(4, lane, 0.0, 1000.0, "side kernel", "kernels", **args)
            document["traceEvents"].append(block)
    return document
