"""A recording in the place of an engine.

Commands are matched without their tokens, in the context in which they were asked (`context`). What was asked
several times is answered in the recorded order, then with the last answer again. What was not recorded is
answered with an error of code `records.NOT_RECORDED`, or in the command line with a line that says so; never
with a neighbour's answer.
"""

from __future__ import annotations

import asyncio
import re
from collections import deque
from typing import NamedTuple

from ladder_backends.errors import MalformedRecord
from ladder_backends.mi.lines import LineBuffer
from ladder_backends.mi.parse import parse
from ladder_backends.mi.records import NOT_RECORDED, ResultRecord
from ladder_backends.mi.transport import Channel, Ended, Receive
from ladder_backends.recording.context import Key, follow, key_of
from ladder_backends.recording.exchanges import Exchange
from ladder_backends.recording.file import Recording
from ladder_backends.recording.script import Script

_SENT = re.compile(rb"(\d*)(.*)", re.DOTALL)
_INTERRUPT = b"\x03"
_NOT_RECORDED = b'^error,msg="not in this recording",code="' + NOT_RECORDED.encode() + b'"\n(gdb) \n'
# Answers of one turn, so that a long burst leaves the loop to others.
_TURN_BYTES = 1 << 16


def _is_whole(answer: bytes | None) -> bool:
    """An answer that a client can read; one that was cut would make it wait for the rest."""
    if answer is None:
        return False
    try:
        return isinstance(parse(answer.removesuffix(b"\n")), ResultRecord)
    except MalformedRecord:
        return False


class _Planned(NamedTuple):
    """Something the engine will do: say bytes on a channel, or end."""

    after: float
    channel: Channel
    raw: bytes
    ends: bool = False
    status: int | None = None


class ReplayTransport:
    """Plays a recording.

    Args:
        recording: What `read_recording` gave.
        paced: Take the recorded times to answer, instead of none.
    """

    def __init__(self, recording: Recording, *, paced: bool = False) -> None:
        self.engine = recording.engine
        self.recording = recording
        self._script = Script(recording)
        self._context = self._script.context
        self._paced = paced
        self._asked: dict[Key, int] = {}
        self._typing = LineBuffer()
        self._plan: deque[_Planned] = deque()
        self._due: asyncio.Handle | None = None
        self._receive: Receive | None = None
        self._ended: Ended | None = None
        self._over = False

    async def open(self, receive: Receive, ended: Ended) -> None:
        """Begin; what the engine wrote before it was asked anything comes first."""
        self._receive, self._ended = receive, ended
        self._play(self._script.start, b"")

    def send(self, channel: Channel, chunk: bytes) -> None:
        """Ask the recording."""
        if self._over or self._receive is None:
            return
        if channel is Channel.MI:
            for line in chunk.splitlines():
                self._ask(line)
        elif channel is Channel.CLI:
            for line in self._typing.feed(chunk):
                self._type(line)
        else:
            exchange = self._look_up(channel, chunk)
            if exchange is not None:
                self._play(exchange, b"")

    def interrupt(self) -> None:
        """Play what a recorded interrupt did, if there was one here."""
        exchange = self._look_up(Channel.CLI, _INTERRUPT)
        if exchange is not None:
            self._play(exchange, b"")

    def resize(self, channel: Channel, columns: int, rows: int) -> None:
        """A recording has no size."""

    def forget_input(self, channel: Channel) -> None:
        """Nothing reads what is sent to a recording."""

    def abandon(self) -> None:
        """A recording is never stuck."""

    def keep_program(self) -> None:
        """A recording has no program."""

    async def close(self) -> None:
        """End at once; what is still to come is dropped."""
        self._end(0)

    def _ask(self, line: bytes) -> None:
        match = _SENT.match(line)
        assert match is not None
        token, command = match.groups()
        exchange = self._look_up(Channel.MI, command)
        if exchange is not None and (_is_whole(exchange.answer) or exchange.ended):
            self._play(exchange, token)
        elif command.startswith(b"-gdb-exit"):
            self._later(_Planned(0, Channel.MI, token + b"^exit\n"), _Planned(0, Channel.MI, b"", True, 0))
        else:
            text = command.decode("utf-8", "surrogateescape")
            derived = self._script.derive(text, self._context)
            answer = derived + b"(gdb) \n" if derived is not None else _NOT_RECORDED
            self._later(_Planned(0, Channel.MI, token + answer))

    def _type(self, line: bytes) -> None:
        exchange = self._look_up(Channel.CLI, line)
        if exchange is not None:
            self._play(exchange, b"")
            return
        answer = line + b"\r\nnot in this recording\r\n" + self._script.prompt
        self._later(_Planned(0, Channel.CLI, answer))

    def _look_up(self, channel: Channel, asked: bytes) -> Exchange | None:
        key = key_of(channel, asked.decode("utf-8", "surrogateescape"), self._context)
        before = self._asked.get(key, 0)
        exchange = self._script.find(key, before)
        if exchange is not None:
            self._asked[key] = before + 1
        return exchange

    def _play(self, exchange: Exchange, token: bytes) -> None:
        self._context = follow(self._context, exchange)
        plan = [
            _Planned(output.after, output.channel, token + output.raw if output.result else output.raw)
            for output in exchange.outputs
        ]
        if exchange.ended:
            plan.append(_Planned(plan[-1].after if plan else 0, Channel.TOOL, b"", True, exchange.status))
        self._later(*plan)

    def _later(self, *plan: _Planned) -> None:
        now = asyncio.get_running_loop().time() if self._paced else 0.0
        for planned in plan:
            self._plan.append(planned._replace(after=now + planned.after if self._paced else 0.0))
        self._schedule()

    def _schedule(self) -> None:
        if self._due is not None or not self._plan or self._over:
            return
        loop = asyncio.get_running_loop()
        after = self._plan[0].after
        self._due = loop.call_at(after, self._say) if after > loop.time() else loop.call_soon(self._say)

    def _say(self) -> None:
        """Say what is due, neighbours of a channel together."""
        self._due = None
        now = asyncio.get_running_loop().time()
        said = 0
        while self._plan and self._plan[0].after <= now and said < _TURN_BYTES and not self._over:
            first = self._plan.popleft()
            if first.ends:
                self._end(first.status)
                return
            raw = [first.raw]
            while self._plan and self._plan[0].after <= now and said < _TURN_BYTES:
                if self._plan[0].channel is not first.channel or self._plan[0].ends:
                    break
                raw.append(self._plan.popleft().raw)
                said += len(raw[-1])
            said += len(first.raw)
            if self._receive is not None:
                self._receive(first.channel, b"".join(raw))
        self._schedule()

    def _end(self, status: int | None) -> None:
        if self._over:
            return
        self._over = True
        self._plan.clear()
        if self._due is not None:
            self._due.cancel()
            self._due = None
        if self._ended is not None:
            self._ended(status)
