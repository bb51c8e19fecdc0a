"""Many tests at once, of which some come out small by chance."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


def corrected(p: ArrayLike) -> np.ndarray:
    """The p of each test for how many there are, by Benjamini and Hochberg (1995): of those below a level, at most that share is chance."""
    return np.asarray(stats.false_discovery_control(p))
