"""Variants that the analysis is about by name, and groups of others by what the files say of them."""

from __future__ import annotations

from collections.abc import Iterable

from scanlab_report.read.variants import Group, Variants

CEILING = "memcpy"
BULK_CEILING, VECTOR_CEILING, MEETING_CEILING = "copy_bulk", "copy_vector", "copy_one_wave"
"""Copies by their access path; the last one's blocks meet in between, as those of one_wave do."""
FLOOR = "empty_launch"
VENDOR = "cub_device_scan"
"""CUB of the toolkit."""
NEWEST_VENDOR = "cub_newest"
TUNED = "cub_tuned"
"""The newest CUB in shapes tuned on the device; the others of CUB are as shipped."""
TORCH, JAX = "torch_cumsum", "jax_cumsum"
"""The first is what many users call; the other is timed in a way of its own."""
BEST = "best"
"""The variant that picks among ours by n, type and device."""
HEADER = "device_scan"
"""The header scanlab/device_scan.cuh, which prepares its storage in each call."""
LARGEST = 1 << 28
"""Where scans are set side by side at their largest size: only the fastest ones are timed beyond."""

COPIES = Group("a copy", lambda about: about.kind == "copy")
CEILINGS = Group("a copy", lambda about: about.kind in ("copy", "barrier_copy"))
CUBS = Group("CUB", lambda about: about.family == "CUB")
OVERVIEW_CUBS = Group("CUB", lambda about: CUBS.has(about) and about.overview)
THRUST = Group("Thrust", lambda about: about.family == "Thrust")
PYTHON = Group("a library of Python", lambda about: about.family == "Python")
HOST = Group("the CPU", lambda about: about.on_host)
SCANS = Group("a scan on the GPU", lambda about: about.kind == "scan" and not about.on_host)
RIVALS = Group("a rival", lambda about: SCANS.has(about) and about.origin == "baseline")
"""Scans that users would pick instead of ours."""
OWN = Group("a scan of ours", lambda about: about.origin == "variant")
PADDED = Group("a scan that pads shared memory", lambda about: "padding" in about.defaults)
IN_BULK = Group("a scan by bulk copies", lambda about: "piece" in about.defaults)
"""A piece is what it loads at once, as :data:`BULK_CEILING` does."""
SHAPES = Group("CUB in a given shape", lambda about: CUBS.has(about) and bool(about.parameters))
"""CUB's algorithms in each shape that tuning tries: as shipped they have no parameters."""
VENDOR_CODE = (CEILING, CUBS, THRUST)
"""What a commit of Scanlab does not change, only one of CUDA or CCCL."""


def cub_as_shipped(variants: Variants) -> list[str]:
    """CUB's scans in the shapes that NVIDIA chose."""
    return [id_ for id_ in variants.ids(CUBS) if id_ != TUNED]


def of_python(timed: Iterable[str], variants: Variants) -> tuple[str, ...]:
    """Notes on how the libraries of Python were timed; none if none of them was. For tables of cold times."""
    present = set(timed)
    said = ("Python libraries were timed in a run of their own.",) if present & set(variants.ids(PYTHON)) else ()
    wall = "JAX is absent: it exposes no CUDA stream for events, so it was timed warm, by the wall clock."
    return (*said, wall) if JAX in present else said
