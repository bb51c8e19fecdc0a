"""Values that are read: through the structs of :mod:`scanlab_report.schema`, with a sentence for
the first that does not fit."""

from __future__ import annotations

import contextlib
import re
import reprlib
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from scanlab_report.schema.base import EXACT, WORDS

Read = TypeVar("Read")
REMEDY = "make the file again, or leave it out"


class Misfit(ValueError):
    """Where in a document something does not fit, such as ``benchmarks[3].items``, and what is
    wrong there."""

    def __init__(self, place: str, message: str) -> None:
        super().__init__(f"{place}: {message}" if place else message)
        self.place, self.message = place, message


def convert(value: Any, type_: type[Read], place: str = "", remedy: str = REMEDY) -> Read:
    """Convert a value, or a whole document that lies at `place`, to a type. Misfit if it does not
    fit, with `remedy` as advice."""
    try:
        return msgspec.convert(value, type_)
    except msgspec.ValidationError as error:
        inside, message = _said(error, value)
        joined = place + ("." if place and inside and not inside.startswith("[") else "") + inside
        raise Misfit(joined, f"{message}: {remedy}") from None


def convert_each(values: list[Any], type_: Any, place: Callable[[int], str]) -> list[Any]:
    """Convert each value to a type; a value that does not fit becomes its Misfit. ``place`` gives
    the place of a value in its document, by its index."""
    with contextlib.suppress(msgspec.ValidationError):
        return msgspec.convert(values, list[type_])  # all at once takes half the time
    return [_fitted(value, type_, place(index)) for index, value in enumerate(values)]


def _fitted(value: Any, type_: Any, place: str) -> Any:
    try:
        return convert(value, type_, place)
    except Misfit as misfit:
        return misfit


def listed(document: Any, key: str) -> list[Any]:
    """A list that a document has, whose entries are yet to be looked at."""
    if not isinstance(document, dict) or key not in document:
        raise Misfit(key, f"is missing: {REMEDY}")
    return convert(document[key], list[Any], key)


def fits(value: Any, type_: Any) -> bool:
    """Return whether a value fits a type."""
    try:
        msgspec.convert(value, type_)
    except msgspec.ValidationError:
        return False
    return True


def _said(error: msgspec.ValidationError, document: Any) -> tuple[str, str]:
    """The place within a document, and what is wrong there, as msgspec says it."""
    message, _, place = str(error).partition(" - at `$")
    place = place.removesuffix("`").removeprefix(".")
    lacking = message.removeprefix("Object missing required field ")
    if lacking != message:
        return f"{place}.{lacking.strip('`')}".lstrip("."), "is missing"
    for pattern, words in WORDS.items():
        message = message.replace(f"`str` matching regex {pattern!r}", words)
    if message.startswith("Expected ") and ", got " not in message:
        message += _got(document, place)
    return place, (message[:1].lower() + message[1:]).replace("`", "") if message.startswith(
        ("Expected", "Invalid")
    ) else message


def _got(document: Any, place: str) -> str:
    """The value at a place; of one in an object without names of its own, none."""
    for key, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", place):
        if "[...]" in place:
            return ""
        document = document[int(index)] if index else document[key]
    return f", got {shown(document)}"


_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = 60
_short.maxlist = _short.maxdict = 3
_short.maxlevel = 2


def shown(value: Any) -> str:
    """A value in a sentence, cut if it is long."""
    return _short.repr(value)


def whole(text: str, name: str) -> int:
    """Return a whole number in letters, as tables have it. ValueError if it is no whole number, or
    too large to be meant."""
    if not re.fullmatch("[0-9]{1,16}", text) or int(text) > EXACT:
        raise ValueError(f"{name} must be a whole number of 0 to 2^53, not {shown(text)}")
    return int(text)
