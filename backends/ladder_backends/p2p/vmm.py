"""Memory that is shared by a file descriptor: the driver's virtual memory calls, which CuPy does not hand on.

NCCL from 2.19 on shares its buffers this way. Names, numbers and layouts are those of cuda.h (CUmemAllocationProp,
CUmemAccessDesc), which are part of the driver's ABI.
"""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from typing import Any

from ladder_backends.gpu_calls.gpus import DeviceFault

_PINNED, _POSIX_FD, _ON_DEVICE, _READ_WRITE = 1, 1, 1, 3
_VMM_SUPPORTED, _FD_SUPPORTED = 102, 103
_NOT_SUPPORTED = 801
_LIBRARY = "libcuda.so.1"


class _Location(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


class _Flags(ctypes.Structure):
    _fields_ = (
        ("compression", ctypes.c_ubyte),
        ("rdma", ctypes.c_ubyte),
        ("usage", ctypes.c_ushort),
        ("reserved", ctypes.c_ubyte * 4),
    )


class _Wanted(ctypes.Structure):
    """CUmemAllocationProp."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("handles", ctypes.c_int),
        ("location", _Location),
        ("windows", ctypes.c_void_p),
        ("flags", _Flags),
    )


class _Access(ctypes.Structure):
    """CUmemAccessDesc."""

    _fields_ = (("location", _Location), ("flags", ctypes.c_int))


@dataclass(frozen=True, slots=True)
class Mapping:
    """Where such memory lies in this process.

    Attributes:
        address: Its first byte.
        size: Bytes of the mapping, a multiple of the granularity.
    """

    address: int
    size: int


class VirtualMemory:
    """The calls; the context of the GPU in question is current already.

    Raises:
        DeviceFault: There is no driver, or it has no such calls.
    """

    def __init__(self) -> None:
        try:
            self._library: Any = ctypes.CDLL(_LIBRARY)
        except OSError as error:
            raise DeviceFault("the driver's library is not there", 0, str(error)) from None

    def create(self, gpu: int, size: int) -> tuple[Mapping, int]:
        """Allocate on a GPU, map it for that GPU, and export it: the mapping and the file descriptor."""
        for attribute in (_VMM_SUPPORTED, _FD_SUPPORTED):
            if not self._attribute(attribute, gpu):
                raise DeviceFault("memory cannot be shared by a file descriptor here", _NOT_SUPPORTED)
        wanted = _Wanted(_PINNED, _POSIX_FD, _Location(_ON_DEVICE, gpu), None, _Flags())
        unit = ctypes.c_size_t()
        self._call("cuMemGetAllocationGranularity", ctypes.byref(unit), ctypes.byref(wanted), ctypes.c_int(0))
        whole = -(-size // unit.value) * unit.value
        handle = ctypes.c_ulonglong()
        self._call(
            "cuMemCreate",
            ctypes.byref(handle),
            ctypes.c_size_t(whole),
            ctypes.byref(wanted),
            ctypes.c_ulonglong(0),
        )
        descriptor = ctypes.c_int(-1)
        try:
            self._call(
                "cuMemExportToShareableHandle",
                ctypes.byref(descriptor),
                handle,
                ctypes.c_int(_POSIX_FD),
                ctypes.c_ulonglong(0),
            )
            return self._mapped(handle, whole, gpu), descriptor.value
        except DeviceFault:
            if descriptor.value >= 0:
                os.close(descriptor.value)
            raise
        finally:
            # The mapping and the descriptor keep the memory.
            self._call("cuMemRelease", handle)

    def open(self, gpu: int, descriptor: int, size: int) -> Mapping:
        """Map memory of another process for a GPU of this one."""
        handle = ctypes.c_ulonglong()
        self._call(
            "cuMemImportFromShareableHandle",
            ctypes.byref(handle),
            ctypes.c_void_p(descriptor),
            ctypes.c_int(_POSIX_FD),
        )
        # As large as the owner's: its granularity is that of one model of GPU.
        unit = 2 << 20
        try:
            return self._mapped(handle, -(-size // unit) * unit, gpu)
        finally:
            self._call("cuMemRelease", handle)

    def close(self, mapping: Mapping) -> None:
        """Unmap it."""
        place, size = ctypes.c_ulonglong(mapping.address), ctypes.c_size_t(mapping.size)
        self._call("cuMemUnmap", place, size)
        self._call("cuMemAddressFree", place, size)

    def _mapped(self, handle: ctypes.c_ulonglong, size: int, gpu: int) -> Mapping:
        place, length = ctypes.c_ulonglong(), ctypes.c_size_t(size)
        nothing = ctypes.c_ulonglong(0)
        self._call("cuMemAddressReserve", ctypes.byref(place), length, ctypes.c_size_t(0), nothing, nothing)
        try:
            self._call("cuMemMap", place, length, ctypes.c_size_t(0), handle, nothing)
        except DeviceFault:
            self._call("cuMemAddressFree", place, length)
            raise
        access = _Access(_Location(_ON_DEVICE, gpu), _READ_WRITE)
        try:
            self._call("cuMemSetAccess", place, length, ctypes.byref(access), ctypes.c_size_t(1))
        except DeviceFault:
            self.close(Mapping(place.value, size))
            raise
        return Mapping(place.value, size)

    def _attribute(self, number: int, gpu: int) -> int:
        found = ctypes.c_int()
        self._call("cuDeviceGetAttribute", ctypes.byref(found), ctypes.c_int(number), ctypes.c_int(gpu))
        return found.value

    def _call(self, name: str, *arguments: Any) -> None:
        try:
            status = int(getattr(self._library, name)(*arguments))
        except AttributeError:
            raise DeviceFault("this driver shares no memory by file descriptors", _NOT_SUPPORTED, name) from None
        if status:
            text = ctypes.c_char_p()
            self._library.cuGetErrorString(ctypes.c_int(status), ctypes.byref(text))
            why = (text.value or b"").decode("utf-8", "replace")
            raise DeviceFault(f"{name} fails", status, why)
