"""One gdb that holds several ranks: warm before it touches any, in non-stop, never signalled."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Iterable, Sequence

from ladder_backends.errors import (
    CommandFailed,
    DeadlinePassed,
    EngineDied,
    EngineError,
    EngineMissing,
    LadderError,
)
from ladder_backends.gdb.environment import engine_environment
from ladder_backends.gdb.probing import install_remedy, needs_libraries
from ladder_backends.gdb.warm_symbols import WarmSymbols
from ladder_backends.mi.records import ResultRecord
from ladder_backends.mi.session import MiSession
from ladder_backends.mi.transport import EngineCommand
from ladder_backends.model.ranks import Rank, Unreachable
from ladder_backends.paths import find_engine
from ladder_backends.processes.loaded_objects import LoadedObjects, loaded_objects
from ladder_backends.processes.obstacles import kernel_wait
from ladder_backends.processes.proc_files import ProcFiles
from ladder_backends.ranks.engine.fitness import EnginePlan, start_of, unfit
from ladder_backends.ranks.engine.group_reader import GroupReader
from ladder_backends.ranks.engine.held_rank import HeldRank, Hold
from ladder_backends.ranks.engine.left_stopped import LastWatch, wake
from ladder_backends.ranks.engine.machine_terminal import ARGUMENTS, MachineTerminal
from ladder_backends.ranks.engine.rank_events import RankEvent, RankEventKind
from ladder_backends.ranks.rank_list import fold
from ladder_backends.text import clean_line

ATTACH_PATIENCE = 2.0
"""Seconds after which an attach that has not been answered is told of: its engine is deaf until it is."""

_LOOKS, _BETWEEN_LOOKS = 5, 0.02
"""Looks at ranks that wait in the kernel before they are left alone, and seconds between them."""

STOP_DEADLINE = 10.0
"""Seconds until all threads of a rank stand."""

_ANSWER_DEADLINE = 60.0
_PASSED_ON = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGCONT", "SIGPIPE", "SIGTSTP")
"""Signals by which launchers and run-times speak with ranks: none of the debugger's business."""

_SETTINGS = (
    "-gdb-set mi-async on",
    "-gdb-set non-stop on",
    "-gdb-set schedule-multiple on",
    "-gdb-set detach-on-fork on",
    "-gdb-set confirm off",
    "-gdb-set pagination off",
    "-gdb-set width 0",
    "-gdb-set height 0",
    "-gdb-set debuginfod enabled off",
    "-gdb-set style enabled off",
    "-gdb-set breakpoint pending on",
    "-gdb-set print thread-events off",
    "-gdb-set print inferior-events off",
    "-gdb-set print frame-arguments none",
    "-gdb-set print entry-values no",
    # No source is searched for at each stop of each thread.
    "-gdb-set print frame-info location",
    "-gdb-set print elements 4096",
    "-gdb-set print repeats unlimited",
    "-gdb-set max-value-size 16777216",
    "-gdb-set unwindonsignal on",
    "-gdb-set auto-load python-scripts off",
    # The one by which gdb itself attaches shows as the process's own at times (seen in gdb 13): if it were passed
    # on, the rank would be stopped by it as soon as it goes on or is let go.
    '-interpreter-exec console "handle SIGSTOP stop print nopass"',
    *(f'-interpreter-exec console "handle {name} nostop noprint pass"' for name in _PASSED_ON),
)


