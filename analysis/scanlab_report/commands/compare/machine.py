"""What the machine did in two runs: how much longer or shorter code took that is the same in both.

Two hosts of one GPU launch kernels at different rates, and provenance need not tell them apart: in a cloud all have one name and
one processor. Code that no commit of Scanlab changes does: memcpy, CUB, Thrust, the standard library's scans. What
it did is held against every case that is timed in the same way and takes about as long *a launch*: a scan of ten launches, 3 µs
each, waits for the host as an empty kernel does; one that takes 30 µs in a single launch does not.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from scanlab_report.read.records import Run
from scanlab_report.read.variants import Variants, Wanted
from scanlab_report.select.variants import CEILING, CUBS, HOST, THRUST, VENDOR

_CUDA = ("device", "driver", "toolkit")
_SAME: dict[Wanted, tuple[str, ...]] = {
    CEILING: _CUDA, CUBS: (*_CUDA, "cccl_newest"), VENDOR: (*_CUDA, "cccl"), THRUST: (*_CUDA, "cccl"), HOST: ("cpu", "compiler", "tbb"),
}  # fmt: skip
"""Baselines that are not Scanlab's own code, and what must agree in two runs for theirs to be the same: what is said later goes before."""
_NEAR = 1.25
"""Times a launch that are within this factor of each other are about as long."""


def unchanged(a: Run, b: Run, about: Variants, variants: pd.Series) -> pd.Series:
    """Whether each variant's code is surely the same in both runs, and the machine of the same model."""
    keys_of = {variant: keys for wanted, keys in _SAME.items() for variant in about.ids(wanted)}
    same = [variant for variant, keys in keys_of.items() if all(_agree(a, b, key) for key in keys)]
    return variants.isin(same)


def _agree(a: Run, b: Run, key: str) -> bool:
    """What neither file says is not known to be the same."""
    return key in a.context and a.context[key] == b.context.get(key)


def beside(cases: pd.DataFrame) -> pd.DataFrame:
    """For each case the ``least``, ``median`` and ``most`` ratio of unchanged code that is timed likewise and takes about as long a launch.

    ``cases`` have ``on``, ``column``, ``launch_us``, ``ratio`` and ``unchanged``; NaN where there is no such code.
    """
    found = np.full((len(cases), 3), np.nan)
    for places in cases.groupby(["on", "column"]).indices.values():
        of = cases.iloc[places]
        known = of[of["unchanged"]].sort_values("launch_us")
        ratios = known["ratio"].to_numpy()
        starts = np.searchsorted(known["launch_us"], of["launch_us"] / _NEAR)
        ends = np.searchsorted(known["launch_us"], of["launch_us"] * _NEAR, side="right")
        for place, start, end in zip(places, starts, ends, strict=True):
            if start < end:
                near = np.sort(ratios[start:end])
                found[place] = near[0], near[[(len(near) - 1) // 2, len(near) // 2]].mean(), near[-1]
    return pd.DataFrame(found, columns=["least", "median", "most"], index=cases.index)
