"""Reading and checking what the harness wrote.

Each kind of file is read by its own function and nowhere else:

* scan timings: Google Benchmark JSON with Scanlab's provenance in its context;
* the stream laboratory: schedules, traces, caveats, concurrency, scans larger than the device (:mod:`scanlab_report.read.streams`);
* executor counts: JSON of schema ``scanlab-explain/1``;
* hardware counters: tidy CSV, one row a kernel launch;
* waits within a kernel: CSV, one row a variant, size and role;
* bits of repeated runs: what ``scanlab verify --repeat`` printed.

Whatever is wrong with a file or an entry becomes a :class:`Problem` that names the place; reading goes on.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import re
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pandas as pd

from scanlab_report.read import google_benchmark, ncu, repeats, streams
from scanlab_report.read.fields import (
    AMOUNT,
    CONTEXT,
    COUNT,
    DATE,
    DIRTY,
    FLAG,
    LINE,
    NAME,
    NULL,
    OBJECT,
    REMEDY,
    TEXT,
    Fields,
    Form,
    ListOf,
    Misfit,
    check,
    shown,
    whole,
)

RESULTS_SCHEMA = "scanlab-results/1"
EXPLAIN_SCHEMA = "scanlab-explain/1"
SESSION_SCHEMA = "scanlab-session/1"

MEASURED = "measured now"
RECORDED = "recorded"

CASE = ["variant", "settings", "type", "op", "mode", "items", "cache", "launch"]
"""The columns that name a case; rows that agree in them are repetitions of one measurement."""

SCANS = "scans"
REPEATED = {SCANS: CASE, streams.SCHEDULES: ["entry", *streams.SCHEDULE, "bytes"], streams.STREAM_SCAN: streams.SCAN}
"""The kinds of file that hold repeated timings, and the columns that name a case in each."""

ELEMENT_BYTES = {"i8": 1, "i16": 2, "f16": 2, "i32": 4, "f32": 4, "i64": 8, "f64": 8}
STREAM = "stream"
"""How runs are launched where a name does not say."""

_NAME_KEYS = ("variant", "type", "op", "mode", "items", "cache")
_GOOGLE_KEYS = {"iterations", "repeats", "min_time", "min_warmup_time"}
_TIMING_COLUMNS = ["run", *CASE, "round", "time_ns", "sm_clock_mhz", "settled"]
_KERNEL_FIELDS = ("launches", "threads", "registers", "shared_bytes", "local_bytes", "workspace_bytes", "prepare_ns")
"""What an entry says of its scan besides the time; the same in every repetition, but for ``prepare_ns``."""
_SCAN_FIELDS = google_benchmark.REPETITION | Fields(dict.fromkeys((f"{name}?" for name in _KERNEL_FIELDS), COUNT) | {"prepare_ns?": AMOUNT, "label?": LINE})
_KERNEL_COLUMNS = ["origin", "run", *CASE, *_KERNEL_FIELDS, "label"]
_SKIPPED_COLUMNS = ["origin", "run", *CASE, "reason"]

COUNTER_COLUMNS = [
    "variant", "padding", "type", "op", "items", "kernel", "launch_index",
    "shared_load_wavefronts", "shared_store_wavefronts", "shared_load_conflicts", "shared_store_conflicts",
]  # fmt: skip
OPTIONAL_COUNTER_COLUMNS = ["mode", "load"]
"""Where a counter file has these, they too must agree with the executor's case."""

TRAFFIC_COLUMNS = ["variant", "settings", "type", "op", "mode", "items", "kernel", "launch_index", *ncu.DRAM_METRICS.values()]
WAIT_COLUMNS = ["variant", "items", "type", "role", "cycles_total"]
WAIT_PREFIX = "cycles_waiting_"
"""Columns of waits that begin so are parts of ``cycles_total``; what is left is work."""
_COUNTERS, _TRAFFIC, _WAITS = (
    {column: forms.get(column, COUNT) for column in columns}
    for columns, forms in ((COUNTER_COLUMNS, dict.fromkeys(("variant", "padding", "type", "op", "kernel"), NAME)),
                           (TRAFFIC_COLUMNS, dict.fromkeys(("variant", "type", "op", "mode", "kernel"), NAME) | {"settings": TEXT}),
                           (WAIT_COLUMNS, dict.fromkeys(("variant", "type", "role"), NAME)))
)  # fmt: skip
"""What the columns of each table hold."""


