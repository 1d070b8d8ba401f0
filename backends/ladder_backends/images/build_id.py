"""Which build an image is, and whether a program's file is whole.

Format of the notes: System V ABI, chapter 5; binutils for `NT_GNU_BUILD_ID`.
"""

from __future__ import annotations

import contextlib
import os
import struct
from collections.abc import Iterator
from pathlib import Path

from ladder_backends.images.elf import (
    ELF_MAGIC,
    HEADER_SIZE,
    PT_LOAD,
    PT_NOTE,
    ElfInvalid,
    Reader,
    read_header,
    read_segments,
    segments_in,
)

_NT_GNU_BUILD_ID = 3
_NOTES = 16 << 10
_SEGMENTS = 64
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


def read_build_id(file: Path) -> str:
    """Build id of an ELF file, in hex digits; empty where it has none or cannot be read."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return ""
    try:
        return build_id_in(lambda offset, size: os.pread(descriptor, size, offset), by_address=False)
    except (OSError, struct.error, OverflowError, ElfInvalid):
        return ""
    finally:
        os.close(descriptor)


def build_id_in(read: Reader, *, by_address: bool) -> str:
    """Build id of an image, in hex digits; empty where it has none.

    Args:
        read: Gives its bytes.
        by_address: It lies in memory as it was mapped, not as in its file.

    Raises:
        ElfInvalid, struct.error, OverflowError: It is not ELF, or contradicts itself.
    """
    segments = segments_in(read, _SEGMENTS)
    base = base_of(read)
    for segment in segments:
        if segment.type != PT_NOTE:
            continue
        at = segment.address - base if by_address else segment.offset
        for kind, content in notes_in(read(at, min(segment.size, _NOTES)), b"GNU"):
            if kind == _NT_GNU_BUILD_ID and content:
                return content.hex()
    return ""


def base_of(read: Reader) -> int:
    """The address that an image gives its first byte; raises as `build_id_in` does."""
    segments = segments_in(read, _SEGMENTS)
    return next((segment.address - segment.offset for segment in segments if segment.type == PT_LOAD), 0)


def notes_in(raw: bytes, owner: bytes) -> Iterator[tuple[int, bytes]]:
    """Type and content of each note of an owner, up to one that is cut short."""
    position = 0
    while position + _NOTE.size <= len(raw):
        name_size, size, kind = _NOTE.unpack_from(raw, position)
        name_at = position + _NOTE.size
        at = name_at + (name_size + 3) // 4 * 4
        if at + size > len(raw):
            return
        if raw[name_at : name_at + name_size].rstrip(b"\0") == owner:
            yield kind, raw[at : at + size]
        position = at + (size + 3) // 4 * 4
