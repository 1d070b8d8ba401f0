"""Frames, variables, expressions and instructions, at any size."""

from __future__ import annotations

import asyncio

import pytest

from ladder_backends.debugger import FocusRefused, LaunchTarget, StepKind
from ladder_backends.errors import CommandFailed
from ladder_backends.gdb import questions
from ladder_backends.gdb.translation import VALUE_LIMIT
from ladder_backends.model.breakpoint import BreakpointIntent
from ladder_backends.model.events import FocusChanged, TargetStopped
from ladder_backends.model.focus import Focus


async def stop_at(watched, program, location=None):
    await watched.debugger.open(LaunchTarget(program))
    if location is not None:
        await watched.debugger.set_breakpoint(BreakpointIntent(1, location))
    await watched.debugger.resume(StepKind.RUN)
    return await watched.next(TargetStopped)


async def test_a_deep_stack_is_read_in_windows_and_never_counted(watched, compiled) -> None:
    await stop_at(watched, compiled("deep"))
    sent: list[str] = []
    command = watched.debugger.command

    async def noted(text: str, **options):
        sent.append(text)
        return await command(text, **options)

    watched.debugger.command = noted
    window = await watched.debugger.frames(0, 50)
    assert len(window.frames) == 50
    assert window.more
    far = await watched.debugger.frames(40_000, 20)
    assert [frame.level for frame in far.frames] == list(range(40_000, 40_020))
    assert far.frames[0].function == "dig"
    last = await watched.debugger.frames(49_990, 100)
    assert not last.more
    assert last.frames[-1].level < 50_020
    assert (await watched.debugger.frames(60_000, 5)).frames == ()
    assert (await watched.debugger.frames(0, 0)).frames == ()
    assert not any("depth" in text or text.endswith("list-frames") for text in sent)


async def test_aggregates_have_values_and_types(watched, compiled) -> None:
    await stop_at(watched, compiled("steps"), "steps.c:22")
    window = await watched.debugger.variables(0, 10)
    found = {each.name: (each.type, each.value) for each in window.variables}
    assert found == {
        "both": ("struct pair", "{left = 10, right = 2.5}"),
        "numbers": ("int [4]", "{1, 2, 3, 4}"),
        "total": ("int", "10"),
    }
    first = await watched.debugger.variables(0, 2)
    assert len(first.variables) == 2
    assert first.more


async def test_a_vector_of_a_million_is_cut_even_where_the_user_lifted_every_limit(watched, compiled) -> None:
    await stop_at(watched, compiled("big_vector"), "look")
    await watched.debugger.select_frame(1)
    window = await watched.debugger.variables(1, 10)
    numbers = window.variables[0]
    assert numbers.value.startswith("std::vector of length 1000000")
    assert len(numbers.value) <= VALUE_LIMIT
    await watched.debugger.console("set print elements 0")
    await watched.debugger.console("set print repeats unlimited")
    again = (await watched.debugger.variables(1, 10)).variables[0]
    assert again.value == numbers.value
    # The limits are ours alone: the console goes on with the user's.
    await watched.debugger.console("show print elements")
    assert "is unlimited" in await watched.until_console("is unlimited")


async def test_an_array_too_large_to_be_read_whole_shows_its_beginning(watched, compiled) -> None:
    await stop_at(watched, compiled("big_array"), "big_array.c:7")
    found = {each.name: each for each in (await watched.debugger.variables(0, 10)).variables}
    assert found["cells"].value.startswith("{0, 1, 2, 0 <repeats")
    assert found["cells"].cut
    assert found["cells"].error == ""


async def test_values_that_are_not_there_yet_stop_nothing(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("big_vector"), stop_at_main=True))
    await watched.debugger.resume(StepKind.RUN)
    await watched.next(TargetStopped)
    (numbers,) = (await watched.debugger.variables(0, 10)).variables
    assert numbers.value or numbers.error


async def test_an_endless_evaluation_ends_at_an_interrupt(watched, compiled) -> None:
    await stop_at(watched, compiled("big_vector"), "look")
    await watched.debugger.console("set print elements 0")
    await watched.debugger.console("set print repeats unlimited")
    asking = asyncio.ensure_future(watched.debugger.command('-data-evaluate-expression "numbers"', deadline=None))
    while not asking.done():
        await watched.debugger.interrupt()
        await asyncio.wait([asking], timeout=0.3)
    assert not watched.debugger.pending()
    assert (await watched.debugger.evaluate("1 + 1")).value == "2"


