"""Tests on a real GPU: compiled, sanitized and dumped on this machine, opened by its own cuda-gdb."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import ladder_demos

from .live_session import Live

PROGRAMS = Path(__file__).parent / "programs"
TOOLS = ("nvidia-smi", "nvcc", "compute-sanitizer", "cuda-gdb")


def missing() -> str:
    """What this machine lacks for these tests, or an empty string."""
    for tool in TOOLS:
        if shutil.which(tool) is None:
            return f"no {tool} on PATH"
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=60)
    return "" if "GPU 0" in listed.stdout else "no CUDA device"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = [item for item in items if item.path.parent == Path(__file__).parent]
    if not here:
        return
    reason = missing()
    for item in here:
        item.add_marker(pytest.mark.gpu)
        item.add_marker(pytest.mark.timeout(300))
        if reason:
            item.add_marker(pytest.mark.skip(reason=f"needs a CUDA device and its tools: {reason}"))


@dataclass(frozen=True)
class SanitizerRun:
    """One run of compute-sanitizer: its log, the dump where it wrote one, the program, its exit status."""

    log: Path
    dump: Path
    program: Path
    status: int


@pytest.fixture(scope="session")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., SanitizerRun]:
    """Compiles a program of this folder and runs it under the sanitizer, once for each combination."""
    runs: dict[tuple[object, ...], SanitizerRun] = {}

    def run(
        name: str,
        *,
        tool: str = "memcheck",
        flags: tuple[str, ...] = ("-g", "-G"),
        options: tuple[str, ...] = (),
        arguments: tuple[str, ...] = (),
        dump: bool = True,
    ) -> SanitizerRun:
        key = (name, tool, flags, options, arguments, dump)
        if key not in runs:
            folder = tmp_path_factory.mktemp(name)
            program = folder / name
            subprocess.run(
                ["nvcc", *flags, "-arch=native", "-o", program, PROGRAMS / f"{name}.cu"], check=True, timeout=240
            )
            made = SanitizerRun(folder / "sanitizer.log", folder / "gpu.nvcudmp", program, 0)
            coredump = ("--generate-coredump", "--coredump-behavior", "exit", "--coredump-name", str(made.dump))
            command = [
                "compute-sanitizer",
                "--tool",
                tool,
                "--strip-paths",
                "no",
                "--log-file",
                str(made.log),
                *(coredump if dump else ()),
                *options,
                str(program),
                *arguments,
            ]
            done = subprocess.run(command, cwd=folder, timeout=240)
            runs[key] = SanitizerRun(made.log, made.dump, program, done.returncode)
        return runs[key]

    return run


CUDA_PROGRAMS = Path(ladder_demos.__file__).parent / "programs" / "cuda"


@pytest.fixture(scope="session")
def cuda_program(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compiles a demo's program, once for each combination of flags."""
    built: dict[tuple[str, ...], Path] = {}

    def build(name: str, *flags: str) -> Path:
        flags = flags or ("-g", "-G")
        if (name, *flags) not in built:
            program = tmp_path_factory.mktemp(name) / name
            command = ["nvcc", *flags, "-arch=native", "-o", program, CUDA_PROGRAMS / f"{name}.cu"]
            subprocess.run(command, check=True, timeout=240)
            built[(name, *flags)] = program
        return built[(name, *flags)]

    return build


@pytest.fixture
async def live(request: pytest.FixtureRequest) -> AsyncIterator[Live]:
    one = Live(request.node.name)
    yield one
    print(f"\n--- {request.node.name}\n{one.told()}")
    await one.session.close()
