"""Registers by the groups of the engine's own architecture description."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ladder_backends.debugger.facets import Registers
from ladder_backends.errors import CommandFailed, EngineError
from ladder_backends.gdb.questions import Engine
from ladder_backends.gdb.quoting import mi_string
from ladder_backends.gdb.strings import preview_of
from ladder_backends.gdb.translation import cut_value, rows_of, text_of
from ladder_backends.late_dataclass import dataclass
from ladder_backends.mi.records import Value
from ladder_backends.model.register import Register

_GENERAL = "general"
_OTHER = "other"
_ORDER = (_GENERAL, "float", "vector", "system")
_FORMATS: Mapping[str, str] = {
    "hex": "x",
    "decimal": "d",
    "unsigned": "u",
    "binary": "t",
    "octal": "o",
    "float": "f",
}
_ROW = re.compile(
    r"^\s*(?P<name>\S+)\s+(?P<number>\d+)\s+-?\d+\s+-?\d+\s+\d+\s+(?P<type>\S.*?)(?:\s+(?P<groups>\S+))?\s*$"
)
_GROUPS = re.compile(r"general|float|vector|system|\w+,[\w,]+")
_PART_OF = {**dict.fromkeys("bhsdq", "v0"), "w": "x0"}
_ELSEWHERE = re.compile(r"(?P<system>[c-gs]s|[fg]s_base|orig_[re]ax)$|(?P<vector>k[0-7])$")
"""Registers of x86 that the engine counts among the general ones, and that few look for there."""

_COUNTER = re.compile(r"[re]?ip|pc")
"""Comes first, before the flags: what one looks for in a pane of few rows."""

_WHOLE = re.compile(r"(zmm|ymm|xmm|[qv])(?P<number>\d+)$")
_CUT = re.compile(r"(zmm|ymm|xmm)\d+h?$")
_PART = re.compile(r"\b(?P<name>u?(?:v\d+_)?(?:int\d+|float|double|half|bfloat16)) = (?P<value>\{[^{}]*\}|[^,{}]+)")
_PARTS: Mapping[str, tuple[str, ...]] = {
    "natural": ("float",),
    "float": ("float",),
    "hex": ("int128", "int64"),
    "decimal": ("int32",),
    "unsigned": ("int32",),
    "binary": ("int128", "int64"),
    "octal": ("int128", "int64"),
}
"""Which view of a vector register is shown, by format; the engine prints all of them."""
_WORDS = r"\bs = \{f = \{[^{}]*\}"
_ARM_PARTS: Mapping[str, tuple[str, re.Pattern[str]]] = {
    "natural": ("s.f", re.compile(r"\bs = \{f = (\{[^{}]*\})")),
    "float": ("s.f", re.compile(r"\bs = \{f = (\{[^{}]*\})")),
    "hex": ("q.u", re.compile(r"\bq = \{u = (\{[^{}]*\})")),
    "unsigned": ("s.u", re.compile(_WORDS + r", u = (\{[^{}]*\})")),
    "decimal": ("s.s", re.compile(_WORDS + r", u = \{[^{}]*\}, s = (\{[^{}]*\})")),
    "binary": ("q.u", re.compile(r"\bq = \{u = (\{[^{}]*\})")),
    "octal": ("q.u", re.compile(r"\bq = \{u = (\{[^{}]*\})")),
}
"""The same for aarch64, whose views are by the size of an element and then by what it is."""
_SYMBOL = re.compile(r"^(0x[0-9a-f]+) (<.+>)$")
_UNREAD = ("<unavailable>", "<not saved>", "<optimized out>", "<error")
_DEADLINE = 5.0
_ADDRESS = re.compile(r"0x[0-9a-f]+")
_LEAST_POINTER = 0x1000
_STRINGS = 18
"""Registers whose values are followed to see whether text lies there."""


@dataclass(frozen=True, slots=True)
class _Known:
    """One register of the architecture."""

    name: str
    number: int
    group: str
    flags: bool


class GdbRegisters(Registers):
    """Asks for one group at a time; of a group that cannot be read as a whole, for each register."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._known: tuple[_Known, ...] = ()

    async def groups(self, frame_level: int = 0) -> Sequence[str]:
        """Groups that hold a register, the general ones first."""
        known = await self._registers()
        met = dict.fromkeys(one.group for one in known)
        return [*(name for name in _ORDER if name in met), *(name for name in met if name not in _ORDER)]

    async def read(self, group: str, frame_level: int, form: str = "natural") -> Sequence[Register]:
        """A group's registers: values in one answer, flags by name, pointers with what they point to."""
        wanted = [one for one in await self._registers() if one.group == group]
        if not wanted:
            return ()
        place = await self._engine.at_frame(frame_level)
        natural = form == "natural"
        # `a` prints an integer in hexadecimal, and the symbol it lies in; only whole numbers have one.
        letter = ("a" if group in (_GENERAL, "system") else "N") if natural else _FORMATS.get(form, "x")
        flags = [one for one in wanted if one.flags] if letter == "a" else []
        values, words = await asyncio.gather(
            self._values(place, letter, wanted), self._values(place, "N", flags), return_exceptions=True
        )
        if isinstance(values, BaseException):
            raise values
        told = {} if isinstance(words, BaseException) else words
        wanted.sort(key=lambda one: 0 if _COUNTER.fullmatch(one.name) else 1 if one.flags else 2)
        return [_register(one, values.get(one.number), told.get(one.number), form) for one in wanted]

    async def write(self, name: str, value: str, frame_level: int) -> None:
        """Assign, as the engine's language allows it."""
        place = await self._engine.at_frame(frame_level)
        await self._engine.command(f"-data-evaluate-expression{place} {mi_string(f'${name} = {value}')}")

    async def _registers(self) -> tuple[_Known, ...]:
        """The architecture's registers; asked once, since an engine's target keeps its architecture."""
        if not self._known:
            try:
                table = _read_table(await self._engine.cli_text("maintenance print register-groups"))
            except CommandFailed:
                table = ()
            self._known = table or await self._by_name()
        return self._known

    async def _by_name(self) -> tuple[_Known, ...]:
        """Registers of an engine that prints no table: all in one group."""
        answer = await self._engine.command("-data-list-register-names")
        names = answer.results.get("register-names")
        return tuple(
            _Known(text_of(name), number, _GENERAL, False)
            for number, name in enumerate(names if isinstance(names, list) else ())
            if name
        )

    async def _values(self, place: str, letter: str, wanted: Sequence[_Known]) -> Mapping[int, Value | EngineError]:
        if not wanted:
            return {}
        ask = f"-data-list-register-values{place} {letter}"
        numbers = " ".join(str(one.number) for one in wanted)
        try:
            answer = await self._engine.command(f"{ask} {numbers}", deadline=_DEADLINE)
        except CommandFailed as refused:
            if len(wanted) == 1 or _nowhere(refused.what):
                raise
            # One that cannot be read must not cost the others.
            answers = await asyncio.gather(
                *(self._values(place, letter, [one]) for one in wanted), return_exceptions=True
            )
            values: dict[int, Value | EngineError] = {}
            for one, single in zip(wanted, answers, strict=True):
                if isinstance(single, CommandFailed):
                    values[one.number] = single
                elif isinstance(single, BaseException):
                    raise single from None
                else:
                    values.update(single)
            return values
        return {
            int(number): row["value"]
            for row in rows_of(answer.results.get("register-values"))
            if isinstance(number := row.get("number"), str) and number.isdecimal() and "value" in row
        }

    async def with_text(self, registers: Sequence[Register]) -> Sequence[Register]:
        """Registers that point to text, with its beginning; asked all at once, and only where it may be so."""
        pointers = [
            (position, int(one.value, 16))
            for position, one in enumerate(registers)
            if one.note[:1] in ("", '"') and _ADDRESS.fullmatch(one.value) and int(one.value, 16) >= _LEAST_POINTER
        ][:_STRINGS]
        previews = await asyncio.gather(
            *(preview_of(self._engine, address) for _, address in pointers), return_exceptions=True
        )
        noted = list(registers)
        for (position, _), preview in zip(pointers, previews, strict=True):
            noted[position] = replace(noted[position], note=preview if isinstance(preview, str) else "")
        return noted


