"""The report as one HTML page: scans and schedules, to choose from and to hover over.

The page needs no network and no server: data, scripts and the library that draws (vega.js, see
vega.LICENSE) are in it. It divides by bytes and changes units; medians, intervals and ratios come
from `intervals`.
"""

import base64
import gzip
import json
from pathlib import Path
from typing import Any

from scanlab_report.data import Data

_HERE = Path(__file__).parent
_SCRIPTS = ("page", "curves", "start")
"""Scripts of the page; joined they are one module."""


def write_page(data: Data, target: Path) -> bool:
    """Write the page. Return False if there are no data."""
    from scanlab_report.page import scans, schedules

    views = {"scans": scans.views(data), "schedules": schedules.views(data)}
    if any(views.values()):
        target.write_text(document(views), encoding="utf-8")
    return any(views.values())


def document(views: dict[str, list[dict[str, Any]]]) -> str:
    """The page with the data of its views in it."""
    text = json.dumps(views, separators=(",", ":"), allow_nan=False).encode()
    parts = {
        "STYLE": _text("page.css"),
        "LICENCE": _text("vega.LICENSE"),
        "DATA": base64.b64encode(gzip.compress(text, mtime=0)).decode(),
        "LIBRARY": _text("vega.js"),
        "SCRIPT": "\n".join(_text(f"{name}.js") for name in _SCRIPTS),
    }
    page = _text("page.html")
    for name, part in parts.items():
        page = page.replace(f"<!--{name}-->", part)
    return page


def _text(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")
