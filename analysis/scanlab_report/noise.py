"""How much two runs of the same code differ, and the threshold that this puts on a verdict.

The repetitions of one process agree with each other better than with those of another process: clocks, aliasing in memory
and the host differ from one to the next, and no interval from within a run knows of it. So code is run twice and compared
with itself; the farthest that an interval of a ratio lay from 1 is the threshold for others, by how long a case takes,
because short ones differ most. What ran on the host's processor is apart from what ran on the device.

``data/noise/DEVICE.json``, schema ``scanlab-noise/1``, keeps such pairs of runs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd

from scanlab_report import DATA
from scanlab_report.schema import kept, versions

from scanlab_report.schema.fields import Misfit, convert
from scanlab_report.load import load_json
from scanlab_report.data import Complaint
from scanlab_report.written import write

SCHEMA = kept.NOISE
FOLDER = DATA / "noise"
BANDS_US = (10.0, 100.0)
"""Where a short run becomes a longer one, in microseconds."""
_BANDS = (f"under {BANDS_US[0]:g} µs", f"{BANDS_US[0]:g} to {BANDS_US[1]:g} µs", f"{BANDS_US[1]:g} µs and more")
FEWEST_CASES = 20
"""A threshold is the largest of so many differences at least; where there are fewer, that of all times counts, if they are enough."""
DEFAULT = 0.1
"""The threshold of a kind of timings that two runs of one code are on record for in fewer cases than that: about the farthest that scans of 10 µs and
more lay apart on the devices that are. It is for what ran on the device; a host's processor may be anything.
"""


class NoiseError(ValueError):
    """A file of noise that cannot be used."""


@dataclass(frozen=True)
class Noise:
    """Pairs of runs of one code on one device, and what kept the two apart."""

    device: str
    pairs: list[Mapping[str, Any]]

    def knows(self, kind: str) -> bool:
        """Whether enough cases of one code timed twice are on record for a kind of timings, on the device."""
        return self._of(kind).query("on == 'device'")["cases"].sum() >= FEWEST_CASES

    def thresholds(self, kind: str, cases: pd.DataFrame) -> np.ndarray:
        """For each case by ``on`` and ``time_us``: the ratio beyond 1 that two runs of one code reached; NaN where it is not known.

        On the device it is at least ``DEFAULT`` where that is not known.
        """
        of = self._of(kind)
        by_time = of.groupby(["on", "time"]).agg({"cases": "sum", "threshold": "max"})
        of_all = of.groupby("on").agg({"cases": "sum", "threshold": "max"})
        enough, largest = (known.loc[known["cases"] >= FEWEST_CASES, "threshold"].to_dict() for known in (by_time, of_all))

        def threshold(on: str, time: str) -> float:
            """Never less than that of longer times: few short cases on record show less than short times can differ."""
            if (on, time) in enough:
                return max(enough.get((on, longer), 0.0) for longer in _BANDS[_BANDS.index(time) :])
            if on in largest or on != "device":
                return largest.get(on, np.nan)
            return max(DEFAULT, of_all["threshold"].get(on, 0.0))

        return np.array([threshold(*key) for key in zip(cases["on"], bands(cases["time_us"]), strict=True)], dtype=float)

    def _of(self, kind: str) -> pd.DataFrame:
        rows = [row for pair in self.pairs if pair["kind"] == kind for row in pair["thresholds"]]
        return pd.DataFrame(rows, columns=["on", "time", "cases", "threshold"])


def bands(times_us: pd.Series) -> list[str]:
    """The band that each time is in, in words."""
    return [_BANDS[i] for i in np.searchsorted(BANDS_US, times_us, side="right")]


def pair(kind: str, of: str, a: Mapping[str, str], b: Mapping[str, str], cases: pd.DataFrame) -> dict[str, Any]:
    """What a comparison of one code with itself says of noise; ``of``: which cases, with ``on``, ``time_us``, ``low``, ``high``."""
    beyond = np.maximum(np.maximum(cases["low"], 1 / cases["high"]) - 1, 0)
    grouped = beyond.groupby([cases["on"], pd.Series(bands(cases["time_us"]), index=cases.index)])
    rows = [{"on": on, "time": time, "cases": len(values), "threshold": math.ceil(1e5 * values.max()) / 1e5}
            for (on, time), values in grouped]  # rounded up: the pair itself stays within
    return {"kind": kind, "of": of, "a": dict(a), "b": dict(b), "thresholds": rows}


def read(devices: Iterable[str], folder: Path = FOLDER) -> list[Noise]:
    """The noise of each device, without pairs where none is on record."""
    found = {noise.device: noise for noise in map(_read, sorted(folder.glob("*.json")))}
    return [found.get(device, Noise(device, [])) for device in devices]


def add(file: Path, device: str, new: Mapping[str, Any]) -> None:
    """Adds a pair to a device's file, in the place of an older one of the same two runs."""
    noise = _read(file) if file.exists() else Noise(device, [])
    if noise.device != device:
        raise NoiseError(f"{file}: is of {noise.device}, and the runs are of {device}")
    kept = [old for old in noise.pairs if (old["kind"], old["a"], old["b"]) != (new["kind"], new["a"], new["b"])]
    write(file, json.dumps({"schema": SCHEMA, "device": device, "pairs": [*kept, new]}, indent=1, ensure_ascii=False) + "\n")


def _read(file: Path) -> Noise:
    problems: list[Complaint] = []
    content = load_json(file, problems)
    if problems:
        raise NoiseError(problems[0])
    try:
        versions.check_schema(content, kept.NOISE)
        read = convert(content, kept.Noise)
    except Misfit as misfit:
        raise NoiseError(Complaint(file, misfit.place, misfit.message)) from None
    return Noise(read.device, [msgspec.to_builtins(pair) for pair in read.pairs])
