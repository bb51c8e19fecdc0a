"""The variants that the analysis names, and groups of others by their descriptions."""

from scanlab_report.data import Data, Group
from scanlab_report.tables import ELEMENT_BYTES

CEILING = "memcpy"
BULK_CEILING, VECTOR_CEILING, BARRIER_CEILING = "copy_bulk", "copy_vector", "copy_one_wave"
"""Copies by their access path. The blocks of the last meet in between, as those of one_wave do."""
FLOOR = "empty_launch"
VENDOR, NEWEST_VENDOR, TUNED = "cub_device_scan", "cub_newest", "cub_tuned"
"""CUB of the toolkit; the newest; the newest in shapes tuned on the device."""
TORCH, JAX = "torch_cumsum", "jax_cumsum"
BEST, HEADER = "best", "device_scan"
LARGEST = 1 << 28
"""Largest size at which scans are compared side by side; only the fastest are timed beyond it."""

CUBS = Group("CUB", lambda about: about.family == "CUB")
OVERVIEW_CUBS = Group("CUB", lambda about: CUBS.has(about) and about.overview)
THRUST = Group("Thrust", lambda about: about.family == "Thrust")
PYTHON = Group("a library of Python", lambda about: about.family == "Python")
HOST = Group("the CPU", lambda about: about.on_host)
SCANS = Group("a scan on the GPU", lambda about: about.kind == "scan" and not about.on_host)
RIVALS = Group("a rival", lambda about: SCANS.has(about) and about.origin == "baseline")
OWN = Group("a scan of ours", lambda about: about.origin == "variant")
SHAPES = Group("CUB in a given shape", lambda about: CUBS.has(about) and bool(about.parameters))
VENDOR_CODE = (CEILING, CUBS, THRUST)
"""Code that a commit of Scanlab does not change, only one of CUDA or CCCL."""
Wanted = str | Group

KEY = ["type", "op", "mode", "items", "cache", "launch"]
"""Scans that agree in these columns are compared."""
ANY_TYPE = ("i32", "f32", "i64", "f64", "i16", "f16", "i8")
"""Types of figures that can show any type, 32-bit integers first."""
TYPES = tuple(ELEMENT_BYTES)
STREAM = "stream"
WIN, TIE, LOSS, OPEN = "win", "tie", "loss", "open"


def cub_as_shipped(data: Data) -> list[str]:
    """CUB's scans in the shapes that NVIDIA chose."""
    return [id_ for id_ in data.variants.ids(CUBS) if id_ != TUNED]
