"""DRAM bytes over the bytes of the items."""

from __future__ import annotations

import pandas as pd

from scanlab_report.read.records import ideal_bytes
from scanlab_report.select.evidence import TrafficEvidence


def over_items(traffic: TrafficEvidence) -> pd.DataFrame:
    """``variant``, ``items``, ``read``, ``moved``: DRAM bytes over the bytes of n items, 32-bit sums, default settings."""
    rows = traffic.cases[(traffic.cases["settings"] == "") & (traffic.cases["type"] == "i32") & (traffic.cases["op"] == "plus")]
    rows = rows.drop_duplicates(["variant", "items"], keep="last")
    once = rows["items"].map(lambda n: ideal_bytes("i32", "plus", int(n)) / 2)
    return pd.DataFrame({
        "variant": rows["variant"], "items": rows["items"].astype(int), "read": rows["dram_bytes_read"] / once,
        "moved": (rows["dram_bytes_read"] + rows["dram_bytes_written"]) / once,
    })  # fmt: skip
