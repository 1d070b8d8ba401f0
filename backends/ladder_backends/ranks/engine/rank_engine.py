"""All engines of a job on this node as one: attach, hold for a moment or for long, let go."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ladder_backends.errors import EngineError, LadderError
from ladder_backends.model.ranks import Collective, Job, Rank, RankSource, Reading, Unreachable
from ladder_backends.processes.proc_files import ProcFiles
from ladder_backends.ranks.engine.fitness import plan, unfit
from ladder_backends.ranks.engine.held_rank import HeldRank, Hold
from ladder_backends.ranks.engine.left_stopped import LastWatch
from ladder_backends.ranks.engine.node_gdb import NodeGdb
from ladder_backends.ranks.engine.rank_events import RankEvent, RankEventKind, RankListener
from ladder_backends.ranks.engine.stop_budget import Limit, StopBudget, limits_of

_LARGE = 64 << 20
"""Bytes of symbols from which on a rank takes longer to stop."""

_SMALL_PAUSE, _LARGE_PAUSE = 0.08, 0.35
_STANDING_PAUSE = 0.03
_SLOWEST = 4.0


class BudgetTooSmall(LadderError):
    """What was asked for would hold ranks longer than the job bears."""


@dataclass(slots=True)
class Standing:
    """Ranks that stand for a question.

    Attributes:
        ranks: Those that do, in ascending order of their numbers.
        unreachable: Those of the asked ones that do not, and why.
        pause: Seconds that the one held longest stood for the question; valid afterwards.
    """

    ranks: list[HeldRank]
    unreachable: list[Unreachable] = field(default_factory=list)
    pause: float = 0.0


class RankEngine:
    """Ranks of one job under debuggers.

    Symbols are read by `warm`, while the job runs. `attach` is refused where it would hold ranks beyond the stop
    budget. Whatever ends the console, its engines let go of the ranks, and a process of its own looks after that.

    Attributes:
        budget: How long ranks may be held.
        endings: Ranks that ended or crashed while they were held, in the order of time.
        pauses: What each attach and question cost, in order.
    """

    def __init__(
        self,
        job: Job,
        *,
        listener: RankListener = lambda _event: None,
        hold_at_most: float | None = None,
        collectives: Mapping[int, Sequence[Collective]] | None = None,
        proc: ProcFiles | None = None,
    ) -> None:
        self.job = job
        self._listener = listener
        self._proc = proc
        self._user_limit = hold_at_most
        self._collectives = collectives
        self.budget = StopBudget((), self._resume_in_time)
        self.engines: list[NodeGdb] = []
        self.endings: list[RankEvent] = []
        self.pauses: list[Reading] = []
        self._unfit: dict[int, Unreachable] = {}
        self._watch: LastWatch | None = None
        self._resuming: set[asyncio.Task[None]] = set()
        self._one_at_a_time = asyncio.Lock()
        self._slowness = 1.0

    # -- life

    async def warm(self, ranks: Iterable[int] | None = None) -> tuple[Unreachable, ...]:
        """Start engines and read symbols while the job runs; nothing is stopped.

        Args:
            ranks: Whom it is for; all where None.

        Returns:
            Ranks that cannot be held now, and why. They are looked at again by `attach`.

        Raises:
            EngineMissing: gdb is not installed.
        """
        wanted, away = self._named(ranks)
        known = {rank.rank for engine in self.engines for rank in engine.plan.ranks}
        new = [rank for rank in wanted if rank.rank not in known]
        reasons = await asyncio.gather(*(asyncio.to_thread(unfit, rank, self._proc) for rank in new))
        fit = [rank for rank, why in zip(new, reasons, strict=True) if why is None]
        refused = [why for why in reasons if why is not None]
        if self._watch is None:
            self._watch = LastWatch()
        made = [NodeGdb(each, self._tell, self._watch) for each in plan(fit, self._proc)]
        for engine in made:
            engine.on_change(self._follow)
            await engine.start()
            self.engines.append(engine)
        await asyncio.gather(*(engine.read_symbols() for engine in made))
        pids = [rank.pid for engine in self.engines for rank in engine.plan.ranks]
        limits = await asyncio.to_thread(limits_of, pids, self._collectives, self._user_limit, self._proc)
        self.budget.change(limits)
        return (*away, *refused)

    async def attach(self, ranks: Iterable[int] | None = None) -> tuple[Unreachable, ...]:
        """Attach to ranks and have them stand; those that are held already stand afterwards, too.

        Returns:
            Those that do not stand, and why.

        Raises:
            BudgetTooSmall: They would stand for longer than the job bears; nothing was touched.
        """
        unreachable = list(await self.warm(ranks))
        wanted, _ = self._named(ranks)
        started = time.monotonic()
        async with self._one_at_a_time:
            missing = [rank for rank in wanted if self.held(rank.rank) is None]
            predicted = self.predicted(len(missing), fresh=True)
            self._check_budget(predicted)
            work = []
            for engine in self.engines:
                mine = [rank for rank in missing if rank in engine.plan.ranks]
                # A gdb that a rank has died in, or that another node's rank waits for, is no reason not to ask it.
                if mine and engine.hears:
                    work.append(engine.attach(mine))
                elif mine and engine.alive:
                    unreachable.extend(Unreachable(rank.rank, engine.why_deaf) for rank in mine)
            for refused in await asyncio.gather(*work):
                unreachable.extend(refused)
            standing = [
                held for rank in wanted if (held := self.held(rank.rank)) is not None and self.engine_of(held).hears
            ]
            await self._interrupt(standing)
        answered = tuple(held.rank.rank for held in standing)
        told = {each.rank for each in unreachable}
        away = [rank.rank for rank in wanted if self.held(rank.rank) is None and rank.rank not in told]
        unreachable.extend(self._gone(number) for number in away)
        took = time.monotonic() - started
        if predicted:
            # A machine under load is slow the next time, too.
            self._slowness = max(1.0, min(_SLOWEST, self._slowness * self._longest(standing) / predicted))
        self.pauses.append(
            Reading(RankSource.GDB, answered, tuple(unreachable), predicted, self._longest(standing), took)
        )
        return tuple(unreachable)

    async def close(self) -> None:
        """Let all ranks go, end the engines."""
        self.budget.close()
        await asyncio.gather(*(engine.close() for engine in self.engines))
        for task in list(self._resuming):
            with contextlib.suppress(LadderError):
                await task
        # A gdb that does not end still holds ranks: they are looked after when it does.
        if self._watch is not None and not any(engine.alive for engine in self.engines):
            self._watch.end()
            self._watch = None

    # -- who is held

    def held(self, rank: int) -> HeldRank | None:
        """The hold on a rank that is traced now; None where it is not."""
        for engine in self.engines:
            found = engine.of(rank)
            if found is not None and found.live:
                return found
        return None

    def engine_of(self, held: HeldRank) -> NodeGdb:
        """The engine that holds a rank."""
        return next(engine for engine in self.engines if engine.reader.ranks.get(held.group) is held)

    @property
    def all_held(self) -> list[HeldRank]:
        """All ranks that are traced, in ascending order."""
        found = [held for engine in self.engines for held in engine.held]
        return sorted(found, key=lambda held: held.rank.rank)

    def last(self, rank: int) -> HeldRank | None:
        """The latest hold on a rank, though it may be over."""
        for engine in reversed(self.engines):
            found = engine.of(rank)
            if found is not None:
                return found
        return None

    @property
    def states(self) -> dict[str, frozenset[int]]:
        """Ranks by state, in the words of sets."""
        found: dict[str, set[int]] = {name: set() for name in ("running", "stopped", "held", "crashed", "exited")}
        for rank in self.job.ranks:
            held = self.last(rank.rank)
            if held is None or not held.live:
                state = "exited" if held is not None and held.hold is Hold.EXITED else "running"
                found[state].add(rank.rank)
                continue
            if held.since is not None:
                found["held"].add(rank.rank)
            found["running" if held.hold in (Hold.RUNNING, Hold.ATTACHING) else "stopped"].add(rank.rank)
            if held.hold is Hold.CRASHED:
                found["crashed"].add(rank.rank)
        return {name: frozenset(ranks) for name, ranks in found.items()}

    # -- holding

    def predicted(self, ranks: int, *, fresh: bool) -> float:
        """Seconds that ranks are expected to stand: for an attach, or for a question to ranks that are held."""
        if not ranks:
            return 0.0
        if not fresh:
            return _STANDING_PAUSE + 0.002 * ranks
        large = any(engine.symbol_bytes > _LARGE for engine in self.engines)
        first = _LARGE_PAUSE if large else _SMALL_PAUSE
        # They run while others are attached to: what grows is the burst at the end.
        return first * (1 + 0.15 * (ranks - 1)) * self._slowness

    @contextlib.asynccontextmanager
    async def standing(self, ranks: Iterable[int]) -> AsyncIterator[Standing]:
        """Have held ranks stand for a question; those that ran go on afterwards, as far as they still can.

        Ranks that are not held are unreachable; `attach` is for those.
        """
        wanted = sorted(set(ranks))
        async with self._one_at_a_time:
            found = Standing([])
            for number in wanted:
                held = self.held(number)
                if held is not None and self.engine_of(held).hears:
                    found.ranks.append(held)
                else:
                    found.unreachable.append(self._gone(number))
            ran = {held.group: held.running_threads for held in found.ranks if not held.stands}
            whole = {held.group for held in found.ranks if held.since is None}
            begun = time.monotonic()
            late = await self._interrupt(found.ranks)
            for held in late:
                found.ranks.remove(held)
                why = "its threads did not stop in time" if held.live else self._gone(held.rank.rank).reason
                found.unreachable.append(Unreachable(held.rank.rank, why))
            found.ranks = [held for held in found.ranks if held.live]
            try:
                yield found
            finally:
                back = [held for held in (*found.ranks, *late) if held.group in ran and held.live]
                await self._go_back(back, ran, whole)
                found.pause = time.monotonic() - begun if back else 0.0

    async def interrupt(self, ranks: Iterable[int]) -> tuple[Unreachable, ...]:
        """Have ranks stand until they are told to go on, or the budget is over; returns those that do not."""
        wanted = sorted(set(ranks))
        async with self._one_at_a_time:
            held = [found for number in wanted if (found := self.held(number)) is not None]
            late = await self._interrupt(held)
        slow = [Unreachable(each.rank.rank, "its threads did not stop in time") for each in late if each.live]
        return (*self._away(wanted), *slow)

    async def go_on(self, ranks: Iterable[int]) -> tuple[Unreachable, ...]:
        """Have ranks run; returns those that are not held."""
        wanted = sorted(set(ranks))
        held = [found for number in wanted if (found := self.held(number)) is not None]
        await self._by_engine(held, NodeGdb.go_on)
        return tuple(self._away(wanted))

    async def release(self, ranks: Iterable[int] | None = None) -> None:
        """Let ranks go; they run on by themselves. All where None."""
        held = self.all_held
        if ranks is not None:
            wanted = set(ranks)
            held = [each for each in held if each.rank.rank in wanted]
        async with self._one_at_a_time:
            await self._by_engine(held, NodeGdb.release)

    async def _interrupt(self, ranks: Sequence[HeldRank]) -> list[HeldRank]:
        late: list[HeldRank] = []

        async def one(engine: NodeGdb, mine: Sequence[HeldRank]) -> None:
            late.extend(await engine.interrupt(mine))

        await self._by_engine(ranks, one)
        return late

    async def _go_back(self, ranks: Sequence[HeldRank], ran: Mapping[str, list[int]], whole: set[str]) -> None:
        async def one(engine: NodeGdb, mine: Sequence[HeldRank]) -> None:
            # One that crashed, or came to a breakpoint, while it was asked stays there.
            mine = [held for held in mine if held.current is None or held.group not in whole]
            await engine.go_on([held for held in mine if held.group in whole])
            for held in mine:
                if held.group not in whole:
                    await engine.go_on_threads(held, ran[held.group])

        with contextlib.suppress(EngineError):
            await self._by_engine(ranks, one)

    async def _by_engine(self, ranks: Sequence[HeldRank], act: object) -> None:
        work = []
        for engine in self.engines:
            mine = [held for held in ranks if engine.reader.ranks.get(held.group) is held]
            if mine and engine.hears:
                work.append(act(engine, mine))  # type: ignore[operator]
        await asyncio.gather(*work)

    def _named(self, ranks: Iterable[int] | None) -> tuple[list[Rank], list[Unreachable]]:
        if ranks is None:
            return list(self.job.ranks), [Unreachable(rank, why) for rank, why in self.job.missing]
        missing = dict(self.job.missing)
        found: list[Rank] = []
        away: list[Unreachable] = []
        for number in sorted(set(ranks)):
            rank = self.job.rank(number)
            if rank is not None:
                found.append(rank)
            else:
                away.append(Unreachable(number, missing.get(number, "there is no such rank in this job")))
        return found, away

    def _away(self, ranks: Iterable[int]) -> list[Unreachable]:
        """Those of some ranks that cannot be told anything now."""
        held = {rank: self.held(rank) for rank in ranks}
        return [self._gone(rank) for rank, one in held.items() if one is None or not self.engine_of(one).hears]

    def no_stack(self, rank: int) -> Unreachable:
        """Why a rank that was asked for its stacks gave none."""
        held = self.last(rank)
        if held is not None and held.live and self.engine_of(held).hears:
            return Unreachable(rank, "its gdb gave no stack")
        return self._gone(rank)

    def _gone(self, rank: int) -> Unreachable:
        held = self.last(rank)
        if held is not None and held.live:
            return Unreachable(rank, self.engine_of(held).why_deaf or "its gdb is gone", "ask again later")
        if held is not None and held.hold is Hold.EXITED:
            ending = next((event for event in reversed(self.endings) if event.rank == rank), None)
            return Unreachable(rank, f"it has ended ({ending.text})" if ending is not None else "it has ended")
        if held is not None and held.hold is Hold.LOST:
            return Unreachable(rank, "its gdb is gone", "attach again")
        if held is not None and held.hold is Hold.RELEASED:
            return Unreachable(rank, "it was let go", "attach again")
        found = self.job.rank(rank)
        if found is None:
            return self._named([rank])[1][0]
        return unfit(found, self._proc, glance=True) or Unreachable(rank, "it is not held", "attach to it first")

    def _check_budget(self, predicted: float) -> None:
        limit, allowed = self.budget.limit, self.budget.allowed
        if limit is not None and allowed is not None and predicted > allowed:
            raise BudgetTooSmall(
                f"ranks would stand for about {predicted:.1f} s",
                f"no more than {allowed:.1f} s are safe: {limit.source} after {limit.seconds:g} s",
                "ask fewer ranks, or look at what needs no stop",
            )

    def _longest(self, ranks: Sequence[HeldRank]) -> float:
        now = time.monotonic()
        return max((now - held.since if held.since is not None else held.pause for held in ranks), default=0.0)

    def _follow(self) -> None:
        since = [held.since for held in self._counted() if held.since is not None]
        self.budget.follow(min(since, default=None))

    def _counted(self) -> list[HeldRank]:
        """Ranks that may go on in time: one that has crashed would only end, and what it tells with it."""
        return [held for held in self.all_held if held.since is not None and held.hold is Hold.STOPPED]

    def _resume_in_time(self, limit: Limit) -> None:
        held = self._counted()
        names = ", ".join(str(each.rank.rank) for each in held)
        text = f"ranks {names} go on: {limit.source} after {limit.seconds:g} s"
        self._tell(RankEvent(RankEventKind.BUDGET, None, time.monotonic(), text))
        task = asyncio.get_running_loop().create_task(self._by_engine(held, NodeGdb.go_on))
        self._resuming.add(task)
        task.add_done_callback(self._resuming.discard)

    def _tell(self, event: RankEvent) -> None:
        if event.kind in (RankEventKind.EXITED, RankEventKind.CRASHED):
            self.endings.append(event)
        self._listener(event)
