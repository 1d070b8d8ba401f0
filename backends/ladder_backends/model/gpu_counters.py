"""Live counters of a GPU."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Counters:
    """One GPU at one moment; None where a counter is not told.

    Attributes:
        busy: Percent of the time in which a kernel ran.
        used: Bytes of memory in use.
        total: Bytes of memory.
        temperature: Degrees Celsius.
        power: Watts.
        pcie_out, pcie_in: GB/s from the GPU and to it.
        nvlink_out, nvlink_in: GB/s over all NVLinks, since the sample before.
        generation, lanes: PCIe link at this moment.
        best_generation: The highest generation that was seen since the rung was opened.
    """

    busy: int | None = None
    used: int | None = None
    total: int | None = None
    temperature: int | None = None
    power: float | None = None
    pcie_out: float | None = None
    pcie_in: float | None = None
    nvlink_out: float | None = None
    nvlink_in: float | None = None
    generation: int | None = None
    lanes: int | None = None
    best_generation: int | None = None
