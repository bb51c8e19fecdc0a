"""What the fields of a document may hold: shapes, and a sentence for the first value that does not fit.

A shape is a :class:`Form` (one value), :class:`Fields` (an object) or :class:`ListOf`. Whoever reads a kind of document has its
shape as a table beside the code that reads it, and reads no field that the shape does not name.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

EXACT = 2**53
"""Every whole number up to here is exact in JSON, whose numbers are doubles to most programs."""
_LARGEST = 1e18
_NUMBERS = frozenset((int, float))
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_DATE = re.compile(r"(\d{4}-\d\d-\d\d(T[^\s]{0,40})?)?", re.ASCII)
REMEDY = "make the file again, or leave it out"


class Misfit(NamedTuple):
    """Where in a value something does not fit, such as ``launches[0].label``, and what is wrong there."""

    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place} {self.message}".lstrip()

    def within(self, place: str) -> Misfit:
        return Misfit(place + ("." if self.place and not self.place.startswith("[") else "") + self.place, self.message)


def _within(misfit: Misfit | None, place: str) -> Misfit | None:
    return misfit and misfit.within(place)


class Shape(Protocol):
    """What a value has to be."""

    def fits(self, value: Any) -> bool:
        """Whether a value is that."""

    def misfit(self, value: Any) -> Misfit | None:
        """The first thing in it that does not fit; None if all does."""


@dataclass(frozen=True)
class Form:
    """A single value: what it has to be, in words that follow "not", and whether one is."""

    what: str
    fits: Callable[[Any], bool]

    def misfit(self, value: Any) -> Misfit | None:
        return None if self.fits(value) else Misfit("", f"is {shown(value)}, not {self.what}: {REMEDY}")

    def __or__(self, other: Form) -> Form:
        return Form(f"{self.what} or {other.what}", lambda value: self.fits(value) or other.fits(value))


OBJECT = Form("an object", lambda value: isinstance(value, dict))


class Fields:
    """An object with certain fields; ``key?``: may be missing; ``*``: all others. Fields that nobody reads may hold anything."""

    def __init__(self, fields: Mapping[str, Shape]) -> None:
        self.fields = fields
        self._needed = [key for key in fields if key != "*" and not key.endswith("?")]
        self._named = [(key.removesuffix("?"), shape.fits, shape) for key, shape in fields.items() if key != "*"]
        self._others = fields.get("*")

    def __or__(self, other: Fields) -> Fields:
        return Fields({**self.fields, **other.fields})

    def fits(self, value: Any) -> bool:
        return self.misfit(value) is None

    def misfit(self, value: Any) -> Misfit | None:
        if not isinstance(value, dict):
            return OBJECT.misfit(value)
        for key in self._needed:
            if key not in value:
                return Misfit(key, f"is missing: {REMEDY}")
        for key, fits, shape in self._named:
            if key in value and not fits(value[key]):
                return _within(shape.misfit(value[key]), key)
        if self._others:
            for key, of in value.items():
                if not self._others.fits(of):
                    return _within(self._others.misfit(of), key)
        return None


@dataclass(frozen=True)
class ListOf:
    """A list of values of one shape, ``least`` of them or more."""

    of: Shape
    least: int = 0

    def fits(self, value: Any) -> bool:
        return isinstance(value, list) and len(value) >= self.least and all(map(self.of.fits, value))

    def misfit(self, value: Any) -> Misfit | None:
        if not isinstance(value, list) or len(value) < self.least:
            return Misfit("", f"is {shown(value)}, not a list{f' of {self.least} or more' if self.least else ''}: {REMEDY}")
        return next((_within(self.of.misfit(of), f"[{index}]") for index, of in enumerate(value) if not self.of.fits(of)), None)


def check(value: Any, shape: Shape) -> None:
    """ValueError, in a sentence, if the value does not fit."""
    if found := shape.misfit(value):
        raise ValueError(str(found))


_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = 60
_short.maxlist = _short.maxdict = 3
_short.maxlevel = 2


def shown(value: Any) -> str:
    """A value in a sentence, cut if it is long."""
    return _short.repr(value)


def between(low: float, high: float) -> Callable[[Any], bool]:
    """Whether a value is a number within bounds; NaN and Infinity, which JSON as Python reads it has too, and true and false are not."""
    return lambda value: type(value) in _NUMBERS and low <= value <= high


def whole(text: str, name: str) -> int:
    """A whole number in letters, as names and tables have it; ValueError if it is none, or one that cannot be meant."""
    if not re.fullmatch("[0-9]{1,16}", text) or int(text) > EXACT:
        raise ValueError(f"{name} must be a whole number of 0 to 2^53, not {shown(text)}")
    return int(text)


def count_to(largest: int, said: str = "", least: int = 0) -> Form:
    """A whole number up to a bound, which may be said otherwise than in digits."""
    return Form(f"a whole number of {least} to {said or largest}", lambda value: type(value) in _NUMBERS and least <= value <= largest and value == int(value))


def one_of(*words: str) -> Form:
    """One of some words; none at all is called empty."""
    return Form(f"{'one of ' if len(words) > 1 else ''}{', '.join(word or 'empty' for word in words)}", lambda value: value in words)


TEXT = Form("text", lambda value: isinstance(value, str))
LINE = Form("a line of text", lambda value: isinstance(value, str) and not _CONTROL.search(value))
NAME = Form("a name", lambda value: LINE.fits(value) and bool(value.strip()))
FLAG = Form("yes or no", lambda value: isinstance(value, (bool, int, float)) and value in (0, 1))
NULL = Form("null", lambda value: value is None)
COUNT, INDEX = count_to(EXACT, "2^53"), count_to(EXACT, "2^53", -1)
NUMBER = Form("a number within 10^18 of 0", between(-_LARGEST, _LARGEST))
AMOUNT = Form("a number of 0 to 10^18", between(0, _LARGEST))
POSITIVE = Form("a positive number of 10^-18 to 10^18", between(1 / _LARGEST, _LARGEST))
NUMERAL = COUNT | Form("its digits", lambda value: isinstance(value, str) and bool(re.fullmatch("[0-9]{1,15}", value)))
DIGITS = NUMERAL | one_of("")
"""What provenance says of a device is text throughout; empty where it is not known."""
DATE = Form("a date of ISO 8601, such as 2026-01-02T03:04:05Z", lambda value: isinstance(value, str) and bool(_DATE.fullmatch(value)))
DIRTY = FLAG | one_of("true", "false", "unknown", "")

CONTEXT = Fields({
    "schema?": NAME, "kind?": one_of("cuda", "host"), "date?": DATE, "git_dirty?": DIRTY, "measured_dirty?": DIRTY,
    **{f"{key}?": LINE for key in ("device", "git_commit", "argv", "cpu", "driver", "toolkit", "cccl", "cccl_newest", "compiler", "ecc", "tbb", "assertions",
                                   "width_percent", "cap_seconds", "measured_commit")},
    **{f"{key}?": DIGITS for key in ("sm_clock_mhz_max", "cores", "num_cpus", "seed")},
    "rounds?": NUMERAL, "l2_bytes?": NUMERAL,
})  # fmt: skip
"""Where numbers are from, in every kind of document."""
