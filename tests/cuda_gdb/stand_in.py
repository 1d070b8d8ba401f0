"""A stand-in for cuda-gdb on a GPU: it says what a real one said, as recorded on an H200 (cuda-gdb 13.0).

Each answer and each stop is taken from a transcript: one JSON object a line, `d` for the direction (`>` sent, `<`
received, `p` from the program's terminal) and `s` for the line. Commands are matched without their tokens, their
quotes and the windows that they ask for; of several answers that one is given which comes next after the last run
or move.
"""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from ladder_backends.mi.transport import Channel, Ended, EngineCommand, Receive

RECORDINGS = Path(__file__).parent / "recordings"
PROMPT = "(cuda-gdb) "

_MOVES = ("-exec-", "-cuda-focus-switch", "-thread-select", "-target-attach", "-target-detach")
_QUIET = (
    "-gdb-set",
    "-gdb-show",
    "-interpreter-exec",
    "-file-exec",
    "-environment",
    "-inferior",
    "-break-condition",
    "-break-enable",
    "-break-disable",
    "-break-delete",
    "-break-after",
    "-break-info",
    "-stack-select-frame",
    "-list-features",
    "-var-delete",
)
_WINDOWED = re.compile(r"(?P<base>-stack-list-frames(?: --thread \d+)?)(?: \d+ \d+)?$")
_RESULT = re.compile(r"\d*(?P<rest>\^.*)", re.DOTALL)


@dataclass(slots=True)
class Exchange:
    """What was sent, and everything that came until the next command."""

    asked: str
    host: bool = False
    lines: list[tuple[str, str]] = field(default_factory=list)


def key_of(command: str) -> str:
    """What two questions have in common that differ only in how much they ask for."""
    if command.startswith("-break-insert"):
        return command.replace('"', "")
    windowed = _WINDOWED.match(command)
    if windowed:
        return windowed["base"]
    for base in ("-stack-list-variables", "-cuda-focus-query", "-cuda-info-blocks", "-cuda-info-lanes"):
        if command.startswith(base) and "--thread" not in command:
            return base
    return command


