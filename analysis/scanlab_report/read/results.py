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

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from scanlab_report.read import entries, google_benchmark, history, ncu, repeats, streams
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
    ListOf,
    check,
    shown,
)
from scanlab_report.read.json_files import load_json
from scanlab_report.read.names import parse_case
from scanlab_report.read.records import (
    KERNEL_FIELDS,
    MEASURED,
    OPTIONAL_COUNTER_COLUMNS,
    RECORDED,
    WAIT_PREFIX,
    Explanation,
    Problem,
    Results,
    Run,
    SessionFile,
    StreamFile,
)
from scanlab_report.read.tables import _COUNTERS, _TRAFFIC, _WAITS, read_table

EXPLAIN_SCHEMA = "scanlab-explain/1"
SESSION_SCHEMA = "scanlab-session/1"


_SCAN_FIELDS = google_benchmark.REPETITION | Fields(dict.fromkeys((f"{name}?" for name in KERNEL_FIELDS), COUNT) | {"prepare_ns?": AMOUNT, "label?": LINE})


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
    if file.name == history.FILE:
        return history.read
    readers = {"bank_conflicts": _read_counters, "dram_bytes": _read_traffic, "prefix_wait": _read_waits}
    if file.suffix == ".csv":
        return next((reader for part, reader in readers.items() if part in file.name), None)
    return _read_repeats if file.name == "repeat.txt" else None


def _read_document(file: Path, origin: str, document: Mapping[str, Any], results: Results) -> None:
    if found := streams.read(document):
        results.problems += [Problem(file, place, message) for place, message in found.wrong]
        if found.kind:
            results.streams.append(StreamFile(Run(file, origin, found.context), found.kind, found.rows))
    elif "benchmarks" in document or _schema(document) in (entries.SCHEMA, entries.OLD_SCHEMA):
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


# --------------------------------------------------------------------------------------------- timings


_TIMINGS = Fields({"context": CONTEXT, "benchmarks": ListOf(OBJECT)})


def _read_timings(file: Path, origin: str, document: Mapping[str, Any], results: Results) -> None:
    if (schema := _schema(document)) not in (entries.SCHEMA, entries.OLD_SCHEMA):
        found = f"its schema is {shown(schema)}" if schema else "it names no schema"
        results.problems.append(Problem(file, "context.schema", f"expected {entries.SCHEMA!r}, but {found}"))
        return
    if misfit := _TIMINGS.misfit(document):
        results.problems.append(Problem(file, *misfit))
        return
    context = document["context"]
    if Run(file, origin, context).kind == "cuda" and not context.get("device"):
        results.problems.append(Problem(file, "context.device", "is missing: times of a GPU say of which"))
        return
    try:
        usual = entries.defaults(context) if schema == entries.SCHEMA else None
    except ValueError as error:
        results.problems.append(Problem(file, "context", str(error)))
        return
    run = len(results.runs)
    results.runs.append(Run(file, origin, context))
    seen: set[tuple[Any, ...]] = set()
    refused = len(results.problems)
    for index, entry in enumerate(document["benchmarks"]):
        _read_repetition(file, origin, run, index, entry, usual, seen, results)
    rounds: dict[tuple[Any, ...], set[int]] = {}
    for named, *repetition in seen:
        rounds.setdefault(named, set()).add(max(repetition))
    if len(results.problems) == refused and (lacking := google_benchmark.lacking(rounds)):
        results.problems.append(Problem(file, "benchmarks", lacking))


def _read_repetition(
    file: Path, origin: str, run: int, index: int, entry: Mapping[str, Any], usual: Mapping[str, Mapping[str, str]] | None, seen: set[tuple[Any, ...]],
    results: Results,
) -> None:  # fmt: skip
    def refuse(message: str) -> None:
        results.problems.append(Problem(file, google_benchmark.place(index, entry), f"refused: {message}"))

    if entry.get("run_type") == "aggregate":
        return None
    try:
        check(entry, google_benchmark.ENTRY)
        case = parse_case(entry.get("run_name") or entry.get("name", "")) if usual is None else entries.scan(entry, usual)
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
        own: dict[str, Any] = {} if usual is None else {"threads": entry.get("threads_per_block", math.nan)}  # Google Benchmark has another field of the name
        numbers = ({**entry, **own}.get(field_, math.nan) for field_ in KERNEL_FIELDS)
        results.kernel_rows[run, *named] = (*numbers, entry.get("label", ""))
    return None


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
    table = read_table(file, origin, results, _COUNTERS, ncu.bank_conflicts, dict.fromkeys(OPTIONAL_COUNTER_COLUMNS, NAME))
    if table is not None:
        results.counter_tables.append(table)


def _read_traffic(file: Path, origin: str, results: Results) -> None:
    table = read_table(file, origin, results, _TRAFFIC, ncu.dram_bytes)
    if table is not None:
        results.traffic_tables.append(table.astype({"settings": object}))


def _read_waits(file: Path, origin: str, results: Results) -> None:
    table = read_table(file, origin, results, _WAITS, None, {"tile": COUNT}, WAIT_PREFIX)
    if table is not None:
        results.wait_tables.append(table)


# --------------------------------------------------------------------------------- bits of repeated runs


def _read_repeats(file: Path, origin: str, results: Results) -> None:
    try:
        table = repeats.read(file.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, ValueError, OSError) as error:
        results.problems.append(Problem(file, "", f"cannot be read as what scanlab verify --repeat prints ({error})"))
        return
    results.repeat_tables.append(table.assign(origin=origin, file=str(file)))
