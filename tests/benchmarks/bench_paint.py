"""From a step key to the last byte of the repaint, and what it costs in bytes; idle; first paint.

Bytes are stamped at the read: an emulator in the timed loop would add more than is measured. Peers, where they are
installed, run in turns with ours; they show the source and a command line only.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from terminal import Burst, Terminal

COMMAND = Path(sys.executable).parent / "ladder-tui"
STEPS = 60
TURNS = 3
IDLE = 10.0
SIZE = {"columns": 120, "rows": 40}

PROGRAM = """
static int weigh(int value, int factor) {
    int left = value * factor;
    int right = value + factor;
    return left - right;
}
int main(void) {
    int total = 0, last = 0;
    for (int round = 0; round < 1000000; round++) {
        last = weigh(round, total);
        total += last & 7;
        total ^= round;
        last = total / 3;
        total -= last;
    }
    return total;
}
"""

DEEP = """
struct cell { int row, column; double weight; };
static int bottom(int seed) {
    struct cell a = {1, 2, 3.0}, b = {4, 5, 6.0}, c = {7, 8, 9.0};
    int v0 = seed, v1 = 1, v2 = 2, v3 = 3, v4 = 4, v5 = 5, v6 = 6, v7 = 7, v8 = 8;
    double w0 = 0.5, w1 = 1.5, w2 = 2.5, w3 = 3.5;
    char text[16] = "text"; int *at = &v0; long sum = 0;
    for (int round = 0; round < 1000000; round++) {
        v1 += round;
        a.weight += w0;
        sum += v1 + v2;
        text[round & 7] ^= 1;
        w3 = w3 * 0.5 + w1;
    }
    return (int)sum + *at + b.row + c.row + v3 + v4 + v5 + v6 + v7 + v8 + (int)w2;
}
static int down(int depth) { return depth ? down(depth - 1) + depth : bottom(3); }
int main(void) {
    return down(24);
}
"""

OURS = """
import sys
from pathlib import Path
from ladder_tui.app import LadderApp
from ladder_backends.session.ladder import Ladder
from ladder_backends.debugger.target import LaunchTarget
target = LaunchTarget(Path(sys.argv[1]), stop_at_main=True)
LadderApp(Ladder(), opening=lambda ladder: ladder.open_target(target, debugger="gdb")).run()
"""

TRIVIAL = """
from textual.app import App
from textual.widgets import Static
class Trivial(App):
    def compose(self):
        yield Static("READY")
