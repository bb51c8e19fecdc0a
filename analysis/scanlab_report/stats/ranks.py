"""Whether two sets of repetitions differ, by their ranks alone."""

from __future__ import annotations

import numpy as np
from scipy import stats

_EXACT = 100
"""With more samples than this on both sides the normal approximation takes the place of the exact test: it errs by a few percent of a
p near 0.01, and the exact one takes minutes from a few hundred samples on."""
_TIES = 20
"""The same of samples with ties, which the approximation corrects for: a coarse clock makes most of them equal."""


def mann_whitney_p(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """The p of Mann and Whitney's test, of two sides, along the last axis.

    The exact test knows no ties: of few samples they are broken against a difference, by less than any clock resolves.
    """
    pooled = np.sort(np.concatenate([before, after], axis=-1), axis=-1)
    tied = (np.diff(pooled, axis=-1) == 0).any(axis=-1) & (max(before.shape[-1], after.shape[-1]) > _TIES)
    if before.shape[-1] * after.shape[-1] > _EXACT**2 or tied.all():
        return stats.mannwhitneyu(before, after, axis=-1, method="asymptotic").pvalue
    if tied.any():
        return np.where(tied, stats.mannwhitneyu(before, after, axis=-1, method="asymptotic").pvalue, _exact(before, after))
    return _exact(before, after)


def _exact(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    towards = np.sign(np.median(after, axis=-1) - np.median(before, axis=-1))[..., None]
    return stats.mannwhitneyu(before, after * (1 - 1e-12 * towards), axis=-1, method="exact").pvalue
