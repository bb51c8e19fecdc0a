"""What the last build was made from, so that what has not changed is not made again.

The record lies beside what was built. A build whose inputs are those of the last one has nothing to do; in any other, a
figure whose evidence is the same is kept as it was drawn. A change of the code, or of a library that draws, changes all.
"""

from __future__ import annotations

import hashlib
import io
import json
import pickle
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from scanlab_report.read.fields import TEXT, Fields, check

RECORD = ".built"
_CODE = Path(__file__).parents[2]
_DRAWN_BY = ("matplotlib", "numpy", "pandas", "scipy")


@dataclass
class Record:
    """Fingerprints: of all inputs together, of each file that was written, and of each figure's evidence."""

    inputs: str = ""
    outputs: dict[str, str] = field(default_factory=dict)
    figures: dict[str, str] = field(default_factory=dict)

    def holds(self, inputs: str) -> bool:
        """Whether these inputs made what is there now."""
        return self.inputs == inputs and all(of_file(Path(name)) == print_ for name, print_ in self.outputs.items())


def read(out: Path) -> Record:
    """The record of the last build; an empty one if there is none that can be used."""
    try:
        content = json.loads((out / RECORD).read_text(encoding="utf-8"))
        check(content, _CONTENT)
        return Record(**content)
    except (OSError, ValueError, TypeError, RecursionError):
        return Record()


_CONTENT = Fields({"inputs": TEXT, "outputs": Fields({"*": TEXT}), "figures": Fields({"*": TEXT})})


def write(out: Path, record: Record) -> None:
    (out / RECORD).write_text(json.dumps(vars(record)), encoding="utf-8")


def of_file(file: Path) -> str:
    """Of its content; empty if it cannot be read."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""


def of_inputs(files: Iterable[Path], options: Mapping[str, Any]) -> str:
    """Of all that a build depends on: files with their paths, options, code."""
    told = {str(file): of_file(file) for file in files} | {name: str(value) for name, value in options.items()}
    return hashlib.sha256(json.dumps([code(), told]).encode()).hexdigest()


def of_evidence(evidence: object) -> str:
    """Of what a figure is drawn from, and of the code that draws it."""
    text = io.BytesIO()
    _Pickler(text).dump(evidence)
    return hashlib.sha256(code().encode() + text.getvalue()).hexdigest()


@lru_cache
def code() -> str:
    """Of the analysis, and of the libraries that it draws and computes with."""
    found = hashlib.sha256(" ".join(version(name) for name in _DRAWN_BY).encode())
    for file in sorted(path for path in _CODE.rglob("*") if path.suffix in (".py", ".js", ".css", ".html", ".mplstyle") and "tests" not in path.parts):
        found.update(file.relative_to(_CODE).as_posix().encode() + file.read_bytes())
    return found.hexdigest()


class _Pickler(pickle.Pickler):
    """Equal evidence gives equal bytes: no references to what came before, and of a dataclass no cached properties."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=5)
        self.fast = True

    def reducer_override(self, of: object) -> Any:
        if is_dataclass(of) and not isinstance(of, type):
            return tuple, (tuple(getattr(of, part.name) for part in fields(of)),)
        return NotImplemented
