"""The calls between processes on real GPUs: memory handles, file descriptors, shared memory."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
from collections.abc import Iterator

from ladder_backends.gpu_calls.gpus import UNSEEN, Buffer
from ladder_backends.p2p.cupy_calls import CupyCalls
from ladder_backends.p2p.vmm import Mapping, VirtualMemory

_H2D, _D2H = 1, 2
_LAZY_PEER = 1
_NICS = "/sys/class/infiniband"


class CupyBetween(CupyCalls):
    """What one process hands to another."""

    _virtual: VirtualMemory | None = None

    def __init__(self) -> None:
        super().__init__()
        self._mappings: dict[int, Mapping] = {}

    def share(self, buffer: Buffer) -> str:
        """Its IPC handle; the buffer begins where its allocation does."""
        self._use(buffer.gpu)
        with self._calls("memory cannot be shared between processes"):
            return bytes(self._runtime.ipcGetMemHandle(buffer.token)).hex()

    def open(self, gpu: int, handle: str, owner: int, size: int) -> Buffer:
        """Mapped for `gpu`; the owner's index is of this process, or `UNSEEN`."""
        self._use(gpu)
        with self._calls("memory of the other process cannot be mapped"):
            return Buffer(owner, size, int(self._runtime.ipcOpenMemHandle(bytes.fromhex(handle), _LAZY_PEER)))

    def close(self, buffer: Buffer) -> None:
        """Unmap it."""
        with self._calls("memory of the other process cannot be unmapped"):
            self._runtime.ipcCloseMemHandle(buffer.token)

    def allocate_exported(self, gpu: int, size: int) -> tuple[Buffer, int]:
        """By the driver's virtual memory calls, as NCCL does from 2.19 on."""
        self._start(gpu)
        mapping, descriptor = self._memory().create(gpu, size)
        self._mappings[mapping.address] = mapping
        return Buffer(gpu, size, mapping.address), descriptor

    def open_exported(self, gpu: int, descriptor: int, owner: int, size: int) -> Buffer:
        """Mapped for `gpu`."""
        self._start(gpu)
        mapping = self._memory().open(gpu, descriptor, size)
        self._mappings[mapping.address] = mapping
        return Buffer(owner, size, mapping.address)

    def free_exported(self, buffer: Buffer) -> None:
        """Unmapped."""
        if buffer.gpu != UNSEEN:
            self._use(buffer.gpu)
        assert isinstance(buffer.token, int)
        self._memory().close(self._mappings.pop(buffer.token))

    def nics(self) -> tuple[str, ...]:
        """Those that the kernel has a driver for RDMA for."""
        with contextlib.suppress(OSError):
            return tuple(sorted(os.listdir(_NICS)))
        return ()

    def to_shared(self, path: str, source: Buffer, size: int) -> None:
        """From the GPU into the region."""
        with self._region(source.gpu, path, size) as address, self._calls("shared memory cannot be written"):
            self._runtime.memcpy(address, source.token, size, _D2H)

    def from_shared(self, path: str, target: Buffer, size: int) -> None:
        """From the region to the GPU."""
        with self._region(target.gpu, path, size) as address, self._calls("shared memory cannot be read"):
            self._runtime.memcpy(target.token, address, size, _H2D)
        self._sync(target.gpu)

    @contextlib.contextmanager
    def _region(self, gpu: int, path: str, size: int) -> Iterator[int]:
        """A file in memory, pinned while it is used."""
        self._use(gpu)
        descriptor = os.open(path, os.O_RDWR)
        try:
            with mmap.mmap(descriptor, size) as mapped:
                view = (ctypes.c_char * size).from_buffer(mapped)
                address = ctypes.addressof(view)
                try:
                    with self._calls("shared memory cannot be pinned"):
                        self._runtime.hostRegister(address, size, 0)
                    try:
                        yield address
                    finally:
                        self._runtime.hostUnregister(address)
                finally:
                    del view
        finally:
            os.close(descriptor)

    def _memory(self) -> VirtualMemory:
        if self._virtual is None:
            self._virtual = VirtualMemory()
        return self._virtual

    def _start(self, gpu: int) -> None:
        """The driver's own calls want a context that is current: the runtime's first call on a GPU makes it so."""
        self._use(gpu)
        with self._calls("CUDA does not start"):
            self._runtime.free(0)
