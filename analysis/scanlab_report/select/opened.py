"""Results of a few files and folders, read and chosen from, for a command that makes one thing of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from scanlab_report import DATA
from scanlab_report.read import published, results
from scanlab_report.read.foreign import kinds
from scanlab_report.read.published import Publication
from scanlab_report.read.records import Results
from scanlab_report.select.sessions import NoSession, chosen

RECORDED = DATA / "recorded"


class Unreadable(ValueError):
    """Files that cannot be used, in sentences."""


def nothing_among(paths: Sequence[Path]) -> str:
    return f"nothing to read: no results among {', '.join(map(str, paths))}"


def apart(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Those that were measured, and those of the recorded data, which counts as such however it is named."""
    recorded = [path for path in paths if path.resolve().is_relative_to(RECORDED)]
    return [path for path in paths if path not in recorded], recorded


def on(results: Results, device: str) -> Results:
    """These results of one GPU alone, or as they are where none is named; Unreadable if nothing is of it."""
    if device and device not in results.devices:
        raise Unreadable(f"no results are of a GPU called {device}; there are those of {', '.join(results.devices) or 'none'}")
    return results.on(device) if device else results


def opened(paths: Sequence[Path], device: str = "", session: str = "", publications: Path = DATA / "published") -> tuple[Results, dict[str, Publication]]:
    """What is below the paths, the recorded data counting as such, of one session of each device; the published tables beside them."""
    foreign, _, problems = kinds.sorted_out(path for path in paths if path.is_file())
    refused = [str(wrong) for wrong in problems if isinstance(wrong, kinds.Unknown)]
    refused += [f"{of.run.file}: has results of {of.kind}: `scanlab-report compare` and `scanlab-report build` read them" for of in foreign]
    if refused:
        raise Unreadable(*refused)
    read = results.read(*apart(paths), device)
    tables = published.read(publications, read.problems)
    if read.problems:
        raise Unreadable(*map(str, read.problems))
    if read.empty:
        raise Unreadable(nothing_among(paths))
    try:
        return chosen(read, session), tables
    except NoSession as error:
        raise Unreadable(str(error)) from None
