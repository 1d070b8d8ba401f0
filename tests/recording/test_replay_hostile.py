"""Recordings that no engine made: they answer something or nothing, soon, and raise nothing."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.errors import DeadlinePassed, EngineError, MalformedRecord
from ladder_backends.mi.records import ResultRecord
from ladder_backends.mi.transport import Channel
from ladder_backends.recording import Entry, Recording, ReplayTransport, read_recording

FOLDER = Path(__file__).parents[1] / "mi" / "recordings"


def shaken(entries: tuple[Entry, ...], dice: random.Random) -> tuple[Entry, ...]:
    """Entries dropped, doubled, swapped, cut and moved to other channels."""
    result = list(entries)
    for _ in range(dice.randrange(1, 12)):
        at = dice.randrange(len(result))
        entry = result[at]
        action = dice.randrange(6)
        if action == 0:
            del result[at]
        elif action == 1:
            result.insert(at, entry)
        elif action == 2:
            other = dice.randrange(len(result))
            result[at], result[other] = result[other], result[at]
        elif action == 3:
            cut = dice.randrange(len(entry.raw) + 1)
            result[at] = Entry(entry.at, entry.channel, entry.sent, entry.raw[:cut])
        elif action == 4:
            result[at] = Entry(entry.at, dice.choice(list(Channel)), not entry.sent, entry.raw)
        else:
            result[at] = Entry(entry.at, Channel.TOOL, False, b"", ended=True, status=dice.choice([None, 0, -9]))
    return tuple(result)


@pytest.mark.parametrize("name", ["coredump-memcheck-oob", "oob-launch-then-condition", "hang-interrupt"])
async def test_shaken_recordings(name: str, opened: Any) -> None:
    held = read_recording(FOLDER / f"{name}.jsonl")
    commands = [
        entry.raw.decode().strip().lstrip("0123456789")
        for entry in held.entries
        if entry.sent and b"-" in entry.raw
    ]
    reports: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: reports.append(context))
    for seed in range(40):
        dice = random.Random(seed)
        entries = shaken(held.entries, dice)
        try:
            async with opened(Recording("cuda-gdb", "", (), entries)) as client:
                client.session.interrupt()
                client.session.send(Channel.CLI, b"print i\n")
                for command in commands:
                    (outcome,) = await asyncio.gather(
                        client.session.command(command, deadline=5), return_exceptions=True
                    )
                    assert isinstance(outcome, ResultRecord | EngineError | MalformedRecord)
                    assert not isinstance(outcome, DeadlinePassed), command
        except EngineError:
            # The start is an answer too.
            continue
    assert reports == []


async def test_nothing_but_noise() -> None:
    dice = random.Random(3)
    entries = tuple(
        Entry(n / 10, dice.choice(list(Channel)), dice.random() < 0.3, dice.randbytes(dice.randrange(0, 60)))
        for n in range(400)
    )
    said: list[bytes] = []
    ends: list[int | None] = []
    transport = ReplayTransport(Recording("gdb", "", (), entries))
    await transport.open(lambda channel, chunk: said.append(chunk), ends.append)
    transport.send(Channel.MI, b"1-x\n2-y\n\n")
    transport.send(Channel.PROGRAM, b"\x00")
    for _ in range(20):
        await asyncio.sleep(0)
    assert b"1^error" in b"".join(said)
    assert b"2^error" in b"".join(said)
    await transport.close()
    await transport.close()
    assert ends == [0]


async def test_an_empty_recording() -> None:
    transport = ReplayTransport(Recording("gdb", "", (), ()))
    said: list[bytes] = []
    await transport.open(lambda channel, chunk: said.append(chunk), lambda status: None)
    transport.send(Channel.MI, b"7-gdb-exit\n")
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert said == [b"7^exit\n"]
    await transport.close()
