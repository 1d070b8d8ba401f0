"""Large and slow programs on a real gdb: our session beside a bare gdb on a terminal and pygdbmi's controller.

Each side does the same with its own means: it lets the program run to the place, then steps, and each time asks for
what a screen shows: thirty frames and the variables of the innermost. Ours is timed from the request to the
notification that a screen paints from.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time
import tty
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from pygdbmi.gdbcontroller import GdbController

from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.gdb import GdbDebugger
from ladder_backends.paths import find_engine
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.state import Run

PROGRAMS = Path(__file__).resolve().parents[1] / "programs"
STEPS = 15
PATIENCE = 60.0
LEAST_DEBUG_MIB = 100
_STOPPED = re.compile(rb"^\*stopped", re.MULTILINE)


_KIND = """
struct kind_@ { int a_@; long b_@[3]; kind_@ *next; double f_@(int x, long y) const; };
double kind_@::f_@(int x, long y) const { long z = x + y; for (int i = 0; i < x; i++) z += a_@ + i; return z; }
"""
_START = """int main() {
  int total = 0;
  for (int i = 0; i < 100; i++)
    total += i;
  return total;
}
"""


class Scene(NamedTuple):
    """A program, and where it is looked at.

    Attributes:
        setting: Typed into the engine before, by each side.
        compared: pygdbmi's controller does it too, rather than hang on it.
    """

    what: str
    program: Path
    place: str
    setting: str = ""
    compared: bool = True


class Side(Protocol):
    """One way to drive gdb."""

    def begin(self, scene: Scene) -> float:
        """Seconds from starting gdb to standing at the place with everything shown."""

    def step(self) -> float:
        """Seconds of one step."""

    def end(self) -> None:
        """End gdb."""


def rows() -> Iterator[dict[str, Any]]:
    """See `run.py`."""
    gdb = find_engine("gdb").path
    if gdb is None or shutil.which("g++") is None or shutil.which("objcopy") is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        threads, deep = compiled(folder, "threads.c"), compiled(folder, "deep.c")
        vector = compiled(folder, "big_vector.cpp")
        scenes = [
            Scene("500 threads", threads, "meet"),
            Scene("50,000 frames", deep, "deep.c:5"),
            Scene("vector of a million, print elements 0", vector, "big_vector.cpp:8", "print elements 0", False),
        ]
        for scene in scenes:
            yield from compare(gdb, scene)
        large, mebibytes = large_program(Path(folder))
        yield from compare(gdb, Scene(f"{mebibytes:.0f} MiB of debug information", large, "main"))
        yield from long_step(compiled(folder, "long_line.c"))


def compare(gdb: Path, scene: Scene) -> Iterator[dict[str, Any]]:
    """Start and step of all sides."""
    sides: dict[str, Callable[[], Side]] = {"ours": OurSession, "bare gdb": lambda: BareGdb(gdb)}
    if scene.compared:
        sides["pygdbmi"] = lambda: Pygdbmi(gdb)
    begun: dict[str, float] = {}
    stepped: dict[str, float] = {}
    for name, make in sides.items():
        side = make()
        begun[name] = side.begin(scene)
        times = []
        for _ in range(STEPS if name != "pygdbmi" else 3):
            times.append(side.step())
            if times[-1] > PATIENCE / 2:
                break
        stepped[name] = 1e3 * statistics.median(times)
        side.end()
    for other in [name for name in sides if name != "ours"]:
        yield {
            "what": f"start to stop, {scene.what}",
            "ours": begun["ours"],
            "unit": "s",
            "partner": begun[other],
            "of": other,
        }
        yield {
            "what": f"step, {scene.what}",
            "ours": stepped["ours"],
            "unit": "ms",
            "partner": stepped[other],
            "of": other,
        }
    yield {"what": f"step to notification, {scene.what}", "ours": stepped["ours"], "unit": "ms", "budget": 200.0}


def long_step(program: Path) -> Iterator[dict[str, Any]]:
    """A step over one line that takes gdb minutes: how soon it shows as running, and how soon it can be stopped."""

    async def measure() -> tuple[float, float]:
        session = DebugSession(GdbDebugger())
        await session.open(LaunchTarget(program), run=False)
        await session.resume(StepKind.START)
        await session.at_rest()
        running = asyncio.Event()
        session.subscribe(lambda change: running.set() if session.state.run is Run.RUNNING else None)
        begun = time.perf_counter()
        await session.resume(StepKind.NEXT)
        await running.wait()
        shown = time.perf_counter() - begun
        await asyncio.sleep(1.0)
        begun = time.perf_counter()
        await session.interrupt()
        await session.at_rest()
        stopped = time.perf_counter() - begun
        await session.close()
        return shown, stopped

    shown, stopped = asyncio.run(measure())
    yield {"what": "one-line loop: step shows as running after", "ours": 1e3 * shown, "unit": "ms", "budget": 200.0}
    yield {
        "what": "one-line loop: stopped by the interrupt after",
        "ours": 1e3 * stopped,
        "unit": "ms",
        "budget": 200.0,
    }


class OurSession:
    """Our session, with the rows that a screen of 120x40 asks for."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._session = DebugSession(GdbDebugger())

    def begin(self, scene: Scene) -> float:
        """See `Side`."""

        async def begin() -> float:
            begun = time.perf_counter()
            session = self._session
            session.show_rows(frames=30, variables=30)
            await session.open(LaunchTarget(scene.program), run=False)
            if scene.setting:
                await session.console(f"set {scene.setting}")
            await session.set_breakpoint(scene.place)
            await session.resume(StepKind.RUN)
            await session.at_rest()
            return time.perf_counter() - begun

        return self._loop.run_until_complete(begin())

    def step(self) -> float:
        """See `Side`."""

        async def step() -> float:
            begun = time.perf_counter()
            await self._session.resume(StepKind.STEP_INSTRUCTION)
            await self._session.at_rest()
            return time.perf_counter() - begun

        return self._loop.run_until_complete(step())

    def end(self) -> None:
        """See `Side`."""
        self._loop.run_until_complete(self._session.close())
        self._loop.close()


