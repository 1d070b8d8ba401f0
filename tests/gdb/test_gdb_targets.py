"""What cannot be opened says why in one line; what can be opened is what it was."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ladder_backends.debugger import AttachTarget, Capability, CoreTarget, GpuDumpTarget, LaunchTarget, StepKind
from ladder_backends.errors import EngineMissing, TargetInvalid
from ladder_backends.gdb import GdbDebugger
from ladder_backends.gdb.core_check import check_core
from ladder_backends.gdb.process_check import check_process
from ladder_backends.gdb.program_check import check_program
from ladder_backends.model.events import EngineNotice, TargetStopped


def elf(kind: int, machine: int, size: int = 64) -> bytes:
    head = bytearray(size)
    head[:7] = b"\x7fELF\x02\x01\x01"
    head[16:20] = kind.to_bytes(2, "little") + machine.to_bytes(2, "little")
    return bytes(head)


@pytest.mark.parametrize(
    ("content", "mode", "line"),
    [
        (b"", 0o755, "cannot run {}: it is empty (0 bytes) — build it again"),
        (
            b"hello\n",
            0o755,
            "cannot run {}: it is no program for this system (no ELF file) — name a compiled program",
        ),
        (
            b"#!/usr/bin/env -S python3\n",
            0o755,
            "cannot debug {}: it is a script for /usr/bin/env -S python3 — debug its interpreter: run python3 {}",
        ),
        (
            b"#!/bin/sh\n",
            0o644,
            "cannot debug {}: it is a script for /bin/sh — debug its interpreter: run /bin/sh {}",
        ),
        (b"\x7fELF\x02", 0o755, "cannot run {}: it is cut short inside its ELF header — build it again"),
        (elf(4, 190), 0o755, "cannot run {}: it is a GPU core dump, not a program for the host"),
        (elf(2, 190), 0o755, "cannot run {}: it is GPU code (a cubin), not a program for the host"),
        (elf(1, 62), 0o755, "cannot run {}: it is an object file, not linked yet"),
        (elf(4, 62), 0o755, "cannot run {}: it is a core file"),
        (elf(2, 8), 0o755, "cannot run {}: it is made for mips, and this machine is "),
        (elf(2, 4242), 0o755, "cannot run {}: it is made for machine 4242, and this machine is "),
    ],
)
def test_what_is_no_program_is_refused_in_one_line(tmp_path: Path, content: bytes, mode: int, line: str) -> None:
    program = tmp_path / "prog[bold]"
    program.write_bytes(content)
    program.chmod(mode)
    with pytest.raises(TargetInvalid) as refused:
        check_program(program)
    assert refused.value.line().startswith(line.format(program, program))
    assert "\n" not in refused.value.line()


def test_missing_folders_and_files_that_may_not_be_executed(tmp_path: Path, compiled) -> None:
    with pytest.raises(TargetInvalid, match="there is no such file"):
        check_program(tmp_path / "nothing")
    with pytest.raises(TargetInvalid, match="it is a folder"):
        check_program(tmp_path)
    with pytest.raises(TargetInvalid, match="it is not a regular file"):
        check_program(Path("/dev/null"))
    with pytest.raises(TargetInvalid):
        check_program(Path("a\0b"))
    plain = tmp_path / "plain"
    plain.write_bytes(compiled("steps").read_bytes())
    plain.chmod(0o644)
    with pytest.raises(TargetInvalid, match=r"it is not executable — make it so with `chmod \+x"):
        check_program(plain)


@pytest.mark.parametrize("name", ["new\nline", "carriage\rreturn", "back\\slash"])
@pytest.mark.parametrize("place", ["{}", "{}/prog"], ids=["name", "folder"])
def test_paths_that_gdb_cannot_start_are_refused(tmp_path: Path, compiled, name: str, place: str) -> None:
    program = tmp_path / place.format(name)
    program.parent.mkdir(exist_ok=True)
    shutil.copy(compiled("steps"), program)
    with pytest.raises(
        TargetInvalid, match=r"gdb starts no program with a \w+[ \w]* in its path — give it another"
    ):
        check_program(program)


@pytest.mark.parametrize(
    "name", ["a\u2028b", "a\x85b", "a\x0bb", "a\x1cb", 'it\'s "so" $(x) `y` *!#;&|<>[b]', "\udcff"]
)
async def test_other_paths_are_started(watched, compiled, tmp_path: Path, name: str) -> None:
    program = tmp_path / name
    shutil.copy(compiled("segfault"), program)
    await watched.debugger.open(LaunchTarget(program))
    await watched.debugger.resume(StepKind.RUN)
    stop = await watched.next(TargetStopped)
    assert stop.fault


def test_a_program_whose_loader_is_missing_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "p.c"
    source.write_text("int main(void) { return 0; }\n")
    program = tmp_path / "p"
    flags = "-Wl,--dynamic-linker=/no such/[b]ld.so"
    subprocess.run(["gcc", str(source), "-o", str(program), flags], check=True, timeout=60)
    with pytest.raises(
        TargetInvalid, match=r"its loader /no such/\[b\]ld\.so is not on this machine — build it here"
    ):
        check_program(program)


@pytest.fixture
def refused_by_loader(tmp_path: Path) -> Path:
    """A program whose loader is no program."""
    source, loader = tmp_path / "p.c", tmp_path / "loader"
    source.write_text("int main(void) { return 0; }\n")
    loader.write_text("hello")
    program = tmp_path / "p"
    command = ["gcc", str(source), "-o", str(program), f"-Wl,--dynamic-linker={loader}"]
    subprocess.run(command, check=True, timeout=60)
    return program


async def test_a_program_that_its_loader_refuses_has_not_started(watched, refused_by_loader: Path) -> None:
    await watched.debugger.open(LaunchTarget(refused_by_loader))
    with pytest.raises(TargetInvalid) as refused:
        await watched.debugger.resume(StepKind.RUN)
    assert refused.value.line().startswith("the program did not start: During startup program exited with code 12")
    assert "terminal says why" in refused.value.line()


def test_a_bare_name_is_looked_up_as_a_shell_does() -> None:
    assert check_program(Path("true")).path.name == "true"


async def test_a_bad_target_costs_no_engine(watched, tmp_path) -> None:
    with pytest.raises(TargetInvalid):
        await watched.debugger.open(LaunchTarget(tmp_path / "nothing"))
    assert not watched.debugger.started
    with pytest.raises(TargetInvalid, match="there is no such folder"):
        await watched.debugger.open(LaunchTarget(Path("/bin/true"), directory=tmp_path / "nothing"))
    with pytest.raises(TargetInvalid, match="NUL byte"):
        await watched.debugger.open(LaunchTarget(Path("/bin/true"), arguments=("x\0",)))
    with pytest.raises(TargetInvalid, match="cuda-gdb rung"):
        await watched.debugger.open(GpuDumpTarget(tmp_path / "x"))


@pytest.fixture
def core(compiled, tmp_path: Path) -> Path:
    """A core of the segfault program, written by gdb itself."""
    core = tmp_path / "the core"
    command = ["gdb", "-nx", "-batch", "-ex", "run", "-ex", f"generate-core-file {core}", str(compiled("segfault"))]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return core


async def test_a_host_core_shows_where_it_crashed(watched, compiled, core) -> None:
    await watched.debugger.open(CoreTarget(core, compiled("segfault")))
    stop = await watched.next(TargetStopped)
    assert (stop.reason, stop.description, stop.fault) == ("core", "SIGSEGV, Segmentation fault", True)
    assert stop.frame is not None
    assert stop.frame.function == "compute_total"
    assert not watched.debugger.capabilities & Capability.RUN_CONTROL
    window = await watched.debugger.frames(0, 5)
    assert [frame.function for frame in window.frames] == ["compute_total", "main"]
    values = {each.name: each.value for each in (await watched.debugger.variables(0, 5)).variables}
    assert values["data"] == "0x0"


async def test_a_core_without_its_program_finds_it_by_its_build_id(watched, core) -> None:
    await watched.debugger.open(CoreTarget(core))
    stop = await watched.next(TargetStopped)
    assert stop.frame is not None
    assert stop.frame.function == "compute_total"
    assert any("by its build id" in event.text for event in watched.all(EngineNotice))


async def test_a_core_of_another_program_says_so(watched, compiled, core) -> None:
    await watched.debugger.open(CoreTarget(core, compiled("steps")))
    await watched.next(TargetStopped)
    assert any("may not match" in event.text for event in watched.all(EngineNotice))


async def test_bad_cores_are_refused_before_gdb_sees_them(watched, compiled, core, tmp_path) -> None:
    bad = tmp_path / "bad"
    raw = core.read_bytes()
    for content, why in (
        (b"", r"it is empty \(0 bytes\)"),
        (raw[:40], "it is cut after 40 bytes"),
        (raw[:64], "it is cut after 64 bytes, before its contents"),
        (raw[:600], "it is cut after 600 of"),
        (b"not a core at all\n", "it is no core file"),
        (b"\xfd7zXZ\x00 packed", "it is compressed"),
        (compiled("steps").read_bytes(), "it is a program or library, not a core file"),
        (elf(4, 190), "it is GPU code or a GPU core dump"),
    ):
        bad.write_bytes(content)
        with pytest.raises(TargetInvalid, match=why):
            await watched.debugger.open(CoreTarget(bad))
    with pytest.raises(TargetInvalid, match="there is no such file"):
        check_core(tmp_path / "nothing")
    with pytest.raises(TargetInvalid, match="it is a folder"):
        check_core(tmp_path)
    with pytest.raises(TargetInvalid, match="there is no program"):
        await watched.debugger.open(CoreTarget(core, tmp_path / "nothing"))
    assert not watched.debugger.started


async def test_a_core_that_is_cut_says_so(watched, compiled, core, tmp_path) -> None:
    cut = tmp_path / "cut"
    raw = core.read_bytes()
    cut.write_bytes(raw[: len(raw) - len(raw) // 4])
    with pytest.raises(TargetInvalid, match="gdb cannot open cut: the core is cut after") as refused:
        await watched.debugger.open(CoreTarget(cut, compiled("segfault")))
    assert "\n" not in refused.value.line()


@pytest.fixture
def spinning(compiled):
    """A process to attach to."""
    process = subprocess.Popen([compiled("spin")], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    yield process
    process.kill()
    # A tracer that still holds it would have to reap it first; waiting for that would hang a test that failed.
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5)
    process.stdout.close()


def state_of(pid: int) -> tuple[str, str]:
    text = Path(f"/proc/{pid}/status").read_text()
    rows = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)
    return rows["State"][0], rows["TracerPid"]


def is_held(pid: int) -> bool:
    state, tracer = state_of(pid)
    return tracer != "0" or state in "tT"


async def let_go(pid: int) -> None:
    """Wait until nobody traces the process and it runs again."""
    while is_held(pid):  # noqa: ASYNC110 - the kernel tells nobody
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("running", [False, True])
async def test_an_attached_process_lives_on_after_close(watched, spinning, running: bool) -> None:
    await watched.debugger.open(AttachTarget(spinning.pid))
    stop = await watched.next(TargetStopped)
    assert not stop.fault
    assert state_of(spinning.pid)[1] != "0"
    with pytest.raises(TargetInvalid, match=r"\(process \d+\) traces it already"):
        check_process(spinning.pid)
    if running:
        await watched.debugger.resume(StepKind.CONTINUE)
    await watched.debugger.close()
    await let_go(spinning.pid)
    assert spinning.poll() is None


_CONSOLE = """
import asyncio, sys
from ladder_backends.debugger import AttachTarget
from ladder_backends.gdb import GdbDebugger
from ladder_backends.model.breakpoint import BreakpointIntent

