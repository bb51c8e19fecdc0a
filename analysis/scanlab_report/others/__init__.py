"""Results of other programs, nvbench's JSON and Google Benchmark's, as rows of the table `other`.

A row is a case: a benchmark at one point of its axes, on one device, with its samples, or with what
the file states where it has none. nvbench (`--json`, and the samples that `--jsonbin` writes beside
it, little-endian float32) keeps a summary per tag: of isolated runs on the GPU (`nv/cold`), or of
benchmarks of the CPU alone (`nv/cpu_only`). Numbers are text there, and a list without entries is
null. Google Benchmark (`--benchmark_out`) keeps an entry per repetition: the real time of one
iteration. The arguments stand in its name alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from scanlab_report.data import Complaint
from scanlab_report.others.google_benchmark import google
from scanlab_report.others.nvbench import nvbench
from scanlab_report.schema.fields import shown
from scanlab_report.tables import COLUMNS

NVBENCH, GOOGLE = "nvbench", "Google Benchmark"
MORE_SAMPLES = {
    NVBENCH: "--jsonbin FILE, in the place of --json FILE, makes nvbench keep every sample",
    GOOGLE: "--benchmark_repetitions=10 makes ten samples, and "
    "--benchmark_report_aggregates_only drops them",
}
"""The option of each program that writes what a verdict by medians needs."""
WANTED = (
    "wanted are results of scanlab (--out), nvbench (--json, --jsonbin) or Google Benchmark "
    "(--benchmark_out)"
)
_SEEMS = {
    "command": "results of hyperfine",
    "runs": "results of pyperf",
    "stats": "results of pytest-benchmark",
    "jmhVersion": "results of JMH",
    "states": "results of nvbench without their meta.version",
    "axes": "nvbench's list of benchmarks, without results",
    "real_time": "results in Google Benchmark's format, without their context",
}
"""Documents that are taken for results, by a key of the first entry of their list."""
_CONTEXT = ("library_build_type", "mhz_per_cpu", "num_cpus")
"""Every version of Google Benchmark has one of them in its context."""


class Unknown(Complaint):
    """A file of no known program, and what it seems to be."""


def program(document: Any) -> str:
    """The other program that wrote a document, sound or not; empty if none of the two did."""
    if not isinstance(document, dict) or _is_own(document):
        return ""
    meta, context = document.get("meta"), document.get("context")
    version = meta.get("version") if isinstance(meta, dict) else None
    if isinstance(version, dict) and "nvbench" in version:
        return NVBENCH
    about = isinstance(context, dict) and any(key in context for key in _CONTEXT)
    return GOOGLE if about and "schema" not in document else ""


def _is_own(document: Any) -> bool:
    """Whether a document states a schema of Scanlab, or has entries as its results have."""
    parts = document if isinstance(document, list) else [document]
    for part in (part for part in parts if isinstance(part, dict)):
        entries = part.get("benchmarks")
        entries = entries if isinstance(entries, list) else []
        outcomes = any("outcome" in entry for entry in entries if isinstance(entry, dict))
        schemas = [str(holder.get("schema", "")) for holder in _holders(part)]
        if "traceEvents" in part or outcomes or any(s.startswith("scanlab-") for s in schemas):
            return True
    return False


def _holders(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The objects of a document that may state its schema."""
    return [part for part in (document, document.get("context")) if isinstance(part, dict)]


def unknown(file: Path, document: Any) -> Unknown | None:
    """Return what a document of no known program seems to be; None if its program is known."""
    if program(document) or _is_own(document):
        return None
    lists: dict[str, Any] = document if isinstance(document, dict) else {"": document}
    for key, entries in lists.items():
        first = entries[0] if isinstance(entries, list) and entries else None
        keys = first if isinstance(first, dict) else {}
        if inner := next((inner for inner in _SEEMS if inner in keys), ""):
            return Unknown(file, f"{key}[0].{inner}", f"seems to be {_SEEMS[inner]}: {WANTED}")
    seen = f", {type(document)}"
    if isinstance(document, list):
        seen = f", a list of {len(document)}"
    elif isinstance(document, dict):
        if any("schema" in part for part in _holders(document)):
            return None  # Scanlab's reader states what is wrong with it
        seen = f"; its keys are {', '.join(map(shown, list(document)[:5])) or 'none'}"
    return Unknown(file, "", f"is JSON of no program that is known here{seen}: {WANTED}")


def no_json(file: Path, raw: bytes) -> Unknown | None:
    """A complaint about bytes that do not begin as JSON does."""
    if not raw or raw[:99].lstrip()[:1] in (b"{", b"[", b""):
        return None
    first = raw[:9999].decode("utf-8", errors="replace").strip().partition("\n")[0]
    return Unknown(file, "line 1", f"is no JSON, and begins with {shown(first)}: {WANTED}")


def read(file: Path, document: Mapping[str, Any]) -> tuple[dict[str, Any], pd.DataFrame]:
    """Return the context of a file and its rows of `other`; Misfit if it is no results file. A case
    that does not fit has a reason and no time."""
    by = program(document)
    context, cases = (nvbench if by == NVBENCH else google)(file, document)
    seen: Counter[tuple[str, ...]] = Counter()
    rows = []
    for case in cases:
        named = (case["benchmark"], " ".join(sorted(case["point"].split())), case["device"])
        seen[named] += 1
        again = f" (occurrence {seen[named]})" if seen[named] > 1 else ""
        case |= {f"{name}_ns": 1e9 * case[name] for name in ("median", "mean", "stdev")}
        case |= {"case": (case["point"] + again).strip(), "key": (named[1] + again).strip()}
        rows.append(case | {"samples": 1e9 * case["samples"]})
    return context | {"program": by}, pd.DataFrame(rows, columns=COLUMNS["other"])
