"""Which recorded session answers: of each device, and of each number of GPUs, the one that was named, else the newest complete one.

A session is what a ``session.json`` lists. Where files are recorded without one, those of a device in a folder are a session that is
not complete: it answers only where the device has no complete one. What was measured now is no matter of choice: it comes first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from scanlab_report.read import history, streams
from scanlab_report.read.records import RECORDED, Results, Run, of_ranks


@dataclass(frozen=True)
class RecordedSession:
    """Recorded files of one device that belong together; ``name`` is the folder's."""

    name: str
    device: str
    date: str
    complete: bool
    files: frozenset[Path]
    gpus: int = 1
    """More than 1: it answers only for scans over several GPUs, beside the session of one GPU."""


class NoSession(ValueError):
    """A name that no recorded session has."""


def known(results: Results) -> list[RecordedSession]:
    """Every recorded session, those that are listed before others."""
    listed = [RecordedSession(of.file.parent.name, of.device, of.date, of.complete, frozenset(of.files), of.gpus) for of in results.sessions]
    folders = {of.file.parent.resolve() for of in results.sessions}
    loose: dict[tuple[Path, str], list[tuple[Path, str]]] = {}
    for run in _recorded(results):
        folder = run.file.parent.resolve()
        if folder not in folders:
            loose.setdefault((folder, run.device), []).append((run.file.resolve(), run.date))
    for name in _TABLES:
        table = getattr(results, name)
        for file in dict.fromkeys(table.loc[table["origin"] == RECORDED, "file"]):
            beside = results.beside(file, RECORDED)
            folder = Path(file).parent.resolve()
            if folder not in folders:  # no run need lie there: a table may be named alone
                loose.setdefault((folder, beside.device if beside else ""), []).append((Path(file).resolve(), ""))
    return listed + [RecordedSession(folder.name, device, max(date for _, date in of), False, frozenset(file for file, _ in of))
                     for (folder, device), of in loose.items()]  # fmt: skip


def chosen(results: Results, name: str = "") -> Results:
    """These results with one recorded session of each device, and all that is measured now; NoSession if none is called ``name``.

    Emulator counts and simulations are of no device and stay. ``every`` of what is returned has all sessions.
    """
    sessions = known(results)
    if name and name not in {of.name for of in sessions}:
        raise NoSession(f"no recorded session is called {name}; there are {', '.join(sorted({of.name for of in sessions})) or 'none'}")
    best: dict[tuple[str, int], RecordedSession] = {}
    for of in sessions:
        key = (of.device, of.gpus)
        best[key] = max(best.get(key, of), of, key=lambda of: (of.name == name, of.complete, of.date))
    files = {file for of in best.values() if of.gpus == 1 for file in of.files}
    of_several = {file for of in best.values() if of.gpus > 1 for file in of.files}
    part = results.of_runs(lambda run: _stays(run, files))
    part.named, part.every = name, results
    part.streams = [file for file in results.streams if file.kind == streams.SIMULATION or _stays(file.run, files)
                    or (file.kind in (streams.DISTRIBUTED, streams.RANKS_TRACE) and _stays(file.run, of_several))]  # fmt: skip
    others = {file for of in sessions for file in of.files} - files - of_several
    part.verifications = [of for of in results.verifications if of.file.resolve() not in others]
    for table in _TABLES:
        rows = getattr(results, table)
        several = of_ranks(rows) if table == "waits" else pd.Series(False, index=rows.index)
        within = [origin != RECORDED or Path(file).resolve() in (files | of_several if of else files)
                  for origin, file, of in zip(rows["origin"], rows["file"], several, strict=True)]  # fmt: skip
        setattr(part, table, rows[pd.Series(within, index=rows.index, dtype=bool)].reset_index(drop=True))
    return part


_TABLES = ("counters", "traffic", "waits", "repeats")
"""Tables of :class:`Results` whose files do not say which device they are of."""


def _recorded(results: Results) -> Iterable[Run]:
    """Without what is left of older sessions, which no report is made from."""
    runs = (*results.runs, *(file.run for file in results.streams if file.kind != streams.SIMULATION))
    return (run for run in runs if run.origin == RECORDED and run.file.name != history.FILE)


def _stays(run: Run, files: set[Path]) -> bool:
    return run.origin != RECORDED or run.file.resolve() in files
