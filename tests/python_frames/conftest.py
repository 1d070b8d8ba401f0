"""Python programs with an extension, and the interpreters of this machine to run them."""

from __future__ import annotations

import asyncio
import resource
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.gdb import GdbDebugger
from ladder_backends.model.python_stack import FoldedFrames, PythonRow
from ladder_backends.python_frames import find_py_spy
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.state import DebugState

PROGRAMS = Path(__file__).parents[1] / "programs"


@pytest.fixture(scope="session")
def layers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`python_layers.py` with the extension that it imports beside it; any Python 3.7 or later runs it."""
    folder = tmp_path_factory.mktemp("layers")
    shutil.copy(PROGRAMS / "python_deep.py", folder)
    script = shutil.copy(PROGRAMS / "python_layers.py", folder)
    build = ["gcc", "-g", "-O0", "-shared", "-fPIC", "-o", str(folder / "spin_extension.so")]
    subprocess.run([*build, str(PROGRAMS / "spin_extension.c")], check=True, timeout=60)
    return Path(script)


@pytest.fixture
def py_spy() -> Path:
    found = find_py_spy()
    if found.path is None:
        pytest.skip(f"no py-spy: {found.missing}")
    return found.path


def interpreter(name: str) -> Path:
    """This Python, the distribution's (stripped), or one that pyenv has installed."""
    if name == "this":
        return Path(sys.executable)
    if name == "distribution":
        path = Path("/usr/bin/python3")
        if not path.exists() or path.resolve() == Path(sys.executable).resolve():
            pytest.skip("no Python of the distribution's own")
        return path
    found = sorted(Path.home().glob(f".pyenv/versions/{name}.*/bin/python"))
    if not found:
        pytest.skip(f"no Python {name} here")
    return found[-1]


@pytest.fixture
def python(request: pytest.FixtureRequest) -> Path:
    """The interpreter that a test is parametrised with."""
    return interpreter(getattr(request, "param", "this"))


@pytest.fixture
def kernel_core(python: Path, layers: Path, tmp_path: Path) -> Path:
    """The core that the kernel writes of a crash under `python`; skipped where it goes elsewhere or nowhere."""
    pattern = Path("/proc/sys/kernel/core_pattern").read_text().strip()
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    if "/" in pattern or pattern.startswith("|") or most == 0:
        pytest.skip(f"cores are not written beside the program here ({pattern})")
    command = f'ulimit -c unlimited 2>/dev/null || ulimit -c {most}; exec "$0" "$@"'
    subprocess.run(
        ["sh", "-c", command, str(python), str(layers), "crash"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    cores = list(tmp_path.glob("core*"))
    if not cores:
        pytest.skip("the kernel wrote no core")
    return cores[0]


class Stack:
    """A session whose stack is on screen."""

    def __init__(self, session: DebugSession) -> None:
        self.session = session
        session.show_rows(frames=30, variables=20, python=True)

    @property
    def state(self) -> DebugState:
        return self.session.state

    async def settled(self) -> None:
        """Wait until the target stands and its Python frames are read."""
        await self.session.at_rest()
        # Told in a turn of the loop of its own.
        await asyncio.sleep(0)
        await self.session.python.settled()

    async def run(self, python: Path, *arguments: str | Path) -> None:
        """Start a program and wait until it stands."""
        target = LaunchTarget(python, arguments=tuple(str(word) for word in arguments))
        await self.session.open(target, run=False)
        await self.go(StepKind.RUN)

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait until something is so."""
        moved = asyncio.Event()
        leave = self.session.subscribe(lambda change: moved.set())
        while not true():
            await moved.wait()
            moved.clear()
        leave()

    async def go(self, kind: StepKind, location: str = "") -> None:
        await self.session.resume(kind, location)
        await self.settled()

    def rows(self) -> list[str]:
        """`follow`, `py forward`, `(3)` for a fold."""
        woven = self.state.python.woven
        shown = []
        for row in woven.rows if woven is not None else ():
            if isinstance(row, PythonRow):
                shown.append(f"py {row.frame.function.rpartition('.')[2]}")
            elif isinstance(row, FoldedFrames):
                shown.append(f"({len(row.frames)})")
            else:
                shown.append(row.function)
        return shown

    def python_row(self, function: str) -> PythonRow:
        woven = self.state.python.woven
        assert woven is not None
        rows = (row for row in woven.rows if isinstance(row, PythonRow))
        return next(row for row in rows if row.frame.function.rpartition(".")[2] == function)

    def notices(self) -> list[str]:
        return [notice.text for notice in self.state.notices]


@pytest.fixture
async def stack(gdb: object) -> AsyncIterator[Stack]:
    """A session that is not opened yet; it is closed at the end."""
    stack = Stack(DebugSession(GdbDebugger(), replacement=GdbDebugger))
    yield stack
    await stack.session.close()