class NodeGdb:
    """A gdb for the ranks of one plan.

    Attributes:
        reader: What its ranks do.
        warm: Symbols that it has read, by a second inferior that stays: what is shared is forgotten with its last
            user.
        waits_for: A rank that entered the kernel as it was attached to; this gdb is deaf until that one leaves it.
    """

    def __init__(self, plan: EnginePlan, tell: Callable[[RankEvent], None], watch: LastWatch) -> None:
        self.plan = plan
        self._tell = tell
        self._watch = watch
        self.reader = GroupReader(tell)
        self._session: MiSession | None = None
        self._transport: MachineTerminal | None = None
        self.warm: WarmSymbols | None = None
        self._moved = asyncio.Event()
        self._listeners: list[Callable[[], None]] = []
        self.waits_for: HeldRank | None = None
        self._late: set[asyncio.Task[None]] = set()
        self.reader.changed = self._changed

    # -- life

    async def start(self) -> None:
        """Start it and make it fit; no rank is touched.

        Raises:
            EngineMissing: gdb is not installed.
        """
        found = find_engine("gdb")
        if found.path is None:
            raise EngineMissing("cannot start gdb", found.missing, install_remedy("gdb"))
        command = EngineCommand(
            "gdb",
            (str(found.path), "-nx", "-q", *ARGUMENTS),
            environment=engine_environment(libraries=needs_libraries(found.path)),
            core_size_zero=True,
        )
        self._transport = MachineTerminal(command)
        session = MiSession(self._transport)
        session.listen(notice=self.reader.read, stream=lambda _channel, _chunk: None, ended=self._ended)
        await session.start()
        self._session = session
        self.warm = WarmSymbols(self)
        answers = await asyncio.gather(*(session.submit(text) for text in _SETTINGS), return_exceptions=True)
        for answer in answers:
            if isinstance(answer, BaseException) and not isinstance(answer, CommandFailed):
                raise answer
        if self.plan.root:
            await self.command(f"-gdb-set sysroot {self.plan.root}")
        pid = self.pid
        if pid is not None:
            self._watch.engine(pid)

    @property
    def pid(self) -> int | None:
        """Its process id while it lives."""
        return self._transport.pid if self._transport is not None else None

    @property
    def alive(self) -> bool:
        """It was started and has not ended."""
        return self._session is not None and self._session.alive

    @property
    def hears(self) -> bool:
        """It lives, and does what it is told."""
        return self.alive and self.waits_for is None

    @property
    def why_deaf(self) -> str:
        """Why it does nothing that it is told, a clause; empty where it does."""
        return f"its gdb waits for rank {self.waits_for.rank.rank} to stop" if self.waits_for is not None else ""

    @property
    def deaf(self) -> float:
        """Seconds for which the oldest command has waited for its answer."""
        waiting = self._session.pending() if self._session is not None else ()
        return waiting[0].age if waiting else 0.0

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call `listener` whenever a rank stops, goes on or ends."""
        self._listeners.append(listener)

    async def command(self, text: str, *, deadline: float | None = _ANSWER_DEADLINE) -> ResultRecord:
        """Ask it; raises as `MiSession.command`."""
        return await self.submit(text, deadline=deadline)

    def submit(self, text: str, *, deadline: float | None = _ANSWER_DEADLINE) -> asyncio.Future[ResultRecord]:
        """Ask now, wait later."""
        if self._session is None:
            raise EngineDied("gdb is not running", "it was not started")
        return self._session.submit(text, deadline=deadline)

    async def close(self) -> None:
        """Let all ranks go and end; an engine that is deaf finds its terminals closed once it hears again."""
        if self._session is None:
            return
        if self.hears and self.deaf < ATTACH_PATIENCE:
            with contextlib.suppress(LadderError):
                await self.release(self.held)
        still = self.held
        with contextlib.suppress(DeadlinePassed):
            await self._session.close()
        for held in still:
            await self._see_off(held)
            self.reader.released(held)

    async def moved(self) -> None:
        """Wait until some rank stops, goes on or ends."""
        self._moved.clear()
        await self._moved.wait()

    def _ended(self, status: int | None, expected: bool) -> None:
        how = "its gdb was asked to end" if expected else "its gdb ended by itself"
        if not expected:
            for held in self.held:
                wake(held.rank.pid, held.rank.started)
        self.reader.lost(how)

    def _changed(self) -> None:
        self._moved.set()
        for listener in self._listeners:
            listener()

    # -- ranks

    @property
    def held(self) -> list[HeldRank]:
        """Ranks that it traces, in their order."""
        return [held for held in self.reader.ranks.values() if held.live]

    def of(self, rank: int) -> HeldRank | None:
        """The latest hold on a rank."""
        found = [held for held in self.reader.ranks.values() if held.rank.rank == rank]
        return found[-1] if found else None

    async def read_symbols(self) -> None:
        """Read the symbols of what its ranks have loaded, while they run."""
        assert self.warm is not None
        seen: set[tuple[str, ...]] = set()
        for rank in self.plan.ranks:
            objects = await asyncio.to_thread(loaded_objects, rank.pid)
            if self.plan.root:
                objects = LoadedObjects(
                    objects.executable, objects.executable_gone, objects.libraries, objects.gone, self.plan.root
                )
            if objects.files not in seen:
                seen.add(objects.files)
                await self.warm.read(objects)

    @property
    def symbol_bytes(self) -> int:
        """Size of the files whose symbols it has read."""
        total = 0
        for name in self.warm.names if self.warm is not None else ():
            with contextlib.suppress(OSError):
                total += os.stat(name).st_size
        return total

    async def attach(self, ranks: Sequence[Rank]) -> list[Unreachable]:
        """Attach to ranks one right after the other, and have them stand.

        Each runs on while the next one is attached to: should that one enter the kernel between look and attach,
        this gdb is deaf for as long as it stays there, and nothing else stands meanwhile. All of them are refused
        then; those that it has attached to can be asked as soon as it hears again.

        Returns:
            Those that could not be attached to, with the reason.
        """
        refused: list[Unreachable] = []
        asked: list[tuple[HeldRank, asyncio.Future[ResultRecord]]] = []
        unused = await self._inferiors(len(ranks))
        waiting = list(ranks)
        for look in range(_LOOKS):
            refused = []
            if look:
                # Each read from a disk is a wait in the kernel, too.
                await asyncio.sleep(_BETWEEN_LOOKS)
            for rank in waiting:
                if self.waits_for is not None:
                    refused.append(Unreachable(rank.rank, self.why_deaf))
                    continue
                # Look and attach are as close as they can be: what waits in the kernel would block them all.
                why = unfit(rank, glance=True)
                if why is not None:
                    refused.append(why)
                    continue
                if asked:
                    await self._run_on(asked[-1][0])
                    # That took a moment.
                    if (why := unfit(rank, glance=True)) is not None:
                        refused.append(why)
                        continue
                held = HeldRank(rank, unused.pop(0), was_stopped=_state(rank.pid) == "T")
                await self._attach_one(held, asked)
            away = {each.rank for each in refused}
            waiting = [rank for rank in waiting if rank.rank in away]
            if self.waits_for is not None or not any(_state(rank.pid) == "D" for rank in waiting):
                break
        if self.waits_for is not None:
            return refused + [Unreachable(held.rank.rank, self._why_late(held)) for held, _ in asked if held.live]
        for held, answer in asked:
            failed = answer.exception() if answer.done() and not answer.cancelled() else None
            if failed is not None:
                refused.append(self._refused(held, failed))
        await self.interrupt([held for held, _ in asked])
        for held, _ in asked:
            if held.hold is Hold.EXITED:
                refused.append(Unreachable(held.rank.rank, "it ended while it was attached to"))
        for group in unused:
            with contextlib.suppress(EngineError):
                self.submit(f"-remove-inferior {group}").add_done_callback(_seen)
        return refused

    async def _attach_one(self, held: HeldRank, asked: list[tuple[HeldRank, asyncio.Future[ResultRecord]]]) -> None:
        self.reader.ranks[held.group] = held
        rank = held.rank
        if not held.was_stopped:
            self._watch.hold(rank.pid, rank.started or start_of(rank.pid) or 0)
        answer = self.submit(f"-target-attach --thread-group {held.group} {rank.pid}", deadline=None)
        asked.append((held, answer))
        await asyncio.wait({answer}, timeout=ATTACH_PATIENCE)
        if not answer.done():
            # It holds others: it is waited for, not ended.
            self.waits_for = held
            text = f"rank {rank.rank} does not stop: {self._why_late(held)}; its gdb hears nothing until then"
            others = fold(one.rank.rank for one in self.held if one is not held)
            more = f"; ranks {others} of it run, but stand where they come to a breakpoint" if others else ""
            self._notice(rank, text + more)
            answer.add_done_callback(lambda late: self._heard(held, late))

    def _why_late(self, held: HeldRank) -> str:
        if held is not self.waits_for:
            return self.why_deaf
        found = kernel_wait(held.rank.pid)
        return found.cause if found is not None else "it has not stopped yet"

    def _heard(self, held: HeldRank, answer: asyncio.Future[ResultRecord]) -> None:
        """An attach has been answered at last."""
        self.waits_for = None
        failed = answer.exception() if not answer.cancelled() else None
        if failed is not None or not self.alive:
            if failed is not None:
                self._refused(held, failed)
            return
        self._notice(held.rank, f"rank {held.rank.rank} has stopped at last: its gdb hears again")
        task = asyncio.get_running_loop().create_task(self._go_on_late(held))
        self._late.add(task)
        task.add_done_callback(self._late.discard)

    async def _go_on_late(self, held: HeldRank) -> None:
        with contextlib.suppress(LadderError):
            await self._run_on(held)

    def _notice(self, rank: Rank, text: str) -> None:
        self._tell(RankEvent(RankEventKind.NOTICE, rank.rank, time.monotonic(), text))

    async def _run_on(self, held: HeldRank) -> None:
        """Have one that was just attached to run again; what was stopped before stays so."""
        await self.standing([held])
        if held.live and held.stands and held.current is None and not held.was_stopped:
            await self.go_on([held])

    async def _inferiors(self, count: int) -> list[str]:
        """Inferiors that hold nothing: made before anything stands."""
        answers = await asyncio.gather(*(self.command("-add-inferior") for _ in range(count)))
        return [group for answer in answers if isinstance(group := answer.results.get("inferior"), str)]

    def _refused(self, held: HeldRank, failed: BaseException) -> Unreachable:
        held.hold = Hold.LOST
        self._watch.let_go(held.rank.pid)
        wake(held.rank.pid, held.rank.started)
        why = unfit(held.rank)
        if why is not None:
            return why
        words = failed.what if isinstance(failed, LadderError) else str(failed)
        return Unreachable(held.rank.rank, clean_line(words).rstrip("."))

    async def standing(self, ranks: Iterable[HeldRank], deadline: float = STOP_DEADLINE) -> list[HeldRank]:
        """Wait until all threads of ranks stand; returns those that do not in time."""
        waiting = list(ranks)
        end = time.monotonic() + deadline
        while True:
            waiting = [held for held in waiting if held.live and not held.stands]
            left = end - time.monotonic()
            if not waiting or left <= 0 or not self.alive:
                return waiting
            self._moved.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._moved.wait(), min(left, 0.5))

    async def interrupt(self, ranks: Iterable[HeldRank]) -> list[HeldRank]:
        """Have ranks stand; returns those that do not in time."""
        asked = [held for held in ranks if held.live and not held.stands]
        await self._each(f"-exec-interrupt --thread-group {held.group}" for held in asked)
        return await self.standing(asked)

    async def go_on(self, ranks: Iterable[HeldRank]) -> None:
        """Have all threads of ranks run."""
        asked = [held for held in ranks if held.live and any(held.threads.values())]
        for held in asked:
            self.reader.goes_on(held, held.threads)
        await self._each(f"-exec-continue --thread-group {held.group}" for held in asked)

    async def go_on_threads(self, held: HeldRank, threads: Iterable[int]) -> None:
        """Have single threads of a rank run."""
        asked = [thread for thread in threads if held.threads.get(thread)]
        self.reader.goes_on(held, asked)
        await self._each(f"-exec-continue --thread {thread}" for thread in asked)

    async def release(self, ranks: Iterable[HeldRank]) -> None:
        """Let ranks go: they stand for a moment, so that no stop of theirs is under way, and run on."""
        asked = [held for held in ranks if held.live]
        for held in asked:
            # From here on nobody has it go on: a gdb that is told to while it lets go hangs.
            held.hold = Hold.LEAVING
        await self.interrupt(asked)
        asked = [held for held in asked if held.live]
        await self._each(f"-target-detach {held.group}" for held in asked)
        for held in asked:
            if held.live:
                await self._see_off(held)
                self.reader.released(held)
        await self._each(f"-remove-inferior {held.group}" for held in asked)

    async def _see_off(self, held: HeldRank) -> None:
        """Look whether a rank that was let go runs; wake it where it does not."""
        if not held.was_stopped:
            for _ in range(2):
                if wake(held.rank.pid, held.rank.started):
                    break
                await asyncio.sleep(0.005)
        self._watch.let_go(held.rank.pid)

    async def _each(self, commands: Iterable[str]) -> None:
        """Commands sent together; refusals of single ones are passed over, as for a rank that has just ended."""
        asked = [self.submit(text) for text in commands]
        for answer in await asyncio.gather(*asked, return_exceptions=True):
            if isinstance(answer, BaseException) and not isinstance(answer, CommandFailed):
                raise answer


def _state(pid: int) -> str:
    return ProcFiles().status(pid).get("State", "")[:1]


def _seen(answer: asyncio.Future[ResultRecord]) -> None:
    if not answer.cancelled():
        answer.exception()
