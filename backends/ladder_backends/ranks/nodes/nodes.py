"""The nodes of a job: an agent is started on each, asked, and let go; who does not answer is told of."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from ladder_backends.errors import LadderError
from ladder_backends.ranks.nodes.node_link import LOST, NodeLink, NodeLost
from ladder_backends.ranks.nodes.transports import AGENT, Transport, bootstrap
from ladder_backends.text import clean_line

_Answer = TypeVar("_Answer")
_START = 30.0
_AT_ONCE = 64
"""Agents that are started at the same time: each is a process of this host."""
_PROGRAMS = (("py-spy", "LADDER_PY_SPY"), ("eu-stack", "LADDER_EU_STACK"))
_LONGEST_LINE = 1 << 16


class Node:
    """One node and the process here that holds its link.

    Attributes:
        host: As it was asked for.
        name: As it calls itself.
        programs: Programs for stacks that it has, with their paths.
    """

    def __init__(self, host: str, link: NodeLink, process: asyncio.subprocess.Process | None = None) -> None:
        self.host, self.link, self.process = host, link, process
        self.name = host
        self.programs: dict[str, str] = {}
        self.said: list[str] = []

    async def greet(self, deadline: float = _START) -> None:
        """Ask for its name and its programs, and set its clock.

        Raises:
            NodeLost: It does not answer.
        """
        told = await self.link.ask("hello", deadline, programs=_PROGRAMS)
        if isinstance(name := told.get("host"), str) and name:
            self.name = clean_line(name)[:200]
        if isinstance(programs := told.get("programs"), dict):
            self.programs = {str(name): path for name, path in programs.items() if isinstance(path, str)}
        await self.link.set_clock()

    async def close(self) -> None:
        """Close the link, and wait for the process that held it."""
        self.link.close()
        if self.process is None or self.process.returncode is not None:
            return
        try:
            await asyncio.wait_for(self.process.wait(), 6)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self.process.terminate()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.process.wait(), 5)


class Nodes:
    """All nodes that were asked for.

    Attributes:
        asked: Hosts, in the order asked.
        live: Those that answer.
        silent: By host, why it does not.
    """

    def __init__(self, live: Sequence[Node], silent: dict[str, str]) -> None:
        self.live = list(live)
        self._started = tuple(live)
        self.silent = dict(silent)
        self.asked = [*(node.host for node in live), *silent]

    @classmethod
    async def start(
        cls,
        hosts: Sequence[str],
        transport: Transport,
        *,
        say: Callable[[str], None] = lambda _line: None,
        lost_after: float = LOST,
    ) -> Nodes:
        """Start an agent on each host; never fails for one of them.

        Args:
            hosts: Each once.
            transport: How.
            say: Told of the command before it runs.
            lost_after: Seconds without a word after which a node counts as lost.
        """
        source = AGENT.read_bytes()
        program = bootstrap(source)
        if hosts:
            shown = transport.command(hosts[0], ["python3", "-c", "…"])
            say(
                f"agents, by {transport.name}: {shlex.join(shown)}"
                + (f" (and {len(hosts) - 1} more)" if hosts[1:] else "")
            )
        slots = asyncio.Semaphore(_AT_ONCE)

        async def one(host: str) -> Node | str:
            async with slots:
                try:
                    node = await _start(host, transport.command(host, program), source, lost_after)
                except LadderError as error:
                    return error.line()
                except OSError as error:
                    return f"{transport.name} does not run: {error.strerror}"
                try:
                    await node.greet()
                except NodeLost as lost:
                    await node.close()
                    return (node.said[0] if node.said else "") or node.link.greeting or lost.reason
                return node

        found = dict(zip(hosts, await asyncio.gather(*(one(host) for host in hosts)), strict=True))
        live = [node for node in found.values() if isinstance(node, Node)]
        return cls(live, {host: why for host, why in found.items() if isinstance(why, str)})

    @property
    def answered(self) -> str:
        """`answered 3 of 4 nodes; n3: its agent has ended`."""
        text = f"answered {len(self.asked) - len(self.silent)} of {len(self.asked)} nodes"
        whys: dict[str, list[str]] = {}
        for host, why in self.silent.items():
            whys.setdefault(why, []).append(host)
        told = [
            f"{', '.join(hosts[:8])}{' …' if hosts[8:] else ''}: {why}" for why, hosts in list(whys.items())[:4]
        ]
        more = [f"{len(whys) - 4} more reasons"] if whys.keys() - list(whys)[:4] else []
        return "; ".join([text, *told, *more])

    async def each(self, work: Callable[[Node], Awaitable[_Answer]]) -> dict[str, _Answer]:
        """What work gives for each live node, by host; a node that fails is silent from then on."""

        async def one(node: Node) -> tuple[str, _Answer | None]:
            try:
                return node.host, await work(node)
            except NodeLost as lost:
                self.silent[node.host] = lost.reason
            except LadderError as wrong:
                self.silent[node.host] = wrong.line()
            return node.host, None

        told = await asyncio.gather(*(one(node) for node in self.live))
        self.live = [node for node in self.live if node.host not in self.silent]
        return {host: answer for host, answer in told if answer is not None}

    async def close(self) -> None:
        """Let all agents go."""
        await asyncio.gather(*(node.close() for node in self._started))


async def _start(host: str, command: Sequence[str], source: bytes, lost_after: float) -> Node:
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        # Ctrl-C at the terminal is for the console.
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.write(source)
    node = Node(host, NodeLink(host, process.stdout, process.stdin, lost_after=lost_after), process)
    complaints = asyncio.ensure_future(_complaints(process.stderr, node.said))
    node.link.beside(complaints)
    return node


async def _complaints(stream: asyncio.StreamReader, said: list[str]) -> None:
    """The first lines of what a launcher complains of; all of it is read."""
    held = b""
    while data := await stream.read(1 << 14):
        held = (held + data)[:_LONGEST_LINE]
        lines = held.decode("utf-8", "backslashreplace").splitlines()
        said[:] = [clean_line(line)[:200] for line in lines[:5] if line.strip()]


def mapping(told: Any) -> dict[str, Any]:
    """What an agent told as an object; empty where it is none."""
    return told if isinstance(told, dict) else {}
