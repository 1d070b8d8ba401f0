"""The devices that cuda-gdb holds, their SMs, and the warps of one SM."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from ladder_backends.cuda_gdb.tables import dim3_of, lanes_in_masks, mask_of, table_rows
from ladder_backends.debugger.facets.device import DeviceMap
from ladder_backends.gdb.questions import Engine
from ladder_backends.gdb.translation import number_of, text_of
from ladder_backends.mi.records import Value
from ladder_backends.model.grid import LANES, Device, Kernel, Sm, Warp, linear

MOST_WARPS = 256
"""Warp slots of an SM that are read; devices have 64."""


class CudaDeviceMap(DeviceMap):
    """Asks an engine for its hardware, one level at a time.

    Args:
        engine: Who is asked.
        kernels: Gives the kernels; they tell the extent of a block.
    """

    def __init__(self, engine: Engine, kernels: Callable[[], Awaitable[Sequence[Kernel]]]) -> None:
        self._engine, self._kernels = engine, kernels

    async def devices(self) -> Sequence[Device]:
        """Every device, used or not."""
        return devices_of((await self._engine.command("-cuda-info-devices")).results)

    async def sms(self, device: int) -> Sequence[Sm]:
        """The SMs of a device on which something is resident, by number."""
        return sms_of((await self._engine.command(f"-cuda-info-sms device {device}")).results, device)

    async def warps_on(self, device: int, sm: int) -> Sequence[Warp]:
        """The resident warps of an SM, by slot."""
        kernels = await self._kernels()
        answer = await self._engine.command(f"-cuda-info-warps device {device} sm {sm}")
        return sm_warps_of(answer.results, device, sm, kernels)


def devices_of(results: Mapping[str, Value]) -> tuple[Device, ...]:
    """The answer to `-cuda-info-devices`."""
    devices = []
    for row in table_rows(results):
        number = number_of(row.get("device"))
        if number is not None:
            devices.append(
                Device(
                    number=number,
                    bus=text_of(row.get("pci_bus")),
                    name=text_of(row.get("name")) or text_of(row.get("description")),
                    architecture=text_of(row.get("sm_type")),
                    sm_count=number_of(row.get("num_sms")) or 0,
                    warps_per_sm=number_of(row.get("num_warps")) or 0,
                    active_sms=mask_of(row.get("active_sms_mask")),
                )
            )
    return tuple(devices)


def sms_of(results: Mapping[str, Value], device: int) -> tuple[Sm, ...]:
    """The answer to `-cuda-info-sms device D`; the rows do not repeat the device."""
    found = []
    for row in table_rows(results):
        number = number_of(row.get("sm"))
        if number is not None:
            found.append(Sm(number, device, mask_of(row.get("active_warps_mask"))))
    return tuple(sorted(found, key=lambda sm: sm.number))


def sm_warps_of(results: Mapping[str, Value], device: int, sm: int, kernels: Sequence[Kernel]) -> tuple[Warp, ...]:
    """The answer to `-cuda-info-warps device D sm S`: warps of whatever kernels and blocks are there."""
    extents = {kernel.number: kernel.block_dim for kernel in kernels}
    warps: list[Warp] = []
    for row in table_rows(results):
        number, block, first = (
            number_of(row.get("warp")),
            dim3_of(row.get("blockIdx")),
            dim3_of(row.get("threadIdx")),
        )
        if number is None or block is None or first is None or len(warps) == MOST_WARPS:
            # A slot that is free has no block.
            continue
        kernel = number_of(row.get("kernel"))
        extent = extents.get(kernel) if kernel is not None else None
        extent = extent if extent is not None and all(extent) else None
        index = linear(first, extent) // LANES if extent is not None else 0
        lanes, pc = lanes_in_masks(row, index, extent)
        warps.append(Warp(number, index, sm, device, block, lanes, pc, kernel))
    return tuple(sorted(warps, key=lambda warp: warp.number))
