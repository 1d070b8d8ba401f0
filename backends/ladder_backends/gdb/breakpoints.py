"""The engine's breakpoints, bound to what the user asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from ladder_backends.gdb.translation import number_of, place_of, rows_of, text_of
from ladder_backends.mi.records import Value
from ladder_backends.model.breakpoint import BindingState, BreakpointBinding, BreakpointIntent
from ladder_backends.model.frame import Place

_FILE_LINE = re.compile(r"(?P<file>.+):(?P<line>\d+)$")

WATCH_PREFIX = "watch "
CATCH_PREFIX = "catch "


def line_of(location: str) -> int | None:
    """The line of a `file:line` location, or None."""
    match = _FILE_LINE.match(location)
    return int(match["line"]) if match else None


class BreakpointTable:
    """Every breakpoint the engine has, by its number, in the order of creation."""

    def __init__(self) -> None:
        self._bindings: dict[str, BreakpointBinding] = {}
        self._highest_intent = 0
        self._own: str | None = None

    def expect_own(self) -> None:
        """The next temporary breakpoint is the engine's own, as for a start at main: it is not listed."""
        self._own = ""

    @property
    def bindings(self) -> tuple[BreakpointBinding, ...]:
        """All bindings."""
        return tuple(self._bindings.values())

    def bind(self, intent: BreakpointIntent, row: Mapping[str, Value], why: str = "") -> BreakpointBinding:
        """Keep the engine's answer to an intent.

        Args:
            intent: What was asked for.
            row: The `bkpt` tuple.
            why: The engine's explanation where the breakpoint is pending.
        """
        self._highest_intent = max(self._highest_intent, intent.id)
        binding = binding_of(intent, row, why)
        self._bindings[binding.number] = binding
        return binding

    def update(self, row: Mapping[str, Value]) -> bool:
        """Take a `=breakpoint-created` or `=breakpoint-modified`; returns whether anything is different now."""
        number = text_of(row.get("number"))
        if not number or "." in number:
            return False
        if self._own == "" and row.get("disp") == "del":
            self._own = number
        if number == self._own:
            return False
        known = self._bindings.get(number)
        if known is None:
            self._highest_intent += 1
            intent = BreakpointIntent(self._highest_intent, _asked_location(row))
        else:
            intent = known.intent
        intent = replace(
            intent,
            condition=text_of(row.get("cond")),
            temporary=row.get("disp") == "del",
            enabled=row.get("enabled") != "n",
        )
        binding = binding_of(intent, row, known.why if known else "")
        self._bindings[number] = binding
        return binding != known

    def remove(self, number: str) -> bool:
        """Forget a breakpoint; returns whether it was known."""
        if number == self._own:
            self._own = None
        return self._bindings.pop(number, None) is not None

    def switch(self, number: str, enabled: bool) -> None:
        """Note that a breakpoint was switched on or off."""
        known = self._bindings.get(number)
        if known is not None:
            self._bindings[number] = replace(known, intent=replace(known.intent, enabled=enabled))


def binding_of(intent: BreakpointIntent, row: Mapping[str, Value], why: str = "") -> BreakpointBinding:
    """What a `bkpt` tuple makes of an intent."""
    locations = list(rows_of(row.get("locations"))) or [row]
    places: list[Place] = []
    functions: list[str] = []
    for location in locations:
        place = place_of(location)
        if place is not None and place not in places:
            places.append(place)
        function = text_of(location.get("func"))
        if function and function not in functions:
            functions.append(function)
    state = BindingState.SET
    if row.get("addr") == "<PENDING>":
        state, why = BindingState.PENDING, why or "no loaded module has it yet"
    else:
        asked = line_of(intent.location)
        lines = sorted({place.line for place in places})
        if asked is not None and lines and asked not in lines:
            state = BindingState.MOVED
            why = f"line {asked} has no code; moved to {', '.join(str(line) for line in lines)}"
        else:
            why = ""
    return BreakpointBinding(
        intent=intent,
        state=state,
        number=text_of(row.get("number")),
        places=tuple(places),
        hits=number_of(row.get("times")) or 0,
        why=why,
        functions=tuple(functions),
    )


def _asked_location(row: Mapping[str, Value]) -> str:
    kind = text_of(row.get("type"))
    if "watchpoint" in kind:
        return WATCH_PREFIX + (text_of(row.get("what")) or text_of(row.get("original-location")))
    if "catchpoint" in kind:
        return CATCH_PREFIX + (text_of(row.get("what")) or text_of(row.get("catch-type")))
    asked = text_of(row.get("original-location")) or text_of(row.get("pending"))
    # What is typed as a bare line number or nothing comes back as `-line N`: name the place instead.
    place = place_of(row)
    if place is not None and (not asked or asked.startswith("-")):
        return f"{place.fullname or place.file}:{place.line}"
    return asked or text_of(row.get("addr"))