@dataclass(frozen=True)
class Problem:
    """Something wrong with the input: which file, where in it, and what."""

    file: Path
    place: str
    message: str

    def __str__(self) -> str:
        where = f"{self.file}: {self.place}" if self.place else str(self.file)
        return f"{where}: {self.message}"


@dataclass(frozen=True)
class Run:
    """The provenance of one file of timings."""

    file: Path
    origin: str
    context: Mapping[str, Any]

    @property
    def kind(self) -> str:
        return str(self.context.get("kind", "cuda"))

    @property
    def device(self) -> str:
        return str(self.context.get("device") or self.context.get("cpu") or "unnamed device")

    @property
    def host(self) -> str:
        """The processor that the CPU baselines ran on."""
        cores = self.context.get("cores") or self.context.get("num_cpus")
        return str(self.context.get("cpu", "unnamed CPU")) + (f", {cores} cores" if cores else "")

    @property
    def date(self) -> str:
        return str(self.context.get("date", ""))

    @property
    def commit(self) -> str:
        return _commit(self.context)

    @property
    def dirty(self) -> bool:
        return _dirty(self.context)


def _commit(provenance: Mapping[str, Any]) -> str:
    commit = str(provenance.get("git_commit", ""))
    return "" if commit == "unknown" else commit


def _dirty(provenance: Mapping[str, Any]) -> bool:
    return str(provenance.get("git_dirty", "false")).lower() in ("true", "1")


@dataclass(frozen=True)
class Explanation:
    """What the CPU executor counted for one variant at one size."""

    file: Path
    origin: str
    content: Mapping[str, Any]

    @property
    def variant(self) -> str:
        return str(self.content["variant"])

    @property
    def base(self) -> str:
        """The variant without its padding: ``hso_block`` for ``hso_block_padded`` too."""
        return self.variant.removesuffix("_padded")

    @property
    def items(self) -> int:
        return int(self.content["items"])

    @property
    def type(self) -> str:
        return str(self.content["type"])

    @property
    def op(self) -> str:
        return str(self.content["op"])

    @property
    def mode(self) -> str:
        return str(self.content["mode"])

    @property
    def padding(self) -> str:
        return str(self.content.get("parameters", {}).get("padding", "none"))

    @property
    def load(self) -> str:
        return str(self.content.get("parameters", {}).get("load", ""))

    @property
    def date(self) -> str:
        return str(self.content.get("date", ""))

    @property
    def commit(self) -> str:
        return _commit(self.content)

    @property
    def dirty(self) -> bool:
        return _dirty(self.content)

    @property
    def totals(self) -> Mapping[str, Any]:
        return self.content["totals"]

    @property
    def closed_forms(self) -> Mapping[str, Any]:
        return self.content.get("closed_forms") or {}

    @property
    def faults(self) -> list[Mapping[str, Any]]:
        return list(self.content.get("faults") or [])

    def tree_steps(self) -> Iterator[Mapping[str, Any]]:
        """The steps of the first launch that climb or descend the tree."""
        for step in self.content["launches"][0]["steps"]:
            if step["label"].startswith(("up-sweep", "down-sweep")):
                yield step


@dataclass(frozen=True)
class StreamFile:
    """One file of the stream laboratory: its provenance, its kind (see :mod:`scanlab_report.read.streams`) and its rows."""

    run: Run
    kind: str
    rows: pd.DataFrame


@dataclass(frozen=True)
class SessionFile:
    """A ``session.json``: of which device and day a session is, whether it has all that a report needs, and its files."""

    file: Path
    device: str
    date: str
    complete: bool
    files: tuple[Path, ...]


