"""Sentences of the pages on devices: which are recorded, and what one without bulk copies can have of the papers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from scanlab_report import DATA, figures, tables
from scanlab_report.claims import stated
from scanlab_report.documents import typesetting
from scanlab_report.modules import modules
from scanlab_report.read.published import Publication
from scanlab_report.read.records import Results
from scanlab_report.select.needs import gather

NEWER = "compute capability 9.0 and later"
"""The words in a variant's limits that name a device it needs."""
_SHOWN = re.compile(r"\\scan(?:wide|page)?(?:figure|table)(?:\[\w+\])?\{(\w+)\}")
_HOST_KINDS = {"timings", "counts"}
"""Kinds of file that a session without a GPU has."""


def recorded(folder: Path = DATA / "recorded") -> str:
    """Which devices the recorded sessions are of, with the numbers of GPUs, and of which the claims are."""
    gpus: dict[str, set[int]] = {}
    for file in sorted(folder.glob("*/*/session.json")):
        session = json.loads(file.read_text(encoding="utf-8"))
        if {of["kind"] for of in session["files"]} - _HOST_KINDS:
            gpus.setdefault(session["device"], set()).add(session.get("gpus", 1))
    first = stated.device()
    named = [f"{device} ({_listed(map(str, sorted(gpus[device])))} GPU{'s' * (max(gpus[device]) > 1)})" for device in sorted(gpus, key=lambda of: (of != first, of))]
    return f"Recorded GPU times are of {_listed(named)}. Claims, papers and generated pages are of {first} unless they name another device. No other GPU is recorded."


@dataclass(frozen=True)
class Everything:
    """All results, and the published tables beside them."""

    measured_by: ClassVar[tuple[str, ...]] = ()

    def find(self, results: Results, published: dict[str, Publication]) -> tuple[Results, dict[str, Publication]] | None:
        return None if results.empty else (results, published)

    def asked(self) -> str:
        return "results"


NEEDS = {"everything": Everything()}


def of_older(everything: tuple[Results, dict[str, Publication]]) -> str:
    """Which figures and tables of the papers have no data where everything is refused that needs compute capability 9.0."""
    results, published = everything
    older, refused = without_newer(results)
    lacking = [name for name, module in _shown().items() if not _reasons(module, results, published) and _reasons(module, older, published)]
    return (f"Below compute capability 9.0, these figures and tables of the papers have no data: {_listed(map(_code, lacking))}. The others lack "
            f"{_listed(map(_code, refused))} alone.")  # fmt: skip


def without_newer(results: Results) -> tuple[Results, list[str]]:
    """The results as if no variant or algorithm had run that needs compute capability 9.0; and which need it."""
    limits = {id_: about.limits for id_, about in results.variants.items()}
    for of in results.streams:
        limits |= {id_: about.get("limits", "") for id_, about in of.run.context.get("algorithms", {}).items()}
    refused = sorted(id_ for id_, text in limits.items() if NEWER in text.split("; "))
    part = results.of_runs(lambda run: True)
    part.streams = [replace(of, rows=of.rows[~of.rows["algorithm"].isin(refused)]) if "algorithm" in of.rows else of for of in results.streams]
    part.named, part.every, part.settings, part.devices, part.verifications = results.named, results.every, results.settings, results.devices, results.verifications
    for name in ("timings", "kernels", "skipped", "counters", "traffic", "waits", "repeats"):
        table = getattr(part if name in ("timings", "kernels", "skipped") else results, name)
        setattr(part, name, table[~table["variant"].isin(refused)])
    return part, refused


def _shown() -> Mapping[str, Any]:
    """The figures and tables of the papers by name, in the order of the text."""
    known = {name: module for package in (figures, tables) for name, module in modules(package)}
    text = "".join(typesetting.source_text(paper) for paper in typesetting.PAPERS)
    return {name: known[name] for name in dict.fromkeys(_SHOWN.findall(text)) if name in known}


def _reasons(module: Any, results: Results, published: dict[str, Publication]) -> bool:
    return bool(gather(module.NEEDS, results, published, getattr(module, "lacks", None)).reasons)


def _code(name: str) -> str:
    return f"`{name}`"


def _listed(names: Any) -> str:
    *before, last = [*names] or ["none"]
    return f"{', '.join(before)} and {last}" if before else last
