"""Values that are read, with msgspec's sentence for the first that does not fit."""

import contextlib
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

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
        inside = (place + inside.removesuffix("`")).removeprefix(".")
        raise Misfit(inside, f"{message.replace('`', '')}: {remedy}") from None


def convert_each(
    values: list[Any], type_: Any, place: Callable[[int], str], strict: bool = True
) -> list[Any]:
    """Convert each value to a type; one that does not fit becomes a Misfit at its ``place``."""
    with contextlib.suppress(msgspec.ValidationError):
        return msgspec.convert(values, list[type_], strict=strict)  # at once: half the time
    converted: list[Any] = []
    for index, value in enumerate(values):
        try:
            converted.append(convert(value, type_, place(index), strict=strict))
        except Misfit as misfit:
            converted.append(misfit)
    return converted
