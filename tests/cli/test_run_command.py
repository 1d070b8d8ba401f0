"""`run`, `core` and `demo segfault` without a screen, by the real gdb."""

from __future__ import annotations

import base64
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ladder_backends.model.breakpoint import BreakpointIntent
from ladder_backends.paths import config_file
from ladder_backends.session.intents import IntentStore
from ladder_demos.catalogue import DEMOS, find_demo
from ladder_demos.compile import compile_demo
from ladder_demos.rank_jobs import RANK_DEMOS


def test_the_whole_story_of_a_crash(ladder_tui, gdb) -> None:
    answer = ladder_tui("demo", "segfault", "--json")
    assert (answer.code, answer.err) == (1, "")
    document = answer.json
    assert (document["format"], document["rung"], document["run"]) == (1, "gdb", "stopped")
    assert "SIGSEGV" in document["detail"]
    assert [(frame["function"], frame["line"]) for frame in document["frames"]] == [
        ("compute_total", 5),
        ("main", 10),
    ]
    assert {one["name"]: one["value"] for one in document["locals"]}["data"] == "0x0"
    assert document["source"] == "engine"


def test_the_same_for_a_person(ladder_tui, gdb) -> None:
    answer = ladder_tui("run", compile_demo(find_demo("segfault")))
    assert (answer.code, answer.err) == (1, "")
    assert "SIGSEGV" in answer.out
    assert "data  = 0x0" in answer.out
    assert answer.out.index("compute_total") < answer.out.index("main")


def test_a_program_that_ends_well_is_0_and_its_output_is_shown(ladder_tui, gdb) -> None:
    answer = ladder_tui("run", "/bin/echo", "--json", "hello")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("--json hello\n")


def test_it_can_stop_at_main(ladder_tui, gdb) -> None:
    answer = ladder_tui("run", "--stop-at-main", "--json", compile_demo(find_demo("segfault")))
    assert answer.err == ""
    assert answer.json["run"] == "stopped"
    assert [frame["function"] for frame in answer.json["frames"]] == ["main"]


def test_folder_variables_and_input_are_the_programs(ladder_tui, gdb, compiled, tmp_path: Path) -> None:
    (tmp_path / "in put").write_text("read from a file")
    folder = tmp_path / "a folder"
    folder.mkdir()
    options = ("--cwd", folder, "--env", "ONE=a 'b' \"c\"", "--env=TWO=x=y", "--stdin", tmp_path / "in put")
    answer = ladder_tui("run", *options, compiled("show_arguments"), "--cwd", "of the program")
    assert answer.code == 0
    assert f"folder <{folder}>" in answer.out
    assert "variable <ONE=a 'b' \"c\">" in answer.out
    assert "variable <TWO=x=y>" in answer.out
    assert "argument 1 <--cwd>" in answer.out
    assert "terminal 011" in answer.out
    assert "read from a file" in ladder_tui("--stdin", tmp_path / "in put", "/bin/cat").out


def test_what_it_cannot_be_started_with_is_one_line(ladder_tui, gdb) -> None:
    for options, complaint in (
        (("--cwd", "/no such"), "cannot run in /no such: there is no such folder"),
        (("--stdin", "/no such"), "cannot read input from /no such: there is no such file"),
        (("--env", "NAME"), "--env NAME is not NAME=VALUE"),
        (("--env", "A= x"), "cannot set A: gdb drops blanks at the ends of a value"),
    ):
        answer = ladder_tui("run", *options, "/bin/true")
        assert (answer.code, answer.out) == (2, "")
        assert complaint in answer.complaint


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--follow-fork", "parent"), "exited normally"),
        (("--follow-fork=child",), "exited with code 40"),
        ((), "exited with code 40"),
        (("--follow-fork", "both"), "exited normally"),
    ],
)
def test_which_side_of_a_fork_is_followed(ladder_tui, gdb, compiled, options: tuple[str, ...], says: str) -> None:
    """What the command line says wins over the settings; of two that are held, the run is over with the last."""
    settings = config_file()
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text('at_fork = "child"\n')
    answer = ladder_tui("run", *options, compiled("forks"))
    assert (answer.code, answer.err) == (1 if "40" in says else 0, "")
    assert answer.out.splitlines()[-1] == f"forks: {says}"


def test_an_exit_status_is_1(ladder_tui, gdb) -> None:
    answer = ladder_tui("--json", "sh", "-c", "exit 3")
    assert answer.code == 1
    assert answer.json["run"] == "exited"


