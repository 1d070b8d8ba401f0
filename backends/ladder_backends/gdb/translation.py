"""From MI values to the model. Everything that leaves here is clean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ladder_backends.gdb.type_names import short_type
from ladder_backends.mi.records import Value
from ladder_backends.model.frame import Frame, Place
from ladder_backends.model.grid import Instruction
from ladder_backends.model.variable import Variable
from ladder_backends.text import clean_line

VALUE_LIMIT = 1_000
"""Characters of a value that are kept."""

_INTERRUPTS = frozenset({"SIGINT", "SIGTRAP", "0"})
"""Signals by which a stop was asked for: no fault of the program."""

_NO_FAULTS = frozenset({"SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGCONT"})
"""Signals by which a terminal or another process stops a program and lets it go on, as for Ctrl-Z typed there."""

_REASONS = {
    "breakpoint-hit": "breakpoint",
    "watchpoint-trigger": "watchpoint",
    "read-watchpoint-trigger": "read watchpoint",
    "access-watchpoint-trigger": "access watchpoint",
    "watchpoint-scope": "watchpoint out of scope",
    "function-finished": "function finished",
    "location-reached": "location reached",
    "end-stepping-range": "step",
    "solib-event": "library event",
    "fork": "fork",
    "vfork": "vfork",
    "exec": "exec",
    "syscall-entry": "system call",
    "syscall-return": "system call returned",
    "no-history": "end of recorded history",
}


def text_of(value: Value | None, default: str = "") -> str:
    """The value as one clean line, or `default` where it is no string."""
    return clean_line(value) if isinstance(value, str) else default


def number_of(value: Value | None) -> int | None:
    """The value as a decimal number, or None."""
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            return None
    return None


def rows_of(value: Value | None) -> Iterator[Mapping[str, Value]]:
    """The tuples of a list; anything else in it is passed over."""
    if isinstance(value, list):
        for row in value:
            if isinstance(row, dict):
                yield row


def place_of(row: Mapping[str, Value]) -> Place | None:
    """The source place of a frame or breakpoint location, or None where it has no file and line."""
    line = number_of(row.get("line"))
    fullname = text_of(row.get("fullname"))
    file = text_of(row.get("file")) or fullname
    if line is None or line < 1 or not file:
        return None
    return Place(file, line, fullname)


def frame_of(value: Value | Mapping[str, Value] | None, level: int = 0) -> Frame | None:
    """A frame tuple, however little of it is there; None where there is nothing."""
    if not isinstance(value, Mapping):
        return None
    told = number_of(value.get("level"))
    function = text_of(value.get("func"))
    address = text_of(value.get("addr"))
    place = place_of(value)
    if not function and not address and place is None:
        return None
    return Frame(
        level=level if told is None else told,
        function=cut_value(function)[0] or "??",
        place=place,
        address=address,
        module=text_of(value.get("from")),
        arguments=arguments_of(value),
    )


def arguments_of(row: Mapping[str, Value]) -> tuple[tuple[str, str], ...]:
    """Names and values of a frame's `args`; `…` stands for a value that was not asked for."""
    return tuple(
        (text_of(each.get("name")), cut_value(text_of(each.get("value"), "…"))[0])
        for each in rows_of(row.get("args"))
    )


def cut_value(value: str) -> tuple[str, bool]:
    """A clean value no longer than `VALUE_LIMIT` characters, and whether something was cut off."""
    if len(value) <= VALUE_LIMIT:
        return value, False
    return value[: VALUE_LIMIT - 1] + "…", True


_REFERRED = re.compile(r"@0x[0-9a-f]+: ")
_POINTER = re.compile(r"(?:\(.*\) )?0x[0-9a-f]*[1-9a-f]")
_TEXT = re.compile(r"""(?:0x[0-9a-f]+ (?:<.*> )?)?[LuU]?(?:"|'.{1,8}' <repeats )""")
_NOT_LOOKED_INTO = re.compile(r"(?:(?:const|volatile) )*void (?:const )?\*|.*\(\*")


