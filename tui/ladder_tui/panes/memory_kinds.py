"""How bytes of memory are read as numbers, written as text, and made of text again."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Order: TypeAlias = Literal["little", "big"]

_PAIRS = re.compile(r"(?:[0-9a-fA-F]{2}[\s,]*)+")
_FLOATS = {2: "e", 4: "f", 8: "d"}
_FLOAT_WIDTHS = {2: 11, 4: 15, 8: 24}
_CHARACTERS = range(0x20, 0x7F)


@dataclass(frozen=True, slots=True)
class MemoryKind:
    """One reading of memory.

    Attributes:
        family: `hex`, `signed`, `unsigned`, `float` or `pointer`.
        size: Bytes of an element.
    """

    family: str
    size: int

    @property
    def name(self) -> str:
        """`hex`, `i32`, `u8`, `f64`, `pointer`."""
        if self.family == "pointer":
            return "pointer"
        if self.family == "hex":
            return "bytes" if self.size == 1 else f"hex{self.size * 8}"
        return f"{'i' if self.family == 'signed' else self.family[0]}{self.size * 8}"

    @property
    def width(self) -> int:
        """Columns that the longest element takes."""
        if self.family == "hex":
            return 2 * self.size
        if self.family == "pointer":
            return 2 + 2 * self.size
        if self.family == "float":
            return _FLOAT_WIDTHS[self.size]
        widest = -(1 << (8 * self.size - 1)) if self.family == "signed" else (1 << (8 * self.size)) - 1
        return len(str(widest))

    def text(self, raw: Sequence[int | None], *, little: bool) -> str:
        """An element as text, without padding; `??` for each byte that cannot be read."""
        if None in raw or len(raw) < self.size:
            return "??" * self.size if self.family == "hex" else "??"
        order: Order = "little" if little else "big"
        whole = bytes(byte for byte in raw if byte is not None)
        if self.family == "float":
            value: float = struct.unpack(("<" if little else ">") + _FLOATS[self.size], whole)[0]
            return f"{value:.9g}" if self.size == 4 else f"{value:.5g}" if self.size == 2 else repr(value)
        number = int.from_bytes(whole, order, signed=self.family == "signed")
        if self.family == "hex":
            return f"{number:0{2 * self.size}x}"
        return f"0x{number:0{2 * self.size}x}" if self.family == "pointer" else str(number)

    def bytes_of(self, text: str, *, little: bool) -> bytes:
        """What is written for a text: one element, or for bytes as many as are named.

        Raises:
            ValueError: It is no such value, or it does not fit; the message says which.
        """
        order: Order = "little" if little else "big"
        typed = text.strip()
        if self.family == "hex" and self.size == 1:
            if len(typed) > 1 and typed[0] == typed[-1] == '"':
                return typed[1:-1].encode().decode("unicode_escape").encode("latin-1")
            pairs = typed.removeprefix("0x") if len(typed.removeprefix("0x")) == 2 else typed
            if not _PAIRS.fullmatch(pairs):
                raise ValueError('write bytes as pairs of hex digits, de ad be ef, or as "text"')
            return bytes.fromhex(re.sub(r"[\s,]", "", pairs))
        if self.family == "float":
            try:
                return struct.pack(("<" if little else ">") + _FLOATS[self.size], float(typed))
            except (ValueError, OverflowError, struct.error) as error:
                raise ValueError(f"{typed!r} is no {self.name}") from error
        try:
            if len(typed) == 3 and typed[0] == typed[-1] == "'":
                number = ord(typed[1])
            else:
                base = 16 if self.family == "hex" and not typed.lower().startswith("0x") else 0
                number = int(typed, base)
            return number.to_bytes(self.size, order, signed=self.family == "signed")
        except ValueError as error:
            raise ValueError(f"{typed!r} is no {self.name}") from error
        except OverflowError as error:
            raise ValueError(f"{typed} does not fit into {self.name}") from error


BYTES = MemoryKind("hex", 1)
"""What memory is shown as until something else is chosen."""

FAMILIES: tuple[tuple[str, str, str, tuple[int, ...]], ...] = (
    ("x", "hex", "bytes, words", (1, 2, 4, 8)),
    ("i", "signed", "i8 i16 i32 i64", (1, 2, 4, 8)),
    ("u", "unsigned", "u8 u16 u32 u64", (1, 2, 4, 8)),
    ("f", "float", "f16 f32 f64", (2, 4, 8)),
    ("p", "pointer", "with what they point to", (8,)),
)
"""Key, family, note and sizes of what can be chosen."""


def of_family(family: str, size: int, pointer: int) -> MemoryKind:
    """A family at the size nearest to the wished one that it has."""
    if family == "pointer":
        return MemoryKind("pointer", pointer)
    sizes = next(sizes for _, name, _, sizes in FAMILIES if name == family)
    return MemoryKind(family, min(sizes, key=lambda one: (abs(one - size), one)))


def wider(kind: MemoryKind, steps: int) -> MemoryKind:
    """The same family with larger elements (`steps` > 0) or smaller ones, as far as there are any."""
    if kind.family == "pointer":
        return kind
    sizes = next(sizes for _, name, _, sizes in FAMILIES if name == kind.family)
    position = max(0, min(len(sizes) - 1, sizes.index(kind.size) + steps))
    return MemoryKind(kind.family, sizes[position])


def characters(raw: Sequence[int | None]) -> str:
    """Bytes as ASCII; a dot for what is none, a blank for what cannot be read."""
    return "".join(" " if byte is None else chr(byte) if byte in _CHARACTERS else "." for byte in raw)
