"""What was asked in a recording, and what came of it.

A stream is cut into exchanges: an MI command, a line typed into the command line, input of the program. What
the engine wrote belongs to one of them:

- a result, to the command of its token;
- `*` and `=` records and the program's output, to the command or typed line that lets the target run, until it
  stops; otherwise to the command the engine is working on, or the last one;
- text (`~`, `&`) and prompts, to the command the engine is working on, or the last one;
- output of the command line, to the line typed there until the next prompt, then as program output.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from ladder_backends.mi.lines import LineBuffer
from ladder_backends.mi.transport import Channel
from ladder_backends.recording.file import Entry

_SENT = re.compile(rb"(\d*)(.*)", re.DOTALL)
_RESULT = re.compile(rb"(\d+)\^([a-z]+)")
_RECORD = re.compile(rb'\d*[\^*+=][A-Za-z]|[~@&]"|\(gdb\)')
_STOPPED = re.compile(rb"\*stopped\b")
_RUNNING = re.compile(rb"\*running\b")
_CLI_PROMPT = re.compile(rb"(?:\A|[\r\n])(?:\([\w.-]+\)|>) ?\Z")
_INTERRUPT = b"\x03"
_END_OF_INPUT = b"\x04"
_RUNS = (b"-exec-", b"-target-attach", b"-target-select")


@dataclass(frozen=True, slots=True)
class Output:
    """A piece of what the engine wrote.

    Attributes:
        after: Seconds since the exchange was begun.
        raw: For a result, without its token.
        result: It is the answer of the exchange's command.
    """

    after: float
    channel: Channel
    raw: bytes
    result: bool = False


@dataclass(slots=True)
class Exchange:
    """One thing that was sent, and all that came of it.

    Attributes:
        number: Position among all exchanges; 0 is the start, before anything was sent.
        text: What was sent, without token and newline.
        ended: The engine ended by itself at the end of this one, with `status`.
    """

    number: int
    channel: Channel
    text: bytes
    at: float
    outputs: list[Output] = field(default_factory=list)
    ended: bool = False
    status: int | None = None

    @property
    def answer(self) -> bytes | None:
        """The first result, without token, or None."""
        return next((output.raw for output in self.outputs if output.result), None)

    def last_of(self, pattern: re.Pattern[bytes]) -> bytes | None:
        """The last MI record that begins so."""
        found = (o.raw for o in reversed(self.outputs) if o.channel is Channel.MI and pattern.match(o.raw))
        return next(found, None)


def exchanges_of(entries: Iterable[Entry]) -> list[Exchange]:
    """Cut a recording into exchanges, in the order in which they were sent."""
    cutter = _Cutter()
    for entry in entries:
        cutter.add(entry)
    cutter.finish()
    return cutter.exchanges


class _Cutter:
    def __init__(self) -> None:
        self.exchanges = [Exchange(0, Channel.MI, b"", 0.0)]
        self._last = self.exchanges[0]
        # The exchange that lets the target run, until it stops.
        self._running: Exchange | None = None
        # A line typed into the command line, until the next prompt there.
        self._typed: Exchange | None = None
        self._typed_tail = b""
        self._by_token: dict[bytes, Exchange] = {}
        self._in_work: deque[Exchange] = deque()
        self._lines = LineBuffer()
        self._typing = LineBuffer()
        # A record whose string may go on in the next line.
        self._record: tuple[float, bytes] | None = None

    def add(self, entry: Entry) -> None:
        if entry.ended:
            self._flush()
            self.exchanges[-1].ended, self.exchanges[-1].status = True, entry.status
        elif entry.sent:
            self._sent(entry)
        elif entry.channel is Channel.MI:
            for line in self._lines.feed(entry.raw):
                self._line(entry.at, line)
            if self._record is not None and self._lines.empty:
                self._flush()
        elif entry.channel is Channel.CLI:
            self._command_line(entry)
        else:
            self._give(self._running or self._typed or self._last, entry.at, entry.channel, entry.raw)

    def finish(self) -> None:
        self._flush()

    def _sent(self, entry: Entry) -> None:
        if entry.channel is Channel.MI:
            for line in entry.raw.splitlines():
                match = _SENT.match(line)
                assert match is not None
                token, text = match.groups()
                exchange = self._begin(entry, text)
                self._by_token[token] = exchange
                self._in_work.append(exchange)
        elif entry.channel is Channel.CLI and entry.raw != _INTERRUPT:
            for line in self._typing.feed(entry.raw):
                self._typed = self._begin(entry, line)
                self._typed_tail = b""
        elif entry.channel is Channel.PROGRAM and not entry.raw.strip(_END_OF_INPUT):
            # Where nobody types, the end of input is sent at once; a replay is not to wait for somebody to do so.
            return
        else:
            # An interrupt, or input of the program: what the target does from here on comes of it.
            self._last = self._begin(entry, entry.raw)
            if self._running is not None:
                self._running = self._last

    def _begin(self, entry: Entry, text: bytes) -> Exchange:
        exchange = Exchange(len(self.exchanges), entry.channel, text, entry.at)
        self.exchanges.append(exchange)
        return exchange

    def _line(self, at: float, line: bytes) -> None:
        """A line of the machine interface: a record, or the rest of the one before."""
        if self._record is not None:
            if not _RECORD.match(line):
                self._record = self._record[0], self._record[1] + b"\n" + line
                return
            self._flush()
        self._record = at, line

    def _flush(self) -> None:
        if self._record is None:
            return
        (at, raw), self._record = self._record, None
        match = _RESULT.match(raw)
        if match is not None:
            self._result(at, raw, match)
        elif raw[:1] in (b"*", b"=", b"+"):
            owner = self._running or self._typed or self._current
            self._give(owner, at, Channel.MI, raw + b"\n")
            if _RUNNING.match(raw) and self._typed is not None and self._running is None:
                self._running = self._typed
            elif _STOPPED.match(raw):
                self._running, self._last = None, owner
        else:
            self._give(self._current, at, Channel.MI, raw + b"\n")

    def _result(self, at: float, raw: bytes, match: re.Match[bytes]) -> None:
        token, cls = match.groups()
        exchange = self._by_token.get(token)
        if exchange is None:
            return
        exchange.outputs.append(Output(at - exchange.at, Channel.MI, raw[len(token) :] + b"\n", result=True))
        while self._in_work and self._in_work[0].number <= exchange.number:
            self._in_work.popleft()
        self._last = exchange
        if cls == b"running" or (cls == b"done" and exchange.text.startswith(_RUNS)):
            self._running = exchange if exchange.last_of(_STOPPED) is None else None
        elif cls == b"error" and self._running is exchange:
            self._running = None

    def _command_line(self, entry: Entry) -> None:
        self._give(self._typed or self._running or self._last, entry.at, Channel.CLI, entry.raw)
        if self._typed is not None:
            self._typed_tail = (self._typed_tail + entry.raw)[-64:]
            if _CLI_PROMPT.search(self._typed_tail):
                self._last, self._typed = self._typed, None

    @property
    def _current(self) -> Exchange:
        return self._in_work[0] if self._in_work else self._last

    @staticmethod
    def _give(exchange: Exchange, at: float, channel: Channel, raw: bytes) -> None:
        exchange.outputs.append(Output(at - exchange.at, channel, raw))
