"""The provenance of a results file, in the words of ``scanlab bench``."""

from __future__ import annotations

import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from baselines.python import device
from baselines.python.device import output
from baselines.python.protocol import REPETITIONS, Plan

ROOT = Path(__file__).parents[2]


def context(plan: Plan, program: str, command: str = "") -> dict[str, Any]:
    """All facts except the libraries' versions. command: unless the program is a module."""
    facts = {
        "schema": "scanlab-results/2",
        "kind": "cuda",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "executable": program,
        "argv": " ".join([command or f"python -m {program}", *sys.argv[1:]]),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cores": str(os.cpu_count()),
        "seed": str(plan.seed),
        "rounds": str(plan.repetitions or REPETITIONS),
        "variants": {},
    }
    return facts | _commit() | device.facts()


def _commit() -> dict[str, str]:
    if exported := os.environ.get("SCANLAB_COMMIT"):  # a clean tree without its history
        return {"git_commit": exported, "git_dirty": "false"}
    git = ("git", "-C", str(ROOT))
    head = output(*git, "rev-parse", "HEAD")
    changes = output(*git, "status", "--porcelain", "--untracked-files=no")
    # A module that git does not know, or ignores, can be imported, too.
    changes += output(*git, "ls-files", "--others", "--", "baselines/python/*.py")
    dirty = "false" if head and not changes else "true"
    return {"git_commit": head or "unknown", "git_dirty": dirty}
