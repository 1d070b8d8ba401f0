"""Layers of compression round dumps and cores: xz, gzip and bzip2 by Python, zstd and lz4 by their own programs."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import shutil
import subprocess
import zlib
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import IO

from ladder_backends.text import decode

MAGICS: tuple[tuple[bytes, str], ...] = (
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x04\x22\x4d\x18", "lz4"),
)
"""How packed files begin (RFC 1952, RFC 8878, the xz, bzip2 and lz4 frame formats), and what packed them."""

SUFFIXES = {"xz": ".xz", "gzip": ".gz", "bzip2": ".bz2", "zstd": ".zst", "lz4": ".lz4"}
"""Endings that names lose with the layer."""

PROGRAMS = {"zstd": ("zstd", "-dcq", "--long=31"), "lz4": ("lz4", "-dcq")}
"""Programs that take a layer off, with their options; the file follows."""

DECODER_MEMORY = 512 << 20
"""Bytes that a decoder may take."""

_CHUNK = 1 << 20
_SAID = 4096


class Broken(Exception):
    """Packed content that cannot be taken as it is; the text is a clause without its subject."""


def packing_of(head: bytes) -> str:
    """Which program packed a file that begins so; empty for none that is known here."""
    return next((name for magic, name in MAGICS if head.startswith(magic)), "")


def missing_program(packing: str) -> str:
    """The program that is needed for a layer and is not installed; empty where nothing is missing."""
    program = PROGRAMS.get(packing, ("",))[0]
    return program if program and shutil.which(program) is None else ""


def unpacked(file: Path, packing: str, most: int) -> Iterator[bytes]:
    """The content in pieces.

    Args:
        file: What is packed.
        packing: As `packing_of` names it.
        most: Bytes after which it is too much.

    Raises:
        Broken: It is damaged, cut short or too large, or its program is missing.
        OSError: It cannot be read.
    """
    given = 0
    pieces = _pieces(file, packing)
    with contextlib.closing(pieces):
        for piece in pieces:
            given += len(piece)
            if given > most:
                raise Broken(f"unpacks to more than {most >> 30} GiB")
            yield piece


def unpacked_head(file: Path, packing: str, size: int) -> bytes:
    """The first `size` bytes of the content, or fewer.

    Raises:
        Broken: Not even the beginning can be unpacked.
        OSError: It cannot be read.
    """
    head = b""
    pieces = _pieces(file, packing)
    with contextlib.closing(pieces):
        try:
            while len(head) < size:
                head += next(pieces)
        except StopIteration:
            pass
        except Broken:
            if not head:
                raise
    return head[:size]


def without_xz(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Take an xz layer off, with bounded memory.

    Raises:
        Broken: It is damaged or cut short.
    """
    decoder = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=DECODER_MEMORY)
    try:
        for chunk in chunks:
            if decoder.eof:
                raise Broken("has something behind its end")
            piece = decoder.decompress(chunk, _CHUNK)
            while True:
                yield piece
                if decoder.eof or decoder.needs_input:
                    break
                piece = decoder.decompress(b"", _CHUNK)
    except lzma.LZMAError as error:
        raise Broken(f"does not decompress ({error})") from error
    if not decoder.eof:
        raise Broken("is cut short")


def _pieces(file: Path, packing: str) -> Generator[bytes, None, None]:
    if packing in PROGRAMS:
        yield from _by_program(file, packing)
        return
    try:
        if packing == "xz":
            with file.open("rb") as stream:
                yield from without_xz(_chunks(stream))
        else:
            with gzip.open(file, "rb") if packing == "gzip" else bz2.open(file, "rb") as opened:
                yield from _chunks(opened)
    except EOFError as error:
        raise Broken("is cut short") from error
    except (zlib.error, gzip.BadGzipFile) as error:
        raise Broken(f"does not decompress ({error})") from error
    except OSError as error:
        if error.errno is not None:
            raise
        # The bzip2 module tells of damage so.
        raise Broken(f"does not decompress ({error})") from error


def _by_program(file: Path, packing: str) -> Generator[bytes, None, None]:
    if missing := missing_program(packing):
        raise Broken(f"is packed with {packing}, which takes the program {missing}; install it, or unpack it first")
    with subprocess.Popen(
        [*PROGRAMS[packing], str(file.absolute())],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            yield from _chunks(process.stdout)
            said = process.stderr.read(_SAID)
        finally:
            # Where the rest is not wanted.
            process.kill()
    if process.returncode != 0:
        words = decode(said).strip().splitlines()
        raise Broken(f"does not decompress ({words[-1] if words else f'status {process.returncode}'})")


def _chunks(stream: IO[bytes] | gzip.GzipFile | bz2.BZ2File) -> Iterator[bytes]:
    return iter(lambda: stream.read(_CHUNK), b"")