QUESTIONS = ("-stack-list-frames 0 29", "-stack-list-variables --simple-values")


class BareGdb:
    """gdb on one raw terminal, with the fewest commands that tell the same."""

    def __init__(self, gdb: Path) -> None:
        self._gdb = gdb
        self._master, self._slave = os.openpty()
        self._said = b""
        self._number = 0

    def begin(self, scene: Scene) -> float:
        """See `Side`."""
        begun = time.perf_counter()
        tty.setraw(self._slave)
        self._process = subprocess.Popen(
            [str(self._gdb), "-nx", "-q", "--interpreter=mi3", str(scene.program)],
            stdin=self._slave,
            stdout=self._slave,
            stderr=self._slave,
            env={**os.environ, "DEBUGINFOD_URLS": ""},
            start_new_session=True,
        )
        if scene.setting:
            self._ask(f"-gdb-set {scene.setting}")
        self._ask(f"-break-insert {scene.place}")
        self._go("-exec-run")
        return time.perf_counter() - begun

    def step(self) -> float:
        """See `Side`."""
        begun = time.perf_counter()
        self._go("-exec-step-instruction")
        return time.perf_counter() - begun

    def end(self) -> None:
        """See `Side`."""
        for end in (self._master, self._slave):
            os.close(end)
        self._process.wait(timeout=PATIENCE)

    def _go(self, command: str) -> None:
        self._ask(command, _STOPPED)
        for question in QUESTIONS:
            self._ask(question)

    def _ask(self, command: str, awaited: re.Pattern[bytes] | None = None) -> None:
        self._number += 1
        token = str(self._number).encode()
        pattern = awaited or re.compile(rb"^%s\^(done|error)" % token, re.MULTILINE)
        os.write(self._master, token + command.encode() + b"\n")
        self._said = b""
        while not (pattern.search(self._said) and self._said.endswith(b"\n")):
            self._said += os.read(self._master, 1 << 16)


class Pygdbmi:
    """pygdbmi's own controller, as its README uses it."""

    def __init__(self, gdb: Path) -> None:
        self._gdb = gdb

    def begin(self, scene: Scene) -> float:
        """See `Side`."""
        begun = time.perf_counter()
        self._controller = GdbController([str(self._gdb), "--nx", "--quiet", "--interpreter=mi3"])
        self._controller.write(f"-file-exec-and-symbols {scene.program}", timeout_sec=PATIENCE)
        self._controller.write(f"-break-insert {scene.place}", timeout_sec=PATIENCE)
        self._go("-exec-run")
        return time.perf_counter() - begun

    def step(self) -> float:
        """See `Side`."""
        begun = time.perf_counter()
        self._go("-exec-step-instruction")
        return time.perf_counter() - begun

    def end(self) -> None:
        """See `Side`."""
        self._controller.exit()

    def _go(self, command: str) -> None:
        said = self._controller.write(command, timeout_sec=PATIENCE)
        end = time.monotonic() + PATIENCE
        while not any(each["message"] == "stopped" for each in said) and time.monotonic() < end:
            said = self._controller.get_gdb_response(timeout_sec=PATIENCE, raise_error_on_timeout=False)
        for question in QUESTIONS:
            self._controller.write(question, timeout_sec=PATIENCE)


def compiled(folder: str, source: str) -> Path:
    """A program of `tests/programs`."""
    program = Path(folder) / Path(source).stem
    compiler = "g++" if source.endswith("pp") else "gcc"
    subprocess.run([compiler, "-g", "-O0", "-pthread", "-o", program, PROGRAMS / source], check=True)
    return program


def large_program(folder: Path) -> tuple[Path, float]:
    """A program with `LEAST_DEBUG_MIB` of debug information or more: one unit, copied under other names."""
    unit = folder / "unit.cpp"
    kinds = "\n".join(_KIND.replace("@", str(number)) for number in range(4_000))
    unit.write_text(kinds)
    subprocess.run(["g++", "-g3", "-O0", "-c", "-o", folder / "unit.o", unit], check=True)
    # The linker stores equal strings once.
    copies = max(2, int(1.4 * LEAST_DEBUG_MIB * 2**20 / debug_bytes(folder / "unit.o")) + 1)
    objects = []
    for number in range(copies):
        copy = folder / f"unit_{number}.o"
        subprocess.run(["objcopy", f"--prefix-symbols=copy{number}_", folder / "unit.o", copy], check=True)
        objects.append(copy)
    start = folder / "start.cpp"
    start.write_text(_START)
    program = folder / "large"
    # What the copies need of the language's runtime has another name now, and is never called.
    link = ["g++", "-g", "-o", program, start, *objects, "-Wl,--unresolved-symbols=ignore-all"]
    subprocess.run(link, check=True)
    return program, debug_bytes(program) / 2**20


def debug_bytes(file: Path) -> int:
    """Bytes of the sections of debug information."""
    listing = subprocess.run(["objdump", "-h", file], check=True, capture_output=True, text=True).stdout
    total = 0
    for line in listing.splitlines():
        words = line.split()
        with contextlib.suppress(IndexError, ValueError):
            total += int(words[2], 16) if words[1].startswith((".debug", ".copy")) else 0
    return total
