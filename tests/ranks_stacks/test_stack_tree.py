"""Merged trees: what is one node, who stands in it, in which order, and that nobody is lost or counted twice."""

from __future__ import annotations

import random

import pytest

from ladder_backends.model.ranks import RankFrame, RankStack, Unreachable
from ladder_backends.ranks.rank_list import unfold
from ladder_backends.ranks.stacks import Granularity, classes_of, intern_stacks, merge
from ladder_backends.ranks.stacks.tree import MOST_FRAMES, StackTree, TreeNode

MAIN = RankFrame("main", "train.c", 40)
STEP = RankFrame("step", "train.c", 17)


def stack(rank: int, *frames: RankFrame, thread: int = 0) -> RankStack:
    return RankStack(rank, thread or 1000 + rank, "", frames)


def every_node(tree: StackTree) -> list[TreeNode]:
    waiting, found = list(tree.children), []
    while waiting:
        node = waiting.pop()
        found.append(node)
        waiting += node.children
    return found


def adds_up(tree: StackTree) -> None:
    """Threads of a node are those of its children and those that end in it; ranks and silent ones are all."""
    assert sum(node.stacks for node in tree.children) + tree.frameless == tree.stacks
    for node in every_node(tree):
        assert node.stacks == sum(child.stacks for child in node.children) + node.ends
        assert set(node.ranks) >= {rank for child in node.children for rank in child.ranks}
        assert unfold(node.listed) == node.ranks
    assert tree.asked == tree.answered + len({one.rank for one in tree.unreachable} - set(tree.ranks))


def test_seven_wait_and_one_does_not() -> None:
    barrier, reduce = RankFrame("PMPI_Barrier"), RankFrame("PMPI_Allreduce")
    tree = merge(
        [
            stack(rank, MAIN, STEP, barrier if rank == 3 else reduce, RankFrame(f"opal_progress_{rank}"))
            for rank in range(8)
        ]
    )
    adds_up(tree)
    rows = list(tree.rows())
    assert [[node.frame.function for node in row.nodes] for row in rows] == [
        ["main", "step"],
        ["PMPI_Barrier"],
        ["PMPI_Allreduce"],
    ]
    # The one that is alone comes first.
    assert [row.last.listed for row in rows] == ["0-7", "3", "0-2,4-7"]
    assert [row.lead for row in rows] == ["", "├─ ", "└─ "]
    assert rows[1].last.representative == (3, 1003)


def test_frames_inside_the_boundary_can_be_kept() -> None:
    frames = (MAIN, RankFrame("MPI_Barrier"), RankFrame("opal_progress"))
    assert [len(row.nodes) for row in merge([stack(0, *frames)]).rows()] == [2]
    assert [len(row.nodes) for row in merge([stack(0, *frames)], change=None).rows()] == [3]


def test_what_makes_two_frames_the_same() -> None:
    one = RankFrame("work", "a.c", 1, "a.out", offset=0x10)
    other = RankFrame("work", "a.c", 2, "a.out", offset=0x20)
    again = RankFrame("work", "a.c", 2, "a.out", offset=0x24)
    stacks = [stack(0, one), stack(1, other), stack(2, again)]
    lists = {
        granularity: [node.listed for node in merge(stacks, granularity).children] for granularity in Granularity
    }
    assert lists == {
        Granularity.FUNCTION: ["0-2"],
        Granularity.LINE: ["0", "1-2"],
        Granularity.OFFSET: ["0", "1", "2"],
    }


def test_frames_without_names_are_told_by_their_module() -> None:
    tree = merge([stack(0, RankFrame("??", module="/usr/lib/libcuda.so.1")), stack(1, RankFrame("??", module="x"))])
    assert len(tree.children) == 2


def test_a_rank_counts_once_however_many_threads_stand_in_a_node() -> None:
    wait = RankFrame("epoll_wait")
    tree = merge([stack(rank, MAIN, wait, thread=rank * 10 + each) for rank in range(3) for each in range(4)])
    adds_up(tree)
    assert tree.children[0].stacks == 12
    assert tree.children[0].listed == "0-2"
    assert tree.answered == 3


