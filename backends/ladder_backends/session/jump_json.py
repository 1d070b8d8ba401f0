"""A jump as JSON and as an exit code; the shape is the contract of `ladder-tui jump --json`."""

from __future__ import annotations

from typing import Any

from ladder_backends.model.focus import Focus
from ladder_backends.session.jump import JumpOutcome

FORMAT = 1


def jump_json(outcome: JumpOutcome) -> dict[str, Any]:
    """The outcome as plain values; coordinates are `[x, y, z]`, addresses hex strings, times seconds."""
    asked = {"block": None, "thread": None, **focus_json(outcome.asked)}
    reached = outcome.reached
    frame = outcome.frame
    place = frame.place if frame else None
    return {
        "format": FORMAT,
        "asked": asked,
        "reached": focus_json(reached) if reached is not None else None,
        "exact": outcome.exact,
        "kernel": outcome.kernel.name if outcome.kernel else None,
        "frame": {
            "function": frame.function,
            "file": place.file if place else None,
            "line": place.line if place else None,
            "fullname": (place.fullname or None) if place else None,
            "address": frame.address or None,
        }
        if frame
        else None,
        "locals": [
            {
                "name": variable.name,
                "value": variable.value if not variable.error else None,
                "type": variable.type,
                "argument": variable.is_argument,
                **({"error": variable.error} if variable.error else {}),
            }
            for variable in outcome.variables
        ],
        "lanes": [
            {
                "lane": lane.number,
                "state": lane.state.value,
                "thread": list(lane.thread) if lane.thread else None,
                "pc": lane.pc or None,
                "exception": lane.exception or None,
            }
            for lane in (outcome.warp.lanes if outcome.warp else ())
        ],
        "source": outcome.provenance.value,
        "reason": outcome.reason or None,
        "note": outcome.note or None,
        "alternatives": [
            {
                "label": alternative.label,
                "focus": focus_json(alternative.focus) if alternative.focus is not None else None,
                "file": alternative.file or None,
                "line": alternative.line,
                "act": alternative.act.value,
            }
            for alternative in outcome.alternatives
        ],
        "seconds": round(outcome.seconds, 6),
        "way": outcome.way.value,
        "phases": [{"text": text, "seconds": round(seconds, 6)} for text, seconds in outcome.phases],
    }


def jump_exit_code(outcome: JumpOutcome) -> int:
    """0 where the asked lane was reached, 1 where another one or none was."""
    return 0 if outcome.exact else 1


def focus_json(focus: Focus) -> dict[str, int | list[int]]:
    """Coordinates by level; one in the grid is an array."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in focus.items()}
