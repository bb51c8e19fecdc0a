"""Of what kind a results file is: Scanlab's own, nvbench's, Google Benchmark's, or none of them, and then what it seems to be."""

from __future__ import annotations

import gzip
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from scanlab_report.schema.fields import Misfit, shown
from scanlab_report.foreign import google_benchmark, nvbench
from scanlab_report.foreign.cases import Foreign
from scanlab_report.read.json_files import OWN, load_json
from scanlab_report.read.records import Complaint
from scanlab_report.read.results import reader_by_name

_READERS = (nvbench, google_benchmark)
_HEAD = 1 << 16
_OTHERS = (
    ("results of hyperfine", "results", "command"), ("results of pyperf", "benchmarks", "runs"), ("results of pytest-benchmark", "benchmarks", "stats"),
    ("results of JMH", "", "jmhVersion"),
    ("results of nvbench without their meta.version", "benchmarks", "states"), ("nvbench's list of benchmarks, without results", "benchmarks", "axes"),
    ("results in Google Benchmark's format, without their context", "benchmarks", "real_time"),
)  # fmt: skip
"""Documents that are taken for results: what they are, the list that they have, and a key of its first entry."""
WANTED = "wanted are results of scanlab (--out), nvbench (--json, --jsonbin) or Google Benchmark (--benchmark_out)"


class Misread(Complaint):
    """What is wrong with another program's results, or with a file that is of none of the kinds: nothing that Scanlab's reader would say."""


class Unknown(Misread):
    """A file that is of none of the kinds, and what it seems to be."""


def read(file: Path, problems: list[Complaint]) -> Foreign | None:
    """The results of another program; None of Scanlab's own, which is for others to read, and where there is a problem."""
    head = _head(file)
    if OWN in head:
        return None  # such a file is not parsed twice
    if head and head.lstrip()[:1] not in (b"{", b"["):
        first = head.decode("utf-8", errors="replace").strip().partition("\n")[0]
        problems.append(Unknown(file, "line 1", f"is no JSON, and begins with {shown(first)}: {WANTED}"))
        return None
    before = len(problems)
    document = load_json(file, problems)
    if len(problems) > before:
        return None
    try:
        for reader in _READERS:
            if isinstance(document, dict) and reader.is_one(document):
                return reader.read(file, document)
    except Misfit as misfit:
        problems.append(Misread(file, misfit.place, misfit.message))
        return None
    if not _is_own(document):
        problems.append(Unknown(file, *_seems(document)))
    return None


def sorted_out(paths: Iterable[Path]) -> tuple[list[Foreign], list[Path], list[Complaint]]:
    """What files and folders hold: other programs' results; the files that are Scanlab's own; and what is wrong.

    A file that is named must be of a known kind. In a folder there may be any, and those of no known kind are passed over.
    """
    foreign: list[Foreign] = []
    own: list[Path] = []
    problems: list[Complaint] = []
    for path in paths:
        for file in [path] if path.is_file() else sorted(of for of in path.rglob("*.json*") if of.name.endswith((".json", ".json.gz")) and of.is_file()):
            wrong: list[Complaint] = []
            found = None if reader_by_name(file) else read(file, wrong)
            problems += [of for of in wrong if file == path or not isinstance(of, Unknown)]
            if found:
                foreign.append(found)
            elif not wrong:
                own.append(file)
    return foreign, own, problems


def _head(file: Path) -> bytes:
    """How a file begins; empty if it cannot be read, which who reads all of it says."""
    try:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as stream:
            return stream.read(_HEAD).removeprefix(BOM_UTF8)
    except (OSError, EOFError, zlib.error):
        return b""


def _is_own(document: Any) -> bool:
    """Whether a document says that it is Scanlab's, or has entries as its results have: Scanlab's reader says what is wrong with it."""
    for of in document if isinstance(document, list) else [document]:
        if not isinstance(of, dict):
            continue
        context, entries = of.get("context"), of.get("benchmarks")
        if "traceEvents" in of or any(isinstance(inside, dict) and "schema" in inside for inside in (of, context)):
            return True
        if isinstance(entries, list) and any(isinstance(entry, dict) and "outcome" in entry for entry in entries):
            return True
    return False


def _seems(document: Any) -> tuple[str, str]:
    """What a document seems to be, and where that was seen."""
    for what, key, inner in _OTHERS:
        entries = document.get(key) if isinstance(document, dict) and key else document if not key else None
        first = entries[0] if isinstance(entries, list) and entries else None
        if isinstance(first, dict) and inner in first:
            return f"{key}[0].{inner}", f"seems to be {what}: {WANTED}"
    if isinstance(document, dict):
        seen = ", ".join(shown(key) for key in list(document)[:5]) or "none"
        return "", f"is JSON of no program that is known here; its keys are {seen}: {WANTED}"
    return "", f"is JSON of no program that is known here, a list of {len(document)}: {WANTED}"
