"""Which processes use a GPU: as the driver tells through NVML, and as their open device files show."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import Any

from ladder_backends.model.process import GpuUse
from ladder_backends.processes.proc_files import ProcFiles

_DEVICE = re.compile(r"/dev/(?:nvidia(?P<nvidia>\d+)|dri/renderD(?P<render>\d+)|(?P<kfd>kfd)|nvidia(?:ctl|-uvm))$")
_FIRST_RENDER = 128
_CONTROL = ("dev/nvidiactl", "dev/kfd")


class GpuUses:
    """Looks GPU use up. It costs nothing where no GPU driver is loaded.

    Args:
        devices: Folder that holds `dev`.
    """

    def __init__(self, devices: Path = Path("/")) -> None:
        self.present = any(os.path.exists(devices / name) for name in _CONTROL)
        self._nvml: Any = None
        self._tried = False

    def told_by_driver(self) -> dict[int, GpuUse]:
        """By process id, what NVML tells; empty without it. In a container the ids may be those of the host."""
        nvml = self._open()
        found: dict[int, GpuUse] = {}
        if nvml is None:
            return found
        with contextlib.suppress(nvml.NVMLError):
            for index in range(nvml.nvmlDeviceGetCount()):
                with contextlib.suppress(nvml.NVMLError):
                    device = nvml.nvmlDeviceGetHandleByIndex(index)
                    for running in nvml.nvmlDeviceGetComputeRunningProcesses(device):
                        before = found.get(running.pid, GpuUse())
                        used = getattr(running, "usedGpuMemory", None)
                        known = [amount for amount in (before.memory, used) if amount is not None]
                        devices = tuple(sorted({*before.devices, index}))
                        found[running.pid] = GpuUse(devices, sum(known) if known else None)
        return found

    def of(self, pid: int, proc: ProcFiles, driver: dict[int, GpuUse]) -> GpuUse | None:
        """What one process does with GPUs; where its files may be read they have the last word."""
        if not self.present:
            return None
        opened, readable = set[int](), False
        uses = False
        for link in proc.open_files(pid):
            readable = True
            if match := _DEVICE.search(link):
                uses = True
                if match["nvidia"]:
                    opened.add(int(match["nvidia"]))
                elif match["render"]:
                    opened.add(int(match["render"]) - _FIRST_RENDER)
        told = driver.get(pid)
        if not readable:
            return told
        if not uses:
            return None
        return told if told is not None else GpuUse(tuple(sorted(opened)))

    def close(self) -> None:
        """Let the driver's library go."""
        if self._nvml is not None:
            with contextlib.suppress(self._nvml.NVMLError):
                self._nvml.nvmlShutdown()
            self._nvml, self._tried = None, False

    def _open(self) -> Any:
        if self._tried or not self.present:
            return self._nvml
        self._tried = True
        try:
            import pynvml

            pynvml.nvmlInit()
        except Exception:
            # No library, no driver, a driver of another version: the device files still tell.
            return None
        self._nvml = pynvml
        return pynvml
