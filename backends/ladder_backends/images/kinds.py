"""Which kind of file something is, told by its content."""

from __future__ import annotations

import enum
import lzma
from pathlib import Path

from ladder_backends.images.elf import (
    ELF_MAGIC,
    EM_CUDA,
    ET_CORE,
    ET_DYN,
    ET_EXEC,
    HEADER_SIZE,
    ElfImage,
    ElfInvalid,
    read_header,
)
from ladder_backends.images.unpack import XZ_MAGIC


class FileKind(enum.StrEnum):
    """Kinds told apart by content."""

    GPU_DUMP = "gpu-dump"
    HOST_CORE = "host-core"
    PROGRAM = "program"
    CUDA_PROGRAM = "cuda-program"
    CUBIN = "cubin"
    OTHER = "other"


def kind_of(path: Path) -> FileKind:
    """The kind of a file; a GPU dump packed with xz counts as a GPU dump, and so does one that is cut.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(1 << 16)
    if head.startswith(XZ_MAGIC):
        try:
            head = lzma.LZMADecompressor(memlimit=256 << 20).decompress(head, max_length=HEADER_SIZE)
        except lzma.LZMAError:
            return FileKind.OTHER
        return FileKind.GPU_DUMP if _kind_of_head(head) is FileKind.GPU_DUMP else FileKind.OTHER
    kind = _kind_of_head(head[:HEADER_SIZE])
    if kind is FileKind.PROGRAM:
        try:
            names = {section.name for section in ElfImage.open(path).sections}
        except ElfInvalid:
            return kind
        if names & {".nv_fatbin", "__nv_relfatbin", ".nvFatBinSegment"}:
            return FileKind.CUDA_PROGRAM
    return kind


def _kind_of_head(head: bytes) -> FileKind:
    if not head.startswith(ELF_MAGIC):
        return FileKind.OTHER
    try:
        header = read_header(head)
    except ElfInvalid:
        return FileKind.OTHER
    if header.machine == EM_CUDA:
        return FileKind.GPU_DUMP if header.kind == ET_CORE else FileKind.CUBIN
    if header.kind == ET_CORE:
        return FileKind.HOST_CORE
    return FileKind.PROGRAM if header.kind in (ET_EXEC, ET_DYN) else FileKind.OTHER