def _nowhere(what: str) -> bool:
    return any(words in what for words in ("No registers", "No frame", "No thread", "is running", "Invalid thread"))


def _register(
    known: _Known, value: Value | EngineError | None, words: Value | EngineError | None, form: str
) -> Register:
    if isinstance(value, EngineError):
        return Register(known.name, "", known.group, error=value.what)
    whole = text_of(value)
    part = part_of(whole, form)
    if part is not None:
        return Register(known.name, cut_value(part[0])[0], known.group, part[1])
    text = cut_value(whole)[0]
    if not text or text.startswith(_UNREAD):
        return Register(known.name, "", known.group, error=text.strip("<>") or "not available")
    note = text_of(words) if isinstance(words, str) else ""
    symbol = _SYMBOL.match(text)
    if symbol is not None:
        text, note = symbol.group(1), note or symbol.group(2)
    return Register(known.name, text, known.group, note)


def part_of(text: str, form: str) -> tuple[str, str] | None:
    """The view of a vector register that a format is about, and its name; None where the value is no vector's."""
    if not text.startswith("{"):
        return None
    arm = _ARM_PARTS.get(form)
    if arm is not None and (found := arm[1].search(text)) is not None:
        return found.group(1), arm[0]
    parts = list(_PART.finditer(text))
    for ending in _PARTS.get(form, ()):
        for part in parts:
            if part["name"].endswith(("_" + ending, "u" + ending)):
                return part["value"], part["name"]
    return None


def _read_table(text: str) -> tuple[_Known, ...]:
    """Registers of `maint print register-groups`, each in the one group where it is looked for."""
    rows = [match for line in text.splitlines() if (match := _ROW.match(line)) and match["name"] != "''"]
    vectors = [match["name"] for match in rows if "vector" in (match["groups"] or "").split(",")]
    widest = next((name.rstrip("0123456789") for name in reversed(vectors) if _WHOLE.match(name)), "")
    names = {match["name"] for match in rows}
    known: list[_Known] = []
    for match in rows:
        # Parts of others: of `v0` the lower words, of `x0` the lower half.
        whole = _PART_OF.get(match["name"][:1])
        if whole in names and match["name"][1:].isdecimal():
            continue
        # The last word is of the type where a register is in no group, as `al`, which is a part of `rax`.
        words = match["groups"] or ""
        groups = [one for one in words.split(",") if one not in ("all", "save", "restore")]
        if not _GROUPS.fullmatch(words):
            continue
        group = _group_of(match["name"], groups, widest)
        if group:
            flags = "flags" in match["type"] or match["type"].endswith(("mxcsr", "psr"))
            known.append(_Known(match["name"], int(match["number"]), group, flags))
    return tuple(known)


def _group_of(name: str, groups: Sequence[str], widest: str) -> str:
    """The group a register is shown in; an empty string for what is only part of another one."""
    if not groups:
        return ""
    elsewhere = _ELSEWHERE.match(name)
    if elsewhere is not None:
        return "vector" if elsewhere["vector"] else "system"
    if _CUT.match(name) and widest and not name.startswith(widest):
        return ""
    first = next((one for one in _ORDER if one in groups), "")
    if first == _GENERAL and "vector" in groups:
        return "vector"
    return first or groups[0] or _OTHER
