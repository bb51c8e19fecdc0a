"""Generated parts of hand-written pages, kept between markers."""

from __future__ import annotations

from pathlib import Path


class MarkerError(ValueError):
    """A page whose markers are missing, doubled or out of order."""


def begin(name: str) -> str:
    """The marker above a generated part."""
    return f"<!-- {name}:begin -->"


def end(name: str) -> str:
    """The marker below a generated part."""
    return f"<!-- {name}:end -->"


def text_of(page: Path) -> str:
    """The text of a page; MarkerError if it cannot be read."""
    try:
        return page.read_text(encoding="utf-8")
    except OSError as error:
        raise MarkerError(f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise MarkerError(f"is not UTF-8 text ({error})") from None


def find(text: str, name: str) -> tuple[int, int]:
    """Where the generated part lies, just inside the markers."""
    for marker in (begin(name), end(name)):
        if text.count(marker) != 1:
            many = "is missing" if marker not in text else "occurs more than once"
            raise MarkerError(f"the marker {marker} {many}")
    start, stop = text.index(begin(name)) + len(begin(name)), text.index(end(name))
    if start > stop:
        raise MarkerError(f"the marker {end(name)} comes before {begin(name)}")
    return start, stop


def replaced(text: str, name: str, generated: str) -> str:
    """The page with the part between the markers replaced, and nothing else."""
    start, stop = find(text, name)
    return f"{text[:start]}\n{generated.strip()}\n{text[stop:]}"


def check(page: Path, name: str) -> None:
    """MarkerError unless the page can be read and has its markers."""
    find(text_of(page), name)
