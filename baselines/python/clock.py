"""The multiprocessors' clock beside timings, by NVML, as harness/cuda/nvml.cpp reads it."""

from __future__ import annotations

import ctypes
import os
import time

_SM_CLOCK = 1
_PAUSE_SECONDS = 0.02
"""Asking takes as long as a short sample, so it is done once in a while."""


class ClockReader:
    """Reads the clock of the GPU that the libraries use, the first visible; nothing without NVML or without such a GPU."""

    def __init__(self) -> None:
        self._next, self._device = 0.0, ctypes.c_void_p()
        self._nvml = _library()
        chosen = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
        has_device = self._nvml is not None and self._succeeds("nvmlInit_v2") and (
            self._succeeds("nvmlDeviceGetHandleByIndex_v2", int(chosen), ctypes.byref(self._device)) if chosen.isdigit()
            else self._succeeds("nvmlDeviceGetHandleByUUID", chosen.encode(), ctypes.byref(self._device)))  # fmt: skip
        if not has_device:
            self._nvml = None

    def sm_mhz(self) -> float | None:
        """In MHz, right after a sample; None if it is not known, or was asked for a moment ago."""
        now = time.monotonic()
        if self._nvml is None or now < self._next:
            return None
        self._next = now + _PAUSE_SECONDS
        mhz = ctypes.c_uint()
        return float(mhz.value) if self._succeeds("nvmlDeviceGetClockInfo", self._device, _SM_CLOCK, ctypes.byref(mhz)) and mhz.value else None

    def _succeeds(self, function: str, *arguments: object) -> bool:
        try:
            return getattr(self._nvml, function)(*arguments) == 0
        except AttributeError:  # an older driver
            return False


def _library() -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None
