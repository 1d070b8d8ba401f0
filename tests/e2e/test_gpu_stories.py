"""What a person does on a machine with a GPU, in a real terminal: sanitizer, dump, live lane, grid, lanes, hang."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

TOOLS = ("nvidia-smi", "nvcc", "compute-sanitizer", "cuda-gdb")
PROGRAMS = Path(__file__).parents[2] / "demos/ladder_demos/programs/cuda"


def _missing() -> str:
    for tool in TOOLS:
        if shutil.which(tool) is None:
            return f"no {tool} on PATH"
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=60)
    return "" if "GPU 0" in listed.stdout else "no CUDA device"


REASON = _missing()

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.gpu,
    pytest.mark.timeout(180),
    pytest.mark.skipif(bool(REASON), reason=f"needs a CUDA device and its tools: {REASON}"),
]

SIZES = [(80, 24), (120, 40)]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Compiles a program of the demos, with debug information for the device, once."""
    folder = tmp_path_factory.mktemp("built")

    def build(name: str) -> Path:
        program = folder / name
        if not program.exists():
            source = shutil.copy(PROGRAMS / f"{name}.cu", folder)
            subprocess.run(["nvcc", "-g", "-G", "-arch=native", "-o", program, source], check=True, timeout=240)
        return program

    return build


@pytest.fixture
def screen(terminal: Any, request: pytest.FixtureRequest) -> Iterator[Callable[[int, int], Any]]:
    """Terminals whose last screen is kept where `LADDER_SCREENS` names a folder."""
    made: list[Any] = []

    def make(columns: int, rows: int) -> Any:
        made.append(terminal(columns, rows))
        return made[-1]

    yield make
    folder = os.environ.get("LADDER_SCREENS")
    for one in made if folder else ():
        name = re.sub(r"\W+", "-", request.node.name)
        (Path(str(folder)) / f"{name}.txt").write_text(one.text())


def keep(shown: Any, name: str) -> None:
    """Keep a screen on the way, where `LADDER_SCREENS` names a folder."""
    folder = os.environ.get("LADDER_SCREENS")
    if folder:
        (Path(folder) / f"{name}-{shown.columns}x{shown.rows}.txt").write_text(shown.text())


def holds(pattern: str) -> Callable[[list[str]], bool]:
    """A condition: some line of the screen matches."""
    compiled = re.compile(pattern)
    return lambda lines: any(compiled.search(line) for line in lines)


@pytest.mark.parametrize(("columns", "rows"), SIZES)
def test_from_a_run_of_the_sanitizer_to_a_live_lane(screen: Any, built: Any, columns: int, rows: int) -> None:
    shown = screen(columns, rows)
    shown.start("sanitize", "--", built("vector_add_oob"))
    shown.wait("24 found", patience=60)
    keep(shown, "sanitized")
    shown.press("Enter")
    shown.wait(holds(r"\bi\s+1000\b"), patience=40)
    keep(shown, "dump-lane")
    # On a small screen the further lanes are folded: the row below the first one opens them.
    shown.press("Down", "Enter")
    shown.wait("(233,0,0)")
    if not holds(r"\bi\s+1001\b")(shown.screen()):
        shown.press("Enter")
    shown.wait(holds(r"\bi\s+1001\b"))
    shown.press("j")
    shown.wait("live: run to it")
    keep(shown, "ways")
    shown.press("l")
    shown.wait("(live)", patience=60)
    shown.wait(holds(r"\bi\s+1001\b"), patience=60)
    keep(shown, "live-lane")
    shown.press("n")
    shown.wait(holds(r"11 ▶|▶ +11"), patience=40)
    shown.press(",")
    shown.wait(holds(r"\bi\s+100[01]\b"), patience=40)
    keep(shown, "back")
    shown.press("q")
    shown.wait(holds("EXIT=|[Ll]eave"))
    if "EXIT=" not in shown.text():
        shown.press("q")
    assert shown.exit_code() == 0


@pytest.mark.parametrize(("columns", "rows"), SIZES)
def test_a_big_grid_on_the_map_and_over_lanes(screen: Any, built: Any, columns: int, rows: int) -> None:
    shown = screen(columns, rows)
    # At main it stands still: what the command line answers there stays on a small screen.
    shown.start("run", "--stop-at-main", built("divergent_grid"))
    shown.wait(holds("■ breakpoint|■ .*main"), patience=60)
    shown.press(":")
    shown.write("break divergent_grid.cu:27")
    shown.press("Enter")
    shown.wait(holds(r"Breakpoint \d+ at"), patience=30)
    shown.press("Escape", "c")
    shown.wait(holds(r"block \(\d+,\d+,0\)|\(\d+,\d+,0\)\(\d+,\d+,0\)"), patience=90)
    keep(shown, "grid-stop")
    shown.press("w", "g")
    shown.wait(holds("250,1000"), patience=30)
    keep(shown, "grid-map")
    shown.press("h")
    shown.wait(holds(r"SM"), patience=30)
    keep(shown, "grid-hardware")
    shown.press("h", "V")
    shown.write("x")
    shown.press("Enter")
    shown.wait(holds(r"32 of 32|32 lanes|min|█ 31"), patience=30)
    keep(shown, "grid-lanes")
    shown.press("C-c", "q")
    shown.wait(holds("EXIT=|[Ll]eave|end"), patience=30)
    if "EXIT=" not in shown.text():
        shown.press("q")
    assert shown.exit_code(60) == 0


def test_a_hung_kernel_is_interrupted_and_dumped(screen: Any, built: Any, tmp_path: Path) -> None:
    shown = screen(80, 24)
    shown.start("run", built("hang"))
    shown.wait(holds("main"), patience=60)
    shown.press("c")
    shown.wait("running", patience=60)
    shown.press("w", "p")
    # Not the line of the source that prints it.
    shown.wait(holds(r"^\W*launched"), patience=60)
    shown.press("C-c")
    shown.wait(holds(r"spin.*\(2,1,1\)|interrupted.*block"), patience=60)
    keep(shown, "hang-stop")
    shown.press("C")
    shown.wait("Dump the GPU", patience=20)
    keep(shown, "hang-dump")
    shown.press("Enter")
    shown.wait(lambda lines: bool(list(tmp_path.glob("*.nvcudmp"))) or holds("nvcudmp")(lines), patience=40)
    keep(shown, "hang-dumped")
    shown.press("Escape", "q")
    shown.wait(holds("EXIT=|[Ll]eave|end"), patience=30)
    if "EXIT=" not in shown.text():
        shown.press("q")
    assert shown.exit_code(60) == 0