async def test_a_value_that_takes_too_long_costs_its_own_row_only(watched, compiled, monkeypatch) -> None:
    monkeypatch.setattr(questions, "VALUE_BUDGET", 0.2)
    await stop_at(watched, compiled("steps"), "steps.c:22")
    await watched.debugger.cli(
        'python import time, gdb.printing; P = type("P", (), {"__init__": lambda s, v: None, '
        '"to_string": lambda s: (time.sleep(20), "late")[1]}); '
        'c = gdb.printing.RegexpCollectionPrettyPrinter("slow"); c.add_printer("pair", "^pair$", P); '
        "gdb.printing.register_pretty_printer(None, c)"
    )
    window = await watched.debugger.variables(0, 10)
    found = {each.name: each for each in window.variables}
    assert found["both"].error
    assert found["total"].value == "10"
    assert found["numbers"].value == "{1, 2, 3, 4}"
    assert (await watched.debugger.evaluate("total")).value == "10"


async def test_expressions_with_spaces_quotes_and_newlines(watched, compiled) -> None:
    await stop_at(watched, compiled("steps"), "steps.c:22")
    evaluate = watched.debugger.evaluate
    assert (await evaluate("numbers[1] + 40")).value == "42"
    assert (await evaluate('sizeof("a b\\"c")')).value == "6"
    assert (await evaluate("total\n+ 1")).value == "11"
    assert (await evaluate("*numbers@2")).value == "{1, 2}"
    for wrong in ("no_such", "", "1 +", "--", '"'):
        with pytest.raises(CommandFailed):
            await evaluate(wrong)


async def test_the_variables_of_another_frame(watched, compiled) -> None:
    await stop_at(watched, compiled("steps"), "add")
    assert {each.name for each in (await watched.debugger.variables(1, 10)).variables} >= {"both", "numbers"}
    assert (await watched.debugger.evaluate("numbers[0]", 1)).value == "1"
    with pytest.raises(CommandFailed):
        await watched.debugger.evaluate("numbers[0]", 0)


async def test_instructions_round_the_program_counter(watched, compiled) -> None:
    stop = await stop_at(watched, compiled("steps"), "steps.c:22")
    instructions = await watched.debugger.disassemble(0, 8)
    assert len(instructions) == 8
    assert stop.frame is not None
    here = [int(each.address, 16) for each in instructions]
    assert int(stop.frame.address, 16) in here
    assert here == sorted(here)
    assert instructions[0].function == "main"
    assert instructions[0].text
    caller = await watched.debugger.disassemble(0, 10_000)
    assert caller[0].offset == 0


async def test_threads_are_focus(watched, compiled) -> None:
    await stop_at(watched, compiled("threads"), "meet")
    assert await watched.debugger.focus() == Focus.of(thread=1)
    reached = await watched.debugger.switch(Focus.of(thread=400))
    assert reached == Focus.of(thread=400)
    assert (await watched.debugger.frames(0, 5)).frames
    with pytest.raises(FocusRefused):
        await watched.debugger.switch(Focus.of(thread=4_000))
    with pytest.raises(FocusRefused, match="threads only"):
        await watched.debugger.switch(Focus.of(block=(1, 0, 0)))
    assert await watched.debugger.focus() == Focus.of(thread=400)


async def test_moves_in_the_console_are_followed(watched, compiled) -> None:
    await stop_at(watched, compiled("steps"), "add")
    await watched.debugger.console("up")
    moved = await watched.next(FocusChanged)
    assert moved.frame is not None
    assert (moved.frame.level, moved.frame.function) == (1, "main")
    assert watched.debugger.selected_frame == 1
    await watched.debugger.console("set var total = 77")
    await watched.next(FocusChanged)
    assert (await watched.debugger.evaluate("total", 1)).value == "77"


async def test_questions_before_and_after_a_run_have_empty_answers(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("steps")))
    assert (await watched.debugger.frames(0, 5)).frames == ()
    assert (await watched.debugger.variables(0, 5)).variables == ()
    assert await watched.debugger.focus() is None
    assert not await watched.debugger.kernels()
    assert not await watched.debugger.blocks(0)
    assert not await watched.debugger.warps(Focus())


async def test_the_engines_completion(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("steps")))
    assert "info breakpoints" in await watched.debugger.complete("info br")
    assert await watched.debugger.complete("break ad") == ["break add"]
    assert 100 < len(await watched.debugger.complete("")) <= 200
    assert await watched.debugger.complete("info no-such-thing") == []


async def test_each_question_hears_its_own_answer(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("steps")))
    python = watched.debugger.python
    # So many lines that others' words would be pushed out of any common memory.
    one, lines, _, two = await asyncio.gather(
        python._ask("1", 10.0),
        watched.debugger._has_lines(),
        watched.debugger.cli("info signals"),
        python._ask("'\\n'.join('two')", 10.0),
    )
    assert (one, lines, two) == (1, True, "t\nw\no")
