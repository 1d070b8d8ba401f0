"""A printer that sleeps costs the row of its value, wherever it is printed: as a local or a reference."""

from __future__ import annotations

import asyncio

import pytest

from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.gdb import questions
from ladder_backends.session.state import Run

SLOW = (
    'python import time, gdb.printing; P = type("P", (), {"__init__": lambda s, v: None, '
    '"to_string": lambda s: (time.sleep(30), "late")[1]}); '
    'c = gdb.printing.RegexpCollectionPrettyPrinter("slow"); c.add_printer("shape", "^(Shape|Bits)$", P); '
    "gdb.printing.register_pretty_printer(None, c)"
)


async def test_one_interrupt_shows_a_stop_whose_arguments_take_forever(told, compiled, monkeypatch, gdb) -> None:
    if "18" in str(gdb):
        pytest.skip("gdb 18 hears no interrupt while it prints the arguments of a stop")
    monkeypatch.setattr(questions, "VALUE_BUDGET", 0.4)
    source = compiled.source("values").read_text().splitlines()
    line = next(number for number, text in enumerate(source, 1) if "stop here" in text)
    await told.session.open(LaunchTarget(compiled("values")), run=False)
    await told.session.debugger.cli(SLOW)
    await told.session.set_breakpoint(f"values.cpp:{line}")
    await told.session.resume(StepKind.RUN)
    # The engine prints the arguments of the stop itself: until then the target counts as running.
    await told.until(lambda: told.state.run is Run.RUNNING)
    await asyncio.sleep(1.5)
    await told.session.interrupt()
    await told.session.at_rest()
    values = {each.name: each for each in told.state.variables.variables}
    assert values["total"].value == "7"
    assert values["bits"].error == "timed out" or not values["bits"].value
    assert values["ages"].value.startswith("std::map")
    assert told.state.frames.frames[0].function == "look"
    assert not told.session.pending()
    assert (await told.session.evaluate("total")).value == "7"


async def test_arguments_that_no_stop_prints_are_asked_for_and_cost_their_own_rows(
    told, compiled, monkeypatch
) -> None:
    """The way out for engines that hear nothing while they print the arguments of a stop."""
    monkeypatch.setattr(questions, "VALUE_BUDGET", 0.4)
    source = compiled.source("values").read_text().splitlines()
    line = next(number for number, text in enumerate(source, 1) if "stop here" in text)
    await told.session.open(LaunchTarget(compiled("values")), run=False)
    await told.session.debugger.cli(SLOW)
    await told.session.console("set print frame-arguments none")
    await told.session.set_breakpoint(f"values.cpp:{line}")
    await told.session.resume(StepKind.RUN)
    await told.session.at_rest()
    assert told.state.run_detail == "breakpoint 1"
    await told.until(lambda: any(each.name == "total" for each in told.state.variables.variables))
    values = {each.name: each for each in told.state.variables.variables}
    assert values["total"].value == "7"
    assert [name for name, _ in told.state.frames.frames[0].arguments] == ["numbers", "text", "shape"]
