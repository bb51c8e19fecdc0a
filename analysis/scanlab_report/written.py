"""Writing so that what was there stays until all that replaces it is written."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def in_place_of(folder: Path) -> Iterator[Path]:
    """A new folder beside what ``folder`` holds; its files take their places there once all are written, and not if it fails."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=".building-") as made:
        yield Path(made)
        for file in sorted(path for path in Path(made).rglob("*") if path.is_file()):
            target = folder / file.relative_to(made)
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(file, target)


@contextlib.contextmanager
def one_file(path: Path) -> Iterator[Path]:
    """Where to write what takes the place of ``path`` once it is whole; the folders above it are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with in_place_of(path.parent) as made:
        yield made / path.name


def wrong_ending(path: Path, what: str, endings: tuple[str, ...]) -> str:
    """A sentence, if the name of what is to be written has none of the endings; empty if it has."""
    return "" if path.suffix in endings else f"{path}: a {what}'s name ends in {', '.join(endings[:-1])} or {endings[-1]}"


def unwritable(folder: Path) -> str:
    """Makes the folder, writes a file in it and in those within, and says what hinders; empty if nothing does."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for part in (folder, *(part for part in folder.iterdir() if part.is_dir())):
            with tempfile.TemporaryFile(dir=part):
                pass
    except OSError as error:
        return error.strerror or str(error)
    return ""
