"""Live counters of GPUs: what is worth watching while something runs."""

from __future__ import annotations

import time
from typing import Any

from ladder_backends.hardware.ports import Nvml, NvmlRefused
from ladder_backends.model.gpu_counters import Counters

NVLINK_TX, NVLINK_RX = 138, 139
ALL_LINKS = 0xFFFFFFFF
"""Scope of a field that is summed over all NVLinks."""

_TX, _RX = 0, 1
_KIB = 1024
_GPU_SENSOR = 0


class LiveReader:
    """Takes samples; NVML stays open from the first one until `close`.

    Args:
        nvml: Calls of the machine.
    """

    def __init__(self, nvml: Nvml) -> None:
        self._nvml = nvml
        self._open = False
        self._before: dict[int, tuple[float, float, float]] = {}
        self._best: dict[int, int] = {}

    def sample(self, gpus: int) -> tuple[dict[int, Counters], list[tuple[int, int]]]:
        """Counters of every GPU, and the Xids since the last sample; takes 40 ms a GPU, call it in a thread.

        Raises:
            NvmlRefused: NVML does not open.
        """
        if not self._open:
            self._nvml.open()
            self._open = True
        return {gpu: self._of(gpu) for gpu in range(gpus)}, self._nvml.xids()

    def close(self) -> None:
        """Let go of NVML."""
        if self._open:
            self._open = False
            self._nvml.close()

    def _of(self, gpu: int) -> Counters:
        rates = self._ask("nvmlDeviceGetUtilizationRates", gpu) or {}
        memory = self._ask("nvmlDeviceGetMemoryInfo", gpu) or {}
        power = self._ask("nvmlDeviceGetPowerUsage", gpu)
        generation = self._ask("nvmlDeviceGetCurrPcieLinkGeneration", gpu)
        if generation:
            self._best[gpu] = max(generation, self._best.get(gpu, 0))
        out, into = self._nvlinks(gpu)
        return Counters(
            rates.get("gpu"),
            memory.get("used"),
            memory.get("total"),
            self._ask("nvmlDeviceGetTemperature", gpu, _GPU_SENSOR),
            None if power is None else power / 1000,
            self._pcie(gpu, _TX),
            self._pcie(gpu, _RX),
            out,
            into,
            generation,
            self._ask("nvmlDeviceGetCurrPcieLinkWidth", gpu),
            self._best.get(gpu),
        )

    def _pcie(self, gpu: int, way: int) -> float | None:
        rate = self._ask("nvmlDeviceGetPcieThroughput", gpu, way)
        return None if rate is None else rate * _KIB / 1e9

    def _nvlinks(self, gpu: int) -> tuple[float | None, float | None]:
        """GB/s since the last sample, from totals in KiB; nothing at the first one."""
        asked = ((NVLINK_TX, ALL_LINKS), (NVLINK_RX, ALL_LINKS))
        try:
            found = self._nvml.fields(gpu, asked)
        except NvmlRefused:
            return None, None
        out, into = (found.get(number) for number in asked)
        if not isinstance(out, (int, float)) or not isinstance(into, (int, float)):
            return None, None
        now = time.monotonic()
        before = self._before.get(gpu)
        self._before[gpu] = now, float(out), float(into)
        if before is None or now <= before[0]:
            return None, None
        seconds = now - before[0]
        # A counter that was reset under way says nothing of this interval.
        rates = [max(0.0, (new - old) * _KIB / seconds / 1e9) for new, old in ((out, before[1]), (into, before[2]))]
        return rates[0], rates[1]

    def _ask(self, call: str, *arguments: int) -> Any:
        try:
            return self._nvml.ask(call, *arguments)
        except NvmlRefused:
            return None
