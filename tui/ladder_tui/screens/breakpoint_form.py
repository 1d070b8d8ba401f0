"""The dialogs of breakpoints: a new one of any kind, and all options of one that is there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ladder_backends.debugger.contract import Capability
from ladder_backends.model.breakpoint import BindingState, BreakpointBinding, BreakpointIntent, BreakpointKind
from ladder_backends.model.focus import Dim3, parse_dim3
from ladder_backends.model.frame import file_name
from ladder_tui.panes.breakpoint_rows import place_words
from ladder_tui.screens.form import FormScreen, FormValues
from ladder_tui.widgets.form_fields import Field, Select, TextField, Toggle

if TYPE_CHECKING:
    from ladder_tui.screens.workspace import Workspace

KINDS = (
    (BreakpointKind.CODE.value, "line or function"),
    (BreakpointKind.REGEX.value, "functions by name (regex)"),
    (BreakpointKind.WRITE.value, "writes of a value"),
    (BreakpointKind.READ.value, "reads of a value"),
    (BreakpointKind.ACCESS.value, "reads and writes"),
    (BreakpointKind.CATCH.value, "event: throw, fork, signal, …"),
)
_WHERE = {
    BreakpointKind.CODE: "FILE:LINE, a function, or *ADDRESS",
    BreakpointKind.REGEX: "a regular expression, or FILE:EXPRESSION",
    BreakpointKind.CATCH: "throw, catch, rethrow, fork, exec, signal NAME, syscall NAME, load LIB, unload LIB",
}
_WATCHED = "an expression of this frame"
_KEEP, _ONCE, _GONE = "keep", "once", "gone"
_AFTER = ((_KEEP, "stays"), (_ONCE, "is switched off"), (_GONE, "is taken away"))
_WITH_CONDITION = re.compile(r"(?P<where>\S.*?)\s+if(?:\s+|(?=\())(?P<condition>\S.*)")


def new_breakpoint(home: Workspace, offered: BreakpointIntent, why: str = "") -> None:
    """Ask for a breakpoint of any kind, with all its options; what the engine refuses is asked for again.

    Args:
        home: Where the dialog opens.
        offered: What the fields hold at first.
        why: One more line: what was wrong with that.
    """
    kind, location = offered.kind, offered.location
    hint = _WHERE.get(kind, _WATCHED)
    fields: list[Field] = [
        Select("kind", "Stops at", KINDS, kind.value, note="the arrows choose"),
        TextField("where", "Where", location, placeholder=hint, note="a place, an expression or an event"),
        *_options(offered, whole=True, lanes=has_lanes(home)),
    ]

    def given(values: FormValues | None) -> None:
        if values is not None:
            home.ladder_app.work(place(_intent_of(values, BreakpointIntent(0, ""))))

    async def place(wish: BreakpointIntent) -> None:
        session = home.ladder.active
        made = await session.place_breakpoint(wish) if session is not None else None
        if made is not None and made.state is BindingState.FAILED:
            new_breakpoint(home, wish, made.why)

    def look(values: FormValues) -> tuple[str, str] | None:
        other = values["kind"] != kind.value
        if other and str(values["where"]).strip() == location:
            return "where", f"say where: {_WHERE.get(BreakpointKind(str(values['kind'])), _WATCHED)}"
        return check(values)

    home.app.push_screen(FormScreen("New breakpoint", fields, home.palette, why=why, check=look), given)


def edit_breakpoint(
    home: Workspace, binding: BreakpointBinding, wish: BreakpointIntent | None = None, why: str = ""
) -> None:
    """Ask for all options of a breakpoint; what the engine refuses is asked for again.

    Args:
        home: Where the dialog opens.
        binding: The breakpoint.
        wish: What the fields hold at first, where that is not what the breakpoint is.
        why: What was wrong with that.
    """
    before = binding.intent
    intent = wish or before
    fields: list[Field] = [
        TextField("where", "Where", intent.location, note=_WHERE.get(intent.kind, _WATCHED)),
        *_options(intent, whole=intent.kind is BreakpointKind.CODE, lanes=has_lanes(home)),
    ]

    def given(values: FormValues | None) -> None:
        if values is not None and (changed := _intent_of(values, before)) != before:
            home.ladder_app.work(change(changed))

    async def change(changed: BreakpointIntent) -> None:
        session = home.ladder.active
        made = await session.change_breakpoint(binding, changed) if session is not None else None
        if made is not None and made.state is BindingState.FAILED:
            edit_breakpoint(home, binding, changed, made.why)

    number = f"Breakpoint {binding.number}  " if binding.number else ""
    form = FormScreen(
        f"{number}{place_words(binding)}",
        fields,
        home.palette,
        why=why or binding.why,
        check=lambda values: check({"kind": intent.kind.value, **values}),
    )
    home.app.push_screen(form, given)


def ask_condition(
    home: Workspace, binding: BreakpointBinding | None, location: str, typed: str | None = None, why: str = ""
) -> None:
    """Ask for the condition of a breakpoint, or of a new one at a location; what is refused is asked for again."""

    async def set_it(condition: str) -> None:
        session = home.ladder.active
        made = None
        if session is not None and binding is None:
            made = await session.place_breakpoint(BreakpointIntent(0, location, condition))
        elif session is not None and binding is not None and condition != binding.intent.condition:
            made = await session.change_breakpoint(binding, replace(binding.intent, condition=condition))
        if made is not None and made.state is BindingState.FAILED:
            ask_condition(home, binding, location, condition, made.why)

    file, _, line = location.rpartition(":")
    where = place_words(binding) if binding is not None else f"{file_name(file)}:{line}"
    known = binding.intent.condition if binding is not None else ""
    home.prompt.ask(
        f"{why}; if" if why else f"stop at {where} if",
        lambda text: home.ladder_app.work(set_it(text.strip())),
        initial=known if typed is None else typed,
        placeholder="a condition; empty stops always",
    )


def has_lanes(home: Workspace) -> bool:
    """Whether the program on screen runs on a GPU, whose lanes a breakpoint can be for."""
    session = home.ladder.active
    return session is not None and bool(session.state.capabilities & Capability.DEVICE_FOCUS)


def _options(intent: BreakpointIntent, *, whole: bool, lanes: bool) -> Sequence[Field]:
    after = _GONE if intent.temporary else _ONCE if intent.once else _KEEP
    fields: list[Field] = [
        TextField("condition", "If", intent.condition, placeholder="always", note="an expression of the program"),
        TextField("hit", "From hit", str(intent.ignore + 1), note="1 stops at the first one; counted in each run"),
        Select("after", "After a hit it", _AFTER, after),
    ]
    if whole:
        fields.append(
            TextField(
                "log",
                "Log instead",
                intent.log,
                placeholder="stops, writes nothing",
                note="writes this and runs on; values as {expression}, or {expression:%08x}",
            )
        )
    fields.append(
        TextField(
            "commands",
            "Then run",
            join_commands(intent.commands),
            placeholder="nothing",
            note="commands of the engine at each stop, with ; between them",
        )
    )
    if whole:
        thread = "" if intent.thread is None else str(intent.thread)
        fields.append(
            TextField("thread", "Thread", thread, placeholder="any", note="the engine's number of a thread")
        )
    if whole and lanes:
        for name, label, index in (("block", "Block", intent.block), ("lane", "Thread in it", intent.lane)):
            at = ",".join(map(str, index)) if index is not None else ""
            fields.append(TextField(name, label, at, placeholder="any", note="x,y,z: stops only there, on the GPU"))
    fields.append(Toggle("enabled", "Switched on", intent.enabled))
    return fields


def _index_in(values: FormValues, name: str, before: Dim3 | None) -> Dim3 | None:
    """A coordinate of the form; what it had before where the form does not ask for one.

    Raises:
        ValueError: It is no coordinate.
    """
    if name not in values:
        return before
    text = str(values[name]).strip()
    return parse_dim3(text) if text else None


def check(values: FormValues) -> tuple[str, str] | None:
    """What is wrong with a form's values: the field's name and why; None where nothing is."""
    kind = BreakpointKind(str(values["kind"]))
    where, hit = str(values["where"]).strip(), str(values["hit"]).strip() or "1"
    thread, log = str(values.get("thread", "")).strip(), str(values.get("log", "")).strip()
    if not where:
        return "where", f"say where: {_WHERE.get(kind, _WATCHED)}"
    if not hit.isdecimal() or not 1 <= int(hit) < 1 << 31:
        return "hit", "a hit is a number from 1"
    if thread and (not thread.isdecimal() or int(thread) < 1):
        return "thread", "a thread is a number from 1"
    for name in ("block", "lane"):
        try:
            index = _index_in(values, name, None)
        except ValueError:
            return name, "a place in the grid is x,y,z"
        if index is not None and kind is not BreakpointKind.CODE:
            return name, "only a breakpoint at a line or function can have this"
    if kind is not BreakpointKind.CODE and (log or thread):
        return "log" if log else "thread", "only a breakpoint at a line or function can have this"
    if log and str(values["commands"]).strip():
        return "commands", "a log point does not stop, so it runs no commands"
    return None


def _intent_of(values: FormValues, before: BreakpointIntent) -> BreakpointIntent:
    thread = str(values.get("thread", "")).strip()
    kind = BreakpointKind(str(values.get("kind", before.kind.value)))
    where, condition = str(values["where"]).strip(), str(values["condition"]).strip()
    if not condition and kind is BreakpointKind.CODE and (both := _WITH_CONDITION.fullmatch(where)):
        # As people write it in a command line.
        where, condition = both["where"], both["condition"]
    return replace(
        before,
        kind=kind,
        location=where,
        condition=condition,
        ignore=int(str(values["hit"]).strip() or "1") - 1,
        temporary=values["after"] == _GONE,
        once=values["after"] == _ONCE,
        log=str(values.get("log", before.log)).strip(),
        commands=split_commands(str(values["commands"])),
        thread=int(thread) if thread else None,
        block=_index_in(values, "block", before.block),
        lane=_index_in(values, "lane", before.lane),
        enabled=values["enabled"] is True,
    )


def join_commands(commands: Sequence[str]) -> str:
    """Commands as one line."""
    return "; ".join(command.replace("\\", "\\\\").replace(";", "\\;") for command in commands)


def split_commands(line: str) -> tuple[str, ...]:
    r"""The commands of one line: between `;`, for which `\;` stands within a command."""
    commands = [""]
    escaped = False
    for character in line:
        if escaped:
            commands[-1] += character if character in ";\\" else "\\" + character
            escaped = False
        elif character == "\\":
            escaped = True
        elif character == ";":
            commands.append("")
        else:
            commands[-1] += character
    if escaped:
        commands[-1] += "\\"
    return tuple(command.strip() for command in commands if command.strip())
