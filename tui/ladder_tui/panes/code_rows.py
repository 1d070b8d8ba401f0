"""How an instruction looks: its colours, and where it leads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ladder_backends.model.frame import Place
from ladder_backends.model.grid import Instruction
from ladder_tui.widgets.row import Cell

if TYPE_CHECKING:
    from ladder_backends.model.breakpoint import BreakpointBinding

_JUMP = re.compile(
    r"^(?:(?:notrack|bnd|rep[a-z]*|lock|data16|cs|@!?U?P\w) )*"
    r"(?P<word>call[a-z]*|j[a-z]+|loop[a-z]*|xbegin|b|bl|b\.[a-z]+|b[a-z]{2}|cbn?z|tbn?z|beq|bne|bge|blt|jal|j|BRA|CALL[.\w]*)\b"
    r".*?\b(?P<address>0x[0-9a-f]+)(?: (?P<symbol><.*>))?$"
)
_THROUGH = re.compile(r"^(?:(?:notrack|bnd) )*(?:call|jmp|blr|br)\w*\s+\*?%?(?P<register>[a-z]\w+)$")
_TOKEN = re.compile(
    r"(?P<comment>\s+[#;]\s.*$|\s+//.*$)"
    r"|(?P<symbol><[^<>]*(?:<[^<>]*>[^<>]*)*>)"
    r"|(?P<number>[$#]?-?0x[0-9a-f]+|[$#]-?\d+|(?<![\w%])-?\d+(?![\w]))"
    r"|(?P<register>%[a-z]\w*(?:\(\d\))?|\b[wxvqdsbh]\d{1,2}(?:\.\w+)?\b|\b(?:sp|lr|fp|pc|wzr|xzr)\b|\bU?R\d+\b|\bU?P\d\b)"
    r"|(?P<word>\w+|[^\w\s])"
    r"|(?P<blank>\s+)"
)
_STYLES = {
    "comment": "syntax.comment",
    "symbol": "function",
    "number": "syntax.number",
    "register": "syntax.builtin",
    "word": "text",
    "blank": "text",
}
_PREFIXES = frozenset({"lock", "rep", "repz", "repnz", "notrack", "bnd", "data16"})
_MNEMONIC_ROOM = 7


class SourceLine(NamedTuple):
    """A line of source above the instructions that were made of it; `place` is None where none is known."""

    place: Place


class FunctionLine(NamedTuple):
    """The name of a function above its code."""

    name: str


class Target(NamedTuple):
    """Where a jump or call leads.

    Attributes:
        address: Of the code, or of the pointer to it.
        stored: The pointer to it is at the address.
        register: It is in a register: known only where the instruction is the next one.
    """

    address: int = 0
    stored: bool = False
    register: str = ""


def address_of(one: Instruction) -> int:
    """Where an instruction lies, or -1 where its address is no number."""
    try:
        return int(one.address, 16)
    except ValueError:
        return -1


def target_of(one: Instruction) -> Target | None:
    """Where an instruction jumps to or what it calls, as far as its text tells; None where it goes on."""
    found = _JUMP.match(one.text)
    if found is not None:
        return Target(int(found["address"], 16), stored="*" in one.text or "[" in one.text)
    through = _THROUGH.match(one.text)
    return Target(register=through["register"]) if through is not None else None


def code_cells(text: str) -> Iterable[Cell]:
    """An instruction with the colours of the theme: mnemonic, registers, numbers, symbols."""
    words = text.split(" ", 1)
    head = words[0]
    rest = words[1] if len(words) > 1 else ""
    if (head in _PREFIXES or head.startswith("@")) and rest:
        second, _, rest = rest.partition(" ")
        head = f"{head} {second}"
    yield Cell(f"{head:<{_MNEMONIC_ROOM}}" if rest else head, "syntax.keyword")
    if rest:
        yield Cell(" ")
    for token in _TOKEN.finditer(rest):
        yield Cell(token.group(), _STYLES[token.lastgroup or "word"])


def mixed_lines(
    instructions: Sequence[Instruction], *, source: bool
) -> list[SourceLine | FunctionLine | Instruction]:
    """Instructions with the names of their functions, and if wanted the source lines they were made of."""
    lines: list[SourceLine | FunctionLine | Instruction] = []
    function: str | None = None
    place: Place | None = None
    for one in instructions:
        if one.function != function:
            function, place = one.function, None
            if one.function or lines:
                lines.append(FunctionLine(one.function))
        if source and one.place is not None and one.place != place:
            lines.append(SourceLine(one.place))
        place = one.place or place
        lines.append(one)
    return lines


def breakpoint_addresses(bindings: Iterable[BreakpointBinding]) -> dict[int, BreakpointBinding]:
    """Breakpoints by each address they lie at."""
    found: dict[int, BreakpointBinding] = {}
    for binding in bindings:
        for address in binding.addresses:
            try:
                found[int(address, 16)] = binding
            except ValueError:
                continue
    return found
