"""The main job on hardware: a sanitizer run of this minute, and this machine's cuda-gdb in the lanes it names."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.sanitizer import read_report


def ladder(*arguments: object) -> tuple[int, dict[str, Any]]:
    """Run the command as a shell does: exit status and what it printed as JSON."""
    command = [sys.executable, "-m", "ladder_tui", *map(str, arguments), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_every_finding_of_a_run_is_a_lane_with_its_own_value(sanitized: Callable[..., Any]) -> None:
    run = sanitized("vector_add_oob")
    status, report = ladder("findings", run.log)
    assert status == 1
    assert len(report["findings"]) == 24
    assert {finding["line"] for finding in report["findings"]} == {10}
    for finding in (report["findings"][0], report["findings"][8], report["findings"][23]):
        block, thread = finding["block"], finding["thread"]
        code, jump = ladder(
            "jump",
            "--dump",
            run.dump,
            "--exe",
            run.program,
            "--block",
            ",".join(map(str, block)),
            "--thread",
            ",".join(map(str, thread)),
        )
        assert code == 0, jump
        assert jump["reached"]["block"] == block
        assert jump["reached"]["thread"] == thread
        assert jump["frame"]["line"] == 10
        values = {row["name"]: row["value"] for row in jump["locals"]}
        assert values["i"] == str(block[0] * 256 + thread[0])
        assert values["n"] == "1000"


def test_a_lane_that_did_not_err_is_not_held(sanitized: Callable[..., Any]) -> None:
    run = sanitized("vector_add_oob")
    code, jump = ladder("jump", "--dump", run.dump, "--exe", run.program, "--block", "2,0,0", "--thread", "5,0,0")
    assert code == 1
    assert jump["reason"]


def test_line_information_only_is_told(sanitized: Callable[..., Any]) -> None:
    run = sanitized("vector_add_oob", flags=("-lineinfo",))
    code, jump = ladder("jump", "--dump", run.dump, "--exe", run.program, "--block", "3,0,0", "--thread", "240,0,0")
    assert code == 0, jump
    assert jump["frame"]["line"] == 10
    assert jump["locals"] == []


@pytest.mark.parametrize(
    ("name", "tool", "options", "arguments", "dump"),
    [
        ("shared_race", "racecheck", ("--racecheck-report", "hazard"), (), False),
        ("shared_race", "racecheck", ("--racecheck-report", "analysis"), (), False),
        ("shared_race", "racecheck", ("--racecheck-report", "all"), (), False),
        ("uninit", "initcheck", (), (), True),
        ("uninit", "synccheck", (), (), False),
        ("vector_add_oob", "memcheck", ("--leak-check", "full"), (), False),
        ("vector_add_oob", "memcheck", ("--show-backtrace", "device"), (), False),
        ("vector_add_oob", "memcheck", ("--padding", "64", "--print-limit", "5"), (), False),
    ],
)
def test_reports_of_this_machines_sanitizer_are_read_whole(
    sanitized: Callable[..., Any],
    name: str,
    tool: str,
    options: tuple[str, ...],
    arguments: tuple[str, ...],
    dump: bool,
) -> None:
    run = sanitized(name, tool=tool, options=options, arguments=arguments, dump=dump)
    report = read_report([Path(run.log)])
    assert report.ran, report.reason
    assert report.unknown_lines == 0