@dataclass
class Results:
    """Everything that was read, and everything that was wrong with it."""

    runs: list[Run] = field(default_factory=list)
    explanations: list[Explanation] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    timing_rows: list[tuple[Any, ...]] = field(default_factory=list)
    kernel_rows: dict[tuple[Any, ...], tuple[Any, ...]] = field(default_factory=dict)
    skipped_rows: list[dict[str, Any]] = field(default_factory=list)
    counter_tables: list[pd.DataFrame] = field(default_factory=list)
    traffic_tables: list[pd.DataFrame] = field(default_factory=list)
    wait_tables: list[pd.DataFrame] = field(default_factory=list)
    repeat_tables: list[pd.DataFrame] = field(default_factory=list)
    streams: list[StreamFile] = field(default_factory=list)
    sessions: list[SessionFile] = field(default_factory=list)
    every: Results | None = None
    """The results of all sessions, where these are of a chosen one."""
    first: str = ""
    """The device that comes before others of the same origin: the one that the report is about."""
    found: dict[Any, Any] = field(default_factory=dict)
    """Evidence that was gathered before, by its need: many figures need the same."""

    @cached_property
    def timings(self) -> pd.DataFrame:
        """One row a repetition: the case, ``round``, ``time_ns`` (nanoseconds a run), ``run`` (index into ``runs``), and
        ``sm_clock_mhz`` while it ran, NaN where it was not read, and ``settled``, NaN where the file does not say.
        """
        return pd.DataFrame(self.timing_rows, columns=_TIMING_COLUMNS)

    @cached_property
    def kernels(self) -> pd.DataFrame:
        """One row a case and run: what its kernels take, and ``label``, what the scan says that it chose."""
        rows = [(self.runs[key[0]].origin, *key, *values) for key, values in self.kernel_rows.items()]
        return pd.DataFrame(rows, columns=_KERNEL_COLUMNS)

    @cached_property
    def skipped(self) -> pd.DataFrame:
        """One row a case that was not timed, with the harness's reason."""
        return pd.DataFrame(self.skipped_rows, columns=_SKIPPED_COLUMNS).drop_duplicates(ignore_index=True)

    @cached_property
    def counters(self) -> pd.DataFrame:
        """One row a kernel launch: shared-memory wavefronts and bank conflicts as the hardware counted them."""
        return _joined(self.counter_tables, COUNTER_COLUMNS)

    @cached_property
    def traffic(self) -> pd.DataFrame:
        """One row a kernel launch: bytes that passed between L2 and DRAM, as the hardware counted them."""
        return _joined(self.traffic_tables, TRAFFIC_COLUMNS)

    @cached_property
    def waits(self) -> pd.DataFrame:
        """One row a variant, size and role of a warp: cycles in all, and cycles spent waiting for what."""
        return _joined(self.wait_tables, WAIT_COLUMNS)

    @cached_property
    def repeats(self) -> pd.DataFrame:
        """One row a variant, type, operator and mode that ran many times on the same input: whether its bits varied."""
        return _joined(self.repeat_tables, repeats.COLUMNS)

    @cached_property
    def devices(self) -> list[str]:
        """The GPUs that something was measured on, in the order of :func:`ranked`."""
        return ranked(self._on_gpus, self.first)

    @cached_property
    def _on_gpus(self) -> list[Run]:
        runs = [*self.runs, *(file.run for file in self.streams if file.kind != streams.SIMULATION)]
        return [run for run in runs if run.kind == "cuda"]

    def on(self, device: str) -> Results:
        """These results as if there were no other GPU. Scans that CPUs timed, the executor's counts and simulations stay."""
        if self.devices in ([], [device]):
            return self
        if ("on", device) not in self.found:
            kept = [place for place, run in enumerate(self.runs) if run.kind != "cuda" or run.device == device]
            part = Results(self.runs, self.explanations, self.problems, first=self.first, every=self.every and self.every.on(device))
            part.streams = [file for file in self.streams if file.kind == streams.SIMULATION or file.run.device == device]
            for name in ("timings", "kernels", "skipped"):
                table = getattr(self, name)
                setattr(part, name, table[table["run"].isin(kept)])
            for name in ("counters", "traffic", "waits", "repeats"):
                table = getattr(self, name)
                origins = dict(zip(table["file"], table["origin"], strict=True))
                files = [file for file, origin in origins.items() if (run := self.beside(file, origin)) and run.device == device]
                setattr(part, name, table[table["file"].isin(files)])
            part.devices = [device]
            self.found["on", device] = part
        return self.found["on", device]

    def beside(self, file: str, origin: str) -> Run | None:
        """The run that a file without provenance belongs to: the one in its folder, or else the first of its origin."""
        runs = [run for run in self._on_gpus if run.origin == origin]
        return next((run for run in runs if run.file.parent == Path(file).parent), runs[0] if runs else None)


