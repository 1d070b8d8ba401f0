"""The table: for every row one evidence that produces it, and a near miss that must not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from ladder_backends.model.ranks import Evidence, RankSource, Reading, Unreachable
from ladder_backends.ranks.verdict import judge, verdicts
from ladder_backends.ranks.verdict.rows import BY_ID, DOING, ROWS

from .machine_made import active, call, done, job, look, native, quiet, ras, script, twice

Looks = list[Evidence]

TP, DP = {"group": "1 (tp)", "group_ranks": (0, 1)}, {"group": "2 (dp)", "group_ranks": (0, 2)}


def recorded(size: int, **of: tuple[object, ...]) -> dict[int, tuple[object, ...]]:
    """Three collectives that all have done, and what each rank issued then: `r3=(...)`, `rest=(...)`."""
    return {rank: (*done(3), *of.get(f"r{rank}", of.get("rest", ()))) for rank in range(size)}


def hang(size: int, **of: tuple[object, ...]) -> Looks:
    return twice(look(size, collectives=recorded(size, **of)))


def mpi(size: int, op: str = "PMPI_Allreduce", **of: str) -> tuple[object, ...]:
    return tuple(native(rank, *of.get(f"r{rank}", f"step {op} opal_progress").split()) for rank in range(size))


def p2p(op: str, seq: int = 1, state: str = "started") -> object:
    return call(seq, op, point_to_point=True, state=state)


WAITING = (call(4),)

GIVES: dict[str, Callable[[], Looks]] = {
    "dead": lambda: [look(4, missing={2: "no live process"}, collectives=recorded(2))],
    "stopped": lambda: [look(3, activity=(active(0), active(1, "t", tracer=812), active(2)))],
    "kernel": lambda: twice(look(3, activity=(active(0), active(1, "D", wchan="nfs_wait"), active(2)))),
    "wrong-op": lambda: hang(4, r3=(call(4, "all_gather"),), rest=WAITING),
    "split-op": lambda: hang(2, r1=(call(4, "all_gather"),), rest=WAITING),
    "size": lambda: hang(4, r2=(call(4, sizes=((32,),), output_sizes=((32,),)),), rest=WAITING),
    "dtype": lambda: hang(4, r2=(call(4, dtype="double"),), rest=WAITING),
    "crossed": lambda: twice(look(2, collectives={
        0: (call(1, group="1 (a)", group_ranks=(0, 1)),), 1: (call(1, group="2 (b)", group_ranks=(0, 1)),),
    })),
    "missing": lambda: hang(4, r1=(), rest=WAITING),
    "alone": lambda: hang(4, r0=WAITING, rest=()),
    "never": lambda: twice(look(3, collectives={
        0: (call(1, **TP),), 1: done(1, group="9", group_ranks=(1, 2)), 2: done(1, group="9", group_ranks=(1, 2)),
    })),
    "p2p": lambda: hang(3, r0=(p2p("recv 0<-1"),), rest=()),
    "no-evidence": lambda: twice(
        look(4, collectives={rank: (*done(3), *WAITING) for rank in range(3)}, unreachable=quiet([3]))
    ),
    "stacks-missing": lambda: twice(look(8, native=mpi(8, r3="compute"))),
    "stacks-wrong-op": lambda: twice(look(8, native=mpi(8, r3="step PMPI_Barrier opal_progress"))),
    "stacks-split": lambda: twice(look(2, native=mpi(2, r1="step PMPI_Barrier"))),
    "stacks-receive": lambda: twice(look(4, native=mpi(4, r2="step PMPI_Recv"))),
    "stacks-outside": lambda: twice(look(4, native=mpi(4, r2="step PMPI_Barrier", r3="compute"))),
    "stacks-messages": lambda: twice(look(4, native=mpi(4, op="PMPI_Ssend"))),
    "call-site": lambda: twice(look(4, native=(*mpi(3), native(3, "step", "PMPI_Allreduce", line=29)))),
    "ras-behind": lambda: [look(3, ras=(ras(0, 9), ras(1, 8), ras(2, 9)))],
    "ras-silent": lambda: [look(2, ras=(ras(0, 9), ras(1, 0, state="MISSING")))],
    "same": lambda: hang(4, rest=WAITING),
    "moving": lambda: [
        look(4, collectives=recorded(4, rest=WAITING)),
        look(4, 1_005.0, collectives=recorded(4, rest=(call(4, state="completed"), call(5)))),
    ],
    "together": lambda: [look(4, native=mpi(4))],
    "nothing": lambda: [look(4)],
}  # fmt: skip

NEAR: dict[str, Callable[[], Looks]] = {
    # All have ended: that is the end of a job, and no rank died before others.
    "dead": lambda: [look(2, missing={0: "ended", 1: "ended"})],
    # A moment of a job that a person has just stopped and let go.
    "stopped": lambda: twice(look(2, activity=(active(0), active(1, "T"))), activity=(active(0), active(1))),
    # Every write to a disk is a short D.
    "kernel": lambda: twice(look(2, activity=(active(0), active(1, "D"))), activity=(active(0), active(1))),
    "wrong-op": lambda: hang(4, rest=(call(4, "all_gather"),)),
    "split-op": lambda: hang(3, r1=(call(4, "all_gather"),), rest=WAITING),
    # Uneven splits are what all_to_all is for; and a view of another shape has as many elements.
    "size": lambda: hang(
        4, r2=(call(4, "all_to_all_single", sizes=((32,),)),), rest=(call(4, "all_to_all_single"),)
    ),
    "dtype": lambda: hang(4, r2=(call(4, "barrier", dtype="int"),), rest=(call(4, "barrier"),)),
    # Rank 0 waits for 1, which waits for nobody.
    "crossed": lambda: twice(look(3, collectives={
        0: (call(1, group="1 (a)", group_ranks=(0, 1)),), 1: done(1, group="2 (b)", group_ranks=(1, 2)),
        2: (*done(1, group="2 (b)", group_ranks=(1, 2)), call(2, group="2 (b)", group_ranks=(1, 2))),
    })),
    # A moment later rank 1 had come.
    "missing": lambda: twice(
        look(4, collectives=recorded(4, rest=WAITING)), collectives=recorded(4, r1=(), rest=WAITING)
    ),
    "alone": lambda: hang(4, r0=(), rest=WAITING),
    # It has issued all of its own group, and is no member of the other.
    "never": lambda: twice(look(3, collectives={
        0: (call(1, **TP),), 1: (call(1, **TP),), 2: done(1, group="9", group_ranks=(2,)),
    })),
    # The send was issued: the transport is slow, or the other side waits for something else.
    "p2p": lambda: hang(3, r0=(p2p("recv 0<-1"),), r1=(p2p("send 1->0"),), rest=()),
    # Rank 3 told nothing, but rank 1 is missing for all to see.
    "no-evidence": lambda: twice(look(
        4, collectives={0: (*done(3), *WAITING), 1: done(3), 2: (*done(3), *WAITING)}, unreachable=quiet([3])
    )),
    # Nobody waits: all compute.
    "stacks-missing": lambda: twice(look(4, native=tuple(native(rank, "compute") for rank in range(4)))),
    "stacks-wrong-op": lambda: twice(look(8, native=mpi(8))),
    "stacks-split": lambda: twice(look(3, native=mpi(3, r1="step PMPI_Barrier"))),
    "stacks-receive": lambda: twice(look(4, native=mpi(4, op="PMPI_Recv"))),
    "stacks-outside": lambda: twice(look(4, native=mpi(4, r3="compute"))),
    # One is on its way, and may send what the others wait for.
    "stacks-messages": lambda: twice(look(4, native=mpi(4, op="PMPI_Recv", r3="compute"))),
    "call-site": lambda: twice(look(4, native=mpi(4))),
    # Counts that still change mean nothing.
    "ras-behind": lambda: [look(3, ras=(ras(0, 9), ras(1, 8, unchanged=False), ras(2, 9)))],
    "ras-silent": lambda: [look(2, ras=(ras(0, 9), ras(1, 0, state="MISSING", unchanged=False)))],
    # One look at a healthy job finds all ranks in one collective, too.
    "same": lambda: [look(4, collectives=recorded(4, rest=WAITING))],
    "moving": lambda: hang(4, rest=WAITING),
    "together": lambda: [look(8, native=mpi(8, r3="compute"))],
    "nothing": lambda: [look(4, native=mpi(4))],
}  # fmt: skip


def test_every_row_has_both() -> None:
    assert set(GIVES) == set(NEAR) == set(BY_ID)
    assert all(row.source and row.needs for row in ROWS)


@pytest.mark.parametrize("row", BY_ID)
def test_the_row_is_said(row: str) -> None:
    verdict = judge(GIVES[row]())
    assert verdict.id == row, verdict
    assert verdict.diverges is BY_ID[row].diverges
    assert "{" not in verdict.sentence
    assert "  " not in verdict.sentence
    assert verdict.sentence[0].isupper()


@pytest.mark.parametrize("row", BY_ID)
def test_its_near_miss_is_not(row: str) -> None:
    assert row not in {one.id for one in verdicts(NEAR[row]())}


def test_words_of_what_is_done_are_of_one_row_each() -> None:
    names = [name for each in DOING for name in each.names]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("dead", "Rank 2 has died (no live process); ranks 0-1,3 live on."),
        ("stopped", "Rank 1 is stopped by process 812, and ranks 0,2 cannot go on without it."),
        ("kernel", "Rank 1 is held in the kernel in nfs_wait: uninterruptible."),
        ("wrong-op", "Rank 3 is in all_gather where ranks 0-2 are in all_reduce, as number 4 of the whole "
         "job."),
        ("size", "Rank 2 called all_reduce #4 of the whole job with [32] where ranks 0-1,3 called it "
         "with [16]."),
        ("dtype", "Rank 2 called all_reduce #4 of the whole job with double where ranks 0-1,3 called it "
         "with float."),
        ("missing", "Rank 1 has not joined all_reduce #4 (3 wait, 41 s)."),
        ("alone", "Rank 0 is alone in all_reduce #4, 41 s: ranks 1-3 have not issued it."),
        ("never", "Rank 1 has never issued a collective of group 1 (tp); 1 wait in all_reduce #1, 41 s."),
        ("p2p", "Rank 1 has not issued the send of recv 0<-1: rank 0 waits for it, 41 s."),
        ("no-evidence", "Rank 3 told nothing (no answer within 3 s); 3 wait in all_reduce #4, 41 s."),
        ("stacks-missing", "Rank 3 has not joined MPI_Allreduce (7 wait). It runs compute at solver.c:17."),
        ("stacks-wrong-op", "Rank 3 is in MPI_Barrier, ranks 0-2,4-7 in MPI_Allreduce. It was called at "
         "solver.c:17."),
        ("stacks-split", "Rank 1 is in MPI_Barrier, rank 0 in MPI_Allreduce: no majority. It was called at "
         "solver.c:17."),
        ("stacks-outside", "Rank 3 is in no communication while ranks 0-2 wait in MPI_Allreduce and MPI_Barrier. "
         "It runs compute at solver.c:17."),
        ("stacks-messages", "All 4 wait in MPI_Ssend at solver.c:17, each for another: a circle, or a lost "
         "message."),
        ("call-site", "All 4 wait in MPI_Allreduce, but rank 3 called it from solver.c:29, ranks 0-2 from "
         "solver.c:17."),
        ("ras-behind", "Rank 1 has begun fewer AllReduce than ranks 0,2 on communicator 0a6a2b5b: 8 against "
         "9."),
        ("ras-silent", "Rank 1 does not answer NCCL's RAS; rank 0 does."),
        ("same", "All 4 wait in all_reduce #4, 41 s: nobody is missing. Look at the network or the GPUs."),
        ("moving", "The job goes on: the whole job came to #5."),
        ("nothing", "Nothing is known of what the ranks do."),
    ],
)  # fmt: skip
def test_the_words(row: str, words: str) -> None:
    assert judge(GIVES[row]()).sentence == words


def test_a_hang_is_named_with_the_line_that_it_is_in() -> None:
    """Rank 1 sleeps before all_reduce; recorder, Python stacks and kernel say it together."""
    collectives = recorded(4, r1=(), rest=WAITING)
    python = tuple(
        script(rank, ("<module>", 27), ("step", 9 if rank == 1 else 17), inside="" if rank == 1 else "all_reduce")
        for rank in range(4)
    )
    told = look(4, collectives=collectives, python=python, activity=(active(1, syscall="clock_nanosleep"),))
    verdict = judge(twice(told))
    assert verdict.sentence == "Rank 1 has not joined all_reduce #4 (3 wait, 41 s). It sleeps at train.py:9."
    assert (verdict.suspects, verdict.waiters, verdict.seq) == ((1,), (0, 2, 3), 4)
    assert verdict.confidence == "high"
    assert verdict.now == "ladder-tui attach 4001"
    # The same seen once is not as sure.
    assert judge([told]).confidence == "medium"


def test_who_works_slowly_is_not_said_to_be_stuck() -> None:
    collectives = recorded(4, r1=(), rest=WAITING)

    def seen(line: int) -> tuple[object, ...]:
        return tuple(
            script(rank, ("step", line if rank == 1 else 17), inside="" if rank == 1 else "all_reduce")
            for rank in range(4)
        )

    still = judge(twice(look(4, collectives=collectives, python=seen(5))))
    slow = judge(
        [look(4, collectives=collectives, python=seen(5)), look(4, 1005, collectives=collectives, python=seen(6))]
    )
    assert slow.id == still.id == "missing"
    assert any("moved between the looks" in fact.text and fact.speaks < 0 for fact in slow.facts)
    assert sum(fact.speaks for fact in slow.facts) < sum(fact.speaks for fact in still.facts)


def test_a_group_that_waits_for_a_rank_that_waits_elsewhere_is_not_the_cause() -> None:
    """Rank 1 has not come to its dp group since its tp group waits for rank 3, which sleeps."""
    tp = {"group": "1 (tp)", "group_ranks": (1, 3)}
    dp = {"group": "2 (dp)", "group_ranks": (0, 1)}
    verdict = judge(twice(look(4, collectives={
        0: (*done(1, **dp), call(2, **dp)), 1: (*done(1, **dp), *done(5, **tp), call(6, **tp)),
        2: done(1), 3: done(5, **tp),
    })))  # fmt: skip
    assert verdict.id == "missing"
    assert verdict.suspects == (3,)
    assert "all_reduce #6 of group 1 (tp)" in verdict.sentence


def test_what_a_recorder_has_forgotten_was_not_never_issued() -> None:
    """Rings of two sizes: what is gone from the front of one is compared with nothing."""
    short = (*(call(seq, state="completed") for seq in range(40, 50)), call(50))
    long = (*(call(seq, state="completed") for seq in range(1, 50)), call(50))
    assert judge(twice(look(2, collectives={0: long, 1: short}))).id == "same"


def test_a_collective_that_is_done_waits_for_nobody() -> None:
    """A broadcast's root may be done while others have not begun."""
    told = {0: (*done(3), call(4, "broadcast", state="completed")), 1: done(3)}
    assert judge(twice(look(2, collectives=told))).id != "missing"


