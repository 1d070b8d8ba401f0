"""What a session knows of the hardware and of the lines of lanes, as far as anyone looked at them."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from ladder_backends.late_dataclass import dataclass

if TYPE_CHECKING:
    from ladder_backends.model.focus import Dim3
    from ladder_backends.model.frame import Place
    from ladder_backends.model.grid import Device, Sm, ThreadRun, Warp


@dataclass(slots=True)
class HardwareState:
    """Devices, the SMs of one, the warps of one of these.

    Attributes:
        devices: All devices, few.
        device: The one whose SMs are held, or None.
        sms: Its SMs on which something is resident.
        sm: The one whose warps are held, or None.
        warps: Its resident warps, by slot.
        note: Why there is nothing, or an empty string.
        asked: What is being asked for: `SMs of device 0`; empty where nothing is.
        at: `time.monotonic()` of the last answer, or of the question while one is asked.
    """

    devices: tuple[Device, ...] = ()
    device: int | None = None
    sms: tuple[Sm, ...] = ()
    sm: int | None = None
    warps: tuple[Warp, ...] = ()
    note: str = ""
    asked: str = ""
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class LinesOfLanes:
    """Where the lanes of one block stand in the source, as the engine told it.

    Attributes:
        kernel: Number of the block's kernel, or None.
        block: The block, or None where nothing was told.
        runs: Threads of the block that are held, by program counter.
        lanes: How many lanes stand in each place.
    """

    kernel: int | None = None
    block: Dim3 | None = None
    runs: tuple[ThreadRun, ...] = ()
    lanes: tuple[tuple[Place, int], ...] = field(default=())
