"""Small grids side by side, in units of one block."""

from __future__ import annotations

import pandas as pd

from scanlab_report.stats.intervals import median_interval


def in_block_times(rows: pd.DataFrame) -> pd.DataFrame:
    """The cases with ``total`` blocks and the times in units of one block's: ``measured`` with ``low`` and ``high``, ``predicted``, ``serial``."""
    medians = [median_interval(times) for times in rows["makespan_seconds"]]
    return rows.assign(
        total=rows["streams"] * rows["kernels"] * rows["blocks"],
        measured=[of.value for of in medians] / rows["block_seconds"],
        low=[of.low for of in medians] / rows["block_seconds"],
        high=[of.high for of in medians] / rows["block_seconds"],
        predicted=rows["predicted_seconds"] / rows["block_seconds"],
        serial=rows["serial_seconds"] / rows["block_seconds"],
    )
