"""Values that are read, with a sentence for the first that does not fit."""

import contextlib
import re
import reprlib
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from scanlab_report.schema.base import EXACT

Read = TypeVar("Read")
REMEDY = "make the file again, or leave it out"


class Misfit(ValueError):
    """Where in a document something does not fit, such as ``benchmarks[3].items``, and why."""

    def __init__(self, place: str, message: str) -> None:
        super().__init__(f"{place}: {message}" if place else message)
        self.place, self.message = place, message


def convert(
    value: Any, type_: type[Read], place: str = "", remedy: str = REMEDY, strict: bool = True
) -> Read:
    """Convert a value at `place` to a type. Unless `strict`, text may stand for a number."""
    try:
        return msgspec.convert(value, type_, strict=strict)
    except msgspec.ValidationError as error:
        message, _, inside = str(error).partition(" - at `$")
    inside = inside.removesuffix("`")
    if lacking := re.match("Object missing required field `(.*)`", message):
        inside, message = f"{inside}.{lacking[1]}", "is missing"
    if "`array` of length >= 1" in message:
        message = "is empty"
    if message.startswith(("Expected", "Invalid")):
        message = (message[:1].lower() + message[1:]).replace("`", "")
        if ", got " not in message and "[...]" not in inside:
            message += f", got {shown(_at(value, inside))}"
    raise Misfit((place + inside).removeprefix("."), f"{message}: {remedy}")


def convert_each(values: list[Any], type_: Any, place: Callable[[int], str]) -> list[Any]:
    """Convert each value to a type; one that does not fit becomes a Misfit at its ``place``."""
    with contextlib.suppress(msgspec.ValidationError):
        return msgspec.convert(values, list[type_])  # all at once takes half the time
    converted: list[Any] = []
    for index, value in enumerate(values):
        try:
            converted.append(convert(value, type_, place(index)))
        except Misfit as misfit:
            converted.append(misfit)
    return converted


def listed(document: Any, key: str) -> list[Any]:
    """A list that a document has, whose entries are yet to be looked at."""
    if not isinstance(document, dict) or key not in document:
        raise Misfit(key, f"is missing: {REMEDY}")
    return convert(document[key], list[Any], key)


def _at(value: Any, place: str) -> Any:
    """The value at a place of a document."""
    for key, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", place):
        value = value[int(index)] if index else value[key]
    return value


_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = 60
_short.maxlist = _short.maxdict = 3
_short.maxlevel = 2


def shown(value: Any) -> str:
    """A value in a sentence, cut if it is long."""
    return _short.repr(value)


def whole(text: str, name: str) -> int:
    """Return a whole number in letters; ValueError if it is none, or too large to be meant."""
    if not re.fullmatch("[0-9]{1,16}", text) or int(text) > EXACT:
        raise ValueError(f"{name} must be a whole number of 0 to 2^53, not {shown(text)}")
    return int(text)
