"""The device code that a host program carries: which kernels it holds, as far as that can be told without tools.

Fat binary layout, as observed in programs of CUDA 13: the section `.nv_fatbin` holds regions, each with a header
`magic 0xBA55ED50, u16 version, u16 header size, u64 size`, followed by entries `u16 kind (1 PTX, 2 cubin),
u16 version, u32 header size, u64 payload size`; a payload that starts with the ELF magic is an uncompressed cubin.
Every kernel of the CUDA runtime is registered by its mangled name, so that name also stands in the program's
read-only data, even where the program is stripped and its cubins are compressed.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path

from ladder_backends.images.elf import ELF_MAGIC, ElfImage, ElfInvalid, MemoryBytes
from ladder_backends.images.names import stub_kernel
from ladder_backends.late_dataclass import dataclass

_REGION = struct.Struct("<IHHQ")
_ENTRY = struct.Struct("<HHIQ")
_MAGIC = 0xBA55ED50
_CUBIN = 2
_MANGLED = re.compile(rb"\0(_Z[A-Za-z0-9_.$]{2,4000})(?=\0)")
_FATBIN_SECTIONS = (".nv_fatbin", "__nv_relfatbin")
_SYSTEM_LIBRARY = re.compile(
    r"(lib(c|m|dl|rt|pthread|util|stdc\+\+|c\+\+|c\+\+abi|gcc_s|gomp|omp|cudart|cuda|nvToolsExt)|ld-linux.*)\.so"
)


@dataclass(frozen=True, slots=True)
class DeviceCode:
    """The kernels of a host program.

    Attributes:
        present: The program carries a fat binary.
        kernels: Mangled names that were found; a C name is found only in an uncompressed cubin or by `holds`.
        libraries: Shared objects it needs that may carry kernels of their own.
    """

    present: bool
    kernels: frozenset[str]
    libraries: tuple[str, ...]
    _registered: bytes

    def holds(self, symbol: str) -> bool:
        """Whether the program registers or carries this kernel."""
        return symbol in self.kernels or b"\0" + symbol.encode() + b"\0" in self._registered


def carries_device_code(path: Path) -> bool:
    """Whether a program or library carries a CUDA fat binary; False for anything that cannot be read."""
    try:
        with ElfImage.open(path) as image:
            sections = image.sections
    except (OSError, ElfInvalid):
        return False
    return any(section.name in _FATBIN_SECTIONS and section.size for section in sections)


def read_device_code(path: Path) -> DeviceCode:
    """Read the device code of a host program or library.

    Raises:
        OSError: It cannot be read.
        ElfInvalid: It is not an ELF file.
    """
    with ElfImage.open(path) as image:
        return _device_code(image)


def _device_code(image: ElfImage) -> DeviceCode:
    kernels: set[str] = set()
    present = False
    for section in image.sections:
        if section.name in _FATBIN_SECTIONS and section.size:
            present = True
            kernels.update(_cubin_kernels(image.content(section)))
    constants = image.section(".rodata")
    registered = b"\0" + image.content(constants) + b"\0" if constants is not None and present else b""
    kernels.update(name.decode() for name in _MANGLED.findall(registered))
    kernels.update(filter(None, map(stub_kernel, image.symbol_names() if present else ())))
    libraries = tuple(name for name in image.needed() if not _SYSTEM_LIBRARY.match(name))
    return DeviceCode(present, frozenset(kernels), libraries, registered)


def _cubin_kernels(fatbin: bytes) -> Iterator[str]:
    for payload in _payloads(fatbin):
        if not payload.startswith(ELF_MAGIC):
            continue
        try:
            sections = ElfImage(MemoryBytes(payload)).sections
        except ElfInvalid:
            continue
        for section in sections:
            if section.name.startswith(".text."):
                yield section.name.removeprefix(".text.")


def _payloads(fatbin: bytes) -> Iterator[bytes]:
    position = 0
    while position + _REGION.size <= len(fatbin):
        magic, _, header_size, size = _REGION.unpack_from(fatbin, position)
        if magic != _MAGIC or header_size < _REGION.size:
            # Regions are aligned to 8 bytes, with padding between them.
            position += 8
            continue
        entry, end = position + header_size, min(position + header_size + size, len(fatbin))
        while entry + _ENTRY.size <= end:
            kind, _, entry_header, payload_size = _ENTRY.unpack_from(fatbin, entry)
            if entry_header < _ENTRY.size:
                break
            start = entry + entry_header
            if kind == _CUBIN:
                yield fatbin[start : min(start + payload_size, end)]
            entry = start + payload_size
        position = max(end, position + 8)