Trivial().run()
"""


class MiFloor:
    """The same questions asked of gdb by hand: what no screen can be faster than."""

    def __init__(self, program: Path, stop: str = "main") -> None:
        self.gdb = subprocess.Popen(
            ["gdb", "--nx", "-q", "--interpreter=mi3", str(program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._ask("-gdb-set startup-with-shell off")
        self._ask(f"-break-insert {stop}")
        self._ask("-exec-run", b"*stopped")

    def _ask(self, line: str, until: bytes = b"^done") -> None:
        assert self.gdb.stdin is not None
        assert self.gdb.stdout is not None
        self.gdb.stdin.write(line.encode() + b"\n")
        self.gdb.stdin.flush()
        while not self.gdb.stdout.readline().startswith(until):
            pass

    def step(self) -> float:
        """Seconds from `-exec-next` to the last answer about the stop."""
        start = time.perf_counter()
        self._ask("-exec-next", b"*stopped")
        assert self.gdb.stdin is not None
        assert self.gdb.stdout is not None
        self.gdb.stdin.write(b"-stack-list-frames 0 20\n-stack-list-variables --all-values\n")
        self.gdb.stdin.flush()
        answers = 0
        while answers < 2:
            answers += self.gdb.stdout.readline().startswith(b"^done")
        return time.perf_counter() - start

    def close(self) -> None:
        """End gdb; the program it launched ends with it."""
        assert self.gdb.stdin is not None
        self.gdb.stdin.write(b"-gdb-exit\n")
        self.gdb.stdin.close()
        self.gdb.wait()


def rows() -> Iterator[dict[str, Any]]:
    """Steps, idle and first paint."""
    with tempfile.TemporaryDirectory() as folder:
        program, deep = (_compiled(Path(folder), name, text) for name, text in (("steps", PROGRAM), ("deep", DEEP)))
        yield from _steps(program)
        yield from _deep_steps(deep)
        yield from _first_paint(Path(folder), program)


def _compiled(folder: Path, name: str, text: str) -> Path:
    source, program = folder / f"{name}.c", folder / name
    source.write_text(text)
    subprocess.run(["gcc", "-g", "-O0", "-o", program, source], check=True)
    return program


def _deep_steps(program: Path) -> Iterator[dict[str, Any]]:
    """Steps 25 calls deep, with 20 locals, structs among them."""
    floor = MiFloor(program, "bottom")
    ours = _open_ours(program)
    ours.burst(b":")
    ours.burst(b"break bottom\r", quiet=0.3)
    ours.burst(b"continue\r", quiet=1.0)
    ours.burst(b"\x1b", quiet=0.5)
    floors = [floor.step() * 1000 for _ in range(STEPS)]
    bursts = [ours.burst(b"n") for _ in range(STEPS)]
    floor.close()
    ours.close(b"q", b"q")
    over = statistics.median(burst.last * 1000 for burst in bursts) - statistics.median(floors)
    yield {"what": "deep step, above MI floor", "ours": over, "unit": "ms", "budget": 5.0}
    yield {"what": "deep step, bytes", "ours": statistics.median(burst.size for burst in bursts), "unit": "B"}


def _open_ours(program: Path) -> Terminal:
    ours = Terminal([sys.executable, "-c", OURS, str(program)], **SIZE)
    ours.read_until(b"weigh")
    ours.burst(quiet=1.0)
    return ours


def _steps(program: Path) -> Iterator[dict[str, Any]]:
    floor = MiFloor(program)
    apps: dict[str, tuple[Terminal, bytes]] = {"ours": (_open_ours(program), b"n")}
    if shutil.which("cgdb"):
        apps["cgdb"] = (_peer(["cgdb", "-q", str(program)]), b"next\n")
    apps["gdb -tui"] = (_peer(["gdb", "--nx", "-q", "-tui", str(program)]), b"next\n")
    bursts: dict[str, list[Burst]] = {name: [] for name in apps}
    floors: list[float] = []
    for _ in range(TURNS):
        floors += [floor.step() for _ in range(STEPS)]
        for name, (terminal, key) in apps.items():
            bursts[name] += [terminal.burst(key) for _ in range(STEPS)]
    ours = apps["ours"][0]
    ours.burst(quiet=1.5)
    before = ours.cpu()
    idle = ours.burst(quiet=IDLE)
    busy = ours.cpu() - before
    floor.close()
    ours.close(b"q", b"q")
    for name in apps.keys() - {"ours"}:
        apps[name][0].close(b"quit\n", b"y\n")

    times = {name: [burst.last * 1000 for burst in found] for name, found in bursts.items()}
    ours_ms = statistics.median(times["ours"])
    floor_ms = statistics.median(floors) * 1000
    yield {"what": "step, median", "ours": ours_ms, "unit": "ms", "budget": 8.0}
    yield {"what": "step, above MI floor", "ours": ours_ms - floor_ms, "unit": "ms", "budget": 5.0}
    yield {"what": "step, p95", "ours": _percentile(times["ours"], 95), "unit": "ms", "budget": 12.0}
    yield {"what": "step, max", "ours": max(times["ours"]), "unit": "ms"}
    for name in times.keys() - {"ours"}:
        budget = {"budget": 1.0} if name == "cgdb" else {}
        partner = statistics.median(times[name])
        yield {"what": "step", "ours": ours_ms, "unit": "ms", "partner": partner, "of": name, **budget}
    sizes = [burst.size for burst in bursts["ours"]]
    reads = [burst.reads for burst in bursts["ours"]]
    yield {"what": "step, bytes", "ours": statistics.median(sizes), "unit": "B", "budget": 800}
    yield {"what": "step, bytes p95", "ours": _percentile(sizes, 95), "unit": "B", "budget": 1200}
    yield {"what": "step, writes", "ours": statistics.median(reads), "unit": "", "budget": 1}
    yield {"what": "idle 10 s, bytes", "ours": idle.size, "unit": "B", "budget": 0}
    yield {"what": "idle 10 s, CPU", "ours": busy / IDLE * 100, "unit": "%", "budget": 0.5}


def _peer(argv: list[str]) -> Terminal:
    peer = Terminal(argv, **SIZE)
    peer.burst(quiet=1.0)
    peer.burst(b"set pagination off\n", quiet=0.3)
    peer.burst(b"break main\n", quiet=0.3)
    peer.burst(b"run\n", quiet=1.5)
    return peer


def _first_paint(folder: Path, program: Path) -> Iterator[dict[str, Any]]:
    """From the start of Python to the first frame; bytecode is at hand, as after an installation."""
    compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    runs = {
        "ours": ([str(COMMAND)], b"hardware", b"q"),
        "run": ([str(COMMAND), "run", str(program)], b"hardware", b"qq"),
        "trivial": ([sys.executable, "-c", TRIVIAL], b"READY", b"\x11"),
    }
    found: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(9):
        for name, (argv, sign, keys) in runs.items():
            terminal = Terminal(argv, **SIZE, extra=compiled)
            milliseconds = terminal.read_until(sign) * 1000
            if turn:
                found[name].append(milliseconds)
            terminal.close(keys)
    for name, what in (("ours", "first paint, start screen"), ("run", "first paint, run PROGRAM")):
        yield {
            "what": what,
            "ours": statistics.median(found[name]),
            "unit": "ms",
            "partner": statistics.median(found["trivial"]),
            "of": "a trivial Textual app",
            "budget": 1.3,
        }


def _percentile(values: list[float] | list[int], percent: int) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]
