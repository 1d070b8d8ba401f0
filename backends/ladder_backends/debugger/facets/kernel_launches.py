"""How kernels were launched."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ladder_backends.model.kernel_launch import KernelLaunch


class KernelLaunches(abc.ABC):
    """Asks about the launch of the kernel that the focused lane is of."""

    @abc.abstractmethod
    async def describe(self) -> KernelLaunch | None:
        """All that is told of it; None where the focus is in no kernel."""

    @abc.abstractmethod
    async def error_counter(self) -> str:
        """Address of the instruction that raised the focused lane's exception, or an empty string."""
