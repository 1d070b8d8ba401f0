"""HIP programs are compiled where there is a hipcc, known for what they are, and their host side is debugged."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import ladder_demos
from ladder_backends.debugger.target import LaunchTarget
from ladder_backends.images.elf import ElfImage
from ladder_backends.session.target_kind import choose_debugger

SOURCE = Path(ladder_demos.__file__).parent / "programs" / "hip" / "oob.cpp"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("hipcc") is None:
        pytest.skip("no hipcc: `apt install hipcc libamdhip64-dev rocm-device-libs` (about 0.7 GB)")
    made = tmp_path_factory.mktemp("hip") / "oob"
    command = ["hipcc", "-g", "-O0", "--offload-arch=gfx90a", str(SOURCE), "-o", str(made)]
    # Where there is an nvcc too, hipcc would take that.
    subprocess.run(command, env={**os.environ, "HIP_PLATFORM": "amd"}, check=True, capture_output=True, timeout=50)
    return made


def test_a_hip_program_is_recognised(program: Path) -> None:
    with ElfImage.open(program) as image:
        assert ".hip_fatbin" in {section.name for section in image.sections}
    assert choose_debugger(LaunchTarget(program)).notice.startswith("the program has HIP kernels")


def test_gdb_shows_its_host_side(program: Path) -> None:
    script = ["-ex", "break hipMalloc", "-ex", "run", "-ex", "up", "-ex", "info locals"]
    command = ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off", *script, str(program)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=50).stdout
    assert "oob.cpp" in said
    assert "out = 0x0" in said
