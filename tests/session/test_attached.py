"""Attached processes: warm symbols, and a process that is left as it was found whatever happens."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.debugger import AttachTarget, LaunchTarget, StepKind
from ladder_backends.errors import EngineDied, TargetInvalid
from ladder_backends.gdb import attaching
from ladder_backends.paths import cache_dir
from ladder_backends.session.all_stacks import let_go, read_all_stacks
from ladder_backends.session.ladder import Ladder
from ladder_backends.session.state import Run

KEPT = ("SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt")


def status(pid: int) -> dict[str, str]:
    rows = (line.partition(":") for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return {name: value.strip() for name, _, value in rows}


def state(pid: int) -> str:
    return status(pid)["State"][0]


def signals(pid: int) -> dict[str, str]:
    return {name: value for name, value in status(pid).items() if name in KEPT}


def turns(process: subprocess.Popen[bytes]) -> None:
    """The process goes on for some turns: a breakpoint left in it would end it here."""
    end = time.monotonic() + 0.2
    while time.monotonic() < end:
        assert process.poll() is None
        time.sleep(0.01)


def soon(true: Callable[[], bool]) -> bool:
    end = time.monotonic() + 20
    while time.monotonic() < end and not true():
        time.sleep(0.01)
    return true()


def waits_in_kernel(pid: int) -> list[int]:
    """Wait until a process is in state D; the children that keep it there."""
    assert soon(lambda: state(pid) == "D")
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


async def pends(session: Any, words: str) -> None:
    """Wait until the engine works on a command."""
    while not any(words in text for text, _ in session.pending()):  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0.01)


@pytest.fixture
def library_user(compiled: Any, tmp_path: Path) -> Path:
    """A program with a library of its own, in a folder that may be changed."""
    library, program = tmp_path / "libpart.so", tmp_path / "library_user"
    subprocess.run(
        ["gcc", "-g", "-shared", "-fPIC", "-o", library, compiled.source("part")], check=True, timeout=60
    )
    command = ["gcc", "-g", "-o", program, compiled.source("library_user"), library, f"-Wl,-rpath,{tmp_path}"]
    subprocess.run(command, check=True, timeout=60)
    return program


@pytest.fixture
def started() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts a program and waits for its first line."""
    running: list[subprocess.Popen[bytes]] = []

    def start(*command: str | Path) -> subprocess.Popen[bytes]:
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE)
        running.append(process)
        assert process.stdout is not None
        process.stdout.readline()
        return process

    yield start
    for process in running:
        process.kill()
        process.wait(timeout=20)
        assert process.stdout is not None
        process.stdout.close()


async def test_symbols_are_read_before_and_mean_the_process_alone(
    started: Any, told: Any, library_user: Path
) -> None:
    process = started(library_user)
    await told.session.open(AttachTarget(process.pid))
    await told.session.at_rest()
    assert told.state.run is Run.STOPPED
    assert not told.state.control.startable
    notice = next(text for text in told.notices() if "stands" in text)
    assert notice.startswith(f"process {process.pid} stands; stopping it took 0.")
    assert "files were read while it ran" in notice
    debugger = told.session.debugger
    assert debugger.stopping_took is not None
    # What was read beforehand does not stand beside what the process has.
    binding = await told.session.set_breakpoint("part_turn")
    assert len(binding.places) == 1
    groups = (await debugger.command("-list-thread-groups")).results["groups"]
    assert [group["id"] for group in groups] == ["i1"]
    await told.go(StepKind.CONTINUE)
    assert told.state.frames.frames[0].function == "part_turn"
    assert told.values()["n"].isdigit()


async def test_nobody_hears_of_a_rehearsal(started: Any, told: Any, library_user: Path, monkeypatch) -> None:
    """Before the symbols of large libraries are read, something small is attached to."""
    rehearsed: list[bool] = []
    rehearse = attaching.rehearse

    async def watched(engine: Any) -> bool:
        rehearsed.append(await rehearse(engine))
        return rehearsed[-1]

    monkeypatch.setattr(attaching, "_WORTH_A_WORD", 0)
    monkeypatch.setattr(attaching, "rehearse", watched)
    process = started(library_user)
    await told.session.open(AttachTarget(process.pid))
    await told.session.at_rest()
    assert rehearsed == [True]
    debugger = told.session.debugger
    assert debugger.process.pids == {"i1": process.pid}
    assert debugger.events.stops == 1
    assert [thread.id for thread in await debugger.threads.list()] == [1]
    assert not any("cat" in text or "Inferior 2" in text for text in told.notices())


