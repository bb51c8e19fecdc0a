"""Of what kind a results file is: Scanlab's own, nvbench's, Google Benchmark's, or none of them, and then what it seems to be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scanlab_report.read.fields import Misfit, shown
from scanlab_report.read.foreign import google_benchmark, nvbench
from scanlab_report.read.foreign.cases import Foreign
from scanlab_report.read.json_files import decoded, load
from scanlab_report.read.records import Problem

_READERS = (nvbench, google_benchmark)
_HEAD = 1 << 16
_OWN = (b'"scanlab-', b'"traceEvents"')
"""What stands near the beginning of every document of Scanlab: such a file is not parsed twice."""
_OTHERS = (
    ("results of hyperfine", "results", "command"), ("results of pyperf", "benchmarks", "runs"), ("results of pytest-benchmark", "benchmarks", "stats"),
    ("results of JMH", "", "jmhVersion"), ("nvbench's list of benchmarks, without results", "benchmarks", "axes"),
    ("results in Google Benchmark's format, without a context", "benchmarks", "real_time"),
)  # fmt: skip
"""Documents that are taken for results: what they are, the list that they have, and a key of its entries."""
WANTED = "wanted are results of scanlab (--out), nvbench (--json, --jsonbin) or Google Benchmark (--benchmark_out)"


def read(file: Path, problems: list[Problem]) -> Foreign | None:
    """The results of another program; None of Scanlab's own, which is for others to read, and where there is a problem."""
    before = len(problems)
    document = _document(file, problems)
    if document is None:
        return None
    try:
        for reader in _READERS:
            if isinstance(document, dict) and reader.is_one(document):
                return reader.read(file, document)
    except Misfit as misfit:
        problems.append(Problem(file, misfit.place, misfit.message))
    if len(problems) == before and not _is_own(document):
        problems.append(Problem(file, *_seems(document)))
    return None


def is_foreign(file: Path) -> bool:
    """Whether a file of a folder is another program's results, sound or not."""
    document = _document(file, [])
    return isinstance(document, dict) and any(reader.is_one(document) for reader in _READERS)


def _document(file: Path, problems: list[Problem]) -> Any:
    """What a file says; None if it is Scanlab's own at first sight, or cannot be read."""
    raw = load(file, problems)
    if raw is None or any(word in raw[:_HEAD] for word in _OWN):
        return None
    begins = raw.lstrip()[:1]
    if begins not in (b"{", b"["):
        first = raw[:_HEAD].decode("utf-8", errors="replace").strip().partition("\n")[0]
        what = f"is no JSON, and begins with {shown(first)}" if first else "is empty"
        problems.append(Problem(file, "line 1" if first else "", f"{what}: {WANTED}"))
        return None
    return decoded(file, raw, problems)


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
        seen = ", ".join(list(document)[:5]) or "no key at all"
        return "", f"is JSON of no program that is known here; its keys are {seen}: {WANTED}"
    return "", f"is JSON of no program that is known here, a list of {len(document)}: {WANTED}"
