"""Coroutines that begin where they are called."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from ladder_backends.beginning import begin


async def test_it_runs_up_to_its_first_wait_and_on_from_there() -> None:
    answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    done: list[str] = []

    async def asks() -> int:
        done.append("asked")
        first = await answer
        await asyncio.sleep(0)
        return first + 1

    task = begin(asks())
    assert done == ["asked"]
    assert not task.done()
    answer.set_result(1)
    assert await task == 2


async def test_what_waits_for_nothing_is_done_at_once() -> None:
    async def answers() -> str:
        return "at once"

    async def fails() -> str:
        raise ValueError("no")

    assert begin(answers()).result() == "at once"
    with pytest.raises(ValueError, match="no"):
        await begin(fails())


async def test_it_may_wait_for_what_another_waits_for_too() -> None:
    answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def asks() -> int:
        return await answer

    both = [begin(asks()), begin(asks()), asyncio.ensure_future(asks())]
    await asyncio.sleep(0)
    answer.set_result(3)
    assert await asyncio.gather(*both) == [3, 3, 3]


@pytest.mark.parametrize("turns", [0, 1, 3])
async def test_a_cancellation_reaches_it(turns: int) -> None:
    ended: list[str] = []

    async def asks() -> None:
        with contextlib.suppress(ZeroDivisionError):
            try:
                await asyncio.sleep(10)
            finally:
                ended.append("ended")

    task = begin(asks())
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    # One that never had its turn is closed, as a task is that is cancelled before it begins.
    assert ended == ["ended"]


async def test_an_error_of_what_it_waits_for_is_thrown_into_it() -> None:
    answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def asks() -> str:
        try:
            await answer
        except ValueError as error:
            return str(error)
        return ""

    task = begin(asks())
    answer.set_exception(ValueError("told"))
    assert await task == "told"


async def test_what_is_begun_inside_is_begun_too_and_keeps_its_order() -> None:
    sent: list[str] = []
    gate = asyncio.Event()

    async def command(text: str) -> str:
        sent.append(text)
        await gate.wait()
        return text

    async def asks() -> list[str]:
        return list(await asyncio.gather(begin(command("one")), begin(command("two"))))

    task = begin(asks())
    assert sent == ["one", "two"]
    gate.set()
    assert await task == ["one", "two"]


async def test_it_may_use_what_waits_with_a_deadline_later_on() -> None:
    async def asks() -> str:
        await asyncio.sleep(0)
        try:
            async with asyncio.timeout(0.01):
                await asyncio.sleep(10)
        except TimeoutError:
            return "late"
        return ""

    assert await begin(asks()) == "late"


async def test_it_may_go_through_an_asynchronous_iteration() -> None:
    async def numbers() -> AsyncIterator[int]:
        for number in range(3):
            await asyncio.sleep(0)
            yield number

    async def asks() -> list[Any]:
        return [number async for number in numbers()]

    assert await begin(asks()) == [0, 1, 2]