def test_an_uneven_gather_and_another_view_of_as_many_elements_are_equal() -> None:
    outputs = ((16,), (32,))
    told = {
        0: (call(1, "all_gather", sizes=((16,),), output_sizes=outputs),),
        1: (call(1, "all_gather", sizes=((32,),), output_sizes=outputs),),
    }
    assert judge(twice(look(2, collectives=told))).id == "same"
    views = {0: (call(1, sizes=((4, 4),), output_sizes=((4, 4),)),), 1: (call(1),)}
    assert judge(twice(look(2, collectives=views))).id == "same"


def test_a_rank_that_spins_in_a_library_has_not_moved() -> None:
    """All are in state R, each look finds another function: stacks are compared cut."""
    first = tuple(
        native(rank, "step", "PMPI_Barrier" if rank == 3 else "PMPI_Allreduce", f"opal_progress{rank}")
        for rank in range(8)
    )
    second = tuple(
        native(rank, "step", "PMPI_Barrier" if rank == 3 else "PMPI_Allreduce", "opal_progress", f"__poll{rank}")
        for rank in range(8)
    )
    activity = tuple(active(rank, "R", cpu=0.2, between=0.2) for rank in range(8))
    verdict = judge([look(8, native=first, activity=activity), look(8, 1_002.0, native=second, activity=activity)])
    assert (verdict.id, verdict.suspects) == ("stacks-wrong-op", (3,))
    assert verdict.confidence != "low"


