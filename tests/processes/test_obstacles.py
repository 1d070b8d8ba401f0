"""What stands between a debugger and a process: each cause with its remedy."""

from __future__ import annotations

import os
import subprocess
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.errors import TargetInvalid
from ladder_backends.gdb.process_check import check_process, explain_refusal
from ladder_backends.processes import ObstacleKind, obstacle_after, obstacle_before
from ladder_backends.processes.obstacles import holds_our_terminal

from .conftest import ALL_CAPABILITIES, DOCKER_CAPABILITIES, ProcTree

NOBODY = 65534
REFUSED = "ptrace: Operation not permitted."
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def as_nobody(question: Callable[[], object]) -> str:
    """What the answer to a question is to a user without rights."""
    question_read, question_write = os.pipe()
    with warnings.catch_warnings():
        # Other threads of the test run do not exist in the child, which needs none.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.write(question_write, str(question()).encode())
        except BaseException as error:
            os.write(question_write, repr(error).encode())
        finally:
            os._exit(0)
    os.close(question_write)
    with os.fdopen(question_read, "rb") as answer:
        text = answer.read().decode()
    os.waitpid(child, 0)
    return text


def line_of(pid: int) -> str:
    """The refusal of a process, or an empty string."""
    try:
        check_process(pid)
    except TargetInvalid as refused:
        return refused.line()
    return ""


# Real ones -------------------------------------------------------------------------------------------------------


def test_nothing_is_in_the_way_of_a_child(started: Any, compiled: Any) -> None:
    assert line_of(started(compiled("spin")).pid) == ""


def test_there_is_none() -> None:
    assert line_of(2**22 + 1) == (
        f"cannot attach to {2**22 + 1}: there is no such process — look at the list of processes again"
    )
    assert explain_refusal(2**22 + 1, "ptrace: No such process.").line() == (
        f"cannot attach to {2**22 + 1}: it has ended meanwhile"
    )


def test_ourselves() -> None:
    assert line_of(os.getpid()).endswith("it is this console itself")


def test_a_zombie_names_the_parent_that_it_waits_for() -> None:
    ended = subprocess.Popen(["true"])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    try:
        assert f"process {os.getpid()}) (zombie)" in line_of(ended.pid)
    finally:
        ended.wait(timeout=20)


