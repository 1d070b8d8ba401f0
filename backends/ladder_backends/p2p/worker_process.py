"""One worker process, watched: its lines, the time each step may take, and how it is ended."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ladder_backends.text import clean_line

_LONGEST_LINE = 1 << 20
_KEPT_ERRORS = 4000


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a worker is waited for, in seconds.

    Attributes:
        factor: Of the time that a step asks for.
        term: After SIGTERM, before SIGKILL.
        gone: After SIGKILL, before the process counts as stuck in the kernel.
    """

    factor: float = 1.0
    term: float = 2.0
    gone: float = 5.0


class Ended(Exception):
    """A worker did not come to the end of its job.

    Attributes:
        step: The last step that it told of: arm, step, source, target.
        hung: It was ended because the step took too long.
        stuck: It could not be ended.
        killed: A signal of somebody else ended it.
        why: What it said last, or its exit status.
    """

    def __init__(
        self, step: Mapping[str, Any], *, hung: bool, stuck: bool = False, killed: bool = False, why: str = ""
    ) -> None:
        super().__init__(why)
        self.step = step
        self.hung = hung
        self.stuck = stuck
        self.killed = killed
        self.why = why


class WorkerProcess:
    """A worker in a session of its own; only it and its children are ever ended.

    Args:
        job: What it is to do; one that is started ahead is given another before `lines`.
        devices: CUDA_VISIBLE_DEVICES of it, or None for all.
        environment: More variables.
        patience: How long it is waited for.
    """

    def __init__(
        self,
        job: Mapping[str, object],
        devices: str | None,
        environment: Mapping[str, str],
        patience: Patience,
    ) -> None:
        self.job = job
        self.haste: Callable[[str], float] = lambda _: 1.0
        """Of the time that the steps of an arm ask for, by its name."""

        self._patience = patience
        # Multicast can take a shared NVSwitch host down; unified addressing over it is never needed here.
        self._environment = {
            **os.environ,
            "NCCL_NVLS_ENABLE": "0",
            "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
            "PYTHONUNBUFFERED": "1",
            **environment,
        }
        # Kernels that wait for each other would wait for the launch of the other.
        self._environment.pop("CUDA_LAUNCH_BLOCKING", None)
        if devices is not None:
            self._environment["CUDA_VISIBLE_DEVICES"] = devices
        self._process: asyncio.subprocess.Process | None = None
        self._errors = bytearray()
        self._drain: asyncio.Task[None] | None = None
        self._step: Mapping[str, Any] = {}
        self._warm: asyncio.Task[bytes] | None = None

    async def start(self) -> None:
        """Start it ahead of its job: it loads what takes long and touches no GPU."""
        process = self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "ladder_backends.p2p.worker",
            json.dumps(self.job["layer"]),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self._environment,
            start_new_session=True,
            limit=_LONGEST_LINE,
        )
        assert process.stdout is not None
        self._drain = asyncio.create_task(self._keep_errors())
        self._warm = asyncio.create_task(process.stdout.readline())

    async def warmed(self, seconds: float) -> None:
        """Wait until it is at rest, so that it takes no time from what is measured; so many seconds at most."""
        if self._warm is not None:
            await asyncio.wait({self._warm}, timeout=seconds)

    async def lines(self) -> AsyncGenerator[Mapping[str, Any], None]:
        """Start it and give its lines until it is done.

        Raises:
            Ended: It hung, or it ended early.
        """
        if self._process is None:
            await self.start()
        process, warm = self._process, self._warm
        assert process is not None
        assert process.stdout is not None
        assert warm is not None
        assert self._drain is not None
        limit: float | None = 60.0
        try:
            self.say(self.job)
            while True:
                wait = None if limit is None else limit * self._patience.factor
                try:
                    line = await asyncio.wait_for(process.stdout.readline() if warm is None else warm, wait)
                    warm = None
                except TimeoutError:
                    gone = await self.end()
                    raise Ended(self._step, hung=True, stuck=not gone, why=self._said()) from None
                except ValueError:
                    await self.end()
                    raise Ended(self._step, hung=False, why="it wrote a line without end") from None
                if not line:
                    await process.wait()
                    await self._drain
                    status = _status(process.returncode)
                    # A signal says more than whatever a library warned of last.
                    killed = process.returncode is not None and process.returncode < 0
                    why = status if killed else self._said() or status
                    raise Ended(self._step, hung=False, killed=killed, why=why)
                try:
                    told: Mapping[str, Any] = json.loads(line)
                    event = told["event"]
                except (ValueError, KeyError, TypeError):
                    continue
                if event == "step":
                    self._step, limit = told, float(told["limit"]) * self.haste(str(told.get("arm")))
                elif event == "ready":
                    # Its turn to measure comes when the others are done.
                    limit = None
                yield told
                if event in ("done", "spoilt"):
                    return
        finally:
            await self.end()

    @property
    def ended(self) -> bool:
        """It was started, and is gone."""
        return self._process is not None and self._process.returncode is not None

    @property
    def pid(self) -> int | None:
        """Its process, and its group, once it is started."""
        return self._process.pid if self._process is not None else None

    def say(self, words: Mapping[str, object]) -> None:
        """Send it a line."""
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(ConnectionError, RuntimeError):
                self._process.stdin.write(json.dumps(words).encode() + b"\n")

    def go(self) -> None:
        """Let it measure."""
        self.say({"go": True})

    async def end(self) -> bool:
        """End it and its children: by closing its pipe, by SIGTERM, by SIGKILL.

        Returns:
            Whether it is gone; one that is stuck in the kernel cannot be ended by anybody.
        """
        process = self._process
        if process is None:
            return True
        gone = await self._ended(process)
        if self._warm is not None:
            self._warm.cancel()
            with contextlib.suppress(asyncio.CancelledError, ValueError):
                await self._warm
            self._warm = None
        if self._drain is not None:
            self._drain.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._drain
            self._drain = None
        return gone

    async def _ended(self, process: asyncio.subprocess.Process) -> bool:
        if process.stdin is not None:
            process.stdin.close()
        for number, wait in (
            (0, 0.3),
            (signal.SIGTERM, self._patience.term),
            (signal.SIGKILL, self._patience.gone),
        ):
            if process.returncode is not None:
                break
            if number:
                # The group is that of the session we made for it; nobody else is in it.
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, number)
            with contextlib.suppress(TimeoutError, asyncio.TimeoutError):
                await asyncio.wait_for(process.wait(), wait)
        if process.returncode is not None:
            # Its children, if it left any.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        return process.returncode is not None

    async def _keep_errors(self) -> None:
        assert self._process is not None
        assert self._process.stderr is not None
        while piece := await self._process.stderr.read(4096):
            self._errors += piece
            del self._errors[:-_KEPT_ERRORS]

    def _said(self) -> str:
        lines = self._errors.decode("utf-8", "replace").strip().splitlines()
        return clean_line(lines[-1])[:300] if lines else ""


def _status(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return f"it was ended by {signal.Signals(-code).name}"
    return f"it ended with status {code}"
