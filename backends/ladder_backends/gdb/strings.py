"""Text that lies at an address, if it is text."""

from __future__ import annotations

from ladder_backends.errors import CommandFailed
from ladder_backends.gdb.questions import Engine
from ladder_backends.gdb.translation import rows_of, text_of

_PREVIEW = 32
"""Bytes that are looked at."""
_PROGRAM = (b"U", b"V")
"""The sixth byte of an address in a program that is loaded anywhere; all six may be letters."""
_LEAST = 3
"""Printable characters below which bytes are no text."""


async def preview_of(engine: Engine, address: int) -> str:
    """The text at an address in quotes, cut with `…`; an empty string where none lies there."""
    try:
        answer = await engine.command(f"-data-read-memory-bytes {address:#x} {_PREVIEW}", deadline=2.0)
    except CommandFailed:
        return ""
    row = next(rows_of(answer.results.get("memory")), {})
    try:
        raw = bytes.fromhex(text_of(row.get("contents")))
    except ValueError:
        return ""
    if raw[5:6] in _PROGRAM and raw[6:8] == b"\0\0":
        return ""
    text, ended, _ = raw.partition(b"\0")
    if not ended and len(raw) == _PREVIEW:
        # A character that is cut in two is no reason to doubt the others.
        shown = text.decode("utf-8", "ignore")
        whole = len(shown.encode()) > len(text) - 4
    else:
        try:
            shown = text.decode("utf-8")
        except UnicodeDecodeError:
            return ""
        whole = bool(ended)
    if not whole or len(shown) < _LEAST or not shown.replace("\n", " ").replace("\t", " ").isprintable():
        return ""
    shown = shown.replace("\n", "\\n").replace("\t", "\\t")
    return f'"{shown}"' if ended else f'"{shown}…'
