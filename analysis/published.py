"""Tables of the literature: a CSV each, with a TOML of the same stem that states its source."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.results import Problem


@dataclass(frozen=True)
class Publication:
    """A published table and its source."""

    table: pd.DataFrame
    source: Mapping[str, Any]

    @property
    def citation(self) -> str:
        """Authors and year, for a legend."""
        return str(self.source["short"])


def read(folder: Path, problems: list[Problem]) -> dict[str, Publication]:
    """Every published table of a folder, by file stem."""
    publications: dict[str, Publication] = {}
    for file in sorted(folder.glob("*.csv")):
        sidecar = file.with_suffix(".toml")
        try:
            source = tomllib.loads(sidecar.read_text(encoding="utf-8"))
            table = pd.read_csv(file, comment="#")
        except FileNotFoundError:
            problems.append(Problem(file, "", f"its source is missing: expected {sidecar.name} beside it"))
        except tomllib.TOMLDecodeError as error:
            problems.append(Problem(sidecar, "", f"is not TOML ({error})"))
        except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
            problems.append(Problem(file, "", f"cannot be read as CSV ({error})"))
        else:
            publications[file.stem] = Publication(table, source)
    return publications
