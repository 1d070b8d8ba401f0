"""Starts a job by its launcher, keeps its output flowing, and watches its ranks until the last one ended."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import signal
from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from ladder_backends.errors import LadderError
from ladder_backends.model.ranks import Job
from ladder_backends.ranks.choosing import NoSuchJob, job_of
from ladder_backends.ranks.deaths import DeathWatch, RankEnd, with_messages
from ladder_backends.ranks.discovery import Discovery

_LOOK_EVERY = 0.25
"""Seconds between two looks for ranks that are new."""
_KEPT = 256 << 10
"""Bytes of the output's end that are kept: launchers say there what happened."""
_AHEAD = 8 << 20
"""Bytes that a reader may be behind; what comes beyond is dropped, and counted."""
_PR_SET_PDEATHSIG = 1


class OutputDrain:
    """Passes bytes on to a descriptor that may block, and never lets the writer of those bytes wait for it.

    A launcher whose output is not read blocks, and its ranks with it: that looks like a hang of theirs.

    Attributes:
        dropped: Bytes that were not passed on, because the reader was too far behind.
    """

    def __init__(self, descriptor: int) -> None:
        self.dropped = 0
        self._descriptor = descriptor
        self._queue: deque[bytes] = deque()
        self._waiting = 0
        self._more = asyncio.Event()
        self._closed = False
        self._broken = False
        self._tail = bytearray()
        self._passing = asyncio.ensure_future(self._pass_on())

    @property
    def tail(self) -> str:
        """The end of what came."""
        return bytes(self._tail).decode("utf-8", "backslashreplace")

    async def read(self, stream: asyncio.StreamReader) -> None:
        """Read a stream to its end."""
        while chunk := await stream.read(1 << 16):
            self._tail += chunk
            del self._tail[:-_KEPT]
            if self._waiting + len(chunk) > _AHEAD or self._broken:
                self.dropped += len(chunk)
                continue
            self._queue.append(chunk)
            self._waiting += len(chunk)
            self._more.set()

    async def close(self, patience: float = 2.0) -> None:
        """Pass on what is left, for so many seconds."""
        self._closed = True
        self._more.set()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._passing), patience)
        self.dropped += self._waiting

    async def _pass_on(self) -> None:
        while True:
            while self._queue:
                chunk = self._queue.popleft()
                try:
                    await asyncio.to_thread(_write, self._descriptor, chunk)
                except OSError:
                    self._broken = True
                    self.dropped += len(chunk)
                self._waiting -= len(chunk)
            if self._closed:
                return
            self._more.clear()
            await self._more.wait()


class LaunchedJob:
    """One job that was started here.

    Attributes:
        job: As it was found last; None before any rank was.
        ends: Ends of its ranks in the order of time.
        code: Exit status of the launcher, negative for a signal; None while it runs.
        dropped: Bytes of its output that were not passed on.
    """

    def __init__(
        self, command: Sequence[str], out: int = 1, err: int = 2, environment: Mapping[str, str] | None = None
    ) -> None:
        """Nothing is started yet.

        Args:
            command: The launcher with its arguments.
            out: Descriptor that its standard output is passed on to.
            err: The same of its standard error.
            environment: Variables beside those of this process.
        """
        self.command = tuple(command)
        self._environment = environment or {}
        self.job: Job | None = None
        self.ends: list[RankEnd] = []
        self.code: int | None = None
        self.dropped = 0
        self._out = out
        self._err = err
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int:
        """Process id of the launcher, or 0 before it was started."""
        return self._process.pid if self._process is not None else 0

    async def run(self, looking: Callable[[Job], Coroutine[Any, Any, None]] | None = None) -> int:
        """Run it to its end; returns the launcher's exit status.

        Args:
            looking: Called with the job at its first complete sight, and run beside it.

        Raises:
            LadderError: The launcher cannot be started.
        """
        try:
            self._process = process = await asyncio.create_subprocess_exec(
                *self.command,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={**os.environ, **self._environment},
                preexec_fn=_end_with_us(os.getpid()),
            )
        except OSError as error:
            name = self.command[0]
            raise LadderError(
                f"{name} cannot be started", error.strerror or "", "name a launcher, as mpirun"
            ) from None
        assert process.stdout is not None
        assert process.stderr is not None
        drains = OutputDrain(self._out), OutputDrain(self._err)
        reading = [
            asyncio.ensure_future(drain.read(stream))
            for drain, stream in zip(drains, (process.stdout, process.stderr), strict=True)
        ]
        watch = DeathWatch()
        beside = asyncio.ensure_future(self._watch(watch, looking))
        try:
            self.code = await process.wait()
            # What the launcher leaves alive may keep its output open: that is not waited for long.
            await asyncio.wait(reading, timeout=2.0)
            await asyncio.sleep(0)
            await watch.settle()
        finally:
            beside.cancel()
            for each in reading:
                each.cancel()
            await asyncio.gather(beside, *reading, return_exceptions=True)
            watch.close()
            if process.returncode is None:
                self.stop()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(process.wait(), 5.0)
            for drain in drains:
                await drain.close()
        self.dropped = sum(drain.dropped for drain in drains)
        self.ends = with_messages(watch.ends, "\n".join(drain.tail for drain in drains))
        return self.code

    def stop(self, number: int = signal.SIGINT) -> None:
        """Ask the launcher to end its job, as Ctrl-C does."""
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(number)

    async def _watch(self, watch: DeathWatch, looking: Callable[[Job], Coroutine[Any, Any, None]] | None) -> None:
        beside: asyncio.Future[None] | None = None
        try:
            while True:
                job = await asyncio.to_thread(self._look)
                if job is not None:
                    watch.watch(job)
                    if self.job is None or job.restart != self.job.restart or len(job.ranks) >= len(self.job.ranks):
                        self.job = job
                    if looking is not None and beside is None and not job.missing:
                        beside = asyncio.ensure_future(looking(job))
                await asyncio.sleep(_LOOK_EVERY if job is None or job.missing else 4 * _LOOK_EVERY)
        finally:
            if beside is not None:
                beside.cancel()
                await asyncio.gather(beside, return_exceptions=True)

    def _look(self) -> Job | None:
        try:
            return job_of(Discovery(), self.pid)
        except NoSuchJob:
            return None


def _write(descriptor: int, chunk: bytes) -> None:
    view = memoryview(chunk)
    while view:
        view = view[os.write(descriptor, view) :]


def _end_with_us(parent: int) -> Callable[[], None]:
    """Let the launcher end when this console does, however that ends (prctl(2), PR_SET_PDEATHSIG)."""
    library = ctypes.CDLL(None, use_errno=True)

    def before_exec() -> None:
        library.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)

    return before_exec
