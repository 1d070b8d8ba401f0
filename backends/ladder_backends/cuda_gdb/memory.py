"""Memory as a lane sees it, in each address space of a device.

`-data-read-memory-bytes` knows generic addresses only, and in dumps not even these; `x` on a pointer with a space
(`(@shared char*)0x400`) reads all of them in every version. What of a range is unreadable it does not tell, so such
a range is halved until what is left is a few bytes.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ladder_backends.cuda_gdb.standing import Standing
from ladder_backends.cuda_gdb.threads import LaneEngine
from ladder_backends.debugger.facets import Memory
from ladder_backends.errors import CommandFailed, NotRecorded
from ladder_backends.gdb.quoting import mi_string
from ladder_backends.gdb.translation import number_of, rows_of, text_of
from ladder_backends.model.memory import MemoryBlock, MemoryLayout, MemoryPlace
from ladder_backends.text import clean_line

GENERIC = "generic"
SPACES = (GENERIC, "global", "shared", "local", "parameter", "constant")

_ADDRESS = re.compile(r"(?:\((?P<type>.*)\) )?@?(?P<address>0x[0-9a-f]+)(?=$|[ :<])")
_NUMBER = re.compile(r"[-+]?(?:0x[0-9a-fA-F]{1,40}|0|[1-9][0-9]{0,40})\Z")
_TYPED = re.compile(r"@?(?P<space>" + "|".join(SPACES) + r")\b[:\s]\s*(?P<rest>\S.*)\Z", re.DOTALL)
_STORAGE = re.compile(r"@(\w+)")
_FAILED_AT = re.compile(r"at address (0x[0-9a-f]+)")
_BANK = re.compile(r"(?P<bank>\d+)\s*:\s*(?P<offset>\w+)\Z")
_TYPE = re.compile(r"^type = (.*)$", re.MULTILINE)
_ROW = re.compile(r"^\s*(0x[0-9a-f]+)(?: <.*>)?:\t(.*)$")
_WHY = re.compile(r"error=(CUDBG_ERROR_\w+)")
_NOTHING = "nothing lies there"
_WORDS: Mapping[str, str] = {
    "CUDBG_ERROR_MISSING_DATA": "the dump does not hold it",
    "CUDBG_ERROR_INVALID_MEMORY_ACCESS": _NOTHING,
    "CUDBG_ERROR_INVALID_MEMORY_SEGMENT": _NOTHING,
    "CUDBG_ERROR_INVALID_ADDRESS": _NOTHING,
    "CUDBG_ERROR_ADDRESS_NOT_IN_DEVICE_MEM": _NOTHING,
    "CUDBG_ERROR_INVALID_WARP": "the engine does not read it of this warp",
    "CUDBG_ERROR_INVALID_LANE": "the lane is not on the device now",
}
_AT_ALL = ("CUDBG_ERROR_INVALID_WARP", "CUDBG_ERROR_INVALID_LANE")
"""Nothing of the space can be read, wherever it is asked for."""
_UNREADABLE = ("Cannot access memory", "Unable to read memory", "CUDBG_ERROR_")
_TOP = 1 << 64
_WORD = 8
_PARAMETERS = 1_024
"""Bytes in which the arguments begin, behind what the system keeps there: at 0x160, 0x210 or 0x380 so far."""
_PARTS = 4
_LEAST: Mapping[str, int] = {GENERIC: 64, "global": 64}
"""Bytes of a range of which nothing is read where its first byte cannot be; 16 in the small spaces."""
_DEADLINE = 5.0


class _Answer(NamedTuple):
    """What a question for bytes came to: these; or why not, and from which address on."""

    raw: bytes | None
    why: str = ""
    failed_at: int | None = None
    at_all: bool = False


class CudaMemory(Memory):
    """Reads and writes as the focused lane does."""

    spaces = SPACES

    def __init__(self, engine: LaneEngine, standing: Standing, in_lane: Callable[[int], bool]) -> None:
        self._engine, self._standing, self._in_lane = engine, standing, in_lane
        self._by_bytes: bool | None = None
        self._printing = asyncio.Lock()

    # -- where

    async def address_of(self, expression: str, frame_level: int) -> int:
        """Where a pointer points, an object lies, or the number that was typed."""
        return (await self.place_of(expression, frame_level)).address

    async def place_of(self, expression: str, frame_level: int) -> MemoryPlace:
        """The same with its space: of the pointer's type, or typed in front: `shared 0x400`, `constant 0:0x210`.

        Raises:
            CommandFailed: It has no address, as a variable in a register, or cannot be evaluated.
        """
        asked, space = expression.strip(), ""
        typed = _TYPED.match(asked)
        if typed is not None:
            space, asked = typed["space"], typed["rest"].strip()
        if space == "constant" and (bank := _BANK.match(asked)) is not None:
            asked = f"$_cuda_const_bank({bank['bank']}, {bank['offset']})"
        if _NUMBER.match(asked):
            return MemoryPlace(int(asked, 0) % _TOP, space)
        if self._in_lane(frame_level):
            found = await self._found(asked, frame_level)
        else:
            # Questions about a frame of the host may take the focus off the lane: it is returned to.
            async with self._engine.keeping_lane():
                found = await self._found(asked, frame_level)
        if found is None or (not found.space and found.address >> 63):
            # Of what the hardware tells, as `threadIdx`, the engine makes up an address.
            raise CommandFailed(asked, f"{clean_line(asked)} has no address")
        return MemoryPlace(found.address, space or found.space)

    async def _found(self, expression: str, frame_level: int) -> MemoryPlace | None:
        """Where a pointer points, or an object lies."""
        level = await self._engine.at_frame(frame_level)
        return await self._place(expression, level) or await self._place(f"&({expression})", level)

    async def _place(self, expression: str, level: str) -> MemoryPlace | None:
        """Where a pointer points, or None where the value is no pointer."""
        ask = f"-data-evaluate-expression{level} "
        value = text_of((await self._engine.command(ask + mi_string(expression))).results.get("value")).strip()
        if _NUMBER.match(value) and not value.startswith("0x"):
            return MemoryPlace(int(value, 0) % _TOP)
        pointer = _ADDRESS.match(value)
        if pointer is None:
            return None
        try:
            # MI tells a pointer's value without its type.
            async with self._printing:
                told = await self._engine.cli_text(f"whatis {expression}")
            kind = (_TYPE.findall(told) or [""])[-1]
        except (CommandFailed, NotRecorded):
            kind = ""
        return MemoryPlace(int(pointer["address"], 16), space_of(kind or pointer["type"] or ""))

    async def start_of(self, space: str, frame_level: int) -> MemoryPlace:
        """Where a space is looked at first: its beginning, the lane's stack, the kernel's first argument.

        Raises:
            CommandFailed: That cannot be told.
        """
        if space == "local":
            level = await self._engine.at_frame(frame_level)
            answer = await self._engine.command(f'-data-evaluate-expression{level} "$R1"')
            top = number_of(answer.results.get("value"))
            return MemoryPlace(top or 0, space)
        if space == "constant":
            try:
                return await self.place_of("constant 0:0", frame_level)
            except CommandFailed:
                return MemoryPlace(0, space)
        return MemoryPlace(await self._first_parameter(frame_level) if space == "parameter" else 0, space)

    async def _first_parameter(self, frame_level: int) -> int:
        """Where the arguments begin: of the first that has an address, else where anything can be read."""
        level = await self._engine.at_frame(frame_level)
        answer = await self._engine.command(f"-stack-list-arguments{level} 0 {frame_level} {frame_level}")
        for row in rows_of(answer.results.get("stack-args")):
            for argument in _names(row.get("args")):
                # Those that their lane has in a register have none.
                with contextlib.suppress(CommandFailed):
                    found = await self._place(f"&{argument}", level)
                    if found is not None and found.space == "parameter":
                        return found.address
        contents = (await self.read(0, _PARAMETERS, "parameter")).contents
        return next((at for at, byte in enumerate(contents) if byte is not None), 0)

    async def size_of(self, space: str) -> int | None:
        """Bytes of the block's shared memory, where the engine tells them."""
        if space != "shared":
            return None
        try:
            answer = await self._engine.command('-data-evaluate-expression "$cuda_shared_memory_size"')
        except CommandFailed:
            return None
        return number_of(answer.results.get("value")) or None

    async def layout(self) -> MemoryLayout:
        """Of every device there is."""
        return MemoryLayout(little=True, pointer=_WORD)

    # -- reading

    async def read(self, address: int, length: int, space: str = "") -> MemoryBlock:
        """Bytes of a space; unreadable ones are None."""
        length = max(0, min(length, _TOP - address))
        pieces, why = await self._pieces(address, length, space or GENERIC)
        return MemoryBlock(address, pieces, why=why if None in pieces else "")

    async def _pieces(self, address: int, length: int, space: str) -> tuple[tuple[int | None, ...], str]:
        """Bytes of a range, looked for in its parts where some cannot be read; and why not."""
        if not length:
            return (), ""
        answer = await self._bytes(address, length, space)
        if answer.raw is not None:
            return tuple(answer.raw), ""
        least, end = _LEAST.get(space, 16), address + length
        if answer.at_all or length <= 4:
            return (None,) * length, answer.why
        if answer.failed_at is not None and address < answer.failed_at < end:
            head, tail = await asyncio.gather(
                self._pieces(address, answer.failed_at - address, space),
                self._pieces(answer.failed_at, end - answer.failed_at, space),
            )
            return head[0] + tail[0], answer.why
        if length <= least and (space in _LEAST or length != _WORD):
            return (None,) * length, answer.why
        # The last bytes there are may be half of a word.
        part = max(least, -(-length // _PARTS)) if length > _WORD else _WORD // 2
        part += -part % (least if length > _WORD else 1)
        read = await asyncio.gather(
            *(self._pieces(start, min(part, end - start), space) for start in range(address, end, part))
        )
        return tuple(byte for pieces, _ in read for byte in pieces), answer.why

    async def _bytes(self, address: int, length: int, space: str) -> _Answer:
        """All of a range, or why not."""
        # In dumps that question is answered from the host program's file.
        if self._standing.live and space in (GENERIC, "global") and self._by_bytes is not False:
            raw = await self._by_mi(address, length)
            if raw is not None:
                self._by_bytes = True
                return _Answer(raw)
            if self._by_bytes:
                return _Answer(None, _NOTHING)
        width = "g" if length % _WORD == 0 and address % _WORD == 0 else "w" if not (address | length) & 3 else "b"
        size = {"g": 8, "w": 4, "b": 1}[width]
        ask = f"x/{length // size}x{width} (@{space} char*){address:#x}"
        try:
            # What is printed for one of two at once cannot be told from what is printed for the other.
            async with self._printing:
                text = await self._engine.cli_text(ask, deadline=_DEADLINE)
        except NotRecorded:
            raise
        except CommandFailed as refused:
            if not any(words in refused.what for words in _UNREADABLE):
                raise
            at = _FAILED_AT.search(refused.what)
            at_all = any(code in refused.what for code in _AT_ALL)
            return _Answer(None, why_unreadable(refused.what), int(at[1], 16) if at else None, at_all)
        raw = _words(text, size)
        if len(raw) != length:
            return _Answer(None, "the engine told less than was asked for")
        if space in (GENERIC, "global") and self._by_bytes is None:
            # It is there, and the shorter way did not lead to it.
            self._by_bytes = False
        return _Answer(raw)

    async def _by_mi(self, address: int, length: int) -> bytes | None:
        try:
            answer = await self._engine.command(
                f"-data-read-memory-bytes {address:#x} {length}", deadline=_DEADLINE
            )
        except NotRecorded:
            return None
        except CommandFailed as refused:
            if not any(words in refused.what for words in _UNREADABLE):
                raise
            return None
        rows = list(rows_of(answer.results.get("memory")))
        try:
            raw = bytes.fromhex(text_of(rows[0].get("contents"))) if len(rows) == 1 else b""
        except ValueError:
            return None
        return raw if len(raw) == length else None

    async def symbols(self, address: int, count: int) -> Mapping[int, str]:
        """None: what lies in device memory has no symbols that the engine tells by its address."""
        return {}

    async def symbol_at(self, address: int) -> str:
        """None, as `symbols`."""
        return ""

    async def write(self, address: int, contents: bytes, space: str = "") -> None:
        """Write bytes one by one, as assignments: there is no other way into a space."""
        for offset, byte in enumerate(contents):
            target = f"*(@{space or GENERIC} unsigned char*){address + offset:#x} = {byte}"
            await self._engine.command(f"-data-evaluate-expression {mi_string(target)}", deadline=_DEADLINE)


def space_of(kind: str) -> str:
    """The space that a pointer of this type points to; an empty string where it does not say.

    In `const @generic float * @parameter` the pointer lies among the parameters; it points to generic memory.
    """
    pointee, star, _ = kind.rpartition("*")
    found = _STORAGE.findall(pointee) if star else []
    return found[-1] if found and found[-1] in SPACES else ""


def why_unreadable(what: str) -> str:
    """In few words, why memory cannot be read."""
    code = _WHY.search(what)
    return _WORDS.get(code[1], code[1]) if code is not None else _NOTHING


def _words(text: str, size: int) -> bytes:
    """The memory that `x` printed as hexadecimal words of `size` bytes."""
    raw = bytearray()
    for line in text.splitlines():
        row = _ROW.match(line)
        for word in row[2].split() if row is not None else ():
            try:
                raw += int(word, 16).to_bytes(size, "little")
            except (ValueError, OverflowError):
                return bytes(raw)
    return bytes(raw)


def _names(arguments: object) -> list[str]:
    if not isinstance(arguments, list):
        return []
    names = (one.get("name") if isinstance(one, dict) else one for one in arguments)
    return [name for name in names if isinstance(name, str) and name]
