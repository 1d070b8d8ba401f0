"""`jump --live` where there is no GPU: what can be said without one, by the real cuda-gdb."""

from __future__ import annotations

from pathlib import Path

import pytest

LOGS = Path(__file__).parents[1] / "sanitizer/reports/logs"
OOB = Path(__file__).parents[1] / "tui/reports/memcheck-oob.log"
LANE = ("--block", "3,0,0", "--thread", "232,0,0")


@pytest.mark.cuda_gdb
def test_a_program_without_kernels_ends_before_any_launch(ladder_tui, cuda_gdb) -> None:
    answer = ladder_tui("jump", "--live", *LANE, "--kernel", "vadd", "--json", "--", "/bin/true")
    assert (answer.code, answer.err) == (1, "")
    document = answer.json
    assert next(iter(document)) == "format"
    assert document["asked"] == {"block": [3, 0, 0], "thread": [232, 0, 0]}
    assert (document["reached"], document["way"], document["exact"]) == (None, "live", False)
    assert document["reason"] == (
        "the program ended before the kernel was launched: exited normally; no launch of vadd was seen"
    )
    assert [one["act"] for one in document["alternatives"]] == ["live"]
    assert document["phases"][0]["text"] == "started; waits for the launch of vadd"


@pytest.mark.cuda_gdb
def test_phases_are_told_as_they_come(ladder_tui, cuda_gdb) -> None:
    answer = ladder_tui("jump", "--live", *LANE, "--", "/bin/sh", "-c", "echo no device here; exit 3")
    assert answer.code == 1
    assert "started; waits for the launch of a kernel" in answer.err
    assert "asked    block (3,0,0) thread (232,0,0)" in answer.out
    assert "exited with code 3" in answer.out
    assert "it wrote: no device here" in answer.out


@pytest.mark.cuda_gdb
def test_a_finding_of_a_report_is_the_lane(ladder_tui, cuda_gdb) -> None:
    answer = ladder_tui("jump", "--live", "--report", OOB, "--finding", "8", "--json", "--", "/bin/true")
    assert answer.code == 1
    assert answer.json["asked"] == {"block": [3, 0, 0], "thread": [240, 0, 0]}
    assert "no launch of vadd was seen" in answer.json["reason"]
    # What the report knows is offered where the lane was not reached.
    assert any(one["file"] for one in answer.json["alternatives"])


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--", "/bin/true"), "--live needs a lane: --block, or --report with --finding"),
        (LANE, "no program was named to run"),
        ((*LANE, "--", "/nowhere/prog"), "cannot run /nowhere/prog"),
        (("--report", OOB, "--", "/bin/true"), "--report and --finding go together"),
        (("--report", OOB, "--finding", "24", "--", "/bin/true"), "there is no finding 24 in the report"),
        (
            ("--report", LOGS / "racecheck-analysis.log", "--finding", "0", "--", "/bin/true"),
            "the report names no lane for this finding",
        ),
    ],
)
def test_what_cannot_be_run_to_is_one_line(ladder_tui, words, why: str) -> None:
    answer = ladder_tui("jump", "--live", *words)
    assert (answer.code, answer.out) == (2, "")
    assert why in answer.complaint


def test_without_the_engine(ladder_tui) -> None:
    answer = ladder_tui("jump", "--live", *LANE, "--", "/bin/true", environment={"LADDER_CUDA_GDB": "/nowhere"})
    assert (answer.code, answer.out) == (2, "")
    assert "no program can be run to a lane" in answer.complaint


def test_a_kernels_name_is_for_live_jumps(ladder_tui) -> None:
    answer = ladder_tui("jump", "--dump", "x", "--kernel", "vadd")
    assert answer.code == 2
    assert "--kernel takes a number here" in answer.complaint