async def test_a_plain_attach_reads_them_afterwards(
    started: Any, told: Any, library_user: Path, monkeypatch
) -> None:
    """What cannot be read beforehand is read by the engine itself, as ever."""
    from ladder_backends.gdb import warm_symbols

    monkeypatch.setattr(warm_symbols, "_readable", lambda objects: ())
    process = started(library_user)
    await told.session.open(AttachTarget(process.pid))
    await told.session.at_rest()
    assert "stands" in told.notices()[-1]
    assert "were read" not in told.notices()[-1]
    assert (await told.session.evaluate("turns")).value.isdigit()


@pytest.mark.parametrize("running", [False, True], ids=["stopped", "running"])
async def test_breakpoints_set_while_it_runs_leave_with_us(
    started: Any, told: Any, compiled: Any, running: bool
) -> None:
    process = started(compiled("spin"))
    before = signals(process.pid)
    await told.session.open(AttachTarget(process.pid))
    await told.session.at_rest()
    await told.session.resume(StepKind.CONTINUE)
    await told.until(lambda: told.state.run is Run.RUNNING)
    await told.session.set_breakpoint("turn", condition="turns < 0")
    if not running:
        await told.session.interrupt()
        await told.session.at_rest()
    await told.session.close()
    turns(process)
    assert state(process.pid) in "SR"
    assert status(process.pid)["TracerPid"] == "0"
    assert signals(process.pid) == before


async def test_a_stopped_process_stays_stopped(started: Any, told: Any, compiled: Any) -> None:
    process = started(compiled("spin"))
    process.send_signal(signal.SIGSTOP)
    assert soon(lambda: state(process.pid) == "T")
    await told.session.open(AttachTarget(process.pid))
    await told.session.at_rest()
    assert told.state.run is Run.STOPPED
    await told.session.close()
    assert status(process.pid)["TracerPid"] == "0"
    assert soon(lambda: state(process.pid) == "T")
    process.send_signal(signal.SIGCONT)
    turns(process)
    assert state(process.pid) in "SR"


async def test_a_stopped_process_that_is_let_go_runs_on(started: Any, told: Any, compiled: Any) -> None:
    process = started(compiled("spin"))
    process.send_signal(signal.SIGSTOP)
    assert soon(lambda: state(process.pid) == "T")
    await told.session.open(AttachTarget(process.pid))
    await told.session.at_rest()
    assert any(f"`kill -CONT {process.pid}` lets it go on" in text for text in told.notices())
    process.send_signal(signal.SIGCONT)
    await told.session.close()
    assert soon(lambda: state(process.pid) in "SR")
    turns(process)


async def test_all_stacks_and_letting_go(started: Any, told: Any, compiled: Any) -> None:
    process = started(compiled("spin"))
    await told.session.open(AttachTarget(process.pid))
    await told.session.at_rest()
    stacks = await read_all_stacks(told.session.debugger)
    assert (stacks.threads, stacks.late) == (1, False)
    (only,) = stacks.stacks
    assert only.thread.system_id == process.pid
    assert "main" in [frame.function for frame in only.frames.frames]
    await let_go(told.session.debugger)
    await told.session.close()
    turns(process)


# Things that go wrong --------------------------------------------------------------------------------------------


async def test_a_refused_attach_costs_no_session(started: Any, compiled: Any, gdb: Path) -> None:
    ladder = Ladder()
    try:
        session = await ladder.open_target(LaunchTarget(compiled("spin")), run=False)
        with pytest.raises(TargetInvalid, match="there is no such process"):
            await ladder.open_target(AttachTarget(2**22 + 1))
        assert ladder.active is session
        assert session.debugger.started
    finally:
        await ladder.close()


