"""How much two runs of the same code differ, and the threshold that this puts on a verdict.

The samples of one process agree with each other better than with those of another process: clocks,
aliasing in memory and the host differ, and no interval from within a run knows of it. So code is
run twice and compared with itself; the farthest that an interval of a ratio lay from 1 is the
threshold for others, by how long a case takes, because short ones differ most. The host's processor
has noise apart from the device's. `data/noise/DEVICE.json` keeps such pairs of runs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd

from scanlab_report import DATA
from scanlab_report.data import Complaint
from scanlab_report.reading import load_json
from scanlab_report.schema import kept
from scanlab_report.schema.fields import Misfit, convert
from scanlab_report.written import write

_BANDS = ["under 10 µs", "10 to 100 µs", "100 µs and more"]
FEWEST_CASES = 20
"""A threshold is the largest of at least this many differences. With fewer, that of all times
counts, if they are enough."""
DEFAULT = 0.1
"""The threshold of a kind of timings with too few cases on record, on the device alone. Scans of
10 µs and more lay about as far apart on the devices on record."""

Pairs = Sequence[Mapping[str, Any]]


class NoiseError(ValueError):
    """A file of noise that cannot be used."""


def _rows(pairs: Pairs, kind: str) -> pd.DataFrame:
    rows = [row for pair in pairs if pair["kind"] == kind for row in pair["thresholds"]]
    return pd.DataFrame(rows, columns=["on", "time", "cases", "threshold"])


def _bands(times_us: pd.Series) -> pd.Series:
    """The band of each time, in words."""
    return pd.cut(times_us, [0, 10, 100, np.inf], right=False, labels=_BANDS).astype(str)


def knows(pairs: Pairs, kind: str) -> bool:
    """Whether enough cases of a kind of timings on the device were timed twice."""
    return bool(_rows(pairs, kind).query("on == 'device'")["cases"].sum() >= FEWEST_CASES)


def thresholds(pairs: Pairs, kind: str, cases: pd.DataFrame) -> np.ndarray:
    """Return the ratio beyond 1 that two runs of one code reached, for each case, by `on` and
    `time_us`. NaN if it is not known; on the device at least DEFAULT. It is never less than that of
    longer times: a few short cases show less than short times can differ."""
    rows, sums = _rows(pairs, kind), {"cases": "sum", "threshold": "max"}
    by_time, of_all = rows.groupby(["on", "time"]).agg(sums), rows.groupby("on").agg(sums)
    enough, largest = (
        known.loc[known["cases"] >= FEWEST_CASES, "threshold"].to_dict()
        for known in (by_time, of_all)
    )

    def threshold(on: str, time: str) -> float:
        if (on, time) in enough:
            return max(enough.get((on, longer), 0.0) for longer in _BANDS[_BANDS.index(time) :])
        if on in largest or on != "device":
            return largest.get(on, np.nan)
        return max(DEFAULT, of_all["threshold"].get(on, 0.0))

    keys = zip(cases["on"], _bands(cases["time_us"]), strict=True)
    return np.array([threshold(*key) for key in keys], dtype=float)


def read(devices: Sequence[str], folder: Path = DATA / "noise") -> list[Pairs]:
    """Return the pairs of each device, an empty list if none is on record."""
    known = dict(map(_read, sorted(folder.glob("*.json"))))
    return [known.get(device, []) for device in devices]


def _read(file: Path) -> tuple[str, list[Mapping[str, Any]]]:
    problems: list[Complaint] = []
    content = load_json(file, problems)
    try:
        noise = convert(content, kept.Noise)
    except Misfit as misfit:
        raise NoiseError(*problems or [Complaint(file, misfit.place, misfit.message)]) from None
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
        raise NoiseError(f"{file}: is of {known}, and the runs are of {device}")
    pairs = [old for old in pairs if (old["a"], old["b"]) != (new["a"], new["b"])]
    lines = ",\n".join(json.dumps(pair, ensure_ascii=False) for pair in [*pairs, new])
    head = f'{{"schema": {json.dumps(kept.NOISE)}, "device": {json.dumps(device)}, "pairs": ['
    write(file, f"{head}\n{lines}\n]}}\n")
