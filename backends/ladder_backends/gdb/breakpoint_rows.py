"""What a `bkpt` tuple of the machine interface tells, whatever version wrote it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ladder_backends.gdb.log_points import condition_of, message_of_script
from ladder_backends.gdb.translation import number_of, place_of, rows_of, text_of
from ladder_backends.mi.records import Value
from ladder_backends.model.breakpoint import (
    BindingState,
    BoundLocation,
    BreakpointBinding,
    BreakpointIntent,
    BreakpointKind,
)
from ladder_backends.model.frame import Place

_FILE_LINE = re.compile(r"(?P<file>.+):(?P<line>\d+)$")
_KINDS = {
    "read watchpoint": BreakpointKind.READ,
    "acc watchpoint": BreakpointKind.ACCESS,
    "hw watchpoint": BreakpointKind.WRITE,
    "watchpoint": BreakpointKind.WRITE,
    "catchpoint": BreakpointKind.CATCH,
}
SLOW = "software watch: the program is stepped, and runs a thousand times slower"
_LIBRARY = re.compile(r"(?:load|unload) of library(?: matching (?P<name>.*))?$")


def row_in(results: Mapping[str, Value]) -> Mapping[str, Value] | None:
    """The `bkpt` tuple of a record, with its locations in it; None where there is none."""
    first = results.get("bkpt")
    return gathered([first, *rows_of(results.get(""))]) if isinstance(first, dict) else None


def gathered(rows: Sequence[Mapping[str, Value]]) -> Mapping[str, Value] | None:
    """A breakpoint and its locations as one row: the oldest form gives these beside it, without a name."""
    if not rows:
        return None
    first = rows[0]
    beside: list[Value] = [dict(row) for row in rows[1:] if "." in text_of(row.get("number"))]
    return {**first, "locations": beside} if beside and "locations" not in first else first


def line_of(location: str) -> int | None:
    """The line of a `file:line` location, or None."""
    match = _FILE_LINE.match(location)
    return int(match["line"]) if match else None


def kind_of(row: Mapping[str, Value]) -> BreakpointKind:
    """What kind of breakpoint a row tells of."""
    return _KINDS.get(text_of(row.get("type")), BreakpointKind.CODE)


def intent_of(
    intent: BreakpointIntent, row: Mapping[str, Value], before: BreakpointBinding | None
) -> BreakpointIntent:
    """`intent` as the engine has it now: what was changed in the command line is what the user wants.

    Args:
        intent: What is known of the wish.
        row: The `bkpt` tuple.
        before: The binding that the row takes the place of.
    """
    # A list of hits to come holds one with the thread of each; versions differ in how often they tell it.
    thread = row.get("thread")
    told = thread[0] if isinstance(thread, list) and thread else thread
    disposition = text_of(row.get("disp"))
    script = tuple(text_of(line) for line in script_of(row))
    log, commands = intent.log, intent.commands
    if row.get("type") == "dprintf":
        log, commands = message_of_script(script, log), ()
    elif "script" in row or "times" in row:
        commands = script
    return replace(
        intent,
        condition=condition_of(text_of(row.get("cond"))),
        temporary=disposition == "del",
        once=disposition == "dis",
        enabled=row.get("enabled") != "n",
        ignore=_ignore_of(intent, row, before),
        log=log,
        commands=commands,
        thread=number_of(told) if intent.kind is not BreakpointKind.REGEX else intent.thread,
    )


def _ignore_of(intent: BreakpointIntent, row: Mapping[str, Value], before: BreakpointBinding | None) -> int:
    """How many hits the user wants passed over: the engine counts its own figure down with each."""
    left = number_of(row.get("ignore")) or 0
    if before is None:
        return max(left, intent.ignore)
    hits = number_of(row.get("times")) or 0
    # Each run of the program is counted from its beginning.
    counted = hits - before.hits if hits >= before.hits else hits
    return intent.ignore if left == before.left or left == max(0, before.left - counted) else left


def script_of(row: Mapping[str, Value]) -> list[Value]:
    """The lines of a breakpoint's commands."""
    script = row.get("script")
    if isinstance(script, list):
        return [line.replace("\t", " ") for line in script if isinstance(line, str)]
    return [script.replace("\t", " ")] if isinstance(script, str) and script else []