async def test_one_that_ends_while_its_symbols_are_read(
    started: Any, told: Any, compiled: Any, monkeypatch
) -> None:
    process = started(compiled("spin"))
    real = attaching.Attaching.read_symbols

    async def ends_meanwhile(self: attaching.Attaching) -> None:
        await real(self)
        process.kill()
        process.wait(timeout=20)

    monkeypatch.setattr(attaching.Attaching, "read_symbols", ends_meanwhile)
    with pytest.raises(TargetInvalid, match=f"cannot attach to {process.pid}: it has ended meanwhile"):
        await told.session.open(AttachTarget(process.pid))
    assert told.state.run is Run.NOTHING
    await told.session.at_rest()


async def test_an_interrupt_while_symbols_are_read_gives_up(
    started: Any, told: Any, compiled: Any, tmp_path: Path, monkeypatch
) -> None:
    process = started(compiled("spin"))
    debugger = told.session.debugger
    real = debugger.command

    async def slow(text: str, *, deadline: float | None = 10.0) -> Any:
        if "symbol-file" in text:
            text = '-interpreter-exec console "python import time; time.sleep(30)"'
        return await real(text, deadline=deadline)

    monkeypatch.setattr(debugger, "command", slow)
    opening = asyncio.ensure_future(told.session.open(AttachTarget(process.pid)))
    # What is read is told by name and number.
    await pends(told.session, "symbols 1/")
    await told.session.interrupt()
    with pytest.raises(TargetInvalid, match=r"was given up: .* the process was not touched"):
        await opening
    assert status(process.pid)["TracerPid"] == "0"
    turns(process)


async def test_an_attach_that_is_stuck_can_be_given_up(started: Any, told: Any, compiled: Any, monkeypatch) -> None:
    monkeypatch.setattr(attaching, "check_process", lambda pid: None)
    monkeypatch.setattr(attaching, "STUCK_AFTER", 0.1)
    process = started(compiled("vfork"), "60")
    children = waits_in_kernel(process.pid)
    opening = asyncio.ensure_future(told.session.open(AttachTarget(process.pid)))
    await told.until(lambda: any("does not stop" in text for text in told.notices()))
    assert any("inside the kernel" in text and "an interrupt gives up" in text for text in told.notices())
    await told.session.interrupt()
    with pytest.raises(TargetInvalid, match="was given up: it did not stop; it goes on as before"):
        await opening
    for child in children:
        os.kill(child, signal.SIGKILL)
    assert soon(lambda: state(process.pid) in "SR")
    assert status(process.pid)["TracerPid"] == "0"
    turns(process)
    assert state(process.pid) in "SR"


async def test_leaving_while_an_attach_is_stuck(started: Any, told: Any, compiled: Any, monkeypatch) -> None:
    monkeypatch.setattr(attaching, "check_process", lambda pid: None)
    monkeypatch.setattr(attaching, "STUCK_AFTER", 0.1)
    process = started(compiled("vfork"), "60")
    children = waits_in_kernel(process.pid)
    opening = asyncio.ensure_future(told.session.open(AttachTarget(process.pid)))
    await told.until(lambda: any("does not stop" in text for text in told.notices()))
    await told.session.close()
    with pytest.raises(TargetInvalid):
        await opening
    for child in children:
        os.kill(child, signal.SIGKILL)
    assert soon(lambda: state(process.pid) in "SR")
    turns(process)
    assert state(process.pid) in "SR"


async def test_an_engine_that_dies_before_it_attached_leaves_the_process_alone(
    started: Any, told: Any, compiled: Any, monkeypatch
) -> None:
    process = started(compiled("spin"))
    debugger = told.session.debugger

    async def dies(self: attaching.Attaching) -> None:
        os.kill(debugger._mi._transport.pid, signal.SIGKILL)
        await debugger.command("-gdb-show version")

    monkeypatch.setattr(attaching.Attaching, "read_symbols", dies)
    with pytest.raises(EngineDied):
        await told.session.open(AttachTarget(process.pid))
    assert told.state.run is Run.DEAD
    turns(process)
    assert state(process.pid) in "SR"


