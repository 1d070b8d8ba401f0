"""The ranks rung on the screen: which job, who waits for whom, what each step costs, and the way to a rank."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.debugger.target import AttachTarget
from ladder_backends.errors import LadderError
from ladder_backends.model.ranks import Evidence, Job, Mesh, RankFrame, RankStack, Unreachable
from ladder_backends.session import rank_desk
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.rank_steps import Printed
from ladder_backends.session.state import Change
from ladder_tui.panes.ranks_pane import RanksPane

from .ranks_double import Looks, hang, job

Opened = Callable[..., AbstractAsyncContextManager[Any]]


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def ranks(show: Any, monkeypatch: pytest.MonkeyPatch) -> Opened:
    """The application on the ranks rung, over jobs that nobody runs."""

    @asynccontextmanager
    async def opened(
        *jobs: Job, size: tuple[int, int] = (80, 24), give: Callable[[Job], Evidence] = hang, **more: Any
    ) -> AsyncIterator[Any]:
        looks = Looks(jobs or (job(),), give)
        monkeypatch.setattr(rank_desk, "_find_jobs", lambda: looks.jobs)
        monkeypatch.setattr("ladder_backends.ranks.looking.look_at", looks.look)
        monkeypatch.setattr("ladder_backends.ranks.native_stacks.find_eu_stack", lambda: "/usr/bin/eu-stack")
        monkeypatch.setattr("ladder_backends.ranks.native_stacks.PREDICTED", 0.15)
        monkeypatch.setattr(rank_desk, "BETWEEN", 0.0)
        monkeypatch.setattr("ladder_backends.ranks.engine.stop_budget._of_process", lambda pid, proc: [])
        ladder = Ladder()
        try:
            async with show(ladder, size, **more) as view:
                await view.press("5")
                await view.settle()
                view.looks = looks
                yield view
        finally:
            await ladder.close()

    return opened


def pane_of(view: Any) -> RanksPane:
    pane = view.app.workspace.panes["ranks"]
    assert isinstance(pane, RanksPane)
    return pane


async def test_a_hang_is_seen_before_anything_is_stopped(ranks: Opened) -> None:
    async with ranks() as view:
        text = view.text()
        assert "found 8 of 8 on 1 node · nothing stopped yet" in text
        assert "evidence  proc · recorder · py-spy · 2 looks" in text
        assert "├─ ✗ loader.py:41 next_batch" in text
        assert "└─ c10d all_reduce   waits in all_reduce #4 (bfloat16 16)" in text
        assert "0-2,4-7" in text
        assert "✗ Rank 3 has not joined all_reduce #4 (7 wait, 41 s). It reads a file at" in text
        assert "2 looks · confidence high" in text
        assert "Now:  ladder-tui attach 4003" in text
        assert "Stop budget  9 min 19 s (time-out of all_reduce 4" in text
        # Python frames only: nothing that needs a stop was asked.
        assert set(view.looks.asked) == {"python"}


async def test_each_key_says_its_pause_before_and_after(ranks: Opened) -> None:
    async with ranks() as view:
        text = view.text()
        assert "t  native stacks  each thread stands for 0.15 s at most" in text
        assert "p  print an expression over ranks  they stand for about" in text
        assert "d  debugger on rank 3  it stands for as long as it is looked at" in text
        await view.press("t")
        text = view.text()
        assert "did for 0.02 s" in text
        assert "held 1×, 0.02 s at most" in text
        assert "nothing stopped yet" not in text
        assert view.looks.asked[-1] == "native"
        # What the same key costs from now on is told, too.
        assert "v  look again, native stacks too  each thread stands for" in text


async def test_without_eu_stack_gdb_reads_native_stacks(ranks: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    async with ranks() as view:
        monkeypatch.setattr("ladder_backends.ranks.native_stacks.find_eu_stack", lambda: None)
        await view.press("t")
        await view.press("T")
        assert view.looks.asked[-2:] == ["gdb", "gdb"]
        assert "look again, stacks by gdb too  all stand for about" in view.text()


async def test_several_jobs_are_chosen_from(ranks: Opened) -> None:
    other = replace(job(4, "pmix:7-1", missing=[2]), title="mpirun ./solver · 4 ranks")
    async with ranks(job(), other) as view:
        text = view.text()
        assert "jobs of this host" in text
        assert "8 of 8 ranks" in next(line for line in text.splitlines() if "torchrun train.py · 8 ranks" in line)
        assert "3 of 4 ranks" in next(line for line in text.splitlines() if "mpirun ./solver · 4 ranks" in line)
        assert view.looks.asked == []
        await view.press("down", "down", "enter")
        await view.settle()
        assert "found 3 of 4" in view.text()
        assert "Rank 2 has died" in view.text()
        await view.press("escape")
        await view.settle()
        assert "jobs of this host" in view.text()


async def test_no_job_is_a_state_with_instructions(ranks: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    async with ranks() as view:
        view.looks.jobs = ()
        await view.press("escape")
        await view.settle()
        assert "no parallel job runs on this host that you may look into" in view.text()
        view.looks.jobs = (job(2),)
        await view.press("v")
        await view.settle()
        assert "found 2 of 2" in view.text()


async def test_a_row_leads_to_its_ranks_and_their_stack(ranks: Opened) -> None:
    async with ranks() as view:
        await view.press("end", "enter")
        text = view.text()
        assert "▸ ranks 0-2,4-7" in text
        assert "rank 0     pid 4000" in text
        assert "waits in all_reduce #4 (bfloat16 16)" in text
        assert "rank 3 " not in "\n".join(text.splitlines()[:10])
        assert "same place" in text
        await view.press("z", "end")
        assert "train.py:240 <module>" in view.text()
        await view.press("z", "escape")
        assert pane_of(view).cursor == 2


async def test_the_representative_gets_a_debugger(ranks: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    async with ranks() as view:
        opened: list[object] = []

        async def open_target(target: object, **more: object) -> None:
            opened.append(target)

        monkeypatch.setattr(view.app.ladder, "open_target", open_target)
        monkeypatch.setattr("ladder_backends.ranks.triage.is_same_process", lambda rank, proc=None: True)
        await view.press("down", "d")
        assert opened == [AttachTarget(4003)]
        # From the verdict, too.
        await view.press("w", "i", "d")
        assert opened == [AttachTarget(4003)] * 2


async def test_a_rank_that_the_debugger_holds_is_told(ranks: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    async with ranks() as view:
        monkeypatch.setattr(view.app.ladder.ranks, "held", lambda: (3,))
        view.app.ladder.tell(Change.RANKS)
        await view.settle()
        assert "rank 3 held by the debugger now" in view.text()


async def test_a_rank_that_has_gone_is_one_line(ranks: Opened) -> None:
    async with ranks() as view:
        # No process of that number and start is there.
        await view.press("down", "d")
        assert "rank 3 has no live process any more" in view.text()


async def test_an_expression_over_ranks(ranks: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, tuple[int, ...]]] = []

    async with ranks() as view:

        async def ask(expression: str, of: tuple[int, ...]) -> None:
            asked.append((expression, of))
            view.app.ladder.state.ranks.printed = Printed(
                expression, 8, (("0-2,4-7", 7, "17"), ("3", 1, "16")), (), 0.3
            )
            view.app.ladder.tell(Change.RANKS)

        monkeypatch.setattr(view.app.ladder.ranks, "ask", ask)
        await view.press("p")
        assert "they stand for about" in view.text()
        await view.burst("step")
        await view.press("enter")
        assert asked == [("step", tuple(range(8)))]
        text = view.text()
        assert "step answered 8 of 8 · they stood for 0.30 s" in text
        assert "0-2,4-7  17" in text
        assert "3        16" in text


async def test_ranks_get_a_name(ranks: Opened) -> None:
    async with ranks() as view:
        await view.press("down", "equals_sign")
        await view.burst("late")
        await view.press("enter")
        assert view.app.ladder.state.ranks.sets == {"late": (3,)}
        assert "$late is 3" in view.text()
        desk = view.app.ladder.ranks
        assert desk.ranks_meant("$late", ()) == (3,)
        assert desk.ranks_meant("$a{0..1} + $late", ()) == (0, 1, 3)
        assert desk.ranks_meant("", (5,)) == (5,)
        with pytest.raises(LadderError, match="name"):
            desk.name("3", (3,))


async def test_whole_stacks_and_another_granularity(ranks: Opened) -> None:
    def give(of: Job) -> Evidence:
        told = hang(of)
        inner = (RankFrame("wait", "/src/engine.c", 9), RankFrame("spin", "/src/engine.c", 12))
        return replace(told, python=tuple(
            RankStack(one.rank, one.thread, one.name, (*one.frames, *inner)) for one in told.python
        ))  # fmt: skip

    async with ranks(give=give) as view:
        assert "engine.c" not in "\n".join(line for line in view.text().splitlines() if "all_reduce" in line)
        await view.press("i")
        assert "engine.c:12 spin" in view.text()
        await view.press("i", "m")
        assert "by function" in view.text()


async def test_ranks_are_told_by_the_axes_of_the_job(ranks: Opened) -> None:
    def give(of: Job) -> Evidence:
        told = hang(of)
        late = RankFrame("next_batch", "/src/loader.py", 41, language="python")
        return replace(told, python=tuple(
            replace(one, frames=(*one.frames[:2], late)) if one.rank in (2, 3, 6, 7) else one
            for one in hang(of, late=-1).python
        ))  # fmt: skip

    mesh = Mesh((("dp", 2), ("pp", 2), ("tp", 2)), "--mesh")
    async with ranks(replace(job(), mesh=mesh), give=give) as view:
        text = view.text()
        assert "all pp=1" in text
        assert "all pp=0" in text
        await view.press("down", "enter")
        assert "dp=0 pp=0 tp=0" in view.text()


async def test_who_does_not_answer_is_shown_with_the_reason(ranks: Opened) -> None:
    def give(of: Job) -> Evidence:
        told = hang(of)
        return replace(
            told,
            python=told.python[:6],
            collectives={rank: told.collectives[rank] for rank in range(6)},
            unreachable=(Unreachable(6, "is in state D", "wait"), Unreachable(7, "is in state D", "wait")),
        )

    async with ranks(give=give) as view:
        await view.press("z")
        text = view.text()
        assert "? is in state D → wait" in text
        assert "6-7" in text


async def test_facts_and_command_of_the_verdict(ranks: Opened) -> None:
    async with ranks(size=(120, 40)) as view:
        await view.press("w", "i", "i")
        text = view.text()
        assert "+ all_reduce #4 of the whole job was issued by ranks 0-2,4-7  [flight recorder]" in text
        await view.press("m")
        assert view.app.clipboard == "ladder-tui attach 4003"
        await view.press("i")
        assert "was issued by" not in view.text()


async def test_a_thousand_ranks_in_two_hundred_classes(ranks: Opened) -> None:
    def give(of: Job) -> Evidence:
        stacks = tuple(
            RankStack(
                rank.rank,
                rank.pid,
                "",
                tuple(RankFrame(f"f{level}_{rank.rank % 200}", "a.c", level) for level in range(25)),
            )
            for rank in of.ranks[:960]
        )
        away = tuple(Unreachable(rank, "no answer in 5 s") for rank in range(960, 1000))
        told = hang(of)
        return replace(told, python=stacks, collectives={}, unreachable=away)

    async with ranks(job(1000), give=give) as view:
        pane = pane_of(view)
        assert pane.row_count == 201
        assert "no answer in 5 s" in pane.row(200).text()
        await view.press("end")
        assert "960-999" in view.text()
        await view.press("pageup", "pageup", "home")
        assert pane.cursor == 0


async def test_hostile_names_stay_text(ranks: Opened) -> None:
    def give(of: Job) -> Evidence:
        told = hang(of)
        bad = RankFrame("[bold]x[/]", "/src/[red]e.py", 3, language="python")
        return replace(told, python=(RankStack(0, 4000, "", (bad,)),))

    async with ranks(give=give) as view:
        assert "[red]e.py:3 [bold]x[/]" in view.text()


async def test_a_look_that_fails_says_why(ranks: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    def give(of: Job) -> Evidence:
        raise LadderError("the ranks cannot be looked at", "no permission", "run it as their user")

    async with ranks(give=give) as view:
        assert "no permission" in view.text()


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (200, 60)])
async def test_every_size(ranks: Opened, size: tuple[int, int]) -> None:
    async with ranks(size=size) as view:
        for key in ("end", "enter", "escape", "i", "m", "w", "i", "i", "end", "w", "k"):
            await view.press(key)
        assert "Ranks" in view.text()


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
@pytest.mark.parametrize("name", ["hang", "ranks"])
async def test_how_it_looks(ranks: Opened, shots: Any, size: tuple[int, int], name: str) -> None:
    async with ranks(size=size) as view:
        if name == "ranks":
            await view.press("end", "enter")
        await shots.both(view.pilot, f"{name}-{size[0]}x{size[1]}")