def seen_inside(variable: Variable, aggregate: bool) -> Variable:
    """A row of a variable list that says whether it can be looked into, as far as its type and value tell.

    Args:
        variable: What a reference refers to has its address before it, which is left out.
        aggregate: The engine gives its value only where it is asked for by name.
    """
    value = _REFERRED.sub("", variable.value, count=1) if variable.type.endswith("&") else variable.value
    text = _TEXT.match(value) is not None
    if aggregate or variable.type.endswith("&"):
        inside = (aggregate or "{" in value) and not text
        inside = inside or (aggregate and variable.type.endswith("]"))
    else:
        inside = _POINTER.match(value) is not None and not _NOT_LOOKED_INTO.match(variable.type)
        inside = inside and ("*" in variable.type or not variable.type.endswith("int"))
    if not text and not inside and value is variable.value:
        return variable
    return replace(variable, value=value, children=inside, kind="string" if text else "")


def variable_of(row: Mapping[str, Value]) -> Variable:
    """A row of a variable list; an aggregate without a value has an empty one."""
    type_name = short_type(cut_value(text_of(row.get("type")))[0])
    variable = Variable(text_of(row.get("name")), "", type_name, is_argument=row.get("arg") == "1")
    return with_value(variable, row.get("value"))


def with_value(variable: Variable, raw: Value | None) -> Variable:
    """`variable` with an engine's value text: cut, clean, and told apart from the engine's error texts."""
    if not isinstance(raw, str):
        return variable
    # Cleaning costs per character: no more of a huge value is cleaned than is kept.
    value, cut = cut_value(clean_line(raw[: VALUE_LIMIT + 1]))
    if value.startswith("<error reading variable") or value.startswith("<error: "):
        return replace(variable, value="", error=value.strip("<>"))
    return replace(variable, value=value, cut=cut or len(raw) > VALUE_LIMIT)


def instructions_of(value: Value | None) -> tuple[Instruction, ...]:
    """The instructions of a disassembly in mode 0."""
    return tuple(
        Instruction(
            address=text_of(row.get("address")),
            text=text_of(row.get("inst")).replace("␉", " "),
            function=text_of(row.get("func-name")),
            offset=number_of(row.get("offset")) or 0,
        )
        for row in rows_of(value)
    )


def stop_words(results: Mapping[str, Value]) -> tuple[str, str, bool]:
    """A stop's reason as the engine's word, as a person's words, and whether it is a fault."""
    reason = text_of(results.get("reason"))
    if reason == "signal-received":
        name = text_of(results.get("signal-name"))
        meaning = text_of(results.get("signal-meaning"))
        if name in _INTERRUPTS:
            return reason, "interrupted" if name != "SIGTRAP" else "SIGTRAP, trap", False
        return reason, f"{name}, {meaning}" if meaning else name, name not in _NO_FAULTS
    words = _REASONS.get(reason, reason or "stopped")
    if reason == "breakpoint-hit":
        number = text_of(results.get("bkptno"))
        words = f"breakpoint {number}" if number and results.get("disp") != "del" else "breakpoint"
    elif reason == "function-finished" and isinstance(results.get("return-value"), str):
        words = f"returned {cut_value(text_of(results.get('return-value')))[0]}"
    elif reason.endswith("watchpoint-trigger"):
        words = _watch_words(results, words)
    elif reason == "exec":
        words = f"exec {text_of(results.get('new-exec'))}".rstrip()
    return reason, words, False


def _watch_words(results: Mapping[str, Value], words: str) -> str:
    watched = next(
        (row for name in ("wpt", "hw-rwpt", "hw-awpt") if isinstance(row := results.get(name), dict)), {}
    )
    expression = text_of(watched.get("exp"))
    change = results.get("value")
    if isinstance(change, dict):
        old = text_of(change.get("old"))
        new = text_of(change.get("new")) or text_of(change.get("value"))
        return f"{expression}: {old} → {new}" if old else f"{expression} = {new}"
    return f"{words} {expression}".rstrip()


def exit_code_of(results: Mapping[str, Value]) -> int | None:
    """A target's exit status; the engine writes it in octal."""
    raw = results.get("exit-code")
    if isinstance(raw, str):
        try:
            return int(raw, 8)
        except ValueError:
            return None
    return None


def exit_words(results: Mapping[str, Value]) -> str:
    """How a process ended, in a person's words: `exited with code 3`."""
    signal = text_of(results.get("signal-name"))
    if signal:
        return f"was ended by {signal}"
    code = exit_code_of(results)
    return f"exited with code {code}" if code else "exited normally"


def returned_by(results: Mapping[str, Value]) -> Variable | None:
    """What a function that was run to its end returned, named by the engine's own variable for it (`$1`)."""
    value = results.get("return-value")
    if not isinstance(value, str):
        return None
    path = text_of(results.get("gdb-result-var"))
    return with_value(Variable("returned", "", changed=True, path=path), value)
