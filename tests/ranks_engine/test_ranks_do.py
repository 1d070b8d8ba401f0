"""`ranks --do`: acts on sets from the command line, on a real job."""

from __future__ import annotations

import json

import pytest

from ladder_tui.cli import main


def do(capsys: pytest.CaptureFixture[str], pid: int, *acts: str, json_wanted: bool = False) -> tuple[int, str, str]:
    capsys.readouterr()
    options = [word for act in acts for word in ("--do", act)]
    code = main(["ranks", "--pid", str(pid), *(["--json"] if json_wanted else []), *options])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_acts_are_done_and_told(steady, capsys) -> None:
    code, out, error = do(capsys, steady.pids[0], "bt $a{0..1}", "print $a tied")
    assert (code, error) == (0, "")
    assert out.startswith("> bt $a{0..1}\n0-1: #0 ")
    assert out.endswith("> print $a tied\n0-3: 7\n▅▅▅▅  7 on 0, 7 on 0\n")
    code, out, _ = do(capsys, steady.pids[0], "print $a rank / 2", json_wanted=True)
    told = json.loads(out)
    assert (code, told["format"]) == (0, 1)
    reply = told["acts"][0]["reply"]
    assert reply["classes"] == [{"ranks": "0-1", "said": "0"}, {"ranks": "2-3", "said": "1"}]
    assert (reply["asked"], reply["answered"], reply["unreachable"]) == (4, 4, [])


def test_a_fault_ends_it_with_a_caret_and_the_job_lives(steady, capsys) -> None:
    code, out, error = do(capsys, steady.pids[0], "print $a tied", "print $a{2..9} tied", "bt $a")
    assert code == 2
    assert "> print $a tied\n" in out
    assert "bt" not in out
    first, caret, line = error.splitlines()
    assert first == "ladder-tui: print $a{2..9} tied"
    assert caret == "ladder-tui:          ^^^^"
    assert "4..9: no such ranks are in it; $a has 4: 0..3" in line
