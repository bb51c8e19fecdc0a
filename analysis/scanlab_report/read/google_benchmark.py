"""One repetition as Google Benchmark writes it: its time, its numbers, and why it was skipped."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping
from typing import Any

from scanlab_report.read.fields import FLAG, LINE, POSITIVE, REMEDY, TEXT, Fields, Form, between, count_to, one_of, shown

_NANOSECONDS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_LONGEST_NS = 1e18
_ROUND = count_to(10**6, "10^6")

ENTRY = Fields({
    "name?": LINE, "run_name?": LINE, "run_type?": LINE, "error_occurred?": FLAG, "skipped?": FLAG | TEXT, "error_message?": TEXT, "skip_message?": TEXT,
})  # fmt: skip
"""What every entry may say of itself, timed or not."""
REPETITION = Fields({
    "real_time": Form("a positive time", POSITIVE.fits), "time_unit?": one_of(*_NANOSECONDS), "round?": _ROUND, "repetition_index?": _ROUND, "settled?": FLAG,
    "device_time_ms?": Form("a positive time", POSITIVE.fits), "sm_clock_mhz?": Form("a clock in MHz", between(1, 1e6)),
})  # fmt: skip
"""What the entry of a repetition must have."""


def place(index: int, entry: Any) -> str:
    """Where an entry stands, with its name, which may be anything."""
    name = entry.get("name", "") if isinstance(entry, Mapping) else ""
    return f"benchmarks[{index}] {name if isinstance(name, str) and name.isprintable() and len(name) <= 300 else shown(name)}".rstrip()


def skip_reason(entry: Mapping[str, Any]) -> str:
    """Why the harness did not time this case; empty if it did (both spellings of Google Benchmark are known)."""
    if not entry.get("error_occurred") and not entry.get("skipped"):
        return ""
    return str(entry.get("skip_message") or entry.get("error_message") or "no reason given")


def time_ns(entry: Mapping[str, Any]) -> float:
    """The time of one run in nanoseconds; ValueError if it is none that can have been measured."""
    nanoseconds = float(entry["real_time"]) * _NANOSECONDS[unit := entry.get("time_unit", "ns")]
    if nanoseconds > _LONGEST_NS:
        raise ValueError(f"real_time is {entry['real_time']} {unit}, decades, which nothing takes: {REMEDY}")
    return nanoseconds


def settled(entry: Mapping[str, Any]) -> float:
    """1 if the median of the case is known well enough by then, 0 if not; NaN if the harness does not say."""
    return float(entry.get("settled", math.nan))


def clock_mhz(entry: Mapping[str, Any]) -> float:
    """The multiprocessors' clock while a repetition ran, or just after; NaN if it was not read."""
    return float(entry.get("sm_clock_mhz", math.nan))


def rounds(entry: Mapping[str, Any]) -> tuple[int, int]:
    """The round of a repetition, and its number within the round."""
    return int(entry.get("round", 0)), int(entry.get("repetition_index", 0))


def device_ns(entry: Mapping[str, Any]) -> float:
    """The device's own time between events in nanoseconds; NaN if it was not measured."""
    return float(entry.get("device_time_ms", math.nan)) * 1e6


def same_device(entry: Mapping[str, Any], context: Mapping[str, Any]) -> None:
    """ValueError if a repetition says that it ran on another device than the file."""
    if (found := entry.get("device")) is not None and found != context.get("device"):
        raise ValueError(f"device: it ran on {shown(found)}, and the file is of {shown(context.get('device'))}: one device a file")


def verified(entry: Mapping[str, Any]) -> None:
    """ValueError if a repetition says that its output was wrong or not looked at."""
    if entry.get("verified", 1) != 1:
        raise ValueError(f"verified is {shown(entry['verified'])}: its output was wrong, or not looked at, and such times count for nothing")


def lacking(rounds: Mapping[Any, Collection[int]]) -> str:
    """Which repetitions are missing, by case: each case has all from 0 to its last one; empty if none is missing."""
    gaps = [case for case, of in rounds.items() if len(of) <= max(of)]
    if not gaps:
        return ""
    of, named = rounds[gaps[0]], " ".join(str(part) for part in gaps[0] if part != "")
    first = list(itertools.islice((number for number in itertools.count() if number not in of), min(6, max(of) + 1 - len(of))))
    which = f"{len(gaps)} cases lack repetitions, the first of them {named}" if len(gaps) > 1 else f"repetitions are missing of {named}"
    return f"{which}: round {', '.join(map(str, first[:5]))}{' …' if len(first) > 5 else ''} of 0 to {max(of)}"
