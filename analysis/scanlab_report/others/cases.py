"""Cases of other programs: names, times, samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from scanlab_report.schema.fields import REMEDY, Misfit

SHORTEST, LONGEST = 1e-15, 1e9
"""In seconds: no run takes a time beyond, and the arithmetic would overflow."""


def new_case(place: str, benchmark: str, point: str = "", **more: Any) -> dict[str, Any]:
    """Return a case without a time yet. Times are in seconds, and NaN if the file does not state
    them. `device` is the number of the GPU, `gpu` its name; `rates` are bytes per second: one per
    sample, or a single value."""
    return {
        "place": place,
        "benchmark": benchmark,
        "point": point,
        "device": "",
        "gpu": "",
        "axes": {},
        "clock": "",
        "samples": np.empty(0),
        "count": 0,
        "mean": math.nan,
        "stdev": math.nan,
        "median": math.nan,
        "batch": math.nan,
        "rates": np.empty(0),
        "skipped": "",
        "failed": False,
        "misfit": None,
        **more,
    }


def one_line(text: str) -> str:
    """Text of a user on one line, without control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def reason_of(text: str) -> str:
    return one_line(text) or "skipped, and the file does not say why"


def unusable(misfit: Misfit) -> str:
    """The place and the fault; making the whole file again is not needed for one case."""
    return one_line(f"{misfit.place} {misfit.message.removesuffix(f': {REMEDY}')}")


def checked_time(seconds: float, place: str) -> float:
    """A time that can be meant; else Misfit."""
    if not SHORTEST <= seconds <= LONGEST:  # so is NaN
        raise Misfit(place, f"is {seconds:g} s, no time that a run takes: {REMEDY}")
    return seconds


def sampled(samples: np.ndarray, places: Sequence[str] = ()) -> dict[str, Any]:
    """The part of a case that follows from its samples; `places` are theirs."""
    for wrong in np.flatnonzero(~((samples >= SHORTEST) & (samples <= LONGEST)))[:1]:
        checked_time(float(samples[wrong]), places[wrong])
    stdev = float(np.std(samples, ddof=1)) if len(samples) > 1 else math.nan
    return {
        "samples": samples,
        "count": len(samples),
        "mean": float(np.mean(samples)),
        "stdev": stdev,
        "median": float(np.median(samples)),
    }


# ------------------------------------------------------------------------- cases of several files


def without_numbers(tables: list[pd.DataFrame]) -> list[pd.DataFrame]:
    """Return the same cases, without the numbers of GPUs if no file has more than one GPU. The
    number is then only the slot of the GPU, and cases of two slots are the same case."""
    one_each = all(len(set(table["device"]) - {""}) < 2 for table in tables)
    apart = all(not table.duplicated(["benchmark", "key"]).any() for table in tables)
    return [table.assign(device="") for table in tables] if one_each and apart else tables


def pooled(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Merge repeated runs. The samples of all runs of a case are its samples; if a run has none,
    the means of the runs are. A case without a time in any run has no time."""
    if len(tables) == 1:
        return tables[0]
    rows = []
    for _, runs in pd.concat(tables).groupby(["benchmark", "key", "device"], sort=False):
        first = (
            runs.sort_values(
                ["failed", "skipped"],
                key=lambda column: column.astype(bool),
                ascending=False,
                kind="stable",
            )
            .iloc[0]
            .to_dict()
        )
        if not first["skipped"]:
            all_sampled = (runs["samples"].map(len) > 0).all()
            samples = (
                np.concatenate(runs["samples"].tolist())
                if all_sampled
                else runs["mean_ns"].to_numpy()
            )
            of_all = sampled(samples / 1e9)
            first |= {f"{name}_ns": 1e9 * of_all[name] for name in ("median", "mean", "stdev")}
            first |= {
                "samples": samples,
                "count": len(samples),
                "rates": np.concatenate(runs["rates"].tolist()),
            }
        rows.append(first)
    return pd.DataFrame(rows)
