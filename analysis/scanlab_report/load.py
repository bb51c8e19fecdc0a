"""Reads the files that the programs write, checks them at the door, and makes tables of them.

The structs of `schema` say what a document may hold. Whatever does not fit becomes a `Complaint`
with its file and place, and reading goes on.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from scanlab_report import load_documents, load_others, load_samples, others
from scanlab_report.data import Data
from scanlab_report.reader import Reader
from scanlab_report.reading import HISTORY, JSON, LINES, decoded, load_bytes
from scanlab_report.schema import counts, kept, results, timelines
from scanlab_report.schema.fields import Misfit, convert, shown
from scanlab_report.schema.versions import schema_of
from scanlab_report.tables import MEASURED, RECORDED

MODEL = "model"
"""Folder of a session with traces that the engine model is compared with; no figure shows them."""


def load(measured: Iterable[Path], recorded: Iterable[Path] = (), first: str = "") -> Data:
    """Read every results file below some folders (a path may be a file), each once."""
    reader = Reader(first)
    collects = gc.isenabled()
    gc.disable()  # none of the millions of values that are made here is garbage
    try:
        for origin, paths in ((MEASURED, [*measured]), (RECORDED, [*recorded])):
            files: dict[Path, Path] = {}
            for file in (file for path in paths for file in _files_below(path)):
                files.setdefault(file.resolve(), file)
            named = {path.resolve() for path in paths}
            for whole, file in files.items():
                read_file(reader, file, origin, whole in named)
    finally:
        if collects:
            gc.enable()
    return reader.finish()


def _files_below(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return sorted(
        p
        for p in path.rglob("*")
        if _is_results(p) and p.is_file() and MODEL not in p.relative_to(path).parts
    )


def _is_results(file: Path) -> bool:
    return file.name.endswith((*JSON, *LINES)) or file.name == HISTORY or bool(_csv_table(file))


def _csv_table(file: Path) -> str:
    """The table that a CSV holds, by its name; empty if it holds none."""
    tables = {"bank_conflicts": "counters", "dram_bytes": "traffic", "prefix_wait": "waits"}
    named = (table for part, table in tables.items() if part in file.name)
    return next(named, "") if file.suffix == ".csv" else ""


def read_file(reader: Reader, file: Path, origin: str, named: bool) -> None:
    """Read a file. A file that a user named must be of a known program."""
    try:
        if file.name == HISTORY:
            load_others.history(reader, file, origin)
        elif table := _csv_table(file):
            load_others.csv_table(reader, table, file, origin)
        elif file.name.endswith(LINES):
            load_others.verification(reader, file, origin)
        elif named or file.suffix not in (".csv", ".txt"):
            _json(reader, file, origin, named)
    except Misfit as misfit:
        reader.complain(file, misfit.place, misfit.message)


def _json(reader: Reader, file: Path, origin: str, named: bool) -> None:
    raw = load_bytes(file, reader.data.problems)
    wrong = named and raw is not None and others.no_json(file, raw)
    if wrong or raw is None:
        reader.data.problems += [wrong] if wrong else []
        return
    before = len(reader.data.problems)
    content = decoded(file, raw, reader.data.problems)
    if len(reader.data.problems) > before:
        return
    if named and (stranger := others.unknown(file, content)):
        reader.data.problems.append(stranger)
        return
    documents = content if isinstance(content, list) else [content]  # `explain` writes a list
    first = _device(documents[0]) if documents else None
    for number, document in enumerate(documents):
        if (device := _device(document)) != first:
            message = f"it is {shown(device)}, and that of the first document {shown(first)}"
            reader.complain(file, f"[{number}].context.device", f"{message}: one device a file")
        elif isinstance(document, dict):
            try:
                _document(reader, file, origin, document)
            except Misfit as misfit:
                reader.complain(file, misfit.place, misfit.message)


def _document(reader: Reader, file: Path, origin: str, document: Mapping[str, Any]) -> None:
    if others.program(document):
        context, rows = others.read(file, document)
        reader.add_rows("other", reader.add_file(file, origin, context), rows)
    elif (schema := schema_of(document)) in load_documents.EXPERIMENTS:
        load_documents.experiments(reader, file, origin, document, schema)
    elif schema == results.RANGES:
        convert(document, results.Ranges)
    elif schema in _READERS:
        _READERS[schema](reader, file, origin, document)


def _device(document: Any) -> Any:
    context = document.get("context") if isinstance(document, dict) else None
    return context.get("device") if isinstance(context, dict) else None


_READERS: dict[str, Callable[..., None]] = {
    results.SCHEMA: load_samples.read_samples,
    timelines.TRACE: load_documents.trace,
    timelines.RANKS_TRACE: load_documents.ranks_trace,
    results.STOPWATCH: load_documents.stopwatch_times,
    kept.SESSION: load_documents.session,
    counts.SCHEMA: load_documents.count,
}
"""For each schema: what reads it."""
