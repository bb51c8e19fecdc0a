"""The GPU that the libraries use, the first visible: its facts, and the clock of its
multiprocessors, by NVML, as harness/cuda/nvml.cpp reads it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import time

_FACTS = {"name": "device", "compute_cap": "compute_capability", "driver_version": "driver"}
_FACTS |= {"clocks.max.sm": "sm_clock_mhz_max", "clocks.max.memory": "memory_clock_mhz_max"}
"""A field of nvidia-smi, and what results call it."""
_SM_CLOCK = 1
_PAUSE_SECONDS = 0.02
"""Asking takes as long as a short sample, so it is done once in a while."""


def chosen() -> str:
    """The number or the UUID of the first visible GPU."""
    return os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]


def facts() -> dict[str, str]:
    fields = [*_FACTS, "ecc.mode.current", "clocks.sm", "clocks.mem", "temperature.gpu"]
    query = f"--query-gpu={','.join(fields)}"
    line = output("nvidia-smi", f"--id={chosen()}", query, "--format=csv,noheader,nounits")
    values = dict(zip(fields, line.split(", "), strict=False))
    if len(values) < len(fields):
        return {}
    clocks = f"sm {values['clocks.sm']} MHz, memory {values['clocks.mem']} MHz"
    return {ours: values[theirs] for theirs, ours in _FACTS.items()} | {
        "ecc": "on" if values["ecc.mode.current"] == "Enabled" else "off",
        "clocks_before": f"{clocks}, {values['temperature.gpu']} C",
    }


def output(*command: str) -> str:
    """The output of a command, or nothing if it is missing or fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


class Clock:
    """Reads the clock; nothing without NVML, or for a GPU that is named by its UUID."""

    def __init__(self) -> None:
        self._next, self._device, self._nvml = 0.0, ctypes.c_void_p(), None
        with contextlib.suppress(OSError, ValueError):  # ValueError: a UUID
            nvml, number = ctypes.CDLL("libnvidia-ml.so.1"), int(chosen())
            status = nvml.nvmlInit_v2()
            status = status or nvml.nvmlDeviceGetHandleByIndex_v2(
                number, ctypes.byref(self._device)
            )
            self._nvml = None if status else nvml

    def sm_mhz(self) -> float | None:
        """In MHz, right after a sample; None if it is not known, or was asked for a moment ago."""
        now = time.monotonic()
        if self._nvml is None or now < self._next:
            return None
        self._next = now + _PAUSE_SECONDS
        mhz = ctypes.c_uint()
        self._nvml.nvmlDeviceGetClockInfo(self._device, _SM_CLOCK, ctypes.byref(mhz))
        return float(mhz.value) or None
