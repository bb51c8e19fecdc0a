"""The clock of the multiprocessors, by NVML, as harness/cuda/nvml.cpp reads it."""

from __future__ import annotations

import ctypes
import os
import time

_SM_CLOCK = 1
_PAUSE_SECONDS = 0.02
"""Asking takes as long as a short sample, so it is done once in a while."""


class ClockReader:
    """Reads the clock of the first visible GPU; nothing without NVML or such a GPU."""

    def __init__(self) -> None:
        self._next, self._device = 0.0, ctypes.c_void_p()
        try:
            self._nvml = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError:
            self._nvml = None
        chosen = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
        if chosen.isdigit():
            handle = "nvmlDeviceGetHandleByIndex_v2", int(chosen)
        else:
            handle = "nvmlDeviceGetHandleByUUID", chosen.encode()
        self._ready = self._succeeds("nvmlInit_v2")
        self._ready = self._ready and self._succeeds(*handle, ctypes.byref(self._device))

    def sm_mhz(self) -> float | None:
        """In MHz, right after a sample; None if it is not known, or was asked for a moment ago."""
        now = time.monotonic()
        if not self._ready or now < self._next:
            return None
        self._next = now + _PAUSE_SECONDS
        mhz = ctypes.c_uint()
        self._succeeds("nvmlDeviceGetClockInfo", self._device, _SM_CLOCK, ctypes.byref(mhz))
        return float(mhz.value) or None

    def _succeeds(self, function: str, *arguments: object) -> bool:
        try:
            return getattr(self._nvml, function)(*arguments) == 0
        except AttributeError:  # no NVML, or an older driver
            return False
