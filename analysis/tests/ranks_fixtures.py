"""A session of scans over two GPUs: a recorded one, as if it were of the invented device."""

from tests.stream_fixtures import RECORDED, Document, recorded

PAIR = RECORDED / "nvidia-h200-x2" / "2026-11-25"


def documents() -> dict[str, Document]:
    """The results files of the session by name, but for what `best` takes on one GPU."""
    kinds = ("scaling", "strong_[12]", "types", "chunk", "fold")
    files = [file for kind in kinds for file in PAIR.glob(f"ranks_{kind}*.json.gz")]
    return {file.name.partition(".")[0]: recorded(file) for file in files}


def best() -> Document:
    return recorded(PAIR / "ranks_strong_best.json.gz")


def waits() -> str:
    return (PAIR / "ranks_prefix_wait.csv").read_text()
