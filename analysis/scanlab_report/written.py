"""Writing so that what was there stays until all that replaces it is written."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from scanlab_report.console import Refused

_HIDDEN = ".building-"


@contextlib.contextmanager
def in_place_of(folder: Path, named: Path | None = None) -> Iterator[Path]:
    """Yield a new folder within ``folder``. Its files move to ``folder`` once all are written, and
    none if that fails; the error then names ``named``, by default the folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=_HIDDEN) as made:
            yield Path(made)
            for file in sorted(path for path in Path(made).rglob("*") if path.is_file()):
                target = folder / file.relative_to(made)
                target.parent.mkdir(parents=True, exist_ok=True)
                os.replace(file, target)
    except OSError as error:
        failed = str(error.filename or folder)
        if _HIDDEN not in failed and Path(failed) != folder:
            raise
        reason = f"cannot be written: {error.strerror or error}"
        raise OSError(error.errno, reason, str(named or folder)) from None


@contextlib.contextmanager
def one_file(path: Path) -> Iterator[Path]:
    """Yield where to write the new content of ``path``, or of the file that it links to."""
    target = Path(os.path.realpath(path))
    with in_place_of(target.parent, path) as made:
        yield made / target.name


def write(path: Path, text: str) -> None:
    """Replace the content of ``path`` by a text, once it is written in full."""
    with one_file(path) as made:
        put(made, text)


def put(path: Path, content: str | bytes) -> None:
    """Write a file of a new folder."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def check_ending(path: Path, what: str, endings: tuple[str, ...]) -> None:
    """Refuse a name of the output that has none of the endings."""
    if path.suffix not in endings:
        raise Refused(f"{path}: a {what}'s name ends in {', '.join(endings[:-1])} or {endings[-1]}")
