"""Writing so that what was there stays until all that replaces it is written."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

_HIDDEN = ".building-"


@contextlib.contextmanager
def in_place_of(folder: Path) -> Iterator[Path]:
    """Yield a new folder beside ``folder``. Its files move to ``folder`` once all are written, and
    none if that fails."""
    with _named(folder, *folder.parents):
        folder.mkdir(parents=True, exist_ok=True)
    with hidden(folder, folder) as made:
        yield made
        for file in sorted(path for path in made.rglob("*") if path.is_file()):
            target = folder / file.relative_to(made)
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(file, target)


@contextlib.contextmanager
def hidden(folder: Path, path: Path) -> Iterator[Path]:
    """Make a folder in a folder, and remove it in the end with what is left in it. Errors name
    ``path``."""
    with _named(path, folder), tempfile.TemporaryDirectory(dir=folder, prefix=_HIDDEN) as made:
        yield Path(made)


@contextlib.contextmanager
def one_file(path: Path) -> Iterator[Path]:
    """Yield where to write the new content of ``path``, or of the file that it links to. It takes
    its place once it is whole. The folders above it are made."""
    target = Path(os.path.realpath(path))
    with _named(path, target.parent, *target.parents):
        target.parent.mkdir(parents=True, exist_ok=True)
    with hidden(target.parent, path) as made:
        new = made / path.name
        yield new
        if target.exists():
            shutil.copymode(target, new)
        os.replace(new, target)


def write(path: Path, text: str) -> None:
    """Replace the content of ``path`` by a text, once it is written in full."""
    with one_file(path) as made:
        made.write_text(text, encoding="utf-8")


def put(path: Path, content: str | bytes) -> None:
    """Write a file of a new folder. An error names the file, also if the disk is full."""
    try:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


@contextlib.contextmanager
def _named(path: Path, within: Path, *above: Path) -> Iterator[None]:
    """Raise errors of the system as errors of ``path``, which the user knows: an error that names
    no file, a hidden one ``within``, or a folder ``above``. Other errors stay as they are."""
    try:
        yield
    except OSError as error:
        if error.filename:
            failed = Path(os.path.abspath(error.filename))
            hidden = _HIDDEN in str(failed) and failed.is_relative_to(os.path.abspath(within))
            if not hidden and failed not in [Path(os.path.abspath(folder)) for folder in above]:
                raise
        reason = f"cannot be written: {error.strerror or error}"
        raise OSError(error.errno, reason, str(path)) from None


def wrong_ending(path: Path, what: str, endings: tuple[str, ...]) -> str:
    """Return a sentence if the name of the output has none of the endings, else an empty text."""
    wanted = f"{', '.join(endings[:-1])} or {endings[-1]}"
    return "" if path.suffix in endings else f"{path}: a {what}'s name ends in {wanted}"


def unwritable(folder: Path) -> str:
    """Write a test file in the folder and in those within, or where the folder is to be made.
    Return what hinders it; empty if nothing does."""
    try:
        there = next(place for place in (folder, *folder.parents) if place.exists())
        if not there.is_dir():
            return f"{'it' if there == folder else there} is a file, and a folder is wanted"
        for part in (there, *(part for part in folder.glob("*") if part.is_dir())):
            with tempfile.TemporaryFile(dir=part):
                pass
    except OSError as error:
        return error.strerror or str(error)
    return ""
