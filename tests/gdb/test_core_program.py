"""Cores and the programs they are of: found by build id, refused where they differ, asked for where missing."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.debugger import CoreTarget
from ladder_backends.gdb import core_program
from ladder_backends.gdb.core_program import choose_program, find_program, library_faults
from ladder_backends.images.build_id import read_build_id
from ladder_backends.images.host_core import HostCore, MappedFile, read_host_core
from ladder_backends.model.events import EngineNotice, TargetStopped


def readelf_id(file: Path) -> str:
    told = subprocess.run(["readelf", "-n", file], capture_output=True, text=True, check=True, timeout=30).stdout
    return next((line.split()[-1] for line in told.splitlines() if "Build ID" in line), "")


@pytest.fixture
def crashed(compiled: Any, tmp_path: Path) -> tuple[Path, Path]:
    """A program in a folder of its own, and the core that the kernel's debugger twin wrote of it."""
    folder = tmp_path / "built"
    folder.mkdir()
    program, core = folder / "segfault", tmp_path / "core"
    shutil.copy(compiled("segfault"), program)
    command = ["gdb", "-nx", "-batch", "-ex", "run", "-ex", f"generate-core-file {core}", str(program)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return core, program


def rebuilt(compiled: Any, program: Path) -> str:
    """Another build in the program's place; its build id."""
    program.unlink(missing_ok=True)
    subprocess.run(
        ["gcc", "-g", "-O1", "-o", program, compiled.source("segfault"), "-Wl,--build-id=0x0123456789abcdef"],
        check=True,
        timeout=60,
    )
    return "0123456789ab…"


def keep_symbols(program: Path, place: Path, build_id: str) -> None:
    """Leave nothing of a program but its symbols, where distributions put them."""
    place.mkdir(parents=True)
    command = ["objcopy", "--only-keep-debug", program, place / f"{build_id[2:]}.debug"]
    subprocess.run(command, check=True, timeout=60)
    program.unlink()


def notices(watched: Any) -> list[str]:
    return [event.text for event in watched.all(EngineNotice)]


def test_what_a_core_tells(crashed: tuple[Path, Path]) -> None:
    core, program = crashed
    facts = read_host_core(core)
    assert facts.program == str(program)
    assert facts.build_id == readelf_id(program) == read_build_id(program) != ""
    libc = next(library for library in facts.libraries if "libc.so" in library.path)
    assert libc.build_id == readelf_id(Path(libc.path))
    assert library_faults(facts) == ""


def test_a_core_of_the_kernel_itself_tells_the_same(compiled: Any, tmp_path: Path) -> None:
    if Path("/proc/sys/kernel/core_pattern").read_text().strip() != "core":
        pytest.skip("the kernel hands cores to a program here")
    program = tmp_path / "segfault"
    shutil.copy(compiled("segfault"), program)
    subprocess.run(["sh", "-c", "ulimit -c unlimited; ./segfault"], cwd=tmp_path, capture_output=True, timeout=30)
    cores = list(tmp_path.glob("core*"))
    assert cores
    facts = read_host_core(cores[0])
    assert (facts.program, facts.build_id) == (str(program), readelf_id(program))


def test_where_a_program_is_looked_for(
    crashed: tuple[Path, Path], compiled: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    core, program = crashed
    facts = read_host_core(core)
    assert find_program(core, facts).path == program
    elsewhere, here = tmp_path / "elsewhere", tmp_path / "here"
    elsewhere.mkdir()
    here.mkdir()
    for place, folders in (
        (core.parent / "segfault", ()),
        (here / "segfault", ()),
        (elsewhere / "segfault", (elsewhere,)),
    ):
        kept = program.rename(tmp_path / "kept")
        shutil.copy(kept, place)
        monkeypatch.chdir(here)
        found = find_program(core, facts, folders)
        assert (found.path, found.proven, found.symbols_only) == (place, True, False)
        place.unlink()
        kept.rename(program)
    # Another build at the first place is passed over, and told of.
    kept = program.rename(elsewhere / "segfault")
    rebuilt(compiled, program)
    found = find_program(core, facts, (elsewhere,))
    assert found.path == kept
    assert found.refused == ((program, "0123456789abcdef"),)


def test_debug_folders_are_searched_by_build_id(
    crashed: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    core, program = crashed
    facts = read_host_core(core)
    debug = tmp_path / "debug"
    place = debug / ".build-id" / facts.build_id[:2]
    keep_symbols(program, place, facts.build_id)
    monkeypatch.setattr(core_program, "_DEBUG_FOLDERS", (debug,))
    found = find_program(core, facts)
    assert found.path == place / f"{facts.build_id[2:]}.debug"
    assert found.symbols_only


async def test_symbols_alone_name_the_frames(
    watched: Any, crashed: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    core, program = crashed
    facts = read_host_core(core)
    keep_symbols(program, tmp_path / "debug/.build-id" / facts.build_id[:2], facts.build_id)
    monkeypatch.setattr(core_program, "_DEBUG_FOLDERS", (tmp_path / "debug",))
    await watched.debugger.open(CoreTarget(core))
    await watched.next(TargetStopped)
    assert any(text.startswith("symbols of the core, by its build id") for text in notices(watched))
    assert "compute_total" in [frame.function for frame in (await watched.debugger.frames(0, 5)).frames]


async def test_a_rebuilt_program_is_not_used_and_asked_for(
    watched: Any, crashed: tuple[Path, Path], compiled: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    core, program = crashed
    original = readelf_id(program)
    theirs = rebuilt(compiled, program)
    await watched.debugger.open(CoreTarget(core))
    await watched.next(TargetStopped)
    told = notices(watched)
    assert (
        f"segfault may not match the core: it has build id {theirs}, and segfault of the core {original[:12]}…;"
        " it is not used" in told
    )
    assert f"no program: addresses only — name segfault with build id {original[:12]}… after the core" in told
    assert watched.debugger.missing_program == f"segfault with build id {original[:12]}…"
    # The engine's own guesses add nothing.
    assert [text for text in told if text.startswith("warning:")] == []


async def test_a_rebuilt_program_that_is_named_is_used_with_a_warning(
    watched: Any, crashed: tuple[Path, Path], compiled: Any
) -> None:
    core, program = crashed
    original = readelf_id(program)
    theirs = rebuilt(compiled, program)
    await watched.debugger.open(CoreTarget(core, program))
    await watched.next(TargetStopped)
    assert any(theirs in text and original[:12] in text and "may be wrong" in text for text in notices(watched))
    assert core_program.difference(core, program) == f"build id {theirs} here, {original[:12]}… in the core"
    assert watched.debugger.missing_program == ""


async def test_a_program_that_is_gone_is_asked_for(watched: Any, crashed: tuple[Path, Path]) -> None:
    core, program = crashed
    program.unlink()
    await watched.debugger.open(CoreTarget(core))
    stop = await watched.next(TargetStopped)
    assert stop.fault
    assert watched.debugger.missing_program.startswith("segfault with build id ")


def test_a_core_without_build_ids_believes_its_own_word(compiled: Any, tmp_path: Path) -> None:
    program = compiled("segfault", "-g", "-Wl,--build-id=none")
    core = tmp_path / "core"
    command = ["gdb", "-nx", "-batch", "-ex", "run", "-ex", f"generate-core-file {core}", str(program)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    choice = choose_program(core, None)
    assert choice.program == program
    assert any("by its own word, without a build id to compare" in text for text, _ in choice.notices)
    assert choose_program(core, Path("/bin/true")).notices == ()


def test_libraries_of_other_builds_and_missing_ones_are_told(tmp_path: Path) -> None:
    mapped = (
        MappedFile("/bin/true", 1, "aa" * 20),
        MappedFile("/nowhere/liba.so.1", 2, "bb" * 20),
        MappedFile("/tmp/libb.so (deleted)", 3, "bb" * 20),
        MappedFile(str(tmp_path / "libc.so"), 4, "cc" * 20),
        MappedFile("/nowhere/no-id.so", 5, ""),
        MappedFile("/dev/shm/\x1b[2J.so", 6, "dd" * 20),
    )
    (tmp_path / "libc.so").write_bytes(b"no library")
    line = library_faults(HostCore("/x", "", mapped))
    assert line == (
        "libraries other builds here than in the core: libc.so (no build id here, cccccccccccc… in the core);"
        " not here: liba.so.1, libb.so, ␛[2J.so — what is shown of their frames may be wrong"
    )
    many = tuple(MappedFile(f"/nowhere/lib{number}.so", number, "aa" * 20) for number in range(9))
    assert "lib0.so, lib1.so, lib2.so and 6 more" in library_faults(HostCore("/x", "", many))


def test_cut_and_hostile_cores_tell_less_and_never_fail(crashed: tuple[Path, Path], tmp_path: Path) -> None:
    core, program = crashed
    raw = core.read_bytes()
    bad = tmp_path / "bad"
    for size in (0, 10, 64, 100, 1000, 4000, len(raw) // 2, len(raw) - 1):
        bad.write_bytes(raw[:size])
        assert read_host_core(bad).program in ("", str(program))
        assert read_build_id(bad) == ""
    for position in range(0, 6000, 7):
        broken = bytearray(raw[:65536])
        broken[position : position + 8] = b"\xff" * 8
        bad.write_bytes(broken)
        read_host_core(bad)
    segments = struct.unpack_from("<H", raw, 56)[0]
    assert segments > 3
    with pytest.raises(OSError, match="No such file"):
        read_host_core(tmp_path / "nothing")
    assert read_build_id(tmp_path) == ""
    assert read_build_id(tmp_path / "nothing") == ""
    assert read_build_id(Path(os.devnull)) == ""