async def test_a_deleted_program_keeps_its_own_symbols(
    started: Any, told: Any, compiled: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "program"
    shutil.copy(compiled("spin"), program)
    process = started(program)
    program.unlink()
    # Another program is there now, as after a build.
    shutil.copy(compiled("steps"), program)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    # What another console keeps meanwhile, or has left there, is in nobody's way.
    theirs = cache_dir() / "running" / str(process.pid)
    theirs.mkdir(parents=True)
    (theirs / "theirs").touch()
    await told.session.open(AttachTarget(process.pid))
    await told.session.at_rest()
    assert any(
        text.startswith("program was deleted or replaced since it started: symbols") for text in told.notices()
    )
    frames = [frame.function for frame in told.state.frames.frames]
    await told.session.stack.show(0, 20)
    frames = [frame.function for frame in told.state.frames.frames]
    assert "main" in frames
    assert (await told.session.evaluate("turns")).value.isdigit()
    assert [path.name for path in cache_dir().iterdir()] == ["running"]


async def test_a_replaced_library_is_told_of(started: Any, told: Any, library_user: Path) -> None:
    process = started(library_user)
    library = library_user.with_name("libpart.so")
    library.unlink()
    library.write_bytes(b"something else")
    await told.session.open(AttachTarget(process.pid))
    await told.session.at_rest()
    assert any(text.startswith("libpart.so: deleted or replaced since") for text in told.notices())
    assert told.state.run is Run.STOPPED


@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("unshare") is None, reason="needs a mount namespace of its own"
)
async def test_a_process_with_other_mounts_is_read_through_its_root(
    started: Any, told: Any, library_user: Path
) -> None:
    process = started("unshare", "--mount", "--propagation", "unchanged", library_user)
    await told.session.open(AttachTarget(process.pid))
    await told.session.at_rest()
    assert any(f"read through /proc/{process.pid}/root" in text for text in told.notices())
    assert (await told.session.evaluate("turns")).value.isdigit()
    binding = await told.session.set_breakpoint("part_turn")
    assert len(binding.places) == 1
    await told.go(StepKind.CONTINUE)
    assert told.state.frames.frames[0].function == "part_turn"


async def test_one_that_waits_in_the_kernel_is_not_attached_to(started: Any, told: Any, compiled: Any) -> None:
    process = started(compiled("vfork"), "60")
    children = waits_in_kernel(process.pid)
    try:
        with pytest.raises(TargetInvalid, match=r"it waits .*inside the kernel"):
            await told.session.open(AttachTarget(process.pid))
        assert not told.session.debugger.started
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
    assert soon(lambda: state(process.pid) in "SR")


_CONSOLE = """
import asyncio, sys
from ladder_backends.debugger import AttachTarget, StepKind
from ladder_backends.gdb import GdbDebugger
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.state import Run

async def main(pid, how):
    session = DebugSession(GdbDebugger())
    await session.open(AttachTarget(pid))
    await session.at_rest()
    if how != "stopped":
        await session.resume(StepKind.CONTINUE)
        while session.state.run is not Run.RUNNING:
            await asyncio.sleep(0.01)
        await session.set_breakpoint("turn", condition="turns < 0")
    else:
        await session.set_breakpoint("turn")
    print("attached", flush=True)
    await asyncio.sleep(3600)

asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
"""


@pytest.mark.parametrize("how", ["stopped", "running"])
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGHUP, signal.SIGTERM])
def test_a_console_that_dies_takes_its_breakpoints_along(
    gdb: Path, started: Any, compiled: Any, end: signal.Signals, how: str
) -> None:
    process = started(compiled("spin"))
    before = signals(process.pid)
    with subprocess.Popen(
        [sys.executable, "-c", _CONSOLE, str(process.pid), how], stdout=subprocess.PIPE
    ) as console:
        assert console.stdout is not None
        assert console.stdout.readline() == b"attached\n"
        console.send_signal(end)
    assert soon(lambda: status(process.pid)["TracerPid"] == "0")
    turns(process)
    assert soon(lambda: state(process.pid) in "SR")
    assert signals(process.pid) == before