async def main():
    debugger = GdbDebugger()
    await debugger.open(AttachTarget(int(sys.argv[1])))
    await debugger.set_breakpoint(BreakpointIntent(1, "main"))
    print("attached", flush=True)
    await asyncio.sleep(3600)

asyncio.run(main())
"""


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGHUP, signal.SIGTERM])
async def test_an_attached_process_survives_the_death_of_the_console(gdb, spinning, end: signal.Signals) -> None:
    console = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _CONSOLE, str(spinning.pid), stdout=asyncio.subprocess.PIPE
    )
    assert console.stdout is not None
    assert await console.stdout.readline() == b"attached\n"
    console.send_signal(end)
    await console.wait()
    await let_go(spinning.pid)
    assert spinning.poll() is None


def exists(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


async def test_a_launched_program_ends_with_its_console(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("spin")))
    await watched.debugger.resume(StepKind.RUN)
    await watched.until_program(b"spinning")
    await watched.debugger.interrupt()
    await watched.next(TargetStopped)
    answer = await watched.debugger.command("-list-thread-groups")
    pid = int(answer.results["groups"][0]["pid"])
    await watched.debugger.close()
    while exists(pid):  # noqa: ASYNC110 - the kernel tells nobody
        await asyncio.sleep(0.01)


def test_a_missing_gdb_is_a_state_with_a_remedy(monkeypatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    probe = GdbDebugger.probe()
    assert not probe.available
    assert probe.missing == "gdb is not on PATH"
    assert "apt install gdb" in probe.remedy


def engine(tmp_path: Path, monkeypatch, script: str) -> None:
    fake = tmp_path / "old-gdb"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    monkeypatch.setenv("LADDER_GDB", str(fake))


def test_an_old_or_broken_gdb_says_so(tmp_path, monkeypatch) -> None:
    engine(tmp_path, monkeypatch, "echo 'GNU gdb (GDB) 7.12.1'")
    probe = GdbDebugger.probe()
    assert not probe.available
    assert "too old" in probe.missing
    engine(tmp_path, monkeypatch, "echo 'libpython3.9.so.1.0: cannot open' >&2; exit 127")
    assert "does not run: libpython3.9.so.1.0: cannot open" in GdbDebugger.probe().missing


def test_the_real_gdb_is_found(gdb) -> None:
    probe = GdbDebugger.probe()
    assert probe.available
    assert probe.version.startswith("GNU gdb")


async def test_a_missing_gdb_is_one_line_when_opened(monkeypatch, compiled) -> None:
    monkeypatch.setenv("LADDER_GDB", "/no/such/gdb")
    debugger = GdbDebugger()
    with pytest.raises(EngineMissing) as missing:
        await debugger.open(LaunchTarget(compiled("steps")))
    assert missing.value.line().startswith("cannot start gdb: LADDER_GDB names /no/such/gdb, which does not exist")
    await debugger.close()