class StandIn:
    """A transport with a transcript behind it.

    Attributes:
        sent: Commands of the machine interface, in order, without tokens.
        typed: Lines of the command line.
    """

    engine = "cuda-gdb"

    def __init__(self, name: str) -> None:
        self.sent: list[str] = []
        self.typed: list[str] = []
        self._start: list[tuple[str, str]] = []
        self._exchanges: list[Exchange] = []
        self._answers: dict[str, list[str]] = {}
        self._at = -1
        self._host = False
        self._receive: Receive = lambda channel, chunk: None
        self._ended: Ended = lambda status: None
        for line in (RECORDINGS / f"{name}.jsonl").read_text().splitlines():
            entry = json.loads(line)
            if entry["d"] == ">":
                command = re.sub(r"^\d+", "", entry["s"])
                self._host = self._visits_host(command)
                self._exchanges.append(Exchange(command, self._host))
            else:
                lines = self._exchanges[-1].lines if self._exchanges else self._start
                lines.append((entry["d"], entry["s"]))
        self._host = False

    def __call__(self, command: EngineCommand) -> StandIn:
        """The factory of a debugger: there is one engine."""
        return self

    def answer(self, command: str, *lines: str) -> None:
        """Answer a command otherwise than the transcript does."""
        self._answers[command] = list(lines)

    def lines_of(self, command: str) -> list[str]:
        """What the transcript has behind a command, of the machine interface."""
        exchange = self._find(command)
        self._at = -1
        return [line for kind, line in exchange.lines if kind == "<"] if exchange is not None else []

    def say(self, *lines: str) -> None:
        """Say something unasked."""
        for line in lines:
            self._receive(Channel.MI, line.encode() + b"\n")

    def write(self, text: str) -> None:
        """Write into the command line unasked."""
        self._receive(Channel.CLI, text.encode())

    def asked(self, start: str) -> list[str]:
        """Commands that begin so."""
        return [command for command in self.sent if command.startswith(start)]

    # -- the transport

    async def open(self, receive: Receive, ended: Ended) -> None:
        self._receive, self._ended = receive, ended
        self._play(self._start, "")
        self._receive(Channel.CLI, PROMPT.encode())

    def send(self, channel: Channel, chunk: bytes) -> None:
        if channel is Channel.CLI:
            for line in chunk.decode().splitlines():
                self.typed.append(line)
                asyncio.get_running_loop().call_soon(self._type, line)
        elif channel is Channel.MI:
            for line in chunk.decode().splitlines():
                match = re.match(r"(\d*)(.*)", line)
                assert match is not None
                self.sent.append(match[2])
                asyncio.get_running_loop().call_soon(self._reply, match[1], match[2])

    def interrupt(self) -> None:
        self.sent.append("SIGINT")

    def resize(self, channel: Channel, columns: int, rows: int) -> None: ...

    def forget_input(self, channel: Channel) -> None: ...

    def keep_program(self) -> None: ...

    def abandon(self) -> None: ...

    async def close(self) -> None:
        self._ended(0)

    # -- what it says

    def _visits_host(self, command: str) -> bool:
        """Whether it stands in a thread of the host behind a command."""
        if command.startswith("-thread-select") or command == '-interpreter-exec console "thread 1"':
            return True
        back = ("-exec-", "-cuda-focus-switch", '-interpreter-exec console "cuda ')
        return self._host and not command.startswith(back)

    def _find(self, command: str) -> Exchange | None:
        key = key_of(command)
        found = [(at, one) for at, one in enumerate(self._exchanges) if one.asked == command]
        found = found or [(at, one) for at, one in enumerate(self._exchanges) if key_of(one.asked) == key]
        if not found:
            return None
        self._host = self._visits_host(command)
        found = [each for each in found if each[1].host is self._host] or found
        later = [each for each in found if each[0] > self._at]
        at, exchange = later[0] if later else found[-1]
        if command.startswith(_MOVES):
            self._at = at
        return exchange

    def _reply(self, token: str, command: str) -> None:
        if command in self._answers:
            self._play([("<", line) for line in self._answers[command]], token)
            return
        exchange = self._find(command)
        if exchange is not None:
            self._play(exchange.lines, token)
        elif command.startswith(_QUIET):
            self._play([("<", "^done")], token)
        else:
            self._play([("<", '^error,msg="not in this transcript"')], token)

    def _play(self, lines: list[tuple[str, str]], token: str) -> None:
        answered = not token
        for kind, line in lines:
            if kind == "p":
                self._receive(Channel.PROGRAM, line.encode())
                continue
            result = _RESULT.match(line)
            if result is not None and not answered and not line.startswith("^"):
                answered = True
                line = token + result["rest"]
            elif result is not None and not answered and line.startswith("^"):
                # Made for a test, without a token of its own.
                answered, line = True, token + line
            self._receive(Channel.MI, line.encode() + b"\n")
        if not answered:
            self._receive(Channel.MI, f"{token}^done\n".encode())
        self._receive(Channel.MI, b"(gdb) \n")

    def _type(self, line: str) -> None:
        quoted = line.replace('"', '\\"')
        exchange = self._find(f'-interpreter-exec console "{quoted}"')
        said = "".join(
            json.loads(text[1:])
            for kind, text in (exchange.lines if exchange else [])
            if kind == "<" and text[:1] == "~"
        )
        if exchange is not None:
            self._at = self._exchanges.index(exchange)
            for kind, text in exchange.lines:
                if kind == "<" and text.startswith("="):
                    self._receive(Channel.MI, text.encode() + b"\n")
        self._receive(Channel.CLI, f"{line}\r\n{said}{PROMPT}".encode())
