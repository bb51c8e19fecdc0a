"""Output of ``scanlab_nvbench --json``: nvbench's own results, behind their provenance."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Struct

from scanlab_report.schema.base import Measured, means

SCHEMA = "scanlab-nvbench/1"


class Stopwatch(Struct, kw_only=True, frozen=True):
    """Output of `scanlab_nvbench --json FILE`: scans (sums) and copies, timed by nvbench."""

    context: Measured
    meta: Annotated[dict[str, Any], means("versions and command line of nvbench")]
    benchmarks: Annotated[
        list[dict[str, Any]],
        means("nvbench's own; the axes of `inclusive_sum` are `variant`, `type` and `items`"),
    ]
    devices: Annotated[list[dict[str, Any]], means("nvbench's own")] = []
