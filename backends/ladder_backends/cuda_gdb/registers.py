"""A lane's registers: those that its kernel was given, predicates, uniform ones of the warp, and special ones.

Engines name R0 to R254 whatever a kernel uses; the others read as zero. How many it uses tells the dump's table of
grids, or `$cuda_num_registers_allocated` on a device. Names differ by version: `P7` is `PT`, `R255` is `RZ`.
"""

from __future__ import annotations

import asyncio
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ladder_backends.cuda_gdb.standing import Standing
from ladder_backends.debugger.facets import Registers
from ladder_backends.errors import CommandFailed
from ladder_backends.gdb.questions import Engine
from ladder_backends.gdb.quoting import mi_string
from ladder_backends.gdb.translation import number_of, rows_of, text_of
from ladder_backends.model.focus import Focus
from ladder_backends.model.register import Register
from ladder_backends.text import clean_line

GENERAL = "general"
PREDICATES = "predicates"
UNIFORM = "uniform"
UNIFORM_PREDICATES = "uniform predicates"
SPECIAL = "special"
UNUSED = "not given to this kernel"

_ORDER = (GENERAL, PREDICATES, UNIFORM, UNIFORM_PREDICATES, SPECIAL, UNUSED)
_WORD = re.compile(r"\w+\Z")
_NAME = re.compile(r"(?P<kind>R|P|UR|UP)(?P<number>\d+)\Z")
_COUNTERS = ("pc", "errorpc")
_TRUE = {"P7": "PT", "UP7": "UPT"}
_ZERO = frozenset({"R255", "RZ", "UR63", "URZ"})
"""Always zero, and of no storage."""
_SYMBOL = re.compile(r"(0x[0-9a-f]+)(?: (<.+>))?\Z")
_DEADLINE = 5.0
_HOST_FRAME = "a frame of the host: its registers are told in its thread — Threads goes there"
_FLOATS = range(0x38000000, 0x4B800000)
"""Bits of the floats from 2^-15 to 2^24: what others read as a float says nothing."""
_HIGH = range(0x7E00, 0x8000)
"""Upper halves of the addresses that a device has in common with its host."""
_LEAST_LOWER = 1 << 16


class _Known(NamedTuple):
    """One register of the architecture."""

    name: str
    number: int
    kind: str
    order: int


class CudaRegisters(Registers):
    """Asks for one group at a time; formats are made here, of one reading."""

    def __init__(
        self,
        engine: Engine,
        standing: Standing,
        given: Callable[[Focus | None], int],
        in_lane: Callable[[int], bool],
    ) -> None:
        """Make it.

        Args:
            engine: Who is asked.
            standing: Where it stands.
            given: Registers of each thread of the focused kernel as a dump tells, or 0.
            in_lane: Whether a frame is the lane's, not the launching thread's.
        """
        self._engine, self._standing, self._given, self._in_lane = engine, standing, given, in_lane
        self._known: dict[int | None, tuple[_Known, ...]] = {}

    async def groups(self, frame_level: int = 0) -> Sequence[str]:
        """Groups that hold a register.

        Raises:
            CommandFailed: The frame is one of the host, whose registers are not told from within a lane.
        """
        if not self._in_lane(frame_level):
            raise CommandFailed("-data-list-register-names", _HOST_FRAME)
        count = await self._count()
        met = {_group(one, count) for one in await self._registers()}
        return [name for name in _ORDER if name in met]

    async def read(self, group: str, frame_level: int, form: str = "natural") -> Sequence[Register]:
        """A group's registers; counters come first, with the function they lie in."""
        place = await self._engine.at_frame(frame_level)
        count = await self._count()
        wanted = [one for one in await self._registers() if _group(one, count) == group]
        if not wanted:
            return ()
        counters = [one for one in wanted if one.name in _COUNTERS]
        others = [one for one in wanted if one.name not in _COUNTERS]
        told, values = await asyncio.gather(
            self._values(place, "a", counters), self._values(place, "x", others), return_exceptions=True
        )
        if isinstance(values, BaseException):
            raise values
        if isinstance(told, BaseException):
            raise told
        read = [_counter(one, told.get(one.number, "")) for one in counters]
        bits = {one.order: _bits(values.get(one.number, "")) for one in others if one.kind == "R"}
        read += [_register(one, values.get(one.number, ""), group, form, bits) for one in others]
        return read

    async def with_text(self, registers: Sequence[Register]) -> Sequence[Register]:
        """The same: no register of 32 bits points to text."""
        return registers

    async def write(self, name: str, value: str, frame_level: int) -> None:
        """Assign, where the engine allows it."""
        place = await self._engine.at_frame(frame_level)
        await self._engine.command(f"-data-evaluate-expression{place} {mi_string(f'${name} = {value}')}")

    async def _count(self) -> int | None:
        """Registers of each thread, or None where nobody tells."""
        if told := self._given(self._standing.focus):
            return told
        if not self._standing.live:
            return None
        try:
            answer = await self._engine.command('-data-evaluate-expression "$cuda_num_registers_allocated"')
        except CommandFailed:
            return None
        return number_of(answer.results.get("value")) or None

    async def _registers(self) -> tuple[_Known, ...]:
        """The architecture's registers; one question for each device."""
        focus = self._standing.focus
        device = focus.index("device") if focus is not None else None
        known = self._known.get(device)
        if known is None:
            answer = await self._engine.command("-data-list-register-names")
            names = answer.results.get("register-names")
            # Behind those of the hardware come the engine's own: with a sentence for a name, or another one's name.
            numbers: dict[str, int] = {}
            for number, name in enumerate(names if isinstance(names, list) else ()):
                if _WORD.match(text_of(name)):
                    numbers.setdefault(text_of(name), number)
            found = [_known(name, number) for name, number in numbers.items()]
            found.sort(key=lambda one: _COUNTERS.index(one.name) if one.name in _COUNTERS else len(_COUNTERS))
            known = self._known[device] = tuple(found)
        return known

    async def _values(self, place: str, letter: str, wanted: Sequence[_Known]) -> Mapping[int, str]:
        if not wanted:
            return {}
        numbers = " ".join(str(one.number) for one in wanted)
        answer = await self._engine.command(
            f"-data-list-register-values{place} {letter} {numbers}", deadline=_DEADLINE
        )
        return {
            number: text_of(row.get("value"))
            for row in rows_of(answer.results.get("register-values"))
            if (number := number_of(row.get("number"))) is not None
        }


