"""A debugger's session as JSON for machines and as text for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ladder_backends.model.focus import format_coordinate
from ladder_backends.model.frame import Frame
from ladder_backends.model.grid import LaneState, Warp
from ladder_backends.model.provenance import Provenance
from ladder_backends.model.variable import Variable
from ladder_backends.session.jump_json import focus_json
from ladder_backends.session.python_json import woven_json, woven_lines
from ladder_backends.session.state import DebugState, Run
from ladder_backends.text import clean
from ladder_tui.cli.output import unicode_output

if TYPE_CHECKING:
    from ladder_backends.model.python_stack import WovenStack

_OUTPUT_LINES = 200
_ARGUMENT = 40
_GLYPHS = {
    LaneState.ACTIVE: ("█", "#"),
    LaneState.DIVERGENT: ("▒", "~"),
    LaneState.EXITED: ("·", "."),
    LaneState.FAULTING: ("✗", "X"),
    LaneState.ABSENT: (" ", " "),
}


def session_json(state: DebugState) -> dict[str, object]:
    """The state of one debugger: where it stands, its stack and its variables."""
    return {
        "format": 1,
        "rung": state.rung,
        "target": state.title,
        "run": state.run.name.lower(),
        "detail": state.run_detail,
        "focus": focus_json(state.focus) if state.focus is not None else None,
        "frames": [frame_json(frame) for frame in state.frames.frames],
        "more_frames": state.frames.more,
        "python": woven_json(state),
        "locals": [variable_json(variable) for variable in state.variables.variables],
        "locals_note": state.variables.note,
        "source": str(state.provenance),
        "output": program_output(state),
        "output_dropped": state.program_dropped,
        "notices": [notice.text for notice in state.notices],
    }


def program_output(state: DebugState) -> str:
    """What the program wrote to its terminal, clean, with plain newlines."""
    return clean(b"".join(state.program).decode("utf-8", "backslashreplace").replace("\r\n", "\n"))


def frame_json(frame: Frame) -> dict[str, object]:
    """One frame; `file` and `line` are null where there is no line information."""
    return {
        "level": frame.level,
        "function": frame.function,
        "file": frame.place.file if frame.place else None,
        "line": frame.place.line if frame.place else None,
        "address": frame.address,
        "module": frame.module or None,
        "arguments": [{"name": name, "value": value} for name, value in frame.arguments],
        "source": str(frame.provenance),
    }


def variable_json(variable: Variable) -> dict[str, object]:
    """One variable."""
    document: dict[str, object] = {"name": variable.name, "value": variable.value, "type": variable.type}
    if variable.error:
        document["error"] = variable.error
    if variable.cut:
        document["cut"] = True
    return document


def session_lines(state: DebugState) -> Iterator[str]:
    """The state of one debugger for a person."""
    output = program_output(state).splitlines()
    if len(output) > _OUTPUT_LINES or state.program_dropped:
        yield "(earlier output of the program is left out)"
    yield from output[-_OUTPUT_LINES:]
    words = [state.title] if state.run is Run.DUMP else [state.title, str(state.run)]
    if state.run_detail:
        words = [state.title, state.run_detail]
    yield ": ".join(words) + (" (from a recording)" if state.provenance is Provenance.RECORDING else "")
    for notice in state.notices:
        if notice.severity != "information":
            yield f"note   {notice.text}"
    if state.focus:
        yield f"focus  {state.focus.describe()}"
    if state.python.why:
        yield f"note   no Python frames: {state.python.why}"
    yield from stack_lines(state.frames.frames, state.python.woven)
    if state.frames.more:
        yield "       and more frames"
    yield from variable_lines(state.variables.variables, state.variables.note)
    if state.run is Run.DUMP:
        for warp in state.grid.warps:
            yield from warp_lines(warp)


def stack_lines(frames: Iterable[Frame], woven: WovenStack | None) -> Iterator[str]:
    """A stack, with its Python frames where they are known."""
    if woven is None:
        yield from map(frame_line, frames)
    else:
        yield from woven_lines(woven, frame_line)


def frame_line(frame: Frame) -> str:
    """`#0  vadd (n=1000) at /home/user/vector_add_oob.cu:10`; address and module where no source says the place."""
    words = [frame.function]
    # What an argument was on entry is told twice only where it has changed since.
    now = dict(frame.arguments)
    told = [
        f"{name}={_shorten(value)}"
        for name, value in frame.arguments
        if now.get(name.removesuffix("@entry"), value) != value or not name.endswith("@entry")
    ]
    if told:
        words.append(f"({', '.join(told)})")
    if frame.place:
        words.append(f"at {frame.place.file}:{frame.place.line}")
    else:
        words += [frame.address] if frame.function == "??" and frame.address else []
        words += [f"from {frame.module}"] if frame.module else []
    return f"#{frame.level:<4}  {' '.join(words)}"


def _shorten(value: str) -> str:
    """A value as it fits among others on a line."""
    return value if len(value) <= _ARGUMENT else value[: _ARGUMENT - 1] + "…"


def variable_lines(variables: tuple[Variable, ...], note: str) -> Iterator[str]:
    """Aligned `name = value` lines, then why there are none or not all."""
    width = max((len(variable.name) for variable in variables), default=0)
    for variable in variables:
        value = f"<{variable.error}>" if variable.error else variable.value
        yield f"       {variable.name:{width}} = {value}"
    if note:
        yield f"       {note}"


def warp_lines(warp: Warp, lane: int | None = None) -> Iterator[str]:
    """The 32 lanes of a warp drawn, the focused one marked below.

    Args:
        warp: The warp.
        lane: Number of the focused lane, or None.
    """
    column = 0 if unicode_output() else 1
    drawn = "".join(_GLYPHS[one.state][column] for one in warp.lanes)
    threads = [one.thread for one in warp.lanes if one.thread is not None]
    span = f"  threads {format_coordinate(threads[0])} to {format_coordinate(threads[-1])}" if threads else ""
    head = f"warp {warp.index} (sm {warp.sm} warp {warp.number})"
    yield f"{head}  |{drawn}|{span}"
    if lane is not None and 0 <= lane < len(warp.lanes):
        yield f"{'':{len(head)}}   {'':{lane}}^ lane {lane}"
    states = {one.state for one in warp.lanes} - {LaneState.ABSENT}
    legend = "  ".join(f"{_GLYPHS[state][column]} {state}" for state in LaneState if state in states)
    yield f"{'':{len(head)}}   {legend}"
