"""Which samples of a file are missing."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping
from typing import Any


def lacking(rounds: Mapping[Any, Collection[int]]) -> str:
    """Which repetitions are missing, by case: each case has all from 0 to its last one; empty if none is missing."""
    gaps = [case for case, of in rounds.items() if len(of) <= max(of)]
    if not gaps:
        return ""
    of, named = rounds[gaps[0]], " ".join(str(part) for part in gaps[0] if part != "")
    first = list(itertools.islice((number for number in itertools.count() if number not in of), min(6, max(of) + 1 - len(of))))
    which = f"{len(gaps)} cases lack repetitions, the first of them {named}" if len(gaps) > 1 else f"repetitions are missing of {named}"
    return f"{which}: round {', '.join(map(str, first[:5]))}{' …' if len(first) > 5 else ''} of 0 to {max(of)}"
