"""`jump`: the lane that was asked for, with its values, by the real cuda-gdb on the real dump."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from ladder_demos.catalogue import find_demo

pytestmark = pytest.mark.cuda_gdb

DUMPS = Path(__file__).parents[1] / "dumps"


@pytest.mark.parametrize(("thread", "i"), [("232,0,0", "1000"), ("240,0,0", "1008"), ("255", "1023")])
def test_a_lane_by_its_coordinates(ladder_tui, cuda_gdb, vector_add, thread: str, i: str) -> None:
    files = ["--dump", vector_add.dump, "--exe", vector_add.executable]
    answer = ladder_tui("jump", *files, "--block", "3,0,0", "--thread", thread, "--json")
    assert (answer.code, answer.err) == (0, "")
    document = answer.json
    x = int(thread.split(",")[0])
    assert next(iter(document)) == "format"
    assert document["asked"] == {"block": [3, 0, 0], "thread": [x, 0, 0]}
    assert document["reached"]["thread"] == [x, 0, 0]
    assert document["reached"]["lane"] == x % 32
    assert (document["frame"]["function"], document["frame"]["line"]) == ("vadd", 10)
    values = {one["name"]: one["value"] for one in document["locals"]}
    assert (values["i"], values["n"]) == (i, "1000")
    assert (document["source"], document["reason"]) == ("engine", None)
    assert [one["lane"] for one in document["lanes"] if one["state"] != "absent"] == list(range(8, 32))


def test_text_says_asked_and_reached_and_draws_the_lanes(ladder_tui, cuda_gdb) -> None:
    answer = ladder_tui("jump", find_demo("vector-add").path, "--block", "3", "--thread", "233")
    assert (answer.code, answer.err) == (0, "")
    assert "asked    block (3,0,0) thread (233,0,0)" in answer.out
    assert "reached  kernel 0 block (3,0,0) thread (233,0,0) of vadd" in answer.out
    assert "i = 1001" in answer.out
    assert f"|{' ' * 8}{'█' * 24}|" in answer.out


def test_without_coordinates_it_stands_where_the_dump_points(ladder_tui, cuda_gdb) -> None:
    answer = ladder_tui("jump", find_demo("vector-add").path, "--json")
    assert answer.code == 0
    assert answer.json["reached"]["thread"] == [232, 0, 0]


def test_a_lane_that_the_dump_does_not_hold(ladder_tui, cuda_gdb) -> None:
    answer = ladder_tui("jump", find_demo("vector-add").path, "--block", "3,0,0", "--thread", "40,0,0", "--json")
    assert (answer.code, answer.err) == (1, "")
    assert answer.json["reached"] is None
    assert "does not hold thread (40,0,0)" in answer.json["reason"]


def test_a_packed_dump_opens_too(ladder_tui, cuda_gdb, vector_add, tmp_path: Path) -> None:
    packed = tmp_path / "oob.nvcudmp.xz"
    packed.write_bytes(lzma.compress(vector_add.dump.read_bytes(), preset=0))
    answer = ladder_tui("jump", "--dump", packed, "--json")
    assert answer.code == 0
    assert answer.json["reached"]["block"] == [3, 0, 0]


def test_a_dump_cut_in_half_is_one_line_and_leaves_no_core(
    ladder_tui, cuda_gdb, vector_add, tmp_path: Path
) -> None:
    cut = tmp_path / "cut.nvcudmp"
    whole = vector_add.dump.read_bytes()
    cut.write_bytes(whole[: len(whole) // 2])
    answer = ladder_tui("jump", "--dump", cut)
    assert (answer.code, answer.out) == (2, "")
    assert "cut" in answer.complaint
    assert {path.name for path in tmp_path.iterdir() if not path.name.startswith(".")} == {"cut.nvcudmp"}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--dump", "gone"], "gone"),
        (["--dump", "/etc/passwd"], "is text"),
        (["--thread", "1"], "--thread needs --block"),
        ([], "no dump was named"),
        ([str(find_demo("race").path)], "none of the files is a GPU core dump"),
    ],
)
def test_what_cannot_be_opened_is_one_line(ladder_tui, words: list[str], why: str) -> None:
    answer = ladder_tui("jump", *words)
    assert (answer.code, answer.out) == (2, "")
    assert why in answer.complaint


def test_without_cuda_gdb_and_recording_it_says_how_to_get_one(ladder_tui, vector_add) -> None:
    answer = ladder_tui("jump", "--dump", vector_add.dump, environment={"LADDER_CUDA_GDB": "/gone"})
    assert answer.code == 2
    assert "LADDER_CUDA_GDB names /gone, which does not exist" in answer.complaint
    assert "ladder-tui demo --install-cuda-gdb" in answer.complaint


def test_what_the_hardware_says_of_the_lane_is_told(ladder_tui, cuda_gdb) -> None:
    answer = ladder_tui(
        "jump", "--dump", DUMPS / "exception-misaligned.nvcudmp.xz", "--block", "0", "--thread", "5"
    )
    assert answer.code == 0
    assert answer.complaint.startswith("ladder-tui: Warp Misaligned Address: an address is no multiple of the size")
    assert "fault    Warp Misaligned Address" in answer.out
    assert "fault" not in ladder_tui("jump", find_demo("vector-add").path).out


def test_a_program_that_cannot_be_compared_with_the_dump_is_told(ladder_tui, cuda_gdb, vector_add) -> None:
    answer = ladder_tui("jump", "--dump", vector_add.dump, "--exe", "/bin/ls", "--block", "3", "--thread", "240")
    assert answer.code == 0
    assert answer.complaint == "ladder-tui: ls carries no device code; the kernel vadd came from elsewhere"
