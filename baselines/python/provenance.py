"""The provenance of a results file, in the words of ``scanlab bench``."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from baselines.python.protocol import REPETITIONS, Plan

ROOT = Path(__file__).parents[2]

_GPU = {"name": "device", "compute_cap": "compute_capability", "driver_version": "driver"}
_GPU |= {"clocks.max.sm": "sm_clock_mhz_max", "clocks.max.memory": "memory_clock_mhz_max"}
"""A field of nvidia-smi, and what results call it."""


def context(plan: Plan, program: str) -> dict[str, Any]:
    """All facts except the libraries' versions."""
    facts = {
        "schema": "scanlab-results/2",
        "kind": "cuda",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "executable": program,
        "argv": " ".join([f"python -m {program}", *sys.argv[1:]]),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cores": str(os.cpu_count()),
        "seed": str(plan.seed),
        "rounds": str(plan.repetitions or REPETITIONS),
        "variants": {},
    }
    return facts | _commit() | _device()


def _commit() -> dict[str, str]:
    if exported := os.environ.get("SCANLAB_COMMIT"):  # a clean tree without its history
        return {"git_commit": exported, "git_dirty": "false"}
    head = _output("git", "-C", str(ROOT), "rev-parse", "HEAD")
    changes = _output("git", "-C", str(ROOT), "status", "--porcelain", "--untracked-files=no")
    # A module that git does not know, or ignores, can be imported, too.
    changes += _output(
        "git", "-C", str(ROOT), "ls-files", "--others", "--", "baselines/python/*.py"
    )
    return {
        "git_commit": head or "unknown",
        "git_dirty": "false" if head and not changes else "true",
    }


def _device() -> dict[str, str]:
    """Facts of the GPU that the libraries use, the first visible."""
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
    fields = [*_GPU, "ecc.mode.current", "clocks.sm", "clocks.mem", "temperature.gpu"]
    query = f"--query-gpu={','.join(fields)}"
    line = _output("nvidia-smi", f"--id={chosen}", query, "--format=csv,noheader,nounits")
    values = dict(zip(fields, line.split(", "), strict=False))
    if len(values) < len(fields):
        return {}
    clocks = f"sm {values['clocks.sm']} MHz, memory {values['clocks.mem']} MHz"
    return {ours: values[theirs] for theirs, ours in _GPU.items()} | {
        "ecc": "on" if values["ecc.mode.current"] == "Enabled" else "off",
        "clocks_before": f"{clocks}, {values['temperature.gpu']} C",
    }


def _output(*command: str) -> str:
    """The output of a command, or nothing if it is missing or fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
