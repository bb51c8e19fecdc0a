"""Which recorded session answers."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from scanlab_report.console import Refused
from scanlab_report.data import Data, Session
from scanlab_report.reading import HISTORY
from scanlab_report.tables import RECORDED


def choose_session(data: Data, name: str = "") -> Data:
    """Keep one recorded session per device and number of GPUs, that of the name or else the newest
    complete one, and all that was measured now; Refused if no session has the name."""
    sessions = [*data.sessions, *_unlisted(data)]
    if name and name not in (known := sorted({session.name for session in sessions})):
        there = ", ".join(known) or "none"
        raise Refused(f"no recorded session is called {name}; there are {there}")
    best: dict[tuple[str, int], Session] = {}
    for session in sorted(sessions, key=lambda own: (own.name == name, own.complete, own.date)):
        best[session.device, session.gpus] = session
    chosen = {path for session in best.values() for path in session.files}
    listed = {path for session in sessions for path in session.files}
    checks = set(data["checks"]["file"])  # which a session need not list
    several = chosen - {path for s in best.values() if s.gpus == 1 for path in s.files}
    of_ranks = set(data["distributed"]["file"])
    if "rank" in data["waits"]:
        of_ranks |= set(data["waits"].dropna(subset="rank")["file"])

    def stays(number: int) -> bool:
        file = data.files[number]
        path = file.path.resolve()
        answers = path in chosen and (path not in several or number in of_ranks)
        answers |= number in checks and path not in listed
        return file.origin != RECORDED or file.of_no_device or answers

    kept = frozenset(number for number in data.numbers() if stays(number))
    return replace(data, kept=kept, every=data, named=name)


def _unlisted(data: Data) -> Iterator[Session]:
    """Recorded files without a `session.json` beside them, by folder and device."""
    listed, loose = {session.folder for session in data.sessions}, defaultdict(list)
    for number in data.numbers(lambda file: file.origin == RECORDED and not file.of_no_device):
        file = data.files[number]
        folder = file.path.parent.resolve()
        if folder not in listed and file.path.name != HISTORY:
            loose[folder, file.device].append(file)
    for (folder, device), files in loose.items():
        date, paths = max(file.date for file in files), {file.path.resolve() for file in files}
        yield Session(folder, device, date, complete=False, files=frozenset(paths))
