"""ELF files (64-bit, little endian) with bounds: headers, segments, sections, symbols, needed libraries.

Format: System V ABI, chapters 4 and 5. Nothing that a file says about itself is trusted: every offset, size and
count is compared with the bytes that are there.
"""

from __future__ import annotations

import contextlib
import os
import struct
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol, TypeAlias

from ladder_backends.images.elf_numbers import ELF_MAGIC as ELF_MAGIC
from ladder_backends.images.elf_numbers import EM_CUDA as EM_CUDA
from ladder_backends.images.elf_numbers import ET_CORE as ET_CORE
from ladder_backends.images.elf_numbers import ET_DYN as ET_DYN
from ladder_backends.images.elf_numbers import ET_EXEC as ET_EXEC
from ladder_backends.images.elf_numbers import PT_INTERP as PT_INTERP
from ladder_backends.images.elf_numbers import PT_LOAD as PT_LOAD
from ladder_backends.images.elf_numbers import PT_NOTE as PT_NOTE
from ladder_backends.late_dataclass import dataclass

HEADER_SIZE = 64
SECTION_SIZE = 64
SYMBOL_SIZE = 24

SHT_SYMTAB = 2
SHT_DYNAMIC = 6
SHT_NOBITS = 8
SHT_DYNSYM = 11

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_DYNAMIC = struct.Struct("<qQ")
_DT_NEEDED = 1
_SHN_XINDEX = 0xFFFF
_LONGEST_NAME = 65536
_FARTHEST = 1 << 40
_MOST_SEGMENTS = 0xFFFE


class ElfInvalid(ValueError):
    """Bytes that are no ELF image, or one that contradicts itself; the text is a clause for a person."""


@dataclass(frozen=True, slots=True)
class ElfHeader:
    """The fields of the ELF header that are used here.

    Attributes:
        kind: `e_type`: 2 executable, 3 shared or position independent, 4 core.
        machine: `e_machine`; 190 is CUDA.
        section_offset: Offset of the section table in bytes; 0 where there is none.
        section_count: Entries of the section table.
        name_index: Section that holds the sections' names.
    """

    kind: int
    machine: int
    section_offset: int
    section_count: int
    name_index: int

    @property
    def size_with_sections(self) -> int:
        """Bytes the file must have for its section table to be whole."""
        return self.section_offset + self.section_count * SECTION_SIZE


def read_header(head: bytes) -> ElfHeader:
    """Read an ELF header from the first bytes of a file.

    Raises:
        ElfInvalid: Too short, not ELF, or of a class that is not read here.
    """
    if not head.startswith(ELF_MAGIC):
        raise ElfInvalid("it is not an ELF file")
    if len(head) < HEADER_SIZE:
        raise ElfInvalid(f"it ends inside the ELF header, after {len(head)} of {HEADER_SIZE} bytes")
    ident, kind, machine, _, _, _, shoff, _, _, _, _, shentsize, shnum, shstrndx = _HEADER.unpack(
        head[:HEADER_SIZE]
    )
    if ident[4] != 2 or ident[5] != 1:
        raise ElfInvalid("it is not a 64-bit little-endian ELF file")
    if shoff and shnum and shentsize != SECTION_SIZE:
        raise ElfInvalid(f"its section headers have {shentsize} bytes instead of {SECTION_SIZE}")
    return ElfHeader(kind, machine, shoff, shnum, shstrndx)


class Segment(NamedTuple):
    """A program header: its type, where in the file its bytes are, and at which address they are mapped."""

    type: int
    offset: int
    size: int
    address: int


Reader: TypeAlias = Callable[[int, int], bytes]
"""Gives the bytes of an image at an offset, or at most so many as are there."""