def test_the_silent_are_counted_with_their_reasons() -> None:
    tree = merge([stack(0, MAIN)], unreachable=[Unreachable(1, "is in D state"), Unreachable(2, "gone")])
    adds_up(tree)
    assert (tree.asked, tree.answered) == (3, 1)
    # One that one source reached and another did not has answered.
    half = merge([stack(0, MAIN)], unreachable=[Unreachable(0, "has no Python"), Unreachable(1, "gone")])
    assert (half.asked, half.answered) == (2, 1)


def test_nothing_is_a_tree_too() -> None:
    tree = merge([])
    assert (tree.asked, tree.stacks, list(tree.rows())) == (0, 0, [])
    # A stack without frames is a rank that answered.
    hollow = merge([stack(4)])
    assert (hollow.answered, hollow.stacks) == (1, 1)


def test_a_stack_that_ends_where_others_go_on_is_seen() -> None:
    tree = merge([stack(0, MAIN), stack(1, MAIN, STEP)])
    adds_up(tree)
    assert [row.last.listed for row in tree.rows()] == ["0-1", "1"]
    assert tree.children[0].ends == 1


def test_recursion_without_end_is_bounded() -> None:
    deep = tuple(RankFrame("fib", "f.c", 3) for _ in range(50_000))
    tree = merge([stack(0, *deep), stack(1, *deep[:10])])
    adds_up(tree)
    assert sum(len(row.nodes) for row in tree.rows()) == MOST_FRAMES


def test_equal_frames_of_two_readers_are_one_class() -> None:
    stacks = [
        RankStack(rank, rank, "", (RankFrame("main", "a.c", 1), RankFrame("f", "a.c", 2))) for rank in range(40)
    ]
    assert [one.listed for one in intern_stacks(stacks)] == ["0-39"]


def test_stacks_that_look_alike_are_told_apart() -> None:
    # Equal length, equal frames in the middle and at the end: only the rest differs.
    stacks = [
        RankStack(rank, rank, "", (RankFrame(f"f{rank % 50}"), RankFrame("mid"), RankFrame("end")))
        for rank in range(200)
    ]
    classes = intern_stacks(stacks)
    assert len(classes) == 50
    assert all(one.stacks == 4 for one in classes)


@pytest.mark.parametrize("seed", range(20))
def test_counts_add_up_whatever_the_stacks(seed: int) -> None:
    chance = random.Random(seed)
    pool = [RankFrame(f"f{number}", "a.c", chance.randrange(4)) for number in range(6)]
    stacks = [
        stack(chance.randrange(30), *chance.choices(pool, k=chance.randrange(9)), thread=number + 1)
        for number in range(300)
    ]
    silent = [Unreachable(chance.randrange(60), "busy") for _ in range(10)]
    for granularity in Granularity:
        tree = merge(stacks, granularity, silent)
        adds_up(tree)
        assert tree.stacks == 300


def test_a_thousand_ranks_in_two_hundred_classes_and_forty_that_are_silent() -> None:
    common = tuple(RankFrame(f"outer{level}", "app.c", level) for level in range(12))
    kinds = [
        (*common, *(RankFrame(f"inner{kind}_{level}", "app.c", level) for level in range(13)))
        for kind in range(200)
    ]
    stacks = [RankStack(rank, rank, "", kinds[rank % 200]) for rank in range(960)]
    tree = merge(stacks, unreachable=[Unreachable(rank, "no answer in 5 s") for rank in range(960, 1000)])
    adds_up(tree)
    assert (tree.asked, tree.answered, len(tree.classes)) == (1000, 960, 200)
    rows = list(tree.rows())
    assert len(rows) == 201
    assert len(rows[0].nodes) == 12
    # The least populated first: 160 classes have five ranks, forty have four.
    sizes = [len(row.last.ranks) for row in rows[1:]]
    assert sizes == sorted(sizes)
    assert len(classes_of(stacks)) == 200
