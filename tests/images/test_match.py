from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from ladder_backends.case import Opened, open_files
from ladder_backends.errors import TargetInvalid
from ladder_backends.images import (
    DumpKernel,
    ElfImage,
    GpuDump,
    MatchVerdict,
    carries_device_code,
    match_executable,
    read_gpu_dump,
)
from ladder_demos.catalogue import find_demo


def _opened(demo: str) -> Opened:
    return open_files([find_demo(demo).path])


def _parts(demo: str) -> tuple[GpuDump, Path]:
    opened = _opened(demo)
    assert opened.dump is not None
    assert opened.executable is not None
    return read_gpu_dump(opened.dump), opened.executable


CUDA_DEMOS = ("vector-add", "vector-add-lineinfo", "uninit", "misaligned", "hang")


@pytest.mark.parametrize("demo", CUDA_DEMOS)
def test_each_dump_matches_its_own_program(demo: str) -> None:
    dump, executable = _parts(demo)
    assert match_executable(dump, executable).verdict is MatchVerdict.MATCHES
    assert carries_device_code(executable)


@pytest.mark.parametrize(("demo", "other"), [("vector-add", "uninit"), ("hang", "vector-add"), ("uninit", "hang")])
def test_another_program_is_told_by_its_kernels(demo: str, other: str) -> None:
    dump, _ = _parts(demo)
    _, executable = _parts(other)
    match = match_executable(dump, executable)
    assert match.verdict is MatchVerdict.DIFFERS
    assert dump.kernels[0].name in match.reason
    assert "it holds" in match.reason


@pytest.mark.parametrize("demo", ["vector-add", "vector-add-lineinfo"])
def test_a_stripped_program_still_matches(demo: str, tmp_path: Path) -> None:
    if shutil.which("strip") is None:
        pytest.skip("no strip here")
    dump, executable = _parts(demo)
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", "-s", "-o", stripped, executable], check=True)
    with ElfImage.open(stripped) as image:
        assert image.section(".symtab") is None
    assert match_executable(dump, stripped).verdict is MatchVerdict.MATCHES
    other, _ = _parts("hang")
    assert match_executable(other, stripped).verdict is MatchVerdict.DIFFERS


def test_a_program_without_device_code_proves_nothing() -> None:
    dump, _ = _parts("vector-add")
    match = match_executable(dump, Path("/proc/self/exe").resolve())
    assert match.verdict is MatchVerdict.UNKNOWN
    assert "carries no device code" in match.reason
    assert not carries_device_code(Path("/proc/self/exe").resolve())


def test_a_dump_without_a_kernel_proves_nothing() -> None:
    dump, executable = _parts("vector-add")
    nameless = GpuDump(dump.path, dump.size, (DumpKernel("", "", 1, (1, 1, 1), (1, 1, 1)),), frozenset())
    assert match_executable(nameless, executable).verdict is MatchVerdict.UNKNOWN


def test_what_is_no_program(tmp_path: Path) -> None:
    dump, executable = _parts("vector-add")
    with pytest.raises(TargetInvalid, match="there is no executable"):
        match_executable(dump, tmp_path / "missing")
    script = tmp_path / "[bold]run\x1b.py"
    script.write_text("#!/usr/bin/env python3\n")
    with pytest.raises(TargetInvalid) as refused:
        match_executable(dump, script)
    assert "no executable program" in refused.value.line()
    assert "\x1b" not in refused.value.line()
    with pytest.raises(TargetInvalid, match="cannot be read"):
        match_executable(dump, tmp_path)
    half = tmp_path / "half"
    half.write_bytes(executable.read_bytes()[: executable.stat().st_size // 2])
    with pytest.raises(TargetInvalid, match="beyond the end"):
        match_executable(dump, half)