def test_a_healthy_mpi_job_that_goes_on_is_none_that_hangs() -> None:
    first = mpi(4, r3="compute")
    second = tuple(native(rank, "other", "PMPI_Allreduce", line=90) for rank in range(4))
    assert judge([look(4, native=first), look(4, 1_002.0, native=second)]).id == "moving"


def test_ranks_of_one_group_are_not_blamed_for_another_ones_rank() -> None:
    """Ranks 0-1 are through with their group; 2 waits in its own for 3, which computes and holds up all."""
    verdict = judge(twice(look(4, native=mpi(4, op="PMPI_Barrier", r2="step PMPI_Allreduce", r3="compute"))))
    assert verdict.suspects == (3,)
    assert verdict.waiters == (0, 1, 2)


def test_messages_at_one_look_or_with_a_rank_unheard_are_no_circle() -> None:
    told = mpi(4, op="PMPI_Recv")
    assert not judge([look(4, native=told)]).diverges
    assert not judge(twice(look(5, native=told))).diverges


def test_a_rank_that_never_ends_is_missed_in_finalize() -> None:
    """Open MPI's MPI_Finalize jumps on, and leaves no frame that has its name."""
    told = tuple(
        native(rank, *(["compute"] if rank == 2 else ["ompi_mpi_finalize", "__usleep"])) for rank in range(4)
    )
    verdict = judge(twice(look(4, native=told)))
    assert verdict.suspects == (2,)
    assert "MPI_Finalize" in verdict.sentence


