"""Lines for the command line that are typed while an engine is opened: held, then sent in order, or told of."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ladder_backends.debugger import AttachTarget, LaunchTarget
from ladder_backends.errors import TargetInvalid
from ladder_backends.session.state import Run


def written(told: Any, line: str) -> bool:
    return any(each.endswith(line) for each in told.state.console)


async def opened_under(told: Any, target: Any, *lines: str, **named: Any) -> None:
    """Open a target, and type lines in the same breath."""
    opening = asyncio.get_running_loop().create_task(told.session.open(target, **named))
    await asyncio.sleep(0)
    assert told.state.run is Run.STARTING
    for line in lines:
        await told.session.console(line)
    assert told.state.typed_ahead == len(lines)
    assert list(await told.session.complete("pri")) == []
    await opening
    assert told.state.typed_ahead == 0


async def test_they_are_sent_in_order_once_a_program_is_open_and_before_it_runs(told: Any, compiled: Any) -> None:
    await opened_under(told, LaunchTarget(compiled("steps")), "print 4000+1", "break add", "print 4000+2")
    await told.session.at_rest()
    assert told.state.frames.frames[0].function == "add"
    assert [line for line in told.state.console if line.startswith("$")] == ["$1 = 4001", "$2 = 4002"]


async def test_they_wait_for_an_attach(told: Any, compiled: Any) -> None:
    process = await asyncio.create_subprocess_exec(compiled("idle_threads"), stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None
        await process.stdout.readline()
        await opened_under(told, AttachTarget(process.pid), "print 4000+3")
        await told.until(lambda: written(told, " = 4003"))
    finally:
        await told.session.close()
        process.kill()
        await process.wait()


@pytest.mark.parametrize("run", [True, False])
async def test_a_program_that_they_start_is_not_started_again(told: Any, compiled: Any, run: bool) -> None:
    await opened_under(told, LaunchTarget(compiled("steps")), "start", run=run)
    await told.session.at_rest()
    assert told.state.run is Run.STOPPED
    assert told.state.frames.frames[0].function == "main"


async def test_an_engine_that_is_not_opened_gets_none(told: Any, compiled: Any) -> None:
    typed = asyncio.Event()

    async def refuse(target: Any) -> None:
        await typed.wait()
        raise TargetInvalid("it cannot be opened")

    told.session.debugger.open = refuse
    opening = asyncio.get_running_loop().create_task(told.session.open(LaunchTarget(compiled("steps"))))
    await asyncio.sleep(0)
    await told.session.console("print 1")
    await told.session.console("print 2")
    typed.set()
    with pytest.raises(TargetInvalid):
        await opening
    assert told.state.typed_ahead == 0
    assert told.notices()[-1] == "not sent: print 1 and 1 more — the engine was not opened"