def ranked(runs: Iterable[Run], first: str = "") -> list[str]:
    """The devices of some runs: GPUs before CPUs, measured now before recorded, the one that is to be ``first``, the last measured."""
    rank: dict[str, tuple[bool, bool, bool, str]] = {}
    for run in runs:
        of = (run.kind == "cuda", run.origin == MEASURED, run.device == first, run.date)
        rank[run.device] = max(rank.get(run.device, of), of)
    return sorted(rank, key=rank.__getitem__, reverse=True)


class Repeated(NamedTuple):
    """The repeated timings of one file, one row a repetition; a row's case is named by the columns that ``REPEATED`` has for the kind."""

    run: Run
    kind: str
    timings: pd.DataFrame


def repeated(results: Results) -> list[Repeated]:
    """Every file with repeated timings, without schedules that are wrong on purpose: they are not timed for their speed."""
    files = [Repeated(run, SCANS, results.timings[results.timings["run"] == place]) for place, run in enumerate(results.runs)]
    for of in results.streams:
        if of.kind in REPEATED:
            files.append(Repeated(of.run, of.kind, of.rows[of.rows["control"] == 0] if "control" in of.rows else of.rows))
    return [file for file in files if len(file.timings)]


def _joined(tables: list[pd.DataFrame], columns: Iterable[str]) -> pd.DataFrame:
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=[*columns, "origin", "file"])


def ideal_bytes(type_name: str, op: str, items: int) -> int:
    """Bytes that a scan must move at least: every item read once and written once.

    Items of the ``affine`` operator are pairs of the element type.
    """
    return 2 * items * ELEMENT_BYTES[type_name] * (2 if op == "affine" else 1)


def read(measured: Iterable[Path], recorded: Iterable[Path], first: str = "") -> Results:
    """Reads every results file below the given folders (a path may also be one file)."""
    results = Results(first=first)
    for origin, paths in ((MEASURED, measured), (RECORDED, recorded)):
        for path in paths:
            for file in _files_below(path):
                _read_file(file, origin, results)
    return results


def files(paths: Iterable[Path]) -> list[Path]:
    """What :func:`read` would read of them."""
    return [file for path in paths for file in _files_below(path)]


