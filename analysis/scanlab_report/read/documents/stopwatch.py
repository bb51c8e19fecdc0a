"""What ``scanlab_nvbench --json`` writes: nvbench's own results, behind where they are from."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Struct

from scanlab_report.read.documents.base import Measured, means

SCHEMA = "scanlab-nvbench/1"


class Stopwatch(Struct, kw_only=True, frozen=True):
    """`scanlab_nvbench --json FILE`: sums by scans, and copies, timed by nvbench."""

    context: Measured
    meta: Annotated[dict[str, Any], means("nvbench's: versions and command line")]
    benchmarks: Annotated[list[dict[str, Any]], means("nvbench's; the axes of `inclusive_sum` are `variant`, `type` and `items`")]
    devices: Annotated[list[dict[str, Any]], means("nvbench's")] = []