def test_a_program_called_like_a_command(ladder_tui, gdb, tmp_path: Path) -> None:
    (tmp_path / "ranks").symlink_to("/bin/true")
    answer = ladder_tui("ranks", "--job", "nosuch")
    assert (answer.code, "no job" in answer.err) == (2, True)
    assert ladder_tui("run", "--", "./ranks").code == 0
    assert ladder_tui("--", "./ranks").code == 0


def test_bad_programs_are_one_line(ladder_tui, gdb, tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "empty").chmod(0o755)
    (tmp_path / "text").write_text("hello")
    for name in ("./gone", "./empty", "./text", "."):
        answer = ladder_tui("run", name)
        assert (answer.code, answer.out) == (2, "")
        assert answer.complaint


@pytest.mark.parametrize(
    ("file", "remedy"),
    [
        (find_demo("vector-add").path, "ladder-tui open "),
        (find_demo("segfault").path, "compile it with -g"),
        (Path(__file__), "ladder-tui python3 "),
    ],
    ids=["case", "source", "python"],
)
def test_what_is_no_program_says_what_to_do_with_it(ladder_tui, file: Path, remedy: str) -> None:
    answer = ladder_tui(file)
    assert (answer.code, answer.out) == (2, "")
    assert remedy in answer.complaint


def test_a_host_core(ladder_tui, gdb, tmp_path: Path) -> None:
    program = compile_demo(find_demo("segfault"))
    core = tmp_path / "core.1"
    words = [str(gdb), "-nx", "-batch", "-ex", "run", "-ex", f"gcore {core}", str(program)]
    subprocess.run(words, capture_output=True, check=True, timeout=50)
    answer = ladder_tui("core", core, program, "--json")
    assert answer.code == 0
    assert answer.json["frames"][0]["function"] == "compute_total"


def test_what_is_no_core_is_one_line(ladder_tui, tmp_path: Path) -> None:
    for name in ("gone", "/etc/passwd", str(find_demo("segfault").path)):
        answer = ladder_tui("core", name)
        assert (answer.code, answer.out) == (2, "")
        assert answer.complaint
    assert "it is an executable" in ladder_tui("core", "/bin/true").complaint


def test_demos_are_listed(ladder_tui) -> None:
    answer = ladder_tui("demo")
    assert (answer.code, answer.err) == (0, "")
    rows = ladder_tui("demo", "--json").json["demos"]
    names = [demo.name for demo in (*DEMOS, *RANK_DEMOS)]
    assert [row["name"] for row in rows] == names
    assert all(name in answer.out for name in names)


def test_an_unknown_demo_is_one_line(ladder_tui) -> None:
    complaint = ladder_tui("demo", "gone").complaint
    assert "there are vector-add" in complaint
    assert "torch-missing" in complaint


