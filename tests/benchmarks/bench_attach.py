"""How long a process with large libraries stands while its stacks are read: plain gdb beside symbols read before.

The process itself measures it: it notes every moment in which it did not run for longer than it asked to.
"""

from __future__ import annotations

import asyncio
import os
import queue
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ladder_backends.gdb import GdbDebugger
from ladder_backends.paths import find_engine
from ladder_backends.session.all_stacks import hold_and_read

LIBRARIES, SYMBOLS = 8, 60_000
RUNS = 3

_MAIN = r"""
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void *wait_for_ever(void *unused) {
    for (;;)
        pause();
    return unused;
}

int main(void) {
    pthread_t thread;
    for (int i = 0; i < 7; i++)
        pthread_create(&thread, 0, wait_for_ever, 0);
    puts("ready");
    fflush(stdout);
    for (double last = now();; last = now()) {
        usleep(500);
        double gap = now() - last;
        if (gap > 0.02) {
            printf("%.6f\n", gap);
            fflush(stdout);
        }
    }
}
"""


def rows() -> Iterator[dict[str, Any]]:
    """See `run.py`."""
    gdb = find_engine("gdb").path
    if gdb is None or shutil.which("gcc") is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        program = build(Path(folder))
        with Beating(program) as beating:
            plain = [beating.longest_gap(lambda: plain_stacks(gdb, beating.pid)) for _ in range(RUNS)]
            warm = [beating.longest_gap(lambda: asyncio.run(our_stacks(beating.pid))) for _ in range(RUNS)]
    yield {
        "what": f"attach, all stacks, let go: pause with {LIBRARIES * SYMBOLS:,} symbols in {LIBRARIES} libraries",
        "ours": statistics.median(warm),
        "unit": "s",
        "partner": statistics.median(plain),
        "of": "gdb -p",
        "budget": 0.5,
    }
    yield {"what": "the same, longest", "ours": max(warm), "unit": "s", "budget": 0.5}


class Beating:
    """A process that tells of every pause of its own."""

    def __init__(self, *command: Path | str) -> None:
        self._process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True)
        self._gaps: queue.SimpleQueue[float] = queue.SimpleQueue()
        assert self._process.stdout is not None
        while "ready" not in self._process.stdout.readline():
            pass
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._gaps.put(float(line.split()[-1]))

    def longest_gap(self, work: Any) -> float:
        """Seconds for which the process stood while something was done to it; 0 where it noticed nothing."""
        time.sleep(0.2)
        while not self._gaps.empty():
            self._gaps.get()
        work()
        time.sleep(0.2)
        found = [0.0]
        while not self._gaps.empty():
            found.append(self._gaps.get())
        return max(found)

    def __enter__(self) -> Beating:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait(20)


def plain_stacks(gdb: Path, pid: int) -> None:
    """What a person does by hand."""
    command = [
        gdb,
        "-nx",
        "-batch",
        "-iex",
        "set debuginfod enabled off",
        "-p",
        str(pid),
        "-ex",
        "thread apply all bt",
    ]
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=120)


async def our_stacks(pid: int) -> None:
    """What `attach PID` does without a screen."""
    debugger = GdbDebugger()
    try:
        await hold_and_read(debugger, pid)
    finally:
        await debugger.close()


def build(folder: Path) -> Path:
    """A program with large C++ libraries, as far as a debugger can tell: they hold names and no code."""
    libraries = []
    for library in range(LIBRARIES):
        source, shared = folder / f"part{library}.s", folder / f"libpart{library}.so"
        with source.open("w") as out:
            out.write(".text\n")
            for number in range(SYMBOLS):
                name = f"kernel_{library}_{number:06}"
                symbol = f"_ZN2at6native{len(name)}{name}ILi{number}EEEvRKNS_6TensorERKSt6vectorIlSaIlEEl"
                out.write(f".globl {symbol}\n.type {symbol},@function\n{symbol}: ret\n.size {symbol},1\n")
            out.write('.section .note.GNU-stack,"",@progbits\n')
        subprocess.run(["gcc", "-shared", "-nostdlib", "-o", shared, source], check=True)
        source.unlink()
        libraries.append(shared)
    main = folder / "main.c"
    main.write_text(_MAIN)
    program = folder / "beating"
    links = ["-Wl,--no-as-needed", *libraries, f"-Wl,-rpath,{folder}"]
    subprocess.run(["gcc", "-g", "-pthread", "-o", program, main, *links], check=True)
    return program
