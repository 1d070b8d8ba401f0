"""The hardware of a GPU, from the whole device down to the warps of one SM."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ladder_backends.model.grid import Device, Sm, Warp


class DeviceMap(abc.ABC):
    """Asks for one level at a time, always with a filter, so that no answer grows with the size of a grid."""

    @abc.abstractmethod
    async def devices(self) -> Sequence[Device]:
        """The devices that the engine holds, or that are in the dump."""

    @abc.abstractmethod
    async def sms(self, device: int) -> Sequence[Sm]:
        """The SMs of a device on which something is resident, by number."""

    @abc.abstractmethod
    async def warps_on(self, device: int, sm: int) -> Sequence[Warp]:
        """The resident warps of an SM, of any kernel and block, by slot; lanes are drawn from the masks."""
