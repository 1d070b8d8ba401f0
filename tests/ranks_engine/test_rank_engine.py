"""Ranks of a real job under one warm gdb: stacks, values, breakpoints, steps; the job lives on."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
import re
import time
import tomllib
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ladder_backends.errors import CommandFailed, TargetInvalid
from ladder_backends.model.events import EngineNotice
from ladder_backends.model.ranks import Rank
from ladder_backends.processes.proc_files import ProcFiles
from ladder_backends.ranks.engine import (
    BudgetTooSmall,
    RankEngine,
    RankEvent,
    RankEventKind,
    node_gdb,
    read_stacks,
    snapshot,
)
from ladder_backends.ranks.engine.crash import core_of, crash_of
from ladder_backends.ranks.engine.fitness import EnginePlan, plan, start_of, unfit
from ladder_backends.ranks.engine.left_stopped import LastWatch
from ladder_backends.ranks.engine.node_gdb import NodeGdb
from ladder_backends.ranks.engine.printing import evaluate
from ladder_backends.ranks.engine.rank_debugger import RankDebugger, hand_over
from ladder_backends.ranks.engine.set_breakpoints import RankBreakpoints
from ladder_backends.ranks.engine.stepping import RankStep, step

ALL = range(4)


@contextlib.asynccontextmanager
async def opened(running: object, **options: object) -> AsyncIterator[tuple[RankEngine, list[RankEvent]]]:
    events: list[RankEvent] = []
    engine = RankEngine(running.job, listener=events.append, **options)  # type: ignore[attr-defined,arg-type]
    try:
        yield engine, events
    finally:
        await engine.close()


async def until(what: Callable[[], bool], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not come to pass"
        await asyncio.sleep(0.02)


def thread_states(running: object) -> set[str]:
    states = set()
    for pid in running.pids.values():  # type: ignore[attr-defined]
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):
                states.add(Path(f"/proc/{pid}/task/{task}/stat").read_text().rpartition(")")[2].split()[0])
    return states


def thread_ids(pid: int) -> set[int]:
    return {int(name) for name in os.listdir(f"/proc/{pid}/task")}


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


async def test_all_stacks_in_one_burst_and_all_ranks_go_on(steady) -> None:
    async with opened(steady) as (engine, _):
        assert await engine.warm() == ()
        found = await snapshot(engine)
        assert found.asked == (0, 1, 2, 3)
        assert not found.unreachable
        assert all(sum(stack.rank == rank for stack in found.stacks) >= 2 for rank in ALL)
        assert {stack.frames[0].function for stack in found.stacks if stack.thread == steady.pids[stack.rank]} >= {
            "main"
        }
        assert all(s.thread in thread_ids(steady.pids[s.rank]) for s in found.stacks)
        assert found.pause > 0
        assert [reading.predicted > 0 for reading in engine.pauses] == [True]
        # Nobody is held any more, and nobody was left stopped.
        assert engine.all_held == []
        assert thread_states(steady).isdisjoint("tT")
        again = await snapshot(engine, keep=True)
        assert len(again.stacks) == len(found.stacks)
        assert (await read_stacks(engine, ALL)).main.headline == "answered 4 of 4"
        await until(lambda: thread_states(steady).isdisjoint("tT"))
        assert len(engine.engines) == 1


async def test_values_are_grouped_and_silence_is_told(steady) -> None:
    async with opened(steady) as (engine, _):
        await engine.attach([0, 1, 2])
        await engine.go_on([0, 1, 2])
        tied = await evaluate(engine, range(5), "tied")
        assert [(each.ranks, each.said) for each in tied.classes] == [((0, 1, 2), "7")]
        assert tied.headline == "answered 3 of 5; rank 3: it is not held; rank 4: there is no such rank in this job"
        assert tied.pause > 0
        part = await evaluate(engine, [1], "part")
        assert part.of(1) == "{id = 1, weight = 0.5}"
        # A local of `main`, though every rank stands in the C library.
        assert (await evaluate(engine, [0], "shown > 0")).of(0) == "1"
        wrong = await evaluate(engine, [0, 1], "nosuch")
        assert wrong.answered == 0
        assert wrong.headline == 'answered 0 of 2; ranks 0-1: No symbol "nosuch" in current context'
        hostile = (await evaluate(engine, [1], "label")).of(1)
        assert hostile is not None
        assert "\x1b" not in hostile
        await engine.interrupt([0])
        assert (await evaluate(engine, [0], "rank")).pause == 0


async def test_a_breakpoint_stops_its_set_alone(steady) -> None:
    async with opened(steady) as (engine, events):
        await engine.attach(ALL)
        await engine.go_on(ALL)
        breakpoints = RankBreakpoints(engine)
        made = await breakpoints.set([1, 2], "work")
        assert made.places is not None
        assert made.places.answered == 2
        await until(lambda: engine.states["held"] == {1, 2})
        before = {rank: steady.beat(rank) for rank in ALL}
        await until(lambda: steady.beat(0) > before[0] + 3 and steady.beat(3) > before[3] + 3)
        assert {rank: steady.beat(rank) for rank in (1, 2)} == {rank: before[rank] for rank in (1, 2)}
        assert made.hits == {1: 1, 2: 1}
        assert {
            event.rank for event in events if event.kind is RankEventKind.STOPPED and event.text == "breakpoint"
        } == {1, 2}
        places = await step(engine, [1, 2], RankStep.NEXT)
        assert [each.said for each in places.classes] == ["work at steady_ranks.c:45"]
        places = await step(engine, ALL, RankStep.FINISH)
        assert places.headline == "answered 2 of 4; ranks 0,3: it runs"
        assert places.of(1) is not None
        assert places.of(1).startswith("main at ")  # type: ignore[union-attr]
        await engine.go_on([1, 2])
        await until(lambda: made.hits[1] > 1 and made.hits[2] > 1)
        await breakpoints.remove_all()
        await engine.go_on(ALL)
    assert steady.lives()


async def test_a_condition_and_a_place_that_is_not_there(steady) -> None:
    async with opened(steady) as (engine, _):
        await engine.attach(ALL)
        await engine.go_on(ALL)
        breakpoints = RankBreakpoints(engine)
        made = await breakpoints.set(ALL, "work", "rank == 2")
        await until(lambda: engine.states["held"] == {2})
        assert made.hits == {2: 1}
        nowhere = await breakpoints.set([0], "no_such_function")
        assert nowhere.places is not None
        assert nowhere.places.headline == "answered 0 of 1; rank 0: no_such_function is not known to it"
        with pytest.raises(CommandFailed):
            await breakpoints.set([0], "work", "rank ==")


async def test_ranks_that_were_interrupted_step_out_into_their_own_code(steady) -> None:
    async with opened(steady) as (engine, _):
        await engine.attach(ALL)
        places = await step(engine, ALL, RankStep.OWN_CODE)
        assert all(each.said.startswith("main at steady_ranks.c:") for each in places.classes), places
        # The other threads of a rank run on meanwhile.
        assert engine.states["held"] == {0, 1, 2, 3}
        assert (await read_stacks(engine, ALL)).main.answered == 4


async def test_closing_with_breakpoints_in_leaves_the_job_alive(steady) -> None:
    async with opened(steady) as (engine, _):
        await engine.attach(ALL)
        await engine.go_on(ALL)
        await RankBreakpoints(engine).set(ALL, "work")
        await until(lambda: len(engine.states["held"]) == 4)
    await until(lambda: thread_states(steady).isdisjoint("tT"))
    assert steady.lives()


async def test_a_rank_that_ends_before_the_attach_is_told_of(steady) -> None:
    steady.may_die = True
    job = steady.job
    gone = next(rank for rank in job.ranks if rank.rank == 2)
    async with opened(steady) as (engine, _):
        await engine.warm()
        engine.job = replace(
            job, ranks=tuple(replace(r, started=r.started + 1) if r is gone else r for r in job.ranks)
        )
        engine.engines[0].plan = replace(engine.engines[0].plan, ranks=engine.job.ranks)
        found = await snapshot(engine)
        assert found.main.headline == "answered 3 of 4; rank 2: it has ended"
    # A rank that is really gone, and takes its job along.
    steady.tell("exit", 1)
    await until(lambda: steady.process.poll() is not None)
    assert unfit(job.ranks[1]).reason == "it has ended"  # type: ignore[union-attr]


async def test_a_rank_in_the_kernel_is_left_alone_and_the_others_answer(steady) -> None:
    steady.tell("wait", 1)
    await until(lambda: state(steady.pids[1]) == "D")
    begun = time.monotonic()
    async with opened(steady) as (engine, _):
        found = await snapshot(engine)
        assert time.monotonic() - begun < 5
        assert found.main.answered == 3
        (away,) = found.unreachable
        assert away.rank == 1
        assert "state D" in away.reason
        # Once that is over, the rank is like any other.
        await until(lambda: state(steady.pids[1]) == "S", 20)
        assert (await snapshot(engine)).main.answered == 4


async def test_a_rank_that_is_traced_already_is_told_of(steady) -> None:
    async with opened(steady) as (first, _), opened(steady) as (second, _):
        await first.attach([3])
        found = await snapshot(second)
        assert found.main.answered == 3
        assert "traces it already" in found.unreachable[0].reason
        assert found.unreachable[0].rank == 3


async def test_a_rank_that_was_stopped_stays_so(steady) -> None:
    os.kill(steady.pids[0], 19)
    await until(lambda: state(steady.pids[0]) == "T")
    async with opened(steady) as (engine, _):
        assert (await snapshot(engine)).main.answered == 4
    await until(lambda: state(steady.pids[0]) == "T")
    os.kill(steady.pids[0], 18)


async def test_a_stop_that_would_outlast_the_job_is_refused(steady) -> None:
    async with opened(steady, hold_at_most=0.05) as (engine, _):
        with pytest.raises(BudgetTooSmall, match="as asked"):
            await engine.attach(ALL)
        assert engine.all_held == []
        assert thread_states(steady).isdisjoint("tT")


async def test_held_ranks_go_on_before_their_budget_is_over(steady) -> None:
    async with opened(steady, hold_at_most=2.0) as (engine, events):
        await engine.attach(ALL)
        left = engine.budget.left
        assert left is not None
        assert 0 < left <= 1.6
        await until(lambda: any(event.kind is RankEventKind.BUDGET for event in events), 5)
        await until(lambda: thread_states(steady).isdisjoint("tT"), 5)
        assert engine.states["running"] == {0, 1, 2, 3}
        assert engine.budget.left is None
        told = next(event.text for event in events if event.kind is RankEventKind.BUDGET)
        assert told == "ranks 0, 1, 2, 3 go on: as asked after 2 s"


async def test_a_crash_is_held_and_told_and_endings_are_in_order(steady) -> None:
    steady.may_die = True
    async with opened(steady) as (engine, events):
        await engine.attach(ALL)
        await engine.go_on(ALL)
        steady.tell("crash", 2)
        await until(lambda: engine.states["crashed"] == {2})
        crash = next(event for event in events if event.kind is RankEventKind.CRASHED)
        assert (crash.rank, crash.signal) == (2, "SIGSEGV")
        assert crash.frame is not None
        assert crash.frame.function == "act"
        assert engine.states["running"] == {0, 1, 3}
        # The others and the launcher know nothing yet: it stands where it crashed.
        assert steady.process.poll() is None
        assert (await evaluate(engine, [2], "rank")).of(2) == "2"
        assert (
            await step(engine, [2], RankStep.NEXT)
        ).headline == "answered 0 of 1; rank 2: it has crashed (SIGSEGV)"
        told = await crash_of(engine)
        assert told is not None
        assert told.stack[0].rank == 2
        assert "act" in [frame.function for frame in told.stack[0].frames]
        lines = list(told.lines())
        assert lines[0].startswith("rank 2: SIGSEGV (Segmentation fault) in act at steady_ranks.c:")
        assert lines[2] == "the others: 0-1,3 running"
        assert lines[-1] == "  +0.000 s  rank 2: SIGSEGV, held"
        await engine.go_on([2])
        # Open MPI's handler prints a stack, and the same fault ends the rank then.
        await until(lambda: engine.states["crashed"] == {2})
        await engine.go_on([2])
        await until(lambda: len([each for each in engine.endings if each.kind is RankEventKind.EXITED]) == 4)
        ends = [each for each in engine.endings if each.kind is RankEventKind.EXITED]
        assert ends[0].rank == 2
        assert ends[0].text == "ended by SIGSEGV"
        assert {each.rank for each in ends[1:]} == {0, 1, 3}
        # The launcher's own signal reached them.
        assert {each.text for each in ends[1:]} <= {"ended by SIGTERM", "ended by SIGKILL"}
        assert (await read_stacks(engine, [2])).main.headline.startswith(
            "answered 0 of 1; rank 2: it has ended (ended by"
        )
    await until(lambda: steady.process.poll() is not None)


async def test_a_rank_that_crashed_stays_when_the_others_go_on(steady) -> None:
    steady.may_die = True
    async with opened(steady, hold_at_most=3.0) as (engine, events):
        await engine.attach(ALL)
        await engine.go_on(ALL)
        steady.tell("crash", 2)
        await until(lambda: engine.states["crashed"] == {2})
        await engine.interrupt(ALL)
        await until(lambda: any(event.kind is RankEventKind.BUDGET for event in events), 6)
        await until(lambda: engine.states["held"] == {2}, 5)
        assert [event.text for event in events if event.kind is RankEventKind.BUDGET] == [
            "ranks 0, 1, 3 go on: as asked after 3 s"
        ]
        assert engine.budget.left is None
        assert engine.states["crashed"] == {2}


async def test_an_exit_status_is_told(steady) -> None:
    steady.may_die = True
    async with opened(steady) as (engine, _):
        await engine.attach([1])
        await engine.go_on([1])
        steady.tell("exit", 1)
        await until(lambda: bool(engine.endings))
        assert (engine.endings[0].rank, engine.endings[0].code, engine.endings[0].text) == (1, 3, "exit status 3")


async def test_a_gdb_that_is_killed_is_told_of_and_others_can_follow(steady) -> None:
    async with opened(steady) as (engine, events):
        await engine.attach(ALL)
        pid = engine.engines[0].pid
        assert pid is not None
        # Never done by the console; here it stands for whoever kills it.
        os.kill(pid, 9)
        await until(lambda: not engine.engines[0].alive)
        assert {event.rank for event in events if event.kind is RankEventKind.LOST} == {0, 1, 2, 3}
        await until(lambda: thread_states(steady).isdisjoint("tT"))
        assert (await evaluate(engine, [0], "rank")).headline == "answered 0 of 1; rank 0: its gdb is gone"
    assert steady.lives()


def test_ranks_of_other_programs_get_engines_of_their_own(steady) -> None:
    here = Rank(9, os.getpid(), "", start_of(os.getpid()) or 0, "/bin/python")
    plans = plan([*steady.job.ranks, here])
    assert [len(each.ranks) for each in plans] == [4, 1]
    assert plans[1].why.startswith("of another program, python")


def test_more_ranks_than_an_engine_holds_are_divided(steady) -> None:
    rank = steady.job.ranks[0]
    plans = plan([replace(rank, rank=number) for number in range(70)])
    assert [len(each.ranks) for each in plans] == [32, 32, 6]


def test_a_rank_of_another_host_is_not_looked_for_here(steady) -> None:
    found = unfit(replace(steady.job.ranks[0], host="n17"))
    assert found is not None
    assert found.reason == "it runs on n17, not here"


def test_a_core_is_found_by_its_pattern(tmp_path: Path) -> None:
    (tmp_path / "sys" / "kernel").mkdir(parents=True)
    pattern = tmp_path / "sys" / "kernel" / "core_pattern"
    rank = Rank(0, 4711, "", 1, f"{tmp_path}/solver")
    proc = ProcFiles(tmp_path)
    pattern.write_text("|/usr/lib/systemd/systemd-coredump %P\n")
    assert core_of(rank, proc) == (None, "the kernel hands cores to /usr/lib/systemd/systemd-coredump")
    pattern.write_text("core.%e.%p.%t\n")
    assert core_of(rank, proc)[0] is None
    (tmp_path / "core.solver.4711.99").touch()
    (tmp_path / "core.solver.4712.99").touch()
    assert core_of(rank, proc) == (tmp_path / "core.solver.4711.99", "")
    pattern.write_text("core\n")
    (tmp_path / "core").touch()
    assert core_of(rank, proc) == (tmp_path / "core", "")


async def test_a_rank_that_gets_stuck_just_before_its_attach_is_told_of_and_waited_for(steady, monkeypatch) -> None:
    """Between the look and the attach it enters the kernel: stood in for by a look that sees nothing."""
    steady.tell("wait", 1)
    await until(lambda: state(steady.pids[1]) == "D")
    monkeypatch.setattr(node_gdb, "unfit", lambda *_, **__: None)
    async with opened(steady) as (engine, events):
        engine._watch = LastWatch()
        made = NodeGdb(EnginePlan(steady.job.ranks), engine._tell, engine._watch)
        await made.start()
        engine.engines.append(made)
        made.on_change(engine._follow)
        await made.read_symbols()
        refused = await made.attach(steady.job.ranks)
        assert [each.rank for each in refused] == [2, 3, 0, 1]
        assert "state D" in refused[-1].reason
        assert {each.reason for each in refused[:-1]} == {"its gdb waits for rank 1 to stop"}
        (notice,) = [event for event in events if event.kind is RankEventKind.NOTICE]
        assert notice.rank == 1
        assert "state D" in notice.text
        assert "its gdb hears nothing until then; ranks 0 of it run, but stand where they come" in notice.text
        # Nobody else stands meanwhile, and questions are answered with the reason at once.
        before = [steady.beat(rank) for rank in (0, 2, 3)]
        await until(lambda: all(steady.beat(rank) > old for rank, old in zip((0, 2, 3), before, strict=True)))
        told = await read_stacks(engine, [0])
        assert told.main.headline == "answered 0 of 1; rank 0: its gdb waits for rank 1 to stop"
        assert [each.rank for each in await engine.go_on([0])] == [0]
        assert made.waits_for is not None
        # Once that is over, all of them are like any other.
        await until(lambda: made.hears, 20)
        await until(lambda: engine.states["held"] == set())
        assert [event.text for event in events if event.kind is RankEventKind.NOTICE][1:] == [
            "rank 1 has stopped at last: its gdb hears again"
        ]
        assert await engine.attach() == ()
        assert (await read_stacks(engine, ALL)).main.answered == 4


async def test_ranks_run_while_others_are_attached_to(steady, monkeypatch) -> None:
    held: list[frozenset[int]] = []
    async with opened(steady) as (engine, _):
        attach_one = NodeGdb._attach_one

        async def noted(self: NodeGdb, *given: object) -> None:
            held.append(engine.states["held"])
            await attach_one(self, *given)  # type: ignore[arg-type]

        monkeypatch.setattr(NodeGdb, "_attach_one", noted)
        assert await engine.attach() == ()
        assert held == [frozenset()] * 4
        assert engine.states["held"] == {0, 1, 2, 3}


async def test_ranks_in_mount_namespaces_of_their_own_get_engines_of_their_own(start_job) -> None:
    running = start_job("steady_ranks", 2, wrapper=("unshare", "-m"))
    async with opened(running) as (engine, _):
        found = await snapshot(engine)
        assert found.main.headline == "answered 2 of 2"
        assert [each.plan.why for each in engine.engines] == ["in another mount namespace"] * 2
        assert "main" in [frame.function for frame in found.main.classes[0].said]
        assert found.main.classes[0].said[0].line


async def test_a_rank_is_handed_over_to_a_session_of_its_own(steady) -> None:
    notices: list[str] = []
    async with opened(steady) as (engine, _):
        await engine.attach(ALL)
        await engine.go_on(ALL)
        target = await hand_over(engine, 2)
        assert target.pid == steady.pids[2]
        debugger = RankDebugger()
        debugger.listen(lambda event: notices.append(event.text) if isinstance(event, EngineNotice) else None)
        try:
            await debugger.open(target)
            said = re.compile(r"rank 2 of .* stands in a gdb of its own; the others are not held by it")
            assert any(said.fullmatch(text) for text in notices), notices
            assert (await debugger.evaluate("rank")).value == "2"
            assert engine.states["held"] == frozenset()
            assert (await evaluate(engine, ALL, "rank")).headline == "answered 3 of 4; rank 2: it was let go"
            before = steady.beat(0)
            await until(lambda: steady.beat(0) > before + 3)
        finally:
            await debugger.close()
        assert await engine.attach([2]) == ()
        with pytest.raises(TargetInvalid, match="no such rank"):
            await hand_over(engine, 9)


@pytest.mark.parametrize("after", [0.0, 0.02, 0.06, 0.15])
async def test_a_rank_that_dies_while_it_is_attached_to(steady, after: float) -> None:
    steady.may_die = True
    async with opened(steady) as (engine, _):
        await engine.warm()
        work = asyncio.ensure_future(snapshot(engine, keep=True))
        await asyncio.sleep(after)
        os.kill(steady.pids[3], 9)
        found = await asyncio.wait_for(work, 30)
        assert found.asked == (0, 1, 2, 3)
        assert found.main.answered + len(found.main.unreachable) == 4
        reasons = ("it has ended", "it ended while", "it was let go", "its gdb gave no stack")
        assert all(away.reason.startswith(reasons) for away in found.main.unreachable), found.main.headline
        # The launcher ends the others: nobody holds them back.
        await until(lambda: steady.process.poll() is not None, 30)


def test_the_debugger_of_ranks_is_registered() -> None:
    root = Path(__file__).parents[2]
    told = tomllib.loads((root / "pyproject.toml").read_text())["project"]["entry-points"]["ladder.debuggers"]
    module, _, name = told["ranks"].partition(":")
    assert getattr(importlib.import_module(module), name) is RankDebugger
    RankDebugger()
