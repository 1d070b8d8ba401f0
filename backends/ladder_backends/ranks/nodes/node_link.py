"""One node: the link to its agent, which asks, beats, and tells when it is lost."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import Any, Protocol

from ladder_backends.errors import LadderError
from ladder_backends.ranks.nodes.framing import FrameReader, LinkTorn, frame
from ladder_backends.text import clean_line

BEAT = 1.0
LOST = 10.0
"""Seconds without a word after which an agent counts as lost; it beats each second."""


class NodeLost(LadderError):
    """A node does not answer.

    Attributes:
        reason: Why, a clause.
    """

    def __init__(self, host: str, reason: str) -> None:
        self.reason = reason
        super().__init__(f"node {host} does not answer", reason, "its ranks run on; look again")


class _Writer(Protocol):
    def write(self, data: bytes) -> None: ...

    def close(self) -> None: ...


class NodeLink:
    """Asks of one agent.

    Args:
        host: The node, as it is named in words.
        reader: What the agent writes.
        writer: What it reads. A write never waits: asks are short.
        lost_after: Seconds without a word after which it counts as lost.
        listener: Told of what the agent's engine writes.

    Attributes:
        lost: Why it does not answer any more, a clause; empty while it does.
        offset: Seconds by which the node's clock is ahead of ours.
        doubt: Seconds by which `offset` may be wrong at most.
    """

    def __init__(
        self,
        host: str,
        reader: asyncio.StreamReader,
        writer: _Writer,
        *,
        lost_after: float = LOST,
        listener: Callable[[str], None] = lambda _text: None,
    ) -> None:
        self.host = host
        self.lost = ""
        self.offset = 0.0
        self.doubt = 0.0
        self._reader, self._writer = reader, writer
        self.listener = listener
        self._frames = FrameReader()
        self._lost_after = lost_after
        self._heard = time.monotonic()
        self._sequence = 0
        self._asked = 0
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._tasks: list[asyncio.Future[None]] = [
            asyncio.ensure_future(self._read()),
            asyncio.ensure_future(self._beat()),
        ]

    @property
    def bytes(self) -> int:
        """Bytes that the agent has sent."""
        return self._frames.bytes

    @property
    def greeting(self) -> str:
        """The last line that something else wrote before the agent spoke."""
        lines = self._frames.greeting.decode("utf-8", "backslashreplace").strip().splitlines()
        return clean_line(lines[-1])[:200] if lines else ""

    async def ask(self, what: str, deadline: float = 10.0, **details: Any) -> dict[str, Any]:
        """The answer of the agent.

        Raises:
            NodeLost: The link is lost or torn, no answer came in time, or the agent could not do it.
        """
        if self.lost:
            raise NodeLost(self.host, self.lost)
        self._asked += 1
        number = self._asked
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            self._send({"id": number, "ask": what, **details})
            async with asyncio.timeout(deadline):
                told = await future
        except TimeoutError:
            raise NodeLost(self.host, f"no answer within {deadline:g} s") from None
        finally:
            self._waiting.pop(number, None)
        if "failed" in told:
            raise NodeLost(self.host, f"its agent failed: {clean_line(str(told['failed']))[:200]}")
        return told

    async def set_clock(self, times: int = 3) -> None:
        """Find out how far the node's clock is ahead, by the quickest of some questions.

        Raises:
            NodeLost: It does not answer.
        """
        best = float("inf")
        for _ in range(times):
            before = time.time()
            theirs = (await self.ask("clock")).get("clock")
            after = time.time()
            if isinstance(theirs, int | float) and (after - before) / 2 < best:
                best = (after - before) / 2
                self.offset, self.doubt = theirs - (before + after) / 2, best

    def beside(self, task: asyncio.Future[None]) -> None:
        """Have a task end with the link."""
        self._tasks.append(task)

    def close(self) -> None:
        """Close the link: the agent lets go of what it holds, and ends."""
        self._lose("closed")
        for task in self._tasks:
            task.cancel()

    def _send(self, message: dict[str, Any]) -> None:
        self._sequence += 1
        with contextlib.suppress(OSError, RuntimeError):
            self._writer.write(frame(self._sequence, message))

    def _lose(self, why: str) -> None:
        if self.lost:
            return
        self.lost = why
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(NodeLost(self.host, why))
        with contextlib.suppress(OSError, RuntimeError):
            self._writer.close()

    async def _read(self) -> None:
        try:
            while data := await self._reader.read(1 << 18):
                self._heard = time.monotonic()
                for message in self._frames.feed(data):
                    self._take(message)
        except LinkTorn as torn:
            self._lose(f"its answers are torn: {torn}")
        except OSError as error:
            self._lose(f"the link broke: {error.strerror}")
        else:
            self._lose("the link was cut within an answer" if self._frames.cut else "its agent has ended")

    def _take(self, message: dict[str, Any]) -> None:
        number = message.get("id")
        if isinstance(number, int):
            future = self._waiting.get(number)
            if future is not None and not future.done():
                future.set_result(message)
        elif isinstance(text := message.get("engine"), str):
            self.listener(text)

    async def _beat(self) -> None:
        while not self.lost:
            await asyncio.sleep(min(BEAT, self._lost_after / 3))
            silent = time.monotonic() - self._heard
            if silent > self._lost_after:
                self._lose(f"nothing was heard of it for {silent:.0f} s")
            elif not self.lost:
                self._send({"beat": time.time()})
