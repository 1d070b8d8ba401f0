"""Failures that users of other front-ends report, tried on sessions over a real gdb: each for its whole kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.gdb.console_writes import may_write
from ladder_backends.model.breakpoint import BindingState
from ladder_backends.session.state import Run

SLEEPY_FILTER = (
    'python import time, gdb; F = type("F", (), {"__init__": lambda s: (setattr(s, "name", "sleepy"), '
    'setattr(s, "enabled", True), setattr(s, "priority", 1), gdb.frame_filters.update(sleepy=s))[0], '
    '"filter": lambda s, frames: (time.sleep(600), frames)[1]}); F()'
)


def line_of(source: Path, words: str) -> int:
    return next(number for number, text in enumerate(source.read_text().splitlines(), 1) if words in text)


def watched(told, expression: str) -> str:
    return told.state.values.watches[expression].value


@pytest.fixture
async def standing(start, compiled):
    """A session that stands two calls deep."""
    line = line_of(compiled.source("frontends"), "stop here")
    told = await start(compiled("frontends"), f"frontends.c:{line}")
    told.session.show_rows(frames=20, variables=50)
    told.session.values.show(0, 100)
    return told


async def test_what_the_console_does_to_registers_is_seen(standing) -> None:
    session = standing.session
    await session.values.watch("$rbx")
    await session.console("set $rbx = 77")
    await session.at_rest()
    assert watched(standing, "$rbx") == "77"
    assert [frame.function for frame in standing.state.frames.frames] == ["inner", "outer", "main"]
    await session.console("up")
    await session.console("print $rbx = 78")
    await session.at_rest()
    assert watched(standing, "$rbx") == "78"
    assert standing.state.selected_frame == 1


async def test_what_a_function_called_in_the_console_did_is_seen(standing) -> None:
    session = standing.session
    await session.values.watch("bumped")
    typed = {"call bump(5)": "5", "print bump(5) + 1": "10", "python gdb.execute('p bump(1)')": "11"}
    for line, expected in typed.items():
        await session.console(line)
        await session.at_rest()
        assert watched(standing, "bumped") == expected, line


async def test_a_stack_that_cannot_be_unwound_ends_nothing(standing) -> None:
    session = standing.session
    await session.console("set $rbp = 1")
    await session.at_rest()
    assert [frame.function for frame in standing.state.frames.frames] == ["inner"]
    rows = {each.name: each for each in standing.state.variables.variables}
    assert all("annot access memory" in each.error for each in rows.values())
    assert set(rows) == {"n", "doubled"}
    await session.resume(StepKind.FINISH)
    await session.at_rest()
    assert standing.state.run is Run.STOPPED
    # The rest of the console works on, and so does the next run.
    await session.console("print 6 * 7")
    assert "$1 = 42" in "\n".join(standing.state.console)
    await standing.go(StepKind.RUN)
    assert [frame.function for frame in standing.state.frames.frames] == ["inner", "outer", "main"]


async def test_a_frame_filter_that_sleeps_holds_no_stop_up(standing) -> None:
    await standing.session.console(SLEEPY_FILTER)
    await standing.go(StepKind.FINISH)
    assert [frame.function for frame in standing.state.frames.frames] == ["outer", "main"]
    # Where the user asks for it, the same key as always ends it.
    await standing.session.console("backtrace")
    assert standing.session.debugger.console_works
    await standing.session.interrupt()
    await standing.until(lambda: not standing.session.debugger.console_works)
    await standing.go(StepKind.FINISH)
    assert standing.state.frames.frames[0].function == "main"


async def test_asking_whether_to_fetch_symbols_holds_nothing_up(told, compiled, monkeypatch) -> None:
    monkeypatch.setenv("DEBUGINFOD_URLS", "http://10.255.255.1/")
    await told.session.open(LaunchTarget(compiled("frontends")), run=False)
    await told.session.console("set debuginfod enabled ask")
    await told.session.set_breakpoint("inner")
    await told.go(StepKind.RUN)
    assert told.state.frames.frames[0].function == "inner"
    assert any("DEBUGINFOD_URLS" in text for text in told.notices())


async def test_a_file_of_twenty_thousand_lines(told, tmp_path, compiled) -> None:
    source = tmp_path / "long.c"
    body = "\n".join(f"    total += {number};" for number in range(20_000))
    source.write_text(f"int main(void) {{\n    volatile int total = 0;\n{body}\n    return total == 0;\n}}\n")
    compiled.build(source, tmp_path / "long")
    await told.session.open(LaunchTarget(tmp_path / "long"), run=False)
    for line in (3, 10_000, 20_002):
        await told.session.set_breakpoint(f"long.c:{line}")
    assert {binding.state for binding in told.state.breakpoints} == {BindingState.SET}
    for line in (3, 10_000, 20_002):
        await told.go(StepKind.RUN if line == 3 else StepKind.CONTINUE)
        assert told.state.place is not None
        assert told.state.place.line == line


@pytest.mark.parametrize(
    ("line", "writes"),
    [
        ("set $rax = 1", True),
        ("set var x=2", True),
        ("print/x x += 2", True),
        ("p x++", True),
        ("call f(1)", True),
        ("python x", True),
        ("source script.gdb", True),
        ("my-own-command", True),
        ("", True),
        ("print x", False),
        ("p/x x == 2", False),
        ("p x != y", False),
        ("set listsize 5", False),
        ("break f if x == g(2)", False),
        ("info registers", False),
        ("x/4x $sp", False),
        ("# x = 1", False),
        ("bt", False),
    ],
)
def test_which_lines_may_write(line: str, writes: bool) -> None:
    assert may_write(line) is writes
