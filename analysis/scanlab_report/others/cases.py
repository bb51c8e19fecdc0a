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


_NOTHING = {"point": "", "device": "", "gpu": "", "clock": "", "skipped": "", "failed": False}
_NOTHING |= {"count": 0, "misfit": None}
_NOTHING |= dict.fromkeys(("mean", "stdev", "median", "batch"), math.nan)


def new_case(place: str, benchmark: str, **more: Any) -> dict[str, Any]:
    """Return a case without a time yet. Times are in seconds, and NaN if the file does not state
    them. `device` is the number of the GPU, `gpu` its name; `rates` are bytes per second: one per
    sample, or a single value."""
    case = {**_NOTHING, "place": place, "benchmark": benchmark}
    return {**case, "axes": {}, "samples": np.empty(0), "rates": np.empty(0), **more}


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
        runs = runs.assign(untimed=runs["skipped"] != "")
        worst = runs.sort_values(["failed", "untimed"], ascending=False, kind="stable").iloc[0]
        row = worst.to_dict()
        if not row["skipped"]:
            samples = runs["mean_ns"].to_numpy()
            if (runs["samples"].map(len) > 0).all():
                samples = np.concatenate(runs["samples"].tolist())
            whole = sampled(samples / 1e9)
            row |= {f"{name}_ns": 1e9 * whole[name] for name in ("median", "mean", "stdev")}
            rates = np.concatenate(runs["rates"].tolist())
            row |= {"samples": samples, "count": len(samples), "rates": rates}
        rows.append(row)
    return pd.DataFrame(rows)
