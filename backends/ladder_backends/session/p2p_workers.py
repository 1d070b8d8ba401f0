"""The workers of a sweep: each is started ahead where it is known what comes, so that loading costs no time.

A worker that waits has touched no GPU: the control's has never enabled peer access, and that of a pair shares
nothing with the one before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from ladder_backends.p2p.worker_process import WorkerProcess
from ladder_backends.session.p2p_hangs import Hangs
from ladder_backends.session.p2p_wish import Wish

_REST = 10.0
"""Seconds that measuring waits for workers that still load."""

_Key = tuple[tuple[int, ...] | None, tuple[tuple[str, str], ...]]


class Workers:
    """Those of one sweep.

    Args:
        wish: What is swept.
    """

    def __init__(self, wish: Wish) -> None:
        self.wish = wish
        self.hangs = Hangs()
        self._uuids: dict[int, str] = {}
        self._all: tuple[int, ...] = ()
        self._waiting: dict[_Key, WorkerProcess] = {}
        self._at_work: list[WorkerProcess] = []

    def pids(self, *gpus: int) -> tuple[int, ...]:
        """Processes at work on exactly these GPUs."""
        wanted = list(gpus)
        return tuple(
            one.pid
            for one in self._at_work
            if one.pid is not None and not one.ended and one.job.get("gpus") == wanted
        )

    def know(self, uuids: Mapping[int, str], *, everything: bool) -> None:
        """Which GPUs there are, and whether they are all that a process sees by itself."""
        self._uuids = dict(uuids)
        self._all = tuple(uuids) if everything else ()

    async def ahead(self, gpus: tuple[int, ...] | None, environment: Mapping[str, str] | None = None) -> None:
        """Start one that is needed next; a failure is told by the one that takes it."""
        key = self._key(gpus, environment)
        if key in self._waiting:
            return
        worker = self._made({"layer": dict(self.wish.layer)}, gpus, environment)
        self._waiting[key] = worker
        try:
            await worker.start()
        except OSError:
            self._waiting.pop(key, None)

    def take(
        self,
        role: str,
        gpus: tuple[int, ...] | None,
        work: Sequence[tuple[str, int, int]] = (),
        *,
        peers: bool = False,
        seconds: float = 0.0,
        environment: Mapping[str, str] | None = None,
    ) -> WorkerProcess:
        """One with a job: of those that wait, or a new one."""
        job = {
            "format": 1,
            "role": role,
            "layer": dict(self.wish.layer),
            "gpus": None if gpus is None else list(gpus),
            "work": list(work),
            "peers": peers,
            "seconds": seconds,
            "cap": self.wish.cap,
        }
        worker = self._waiting.pop(self._key(gpus, environment), None)
        if worker is None or worker.ended:
            worker = self._made(job, gpus, environment)
        worker.job = job
        worker.haste = self.hangs.haste
        self._at_work = [*(one for one in self._at_work if not one.ended), worker]
        return worker

    async def rest(self) -> None:
        """Wait until those that load are done: they would take time from what is measured."""
        await asyncio.gather(*(worker.warmed(_REST) for worker in self._waiting.values()))

    async def close(self) -> None:
        """End those that wait."""
        waiting, self._waiting = list(self._waiting.values()), {}
        await asyncio.gather(*(worker.end() for worker in waiting))

    def _key(self, gpus: tuple[int, ...] | None, environment: Mapping[str, str] | None) -> _Key:
        return (None if gpus == self._all else gpus), tuple(sorted((environment or {}).items()))

    def _made(
        self, job: Mapping[str, object], gpus: tuple[int, ...] | None, environment: Mapping[str, str] | None
    ) -> WorkerProcess:
        devices = None
        if gpus is not None and gpus != self._all and self.wish.layer["kind"] != "simulated":
            devices = ",".join(self._uuids[gpu] for gpu in gpus)
        return WorkerProcess(job, devices, environment or {}, self.wish.patience)
