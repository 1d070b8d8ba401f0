"""The narrow set of calls that the tests make on GPUs; all above it is the same for real and simulated ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ladder_backends.errors import LadderError
from ladder_backends.gpu_calls.tally import Expected, Tally
from ladder_backends.gpu_calls.words import Stuff

UNSEEN = -1
"""Index of an owner that this process does not see."""


class DeviceFault(LadderError):
    """A call on a GPU failed.

    Attributes:
        code: The CUDA runtime's error number, or 0.
    """

    def __init__(self, what: str, code: int = 0, why: str = "", remedy: str = "") -> None:
        super().__init__(what, why, remedy)
        self.code = code


@dataclass(eq=False, slots=True)
class Buffer:
    """Memory on a GPU; on the owner's device, or opened from another process.

    Attributes:
        gpu: Index of its owner.
        size: Bytes.
        token: The layer's own handle: a pointer, or a name.
    """

    gpu: int
    size: int
    token: object


class Seen(NamedTuple):
    """One GPU as the layer sees it.

    Attributes:
        memory: Bytes.
        busy: Who uses it, as text; empty for an idle one.
    """

    name: str
    uuid: str
    bus: str
    memory: int
    busy: str = ""


class Handshake(NamedTuple):
    """How two kernels that wait for each other fared.

    Attributes:
        rounds: Rounds that were asked for.
        done: Rounds that both finished.
        wrong: Payload words that were not the partner's.
    """

    rounds: int
    done: int
    wrong: int


class LinkState(NamedTuple):
    """A GPU's PCIe link while it carries data: generation and lanes, and the best it could have here."""

    generation: int
    lanes: int
    most_generation: int
    most_lanes: int

    @property
    def narrow(self) -> bool:
        """Below its best; an idle link is, by design, and says nothing."""
        return 0 < self.generation < self.most_generation or 0 < self.lanes < self.most_lanes


class HostLink(NamedTuple):
    """Pinned host memory there and back.

    Attributes:
        tally: What came back.
        down: GB/s to the GPU.
        up: GB/s from it.
        link: The PCIe link meanwhile; None where nothing tells.
    """

    tally: Tally
    down: float
    up: float
    link: LinkState | None = None


class Gpus(Protocol):
    """GPUs of this process, numbered from 0. Every call is synchronous: done when it returns.

    All of them raise `DeviceFault`.
    """

    versions: dict[str, str]

    def prepare(self) -> None:
        """Do what takes long once, before anything is timed."""

    def count(self) -> int:
        """GPUs that this process sees."""

    def seen(self, gpu: int) -> Seen:
        """Who a GPU is."""

    def utilisation(self, gpu: int) -> int | None:
        """Percent busy, or None where nothing tells."""

    def can_access(self, gpu: int, peer: int) -> bool:
        """What CUDA says of a peer."""

    def nvml_status(self, gpu: int, peer: int) -> dict[str, str]:
        """What NVML says of a peer: `OK`, `CNS`, ... by `read`, `write`, `nvlink`, `atomics`, `pci`."""

    def enable_peer(self, gpu: int, peer: int) -> None:
        """Let `gpu` reach memory of `peer`; enabling twice is no error."""

    def allocate(self, gpu: int, size: int) -> Buffer:
        """Plain device memory."""

    def free(self, buffer: Buffer) -> None:
        """Give it back."""

    def fill(self, by: int, buffer: Buffer, stuff: Stuff, start: int = 0, stop: int | None = None) -> None:
        """Write words from a kernel that runs on `by`; bounds are multiples of eight bytes."""

    def check(self, by: int, buffer: Buffer, expected: Expected, *, by_copy: bool = False) -> Tally:
        """Compare in a kernel that runs on `by`, or on the host after a copy of the owner's."""

    def copy(
        self, by: int, target: Buffer, target_at: int, source: Buffer, source_at: int, size: int, *, times: int = 1
    ) -> list[float]:
        """Copy by the copy engine on a stream of `by`; seconds of each copy, by events of that stream."""

    def load(self, by: int, target: Buffer, source: Buffer, size: int, lane_bytes: int) -> None:
        """A kernel on `by` reads `source` in pieces of 4, 8 or 16 bytes into its own `target`."""

    def many(self, copies: Sequence[tuple[int, Buffer, Buffer, int]], times: int) -> float:
        """Start all of `(by, target, source, size)` before any is waited for; seconds until the last is done."""

    def through_host(self, target: Buffer, source: Buffer, size: int) -> float:
        """Copy with peer access off; seconds."""

    def host_link(self, gpu: int, size: int) -> HostLink:
        """Pinned memory to the GPU and back."""

    def memory_left(self, gpu: int) -> int:
        """Bytes that can be allocated."""

    def handshake(self, one: int, other: int, rounds: int) -> Handshake:
        """Two kernels at the same time signal each other through peer memory, bounded by their own clocks."""

    def atomics(self, one: int, other: int, adds: int) -> tuple[int, int]:
        """Both add to one counter on `other`: what it should be, what it is."""

    def share(self, buffer: Buffer) -> str:
        """A handle that another process opens."""

    def open(self, gpu: int, handle: str, owner: int, size: int) -> Buffer:
        """Memory of another process, mapped for `gpu`; the owner is `UNSEEN` where this process does not see it."""

    def close(self, buffer: Buffer) -> None:
        """Unmap it."""

    def allocate_exported(self, gpu: int, size: int) -> tuple[Buffer, int]:
        """Memory of the virtual memory calls, and a file descriptor that another process maps it by.

        The descriptor is the caller's to close.
        """

    def open_exported(self, gpu: int, descriptor: int, owner: int, size: int) -> Buffer:
        """Map such memory of another process for `gpu`."""

    def free_exported(self, buffer: Buffer) -> None:
        """Unmap it, on either side; it is gone with its last mapping."""

    def nics(self) -> tuple[str, ...]:
        """Network devices that NCCL takes for RDMA."""

    def to_shared(self, path: str, source: Buffer, size: int) -> None:
        """Copy into a region of shared memory that is pinned for the copy."""

    def from_shared(self, path: str, target: Buffer, size: int) -> None:
        """Copy out of such a region."""

    def all_reduce(self, gpus: Sequence[int], words: int) -> int:
        """NCCL's sum of 32-bit integers over the GPUs; wrong words on all of them together."""
