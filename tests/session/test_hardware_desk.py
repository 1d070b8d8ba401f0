"""The hardware rung of a session: reading once, sampling calmly, ending in order."""

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest

from ladder_backends.errors import LadderError
from ladder_backends.hardware.live import LiveReader
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.state import Change


@pytest.fixture
async def ladder() -> AsyncIterator[Ladder]:
    made = Ladder()
    yield made
    await made.close()


async def test_a_machine_is_read_once_however_many_look(ladder: Ladder, monkeypatch: pytest.MonkeyPatch) -> None:
    ladder.hardware.state.simulate = "story"
    reads: list[int] = []
    read = ladder.hardware._read

    def counted() -> Any:
        reads.append(1)
        return read()

    monkeypatch.setattr(ladder.hardware, "_read", counted)
    await asyncio.gather(ladder.hardware.look(), ladder.hardware.look(), ladder.hardware.look())
    await ladder.hardware.look()
    assert len(reads) == 1
    await ladder.hardware.look(again=True)
    assert len(reads) == 2


async def test_subscribers_hear_that_it_is_read_and_that_it_was(ladder: Ladder) -> None:
    heard: list[bool] = []
    ladder.subscribe(
        lambda change: heard.append(ladder.state.hardware.reading) if change & Change.HARDWARE else None
    )
    await ladder.hardware.open("one-gpu")
    await asyncio.sleep(0)
    assert ladder.state.rung == "hardware"
    assert heard[0] is True
    assert ladder.state.hardware.reading is False


async def test_a_machine_that_is_none_is_told_and_another_can_be_opened(ladder: Ladder) -> None:
    with pytest.raises(LadderError):
        await ladder.hardware.open("nothing-of-the-kind")
    assert "nothing-of-the-kind" in ladder.state.hardware.failure
    await ladder.hardware.open("one-gpu")
    assert ladder.state.hardware.failure == ""
    assert ladder.state.hardware.machine is not None


async def test_another_machine_takes_everything_of_the_last_one_away(ladder: Ladder) -> None:
    await ladder.hardware.open("worn")
    assert ladder.state.hardware.machine is not None
    port = next(iter(ladder.state.hardware.machine.ports))
    await ladder.hardware.open("healthy-8x-h200")
    await ladder.hardware.sample()
    assert len(ladder.state.hardware.counters) == 8
    await ladder.hardware.paste(f"{port} 001d\n")
    await ladder.hardware.open("worn")
    state = ladder.state.hardware
    assert state.counters == {}
    assert state.machine is not None
    assert all(not port.facts["acs.control"].known for port in state.machine.ports.values())


async def test_a_sample_that_is_under_way_is_not_asked_for_twice_and_is_waited_for(
    ladder: Ladder, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ladder.hardware.open("one-gpu")
    goes_on, begun = threading.Event(), threading.Event()
    order: list[str] = []
    sample, close = LiveReader.sample, LiveReader.close

    def slow(reader: LiveReader, gpus: int) -> Any:
        order.append("sample")
        begun.set()
        goes_on.wait(10)
        found = sample(reader, gpus)
        order.append("sampled")
        return found

    def closed(reader: LiveReader) -> None:
        order.append("closed")
        close(reader)

    monkeypatch.setattr(LiveReader, "sample", slow)
    monkeypatch.setattr(LiveReader, "close", closed)
    first = asyncio.create_task(ladder.hardware.sample())
    await asyncio.to_thread(begun.wait, 10)
    await ladder.hardware.sample()
    ending = asyncio.create_task(ladder.hardware.close())
    await asyncio.sleep(0)
    goes_on.set()
    await asyncio.gather(first, ending)
    assert order == ["sample", "sampled", "closed"]


async def test_a_sample_that_changes_nothing_tells_nobody(ladder: Ladder) -> None:
    await ladder.hardware.open("one-gpu")
    await ladder.hardware.sample()
    await asyncio.sleep(0)
    heard: list[Change] = []
    ladder.subscribe(heard.append)
    await ladder.hardware.sample()
    await asyncio.sleep(0)
    assert heard == []


async def test_no_gpu_is_not_sampled(ladder: Ladder) -> None:
    await ladder.hardware.open("no-driver")
    await ladder.hardware.sample()
    assert ladder.state.hardware.counters == {}


async def test_nothing_can_be_kept_before_there_is_something(ladder: Ladder) -> None:
    with pytest.raises(LadderError, match="not read yet"):
        await ladder.hardware.save("x")
