"""SASS, function by function, with the lines of source it was made of."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from ladder_backends.cuda_gdb.sass import missing_words
from ladder_backends.debugger.facets import Code
from ladder_backends.errors import CommandFailed, NotRecorded
from ladder_backends.gdb.code import mixed_instructions
from ladder_backends.gdb.questions import Engine
from ladder_backends.model.grid import Instruction

MOST = 1_000
"""Instructions of a function that are told at once."""

_USUAL_SIZE = 16
_DEADLINE = 10.0
"""Seconds: the first disassembly of a kernel runs two programs."""
_JUMP = re.compile(
    r"(?P<before>(?:@!?U?P\w )?(?:BRA|BSSY|CALL|JMP|WARPSYNC)\S* (?:(?!0x)\S+ )*)(?P<target>0x[0-9a-f]+)"
)
_FUNCTION = 1 << 24
"""Bytes that no function has: smaller targets are offsets."""
_NOT_SASS = "Cannot disassemble"
_NO_CODE = ("Cannot access memory", "No function contains")


class CudaCode(Code):
    """Reads SASS with its source lines. Its bytes are in no dump, and zeros on a device."""

    def __init__(self, engine: Engine, in_lane: Callable[[int], bool]) -> None:
        self._engine, self._in_lane = engine, in_lane
        self._function: tuple[Instruction, ...] = ()

    def covers(self, frame_level: int) -> bool:
        """Frames of the launching thread have code of the host, which is not told from within a lane."""
        return self._in_lane(frame_level)

    async def counter(self, frame_level: int) -> Instruction | None:
        """Where the frame stands."""
        place = await self._engine.at_frame(frame_level)
        return next(iter(await self._ask('-s $pc -e "$pc + 1"', place)), None)

    async def around(self, address: int) -> Sequence[Instruction]:
        """The function an address lies in; of a very long one the part round it."""
        self._function = await self._ask(f"-a {address:#x}")
        at = self._position(address)
        return self._function[max(0, at - MOST // 2) : max(0, at - MOST // 2) + MOST] if at >= 0 else ()

    async def after(self, address: int) -> Sequence[Instruction]:
        """What follows in the function that was read; behind it nothing is known to be code."""
        at = self._position(address)
        return self._function[at : at + MOST // 2] if at >= 0 else ()

    async def before(self, address: int) -> Sequence[Instruction]:
        """What lies before in the function that was read."""
        at = self._position(address)
        return self._function[max(0, at - MOST // 2) : at] if at >= 0 else ()

    def _position(self, address: int) -> int:
        return next((index for index, one in enumerate(self._function) if int(one.address, 16) == address), -1)

    async def _ask(self, which: str, place: str = "") -> tuple[Instruction, ...]:
        """Instructions with their lines; none where there is no code.

        Only ranges inside functions are asked for: outside, old engines run a program for each address.
        """
        # Bytes of instructions would have to be in memory, as in no dump; mode 4 does without.
        question = f"-data-disassemble{place} {which} -- 4"
        try:
            answer = await self._engine.command(question, deadline=_DEADLINE)
        except NotRecorded:
            raise
        except CommandFailed as refused:
            if why := missing_words():
                raise CommandFailed(question, why) from refused
            if any(words in refused.what for words in _NO_CODE):
                return ()
            raise
        listed = list(mixed_instructions(answer.results.get("asm_insns")))
        code = [one for one in listed if one.text and not one.text.startswith(_NOT_SASS)]
        if listed and not code and (why := missing_words()):
            raise CommandFailed(question, why)
        code.sort(key=lambda one: int(one.address, 16))
        return _sized(code)


def _sized(code: Sequence[Instruction]) -> tuple[Instruction, ...]:
    """Instructions with their size: the distance of two of them."""
    distances = (int(two.address, 16) - int(one.address, 16) for one, two in itertools.pairwise(code))
    size = min((each for each in distances if each > 0), default=_USUAL_SIZE)
    return tuple(replace(one, size=size, text=_with_address(one)) for one in code)


def _with_address(one: Instruction) -> str:
    """The instruction; where it jumps to as an address, which old engines tell from the function's start."""
    jump = _JUMP.match(one.text)
    if jump is None or (target := int(jump["target"], 16)) >= _FUNCTION:
        return one.text
    return f"{jump['before']}{int(one.address, 16) - one.offset + target:#x}{one.text[jump.end() :]}"
