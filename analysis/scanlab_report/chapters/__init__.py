"""The figures and tables, one file per question. The import of a file registers what it has."""

import importlib

ORDER = (
    "standings ladder head_to_head odd_sizes hardware blocks axes segments selections ranks".split()
)
ORDER += "schedules timelines concurrency larger scenarios model sessions claims".split()
"""The questions, in the order of the gallery."""


def load_all() -> None:
    """Register every figure and table, also those of other programs' files."""
    for name in (*ORDER, "others"):
        importlib.import_module(f"{__name__}.{name}")
