"""A GPU's work as an engine lists it: kernels, blocks, warps, lanes."""

from __future__ import annotations

import enum

from ladder_backends.late_dataclass import dataclass
from ladder_backends.model.focus import Dim3
from ladder_backends.model.frame import Place
from ladder_backends.model.provenance import Provenance

NO_KERNEL = "the dump holds no kernel"
"""Why there is no lane in a dump without grids."""

NO_KERNEL_REMEDY = (
    "the sanitizer's dump of an assertion holds none; without the sanitizer, CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1"
    " has the driver write one that does"
)
"""How to get one that holds it."""

LANES = 32
"""Lanes of a warp on every CUDA device."""


def linear(index: Dim3, extent: Dim3) -> int:
    """The place of a thread in its block, or of a block in its grid, x fastest."""
    return index[0] + extent[0] * (index[1] + extent[1] * index[2])


def delinear(number: int, extent: Dim3) -> Dim3:
    """The coordinate at a place; the reverse of `linear`. An extent that is not known has no coordinates but x."""
    width, height = max(1, extent[0]), max(1, extent[1])
    return number % width, number // width % height, number // width // height


def volume(extent: Dim3) -> int:
    """Places in an extent."""
    return extent[0] * extent[1] * extent[2]


@dataclass(frozen=True, slots=True)
class Kernel:
    """A launched kernel.

    Attributes:
        number: The engine's kernel number, what focus takes.
        grid: Launch number of the grid on its device.
        name: Function name without arguments, clean.
        grid_dim: Blocks in each direction.
        block_dim: Threads of a block in each direction.
        status: The engine's word: Active, Pending, Terminated...
        arguments: Names and values the kernel was launched with, as far as the engine told.
        cluster_dim: Blocks of a cluster in each direction, or None where it was not told or there are none.
    """

    number: int
    grid: int
    device: int
    name: str
    grid_dim: Dim3
    block_dim: Dim3
    status: str
    provenance: Provenance = Provenance.ENGINE
    arguments: tuple[tuple[str, str], ...] = ()
    cluster_dim: Dim3 | None = None


@dataclass(frozen=True, slots=True)
class BlockRange:
    """A run of blocks in one state; the engine coalesces neighbours.

    Attributes:
        first: First block of the run, in x-fastest order.
        last: Last block of the run.
        count: Number of blocks in the run.
    """

    kernel: int
    first: Dim3
    last: Dim3
    count: int
    state: str


@dataclass(frozen=True, slots=True)
class ThreadRun:
    """A run of threads that an engine holds, in x-fastest order; the engine coalesces neighbours.

    Attributes:
        block: Block of the first thread.
        first: First thread of the run.
        last_block: Block of the last thread.
        last: Last thread of the run.
        count: Number of threads in the run.
        pc: Program counter that they share, as a hex string, or an empty string.
        place: The source line there, where the engine told one.
    """

    block: Dim3
    first: Dim3
    last_block: Dim3
    last: Dim3
    count: int
    pc: str = ""
    place: Place | None = None


class LaneState(enum.StrEnum):
    """What a lane of a resident warp does."""

    ACTIVE = "active"
    DIVERGENT = "divergent"
    EXITED = "exited"
    FAULTING = "faulting"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Lane:
    """One lane of a warp.

    Attributes:
        number: 0 to 31.
        thread: Its thread index in the block, or None where the dump or the device does not hold it.
        pc: Program counter as a hex string, or an empty string.
        exception: The engine's exception name, or an empty string.
        place: The source line where it stands, where the engine told it of this lane.
    """

    number: int
    state: LaneState
    thread: Dim3 | None = None
    pc: str = ""
    exception: str = ""
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Warp:
    """One warp, its lanes drawn from the masks or asked lane by lane.

    Attributes:
        number: Warp slot on its SM, what physical focus takes.
        index: Warp of the block: linear thread index divided by 32.
        lanes: 32 lanes, in order.
        pc: Program counter of the active lanes.
        kernel: Number of its kernel, or None where it was not told.
    """

    number: int
    index: int
    sm: int
    device: int
    block: Dim3
    lanes: tuple[Lane, ...]
    pc: str = ""
    kernel: int | None = None


@dataclass(frozen=True, slots=True)
class Device:
    """One GPU as an engine lists it.

    Attributes:
        number: The engine's device number, what physical focus takes; other tools may number otherwise.
        bus: PCI bus and device, `00:06.0`, which tells it in every tool; or an empty string.
        name: Product name, clean.
        architecture: `sm_90`, or an empty string.
        sm_count: SMs it has.
        warps_per_sm: Warp slots of an SM.
        active_sms: Mask of the SMs on which something is resident.
    """

    number: int
    bus: str = ""
    name: str = ""
    architecture: str = ""
    sm_count: int = 0
    warps_per_sm: int = 0
    active_sms: int = 0


@dataclass(frozen=True, slots=True)
class Sm:
    """One SM on which something is resident.

    Attributes:
        number: What physical focus takes.
        active_warps: Mask of its warp slots that are taken.
    """

    number: int
    device: int
    active_warps: int

    @property
    def warps(self) -> int:
        """Warp slots that are taken."""
        return self.active_warps.bit_count()


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction of a disassembly (SASS or host).

    Attributes:
        address: Hex string.
        offset: Bytes from the start of the function.
        raw: Its bytes as hex pairs, or an empty string where they were not asked for.
        place: The source line it was made from, where it was asked for and there is one.
        size: Its bytes, where their number is known without them; else 0.
    """

    address: str
    text: str
    function: str = ""
    offset: int = 0
    raw: str = ""
    place: Place | None = None
    size: int = 0
