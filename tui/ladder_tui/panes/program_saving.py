"""The kept output of a program, as a file: the bytes as they came, or the text a person would have read."""

from __future__ import annotations

import codecs
import contextlib
import os
import re
from collections.abc import Iterable
from pathlib import Path

from ladder_backends.errors import LadderError
from ladder_backends.text import clean, clean_line

RAW_SUFFIXES = (".raw", ".ansi", ".bin")
"""Endings of a name that ask for the bytes as they came."""

_ALTERNATE = re.compile(rb"\x1b\[\?(?:1049|1047|47)h.*?(?:\x1b\[\?(?:1049|1047|47)l|\Z)", re.DOTALL)
_STRING = re.compile(rb"\x1b[\]PX^_].*?(?:\x07|\x1b\\|\Z)", re.DOTALL)
_SEQUENCE = re.compile(rb"\x1b(?:\[[\x30-\x3f]*[\x20-\x2f]*[\x40-\x7e]|[\x20-\x2f]*[\x30-\x7e])")
_BACKSPACE = re.compile("[^\b\n]\b")


def plain_text(raw: bytes) -> str:
    """Output without what only a terminal understands: colours, titles, whole screens, rewritten lines."""
    for sequences in (_ALTERNATE, _STRING, _SEQUENCE):
        raw = sequences.sub(b"", raw)
    text = codecs.decode(raw, "utf-8", "backslashreplace").replace("\r\n", "\n").replace("\a", "")
    while (shorter := _BACKSPACE.sub("", text)) != text:
        text = shorter
    lines = (line.rstrip("\r").rpartition("\r")[2] if "\r" in line else line for line in text.split("\n"))
    return clean("\n".join(lines))


def save(file: Path, chunks: Iterable[bytes], dropped: int, *, overwrite: bool = False) -> str:
    """Write kept output to a file; returns what to tell the user.

    Args:
        file: Its ending tells the form: one of `RAW_SUFFIXES`, or plain text.
        chunks: The output.
        dropped: Bytes before it that are gone.
        overwrite: A file that is there may be replaced.

    Raises:
        LadderError: It cannot be written, or is there already; then nothing of it was touched.
    """
    shown = clean_line(str(file))
    raw = b"".join(chunks)
    if file.suffix.lower() not in RAW_SUFFIXES:
        gone = f"[{dropped:,} bytes before this were not kept]\n" if dropped else ""
        raw = (gone + plain_text(raw)).encode("utf-8", "backslashreplace")
    try:
        with file.open("wb" if overwrite else "xb") as stream:
            _write(stream.fileno(), raw, file, fresh=not overwrite)
    except FileExistsError as error:
        raise LadderError(f"{shown} is there already", "", "choose another name") from error
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise LadderError(f"cannot write {shown}", why, "choose another file") from error
    return f"{len(raw):,} bytes written to {shown}"


def _write(handle: int, raw: bytes, file: Path, *, fresh: bool) -> None:
    left = memoryview(raw)
    try:
        while left:
            left = left[os.write(handle, left) :]
    except OSError:
        if fresh:
            # Half a file that nobody asked for would look like a whole one.
            with contextlib.suppress(OSError):
                file.unlink()
        raise
