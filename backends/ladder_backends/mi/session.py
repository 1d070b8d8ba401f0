"""One engine's machine interface: numbered commands become answers, everything else becomes records in order.

What a read of the transport gave is parsed and delivered in the same turn of the event loop, in order. Only a
record of more than `parse.SLICE` bytes, or a burst that takes longer than some milliseconds, is worked off over
several turns; what comes later waits behind it.

Notices are told at once, while code that awaits an answer goes on in the next turn: a stop that came in one
read with the `^running` before it is told before `command` returns.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import re
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeAlias

from ladder_backends.errors import (
    CommandFailed,
    DeadlinePassed,
    EngineDied,
    EngineMissing,
    LadderError,
    MalformedRecord,
    NotRecorded,
)
from ladder_backends.late_dataclass import dataclass
from ladder_backends.mi.assembly import RecordAssembly
from ladder_backends.mi.burst import Burst
from ladder_backends.mi.ending import LastWords, manner
from ladder_backends.mi.records import (
    NOT_RECORDED,
    AsyncRecord,
    PromptRecord,
    Record,
    ResultRecord,
    StreamRecord,
    UnknownRecord,
)
from ladder_backends.mi.refusal import checked
from ladder_backends.mi.transport import Channel, Transport
from ladder_backends.text import clean

Notice: TypeAlias = AsyncRecord | StreamRecord | UnknownRecord | ResultRecord
"""What answers no command. A `ResultRecord` among them is a second answer: an error that takes `^running` back."""

_TURN = 0.008
_START_DEADLINE = 60.0
_CHECK_ENGINE = "look with `ladder-tui config show` which program is started for it"
_EXIT_DEADLINE = 3.0
_REMEMBERED_RUNS = 64
_TOKEN = re.compile(rb"(\d{1,30})\^")


@dataclass(frozen=True, slots=True)
class PendingCommand:
    """A command without an answer yet. `age` is in seconds."""

    text: str
    age: float


@dataclass(slots=True)
class _Request:
    text: str
    sent: float
    answer: asyncio.Future[ResultRecord]
    timer: asyncio.TimerHandle | None = None


class MiSession:
    """Numbered commands over a transport.

    Answers are matched by token alone, never by prompts. A late answer to a command that was cancelled or
    passed its deadline is dropped. When the engine ends, every pending command fails with `EngineDied`.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._notice: Callable[[Notice], None] = lambda _: None
        self._stream: Callable[[Channel, bytes], None] = lambda _channel, _chunk: None
        self._on_end: Callable[[int | None, bool], None] = lambda _status, _expected: None
        self._assembly = RecordAssembly(self._is_awaited)
        self._turn: asyncio.Handle | None = None
        self._delivering = False
        self._burst = Burst()
        self._requests: dict[int, _Request] = {}
        self._tokens = itertools.count(1)
        # Tokens answered with `^running`, which an error may still take back.
        self._runs: deque[int] = deque(maxlen=_REMEMBERED_RUNS)
        self._words = LastWords()
        self._started = False
        self._over = False
        self._status: int | None = None
        self._closing = False

    def listen(
        self,
        *,
        notice: Callable[[Notice], None],
        stream: Callable[[Channel, bytes], None],
        ended: Callable[[int | None, bool], None],
    ) -> None:
        """Set the callbacks.

        Args:
            notice: MI records that answer no command.
            stream: Bytes of the other channels.
            ended: The end: exit status as `subprocess` tells it or None, and whether it was asked for.

        Callbacks run inside the turn of the event loop that read the bytes. Neighbouring `=thread-created` (and
        `=thread-exited`) records come as one, whose `id` holds all ids: read it with `all_values`. Of
        neighbouring `=breakpoint-modified` records of one breakpoint only the last one comes.
        """
        self._notice, self._stream, self._on_end = notice, stream, ended

    async def start(self) -> None:
        """Open the transport and wait until the machine interface answers.

        Raises:
            EngineMissing: The engine cannot be started.
            EngineDied: It ended before it answered.
            DeadlinePassed: It does not answer.
        """
        await self._transport.open(self._receive, self._end)
        self._started = True
        try:
            await self.command("-list-features", deadline=_START_DEADLINE)
        except (CommandFailed, NotRecorded):
            # An engine that refuses does answer.
            return
        except EngineDied as error:
            name = self._transport.engine
            if self._status in (126, 127):
                raise EngineMissing(f"{name} cannot be started", error.why) from None
            raise EngineDied(f"{name} ended before it was ready", self._end_words(), _CHECK_ENGINE) from None
        except DeadlinePassed as error:
            said = f"; last words: {words}" if (words := self.last_words) else ""
            what = f"{self._transport.engine} does not get ready"
            raise DeadlinePassed(what, f"{error.why}{said}", _CHECK_ENGINE) from None

    async def command(self, text: str, *, deadline: float | None = 10.0) -> ResultRecord:
        """Send `-...` without a token and wait for its answer.

        Args:
            text: The command; newlines are refused.
            deadline: Seconds, or None for no limit.

        Raises:
            CommandFailed: The engine answered with an error, or the command must not be sent.
            DeadlinePassed: No answer in time.
            EngineDied: The engine ended, or had ended.
            NotRecorded: A recording stands in and does not hold the answer.
            MalformedRecord: The answer is not MI.
        """
        answer, token = self._send(text, deadline)
        try:
            return await answer
        finally:
            self._forget(token)

    def submit(self, text: str, *, deadline: float | None = 10.0) -> asyncio.Future[ResultRecord]:
        """Send now, wait later: several commands sent together are answered in one round trip.

        Raises as `command`, from the future; cancelling the future forgets the command.
        """
        answer, token = self._send(text, deadline)
        answer.add_done_callback(lambda _: self._forget(token))
        return answer

    def pending(self) -> Sequence[PendingCommand]:
        """Commands without an answer, oldest first."""
        now = time.monotonic()
        return [PendingCommand(r.text, now - r.sent) for r in self._requests.values() if not r.answer.done()]

    @property
    def alive(self) -> bool:
        """The engine has been started and has not ended."""
        return self._started and not self._over

    @property
    def last_words(self) -> str:
        """The last lines the engine wrote to its command line or log, clean, in one line."""
        return str(self._words)

    def send(self, channel: Channel, chunk: bytes) -> None:
        """Type into the command line or the program's terminal."""
        if channel is Channel.MI:
            raise ValueError("commands go through `command`")
        self._transport.send(channel, chunk)

    def resize(self, channel: Channel, columns: int, rows: int) -> None:
        """Tell a channel's terminal its size."""
        self._transport.resize(channel, columns, rows)

    def forget_input(self, channel: Channel) -> None:
        """Drop what was sent to a channel's terminal and not read yet."""
        self._transport.forget_input(channel)

    def interrupt(self) -> None:
        """Interrupt the engine's own work."""
        self._transport.interrupt()

    def abandon(self) -> None:
        """End an engine outright that is stuck before it holds a target; `EngineDied` answers what is pending."""
        self._transport.abandon()

    def keep_program(self) -> None:
        """The program lives on without the engine: its terminal stays."""
        self._transport.keep_program()

    async def close(self) -> None:
        """`-gdb-exit`, then close all terminals together, then wait.

        Raises:
            DeadlinePassed: The engine does not end; nothing was done to it.
        """
        self._closing = True
        if self.alive:
            with contextlib.suppress(LadderError):
                await self.command("-gdb-exit", deadline=_EXIT_DEADLINE)
        await self._transport.close()

    def _send(self, text: str, deadline: float | None) -> tuple[asyncio.Future[ResultRecord], int]:
        """Send a command; returns its answer to come and its token."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[ResultRecord] = loop.create_future()
        token = next(self._tokens)
        try:
            raw = checked(text)
            if not self.alive:
                raise self._died(text)
        except LadderError as error:
            _fail(answer, error)
            return answer, token
        request = _Request(text, time.monotonic(), answer)
        self._requests[token] = request
        self._transport.send(Channel.MI, b"%d%s\n" % (token, raw))
        if deadline is not None and not answer.done():
            request.timer = loop.call_later(deadline, self._expire, token, deadline)
        return answer, token

    def _forget(self, token: int) -> None:
        request = self._requests.pop(token, None)
        if request is not None and request.timer is not None:
            request.timer.cancel()

    def _expire(self, token: int, deadline: float) -> None:
        request = self._requests.pop(token, None)
        if request is not None:
            why = f"no answer within {deadline:g} s"
            _fail(request.answer, DeadlinePassed(request.text, why, "interrupt the engine or wait"))

    def _is_awaited(self, token: int) -> bool:
        return token in self._requests or token in self._runs

    def _receive(self, channel: Channel, chunk: bytes) -> None:
        if channel is not Channel.MI:
            if channel is Channel.CLI:
                self._words.feed(chunk)
            self._stream(channel, chunk)
            return
        self._assembly.feed(chunk)
        if self._turn is None and not self._delivering:
            self._deliver_some()

    def _deliver_some(self) -> None:
        """Parse and deliver for one turn; the rest in the next one."""
        self._turn = None
        self._delivering = True
        limit = time.monotonic() + _TURN
        try:
            while self._assembly.busy:
                record = self._assembly.step()
                if record is not None:
                    self._deliver(record)
                if time.monotonic() > limit:
                    break
            self._tell_burst()
        finally:
            self._delivering = False
            if self._assembly.busy:
                self._turn = asyncio.get_running_loop().call_soon(self._deliver_some)

    def _deliver(self, record: Record) -> None:
        if isinstance(record, AsyncRecord) and self._burst.takes(record):
            if not self._burst.join(record):
                self._tell_burst()
                self._burst.join(record)
            return
        self._tell_burst()
        if isinstance(record, ResultRecord):
            self._answer(record)
        elif isinstance(record, PromptRecord):
            return
        elif isinstance(record, StreamRecord):
            if record.kind == "&":
                self._words.feed(record.text.encode("utf-8", "replace"))
            self._notice(record)
        else:
            if isinstance(record, UnknownRecord) and not self._over:
                self._fail_malformed(record)
            self._notice(record)

    def _answer(self, record: ResultRecord) -> None:
        request = None
        if record.token is not None:
            request = self._requests.pop(record.token, None)
        if request is None:
            # An error that takes a `^running` back is news; any other is the late answer of a forgotten
            # command.
            if record.token is None or (record.cls == "error" and record.token in self._runs):
                self._notice(record)
            return
        if request.timer is not None:
            request.timer.cancel()
        if request.answer.done():
            return
        if record.cls == "error":
            _fail(request.answer, _refused(request.text, record))
            return
        if record.cls == "running" and record.token is not None:
            self._runs.append(record.token)
        request.answer.set_result(record)

    def _tell_burst(self) -> None:
        record = self._burst.take()
        if record is not None:
            self._notice(record)

    def _fail_malformed(self, record: UnknownRecord) -> None:
        """A broken answer is an answer: its command must not wait for a better one."""
        match = _TOKEN.match(record.raw)
        request = self._requests.pop(int(match.group(1)), None) if match is not None else None
        if request is not None and not request.answer.done():
            _fail(request.answer, MalformedRecord(record.why, record.raw))

    def _end(self, status: int | None) -> None:
        if self._turn is not None:
            self._turn.cancel()
            self._turn = None
        self._over = True
        self._status = status
        try:
            for record in self._assembly.finish():
                self._deliver(record)
            self._tell_burst()
        finally:
            # Whatever a listener did, nobody may wait for an engine that is gone.
            requests = list(self._requests.values())
            self._requests.clear()
            for request in requests:
                if request.timer is not None:
                    request.timer.cancel()
                _fail(request.answer, self._died(request.text))
            self._on_end(status, self._closing)

    def _died(self, text: str) -> EngineDied:
        name = self._transport.engine
        if not self._started:
            return EngineDied(f"{name} is not running", f"it was not started before {text}")
        return EngineDied(f"{name} ended", self._end_words(f"pending: {text}"), "start it again")

    def _end_words(self, pending: str = "") -> str:
        """How the engine ended, what was pending then, and its last words."""
        words = f"last words: {self.last_words}" if self.last_words else ""
        return "; ".join(part for part in (manner(self._status), pending, words) if part)


def _fail(answer: asyncio.Future[ResultRecord], error: LadderError) -> None:
    if not answer.done():
        answer.set_exception(error)
        # Marks it as seen: who has stopped waiting wants no report about it at exit.
        answer.exception()


def _refused(command: str, record: ResultRecord) -> LadderError:
    message, code = record.results.get("msg", ""), record.results.get("code", "")
    text = clean(message) if isinstance(message, str) else ""
    if code == NOT_RECORDED:
        return NotRecorded("not in this recording", command, "open it with the engine itself")
    return CommandFailed(command, text, code if isinstance(code, str) else "")