def _known(name: str, number: int) -> _Known:
    match = _NAME.match(name)
    return _Known(name, number, match["kind"], int(match["number"])) if match else _Known(name, number, "", -1)


def _group(one: _Known, count: int | None) -> str:
    if one.name in _ZERO:
        return SPECIAL
    if one.name in _COUNTERS:
        return GENERAL
    if one.kind == "R":
        return UNUSED if count is not None and one.order >= count else GENERAL
    if one.kind == "P" or one.name == "PT":
        return PREDICATES
    if one.kind == "UP" or one.name == "UPT":
        return UNIFORM_PREDICATES
    return UNIFORM if one.kind == "UR" else SPECIAL


def _counter(one: _Known, text: str) -> Register:
    match = _SYMBOL.match(clean_line(text))
    if match is None:
        why = "no exception is told of this lane" if one.name == "errorpc" else clean_line(text).strip("<>")
        return Register(one.name, "", GENERAL, error=why or "not available")
    return Register(one.name, match[1], GENERAL, match[2] or "")


def _why_not(text: str) -> str:
    told = clean_line(text).strip("<>")
    return "this engine does not tell it" if told in ("", "unavailable") else told


def _bits(text: str) -> int | None:
    try:
        return int(text, 16)
    except ValueError:
        return None


def _register(one: _Known, text: str, group: str, form: str, others: Mapping[int, int | None]) -> Register:
    name = _TRUE.get(one.name, one.name)
    bits = _bits(text)
    if bits is None:
        # The zero register and the true predicate have no storage: some engines tell nothing of them.
        why = "always zero" if one.name in _ZERO else "always true" if name in _TRUE.values() else ""
        return Register(name, "", group, error=why or _why_not(text))
    if one.kind in ("P", "UP") or name in _TRUE.values():
        return Register(name, str(bits & 1), group, "true" if bits & 1 else "false")
    note, target = _meaning(one, bits, others)
    return Register(name, written(bits, form), group, note if form == "natural" else "", target=target)


def written(bits: int, form: str) -> str:
    """A register of 32 bits in one of the formats; hexadecimal where the format is none of numbers."""
    if form == "decimal":
        return str(bits - (1 << 32) if bits >> 31 & 1 else bits)
    if form == "unsigned":
        return str(bits)
    if form == "binary":
        return f"{bits:b}"
    if form == "octal":
        return f"0{bits:o}"
    if form == "float" and bits < 1 << 32:
        value: float = struct.unpack("<f", struct.pack("<I", bits))[0]
        return f"{value:.9g}"
    return f"{bits:#x}"


def _meaning(one: _Known, bits: int, others: Mapping[int, int | None]) -> tuple[str, str]:
    """The number, and what it may be besides: a float, or with its neighbour an address, which is told apart."""
    if one.kind not in ("R", "UR") or bits >= 1 << 32:
        return "", ""
    told, target = [written(bits, "decimal")] if bits > 9 else [], ""
    if bits & 0x7FFFFFFF in _FLOATS:
        told.append(f"as float {written(bits, 'float')}")
    upper = others.get(one.order + 1)
    if one.kind == "R" and one.order % 2 == 0 and upper is not None and upper in _HIGH and bits >= _LEAST_LOWER:
        target = f"{upper << 32 | bits:#x}"
        # What the half of an address is as a number, nobody asks for.
        told = [f"with R{one.order + 1} {target}"]
    return " · ".join(told), target
