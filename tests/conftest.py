"""What every test can count on: folders of its own, a plain terminal, and the real engines where installed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ladder_demos
from ladder_backends.case import Opened, open_files
from ladder_backends.paths import configure_engines, find_engine
from ladder_demos.catalogue import find_demo

# Found before any test moves the folders in which the installer's cuda-gdb lies.
_CUDA_GDB = find_engine("cuda-gdb")
_NEWER = "gdb-18"
_NEWER_GDB = Path(sys.prefix) / _NEWER / "bin" / "gdb"
_TORCH = Path(sys.prefix) / "torch" / "bin" / "python"
if _TORCH.exists():
    os.environ.setdefault("LADDER_TORCH_PYTHON", str(_TORCH))
_EACH_GDB = ("gdb", "session", "python_frames", "ranks_engine")
# The tests may have been started by something that ignores these, and what they start would ignore them too.
for _number in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(_number, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)

_TERMINAL = ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "COLUMNS", "LINES", "CLICOLOR", "CLICOLOR_FORCE")


@pytest.fixture(scope="session")
def cache_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that all tests of a process share: unpacking a dump takes a while."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cache_home: Path) -> Iterator[None]:
    """State, settings and data in folders of this test; no variable of the caller's terminal or debugger."""
    for variable, name in (("XDG_STATE_HOME", "state"), ("XDG_CONFIG_HOME", "config"), ("XDG_DATA_HOME", "data")):
        monkeypatch.setenv(variable, str(tmp_path / f".{name}"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache_home))
    for variable in list(os.environ):
        if variable in _TERMINAL or variable.startswith(("TEXTUAL_", "LADDER_")):
            monkeypatch.delenv(variable)
    monkeypatch.setenv("TERM", "xterm-256color")
    if _CUDA_GDB.path is not None:
        monkeypatch.setenv("LADDER_CUDA_GDB", str(_CUDA_GDB.path))
    yield
    configure_engines({})


class Compiled:
    """C programs of `tests/programs` and the demos, compiled once a run and kept by name and flags."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[tuple[str, ...], Path] = {}

    def __call__(self, name: str, *flags: str) -> Path:
        """The program; `flags` stand in for `-g -O0`."""
        key = (name, *flags)
        if key not in self._made:
            source = self.source(name)
            program = self._folder / f"{len(self._made)}" / source.stem
            program.parent.mkdir(exist_ok=True)
            self.build(source, program, *flags)
            self._made[key] = program
        return self._made[key]

    @staticmethod
    def build(source: Path, program: Path, *flags: str) -> None:
        """Compile one source."""
        compiler = "g++" if source.suffix == ".cpp" else "gcc"
        command = [compiler, *(flags or ("-g", "-O0")), "-pthread", "-o", str(program), str(source)]
        subprocess.run(command, check=True, timeout=60)

    @staticmethod
    def source(name: str) -> Path:
        """The source of a program."""
        folders = (Path(__file__).parent / "programs", Path(ladder_demos.__file__).parent / "programs")
        return next(
            path for folder in folders for path in (folder / f"{name}.c", folder / f"{name}.cpp") if path.exists()
        )


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """Compiles `compiled("steps")` and remembers it."""
    return Compiled(tmp_path_factory.mktemp("programs"))


@pytest.fixture
def cuda_gdb() -> Path:
    """The real cuda-gdb; a test that asks for it is skipped where there is none."""
    if _CUDA_GDB.path is None:
        pytest.skip(f"no cuda-gdb: {_CUDA_GDB.missing}; demos/setup installs one on Debian")
    return _CUDA_GDB.path


@pytest.fixture
def gdb(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The real gdb; tests of the rooms in `_EACH_GDB` run with a newer one as well."""
    if getattr(request, "param", "") == _NEWER:
        if not _NEWER_GDB.exists():
            pytest.skip("the newer gdb is not installed: demos/setup --tests installs it where it can")
        monkeypatch.setenv("LADDER_GDB", str(_NEWER_GDB))
        return _NEWER_GDB
    found = find_engine("gdb")
    if found.path is None:
        pytest.skip(f"no gdb: {found.missing}; demos/setup installs one")
    return found.path


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that drives gdb itself runs once with each."""
    if "gdb" in metafunc.fixturenames and metafunc.definition.path.parent.name in _EACH_GDB:
        metafunc.parametrize("gdb", ["gdb", _NEWER], indirect=True)


@pytest.fixture
def vector_add() -> Opened:
    """The shipped vector-add case, unpacked: report, dump, executable, source and recording."""
    return open_files([find_demo("vector-add").path])