def binding_of(intent: BreakpointIntent, row: Mapping[str, Value], why: str = "") -> BreakpointBinding:
    """What a `bkpt` tuple makes of an intent.

    Args:
        intent: As `intent_of` gives it.
        row: The tuple.
        why: The engine's explanation where the breakpoint is pending.
    """
    rows = list(rows_of(row.get("locations")))
    locations = tuple(_location_of(each) for each in rows) if len(rows) > 1 else ()
    places: list[Place] = []
    functions: list[str] = []
    for each in rows or [row]:
        place, function = place_of(each), text_of(each.get("func"))
        if place is not None and place not in places:
            places.append(place)
        if function and function not in functions:
            functions.append(function)
    state = BindingState.SET
    if row.get("addr") == "<PENDING>" or ("pending" in row and not places):
        state, why = BindingState.PENDING, why or "no loaded module has it yet"
    elif row.get("type") == "watchpoint":
        why = SLOW
    else:
        state, why = _moved(intent, places)
    return BreakpointBinding(
        intent=intent,
        state=state,
        number=text_of(row.get("number")),
        places=tuple(places),
        hits=number_of(row.get("times")) or 0,
        why=why,
        functions=tuple(functions),
        locations=locations,
        left=number_of(row.get("ignore")) or 0,
        addresses=tuple(
            address for each in rows or [row] if (address := text_of(each.get("addr"))).startswith("0x")
        ),
    )


def _moved(intent: BreakpointIntent, places: list[Place]) -> tuple[BindingState, str]:
    asked = line_of(intent.location) if intent.kind is BreakpointKind.CODE else None
    lines = sorted({place.line for place in places})
    if asked is None or not lines or asked in lines:
        return BindingState.SET, ""
    return BindingState.MOVED, f"line {asked} has no code; moved to {', '.join(str(line) for line in lines)}"


def _location_of(row: Mapping[str, Value]) -> BoundLocation:
    groups = row.get("thread-groups")
    return BoundLocation(
        number=text_of(row.get("number")),
        place=place_of(row),
        function=text_of(row.get("func")),
        address=text_of(row.get("addr")),
        enabled=row.get("enabled") == "y",
        process=text_of(groups[0]) if isinstance(groups, list) and len(groups) == 1 else "",
    )


def asked_location(row: Mapping[str, Value]) -> str:
    """The location that a breakpoint typed in the command line was asked for at."""
    kind = kind_of(row)
    what = text_of(row.get("what"))
    if kind.watches:
        return what or text_of(row.get("original-location"))
    if kind is BreakpointKind.CATCH:
        return _caught(text_of(row.get("catch-type")), what, text_of(row.get("regexp")))
    asked = text_of(row.get("original-location")) or text_of(row.get("pending"))
    if row.get("type") == "dprintf":
        # A pending one is told with its message behind the place.
        asked = asked.split(',"', 1)[0]
    # What is typed as a bare line number or nothing comes back as `-line N`: name the place instead.
    place = place_of(row)
    if place is not None and (not asked or asked.startswith("-")):
        return f"{place.fullname or place.file}:{place.line}"
    return asked or text_of(row.get("addr"))


def _caught(kind: str, what: str, pattern: str) -> str:
    """What follows `catch` in the command line."""
    if kind in ("load", "unload"):
        match = _LIBRARY.match(what)
        return f"{kind} {match['name'] if match and match['name'] else ''}".rstrip()
    if kind in ("throw", "catch", "rethrow"):
        return f"{kind} {pattern}".rstrip()
    if kind == "signal":
        return {"<any signal>": "signal all", "<standard signals>": "signal"}.get(what, f"signal {what}".rstrip())
    if kind == "syscall":
        return "syscall" if what.startswith("<") else f"syscall {what.replace(',', ' ')}".rstrip()
    # A fork's own row names the last child, an exec's the last program.
    return kind or what
