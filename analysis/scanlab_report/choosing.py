"""Which recorded session answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from scanlab_report.data import Data, File, Session
from scanlab_report.tables import RECORDED


class NoSession(ValueError):
    """A name that no recorded session has."""


def choose_session(data: Data, name: str = "") -> Data:
    """Keep one recorded session per device and number of GPUs, and all that was measured now. The
    session is that of the given name, else the newest complete session. NoSession if none has
    the name."""
    sessions = [*data.sessions, *_unlisted(data)]
    if name and name not in {session.name for session in sessions}:
        known = ", ".join(sorted({session.name for session in sessions})) or "none"
        raise NoSession(f"no recorded session is called {name}; there are {known}")
    best: dict[tuple[str, int], Session] = {}
    for session in sessions:
        key = (session.device, session.gpus)
        best[key] = max(
            best.get(key, session), session, key=lambda s: (s.name == name, s.complete, s.date)
        )
    single = {path for session in best.values() if session.gpus == 1 for path in session.files}
    several = {path for session in best.values() if session.gpus > 1 for path in session.files}
    of_ranks = {n for table in ("distributed", "rank_spans") for n in data[table]["file"]}
    if "rank" in data["waits"]:
        waits = data["waits"]
        of_ranks |= set(waits.loc[waits["rank"].notna(), "file"])

    def stays(number: int) -> bool:
        file = data.files[number]
        path = file.path.resolve()
        return (
            file.origin != RECORDED
            or file.of_no_device
            or path in single
            or (number in of_ranks and path in several)
        )

    kept = frozenset(n for n in data.numbers() if stays(n))
    others = {path for session in sessions for path in session.files} - single - several
    checked = [v for v in data.verifications if v.file.resolve() not in others]
    return replace(data, kept=kept, every=data, named=name, verifications=checked)


def _unlisted(data: Data) -> list[Session]:
    """Recorded files without a `session.json` beside them, by folder and device."""
    folders = {session.folder for session in data.sessions}
    loose: dict[tuple[Path, str], list[File]] = {}
    for number in data.numbers(lambda f: f.origin == RECORDED and not f.of_no_device):
        file = data.files[number]
        folder = file.path.parent.resolve()
        if folder not in folders and not file.path.name.startswith("history."):
            loose.setdefault((folder, file.device), []).append(file)
    return [
        Session(
            folder,
            device,
            date=max(file.date for file in files),
            complete=False,
            files=frozenset(file.path.resolve() for file in files),
            listed=False,
        )
        for (folder, device), files in loose.items()
    ]
