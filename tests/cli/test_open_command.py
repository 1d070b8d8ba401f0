"""`open` and `replay`, and every shipped case, without a screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from ladder_demos.catalogue import DEMOS, DemoKind, find_demo

CASES = [demo for demo in DEMOS if demo.kind is DemoKind.CASE]


@pytest.mark.cuda_gdb
@pytest.mark.parametrize("demo", CASES, ids=lambda demo: demo.name)
def test_every_shipped_case(ladder_tui, cuda_gdb, demo) -> None:
    answer = ladder_tui("demo", demo.name, "--json")
    assert answer.err == ""
    document = answer.json
    assert document["format"] == 1
    assert answer.code == (1 if document["report"] else 0)
    if demo.name != "race":
        assert document["jump"]["reached"] is not None
        assert document["jump"]["frame"]["line"] is not None
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
