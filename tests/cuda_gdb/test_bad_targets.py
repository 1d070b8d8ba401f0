"""What cuda-gdb would crash on or take in silence is refused before it sees it; when it dies, that is an answer."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.cuda_gdb import debugger as debugger_module
from ladder_backends.cuda_gdb import dump_opening as opening_module
from ladder_backends.debugger import CoreTarget, GpuDumpTarget
from ladder_backends.errors import CommandFailed, EngineDied, EngineMissing, LadderError, TargetInvalid
from ladder_backends.model.events import EngineExited, EngineNotice
from ladder_backends.model.focus import Focus

from .conftest import Stand, dump_target

pytestmark = pytest.mark.cuda_gdb

Make = Callable[[], Stand]
THIS_PYTHON = Path(sys.executable).resolve()


def _copy(folder: Path) -> Path:
    copy = folder / "cut.nvcudmp"
    shutil.copyfile(dump_target("vector-add").dump, copy)
    return copy


def _core_files(folder: Path) -> list[Path]:
    return list(folder.glob("core*"))


async def test_a_cut_dump(stand: Make, tmp_path: Path) -> None:
    cut = _copy(tmp_path)
    os.truncate(cut, 5_000_000)
    with pytest.raises(TargetInvalid, match="cut or damaged"):
        await stand().debugger.open(GpuDumpTarget(cut))
    assert _core_files(tmp_path) == []


async def test_a_dump_of_another_program(stand: Make) -> None:
    target = replace(dump_target("vector-add"), executable=dump_target("hang").executable)
    with pytest.raises(TargetInvalid, match=r"hang did not make memcheck-oob.nvcudmp: .* \(it holds spin\)"):
        await stand().debugger.open(target)


async def test_a_program_that_proves_nothing_is_taken_with_a_note(stand: Make) -> None:
    one = stand()
    await one.debugger.open(replace(dump_target("vector-add"), executable=THIS_PYTHON))
    (notice,) = one.of(EngineNotice)
    assert isinstance(notice, EngineNotice)
    assert "carries no device code" in notice.text


async def test_a_second_dump_is_refused_and_the_first_lives(stand: Make) -> None:
    one = stand()
    await one.debugger.open(dump_target("vector-add"))
    with pytest.raises(TargetInvalid, match="one cuda-gdb opens one dump"):
        await one.debugger.open(dump_target("hang"))
    for typed in ("target cudacore /x.nvcudmp", "  tar cudacore y", 'interpreter-exec console "target cudacore z"'):
        with pytest.raises(CommandFailed, match="one dump"):
            await one.debugger.console(typed)
    await one.debugger.console("help target cudacore")
    assert (await one.debugger.evaluate("n")).value == "1000"


async def test_other_targets_are_refused(stand: Make) -> None:
    with pytest.raises(TargetInvalid, match="no host cores here"):
        await stand().debugger.open(CoreTarget(Path("core")))


async def test_killed_while_it_answers(stand: Make) -> None:
    one = stand()
    await one.debugger.open(dump_target("vector-add"))
    asking = asyncio.ensure_future(one.debugger.disassemble(0, 9))
    await asyncio.sleep(0.02)
    os.kill(one.pid, signal.SIGKILL)
    with pytest.raises(EngineDied):
        await asking
    (end,) = one.of(EngineExited)
    assert isinstance(end, EngineExited)
    assert (end.status, end.expected) == (-signal.SIGKILL, False)
    with pytest.raises(EngineDied):
        await one.debugger.switch(Focus.of(block=(3, 0, 0), thread=(240, 0, 0)))
    await one.debugger.close()


def _cut_in_half(copy: Path) -> None:
    os.truncate(copy, 5_000_000)


def _spoil_kernel_table(copy: Path) -> None:
    descriptor = os.open(copy, os.O_WRONLY)
    os.pwrite(descriptor, b"\xff" * 136, 0xA75BC0)
    os.close(descriptor)


@pytest.mark.parametrize(
    ("spoil", "error", "words"),
    [
        (_cut_in_half, EngineDied, "cuda-gdb died on cut.nvcudmp"),
        (_spoil_kernel_table, TargetInvalid, "cuda-gdb cannot open cut.nvcudmp"),
    ],
)
async def test_a_bad_dump_that_got_past_the_check(
    stand: Make,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[Path], None],
    error: type[LadderError],
    words: str,
) -> None:
    cut = _copy(tmp_path)
    spoil(cut)
    whole = dump_target("vector-add")
    checked = opening_module.check_dump(whole)
    spoiled = replace(checked, dump=replace(checked.dump, path=cut))
    monkeypatch.setattr(opening_module, "check_dump", lambda target: spoiled)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error) as refused:
        await stand().debugger.open(replace(whole, dump=cut))
    assert refused.value.what == words
    assert refused.value.remedy
    assert not refused.value.why.endswith(("=", ".", ","))
    assert _core_files(tmp_path) == []


async def test_no_cuda_gdb_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LADDER_CUDA_GDB", str(tmp_path / "nowhere"))
    probe = CudaGdbDebugger.probe()
    assert not probe.available
    assert "nowhere" in probe.missing
    assert "--install-cuda-gdb" in probe.remedy
    with pytest.raises(EngineMissing, match="--install-cuda-gdb"):
        await CudaGdbDebugger().open(dump_target("vector-add"))


async def test_probe_finds_the_engine_and_its_disassemblers(
    cuda_gdb: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe = CudaGdbDebugger.probe()
    assert probe.available
    assert "cuda-gdb" in probe.version
    monkeypatch.setattr(debugger_module, "sass_tools", dict)
    (note,) = CudaGdbDebugger.probe().notes
    assert "no SASS: cuobjdump and nvdisasm not found" in note
