"""Targets that go back: recorded by a command typed in the console, or remote ones that replay, as rr's."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.session.state import Run

_REGISTERS, _PC = 164, 128
_START = 0x401000


class Replayer:
    """A remote target of gdb's serial protocol that steps back and forth over its first instructions.

    Attributes:
        port: Where it listens.
        heard: The packets that let it run.
    """

    def __init__(self) -> None:
        self.port = 0
        self.heard: list[str] = []
        self._at = 3

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                first = await reader.readexactly(1)
                if first != b"$":
                    continue
                packet = (await reader.readuntil(b"#"))[:-1].decode("latin-1")
                await reader.readexactly(2)
                answer = self._answer(packet)
                writer.write(b"+" + f"${answer}#{sum(answer.encode()) % 256:02x}".encode())
                await writer.drain()
                if packet.startswith(("D", "k")):
                    break
        writer.close()

    def _answer(self, packet: str) -> str:
        if packet.startswith("qSupported"):
            return "PacketSize=1000;ReverseStep+;ReverseContinue+"
        if packet == "?":
            return "T05thread:1;"
        if packet in ("qfThreadInfo", "qC"):
            return "m1" if packet == "qfThreadInfo" else "QC1"
        if packet == "qsThreadInfo":
            return "l"
        if packet == "g":
            registers = bytearray(_REGISTERS)
            registers[_PC : _PC + 8] = (_START + self._at).to_bytes(8, "little")
            return registers.hex()
        if packet.startswith("m"):
            where, _, length = packet[1:].partition(",")
            # One instruction of one byte after the other, and nothing else.
            return "90" * int(length, 16) if _START <= int(where, 16) < _START + 64 else "E01"
        if packet[0] in "HTDZzGMPX":
            return "OK"
        if packet in ("s", "c", "bs", "bc"):
            self.heard.append(packet)
            return self._run(packet)
        return ""

    def _run(self, packet: str) -> str:
        back, steps = packet.startswith("b"), packet.endswith("s")
        if self._at == 0 and back:
            return "T05replaylog:begin;thread:1;"
        self._at = self._at + (-1 if back else 1) if steps else 0 if back else 9
        ends = "" if steps else f"replaylog:{'begin' if back else 'end'};"
        return f"T05{ends}thread:1;"


@pytest.fixture
async def replayer() -> AsyncIterator[Replayer]:
    """A replaying target that listens on this machine."""
    one = Replayer()
    server = await asyncio.start_server(one.serve, "127.0.0.1", 0)
    one.port = server.sockets[0].getsockname()[1]
    yield one
    server.close()


def _stands_at(told, end: str) -> bool:
    frames = told.state.frames.frames
    return told.state.run is Run.STOPPED and bool(frames) and frames[0].address.endswith(end)


@pytest.mark.parametrize("runs", [False, True], ids=["loaded", "at main"])
async def test_a_target_that_replays_goes_back_without_being_recorded(
    told, start, compiled, replayer, runs: bool
) -> None:
    if runs:
        await start(compiled("nested"), "main")
    else:
        await told.session.open(LaunchTarget(compiled("nested")), run=False)
    await told.session.console(f"target extended-remote 127.0.0.1:{replayer.port}")
    await told.until(lambda: _stands_at(told, "401003"))
    await told.session.at_rest()
    await told.session.control.toggle_backwards()
    assert told.notices()[-1].startswith("backwards: next, step, finish and continue undo")
    assert (told.state.control.backwards, told.state.control.recording) == (True, "")
    await told.go(StepKind.STEP_INSTRUCTION)
    assert _stands_at(told, "401002")
    await told.go(StepKind.CONTINUE)
    assert (told.state.run_detail, told.notices()[-1]) == ("end of the recording", "the recording begins here")
    await told.session.control.toggle_backwards()
    await told.go(StepKind.STEP_INSTRUCTION)
    assert _stands_at(told, "401001")
    assert [packet for packet in replayer.heard if packet != "s"] == ["bs", "bc"]
    await told.session.console("disconnect")
    await told.until(lambda: told.state.run is Run.EXITED)


async def test_what_is_recorded_by_a_typed_command_goes_back(told, start, compiled) -> None:
    await start(compiled("nested"), "main")
    await told.session.console("record full")
    await told.until(lambda: told.state.control.recording == "full")
    await told.go(StepKind.NEXT)
    if told.state.run_detail == "cannot record on":
        pytest.skip(told.notices()[-1])
    line = told.state.place.line
    await told.session.control.toggle_backwards()
    assert told.state.control.backwards
    await told.go(StepKind.NEXT)
    assert told.state.place.line < line
    await told.session.console("record stop")
    await told.until(lambda: not told.state.control.recording)
    assert not told.state.control.backwards
