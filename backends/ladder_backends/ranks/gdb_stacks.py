"""Native stacks of all ranks by one warm gdb: symbols are read while the job runs, then all stand for one burst."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence

from ladder_backends.errors import LadderError
from ladder_backends.model.ranks import Collective, Job, RankSource, RankStack, Reading, Unreachable
from ladder_backends.processes.proc_files import ProcFiles
from ladder_backends.ranks.engine import RankEngine, snapshot


class GdbStacks:
    """Takes stacks again and again; symbols are read once.

    Args:
        job: Whose.
        collectives: By rank, for the time-out that bounds how long a rank may stand.
        announce: Told the seconds that ranks will stand, before they do.
    """

    def __init__(
        self,
        job: Job,
        collectives: Mapping[int, Sequence[Collective]] | None = None,
        announce: Callable[[float], None] = lambda _seconds: None,
        proc: ProcFiles | None = None,
    ) -> None:
        self._job = job
        self._collectives = collectives
        self._announce = announce
        self._proc = proc
        self._engine: RankEngine | None = None

    async def read(self, leave_out: Collection[int] = ()) -> tuple[tuple[RankStack, ...], Reading]:
        """The native threads of every rank that can be held, which goes on afterwards."""
        begun = time.monotonic()
        wanted = [rank.rank for rank in self._job.ranks if rank.rank not in leave_out]
        try:
            if self._engine is None:
                self._engine = RankEngine(self._job, collectives=self._collectives, proc=self._proc)
                await self._engine.warm(wanted)
            predicted = self._engine.predicted(len(wanted), fresh=True)
            self._announce(predicted)
            reply = await snapshot(self._engine, wanted)
        except LadderError as error:
            silent = tuple(Unreachable(rank, error.what, error.remedy) for rank in wanted)
            return (), Reading(RankSource.GDB, (), silent, took=time.monotonic() - begun, note=error.line())
        heard = sorted({stack.rank for stack in reply.stacks})
        reading = Reading(
            RankSource.GDB,
            tuple(heard),
            tuple(each for each in reply.unreachable if each.rank not in heard and each.rank in wanted),
            predicted,
            reply.pause,
            time.monotonic() - begun,
        )
        return reply.stacks, reading

    async def close(self) -> None:
        """Let everything go."""
        if self._engine is not None:
            await self._engine.close()
            self._engine = None
