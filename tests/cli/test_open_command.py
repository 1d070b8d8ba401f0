"""`open` and `replay`, and every shipped case, without a screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from ladder_backends.case import Role, read_case
from ladder_demos.catalogue import DEMOS, DemoKind, find_demo

CASES = [demo for demo in DEMOS if demo.kind is DemoKind.CASE and demo.shipped]
DUMPED = [demo for demo in CASES if read_case(demo.path).of(Role.DUMP)]
ASSERTED = ("assert", "torch-assert")
"""The innermost frame is that of the library that asserts."""
PLAYED = [demo for demo in CASES if demo not in DUMPED and not read_case(demo.path).of(Role.FINDINGS)]


@pytest.mark.cuda_gdb
@pytest.mark.parametrize("demo", CASES, ids=lambda demo: demo.name)
def test_every_shipped_case(ladder_tui, cuda_gdb, demo) -> None:
    answer = ladder_tui("demo", demo.name, "--json")
    assert answer.err == ""
    document = answer.json
    assert document["format"] == 1
    if demo in PLAYED:
        assert document["source"] == "recording"
        # What asserts is called by the kernel, and has no line of its own.
        assert any(frame["line"] is not None for frame in document["frames"][:2])
        return
    assert answer.code == (1 if document["report"] else 0)
    if demo in DUMPED:
        assert document["jump"]["reached"] is not None
        assert (document["jump"]["frame"]["line"] is None) == (demo.name in ASSERTED)
        assert document["jump"]["source"] == "engine"


def test_a_report_alone(ladder_tui, vector_add) -> None:
    answer = ladder_tui("open", vector_add.reports[0], "--json")
    assert (answer.code, answer.err) == (1, "")
    assert answer.json["jump"] is None
    assert len(answer.json["report"]["findings"]) == 24


@pytest.mark.cuda_gdb
def test_report_dump_and_program_in_any_order(ladder_tui, cuda_gdb, vector_add) -> None:
    answer = ladder_tui("open", vector_add.executable, vector_add.reports[0], vector_add.dump)
    assert answer.code == 1
    assert "i = 1000" in answer.out


@pytest.mark.cuda_gdb
def test_what_is_opened_without_a_screen_is_recorded_too(ladder_tui, cuda_gdb, tmp_path: Path) -> None:
    told = ladder_tui("demo", "misaligned", "--record", "m.jsonl", "--json").json
    again = ladder_tui("replay", "m.jsonl", "--json")
    assert again.code == 0
    assert again.json["frames"][0]["function"] == told["jump"]["frame"]["function"]


def test_files_of_no_use_are_one_line(ladder_tui, tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    for words in (["empty"], ["gone"], ["."], [str(find_demo("segfault").path)]):
        answer = ladder_tui("open", *words)
        assert (answer.code, answer.out) == (2, "")
        assert answer.complaint


def test_replay_takes_recordings_only(ladder_tui, vector_add) -> None:
    answer = ladder_tui("replay", vector_add.reports[0])
    assert (answer.code, answer.out) == (2, "")
    assert "it is a report" in answer.complaint


def test_a_case_that_is_damaged_is_one_line(ladder_tui, tmp_path: Path) -> None:
    whole = find_demo("vector-add").path.read_bytes()
    (tmp_path / "half.ladder").write_bytes(whole[: len(whole) // 2])
    answer = ladder_tui("open", "half.ladder")
    assert (answer.code, answer.out) == (2, "")
    assert "half.ladder" in answer.complaint


WITHOUT = {"LADDER_CUDA_GDB": "/gone"}


@pytest.mark.parametrize("thread", range(232, 256))
def test_without_cuda_gdb_every_lane_of_the_demo_is_answered_by_its_recording(ladder_tui, thread: int) -> None:
    case = find_demo("vector-add").path
    answer = ladder_tui("jump", case, "--block", "3", "--thread", str(thread), "--json", environment=WITHOUT)
    assert answer.code == 0
    assert "a recording answers" in answer.complaint
    document = answer.json
    assert document["source"] == "recording"
    assert document["reached"]["thread"] == [thread, 0, 0]
    assert {one["name"]: one["value"] for one in document["locals"]}["i"] == str(768 + thread)


def test_without_cuda_gdb_a_lane_that_is_not_held_is_not_made_up(ladder_tui) -> None:
    case = find_demo("vector-add").path
    answer = ladder_tui("jump", case, "--block", "3", "--thread", "40", environment=WITHOUT)
    assert answer.code == 1
    assert "i = " not in answer.out
    assert "does not hold thread (40,0,0)" in answer.out


@pytest.mark.parametrize("demo", CASES, ids=lambda demo: demo.name)
def test_every_shipped_case_without_cuda_gdb(ladder_tui, demo) -> None:
    answer = ladder_tui("demo", demo.name, "--json", environment=WITHOUT)
    document = answer.json
    if demo in DUMPED:
        assert document["jump"]["source"] == "recording"
        assert (document["jump"]["frame"]["line"] is None) == (demo.name in ASSERTED)


@pytest.mark.cuda_gdb
@pytest.mark.parametrize("demo", DUMPED, ids=lambda demo: demo.name)
def test_recording_and_engine_agree(ladder_tui, cuda_gdb, demo) -> None:
    recorded = ladder_tui("jump", demo.path, "--json", environment=WITHOUT).json
    asked = ladder_tui("jump", demo.path, "--json").json
    for document in (recorded, asked):
        # Why there are no locals is told by the executable, which only an engine's user needs to have.
        del document["seconds"], document["source"], document["note"]
    assert recorded == asked


def test_replay_of_a_shipped_recording(ladder_tui) -> None:
    answer = ladder_tui("replay", find_demo("vector-add").path, "--json")
    assert answer.code == 0
    assert answer.json["source"] == "recording"
    assert answer.json["frames"][0]["function"] == "vadd"
