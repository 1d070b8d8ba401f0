"""A value that takes its time costs its own row, never the stop."""

from __future__ import annotations

from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.gdb import questions
from ladder_backends.session.state import Change

SLOW = (
    'python import time, gdb.printing; P = type("P", (), {"__init__": lambda s, v: None, '
    '"to_string": lambda s: (time.sleep(30), "late")[1]}); '
    'c = gdb.printing.RegexpCollectionPrettyPrinter("slow"); c.add_printer("pair", "^pair$", P); '
    "gdb.printing.register_pretty_printer(None, c)"
)


async def test_the_stop_is_shown_before_its_slow_values(told, compiled, monkeypatch) -> None:
    monkeypatch.setattr(questions, "VALUE_BUDGET", 0.5)
    await told.session.open(LaunchTarget(compiled("steps")), run=False)
    await told.session.debugger.cli(SLOW)
    await told.session.set_breakpoint("steps.c:22")
    seen: list[tuple[int, str]] = []

    def look(change: Change) -> None:
        if change & Change.VARIABLES:
            state = told.state
            seen.append((len(state.frames.frames), state.variables.note or "there"))

    told.session.subscribe(look)
    await told.go(StepKind.RUN)
    shown = [note for frames, note in seen if frames]
    assert shown == ["reading …", "there"]
    values = {each.name: each for each in told.state.variables.variables}
    assert values["both"].error == "timed out"
    assert values["total"].value == "10"
    assert (await told.session.evaluate("total")).value == "10"
