"""Dumps packed with xz, unpacked once into the cache folder.

A GPU dump's own header tells its size, so that a packed file never grows beyond what it announces.
"""

from __future__ import annotations

import contextlib
import hashlib
import lzma
import os
import shutil
import tempfile
from pathlib import Path
from typing import BinaryIO

from ladder_backends import paths
from ladder_backends.errors import TargetInvalid
from ladder_backends.images.elf import EM_CUDA, ElfInvalid, read_header
from ladder_backends.text import clean_line

XZ_MAGIC = b"\xfd7zXZ\x00"
_CHUNK = 1 << 20
_MEMORY_LIMIT = 256 << 20
_KEEP_FREE = 256 << 20


def unpacked(path: Path) -> Path:
    """The dump itself: `path`, or for a dump packed with xz its unpacked copy in the cache folder.

    A copy is made once and found again by the packed file's SHA-256. Runs of zeros take no room on disk.

    Raises:
        TargetInvalid: The packed file is cut, damaged or no GPU dump, or there is no room for it.
    """
    shown = clean_line(path.name)
    try:
        with path.open("rb") as file:
            if file.read(len(XZ_MAGIC)) != XZ_MAGIC:
                return path
            file.seek(0)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except (FileNotFoundError, IsADirectoryError):
        return path
    except (OSError, ValueError):
        return path
    folder = paths.cache_dir() / "dumps"
    stem = path.name.removesuffix(".xz").removesuffix(".nvcudmp")[:80]
    target = folder / f"{stem}-{digest[:16]}.nvcudmp"
    if target.is_file():
        return target
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".unpacking-", dir=folder)
    except OSError as error:
        raise TargetInvalid(
            f"{shown} cannot be unpacked",
            clean_line(f"{folder}: {os.strerror(error.errno or 0)}"),
            "set XDG_CACHE_HOME to a folder that can be written",
        ) from error
    try:
        with os.fdopen(handle, "wb") as out:
            _unpack(path, out, shown, shutil.disk_usage(folder).free)
        os.replace(name, target)
    except OSError as error:
        raise TargetInvalid(
            f"{shown} cannot be unpacked",
            clean_line(os.strerror(error.errno or 0)),
            "make room in the cache folder",
        ) from error
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
    return target


def _unpack(path: Path, sink: BinaryIO, shown: str, free: int) -> None:
    announced = 0
    written = 0
    decoder = lzma.LZMADecompressor(memlimit=_MEMORY_LIMIT)
    try:
        with path.open("rb") as packed:
            while not decoder.eof:
                more = packed.read(_CHUNK) if decoder.needs_input else b""
                if decoder.needs_input and not more:
                    raise TargetInvalid(f"{shown} is cut", "the packed data ends early", "copy it again")
                chunk = decoder.decompress(more, max_length=_CHUNK)
                if not chunk:
                    continue
                if not written:
                    announced = _announced_size(chunk, shown, free)
                written += len(chunk)
                if written > announced:
                    raise TargetInvalid(f"{shown} is damaged", "it unpacks to more than its header says")
                if chunk.count(0) == len(chunk):
                    sink.seek(len(chunk), os.SEEK_CUR)
                else:
                    sink.write(chunk)
            sink.truncate(written)
    except lzma.LZMAError as error:
        raise TargetInvalid(f"{shown} cannot be unpacked", clean_line(str(error)), "copy it again") from error
    if not written:
        raise TargetInvalid(f"{shown} is empty", "the packed file holds nothing", "copy it again")


def _announced_size(head: bytes, shown: str, free: int) -> int:
    try:
        header = read_header(head)
    except ElfInvalid as error:
        raise TargetInvalid(f"{shown} holds no GPU core dump", str(error), "unpack it and look") from error
    if header.machine != EM_CUDA:
        raise TargetInvalid(f"{shown} holds no GPU core dump", "it holds a host file", "unpack it and look")
    size = header.size_with_sections
    if size > free - _KEEP_FREE:
        raise TargetInvalid(
            f"{shown} cannot be unpacked",
            f"it needs {size >> 20} MiB and {max(0, free) >> 20} MiB are free",
            "set XDG_CACHE_HOME to a larger disk",
        )
    return size
