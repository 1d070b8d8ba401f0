"""Native and Python stacks as one, and stacks as nodes send them."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from ladder_backends.model.ranks import RankFrame, RankStack, Unreachable
from ladder_backends.ranks.stacks import intern_stacks, join_stacks, merge
from ladder_backends.ranks.stacks.tree import StackTree
from ladder_backends.ranks.stacks.tree_json import tree_json, tree_lines
from ladder_backends.ranks.stacks.wire import StackPool, WireInvalid, from_wire, join_classes, to_wire

C10D = "/v/site-packages/torch/distributed/distributed_c10d.py"
NATIVE = (
    "_start", "__libc_start_main", "Py_BytesMain", "Py_RunMain", "_PyRun_SimpleFileObject", "PyEval_EvalCode",
    "_PyEval_EvalFrameDefault", "PyObject_Vectorcall", "cfunction_vectorcall_FASTCALL_KEYWORDS",
    "pybind11::cpp_function::dispatcher(_object*, _object*)", "c10d::Work::wait(int)", "pthread_cond_wait",
)  # fmt: skip


def of_torch(rank: int) -> tuple[RankStack, RankStack]:
    python = (
        RankFrame("<module>", "/a/train.py", 27, language="python", entry=True),
        RankFrame("step", "/a/train.py", 17, language="python", entry=False),
        RankFrame("all_reduce", C10D, 3913, language="python", entry=False),
    )
    return (
        RankStack(rank, 100 + rank, "python", tuple(RankFrame(name) for name in NATIVE)),
        RankStack(rank, 100 + rank, "MainThread", python),
    )


def test_python_frames_stand_where_their_loops_do() -> None:
    pairs = [of_torch(rank) for rank in range(3)]
    joined = join_stacks([native for native, _ in pairs], [python for _, python in pairs])
    assert [stack.rank for stack in joined] == [0, 1, 2]
    assert [frame.function for frame in joined[0].frames] == [
        "<module>",
        "step",
        "all_reduce",
        "pybind11::cpp_function::dispatcher(_object*, _object*)",
        "c10d::Work::wait(int)",
        "pthread_cond_wait",
    ]
    assert joined[0].frames[1].line == 17
    rows = list(merge(joined).rows())
    assert [[node.frame.function for node in row.nodes] for row in rows] == [["<module>", "step", "all_reduce"]]
    assert rows[0].last.listed == "0-2"


def test_what_only_one_side_tells_stays() -> None:
    native, python = of_torch(0)
    elsewhere = RankStack(0, 999, "loop", (RankFrame("start_thread"), RankFrame("epoll_wait")))
    assert join_stacks([elsewhere], [python]) == (elsewhere, python)
    assert join_stacks([native], []) == (native,)
    assert join_stacks([], [python]) == (python,)


def same(one: StackTree, other: StackTree) -> bool:
    return [(row.last.listed, row.last.stacks, len(row.nodes)) for row in one.rows()] == [
        (row.last.listed, row.last.stacks, len(row.nodes)) for row in other.rows()
    ]


@pytest.mark.parametrize("seed", range(8))
def test_nothing_is_lost_on_the_wire(seed: int) -> None:
    chance = random.Random(seed)
    pool = [
        RankFrame(f"f{n}", "a.c", n % 3, "m.so", chance.choice(("native", "python")), n, n % 2 == 0)
        for n in range(9)
    ]
    stacks = [
        RankStack(chance.randrange(20), number, "", tuple(chance.choices(pool, k=chance.randrange(6))))
        for number in range(1, 120)
    ]
    silent = (Unreachable(30, "busy", "ask again"), Unreachable(31, "busy", "ask again"))
    sent = json.loads(json.dumps(to_wire(stacks, silent)))
    classes, unreachable = from_wire(sent)
    assert unreachable == silent
    before = {one.frames: sorted(one.ranks) for one in intern_stacks(stacks)}
    assert {one.frames: sorted(one.ranks) for one in classes} == before
    assert {(one.representative, one.thread) for one in classes} <= {(one.rank, one.thread) for one in stacks} | {
        (one.representative, 0) for one in classes
    }
    assert same(
        StackTree(classes, silent, merge(stacks).granularity), merge(stacks, unreachable=silent, change=None)
    )


def test_two_nodes_are_one_job() -> None:
    frames = (RankFrame("main"), RankFrame("MPI_Barrier"))
    other = (RankFrame("main"), RankFrame("read"))
    for pool in (StackPool(), None):
        halves = [
            from_wire(to_wire([RankStack(rank, 7, "", other if rank == 5 else frames) for rank in ranks]), pool)[0]
            for ranks in (range(4), range(4, 8))
        ]
        joined = join_classes(halves)
        assert [one.listed for one in joined] == ["0-4,6-7", "5"]


def test_what_most_frames_have_is_not_sent() -> None:
    plain = RankFrame("f", "a.c", 3)
    told = to_wire([RankStack(0, 1, "", (plain, RankFrame("g"), RankFrame("h", language="python", entry=False)))])
    assert told["frames"] == [["f", "a.c", 3], ["g"], ["h", "", 0, "", "python", -1, False]]


@pytest.mark.parametrize(
    "told",
    [
        None,
        [],
        {"frames": 3},
        {"frames": [["f"]], "stacks": [[1]]},
        {"frames": [["f"]], "stacks": [[-1]]},
        {"frames": [["f"]], "stacks": [["0"]]},
        {"frames": [["f"]], "stacks": [[True]]},
        {"frames": [[4]], "stacks": []},
        {"frames": [[["f"]]], "stacks": []},
        {"frames": [["f"]], "stacks": [[0.0]]},
        {"frames": [["f", "", "x"]], "stacks": []},
        {"frames": [], "stacks": [[]], "threads": [[1, "0", 1, 0, 0]]},
        {"frames": [], "stacks": [[]], "threads": [[0, "0-", 1, 0, 0]]},
        {"frames": [], "stacks": [[]], "threads": [[0, "0-9999999", 1, 0, 0]]},
        {"frames": [], "stacks": [[]], "threads": [[0, "0-999", 1 << 19, 0, 0]]},
        {"frames": [], "stacks": [[]], "threads": [[0, "0", 0, 0, 0]]},
        {"unreachable": [[5, "x"]]},
    ],
)
def test_what_is_no_such_form_is_refused(told: Any) -> None:
    with pytest.raises(WireInvalid):
        from_wire(told)


def test_hostile_names_are_cleaned() -> None:
    classes, _ = from_wire({"frames": [["\x1b[31mf", "a\nb", 1]], "stacks": [[0]], "threads": [[0, "0", 1, 0, 1]]})
    assert "\x1b" not in classes[0].frames[0].function
    assert "\n" not in classes[0].frames[0].file


def test_the_json_of_a_tree_adds_up() -> None:
    main, other = RankFrame("main", "a.c", 3), RankFrame("MPI_Barrier")
    stacks = [RankStack(rank, 50 + rank, "", (main, other) if rank else (main,)) for rank in range(4)]
    told = tree_json(merge(stacks, unreachable=[Unreachable(4, "gone")]))
    assert (told["asked"], told["answered"]) == (5, 4)
    assert told["unreachable"] == [{"rank": 4, "reason": "gone", "remedy": None}]
    assert [one["ranks"] for one in told["classes"]] == ["0", "1-3"]
    (top,) = told["tree"]["children"]
    assert (top["ranks"], top["stacks"], top["ends"]) == ("0-3", 4, 1)
    assert top["children"][0]["frames"][0]["boundary"] == "MPI"
    assert json.dumps(told)


def test_the_tree_as_text() -> None:
    main = RankFrame("main", "a.c", 3)
    stacks = [RankStack(0, 1, "", (main, RankFrame("read"))), RankStack(1, 2, "", (main, RankFrame("MPI_Barrier")))]
    assert list(tree_lines(merge(stacks, unreachable=[Unreachable(2, "gone"), Unreachable(3, "gone")]))) == [
        "a.c:3 main            0-1",
        "├─ read               0",
        "└─ MPI_Barrier        1",
        "answered 2 of 4",
        "unreachable 2-3: gone",
    ]
