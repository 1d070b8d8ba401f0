"""The target's memory: one question for a window."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ladder_backends.debugger.facets import Memory
from ladder_backends.errors import CommandFailed
from ladder_backends.gdb.questions import Engine
from ladder_backends.gdb.quoting import mi_string
from ladder_backends.gdb.translation import rows_of, text_of
from ladder_backends.model.memory import MemoryBlock, MemoryLayout
from ladder_backends.text import clean_line

_POINTER = re.compile(r"^(?:\([^()]*(?:\([^()]*\)[^()]*)*\) |\{[^{}]+\} |@)?(0x[0-9a-f]+)(?=$|[ :])")
"""An address as the engine prints one: bare, with its type, of a function, of a reference."""
_NUMBER = re.compile(r"[-+]?(?:0x[0-9a-fA-F]{1,40}|0|[1-9][0-9]{0,40})")
"""A number that every language reads alike; what has leading zeros is left to the engine."""
_STORED = re.compile(r"^(0x[0-9a-f]+)(?: <[^\t]*>)?:\t(.*)$")
_SYMBOL = re.compile(r"0x[0-9a-f]+ (<.*>)")
_NOTHING_READ = ("Unable to read memory", "Cannot access memory")
_TOP = 1 << 64
_PAGE = 4_096
_DEADLINE = 5.0


class GdbMemory(Memory):
    """Reads and writes through an engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._layout: MemoryLayout | None = None

    async def address_of(self, expression: str, frame_level: int) -> int:
        """Where a pointer points, an object lies, or the number that was typed.

        Raises:
            CommandFailed: It has no address, or cannot be evaluated.
        """
        asked = expression.strip()
        if _NUMBER.fullmatch(asked):
            return int(asked, 0) % _TOP
        place = await self._engine.at_frame(frame_level)
        ask = f"-data-evaluate-expression{place} "
        value = text_of((await self._engine.command(ask + mi_string(asked))).results.get("value"))
        pointer = _POINTER.match(value)
        if pointer is not None:
            return int(pointer.group(1), 16)
        try:
            own = text_of((await self._engine.command(ask + mi_string(f"&({asked})"))).results.get("value"))
        except CommandFailed:
            own = ""
        pointer = _POINTER.match(own)
        if pointer is not None:
            return int(pointer.group(1), 16)
        number = _NUMBER.match(value)
        if number is not None and number.end() == len(value.split(" ", 1)[0]):
            return int(number.group(), 0) % _TOP
        raise CommandFailed(ask, f"{clean_line(asked)} has no address: it is {value[:60] or 'nothing'}")

    async def layout(self) -> MemoryLayout:
        """Byte order and pointer size of the target's architecture."""
        if self._layout is None:
            endian = await self._engine.cli_text("show endian")
            try:
                size = await self._engine.command('-data-evaluate-expression "sizeof(void*)"')
                width = text_of(size.results.get("value"))
            except CommandFailed:
                # A language without `void`.
                width = ""
            self._layout = MemoryLayout("big" not in endian, int(width) if width in ("2", "4", "8") else 8)
        return self._layout

    async def read(self, address: int, length: int, space: str = "") -> MemoryBlock:
        """One question; the gaps of its answer are None."""
        length = max(0, min(length, _TOP - address))
        contents: list[int | None] = [None] * length
        if not length:
            return MemoryBlock(address, ())
        try:
            answer = await self._engine.command(
                f"-data-read-memory-bytes {address:#x} {length}", deadline=_DEADLINE
            )
        except CommandFailed as refused:
            if not any(words in refused.what for words in _NOTHING_READ):
                raise
            return MemoryBlock(address, tuple(contents))
        for row in rows_of(answer.results.get("memory")):
            try:
                start = int(text_of(row.get("begin")), 16) - address
                raw = bytes.fromhex(text_of(row.get("contents")))
            except ValueError:
                continue
            if (start + len(raw) + address) % _PAGE == 1 and start + len(raw) < length:
                # Where memory ends the engine tells one byte too many, a zero that nobody has read.
                raw = raw[:-1]
            if 0 <= start <= length:
                contents[start : start + len(raw)] = raw[: length - start]
        return MemoryBlock(address, tuple(contents))

    async def symbols(self, address: int, count: int) -> Mapping[int, str]:
        """Pointers with their symbols, printed by the engine in one go."""
        layout = await self.layout()
        letter = {8: "g", 4: "w", 2: "h"}[layout.pointer]
        text = await self._engine.cli_text(f"x/{count}a{letter} {address:#x}", deadline=_DEADLINE)
        found: dict[int, str] = {}
        for line in text.splitlines():
            row = _STORED.match(line)
            if row is None:
                continue
            at = int(row.group(1), 16)
            for number, stored in enumerate(row.group(2).split("\t")):
                symbol = _SYMBOL.fullmatch(stored.strip())
                if symbol is not None:
                    found[at + number * layout.pointer] = symbol.group(1)
        return found

    async def symbol_at(self, address: int) -> str:
        """The symbol an address lies in."""
        try:
            text = await self._engine.cli_text(f"output/a {address:#x}", deadline=_DEADLINE)
        except CommandFailed:
            return ""
        symbol = re.search(rf"0x{address:x} (<[^\n]*>)", text)
        return symbol.group(1) if symbol is not None else ""

    async def write(self, address: int, contents: bytes, space: str = "") -> None:
        """Write exactly these bytes."""
        await self._engine.command(f"-data-write-memory-bytes {address:#x} {contents.hex()}", deadline=_DEADLINE)