def test_stacks_do_not_claim_that_groups_and_sizes_agree() -> None:
    assert "as far as stacks tell" in judge(twice(look(4, native=mpi(4)))).sentence


def test_a_thread_of_a_library_does_not_stand_for_its_rank() -> None:
    loops = [replace(native(rank, "gloo::transport::tcp::Loop::run()"), thread=9) for rank in range(2)]
    mains = [native(rank, "step", "PMPI_Allreduce") for rank in range(2)]
    own = native(2, "compute")
    assert judge(twice(look(3, native=(*loops, *mains, own)))).suspects == (2,)


def test_a_backward_pass_waits_on_a_thread_of_its_own() -> None:
    main = [native(rank, "loss_backward", "__futex_wait") for rank in range(3)]
    backward = [replace(native(rank, "hook", "PMPI_Allreduce"), thread=50 + rank) for rank in range(2)]
    assert judge(twice(look(3, native=(*main, *backward)))).suspects == (2,)


def test_dead_comes_before_what_the_others_wait_in() -> None:
    told = look(4, missing={2: "no live process"}, collectives={0: WAITING, 1: WAITING, 3: WAITING})
    first, *rest = verdicts(twice(told))
    assert first.id == "dead"
    assert [one.id for one in rest] == ["no-evidence"]


