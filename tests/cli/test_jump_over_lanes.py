"""`jump --over-lanes`: an expression in every lane round the one that was reached, by the real cuda-gdb."""

from __future__ import annotations

import pytest

from ladder_demos.catalogue import find_demo

pytestmark = pytest.mark.cuda_gdb


def test_every_lane_of_the_warp_as_json(ladder_tui, cuda_gdb, vector_add) -> None:
    files = ["--dump", vector_add.dump, "--exe", vector_add.executable]
    answer = ladder_tui("jump", *files, "--over-lanes", "i", "--json")
    assert (answer.code, answer.err) == (0, "")
    told = answer.json["over_lanes"]
    assert (told["expression"], told["scope"], told["asked"], told["answered"]) == ("i", "warp", 24, 24)
    assert told["values"][0] == {
        "kernel": 0,
        "block": [3, 0, 0],
        "thread": [232, 0, 0],
        "warp": 7,
        "lane": 8,
        "value": "1000",
    }
    assert [one["value"] for one in told["values"]] == [str(number) for number in range(1000, 1024)]
    assert (told["min"], told["max"], told["mean"], told["pattern"]) == (
        "1000",
        "1023",
        1011.5,
        "1000..1023 step 1",
    )
    assert (told["reason"], told["source"], told["errors"]) == (None, "engine", 0)
    # The document is otherwise that of any jump.
    assert answer.json["format"] == 1
    assert {one["name"]: one["value"] for one in answer.json["locals"]}["i"] == "1000"


def test_all_resident_blocks_as_text(ladder_tui, cuda_gdb) -> None:
    answer = ladder_tui("jump", find_demo("hang").path, "--over-lanes", "threadIdx.x % 4", "--scope", "grid")
    assert (answer.code, answer.err) == (0, "")
    assert "over lanes  threadIdx.x % 4  (grid: 128 lanes)" in answer.out
    assert "0..3 step 1, repeats every 4 lanes" in answer.out
    assert "32 × 0  lanes 0–28 step 4 of each warp" in answer.out
    assert f"block (1,0,0) warp  1  |{'▁▃▅█' * 8}|" in answer.out


def test_equal_errors_are_one_line(ladder_tui, cuda_gdb) -> None:
    answer = ladder_tui("jump", find_demo("vector-add").path, "--over-lanes", "1 / (i - 1008)")
    assert answer.code == 0
    assert "1 × <Division by zero>  lane 16" in answer.out
    assert "no value 1" in answer.out


def test_what_cannot_be_asked_is_said_and_the_jump_stands(ladder_tui, cuda_gdb) -> None:
    answer = ladder_tui("jump", find_demo("vector-add").path, "--over-lanes", "i = 3", "--json")
    assert answer.code == 0
    told = answer.json["over_lanes"]
    assert (told["answered"], told["values"]) == (0, [])
    assert "it would write" in told["reason"]
    assert answer.json["reached"]["thread"] == [232, 0, 0]


def test_where_no_lane_was_reached_nothing_is_asked(ladder_tui, cuda_gdb) -> None:
    where = ["--block", "3,0,0", "--thread", "40,0,0"]
    answer = ladder_tui("jump", find_demo("vector-add").path, *where, "--over-lanes", "i", "--json")
    assert answer.code == 1
    assert answer.json["over_lanes"] is None


def test_a_scope_without_an_expression(ladder_tui) -> None:
    answer = ladder_tui("jump", find_demo("vector-add").path, "--scope", "warp")
    assert answer.code == 2
    assert "--scope needs --over-lanes" in answer.err
