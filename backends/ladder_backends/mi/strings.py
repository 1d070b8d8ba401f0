"""Strings of the machine interface: C escapes, with octal runs that are bytes of UTF-8."""

from __future__ import annotations

import re

# A run of bytes, octal or raw, is decoded as a whole: engines write some bytes of one character raw and others
# octal.
_ESCAPE = re.compile(r"(?:\\[0-7]{1,3}|[\x80-\xff])+|\\([^0-7])", re.DOTALL)
_BYTE = re.compile(r"\\([0-7]{1,3})|([\x80-\xff])")
_SIMPLE = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    '"': '"',
    "\\": "\\",
    "e": "\x1b",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "'": "'",
    "?": "?",
}


def _replace(match: re.Match[str]) -> str:
    simple = match.group(1)
    if simple is not None:
        return _SIMPLE.get(simple, match.group())
    raw = bytes(
        int(octal, 8) & 0xFF if octal else ord(character) for octal, character in _BYTE.findall(match.group())
    )
    return raw.decode("utf-8", "backslashreplace")


def unescape(text: str) -> str:
    r"""The meaning of a string's inner text, given as Latin-1.

    Invalid UTF-8 shows as `\xff`; an unknown escape is kept as written.
    """
    if text.isascii() and "\\\\" not in text:
        # Most strings with escapes have newlines and quotes only; `\042` stands for a quote in text that was
        # cut at quotes. Once these are gone a backslash that is left belongs to a rarer escape.
        plain = text.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"').replace("\\042", '"')
        if "\\" not in plain:
            return plain
    return _ESCAPE.sub(_replace, text)


def escape(raw: bytes) -> bytes:
    """Bytes as the inner text of an MI string, the way engines write it."""
    return b"".join(_WRITTEN.get(byte) or (b"\\%03o" % byte) for byte in raw)


_WRITTEN: dict[int, bytes] = {byte: bytes([byte]) for byte in range(0x20, 0x7F)} | {
    ord("\n"): b"\\n",
    ord("\t"): b"\\t",
    ord("\r"): b"\\r",
    ord('"'): b'\\"',
    ord("\\"): b"\\\\",
    0x1B: b"\\e",
    0x07: b"\\a",
    0x08: b"\\b",
    0x0C: b"\\f",
    0x0B: b"\\v",
}
