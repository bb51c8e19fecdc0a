"""The report as one HTML page: the same data as the figures, to choose from, to hover over and to zoom into.

The page needs no network and no server: data, drawing code and the library that draws (vega.js, see vega.LICENSE) are in
it. Every median, interval and ratio in it comes from :mod:`scanlab_report.stats.intervals` by way of the needs of the figures; the
page itself divides by bytes and changes units, nothing more.
"""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

from scanlab_report.page import claims, implicit_sync, scans, schedules, sessions, several_gpus, timelines
from scanlab_report.read.published import Publication
from scanlab_report.read.records import Results

_HERE = Path(__file__).parent
_SCRIPTS = ("page.js", "scans.js", "several_gpus.js", "schedules.js", "timelines.js", "sessions.js", "answers.js", "start.js")
"""One module when they stand behind each other."""


def write_page(results: Results, published: dict[str, Publication], target: Path) -> list[Path]:
    """Writes the page, and returns what was written: nothing without data."""
    views = {"scans": scans.views(results, published), "schedules": schedules.views(results, published),
             "several_gpus": several_gpus.views(results, published), "timelines": timelines.views(results), "sessions": sessions.views(results, published)}  # fmt: skip
    if not any(views.values()):
        return []
    views |= {"claims": claims.views(results, published), "implicit_sync": implicit_sync.views(results, published)}
    target.write_text(document(views), encoding="utf-8")
    return [target]


def document(views: dict[str, list[dict[str, Any]]]) -> str:
    """The page with the data of its views in it."""
    parts = {
        "STYLE": _text("page.css"),
        "LICENCE": _text("vega.LICENSE"),
        "DATA": base64.b64encode(gzip.compress(json.dumps(views, separators=(",", ":")).encode(), mtime=0)).decode(),
        "LIBRARY": _text("vega.js"),
        "SCRIPT": "\n".join(_text(name) for name in _SCRIPTS),
    }
    page = _text("page.html")
    for name, text in parts.items():
        page = page.replace(f"<!--{name}-->", text)
    return page


def _text(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")
