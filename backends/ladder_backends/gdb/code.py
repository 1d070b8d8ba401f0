"""Machine code in windows: forwards by the engine, backwards by looking for where instructions begin.

Instructions of some architectures have different lengths, so that what lies before an address cannot be read from
there. Where the engine knows the function before it, its start is known too. Elsewhere code is read from some way
back, which falls into step within a few instructions, and counts only if it meets the address exactly.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

from ladder_backends.debugger.facets import Code
from ladder_backends.errors import CommandFailed
from ladder_backends.gdb.questions import Engine
from ladder_backends.gdb.translation import number_of, place_of, rows_of, text_of
from ladder_backends.mi.records import Value
from ladder_backends.model.frame import Place
from ladder_backends.model.grid import Instruction

WHOLE_FUNCTION = 4_096
"""Bytes of a function up to which it is read whole rather than a window of it."""
WINDOW = 512
"""Bytes that are read at once elsewhere, in one direction."""

_IN_STEP = 8
"""Instructions after which a disassembly from the wrong place has fallen into step."""
_TRIES = 16
_BEHIND = 8
"""Instructions behind a function that are kept of what was read with it."""
_TOP = 1 << 64
_HEX = re.compile(r"0x[0-9a-f]+")
_DEADLINE = 5.0


class GdbCode(Code):
    """Reads machine code with its source lines and bytes."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def counter(self, frame_level: int) -> Instruction | None:
        """One small question: where the frame stands, and what lies there now."""
        place = await self._engine.at_frame(frame_level)
        try:
            answer = await self._engine.command(f'-data-disassemble{place} -s $pc -e "$pc + 1" -- 5')
        except CommandFailed as refused:
            if "Cannot access memory" in refused.what:
                return None
            raise
        return next(iter(mixed_instructions(answer.results.get("asm_insns"))), None)

    async def around(self, address: int) -> Sequence[Instruction]:
        """A small function whole; else the code before and behind the address."""
        here = await self._read(address, address + 1)
        if not here:
            return ()
        first = here[0]
        # Parts of a function that lie before its entry have offsets below zero.
        if first.function and 0 <= first.offset <= WHOLE_FUNCTION:
            start = address - first.offset
            whole = await self._read(start, address + WINDOW)
            position = next((index for index, one in enumerate(whole) if _at(one) == address), -1)
            if position >= 0:
                return _one_function(whole, position)
        before = await self.before(address)
        return (*before, *(await self._read(address, address + WINDOW)))

    async def after(self, address: int) -> Sequence[Instruction]:
        """The next window."""
        return await self._read(address, min(_TOP - 1, address + WINDOW))

    async def before(self, address: int) -> Sequence[Instruction]:
        """The window before, from where instructions are known or found to begin."""
        if address <= 0:
            return ()
        last = await self._read(address - 1, address)
        if not last:
            return ()
        if last[0].function and 0 <= last[0].offset < WHOLE_FUNCTION:
            known = await self._read(address - 1 - last[0].offset, address)
            if known and _meets(known, address):
                return known[-WINDOW:]
        for extra in range(_TRIES):
            start = max(0, address - WINDOW - extra)
            found = await self._read(start, address)
            if found and _meets(found, address):
                return found[_IN_STEP:] if len(found) > 2 * _IN_STEP else found[-1:]
        return ()

    async def _read(self, start: int, end: int) -> tuple[Instruction, ...]:
        """Instructions that begin from `start` on and before `end`; fewer where memory ends."""
        try:
            answer = await self._engine.command(
                f"-data-disassemble -s {start:#x} -e {end:#x} -- 5", deadline=_DEADLINE
            )
        except CommandFailed as refused:
            if "Cannot access memory" not in refused.what:
                raise
            middle = (start + end) // 2
            # The end of what is mapped is found by halves: a window is a few questions at most.
            return await self._read(start, middle) if middle - start >= 16 else ()
        found = {one.address: one for one in mixed_instructions(answer.results.get("asm_insns"))}
        code = tuple(sorted(found.values(), key=_at))
        begins = _begins_inside(code)
        if begins is None:
            return code
        # What fills the room before a function was read as an instruction that reaches into it.
        return (*(one for one in code if _end(one) <= begins), *(await self._read(begins, end)))


def mixed_instructions(value: Value | None) -> Iterator[Instruction]:
    """Instructions of a disassembly in mode 5, each with the source line it is listed under."""
    for row in rows_of(value):
        line = row.get("src_and_asm_line")
        if isinstance(line, dict):
            row = line
        if "line_asm_insn" in row:
            place = place_of(row)
            for inner in rows_of(row.get("line_asm_insn")):
                if _lies_somewhere(inner):
                    yield _instruction(inner, place)
        elif _lies_somewhere(row):
            yield _instruction(row, None)


def _lies_somewhere(row: Mapping[str, Value]) -> bool:
    return _HEX.fullmatch(text_of(row.get("address"))) is not None


def _instruction(row: Mapping[str, Value], place: Place | None) -> Instruction:
    return Instruction(
        address=text_of(row.get("address")),
        text=" ".join(text_of(row.get("inst")).replace("␉", " ").split()),
        function=text_of(row.get("func-name")),
        offset=number_of(row.get("offset")) or 0,
        raw=text_of(row.get("opcodes")),
        place=place,
    )


def _at(one: Instruction) -> int:
    return int(one.address, 16)


def _end(one: Instruction) -> int:
    return _at(one) + max(1, len(one.raw.replace(" ", "")) // 2)


def _begins_inside(code: Sequence[Instruction]) -> int | None:
    """Where a function begins that the code falls into between its instructions; None where it does not."""
    for before, one in itertools.pairwise(code):
        begin = _at(one) - one.offset
        if one.function != before.function and one.function and one.offset > 0 and begin > _at(before):
            return begin
    return None


def _meets(instructions: Sequence[Instruction], address: int) -> bool:
    """Whether the last instruction ends where `address` begins; told by its bytes."""
    return bool(instructions[-1].raw) and _end(instructions[-1]) == address


def _one_function(instructions: Sequence[Instruction], position: int) -> tuple[Instruction, ...]:
    """The function of an instruction, and a little of what lies behind it."""
    name = instructions[position].function
    end = position
    while end < len(instructions) and instructions[end].function == name:
        end += 1
    return tuple(instructions[: end + _BEHIND])