def _files_below(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return sorted(p for p in path.rglob("*") if (_table_reader(p) or p.name.endswith((".json", ".json.gz"))) and p.is_file())


def _read_file(file: Path, origin: str, results: Results) -> None:
    if read_table := _table_reader(file):
        return read_table(file, origin, results)
    if file.suffix in (".csv", ".txt"):
        return None
    loaded = load_json(file, results.problems)
    documents = loaded if isinstance(loaded, list) else [loaded]  # explain prints several cases as a list
    first = _device(documents[0]) if documents else None
    for number, document in enumerate(documents):
        if (device := _device(document)) != first:
            message = f"it is {shown(device)}, and that of the first document {shown(first)}: one device a file"
            results.problems.append(Problem(file, f"[{number}].context.device", message))
        elif isinstance(document, dict):
            _read_document(file, origin, document, results)
    return None


def _device(document: Any) -> Any:
    context = document.get("context") if isinstance(document, dict) else None
    return context.get("device") if isinstance(context, dict) else None


def _table_reader(file: Path) -> Callable[[Path, str, Results], None] | None:
    """What reads a file that is not JSON, by its name."""
    readers = {"bank_conflicts": _read_counters, "dram_bytes": _read_traffic, "prefix_wait": _read_waits}
    if file.suffix == ".csv":
        return next((reader for part, reader in readers.items() if part in file.name), None)
    return _read_repeats if file.name == "repeat.txt" else None


def _read_document(file: Path, origin: str, document: Mapping[str, Any], results: Results) -> None:
    if found := streams.read(document):
        results.problems += [Problem(file, place, message) for place, message in found.wrong]
        if found.kind:
            results.streams.append(StreamFile(Run(file, origin, found.context), found.kind, found.rows))
    elif "benchmarks" in document or _schema(document) == RESULTS_SCHEMA:
        _read_timings(file, origin, document, results)
    elif str(document.get("schema", "")).startswith(SESSION_SCHEMA.partition("/")[0]):
        _read_session(file, document, results)
    elif str(document.get("schema", "")).startswith(EXPLAIN_SCHEMA.partition("/")[0]):
        _read_explanation(file, origin, document, results)


def _schema(document: Mapping[str, Any]) -> Any:
    """What timings of scans say that they are."""
    context = document.get("context")
    return context.get("schema") if isinstance(context, dict) else None


# ------------------------------------------------------------------------------------------------ JSON


def load_json(file: Path, problems: list[Problem]) -> Any:
    """The content of a JSON file, plain or .gz; None, and a problem with its place, if it cannot be read."""
    try:
        raw = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    except (EOFError, zlib.error) as error:
        problems.append(Problem(file, "", f"is truncated or damaged ({error})"))
        return None
    except OSError as error:
        problems.append(Problem(file, "", f"cannot be read: {error.strerror or error}"))
        return None
    try:
        text = raw.decode("utf-8")
        found = _loaded(text)
        if half := _half_of_a_pair(found) if _HALF.search(raw) else None:
            problems.append(Problem(file, *half))
            return None
        return found
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - (raw.rfind(b"\n", 0, error.start) + 1) + 1
        problems.append(Problem(file, _position(line, column, error.start), "is not UTF-8 text"))
    except json.JSONDecodeError as error:
        byte = len(text[: error.pos].encode("utf-8"))
        cut = "is truncated or" if error.pos >= len(text.rstrip()) or "Unterminated" in error.msg else "is"
        problems.append(
            Problem(file, _position(error.lineno, error.colno, byte), f"{cut} not JSON ({error.msg})")
        )
    except RecursionError:
        problems.append(Problem(file, "", "is nested too deeply to be a results file"))
    return None


def _loaded(text: str) -> Any:
    """What Python takes for too long a number is read as the double that it is to other programs, so that the field is named."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except ValueError:
        return json.loads(text, parse_int=float)


_HALF = re.compile(rb"\\u[dD][89a-fA-F]")


def _half_of_a_pair(value: Any) -> Misfit | None:
    """The first text that holds half of a surrogate pair, which no encoding of files can say."""
    if isinstance(value, str):
        return None if value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value) else Misfit(
            "", f"is {ascii(value)[:60]}, half of a surrogate pair, which is no text: {REMEDY}")  # fmt: skip
    inner = [(f"[{index}]", of) for index, of in enumerate(value)] if isinstance(value, list) else []
    if isinstance(value, dict):
        inner = [(ascii(key)[1:-1], part) for key, of in value.items() for part in (key, of)]
    return next((found.within(at) for at, of in inner if (found := _half_of_a_pair(of))), None)


def _position(line: int, column: int, byte: int) -> str:
    return f"line {line}, column {column}, byte {byte}"


# --------------------------------------------------------------------------------------------- timings


_TIMINGS = Fields({"context": CONTEXT, "benchmarks": ListOf(OBJECT)})


def _read_timings(file: Path, origin: str, document: Mapping[str, Any], results: Results) -> None:
    if (schema := _schema(document)) != RESULTS_SCHEMA:
        found = f"its schema is {shown(schema)}" if schema else "it names no schema"
        results.problems.append(Problem(file, "context.schema", f"expected {RESULTS_SCHEMA!r}, but {found}"))
        return
    if misfit := _TIMINGS.misfit(document):
        results.problems.append(Problem(file, *misfit))
        return
    context = document["context"]
    if Run(file, origin, context).kind == "cuda" and not context.get("device"):
        results.problems.append(Problem(file, "context.device", "is missing: times of a GPU say of which"))
        return
    run = len(results.runs)
    results.runs.append(Run(file, origin, context))
    seen: set[tuple[Any, ...]] = set()
    refused = len(results.problems)
    for index, entry in enumerate(document["benchmarks"]):
        _read_repetition(file, origin, run, index, entry, seen, results)
    rounds: dict[tuple[Any, ...], set[int]] = {}
    for named, *repetition in seen:
        rounds.setdefault(named, set()).add(max(repetition))
    if len(results.problems) == refused and (lacking := google_benchmark.lacking(rounds)):
        results.problems.append(Problem(file, "benchmarks", lacking))


def _read_repetition(
    file: Path, origin: str, run: int, index: int, entry: Mapping[str, Any], seen: set[tuple[Any, ...]], results: Results
) -> None:
    def refuse(message: str) -> None:
        results.problems.append(Problem(file, google_benchmark.place(index, entry), f"refused: {message}"))

    if entry.get("run_type") == "aggregate":
        return None
    try:
        check(entry, google_benchmark.ENTRY)
        case = parse_case(entry.get("run_name") or entry.get("name", ""))
        if reason := google_benchmark.skip_reason(entry):
            results.skipped_rows.append({"origin": origin, "run": run, **case, "reason": reason})
            return None
        google_benchmark.same_device(entry, results.runs[run].context)
        google_benchmark.verified(entry)
        check(entry, _SCAN_FIELDS)
        time_ns = google_benchmark.time_ns(entry)
    except ValueError as error:
        return refuse(str(error))
    repetition = google_benchmark.rounds(entry)
    named = tuple(case.values())
    identity = (named, *repetition)
    if identity in seen:
        return refuse(f"round {repetition[0]}, repetition {repetition[1]} of this case was already read")
    seen.add(identity)
    results.timing_rows.append((run, *named, max(repetition), time_ns, google_benchmark.clock_mhz(entry), google_benchmark.settled(entry)))
    if (run, *named) not in results.kernel_rows:
        numbers = (entry.get(field_, math.nan) for field_ in _KERNEL_FIELDS)
        results.kernel_rows[run, *named] = (*numbers, entry.get("label", ""))
    return None


@lru_cache(maxsize=1 << 16)
def parse_case(name: str) -> dict[str, Any]:
    """Splits ``scan/variant:ID/type:T/…`` into its parts; further ``key:value`` parts become ``settings``."""
    head, *parts = name.split("/")
    if head != "scan":
        raise ValueError("its name does not begin with 'scan/'")
    values = dict(part.split(":", 1) for part in parts if ":" in part)
    if missing := [key for key in (*_NAME_KEYS, *values) if not values.get(key)]:
        raise ValueError(f"its name lacks {', '.join(missing)}")
    if values["type"] not in ELEMENT_BYTES:
        raise ValueError(f"unknown type {shown(values['type'])}, expected one of {', '.join(ELEMENT_BYTES)}")
    others = {k: v for k, v in values.items() if k not in (*_NAME_KEYS, "launch") and k not in _GOOGLE_KEYS}
    return {
        "variant": values["variant"],
        "settings": " ".join(f"{key}={value}" for key, value in sorted(others.items())),
        "type": values["type"],
        "op": values["op"],
        "mode": values["mode"],
        "items": whole(values["items"], "items"),
        "cache": values["cache"],
        "launch": values.get("launch", STREAM),
    }


# -------------------------------------------------------------------------------------------- sessions


def _read_session(file: Path, document: Mapping[str, Any], results: Results) -> None:
    if document["schema"] != SESSION_SCHEMA:
        results.problems.append(Problem(file, "schema", f"expected {SESSION_SCHEMA!r}, but it is {shown(document['schema'])}"))
        return
    if misfit := _SESSION.misfit(document):
        results.problems.append(Problem(file, *misfit))
        return
    files = tuple((file.parent / of["file"]).resolve() for of in document["files"])
    for index, of in enumerate(files):
        if not of.is_file():
            results.problems.append(Problem(file, f"files[{index}].file", f"is {shown(document['files'][index]['file'])}, and there is no such file: {REMEDY}"))
    results.sessions.append(SessionFile(file, document["device"], document["date"], bool(document["complete"]), files))


_SESSION = Fields({"device": NAME, "date": DATE, "commit": LINE, "complete": FLAG, "files": ListOf(Fields({"file": NAME, "kind": NAME}), least=1)})


# ------------------------------------------------------------------------------------- executor counts


def _read_explanation(file: Path, origin: str, document: Mapping[str, Any], results: Results) -> None:
    schema = document.get("schema")
    if schema != EXPLAIN_SCHEMA:
        results.problems.append(Problem(file, "schema", f"expected {EXPLAIN_SCHEMA!r}, but it is {shown(schema)}"))
        return
    if misfit := _EXPLANATION.misfit(document):
        results.problems.append(Problem(file, *misfit))
        return
    results.explanations.append(Explanation(file, origin, document))


_DEGREES = Fields({"max_degree": COUNT, "mean_degree": AMOUNT, "transactions": COUNT, "groups?": COUNT})
_OF_BANKS = {"banks16": _DEGREES, "banks32": _DEGREES}
_COUNTED = ("operations", "swaps", "barriers", "global_bytes_read", "global_bytes_written", "shared_requests")
_EXPLANATION = Fields({
    "variant": NAME, "type": NAME, "op": NAME, "mode": NAME, "items": COUNT, "date?": DATE, "git_commit?": LINE, "git_dirty?": DIRTY, "parameters?": Fields({"*": LINE}),
    "launches": ListOf(Fields({"steps": ListOf(Fields({"label": LINE, "shared": Fields(_OF_BANKS)}))}), least=1),
    "totals": Fields({"launches?": COUNT, **dict.fromkeys(_COUNTED, COUNT), **_OF_BANKS}),
    "closed_forms?": Fields({"operations?": COUNT | NULL, "swaps?": COUNT | NULL}),
    "faults?": ListOf(Fields({"kind?": TEXT, "where?": TEXT})),
})  # fmt: skip


# ------------------------------------------------------------------------------------ hardware counters


def _read_counters(file: Path, origin: str, results: Results) -> None:
    table = _read_table(file, origin, results, _COUNTERS, ncu.bank_conflicts, dict.fromkeys(OPTIONAL_COUNTER_COLUMNS, NAME))
    if table is not None:
        results.counter_tables.append(table)


def _read_traffic(file: Path, origin: str, results: Results) -> None:
    table = _read_table(file, origin, results, _TRAFFIC, ncu.dram_bytes)
    if table is not None:
        results.traffic_tables.append(table.astype({"settings": object}))


def _read_waits(file: Path, origin: str, results: Results) -> None:
    table = _read_table(file, origin, results, _WAITS, None, {"tile": COUNT}, WAIT_PREFIX)
    if table is not None:
        results.wait_tables.append(table)


def _read_table(
    file: Path, origin: str, results: Results, columns: Mapping[str, Form],
    from_ncu: Callable[[str], pd.DataFrame] | None, optional: Mapping[str, Form] = MappingProxyType({}), further: str = "",
) -> pd.DataFrame | None:  # fmt: skip
    """A CSV with some columns, or a report of ncu that becomes one; rows with impossible values are left out and said.

    ``further``: columns whose names begin so are kept too, as counts.
    """
    try:
        text = file.read_text(encoding="utf-8")
        table = from_ncu(text) if from_ncu and ncu.is_ncu(text) else read_csv(text)
    except (ValueError, csv.Error, OSError) as error:
        results.problems.append(Problem(file, "", f"cannot be read as counters ({error})"))
        return None
    if missing := [column for column in columns if column not in table]:
        results.problems.append(Problem(file, "line 1", f"lacks the columns {', '.join(missing)}"))
        return None
    more = {column: COUNT for column in table if further and column.startswith(further)}
    kept = {**columns, **{column: form for column, form in optional.items() if column in table}, **more}
    table, wrong = checked(table[list(kept)], kept)
    results.problems += [Problem(file, *of) for of in wrong]
    return table.assign(origin=origin, file=str(file))


def read_csv(text: str) -> pd.DataFrame:
    """A table whose values are all text; ValueError if a row has more of them than there are columns, or it is no table."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # of longer rows: else the first columns would be taken for names of rows
            return pd.read_csv(io.StringIO(text), comment="#", index_col=False, dtype=str, keep_default_na=False).fillna("")
    except (pd.errors.ParserWarning, pd.errors.EmptyDataError) as error:
        raise ValueError(str(error)) from None


def checked(table: pd.DataFrame, forms: Mapping[str, Form]) -> tuple[pd.DataFrame, list[tuple[str, str]]]:
    """The rows whose values fit, numbers as such; and of what does not fit the place, and what is wrong."""
    wrong = []
    for column, form in forms.items():
        values = table[column] if form in (NAME, TEXT) else pd.to_numeric(table[column], errors="coerce").astype(float)
        fits = values.map(form.fits).astype(bool)
        for row in table.index[~fits]:
            wrong.append((f"row {row + 1} after the header", f"refused: {column} is {shown(table.at[row, column])[1:-1] or 'empty'}, not {form.what}: {REMEDY}"))
        table = table[fits].assign(**{column: values[fits].astype("int64") if form is COUNT else values[fits]})
    return table, wrong


# --------------------------------------------------------------------------------- bits of repeated runs


def _read_repeats(file: Path, origin: str, results: Results) -> None:
    try:
        table = repeats.read(file.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, ValueError, OSError) as error:
        results.problems.append(Problem(file, "", f"cannot be read as what scanlab verify --repeat prints ({error})"))
        return
    results.repeat_tables.append(table.assign(origin=origin, file=str(file)))
