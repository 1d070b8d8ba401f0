"""`sanitize` without a screen: what it prints, where, and what its exit code says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

COMMAND = Path(sys.executable).parent / "ladder-tui"
TESTS = Path(__file__).parents[1]
STAND_IN = TESTS / "sanitizer_runs/stand_in/compute-sanitizer"
LOGS = TESTS / "sanitizer/reports/logs"
CLEAN = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"


def program(folder: Path, name: str, body: str) -> Path:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)
    return file


@pytest.fixture
def greeter(tmp_path: Path) -> Path:
    """A program that writes a line."""
    return program(tmp_path, "greeter", "echo hello; echo to stderr >&2")


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """The stand-in of the sanitizer's tests, and what it replays."""
    tool = program(tmp_path, "compute-sanitizer", f'exec "{sys.executable}" "{STAND_IN}" "$@"')
    monkeypatch.setenv("LADDER_SANITIZER", str(tool))
    told = tmp_path / "stand-in.json"
    monkeypatch.setenv("STAND_IN", str(told))

    def tell(**runs: dict[str, Any]) -> None:
        told.write_text(json.dumps(runs, default=str))

    return tell


def test_findings_are_printed_and_1_is_returned(ladder_tui: Any, stand_in: Any, greeter: Path) -> None:
    stand_in(memcheck={"log": LOGS / "memcheck-oob.log"})
    answer = ladder_tui("sanitize", "--", greeter)
    assert answer.code == 1
    assert "read 4 B out of bounds" in answer.out
    assert "hello" not in answer.out
    assert answer.err.splitlines()[:2] == ["hello", "to stderr"]
    assert "ladder-tui open " in answer.err


def test_json_tells_of_the_run_too(ladder_tui: Any, stand_in: Any, greeter: Path, tmp_path: Path) -> None:
    stand_in(memcheck={"log": LOGS / "memcheck-oob.log"}, racecheck={"log": LOGS / "racecheck-analysis.log"})
    answer = ladder_tui(
        *(
            "sanitize",
            "--json",
            "--tool",
            "racecheck",
            "--tool",
            "memcheck",
            "--kernel",
            "vadd",
            "--launch-skip",
            "2",
        ),
        *("--launch-count", "3", "--padding", "32", "--leaks", "--timeout", "60", "--without", "dump"),
        *("--save", tmp_path / "run", "--option=--num-callers-host", "--option=4", greeter, "--tool", "x"),
    )
    assert answer.code == 1
    document = answer.json
    assert (document["format"], document["tool"], document["ran"]) == (1, "racecheck, memcheck", True)
    race, memory = document["run"]["tools"]
    assert (race["tool"], race["end"], memory["tool"], memory["found"]) == ("racecheck", "found", "memcheck", 24)
    words = " ".join(memory["argv"])
    for expected in (
        "--tool memcheck",
        "--kernel-name kns=vadd",
        "--launch-skip 2",
        "--launch-count 3",
        "--padding 32",
        "--leak-check full",
        f"--log-file {tmp_path}/run/memcheck.log",
        "--strip-paths no",
        "--num-callers-host 4",
        f"{greeter} --tool x",
    ):
        assert expected in words
    assert "--generate-coredump" not in words
    assert "--leak-check" not in race["argv"]
    packed = ladder_tui("record", "--json", "-o", tmp_path / "run.ladder", "--", tmp_path / "run")
    assert [part["name"] for part in packed.json["parts"]] == ["findings/racecheck.log", "findings/memcheck.log"]
    case = ladder_tui("open", "--json", tmp_path / "run.ladder")
    assert len(case.json["report"]["findings"]) == len(document["findings"])
    opened = ladder_tui("open", "--json", tmp_path / "run")
    assert opened.code == 1
    assert {one["tool"] for one in opened.json["report"]["findings"]} == {"memcheck", "racecheck"}


def test_nothing_found_is_0(ladder_tui: Any, stand_in: Any, greeter: Path, tmp_path: Path) -> None:
    (tmp_path / "clean.log").write_text(CLEAN)
    stand_in(memcheck={"log": tmp_path / "clean.log"})
    answer = ladder_tui("sanitize", greeter)
    assert (answer.code, answer.err) == (0, "hello\nto stderr\n")
    assert "nothing found" in answer.out


def test_a_run_that_was_cut_short_with_nothing_found_is_2(ladder_tui: Any, stand_in: Any, tmp_path: Path) -> None:
    stand_in(memcheck={"hangs": True})
    answer = ladder_tui("sanitize", "--json", "--timeout", "0.5", program(tmp_path, "p", "exec sleep 60"))
    assert answer.code == 2
    assert answer.json["run"]["tools"][0]["end"] == "timed out"
    assert "time-out" in answer.complaint


