"""Ids of variants that the analysis knows by their part: ceilings, floors, rivals, baselines."""

from __future__ import annotations

from collections.abc import Iterable

CEILING = "memcpy"
BULK_CEILING, VECTOR_CEILING, MEETING_CEILING = "copy_bulk", "copy_vector", "copy_one_wave"
COPIES = (CEILING, VECTOR_CEILING, BULK_CEILING)
CEILINGS = (*COPIES, MEETING_CEILING)
"""Copies: the last one's blocks meet in between, as those of one_wave do."""
FLOOR = "empty_launch"
CPU_BASELINES = ("cpu_sequential", "cpu_parallel")
VENDOR = "cub_device_scan"
NEWEST_VENDOR = "cub_newest"
CUBS = (VENDOR, NEWEST_VENDOR, "cub_newest_look_ahead", "cub_newest_deterministic")
VENDOR_CODE = (CEILING, *CUBS, "thrust_scan")
"""What a commit of Scanlab does not change, only one of CUDA or CCCL."""
PYTHON_BASELINES = ("torch_cumsum", "cupy_cumsum", "jax_cumsum")
JAX = "jax_cumsum"
RIVALS = (*CUBS, "thrust_scan", *PYTHON_BASELINES)
"""Scans that users would pick instead of ours, on the GPU."""
BASELINES = (*RIVALS, *CEILINGS, FLOOR, *CPU_BASELINES)
BEST = "best"
"""The variant that picks among ours by n, type and device."""
LARGEST = 1 << 28
"""Where scans are set side by side at their largest size: only the fastest ones are timed beyond."""


def of_python(timed: Iterable[str]) -> str:
    """How the libraries of Python were timed, in sentences that follow others; empty if none of them was. For tables of cold times."""
    present = set(timed)
    said = " The libraries of Python were timed in a run of their own." if present & set(PYTHON_BASELINES) else ""
    wall = " JAX was timed by the wall clock and warm alone, since it gives no stream to put events into, and is not here."
    return said + (wall if JAX in present else "")