def test_a_traced_one_names_its_tracer(gdb: Path, started: Any, compiled: Any) -> None:
    target = started(compiled("spin"))
    tracer = subprocess.Popen(
        [str(gdb), "-nx", "-q", "-p", str(target.pid)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while not (line := line_of(target.pid)):
            time.sleep(0.02)
        assert f"gdb (process {tracer.pid}) traces it already — let that one detach first" in line
        assert "traces it already" in explain_refusal(target.pid, REFUSED).line()
    finally:
        assert tracer.stdin is not None
        tracer.stdin.close()
        tracer.wait(timeout=20)


def test_one_that_waits_in_the_kernel_says_where(started: Any, compiled: Any) -> None:
    waiting = started(compiled("vfork"))
    while Path(f"/proc/{waiting.pid}/stat").read_text().rpartition(")")[2].split()[0] != "D":
        time.sleep(0.01)
    children = Path(f"/proc/{waiting.pid}/task/{waiting.pid}/children").read_text().split()
    try:
        line = line_of(waiting.pid)
        assert "inside the kernel (state D) and stops for nobody before that ends" in line
        assert f"— look at /proc/{waiting.pid}/stack as root" in line
    finally:
        # The parent cannot end before its child does.
        for child in children:
            os.kill(int(child), 9)


@as_root
def test_a_short_wait_in_the_kernel_is_none(started: Any, compiled: Any) -> None:
    # The first look may well see state D; the ones after it see that it does not last.
    assert line_of(started("sh", "-c", "echo; while :; do :; done").pid) == ""


@as_root
def test_another_user_s(started: Any, compiled: Any) -> None:
    pid = started(compiled("spin")).pid
    told = as_nobody(lambda: line_of(pid))
    assert (
        told == f"cannot attach to {pid}: it belongs to user root — run the console as root, or as root with sudo"
    )
    assert line_of(started(compiled("as_user"), str(NOBODY), "1").pid) == ""


@as_root
def test_one_s_own_that_protects_itself(started: Any, compiled: Any) -> None:
    open_to_its_user = started(compiled("as_user"), str(NOBODY), "1").pid
    protected = started(compiled("as_user"), str(NOBODY), "0").pid
    assert as_nobody(lambda: line_of(open_to_its_user)) == ""
    assert "it protects itself (not dumpable)" in as_nobody(lambda: line_of(protected))
    assert line_of(protected) == ""


@as_root
def test_the_kernel_s_own_check_agrees(started: Any, compiled: Any) -> None:
    pid = started(compiled("spin")).pid
    from ladder_backends.processes import ProcFiles

    assert ProcFiles().may_trace(pid) is True
    assert as_nobody(lambda: ProcFiles().may_trace(pid)) == "False"


def test_a_thread_of_the_kernel() -> None:
    if Path("/proc/2/comm").exists() and Path("/proc/2/comm").read_text() == "kthreadd\n":
        assert line_of(2) == "cannot attach to 2: it is a thread of the kernel"


# Captured ones ---------------------------------------------------------------------------------------------------


def told(tree: ProcTree, pid: int = 7) -> str:
    found = obstacle_before(pid, tree.files)
    return "" if found is None else f"{found.cause} — {found.remedy}"


@pytest.mark.parametrize(
    ("scope", "words", "certain"),
    [
        ("0", "", True),
        ("1", "kernel.yama.ptrace_scope is 1: only a program's own starter may attach — run `sudo sysctl", False),
        ("2", "kernel.yama.ptrace_scope is 2: only root may attach — run the console as root", True),
        ("3", "kernel.yama.ptrace_scope is 3: nobody may attach until the next boot — read its stacks", True),
    ],
)
def test_yama(tree: ProcTree, scope: str, words: str, certain: bool) -> None:
    tree.add("self", name="python3")
    tree.add(7)
    tree.setting("kernel/yama/ptrace_scope", scope)
    assert told(tree).startswith(words)
    assert bool(told(tree)) == bool(words)
    found = obstacle_before(7, tree.files)
    assert found is None or found.certain == certain
    if certain and words:
        with pytest.raises(TargetInvalid, match=r"kernel\.yama"):
            check_process(7, tree.files)
    else:
        check_process(7, tree.files)
    if words:
        assert "kernel.yama.ptrace_scope is" in explain_refusal(7, REFUSED, tree.files).line()


def test_yama_does_not_bind_root_below_three(tree: ProcTree) -> None:
    tree.add("self", name="python3", uid=0, effective=ALL_CAPABILITIES)
    tree.add(7)
    tree.setting("kernel/yama/ptrace_scope", "2")
    assert told(tree) == ""


def test_root_of_a_container_without_the_capability(tree: ProcTree) -> None:
    tree.add("self", name="python3", uid=0, effective=DOCKER_CAPABILITIES, seccomp=2)
    tree.add(7, uid=1000)
    assert told(tree).startswith("it belongs to user ")
    tree.add(8, uid=0, effective=DOCKER_CAPABILITIES)
    assert told(tree, 8) == ""
    line = explain_refusal(8, REFUSED, tree.files).line()
    assert line.startswith("cannot attach to 8: the seccomp profile of this container forbids tracing — start it")
    assert "--cap-add SYS_PTRACE --security-opt seccomp=unconfined" in line
    assert "kubectl debug --profile=general --target" in line


def test_a_refusal_that_nothing_explains(tree: ProcTree) -> None:
    tree.add("self", uid=0, effective=ALL_CAPABILITIES)
    tree.add(7, uid=0, effective=ALL_CAPABILITIES)
    line = explain_refusal(7, REFUSED, tree.files).line()
    assert line == (
        "cannot attach to 7: the system does not permit tracing"
        " — in a container, start it with `--cap-add SYS_PTRACE`"
    )
    other = explain_refusal(7, "warning: \x1b[2J something else.\n", tree.files)
    assert other.line() == "cannot attach to 7: warning: ␛[2J something else"


def test_one_with_capabilities_that_we_lack(tree: ProcTree) -> None:
    tree.add("self")
    tree.add(7, permitted="0000000000003000")
    assert told(tree).startswith("it has privileges that this console lacks (its file has capabilities")


def test_users_that_differ_in_one_of_three_ids(tree: ProcTree) -> None:
    tree.add("self")
    tree.add(7)
    status = tree.root / "7/status"
    status.write_text(status.read_text().replace("Uid:\t1000\t1000\t1000", "Uid:\t1000\t0\t0"))
    assert told(tree).startswith("it belongs to user root")


def test_a_process_that_shows_this_console(tree: ProcTree) -> None:
    parent = os.getppid()
    tree.add(parent, name="tmux: server")
    (tree.root / f"{parent}/fd").mkdir()
    assert holds_our_terminal(parent, tree.files) is None
    tree.link(parent, "fd/5", "/dev/ptmx")
    found = holds_our_terminal(parent, tree.files)
    assert found is not None
    assert found.kind is ObstacleKind.TERMINAL
    assert holds_our_terminal(7, tree.files) is None


def test_names_are_content(tree: ProcTree) -> None:
    tree.add("self")
    tree.add(7, tracer=9)
    tree.add(9, name="\x1b[31mgdb\u202e")
    assert told(tree).startswith("␛[31mgdb\\u202e (process 9) traces it already")


@pytest.mark.parametrize(
    "status",
    ["", "garbage", "State:\t\nUid:\nTracerPid:\tx\n", "Uid:\t1000\nCapPrm:\tzz\nVmSize:\t1\n", "\0" * 5000],
)
def test_broken_status_files_are_never_an_error(tree: ProcTree, status: str) -> None:
    tree.add("self")
    tree.add(7)
    (tree.root / "7/status").write_text(status)
    obstacle_before(7, tree.files)
    obstacle_after(7, REFUSED, tree.files)
