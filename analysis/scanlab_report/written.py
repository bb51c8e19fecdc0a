"""Writing so that what was there stays until all that replaces it is written."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

_HIDDEN = ".building-"


@contextlib.contextmanager
def in_place_of(folder: Path) -> Iterator[Path]:
    """A new folder beside what ``folder`` holds; its files take their places there once all are written, and not if it fails."""
    with _named(folder), _in_place_of(folder) as made:
        yield made


@contextlib.contextmanager
def _in_place_of(folder: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=folder, prefix=_HIDDEN) as made:
        yield Path(made)
        for file in sorted(path for path in Path(made).rglob("*") if path.is_file()):
            target = folder / file.relative_to(made)
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(file, target)


@contextlib.contextmanager
def one_file(path: Path) -> Iterator[Path]:
    """Where to write what takes the place of ``path`` once it is whole; the folders above it are made."""
    with _named(path, *path.parents):
        path.parent.mkdir(parents=True, exist_ok=True)
        with _in_place_of(path.parent) as made:
            yield made / path.name


def write(path: Path, text: str) -> None:
    """A text in the place of what ``path`` held, once it is whole."""
    with one_file(path) as made:
        made.write_text(text, encoding="utf-8")


@contextlib.contextmanager
def _named(path: Path, *above: Path) -> Iterator[None]:
    """What the system says of no file, of a hidden one or of a folder ``above``, is said of ``path``, which the user knows; the rest stays as it is."""
    try:
        yield
    except OSError as error:
        of = str(error.filename or "")
        if of and _HIDDEN not in of and Path(of) not in above:
            raise
        raise OSError(error.errno, f"cannot be written: {error.strerror or error}", str(path)) from None


def wrong_ending(path: Path, what: str, endings: tuple[str, ...]) -> str:
    """A sentence, if the name of what is to be written has none of the endings; empty if it has."""
    return "" if path.suffix in endings else f"{path}: a {what}'s name ends in {', '.join(endings[:-1])} or {endings[-1]}"


def unwritable(folder: Path) -> str:
    """Makes the folder, writes a file in it and in those within, and says what hinders; empty if nothing does."""
    if folder.is_file():
        return "it is a file, and a folder is wanted"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for part in (folder, *(part for part in folder.iterdir() if part.is_dir())):
            with tempfile.TemporaryFile(dir=part):
                pass
    except OSError as error:
        return error.strerror or str(error)
    return ""
