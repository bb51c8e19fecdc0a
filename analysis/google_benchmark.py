"""One repetition as Google Benchmark writes it: its time, its numbers, and why it was skipped."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

_NANOSECONDS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


def skip_reason(entry: Mapping[str, Any]) -> str:
    """Why the harness did not time this case; empty if it did (both spellings of Google Benchmark are known)."""
    if not entry.get("error_occurred") and not entry.get("skipped"):
        return ""
    return str(entry.get("skip_message") or entry.get("error_message") or "no reason given")


def time_ns(entry: Mapping[str, Any]) -> float:
    """The time of one run in nanoseconds; ValueError says what is wrong with it."""
    value = entry.get("real_time")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"real_time is {value!r}, not a number")
    if not math.isfinite(value):
        raise ValueError(f"real_time is {value}")
    if value <= 0:
        raise ValueError(f"real_time is {value}, which is not a positive time")
    unit = entry.get("time_unit", "ns")
    if unit not in _NANOSECONDS:
        raise ValueError(f"unknown time_unit {unit!r}, expected one of {', '.join(_NANOSECONDS)}")
    return float(value) * _NANOSECONDS[unit]


def settled(entry: Mapping[str, Any]) -> float:
    """1 if the median of the case is known well enough by then, 0 if not; NaN if the harness does not say."""
    said = entry.get("settled")
    return float(said) if isinstance(said, (int, float)) and said in (0, 1) else math.nan


def clock_mhz(entry: Mapping[str, Any]) -> float:
    """The multiprocessors' clock while a repetition ran, or just after; NaN if it was not read, ValueError if it is no clock."""
    value = entry.get("sm_clock_mhz", math.nan)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
        raise ValueError(f"sm_clock_mhz is {value!r}, not a clock")
    return float(value)


def device_ns(entry: Mapping[str, Any]) -> float:
    """The device's own time between events in nanoseconds; NaN if it was not measured, ValueError if it is no time."""
    value = entry.get("device_time_ms", math.nan)
    if value is not math.nan and (isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e300):
        raise ValueError(f"device_time_ms is {value!r}, not a positive time")
    return float(value) * 1e6


def same_device(entry: Mapping[str, Any], context: Mapping[str, Any]) -> None:
    """ValueError if a repetition says that it ran on another device than the file."""
    if (found := entry.get("device")) is not None and found != context.get("device"):
        raise ValueError(f"it ran on {found!r}, and the file is of {context.get('device')!r}: one device a file")


def verified(entry: Mapping[str, Any]) -> None:
    """ValueError if a repetition says that its output was wrong or not looked at."""
    if entry.get("verified", 1) != 1:
        raise ValueError(f"verified is {entry['verified']!r}: its output was wrong, or not looked at, and such times count for nothing")


def lacking(rounds: Mapping[Any, Collection[int]]) -> str:
    """Which repetitions are missing, by case: each case has all from 0 to its last one; empty if none is missing."""
    gaps = {case: sorted(set(range(max(of) + 1)) - set(of)) for case, of in rounds.items() if len(of) <= max(of)}
    if not gaps:
        return ""
    case, first = next(iter(gaps.items()))
    named = " ".join(str(part) for part in case if part != "")
    of = f"{len(gaps)} cases lack repetitions, the first of them {named}" if len(gaps) > 1 else f"repetitions are missing of {named}"
    return f"{of}: round {', '.join(map(str, first[:5]))}{' …' if len(first) > 5 else ''} of 0 to {max(rounds[case])}"


def whole(entry: Mapping[str, Any], key: str, default: int | None = None) -> int:
    """A whole number of an entry, 0 or more; ValueError if it is none, or if it is missing and has no default."""
    value = entry.get(key, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value // 1 or value < 0:
        raise ValueError(f"{key} is {value!r}, not a whole number of 0 or more")
    return int(value)
