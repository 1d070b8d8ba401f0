"""The ranks rung: finds jobs, looks at one from the cheapest source up, and says what is wrong with it.

Nothing stops a rank unless a person asks for it: the first looks read what needs no stop. What does stop ranks says
before for how long, and afterwards for how long it did.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ladder_backends.debugger.target import AttachTarget
from ladder_backends.errors import LadderError
from ladder_backends.model.ranks import RankSource
from ladder_backends.model.stack_step import StackStep
from ladder_backends.session.state import Change, Run

if TYPE_CHECKING:
    from ladder_backends.model.ranks import Evidence, Job, Rank, RankFrame, Reading
    from ladder_backends.ranks.engine.rank_engine import RankEngine
    from ladder_backends.ranks.engine.stop_budget import Limit as TimeOut
    from ladder_backends.ranks.gdb_stacks import GdbStacks
    from ladder_backends.ranks.sets import SetBook
    from ladder_backends.ranks.stacks import StackTree
    from ladder_backends.session.debug_session import DebugSession
    from ladder_backends.session.ladder import Ladder
    from ladder_backends.session.rank_state import RankState
    from ladder_backends.session.rank_watch import RankWatch

BETWEEN = 1.0
"""Seconds between the two looks that tell a hang from a moment."""

MOST_LOOKS = 16
"""Looks that are kept, the first one of each kind among them."""

RUNG = "ranks"
_NAME = re.compile(r"[A-Za-z_]\w{0,31}")
_ASK = "ask"
_FIRST = StackStep.PYTHON
"""How far the first looks go."""


class RankDesk:
    """What is done on the ranks rung.

    Args:
        ladder: Whose rung it is.
    """

    def __init__(self, ladder: Ladder) -> None:
        self._ladder = ladder
        self._engine: RankEngine | None = None
        self._one_at_a_time = asyncio.Lock()
        self._measured: dict[str, float] = {}
        self._limits: tuple[TimeOut, ...] = ()
        self._step = _FIRST
        self._gdb: GdbStacks | None = None
        self._watch: RankWatch | None = None

    @property
    def state(self) -> RankState:
        """What panes see."""
        return self._ladder.state.ranks

    # Jobs ------------------------------------------------------------------------------------------------------

    async def open(self, job: Job | None = None) -> None:
        """Show the rung with a job; without one, the only one there is, or those to choose from.

        Raises:
            LadderError: They cannot be looked for, or the job not be looked at.
        """
        self._ladder.switch_rung(RUNG)
        if job is None:
            await self.find()
        else:
            self.state.jobs = self.state.jobs or (job,)
            await self.choose(job)

    async def find(self) -> None:
        """Look for jobs; where there is one only, look at it.

        Raises:
            LadderError: They cannot be looked for.
        """
        jobs = await self._find()
        if len(jobs) == 1 and self.state.job is None:
            await self.choose(jobs[0])

    async def _find(self) -> tuple[Job, ...]:
        state = self.state
        if state.finding:
            return ()
        state.finding, state.failure = True, ""
        self._tell()
        try:
            state.jobs = await asyncio.to_thread(_find_jobs)
        except LadderError as error:
            state.failure = error.line()
            raise
        finally:
            state.finding = False
            self._tell()
        return state.jobs

    async def choose(self, job: Job) -> None:
        """Look at a job, twice, with what stops nothing.

        Raises:
            LadderError: It cannot be looked at.
        """
        state = self.state
        await self._let_go()
        state.job, state.looks, state.tree, state.verdicts = job, [], None, ()
        state.sets, state.printed, state.stopped, state.longest, state.limits = {}, None, 0, 0.0, ()
        self._measured, self._step = {}, _FIRST
        self._price()
        self._tell()
        await self.look()
        if self.state.job is job:
            await self.look()

    async def leave(self) -> None:
        """Back to the jobs."""
        await self._let_go()
        state = self.state
        state.job, state.looks, state.tree, state.verdicts, state.printed = None, [], None, (), None
        self._tell()
        # The only job is not gone back to at once: whoever left it sees that it is the only one.
        await self._find()

    # Looking ---------------------------------------------------------------------------------------------------

    async def look(self, step: StackStep | None = None) -> None:
        """Take a look; the second one of a kind comes no sooner than `BETWEEN` after the first.

        Args:
            step: How far it goes for stacks; None for as far as the look before.

        Raises:
            LadderError: It cannot be taken.
        """
        from ladder_backends.ranks.looking import Look, look_at

        state = self.state
        job = state.job
        if job is None or state.busy:
            return
        before = state.looks[-1] if state.looks else None
        again = step in (None, self._step)
        self._step = step = step or self._step
        state.busy, state.failure = _words(step, len(job.ranks)), ""
        self._tell()
        try:
            if before is not None and again:
                await asyncio.sleep(max(0.0, BETWEEN - (time.time() - before.at)))
            evidence = await look_at(job, Look(stacks=step), gdb=self._stacks_by_gdb(job, step))
            if state.job is not job:
                return
            self._take(evidence)
            await asyncio.to_thread(self._judge)
            if self._watch is not None:
                self._watch.change(self._limits)
        except LadderError as error:
            state.failure = error.line()
            raise
        finally:
            state.busy = ""
            self._tell()

    def _stacks_by_gdb(self, job: Job, step: StackStep) -> GdbStacks | None:
        """What reads stacks by gdb, kept warm from one look to the next; None where that is not wished for."""
        if step is not StackStep.GDB:
            return None
        if self._gdb is None:
            from ladder_backends.ranks.gdb_stacks import GdbStacks

            self._gdb = GdbStacks(job, self.state.looks[-1].collectives if self.state.looks else None)
        return self._gdb

    async def look_deeper(self) -> None:
        """Take a look with native stacks: by eu-stack, or where there is none by gdb.

        Raises:
            LadderError: It cannot be taken.
        """
        from ladder_backends.ranks.native_stacks import find_eu_stack

        there = await asyncio.to_thread(find_eu_stack) is not None
        await self.look(StackStep.NATIVE if there else StackStep.GDB)

    def _take(self, evidence: Evidence) -> None:
        state = self.state
        state.looks.append(evidence)
        if len(state.looks) > MOST_LOOKS:
            del state.looks[1]
        for reading in evidence.readings:
            if reading.predicted or reading.measured:
                self._stood(str(reading.source), reading.measured)

    def _stood(self, source: str, seconds: float) -> None:
        """Note that ranks were made to stand."""
        self.state.stopped += 1
        self.state.longest = max(self.state.longest, seconds)
        self._measured[source] = seconds

    def _judge(self) -> None:
        """Merge the newest stacks, and say what all looks mean."""
        from ladder_backends.ranks.engine.stop_budget import limits_of
        from ladder_backends.ranks.verdict import courses, verdicts
        from ladder_backends.session.rank_steps import Limit

        state = self.state
        if not state.looks:
            return
        now = state.looks[-1]
        state.tree = self._tree(now)
        state.verdicts = verdicts(state.looks)
        state.courses = courses(state.looks)
        pids = [rank.pid for rank in now.job.ranks]
        ras = any(reading.source == RankSource.RAS and reading.answered for reading in now.readings)
        # A library that is there is not one that is used: without its RAS, NCCL watches over nobody by it.
        self._limits = tuple(
            one for one in limits_of(pids, now.collectives) if ras or not one.source.startswith("NCCL RAS")
        )
        state.limits = tuple(Limit(one.seconds, one.source) for one in self._limits)
        self._price()

    def _tree(self, now: Evidence) -> StackTree:
        from ladder_backends.ranks.stacks import Granularity, cut_frames, merge
        from ladder_backends.ranks.verdict import joined_stacks

        stacks = joined_stacks(now)
        heard = {stack.rank for stack in stacks}
        silent = {each.rank: each for each in now.unreachable}
        for reading in reversed(now.readings):
            if reading.source in (RankSource.PY_SPY, RankSource.EU_STACK, RankSource.GDB):
                for each in reading.silent:
                    silent.setdefault(each.rank, each)
        away = [each for rank, each in sorted(silent.items()) if rank not in heard]
        change = None if self.state.whole else cut_frames
        return merge(stacks, Granularity(self.state.granularity), away, change=change)

    def _price(self) -> None:
        """The pause ladder as it is priced now."""
        from ladder_backends.ranks.native_stacks import PREDICTED
        from ladder_backends.session.rank_steps import Step

        count = len(self.state.job.ranks) if self.state.job is not None else 0
        asks = 0.35 if self._engine is None else self._engine.predicted(max(1, count), fresh=True)
        stands = f"each thread stands for {PREDICTED:g} s at most"
        together = f"all stand for about {asks:.1f} s"
        again = {
            StackStep.NATIVE: ("look again, native stacks too", stands),
            StackStep.GDB: ("look again, stacks by gdb too", together),
        }.get(self._step, ("look again: flight recorder, RAS, Python frames", "stops nothing"))
        self.state.steps = (
            Step("ranks.again", *again),
            Step("ranks.stacks", "native stacks", stands, self._measured.get(RankSource.EU_STACK)),
            Step("ranks.gdb", "native stacks by gdb", together, self._measured.get(RankSource.GDB)),
            Step("ranks.print", "print an expression over ranks", f"they stand for about {asks:.1f} s",
                 self._measured.get(_ASK)),
            Step("ranks.debugger", "debugger on a rank", "it stands for as long as it is looked at", None),
        )  # fmt: skip

    # Looking otherwise -----------------------------------------------------------------------------------------

    def show_whole(self) -> None:
        """Show stacks whole, or cut where communication begins."""
        self.state.whole = not self.state.whole
        self._merge_again()

    def next_granularity(self) -> str:
        """Tell frames apart by function, by line, or by offset; returns by which."""
        ways = ("line", "function", "offset")
        self.state.granularity = ways[(ways.index(self.state.granularity) + 1) % len(ways)]
        self._merge_again()
        return self.state.granularity

    def _merge_again(self) -> None:
        if self.state.looks:
            self.state.tree = self._tree(self.state.looks[-1])
        self._tell()

    def name(self, name: str, ranks: Sequence[int]) -> str:
        """Give ranks a name, by which they can be asked; returns what was named.

        Raises:
            LadderError: It is no name.
        """
        name = name.strip().removeprefix("$")
        if _NAME.fullmatch(name) is None:
            raise LadderError(f"{name or 'nothing'} is no name for ranks", "", "use letters, digits and _: $late")
        self.state.sets[name] = tuple(sorted(set(ranks)))
        self._tell()
        return f"${name}"

    def ranks_meant(self, text: str, otherwise: Sequence[int]) -> tuple[int, ...]:
        """The ranks of a set as a person types it: `$late`, `0-3`, `$a{0..7}`; the others for an empty text.

        Raises:
            LadderError: It is no set, or one of other ranks; the message points at the column.
        """
        from ladder_backends.ranks.rank_list import unfold

        text = text.strip()
        if not text:
            return tuple(otherwise)
        return unfold(text) if text[:1].isdecimal() else tuple(self._book().find(text))

    def leading_set(self, text: str, otherwise: Sequence[int]) -> tuple[tuple[int, ...], str]:
        """The ranks of the set that a line begins with, `$late step`, and the rest; the others where it has none.

        Raises:
            LadderError: As for `ranks_meant`.
        """
        text = text.strip()
        if not text.startswith("$"):
            return tuple(otherwise), text
        found, rest = self._book().find_leading(text)
        return tuple(found), rest

    def _book(self) -> SetBook:
        """Sets of this job, `$a`, as it is known now: with those that were named, and the classes of the tree."""
        from ladder_backends.ranks.rank_list import fold
        from ladder_backends.ranks.sets import JobFacts, SetBook

        job = self.state.job
        book = SetBook([JobFacts.of(job)] if job is not None else ())
        for name, ranks in self.state.sets.items():
            book.define(name, "$a{" + fold(ranks).replace("-", "..") + "}")
        return book

    def whole_stack(self, rank: int) -> tuple[RankFrame, ...]:
        """The newest stack of a rank's main thread, not cut, outermost first; empty where none is known."""
        from ladder_backends.ranks.verdict import joined_stacks

        state = self.state
        if not state.looks or state.job is None:
            return ()
        found = state.job.rank(rank)
        stacks = [stack for stack in joined_stacks(state.looks[-1]) if stack.rank == rank]
        main = next((stack for stack in stacks if found is not None and stack.thread == found.pid), None)
        chosen = main or (stacks[0] if stacks else None)
        return chosen.frames if chosen is not None else ()

    # Acting ----------------------------------------------------------------------------------------------------

    async def debugger(self, rank: int) -> DebugSession:
        """Put a debugger on a rank: it stands then, with all of its panes; the job lives on when it is let go.

        Raises:
            LadderError: It is not there any more, or cannot be attached to.
        """
        from ladder_backends.ranks.triage import is_same_process

        found = self._rank(rank)
        if not await asyncio.to_thread(is_same_process, found):
            raise LadderError(
                f"rank {rank} has no live process any more", f"process {found.pid} has ended", "look again"
            )
        if self._engine is not None:
            await self._engine.release([rank])
        session = await self._ladder.open_target(AttachTarget(found.pid), on_host=RUNG)
        self.state.stopped += 1
        if session is not None:
            self._watching().add(session, rank, self._limits)
        return session

    def _watching(self) -> RankWatch:
        """Who lets ranks go on in time."""
        if self._watch is None:
            from ladder_backends.session.rank_watch import RankWatch

            self._watch = RankWatch(self._ladder, self._note_end)
        return self._watch

    def _note_end(self, at: float | None) -> None:
        if self.state.goes_on_at != at:
            self.state.goes_on_at = at
            self._tell()

    def hold(self) -> bool:
        """Have ranks in a debugger stand for as long as is wished, or go on in time; returns whether they stand."""
        return self._watching().hold()

    def held(self) -> tuple[int, ...]:
        """Ranks that stand in a debugger of this console now."""
        job = self.state.job
        by_pid = {rank.pid: rank.rank for rank in job.ranks} if job is not None else {}
        sessions = (one for one in self._ladder.every_session() if one.state.run is Run.STOPPED)
        pids = (one.target.pid for one in sessions if isinstance(one.target, AttachTarget))
        return tuple(sorted(by_pid[pid] for pid in pids if pid in by_pid))

    def _rank(self, number: int) -> Rank:
        job = self.state.job
        found = job.rank(number) if job is not None else None
        if found is None:
            missing = dict(job.missing) if job is not None else {}
            raise LadderError(f"rank {number} cannot be looked at", missing.get(number, "there is no such rank"))
        return found

    async def ask(self, expression: str, ranks: Sequence[int]) -> None:
        """Evaluate an expression on ranks at once; they stand for it, and go on at once.

        Raises:
            LadderError: They cannot be held, or would stand for longer than the job bears.
        """
        from ladder_backends.ranks.engine.printing import evaluate
        from ladder_backends.ranks.engine.rank_engine import RankEngine
        from ladder_backends.ranks.rank_list import fold
        from ladder_backends.session.rank_steps import Printed

        state, job = self.state, self.state.job
        expression = expression.strip()
        if job is None or not expression or not ranks:
            return
        state.busy, state.failure = f"asking {len(ranks)} ranks", ""
        self._tell()
        try:
            async with self._one_at_a_time:
                collectives = state.looks[-1].collectives if state.looks else None
                engine = self._engine = self._engine or RankEngine(job, collectives=collectives)
                away = await engine.attach(ranks)
                try:
                    reply = await evaluate(engine, ranks, expression)
                finally:
                    await engine.release()
            pause: Reading | None = engine.pauses[-1] if engine.pauses else None
            stood = max(reply.pause, pause.measured if pause is not None else 0.0)
            self._stood(_ASK, stood)
            silent: dict[str, list[int]] = {}
            for each in {one.rank: one for one in (*reply.unreachable, *away)}.values():
                silent.setdefault(each.reason, []).append(each.rank)
            state.printed = Printed(
                expression,
                len(set(ranks)),
                tuple((fold(one.ranks), len(one.ranks), one.said) for one in reply.classes),
                tuple((fold(some), why) for why, some in silent.items()),
                stood,
            )
            self._price()
        except LadderError as error:
            state.failure = error.line()
            raise
        finally:
            state.busy = ""
            self._tell()

    # Ending ----------------------------------------------------------------------------------------------------

    async def _let_go(self) -> None:
        engine, self._engine = self._engine, None
        stacks, self._gdb = self._gdb, None
        for one in (engine, stacks):
            if one is not None:
                await one.close()

    async def close(self) -> None:
        """Let all ranks go that are held for a question; those in a debugger are let go with it."""
        if self._watch is not None:
            self._watch.close()
        with contextlib.suppress(LadderError):
            await self._let_go()

    def _tell(self) -> None:
        self._ladder.tell(Change.RANKS)


def _find_jobs() -> tuple[Job, ...]:
    from ladder_backends.ranks.discovery import find_jobs

    return find_jobs()


def _words(step: StackStep, ranks: int) -> str:
    """What is done now, as a person waits for it."""
    what = {StackStep.NATIVE: "native stacks", StackStep.GDB: "stacks by gdb"}.get(step, "what needs no stop")
    return f"reading {what} of {ranks} rank" + ("" if ranks == 1 else "s")