def test_one_rank_alone_and_no_rank_at_all() -> None:
    assert judge([look(1, native=(native(0, "compute"),))]).id == "together"
    assert judge([look(0, job=replace(job(1), ranks=(), size=None))]).id == "nothing"
    assert judge(twice(look(1, collectives={0: WAITING}))).id == "same"


def test_looks_of_two_kinds_are_not_two_looks() -> None:
    """Two looks at Python frames, then one at native ones: nobody has moved, and nobody is stuck yet."""
    python = look(4, python=tuple(script(rank, ("step", 9)) for rank in range(4)))
    deeper = look(4, 1_010.0, native=mpi(4))
    assert judge([python, python, deeper]).id == "together"
    twice_deeper = judge([python, python, deeper, replace(deeper, at=1_015.0)])
    assert (twice_deeper.id, twice_deeper.waiters) == ("same", (0, 1, 2, 3))
    # Where a thread stood in Python is told by both kinds.
    stood = look(4, 1_010.0, native=tuple(native(rank, "work") for rank in range(4)), python=python.python)
    assert not any("moved" in fact.text for fact in judge([python, stood]).facts)
    apart = judge([python, look(4, 1_010.0, native=mpi(4, r3="compute"))])
    assert (apart.id, apart.samples) == ("stacks-missing", 1)


def test_who_came_between_the_looks_was_only_slower() -> None:
    first = look(4, collectives=recorded(4, r0=WAITING, r3=WAITING))
    second = look(4, 1_005.0, collectives=recorded(4, r1=(), rest=WAITING))
    verdict = judge([first, second])
    assert (verdict.id, verdict.suspects, verdict.waiters) == ("missing", (1,), (0, 2, 3))
    # And where all have come, nobody is missing.
    third = look(4, 1_010.0, collectives=recorded(4, rest=WAITING))
    assert judge([first, third]).id != "missing"


def test_a_sentence_names_no_more_ranks_than_one_reads() -> None:
    late = {rank for rank in range(400) if rank % 7 in (1, 3)}
    told = {rank: done(3) if rank in late else (*done(3), *WAITING) for rank in range(400)}
    verdict = judge(twice(look(400, collectives=told)))
    assert verdict.sentence.startswith("114 ranks (1,3,8,10,")
    assert ",…) have not joined all_reduce #4 (286 wait, 41 s)." in verdict.sentence
    assert len(verdict.sentence) < 200
    assert verdict.suspects == tuple(sorted(late))


def test_a_librarys_own_wait_is_no_message() -> None:
    """Nobody knows what torch waits for where only its own functions are seen: a collective, mostly."""
    told = tuple(native(rank, "c10d::ProcessGroupGloo::runLoop") for rank in range(4))
    assert not judge(twice(look(4, native=told))).diverges


def test_nothing_known_says_why() -> None:
    missing = Unreachable(0, "eu-stack is not on PATH"), Unreachable(1, "eu-stack is not on PATH")
    reading = Reading(RankSource.EU_STACK, (), missing)
    told = look(2, readings=(reading,), activity=(active(0), active(1)))
    assert judge(twice(told)).sentence == ("Nothing is known of what the ranks do: eu-stack is not on PATH.")
    ended = tuple(Unreachable(rank, f"process {rank} has ended") for rank in range(2))
    sentence = judge(twice(look(2, unreachable=ended))).sentence
    assert sentence == "Nothing is known of what the ranks do: all of them ended before they were looked at."
