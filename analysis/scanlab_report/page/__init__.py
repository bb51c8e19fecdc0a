"""The report as one HTML page: scans and schedules, to choose from and to hover over.

The page needs no network and no server: data, scripts and the library that draws (vega.js, see
vega.LICENSE) are in it. It divides by bytes and changes units; medians, intervals and ratios come
from `intervals`.
"""

import base64
import gzip
import json
from pathlib import Path

from scanlab_report.data import Data
from scanlab_report.page import views

_SCRIPTS = ("page", "curves", "start")
"""Scripts of the page; joined they are one module."""


def write_page(data: Data, target: Path) -> bool:
    """Write the page. Return False if there are no data."""
    made = {"scans": views.of_scans(data), "schedules": views.of_schedules(data)}
    if not any(made.values()):
        return False
    text = json.dumps(made, separators=(",", ":"), allow_nan=False).encode()
    read = lambda name: (Path(__file__).parent / name).read_text(encoding="utf-8")
    parts = {
        "STYLE": read("page.css"),
        "LICENCE": read("vega.LICENSE"),
        "DATA": base64.b64encode(gzip.compress(text, mtime=0)).decode(),
        "LIBRARY": read("vega.js"),
        "SCRIPT": "\n".join(read(f"{name}.js") for name in _SCRIPTS),
    }
    page = read("page.html")
    for name, part in parts.items():
        page = page.replace(f"<!--{name}-->", part)
    target.write_text(page, encoding="utf-8")
    return True