def test_the_real_tool_without_a_gpu_is_2(ladder_tui: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = (Path(sys.prefix) / "sanitizer").glob("lib/python*/site-packages/nvidia/cu*/compute-sanitizer")
    tool = next((folder / "compute-sanitizer" for folder in sorted(folders)), None)
    if tool is None:
        pytest.skip("compute-sanitizer is not installed: demos/setup --tests installs it where it can")
    monkeypatch.setenv("LADDER_SANITIZER", str(tool))
    answer = ladder_tui("sanitize", "/bin/true")
    assert answer.code == 2
    assert "did not run" in answer.complaint


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "no program was named"),
        (("--", "/no/such"), "there is no such file"),
        (("--with", "magic", "/bin/true"), "there is no help magic"),
        (("--tool", "magic", "/bin/true"), "invalid choice"),
        (("--launch-skip", "-1", "/bin/true"), "--launch-skip"),
        (("--suppressions", "/no/such.xml", "/bin/true"), "there is no suppressions file"),
        (("--cwd", "/no/such", "/bin/true"), "is no folder"),
        (("--timeout", "nan", "/bin/true"), "--timeout"),
    ],
)
def test_what_cannot_be_run_is_one_line(ladder_tui: Any, stand_in: Any, words: Any, says: str) -> None:
    stand_in(memcheck={})
    answer = ladder_tui("sanitize", *words)
    assert (answer.code, answer.out) == (2, "")
    assert says in answer.complaint


@pytest.mark.parametrize(
    ("content", "mode", "says"),
    [
        (None, 0o755, "it is a folder"),
        ("", 0o755, "it is empty (0 bytes)"),
        ("echo hello\n", 0o755, "it is no program for this system (no ELF file)"),
        ("#!/no/such/shell\n", 0o755, "its first line names /no/such/shell, which is not there"),
        ("#!/bin/sh\necho hello\n", 0o644, "it is not executable"),
    ],
)
def test_what_the_system_does_not_start_never_reaches_the_tool(
    ladder_tui: Any, stand_in: Any, tmp_path: Path, content: str | None, mode: int, says: str
) -> None:
    stand_in(memcheck={})
    program = tmp_path / "program"
    if content is None:
        program.mkdir()
    else:
        program.write_text(content)
        program.chmod(mode)
    answer = ladder_tui("sanitize", program)
    assert (answer.code, answer.out) == (2, "")
    assert answer.complaint.startswith(f"ladder-tui: cannot run {program}: {says}")


def test_a_missing_tool_says_how_to_get_it(ladder_tui: Any, greeter: Path) -> None:
    answer = ladder_tui("sanitize", greeter, environment={"LADDER_SANITIZER": "/no/such"})
    assert answer.code == 2
    assert "LADDER_SANITIZER names /no/such, which does not exist" in answer.complaint
    assert "CUDA toolkit" in answer.complaint


def test_something_else_in_its_place_is_told_from_it(ladder_tui: Any, greeter: Path) -> None:
    answer = ladder_tui("sanitize", greeter, environment={"LADDER_SANITIZER": "/bin/echo"})
    assert answer.code == 2
    assert "too old or no compute-sanitizer" in answer.complaint


def test_a_preset_is_taken_by_what_the_script_imports(ladder_tui: Any, stand_in: Any, tmp_path: Path) -> None:
    (tmp_path / "clean.log").write_text(CLEAN)
    (tmp_path / "train.py").write_text(
        "import os\nif 0:\n    import torch\nprint(os.environ['PYTORCH_NO_CUDA_MEMORY_CACHING'])\n"
    )
    stand_in(memcheck={"log": tmp_path / "clean.log"})
    answer = ladder_tui("sanitize", sys.executable, "train.py")
    assert answer.code == 0
    assert "preset torch" in answer.err
    assert "PYTORCH_NO_CUDA_MEMORY_CACHING=1" in answer.err
    assert answer.err.splitlines()[-1] == "1"
    answer = ladder_tui("sanitize", "--preset", "plain", sys.executable, "train.py")
    assert "KeyError" in answer.err


def test_cupy_is_imported_without_its_pools(ladder_tui: Any, stand_in: Any, tmp_path: Path) -> None:
    (tmp_path / "clean.log").write_text(CLEAN)
    (tmp_path / "cupy.py").write_text(
        "class cuda:\n"
        "    set_allocator = staticmethod(lambda one: print('device pool', one))\n"
        "    set_pinned_memory_allocator = staticmethod(lambda one=None: print('pinned pool', one))\n"
    )
    (tmp_path / "job.py").write_text("import sys, cupy\nprint(__name__, sys.argv)\n")
    stand_in(memcheck={"log": tmp_path / "clean.log"})
    answer = ladder_tui(
        "sanitize", "--env", f"PYTHONPATH={tmp_path}", sys.executable, "-u", "job.py", "--n", "3", cwd=tmp_path
    )
    lines = answer.err.splitlines()
    assert "device pool None" in lines
    assert "pinned pool None" in lines
    assert "__main__ ['job.py', '--n', '3']" in lines


def test_ctrl_c_keeps_what_was_found(stand_in: Any, tmp_path: Path) -> None:
    stand_in(memcheck={"log": LOGS / "memcheck-oob.log"})
    sleeper = program(tmp_path, "sleeper", "echo begins; exec sleep 600")
    run = subprocess.Popen(
        [COMMAND, "sanitize", "--json", "--", sleeper],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ,
        start_new_session=True,
    )
    assert run.stderr is not None
    while b"begins" not in run.stderr.readline():
        pass
    run.send_signal(signal.SIGINT)
    out, _ = run.communicate(timeout=50)
    document = json.loads(out)
    assert run.returncode == 1
    assert document["run"]["tools"][0]["end"] == "stopped"
    assert len(document["findings"]) >= 24
