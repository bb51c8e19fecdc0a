"""How much two runs of the same code differ, and the threshold that this puts on a verdict.

Samples of one process agree better than those of two, and no interval from within a run knows of
it. So code is run twice and compared with itself: the farthest that the interval of a ratio lay
from 1 is the threshold, by how long a case takes. `data/noise/DEVICE.json` keeps such pairs.
"""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd

from scanlab_report import DATA
from scanlab_report.console import Refused
from scanlab_report.reading import decoded, load_bytes
from scanlab_report.schema import NAMES
from scanlab_report.schema.documents import Noise
from scanlab_report.schema.fields import Misfit, convert
from scanlab_report.written import write

_BANDS = ["under 10 µs", "10 to 100 µs", "100 µs and more"]
FEWEST_CASES = 20
"""A threshold is the largest of at least so many differences, else that of all times."""
DEFAULT = 0.1
"""The threshold of timings on the device with too few cases on record."""


def _bands(times_us: pd.Series) -> pd.Series:
    """The band of each time, in words."""
    return pd.cut(times_us, [0, 10, 100, np.inf], right=False, labels=_BANDS).astype(str)


def knows(pairs: pd.DataFrame, kind: str) -> bool:
    """Whether enough cases of a kind of timings on the device were timed twice."""
    rows = pairs[(pairs["kind"] == kind) & (pairs["on"] == "device")]
    return bool(rows["cases"].sum() >= FEWEST_CASES)


def thresholds(pairs: pd.DataFrame, kind: str, cases: pd.DataFrame) -> np.ndarray:
    """The ratio beyond 1 that two runs of one code reached, at least that of longer times."""
    sums, rows = {"cases": "sum", "threshold": "max"}, pairs[pairs["kind"] == kind]
    by_time, of_all = rows.groupby(["on", "time"]).agg(sums), rows.groupby("on").agg(sums)
    enough = lambda known: known["threshold"].where(known["cases"] >= FEWEST_CASES).astype(float)
    usual = enough(of_all).reindex(["device", "host"])
    least = max(DEFAULT, of_all["threshold"].get("device", 0.0))
    usual["device"] = least if np.isnan(usual["device"]) else usual["device"]
    longest_first = enough(by_time).unstack("on").reindex(_BANDS[::-1], columns=usual.index)
    known = longest_first.cummax().fillna(usual)
    keys = zip(_bands(cases["time_us"]), cases["on"], strict=True)
    return np.array([known.at[key] for key in keys], dtype=float)


def read(devices: Sequence[str], folder: Path = DATA / "noise") -> list[pd.DataFrame]:
    """Return the thresholds on record of each device, one row per pair, `on` and `time`."""
    known = dict(map(_read, sorted(folder.glob("*.json"))))
    return [
        pd.DataFrame(
            [
                row | {"kind": pair["kind"], "a": pair["a"]["file"]}
                for pair in known.get(device, ())
                for row in pair["thresholds"]
            ],
            columns=["kind", "a", "on", "time", "cases", "threshold"],
        )
        for device in devices
    ]


def _read(file: Path) -> tuple[str, list[Mapping[str, Any]]]:
    try:
        noise = convert(decoded(load_bytes(file)), Noise)
    except Misfit as misfit:
        raise Refused(f"{file}: {misfit}") from None
    return noise.device, msgspec.to_builtins(noise.pairs)


def pair(
    kind: str, which: str, a: Mapping[str, str], b: Mapping[str, str], cases: pd.DataFrame
) -> dict[str, Any]:
    """Return the entry of a comparison of one code with itself. `which`: the cases covered."""
    beyond = (np.maximum(cases["low"], 1 / cases["high"]) - 1).clip(lower=0)
    rows = [  # rounded up: the pair stays within
        {"on": on, "time": time, "cases": len(v), "threshold": math.ceil(1e5 * v.max()) / 1e5}
        for (on, time), v in beyond.groupby([cases["on"], _bands(cases["time_us"])])
    ]
    return {"kind": kind, "of": which, "a": dict(a), "b": dict(b), "thresholds": rows}


def add(file: Path, device: str, new: Mapping[str, Any]) -> None:
    """Add a pair to a device's file, in the place of an older one of the same two runs."""
    known, pairs = _read(file) if file.exists() else (device, [])
    if known != device:
        raise Refused(f"{file}: is of {known}, and the runs are of {device}")
    pairs = [old for old in pairs if (old["a"], old["b"]) != (new["a"], new["b"])]
    lines = ",\n".join(json.dumps(pair, ensure_ascii=False) for pair in [*pairs, new])
    head = f'{{"schema": {json.dumps(NAMES[Noise])}, "device": {json.dumps(device)}, "pairs": ['
    write(file, f"{head}\n{lines}\n]}}\n")
