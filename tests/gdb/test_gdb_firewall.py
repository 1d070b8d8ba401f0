"""What is kept from gdb, and let in when the user says so: real files, a real gdb."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.let_in import configure_let_in, let_in
from ladder_backends.model.breakpoint import BreakpointIntent
from ladder_backends.model.events import EngineNotice, SettingChanged, TargetStopped
from ladder_backends.model.ledger import Kind, LedgerEntry

NOWHERE = "http://10.255.255.1/"

DASHBOARD = """
python
import gdb
gdb.prompt_hook = lambda prompt: "\\001\\033[1;35m\\002>>> \\001\\033[0m\\002"
def show(event):
    print("\\033[1;32m── Source ──\\033[0m \\033[H\\033[K frame", gdb.selected_frame().name())
gdb.events.stop.connect(show)
end
set prompt mine>
set pagination on
set height 5
set mi-async off
set print elements 7
set confirm on
define hello
  printf "hello\\n"
end
document hello
Greets.
end
define hook-stop
  printf "── stopped ──\\n"
end
"""


@pytest.fixture(autouse=True)
def nothing_let_in() -> Iterator[None]:
    configure_let_in(())
    yield
    configure_let_in(())


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return folder


async def entry(watched, name: str) -> LedgerEntry:
    return next(one for one in await watched.debugger.firewall.entries() if one.name == name)


async def stopped(watched, program: Path, location: str = "main") -> TargetStopped:
    await watched.debugger.open(LaunchTarget(program))
    await watched.debugger.set_breakpoint(BreakpointIntent(1, location))
    await watched.debugger.resume(StepKind.RUN)
    return await watched.next(TargetStopped)


async def test_a_dead_server_holds_nothing_up_and_is_told(watched, compiled, monkeypatch) -> None:
    monkeypatch.setenv("DEBUGINFOD_URLS", NOWHERE)
    monkeypatch.setenv("DEBUGINFOD_TIMEOUT", "90")
    program = compiled("steps")
    begun = time.monotonic()
    await stopped(watched, program)
    # The server would be waited for for a minute and a half.
    assert time.monotonic() - begun < 30
    told = next(one.text for one in watched.all(EngineNotice) if "DEBUGINFOD_URLS" in one.text)
    assert "symbols are not fetched" in told
    assert (await entry(watched, "debuginfod")).now == "off"


async def test_debuginfod_is_switched_on_with_the_users_servers_and_off_again(watched, monkeypatch) -> None:
    monkeypatch.setenv("DEBUGINFOD_URLS", f"{NOWHERE} http://10.255.255.2/")
    await watched.debugger.start()
    if not any(one.name == "debuginfod" for one in await watched.debugger.firewall.entries()):
        pytest.skip("this gdb has no debuginfod")
    said = await watched.debugger.firewall.let_in("debuginfod", True)
    assert NOWHERE in said
    assert (await entry(watched, "debuginfod")).now == "on"
    answer = await watched.debugger.command("-gdb-show debuginfod urls")
    assert answer.results["value"] == f"{NOWHERE} http://10.255.255.2/"
    await watched.debugger.firewall.let_in("debuginfod", False)
    assert (await entry(watched, "debuginfod")).now == "off"


async def test_what_is_let_in_for_good_is_so_from_the_start(watched, monkeypatch) -> None:
    monkeypatch.setenv("DEBUGINFOD_URLS", NOWHERE)
    configure_let_in(["debuginfod", "confirm", "mi-async", "nonsense"])
    await watched.debugger.start()
    assert (await entry(watched, "confirm")).now == "on"
    # What cannot be let in is not, whatever is written.
    assert (await entry(watched, "mi-async")).now == "on"
    entries = {one.name: one.now for one in await watched.debugger.firewall.entries()}
    assert entries.get("debuginfod", "on") == "on"


async def test_what_is_set_by_hand_is_in_the_ledger(watched) -> None:
    await watched.debugger.start()
    assert (await entry(watched, "print elements")).now == "200"
    await watched.debugger.console("set print elements 0")
    await watched.next(SettingChanged, lambda one: one.name == "print elements")
    assert (await entry(watched, "print elements")).now == "unlimited"


async def test_the_users_own_off_is_respected(watched, monkeypatch) -> None:
    monkeypatch.setenv("DEBUGINFOD_URLS", NOWHERE)
    configure_let_in(["debuginfod"])
    await watched.debugger.start()
    if not any(one.name == "debuginfod" for one in await watched.debugger.firewall.entries()):
        pytest.skip("this gdb has no debuginfod")
    await watched.debugger.console("set debuginfod enabled off")
    await watched.next(SettingChanged, lambda one: one.name == "debuginfod enabled")
    assert (await entry(watched, "debuginfod")).now == "off"


async def test_init_files_are_left_alone_until_they_are_let_in(watched, home, compiled) -> None:
    (home / ".gdbinit").write_text("set print pretty on\n")
    await watched.debugger.start()
    found = await entry(watched, "~/.gdbinit")
    assert (found.kind, found.now, found.later) == (Kind.FILE, "not read", False)
    assert (await watched.debugger.command("-gdb-show print pretty")).results["value"] == "off"
    await watched.debugger.firewall.let_in("~/.gdbinit", True)
    assert (await watched.debugger.command("-gdb-show print pretty")).results["value"] == "on"
    assert (await entry(watched, "~/.gdbinit")).now == "read"
    said = await watched.debugger.firewall.let_in("~/.gdbinit", False)
    assert "stays read until" in said


async def test_gdb_reads_one_of_two_places_and_the_folders_own(watched, home, monkeypatch) -> None:
    (home / ".config/gdb").mkdir(parents=True)
    (home / ".config/gdb/gdbinit").write_text("")
    (home / ".gdbinit").write_text("")
    folder = home / "project"
    folder.mkdir()
    (folder / ".gdbinit").write_text("")
    monkeypatch.chdir(folder)
    await watched.debugger.start()
    names = [one.name for one in await watched.debugger.firewall.entries() if one.kind is Kind.FILE]
    assert [name for name in names if not name.startswith("/etc")] == [
        "~/.config/gdb/gdbinit",
        "~/project/.gdbinit",
    ]


async def test_a_dashboard_takes_nothing_away(watched, home, compiled) -> None:
    (home / ".gdbinit").write_text(DASHBOARD)
    configure_let_in(["~/.gdbinit"])
    stop = await stopped(watched, compiled("steps"))
    assert stop.frame is not None
    assert stop.frame.function == "main"
    debugger = watched.debugger
    assert (await entry(watched, "mi-async")).now == "on"
    assert (await entry(watched, "height")).now in ("0", "unlimited")
    assert (await entry(watched, "confirm")).now == "on"
    assert (await entry(watched, "print elements")).now == "7"
    await debugger.console("hello")
    assert "hello\n" in await watched.until_console("hello\n")
    assert not debugger.pending()
    for _ in range(3):
        await debugger.resume(StepKind.NEXT)
        await watched.next(TargetStopped)
    assert "\x1b" not in watched.console
    assert "␛" not in watched.console
    assert ">>> " not in watched.console
    assert "mine>" not in watched.console
    assert (await debugger.evaluate("3 * 4")).value == "12"


async def test_a_file_with_an_error_is_told_and_ends_nothing(watched, home, compiled) -> None:
    (home / ".gdbinit").write_text("set print pretty on\nbogus-command\n")
    configure_let_in(["~/.gdbinit"])
    await stopped(watched, compiled("steps"))
    assert any("Undefined command" in one.text for one in watched.all(EngineNotice))


async def test_a_file_that_never_ends_is_interrupted(watched, home, compiled, monkeypatch) -> None:
    monkeypatch.setattr("ladder_backends.gdb.firewall.READ_DEADLINE", 0.5)
    (home / ".gdbinit").write_text("while 1\nset $x = 1\nend\n")
    configure_let_in(["~/.gdbinit"])
    await stopped(watched, compiled("steps"))
    assert any("was interrupted" in one.text for one in watched.all(EngineNotice))


async def test_variables_are_kept_from_gdb_and_let_in_from_the_next_start_on(
    watched, monkeypatch, tmp_path
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("SHELL", "/bin/fish\x1b[2J")
    monkeypatch.setenv("TERM", "xterm-kitty")
    await watched.debugger.start()
    found = await entry(watched, "PYTHONPATH")
    assert (found.kind, found.yours, found.now, found.later) == (
        Kind.VARIABLE,
        str(tmp_path),
        "for the program only",
        True,
    )
    assert "\x1b" not in (await entry(watched, "SHELL")).yours
    assert (await entry(watched, "TERM")).now == "xterm-256color"
    assert "PYTHONPATH" not in watched.debugger.engine_command().environment
    await watched.debugger.firewall.let_in("PYTHONPATH", True)
    assert (await entry(watched, "PYTHONPATH")).now == "let in"
    assert watched.debugger.engine_command().environment["PYTHONPATH"] == str(tmp_path)
    let_in("PYTHONPATH", False)
    assert os.environ["PYTHONPATH"] == str(tmp_path)


def of_process(pid: int) -> dict[str, str]:
    rows = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    return dict(row.split("=", 1) for row in rows if "=" in row)


LOADER = ("LD_LIBRARY_PATH", "LD_PRELOAD", "LD_BIND_NOW", "GLIBC_TUNABLES", "MALLOC_PERTURB_")


@pytest.fixture
def for_the_loader(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, str]:
    """Variables for the loader, as a person has them set for a program."""
    # What is not there is passed over with a word.
    values = (f"{tmp_path}/lib:/opt/lib", str(tmp_path / "mine.so"), "1", "glibc.malloc.arena_max=1", "7")
    there = dict(zip(LOADER, values, strict=True))
    for name, value in there.items():
        monkeypatch.setenv(name, value)
    return there


async def test_what_is_told_to_the_loader_reaches_the_program_and_not_gdb(
    watched, compiled, for_the_loader: dict[str, str]
) -> None:
    stop = await stopped(watched, compiled("steps"))
    assert stop.frame is not None
    program = of_process(watched.debugger.process.pids["i1"])
    assert {name: program.get(name) for name in LOADER} == for_the_loader
    gdb = int(await watched.debugger.cli_text("python import os; print(os.getpid())"))
    assert not set(LOADER) & set(of_process(gdb)) - {"LD_LIBRARY_PATH"}
    assert for_the_loader["LD_LIBRARY_PATH"] not in of_process(gdb).get("LD_LIBRARY_PATH", "")
    for name in LOADER:
        found = await entry(watched, name)
        assert (found.kind, found.now, found.later) == (Kind.VARIABLE, "for the program only", True)
    (told,) = [one.text for one in watched.all(EngineNotice) if "kept from gdb" in one.text]
    assert all(name in told for name in LOADER)


async def test_a_gdb_that_needs_its_library_path_is_given_it(
    watched, compiled, for_the_loader: dict[str, str], gdb: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    needing = tmp_path / "gdb"
    needing.write_text(
        f"#!/bin/sh\ntest \"$LD_LIBRARY_PATH\" || {{ echo 'libmine.so: no such file' >&2; exit 127; }}\n"
        f'exec env -u LD_LIBRARY_PATH {gdb} "$@"\n'
    )
    needing.chmod(0o755)
    monkeypatch.setenv("LADDER_GDB", str(needing))
    await stopped(watched, compiled("steps"))
    program = of_process(watched.debugger.process.pids["i1"])
    assert {name: program.get(name) for name in LOADER} == for_the_loader
    found = await entry(watched, "LD_LIBRARY_PATH")
    assert (found.now, found.fixed) == ("let in", "this gdb does not start without it")
    assert watched.debugger.engine_command().environment.get("LD_LIBRARY_PATH", "kept") == "kept"


async def test_a_library_path_that_is_let_in_reaches_gdb(watched, for_the_loader: dict[str, str]) -> None:
    configure_let_in(["LD_LIBRARY_PATH"])
    command = watched.debugger.engine_command()
    assert command.environment["LD_LIBRARY_PATH"] == for_the_loader["LD_LIBRARY_PATH"]
