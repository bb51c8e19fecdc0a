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
