"""Several looks: who is stuck, who moves, and that one look proves nothing."""

from __future__ import annotations

from ladder_backends.model.ranks import RankFrame, RankStack, Unreachable
from ladder_backends.ranks.stacks import Course, Samples

MAIN, WORK, REDUCE = RankFrame("main", "a.c", 1), RankFrame("work", "a.c", 9), RankFrame("MPI_Allreduce")


def look(**where: tuple[RankFrame, ...]) -> list[RankStack]:
    return [RankStack(int(name[1:]), 1, "", frames) for name, frames in where.items()]


def test_spinning_inside_a_collective_is_standing_still() -> None:
    samples = Samples()
    for turn in range(3):
        samples.add(turn, look(r0=(MAIN, REDUCE, RankFrame(f"progress{turn}")), r1=(MAIN, WORK if turn else MAIN)))
    assert samples.courses() == {0: Course.STUCK, 1: Course.MOVES}
    assert samples.course(0) is Course.STUCK
    assert samples.span == 2


def test_one_look_proves_nothing() -> None:
    samples = Samples()
    samples.add(0, look(r0=(MAIN, REDUCE)))
    assert samples.course(0) is Course.UNKNOWN
    # A rank that was seen once only is not stuck because others were seen twice.
    samples.add(1, look(r1=(MAIN, REDUCE)))
    assert samples.courses() == {0: Course.UNKNOWN, 1: Course.UNKNOWN}


def test_another_line_is_another_place() -> None:
    samples = Samples()
    samples.add(0, look(r0=(RankFrame("main", "a.c", 1), REDUCE)))
    samples.add(1, look(r0=(RankFrame("main", "a.c", 2), REDUCE)))
    assert samples.course(0) is Course.MOVES


def test_one_thread_that_moves_is_a_rank_that_moves_unless_only_another_counts() -> None:
    samples = Samples()
    for turn in range(2):
        samples.add(turn, [RankStack(0, 1, "", (MAIN, REDUCE)), RankStack(0, 2, "", (RankFrame(f"t{turn}"),))])
    assert samples.course(0) is Course.MOVES
    assert samples.course(0, thread=1) is Course.STUCK
    assert samples.courses({0: 1}) == {0: Course.STUCK}


def test_classes_over_time_and_the_tree_of_all_looks() -> None:
    samples = Samples()
    samples.add(0, look(r0=(MAIN, REDUCE), r1=(MAIN, REDUCE), r2=(MAIN, WORK)), [Unreachable(3, "busy")])
    samples.add(1, look(r0=(MAIN, REDUCE), r1=(MAIN, REDUCE), r2=(MAIN, REDUCE)), [Unreachable(3, "busy")])
    ways = samples.classes()
    assert [one.listed for _, one in ways] == ["2", "0-1"]
    assert [[frames[-1].function for frames in way] for way, _ in ways] == [
        ["work", "MPI_Allreduce"],
        ["MPI_Allreduce", "MPI_Allreduce"],
    ]
    tree = samples.tree()
    assert (tree.stacks, tree.answered, tree.asked) == (6, 3, 4)
    assert [node.listed for node in tree.children[0].children] == ["2", "0-2"]
