"""Host core files: which program crashed and which files it had mapped, with their build ids.

Formats: System V ABI, chapter 5 (program headers and notes); Linux `fs/binfmt_elf.c` for the notes `NT_AUXV` and
`NT_FILE`. Only 64-bit little-endian files are read.
"""

from __future__ import annotations

import bisect
import os
import struct
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path

from ladder_backends.images.build_id import base_of, build_id_in, notes_in
from ladder_backends.images.elf import (
    ELF_MAGIC,
    ET_CORE,
    HEADER_SIZE,
    PT_LOAD,
    PT_NOTE,
    ElfInvalid,
    Reader,
    read_header,
    segments_in,
)
from ladder_backends.late_dataclass import dataclass

MOST_FILES = 20_000
"""Mapped files of a core that are looked at."""

_NT_AUXV, _NT_FILE = 6, 0x46494C45
_AT_PHDR, _AT_ENTRY, _AT_EXECFN = 3, 9, 31
_NOTES = 64 << 20
_LONGEST_PATH = 4096

_PAIR = struct.Struct("<QQ")
_RANGE = struct.Struct("<QQQ")


@dataclass(frozen=True, slots=True)
class MappedFile:
    """A file that the process had mapped from its beginning.

    Attributes:
        path: As the kernel knew it; not clean.
        start: Address of its first byte.
        build_id: Hex digits; empty where the file had none, or its first page is not in the core.
    """

    path: str
    start: int
    build_id: str = ""


@dataclass(frozen=True, slots=True)
class HostCore:
    """What a core tells of the process.

    Attributes:
        program: Path of the program; empty where it cannot be told.
        build_id: Of the program; hex digits, empty where unknown.
        libraries: Other mapped ELF files, in the order of addresses.
        load_bias: Address at which the program's address 0 was mapped; 0 for a program that is not relocated.
    """

    program: str = ""
    build_id: str = ""
    libraries: tuple[MappedFile, ...] = field(default=())
    load_bias: int = 0


def read_host_core(core: Path) -> HostCore:
    """Read a core's notes and the first pages of what was mapped; what is missing or broken is left out.

    Raises:
        OSError: The file cannot be read.
    """
    descriptor = os.open(core, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        return _read(lambda offset, size: os.pread(descriptor, size, offset))
    except (struct.error, OverflowError, ElfInvalid):
        return HostCore()
    finally:
        os.close(descriptor)


def _read(read: Reader) -> HostCore:
    segments = segments_in(read)
    if read_header(read(0, HEADER_SIZE)).kind != ET_CORE:
        return HostCore()
    told: dict[int, int] = {}
    files: list[tuple[int, int, int, str]] = []
    for segment in segments:
        if segment.type == PT_NOTE:
            for kind, content in notes_in(read(segment.offset, min(segment.size, _NOTES)), b"CORE"):
                if kind == _NT_AUXV and not told:
                    told = dict(_PAIR.iter_unpack(content[: len(content) // 16 * 16]))
                elif kind == _NT_FILE and not files:
                    files = list(_file_rows(content))
    loads = sorted((segment for segment in segments if segment.type == PT_LOAD), key=lambda one: one.address)
    starts = [load.address for load in loads]

    def memory(address: int, size: int) -> bytes:
        index = bisect.bisect_right(starts, address) - 1
        if index < 0:
            return b""
        load, inside = loads[index], address - starts[index]
        return read(load.offset + inside, min(size, load.size - inside)) if inside < load.size else b""

    firsts = _first_mappings(files)
    program_at = next((told[key] for key in (_AT_ENTRY, _AT_PHDR) if key in told), 0)
    program = next((path for start, end, _, path in files if start <= program_at < end), "")
    found = []
    for path, start in list(firsts.items())[:MOST_FILES]:
        if memory(start, 4) == ELF_MAGIC:
            mapped = _Mapping(memory, start)
            try:
                build_id = build_id_in(mapped.read, by_address=True)
            except (struct.error, OverflowError, ElfInvalid):
                build_id = ""
            found.append(MappedFile(path, start, build_id))
    own = next((one for one in found if one.path == program), None)
    if not program and _AT_EXECFN in told:
        name = memory(told[_AT_EXECFN], _LONGEST_PATH).split(b"\0", 1)[0]
        program = os.fsdecode(name) if name.startswith(b"/") else ""
    libraries = tuple(sorted((one for one in found if one is not own), key=lambda one: one.start))
    if own is None:
        return HostCore(program, "", libraries)
    return HostCore(program, own.build_id, libraries, own.start - base_of(_Mapping(memory, own.start).read))


class _Mapping:
    """An image as it lies in memory, read by offset from its first byte."""

    def __init__(self, memory: Reader, start: int) -> None:
        self._memory = memory
        self._start = start

    def read(self, offset: int, size: int) -> bytes:
        """The bytes there, as far as they are in the core."""
        return self._memory(self._start + offset, size)


def _file_rows(content: bytes) -> Iterator[tuple[int, int, int, str]]:
    """Rows of `NT_FILE`: from, up to, offset in pages, path."""
    count, _ = _PAIR.unpack_from(content)
    table_end = 16 + count * _RANGE.size
    if table_end > len(content):
        return
    names = content[table_end:].split(b"\0", count)
    for row, name in zip(_RANGE.iter_unpack(content[16:table_end]), names, strict=False):
        yield (*row, os.fsdecode(name[:_LONGEST_PATH]))


def _first_mappings(files: list[tuple[int, int, int, str]]) -> dict[str, int]:
    """Where each file's first byte was mapped."""
    firsts: dict[str, int] = {}
    for start, _, offset, path in files:
        if offset == 0:
            firsts.setdefault(path, start)
    return firsts
