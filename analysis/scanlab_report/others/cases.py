"""Cases of other programs: names, times, samples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from scanlab_report.schema.fields import REMEDY, Misfit

NO_TIME = "the file has no time of it"


def new_case(place: str, benchmark: str, **more: Any) -> dict[str, Any]:
    """Return a case without a time yet. Times are in seconds, and NaN if the file does not state
    them; `rate` is in bytes per second. `device` is the number of the GPU, `gpu` its name."""
    case: dict[str, Any] = {"place": place, "benchmark": benchmark, "skipped": "", "failed": False}
    case |= dict.fromkeys(("case", "device", "gpu"), "") | {"axes": {}, "misfit": None}
    case |= dict.fromkeys(("mean", "stdev", "median", "batch", "rate"), math.nan)
    return case | {"samples": np.empty(0), "count": 0} | more


def one_line(text: str) -> str:
    """Text of a user on one line, without control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def unusable(place: str, error: ValueError) -> dict[str, Any]:
    """The part of a case that cannot be used. The whole file need not be made again for it."""
    misfit = error if isinstance(error, Misfit) else Misfit(place, str(error))
    reason = f"{misfit.place} {misfit.message.removesuffix(f': {REMEDY}')}"
    return {"skipped": one_line(reason), "misfit": misfit}


def checked_time(seconds: float, place: str) -> float:
    """A time that can be meant; else Misfit. Beyond, the arithmetic would overflow."""
    if not 1e-15 <= seconds <= 1e9:  # so is NaN
        raise Misfit(place, f"is {seconds:g} s, no time that a run takes")
    return seconds


def sampled(samples: np.ndarray, place: str) -> dict[str, Any]:
    """The part of a case that follows from its samples; Misfit if one is no time."""
    for end in (samples.min(), samples.max()):
        checked_time(float(end), place)
    stdev = float(np.std(samples, ddof=1)) if len(samples) > 1 else math.nan
    about = {"mean": float(np.mean(samples)), "median": float(np.median(samples))}
    return {"samples": samples, "count": len(samples), "stdev": stdev} | about
