"""GPU core dumps: whether one is whole, and which kernels it stopped in.

A dump is an ELF core of machine 190 (CUDA) whose section table is the last thing in the file. Names and tables are
those of `cudacoredump.h` in NVIDIA's cuda-gdb sources: `.cudbg.devtbl`, `.cudbg.gridtbl.devN` with one row a grid,
and for each module `.cudbg.elfimg.devN.ctxM` and its relocated twin `.cudbg.relfimg.devN.ctxM`, whose code sections
carry the addresses they had on the device.
"""

from __future__ import annotations

import enum
import os
import stat
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ladder_backends.errors import TargetInvalid
from ladder_backends.images.elf import EM_CUDA, ET_CORE, HEADER_SIZE, ElfImage, ElfInvalid, read_header
from ladder_backends.images.names import kernel_name
from ladder_backends.model.focus import Dim3
from ladder_backends.text import clean_line

# gridId64, contextId, function, functionEntry, moduleHandle, parentGridId64, paramsOffset; kernelType, origin,
# gridStatus, numRegs, gridDim x y z, blockDim x y z.
_GRID = struct.Struct("<7Q10I")
_MOST_GRIDS = 4096


class DebugInformation(enum.StrEnum):
    """What a kernel was compiled with."""

    FULL = "full"
    LINES = "lines"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class DumpKernel:
    """A grid the dump holds.

    Attributes:
        symbol: Name of its code section, mangled, clean; empty where no image holds its entry.
        name: The function's name without arguments, as far as it can be read from the symbol.
        grid: Launch number on its device.
        debug: FULL with -G, LINES with -lineinfo, NONE without either or where no image holds the kernel.
        registers: Registers of each thread, 0 where that is not told.
    """

    symbol: str
    name: str
    grid: int
    grid_dim: Dim3
    block_dim: Dim3
    debug: DebugInformation = DebugInformation.NONE
    registers: int = 0


@dataclass(frozen=True, slots=True)
class GpuDump:
    """What a GPU core dump says without an engine.

    Attributes:
        path: The uncompressed file.
        size: Bytes.
        kernels: The grids that were on a device.
        symbols: Every function of the modules that hold those grids, mangled.
    """

    path: Path
    size: int
    kernels: tuple[DumpKernel, ...]
    symbols: frozenset[str]


def read_gpu_dump(path: Path) -> GpuDump:
    """Check that a file is a whole GPU core dump and read its kernels; a dump of 10 MB takes a few milliseconds.

    Raises:
        TargetInvalid: It is missing, unreadable, something else, or cut; `why` says which.
    """
    shown = clean_line(path.name)
    size = _size_of(path, shown)
    try:
        _check_head(path, size, shown)
        with ElfImage.open(path) as image:
            image.check_extents()
            if image.section(".cudbg.devtbl") is None:
                raise TargetInvalid(f"{shown} cannot be opened", "it names no device", "make the dump again")
            kernels, symbols = _kernels(image)
    except OSError as error:
        raise _unreadable(shown, error) from error
    except (ElfInvalid, struct.error) as error:
        raise _cut(shown, str(error)) from error
    return GpuDump(path, size, kernels, symbols)


def _size_of(path: Path, shown: str) -> int:
    try:
        status = path.stat()
    except FileNotFoundError as error:
        raise TargetInvalid(f"there is no dump {clean_line(str(path))}", "", "check the path") from error
    except (OSError, ValueError) as error:
        raise _unreadable(shown, error) from error
    if stat.S_ISDIR(status.st_mode):
        raise TargetInvalid(f"{shown} is a folder", "", "name the dump file in it")
    if not stat.S_ISREG(status.st_mode):
        raise TargetInvalid(f"{shown} is no regular file", "", "name a dump file")
    if status.st_size == 0:
        raise TargetInvalid(
            f"{shown} is empty",
            "the dump was never written",
            "make it again; a full disk and a killed program leave such files",
        )
    return status.st_size


def _check_head(path: Path, size: int, shown: str) -> None:
    with path.open("rb") as file:
        head = file.read(HEADER_SIZE)
    try:
        header = read_header(head)
    except ElfInvalid as error:
        if head.startswith(b"\x7fELF"):
            raise
        raise TargetInvalid(
            f"{shown} is no GPU core dump",
            str(error),
            "name the .nvcudmp file that the driver or the sanitizer wrote",
        ) from error
    if header.machine != EM_CUDA:
        what = "a core file of the host program" if header.kind == ET_CORE else "a host program or library"
        remedy = "open it as a host core" if header.kind == ET_CORE else "name the .nvcudmp file"
        raise TargetInvalid(f"{shown} is no GPU core dump", f"it is {what}", remedy)
    if header.kind != ET_CORE:
        raise TargetInvalid(
            f"{shown} is no GPU core dump", "it is a compiled kernel (cubin)", "name the .nvcudmp file"
        )
    if header.section_offset < HEADER_SIZE or header.section_count == 0:
        raise ElfInvalid("its section table was never written")
    if header.size_with_sections > size:
        raise ElfInvalid(f"it has {size} of {header.size_with_sections} bytes")


def _unreadable(shown: str, error: Exception) -> TargetInvalid:
    why = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
    return TargetInvalid(f"{shown} cannot be read", clean_line(why), "check its permissions")


def _cut(shown: str, why: str) -> TargetInvalid:
    return TargetInvalid(
        f"{shown} is cut or damaged",
        clean_line(why),
        "copy it again, or make it again; a dump is whole only when its program has ended",
    )


@dataclass(frozen=True, slots=True)
class _Module:
    """A relocated module: its functions as symbol, first and end address."""

    functions: tuple[tuple[str, int, int], ...]
    debug: DebugInformation

    def function_at(self, address: int) -> str:
        return next((name for name, start, end in self.functions if start <= address < end), "")


def _kernels(image: ElfImage) -> tuple[tuple[DumpKernel, ...], frozenset[str]]:
    modules = list(_modules(image))
    kernels: list[DumpKernel] = []
    symbols: set[str] = set()
    for section in image.sections:
        if not section.name.startswith(".cudbg.gridtbl.dev"):
            continue
        content = image.content(section)
        stride = max(section.entry_size, _GRID.size)
        for offset in range(0, min(len(content), stride * _MOST_GRIDS) - _GRID.size + 1, stride):
            row = _GRID.unpack_from(content, offset)
            symbol, debug = "", DebugInformation.NONE
            for module in modules:
                symbol = module.function_at(row[3])
                if symbol:
                    debug = module.debug
                    symbols.update(name for name, _, _ in module.functions)
                    break
            kernels.append(DumpKernel(symbol, kernel_name(symbol), row[0], row[11:14], row[14:17], debug, row[10]))
    return tuple(kernels), frozenset(symbols)


def _modules(image: ElfImage) -> Iterator[_Module]:
    for section in image.sections:
        if not section.name.startswith(".cudbg.relfimg."):
            continue
        try:
            sections = image.image_in(section).sections
        except ElfInvalid:
            # A module that cannot be read names no kernel; that does not make the dump invalid.
            continue
        names = {each.name for each in sections}
        debug = DebugInformation.NONE
        if ".debug_info" in names:
            debug = DebugInformation.FULL
        elif ".debug_line" in names:
            debug = DebugInformation.LINES
        functions = tuple(
            (clean_line(code.name.removeprefix(".text.")), code.address, code.address + code.size)
            for code in sections
            if code.name.startswith(".text.")
        )
        yield _Module(functions, debug)
