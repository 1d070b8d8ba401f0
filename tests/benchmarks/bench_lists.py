"""Long lists, lane maps and floods of output: what a key costs, in time and bytes, and whether the loop lives."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench_findings import flood
from terminal import Terminal

FINDINGS = 100_000
KEYS = 40
SIZE = {"columns": 120, "rows": 40}
LINES_PER_SECOND = 100_000
SECONDS = 5
DOWN, UP, LEFT, RIGHT, END, PAGE_UP = b"\x1b[B", b"\x1b[A", b"\x1b[D", b"\x1b[C", b"\x1b[F", b"\x1b[5~"

OPEN = """
import sys
from pathlib import Path
from ladder_tui.app import LadderApp
from ladder_backends.session.ladder import Ladder
LadderApp(Ladder(), opening=lambda ladder: ladder.open_files((Path(sys.argv[1]),))).run()
"""

DEMO = """
from ladder_tui.app import LadderApp
from ladder_backends.session.ladder import Ladder
from ladder_demos.catalogue import find_demo
LadderApp(Ladder(), opening=lambda ladder: ladder.open_files((find_demo("vector-add").path,))).run()
"""

FLOODED = """
import asyncio, json, resource, sys, time
from pathlib import Path
from ladder_tui.app import LadderApp
from ladder_backends.session.ladder import Ladder
from ladder_backends.debugger.target import LaunchTarget

async def watch(delays):
    while True:
        began = time.perf_counter()
        await asyncio.sleep(0.001)
        delays.append(time.perf_counter() - began - 0.001)

class Watched(LadderApp):
    async def on_ready(self):
        self.delays = []
        self.watching = asyncio.get_running_loop().create_task(watch(self.delays))
        self.set_timer(float(sys.argv[3]), self.done)

    def done(self):
        self.watching.cancel()
        pane = self.workspace.panes["program"]
        lost = pane._terminal.backlog.dropped_lines
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        # The first second is the start of the engine, not the flood.
        found = {"delays": self.delays[len(self.delays) // 5 :], "lost": lost, "peak": peak}
        Path(sys.argv[2]).write_text(json.dumps(found))
        self.exit()

target = LaunchTarget(Path(sys.argv[1]))
Watched(Ladder(), opening=lambda ladder: ladder.open_target(target, debugger="gdb")).run()
"""

PROGRAM = """
#include <stdio.h>
#include <time.h>
int main(void) {
    struct timespec start, now, nap = {0, 1000000};
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (long line = 0;;) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        double seconds = now.tv_sec - start.tv_sec + (now.tv_nsec - start.tv_nsec) / 1e9;
        if (seconds > 60) return 0;
        for (; line < seconds * %d; line++) printf("line %%ld of what a program prints\\n", line);
        fflush(stdout);
        nanosleep(&nap, 0);
    }
}
"""


def rows() -> Iterator[dict[str, Any]]:
    """Findings, lanes, flood."""
    with tempfile.TemporaryDirectory() as folder:
        yield from _findings(Path(folder))
        yield from _lanes(Path(folder))
        yield from _flood(Path(folder))


def _open(code: str, *arguments: str, folder: Path, wanted: bytes, **extra: str) -> Terminal:
    own = {name: str(folder / name) for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")}
    terminal = Terminal([sys.executable, "-c", code, *arguments], **SIZE, extra={**own, **extra})
    terminal.read_until(wanted, limit=60)
    terminal.burst(quiet=1.0)
    return terminal


def _findings(folder: Path) -> Iterator[dict[str, Any]]:
    reports = {"100,000 findings": flood(FINDINGS, 1), "24 findings": flood(24, 1)}
    figures: dict[str, dict[str, list[float]]] = {}
    for name, raw in reports.items():
        log = folder / f"{len(raw)}.log"
        log.write_bytes(raw)
        terminal = _open(OPEN, str(log), folder=folder, wanted=b"bug")
        terminal.burst(b"wf")
        # All members, then a row from the middle: keys repaint two rows, pages all of them.
        terminal.burst(END + b" ", quiet=0.5)
        terminal.burst(END, quiet=0.3)
        steps = [terminal.burst(key) for _ in range(KEYS // 2) for key in (UP, DOWN)]
        pages = [terminal.burst(PAGE_UP) for _ in range(KEYS // 4)]
        figures[name] = {
            "key": [burst.last * 1000 for burst in steps],
            "page": [burst.last * 1000 for burst in pages if burst.size],
            "bytes": [float(burst.size) for burst in steps],
        }
        terminal.close(b"q", b"q")
    many, few = figures["100,000 findings"], figures["24 findings"]
    for what in ("key", "page"):
        if not few[what]:
            few[what] = few["key"]
        yield {
            "what": f"100,000 findings, {what} to repaint",
            "ours": statistics.median(many[what]),
            "unit": "ms",
            "partner": statistics.median(few[what]),
            "of": "24 findings",
            "budget": 1.5 if what == "key" else 3,
        }
    yield {
        "what": "findings, one row, bytes",
        "ours": statistics.median(many["bytes"]),
        "unit": "B",
        "budget": 1000,
    }


def _lanes(folder: Path) -> Iterator[dict[str, Any]]:
    # Without cuda-gdb the shipped recording answers: no engine takes part in what is measured here.
    terminal = _open(DEMO, folder=folder, wanted=b"lanes", LADDER_CUDA_GDB="/nonexistent/cuda-gdb")
    terminal.burst(b"\r", quiet=1.0)
    terminal.burst(b"wg", quiet=0.5)
    moves = [terminal.burst(key) for _ in range(KEYS // 2) for key in (RIGHT, LEFT)]
    terminal.close(b"q", b"q")
    yield {
        "what": "one lane of the map, key to repaint",
        "ours": statistics.median(burst.last * 1000 for burst in moves),
        "unit": "ms",
        "budget": 4.0,
    }
    sizes = [burst.size for burst in moves]
    yield {"what": "one lane of the map, bytes", "ours": statistics.median(sizes), "unit": "B", "budget": 600}


def _flood(folder: Path) -> Iterator[dict[str, Any]]:
    source, program, answer = folder / "flood.c", folder / "flood", folder / "flood.json"
    source.write_text(PROGRAM % LINES_PER_SECOND)
    subprocess.run(["gcc", "-O1", "-o", program, source], check=True)
    arguments = [str(program), str(answer), str(SECONDS)]
    own = {"XDG_STATE_HOME": str(folder / "state")}
    terminal = Terminal([sys.executable, "-c", FLOODED, *arguments], **SIZE, extra=own)
    terminal.read_until(b"gdb")
    os.write(terminal.master, b"wp")
    written = terminal.burst(quiet=1.0, limit=SECONDS + 5)
    terminal.close()
    found = json.loads(answer.read_text())
    delays = sorted(found["delays"])
    p99 = delays[len(delays) * 99 // 100] * 1000
    yield {"what": "flood of 100,000 lines/s, loop delay p99", "ours": p99, "unit": "ms", "budget": 20.0}
    yield {"what": "flood, loop delay max", "ours": delays[-1] * 1000, "unit": "ms"}
    yield {"what": "flood, memory at most", "ours": found["peak"] / 1024, "unit": "MiB", "budget": 150}
    yield {"what": "flood, lines left out and counted", "ours": found["lost"], "unit": ""}
    yield {"what": "flood, bytes to the terminal", "ours": written.size / SECONDS, "unit": "B/s"}
