"""What NVML adds to CUDA for a worker: who uses a GPU, how busy it is, and what it claims of its peers."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable
from typing import Any

from ladder_backends.gpu_calls.gpus import LinkState

_WORDS = {0: "OK", 1: "CNS", 2: "GNS", 3: "TNS", 4: "DR", 5: "NS", 6: "U"}
# Plain numbers: one of the binding's names is a tuple by mistake.
_INDICES = {"read": 0, "write": 1, "nvlink": 2, "atomics": 3, "pci": 4}
_REST = 5.0
_IN_USE = 512 << 20
"""Bytes that somebody else holds before a GPU counts as in use where no process is told of."""

_AT_WORK = 10


class GpuFacts:
    """NVML's view of the GPUs at some bus addresses; it answers nothing where it is missing.

    Args:
        buses: Bus addresses, in CUDA's order: NVML has an order of its own.
    """

    def __init__(self, buses: Iterable[str]) -> None:
        self._nvml: Any = None
        self._handles: list[Any] = []
        buses = tuple(buses)
        try:
            import pynvml

            pynvml.nvmlInit()
        except Exception:
            # No binding, no library, no driver: all the same to a test that does not depend on it.
            return
        self._nvml = pynvml
        for bus in buses:
            handle = None
            with contextlib.suppress(pynvml.NVMLError):
                handle = pynvml.nvmlDeviceGetHandleByPciBusId(bus)
            self._handles.append(handle)

    def versions(self) -> dict[str, str]:
        """That of the driver."""
        found = self._ask("nvmlSystemGetDriverVersion")
        return {"driver": _text(found)} if found else {}

    def uuid(self, gpu: int) -> str:
        """As CUDA_VISIBLE_DEVICES takes it."""
        return _text(self._of(gpu, "nvmlDeviceGetUUID") or "")

    def busy(self, gpu: int) -> str:
        """Who uses it; empty where it is idle, as far as can be seen from here."""
        running = self._of(gpu, "nvmlDeviceGetComputeRunningProcesses") or []
        import os

        others = [one for one in running if int(one.pid) != os.getpid()]
        if others:
            one = others[0]
            used = f", {one.usedGpuMemory / 1e9:.1f} GB" if one.usedGpuMemory else ""
            more = f" and {len(others) - 1} more" if len(others) > 1 else ""
            return f"process {one.pid}{used}{more}"
        use = self._of(gpu, "nvmlDeviceGetUtilizationRates")
        if use is not None and int(use.gpu) > _AT_WORK:
            return f"{int(use.gpu)} % busy, no process is seen: in another container, or wedged by an earlier job"
        memory = self._of(gpu, "nvmlDeviceGetMemoryInfo")
        if memory is not None and not running and int(memory.used) - _reserved(memory) > 4 * _IN_USE:
            return f"{int(memory.used) / 1e9:.1f} GB in use"
        return ""

    def utilisation(self, gpu: int) -> int | None:
        """Percent, once it has come to rest or five seconds have passed."""
        until = time.monotonic() + _REST
        while True:
            use = self._of(gpu, "nvmlDeviceGetUtilizationRates")
            if use is None:
                return None
            if int(use.gpu) <= _AT_WORK or time.monotonic() >= until:
                return int(use.gpu)
            time.sleep(0.25)

    def link(self, gpu: int) -> LinkState | None:
        """Its PCIe link at this moment, and the best that GPU and slot could have."""
        found = [
            self._of(gpu, call)
            for call in (
                "nvmlDeviceGetCurrPcieLinkGeneration",
                "nvmlDeviceGetCurrPcieLinkWidth",
                "nvmlDeviceGetMaxPcieLinkGeneration",
                "nvmlDeviceGetMaxPcieLinkWidth",
            )
        ]
        if any(one is None for one in found):
            return None
        return LinkState(*map(int, found))

    def p2p_status(self, gpu: int, peer: int) -> dict[str, str]:
        """The five indices, each with its word."""
        found = {}
        if self._nvml is None or None in (self._handle(gpu), self._handle(peer)):
            return {}
        for name, index in _INDICES.items():
            with contextlib.suppress(self._nvml.NVMLError):
                status = self._nvml.nvmlDeviceGetP2PStatus(self._handle(gpu), self._handle(peer), index)
                found[name] = _WORDS.get(int(status), str(status))
        return found

    def _handle(self, gpu: int) -> Any:
        return self._handles[gpu] if gpu < len(self._handles) else None

    def _of(self, gpu: int, call: str) -> Any:
        handle = self._handle(gpu)
        return self._ask(call, handle) if handle is not None else None

    def _ask(self, call: str, *arguments: object) -> Any:
        if self._nvml is None:
            return None
        try:
            return getattr(self._nvml, call)(*arguments)
        except (self._nvml.NVMLError, AttributeError):
            return None


def _reserved(memory: Any) -> int:
    return int(getattr(memory, "reserved", 0) or 0)


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
