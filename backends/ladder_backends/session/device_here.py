"""Whether a debugger of kernels could run here, told without starting anything."""

from __future__ import annotations

import glob
import os

from ladder_backends.paths import find_engine
from ladder_backends.rungs import Rung, device_rung

_DEVICES = ("/dev/nvidia[0-9]*", "/dev/nvhost-gpu", "/dev/nvgpu/*", "/dev/dxg")
"""Device files of a GPU: of the usual driver, of boards with one built in, of WSL."""

_DRIVER = "libcuda.so"
_MOST_MAPS = 16 << 20


def live_device_rung() -> Rung | None:
    """The rung that debugs CUDA kernels live; None where its engine or a GPU is missing."""
    rung = device_rung("CUDA")
    if rung is None or not rung.debugger or find_engine(rung.engine).path is None:
        return None
    return rung if any(glob.glob(pattern) for pattern in _DEVICES) else None


def uses_gpu(pid: int) -> bool:
    """Whether a process has loaded the driver's library; False where that cannot be seen."""
    try:
        with open(os.path.join("/proc", str(pid), "maps"), "rb") as maps:
            return _DRIVER.encode() in maps.read(_MOST_MAPS)
    except OSError:
        return False
