"""Whether a program's file is whole, and which build it is."""

from __future__ import annotations

import contextlib
import os
import struct
from pathlib import Path

from ladder_backends.images.elf import ELF_MAGIC, HEADER_SIZE, ElfInvalid, read_header, read_segments

_PT_NOTE = 4
_NT_GNU_BUILD_ID = 3
_LONGEST_NOTES = 1 << 16
_NOTE = struct.Struct("<III")


def is_whole(program: Path) -> bool:
    """Whether a file is an executable ELF file with everything its headers promise: a linker has finished it."""
    try:
        with program.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            head = file.read(HEADER_SIZE)
            if not head.startswith(ELF_MAGIC) or not os.access(program, os.X_OK):
                return False
            with contextlib.suppress(ElfInvalid):
                promised = max(
                    [read_header(head).size_with_sections]
                    + [segment.offset + segment.size for segment in read_segments(file)]
                )
                return promised <= size
            # Of another class than is read here: what can be said is that it is ELF.
            return len(head) == HEADER_SIZE
    except OSError:
        return False


def build_id(program: Path) -> str:
    """The build id that a linker put into a file, in hexadecimal digits; empty where there is none."""
    try:
        with program.open("rb") as file:
            for segment in read_segments(file):
                if segment.type == _PT_NOTE:
                    notes = os.pread(file.fileno(), min(segment.size, _LONGEST_NOTES), segment.offset)
                    found = _gnu_build_id(notes)
                    if found:
                        return found
    except OSError:
        pass
    return ""


def _gnu_build_id(notes: bytes) -> str:
    position = 0
    while position + _NOTE.size <= len(notes):
        name_size, size, kind = _NOTE.unpack_from(notes, position)
        name_at = position + _NOTE.size
        at = name_at + (name_size + 3 & ~3)
        if kind == _NT_GNU_BUILD_ID and notes[name_at : name_at + name_size] == b"GNU\0":
            return notes[at : at + size].hex()
        position = at + (size + 3 & ~3)
    return ""