def segments_in(read: Reader, most: int = _MOST_SEGMENTS) -> tuple[Segment, ...]:
    """The first `most` program headers of an image, as far as they are there.

    Raises:
        ElfInvalid: It is not ELF as it is read here.
    """
    head = read(0, HEADER_SIZE)
    read_header(head)
    (offset,) = struct.unpack_from("<Q", head, 32)
    size, count = struct.unpack_from("<HH", head, 54)
    if size != _SEGMENT.size or offset > _FARTHEST:
        return ()
    table = read(offset, size * min(count, most))
    rows = _SEGMENT.iter_unpack(table[: len(table) // size * size])
    return tuple(Segment(row[0], row[2], row[5], row[3]) for row in rows)


def read_segments(file: BinaryIO) -> tuple[Segment, ...]:
    """The program headers of an open file as far as they are there; none where it is not ELF as it is read here."""
    try:
        return segments_in(lambda offset, size: os.pread(file.fileno(), size, offset))
    except ElfInvalid:
        return ()


@dataclass(frozen=True, slots=True)
class Section:
    """One section header. `offset`, `size` and `entry_size` are bytes."""

    name: str
    type: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    entry_size: int


class Bytes(Protocol):
    """Where an image's bytes are; `size` bytes from 0."""

    size: int

    def read(self, offset: int, size: int) -> bytes:
        """The bytes there; fewer where the file has become shorter."""


class FileBytes:
    """A file, read piece by piece: one that is cut meanwhile gives an error, where a mapping gives SIGBUS."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.size = os.fstat(descriptor).st_size

    def read(self, offset: int, size: int) -> bytes:
        """Read there."""
        return os.pread(self._descriptor, size, offset)


class MemoryBytes:
    """Bytes in memory."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.size = len(content)

    def read(self, offset: int, size: int) -> bytes:
        """Slice there."""
        return self._content[offset : offset + size]


class Window:
    """A part of other bytes: a section that is an image itself."""

    def __init__(self, whole: Bytes, offset: int, size: int) -> None:
        self._whole = whole
        self._offset = offset
        self.size = size

    def read(self, offset: int, size: int) -> bytes:
        """Read there, never beyond the part."""
        return self._whole.read(self._offset + offset, max(0, min(size, self.size - offset)))


class ElfImage:
    """An ELF image in a file, in memory, or inside another one.

    Attributes:
        header: The ELF header.
        sections: All sections, in the file's order.
    """

    def __init__(self, content: Bytes) -> None:
        """Read headers and section names.

        Raises:
            ElfInvalid: Not ELF, or cut, or the section table contradicts the size.
        """
        self._content = content
        self.header = read_header(content.read(0, HEADER_SIZE))
        self.sections = tuple(self._read_sections())

    @classmethod
    @contextlib.contextmanager
    def open(cls, path: Path) -> Iterator[ElfImage]:
        """Read a file, which stays open for the `with` block.

        Raises:
            OSError: It cannot be read.
            ElfInvalid: It is not ELF or contradicts itself.
        """
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            yield cls(FileBytes(descriptor))
        finally:
            os.close(descriptor)

    @property
    def size(self) -> int:
        """Bytes of the image."""
        return self._content.size

    def _read_sections(self) -> Iterator[Section]:
        header = self.header
        if header.section_offset == 0:
            return
        first = self._slice(header.section_offset, SECTION_SIZE, "the section table")
        count, names_at = header.section_count, header.name_index
        # Beyond 65,279 sections the real counts stand in the first entry (System V ABI, "Sections").
        if count == 0:
            count = _SECTION.unpack(first)[5]
        if names_at == _SHN_XINDEX:
            names_at = _SECTION.unpack(first)[6]
        table = self._slice(header.section_offset, count * SECTION_SIZE, "the section table")
        rows = list(_SECTION.iter_unpack(table))
        if names_at >= len(rows):
            raise ElfInvalid("its section names are missing")
        names = self._slice(rows[names_at][4], rows[names_at][5], "the section names")
        for row in rows:
            name, kind, _, address, offset, size, link, info, _, entry = row
            yield Section(_string(names, name), kind, address, offset, size, link, info, entry)

    def _slice(self, offset: int, size: int, what: str) -> bytes:
        if offset + size > self.size:
            raise ElfInvalid(f"{what} lies beyond the end, at {offset + size} of {self.size} bytes")
        content = self._content.read(offset, size)
        if len(content) != size:
            raise ElfInvalid(f"{what} could not be read whole; the file was changed meanwhile")
        return content

    def content(self, section: Section) -> bytes:
        """The section's bytes.

        Raises:
            ElfInvalid: The section lies beyond the end of the file.
        """
        if section.type == SHT_NOBITS:
            return b""
        return self._slice(section.offset, section.size, f"section {section.name}")

    def image_in(self, section: Section) -> ElfImage:
        """The image that a section holds; only its headers are read.

        Raises:
            ElfInvalid: It is none, or lies beyond the end.
        """
        if section.offset + section.size > self.size:
            raise ElfInvalid(f"section {section.name} lies beyond the end")
        return ElfImage(Window(self._content, section.offset, section.size))

    def section(self, name: str) -> Section | None:
        """The first section of that name."""
        return next((section for section in self.sections if section.name == name), None)

    def check_extents(self) -> None:
        """Look whether every section lies inside the file.

        Raises:
            ElfInvalid: One does not.
        """
        for section in self.sections:
            if section.type != SHT_NOBITS and section.offset + section.size > self.size:
                raise ElfInvalid(
                    f"section {section.name} lies beyond the end, at {section.offset + section.size}"
                    f" of {self.size} bytes"
                )

    def symbol_names(self) -> Iterator[str]:
        """Names of the symbol tables, one after the other; a broken table ends early."""
        for table in self.sections:
            if table.type not in (SHT_SYMTAB, SHT_DYNSYM) or table.link >= len(self.sections):
                continue
            try:
                rows, strings = self.content(table), self.content(self.sections[table.link])
            except ElfInvalid:
                continue
            whole = len(rows) // SYMBOL_SIZE * SYMBOL_SIZE
            for name, *_ in _SYMBOL.iter_unpack(rows[:whole]):
                if name:
                    yield _string(strings, name)

    def symbol_values(self, names: Collection[str]) -> dict[str, int]:
        """Values of symbols that the image defines itself, by name; those that it does not are left out."""
        wanted = {name.encode() for name in names}
        found: dict[str, int] = {}
        for table in self.sections:
            if table.type not in (SHT_SYMTAB, SHT_DYNSYM) or table.link >= len(self.sections):
                continue
            try:
                rows, strings = self.content(table), self.content(self.sections[table.link])
            except ElfInvalid:
                continue
            # Where a name begins, and where it may begin inside a longer one that ends alike.
            places = {at: name.decode() for name in wanted for at in _places_of(name, strings)}
            if not places:
                continue
            whole = len(rows) // SYMBOL_SIZE * SYMBOL_SIZE
            for at, _, _, section, value, _ in _SYMBOL.iter_unpack(rows[:whole]):
                if section and at in places:
                    found.setdefault(places[at], value)
        return found

    def needed(self) -> tuple[str, ...]:
        """Shared objects that the dynamic section asks for."""
        dynamic = next((section for section in self.sections if section.type == SHT_DYNAMIC), None)
        if dynamic is None or dynamic.link >= len(self.sections):
            return ()
        try:
            rows, strings = self.content(dynamic), self.content(self.sections[dynamic.link])
        except ElfInvalid:
            return ()
        whole = len(rows) // _DYNAMIC.size * _DYNAMIC.size
        return tuple(
            _string(strings, value) for tag, value in _DYNAMIC.iter_unpack(rows[:whole]) if tag == _DT_NEEDED
        )


def _places_of(name: bytes, strings: bytes) -> Iterator[int]:
    whole = name + b"\0"
    at = strings.find(whole)
    while at >= 0:
        yield at
        at = strings.find(whole, at + 1)


def _string(table: bytes, offset: int) -> str:
    if offset >= len(table):
        return ""
    end = table.find(b"\0", offset, offset + _LONGEST_NAME)
    return table[offset : end if end >= 0 else offset + _LONGEST_NAME].decode("utf-8", "backslashreplace")