def test_a_machine_without_a_compiler(ladder_tui, tmp_path: Path) -> None:
    environment = {"PATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "CC": ""}
    answer = ladder_tui("demo", "segfault", environment=environment)
    assert answer.code == 2
    assert "there is no C compiler" in answer.complaint


def test_what_is_piped_in_reaches_the_program_and_so_does_its_end(ladder_tui, gdb, tmp_path: Path) -> None:
    answer = ladder_tui("run", "/bin/cat", typed=b"one\ntwo")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines()[-1] == "cat: exited normally"
    assert "one\n" in answer.out


def test_a_program_that_waits_for_input_sees_its_end(ladder_tui, gdb) -> None:
    assert ladder_tui("run", "/bin/cat").code == 0


def test_frames_have_arguments_or_else_address_and_module(ladder_tui, gdb, tmp_path: Path) -> None:
    program = compile_demo(find_demo("segfault"))
    story = ladder_tui("run", program).out
    assert "#0     compute_total (data=0x0" in story
    frames = ladder_tui("--json", program).json["frames"]
    assert frames[0]["arguments"][0] == {"name": "data", "value": "0x0"}
    stripped = tmp_path / "stripped"
    shutil.copy(program, stripped)
    subprocess.run(["strip", str(stripped)], check=True, timeout=60)
    assert re.search(r"^#0     \?\? 0x[0-9a-f]{8,}", ladder_tui("run", stripped).out, re.MULTILINE)


def test_what_the_engine_warns_of_is_told_to_a_person_too(ladder_tui, gdb, tmp_path: Path) -> None:
    program = compile_demo(find_demo("segfault"))
    core = tmp_path / "core"
    command = ["gdb", "-nx", "-batch", "-ex", "run", "-ex", f"generate-core-file {core}", str(program)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    assert "may not match" not in ladder_tui("core", core, program).out
    assert "note   true may not match the core: it has build id" in ladder_tui("core", core, "/bin/true").out


@pytest.mark.parametrize("number", ["SIGINT", "SIGSTOP", "SIGTRAP", "SIGTERM", "SIGUSR1", "SIGSEGV", "SIGKILL"])
def test_any_signal_of_the_program_itself_is_1(ladder_tui, gdb, number: str) -> None:
    answer = ladder_tui("run", sys.executable, "-c", f"import os, signal; os.kill(os.getpid(), signal.{number})")
    assert (answer.code, answer.err) == (1, "")


def test_a_program_that_never_started_is_2(ladder_tui, gdb, tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "loader").write_text("no loader")
    command = ["gcc", "p.c", "-o", "p", f"-Wl,--dynamic-linker={tmp_path / 'loader'}"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=60)
    answer = ladder_tui("run", "./p")
    assert answer.code == 2
    assert "the program did not start: During startup program exited" in answer.out


def test_a_stop_at_a_breakpoint_that_was_kept_is_0(ladder_tui, gdb) -> None:
    program = compile_demo(find_demo("segfault"))
    IntentStore(program).save([BreakpointIntent(1, "compute_total")])
    answer = ladder_tui("run", program)
    assert (answer.code, answer.err) == (0, "")
    assert "segfault: breakpoint 1" in answer.out


def test_a_debugger_that_dies_on_the_program_is_2(ladder_tui, gdb) -> None:
    answer = ladder_tui("run", "/bin/sh", "-c", "kill -9 $PPID")
    assert answer.code == 2
    assert "gdb died (signal 9)" in answer.out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_program_that_is_interrupted_shows_where_it_was(gdb, tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "hang.c").write_text(
        "#include <stdio.h>\n#include <unistd.h>\n"
        'static void wait_for_it(int rank) { puts("began"); fflush(stdout); for (;;) sleep(rank); }\n'
        "int main(void) { wait_for_it(7); }\n"
    )
    subprocess.run(["gcc", "-g", "hang.c", "-o", "hang"], cwd=tmp_path, check=True, timeout=60)
    began = tmp_path / "began.jsonl"
    command = [sys.executable, "-m", "ladder_tui", "run", "--record", str(began), "./hang"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as run:
        said = base64.b64encode(b"began")[:6].decode()
        told = f'"ch":"program","d":"<","b64":"{said}'
        while not (began.exists() and told in began.read_text().replace(" ", "")):
            time.sleep(0.05)
            assert run.poll() is None
        run.send_signal(number)
        out, _ = run.communicate(timeout=60)
    assert run.returncode == 1
    assert out.startswith("began\n")
    assert "hang: interrupted" in out
    assert "wait_for_it (rank=7) at hang.c:3" in out


def test_a_rung_without_a_debugger_is_refused_in_one_line(ladder_tui, compiled) -> None:
    answer = ladder_tui("run", "--json", "--rung", "sanitizer", compiled("steps"))
    assert answer.code == 2
    assert answer.err.count("\n") == 1
    assert "--rung sanitizer is no debugger" in answer.err
    assert "cuda-gdb" in answer.err


@pytest.mark.parametrize(
    "last_line",
    ['exec "{manager}" exec "$program" "$@"', "exec {manager} exec echo $@ # plugin: tools 1.0"],
    ids=["pyenv", "asdf"],
)
def test_the_program_behind_a_shim_is_the_one_that_runs(ladder_tui, gdb, tmp_path: Path, last_line: str) -> None:
    """A version manager's script stands before the program on PATH."""
    manager, shims = tmp_path / "libexec" / "pyenv", tmp_path / "shims"
    for folder in (manager.parent, shims):
        folder.mkdir()
    manager.write_text('#!/bin/sh\n[ "$1 $2" = "which echo" ] && echo /bin/echo\n')
    shim = shims / "echo"
    shim.write_text(f'#!/usr/bin/env bash\nprogram="${{0##*/}}"\n{last_line.format(manager=manager)}\n')
    for file in (manager, shim):
        file.chmod(0o755)
    path = {"PATH": f"{shims}:{os.environ['PATH']}"}
    answer = ladder_tui("run", "echo", "hello", environment=path)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("hello\n")
    assert ladder_tui("run", shim, "hello").code == 0
    manager.write_text("#!/bin/sh\nexit 1\n")
    answer = ladder_tui("run", "echo", environment=path)
    assert answer.code == 2
    assert "it is a script" in answer.complaint


def test_a_scripts_own_interpreter_is_named(ladder_tui, tmp_path: Path) -> None:
    script = tmp_path / "tool"
    for first, named in (("#!/usr/bin/env -S perl -w", "perl"), ("#!/usr/bin/awk -f", "/usr/bin/awk")):
        script.write_text(f"{first}\n")
        script.chmod(0o755)
        assert f"ladder-tui {named} {script}" in ladder_tui(script).complaint
