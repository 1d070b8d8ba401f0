"""From a finding to its lane in a warm cuda-gdb, against the same commands over a bare pipe."""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ladder_backends.case import open_files
from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.debugger import GpuDumpTarget
from ladder_backends.model.focus import Focus
from ladder_backends.paths import find_engine
from ladder_backends.session.jump import jump
from ladder_demos.catalogue import find_demo

TURNS = 9
THREADS = [(thread, 0, 0) for thread in range(232, 256)]
BLOCK = (3, 0, 0)


class BareEngine:
    """cuda-gdb on a pipe, warm, with the program loaded: what somebody's fingers would have."""

    def __init__(self, executable: Path) -> None:
        program = find_engine("cuda-gdb").path
        assert program is not None
        self._process = subprocess.Popen(
            [program, "--interpreter=mi3", "-q", "-nx", str(executable)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.ask("-gdb-set confirm off")

    def ask(self, *commands: str) -> float:
        """Send commands and read up to the last answer; returns the seconds it took."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        began = time.perf_counter()
        stdin.write("".join(f"{number}{command}\n" for number, command in enumerate(commands, 1)).encode())
        stdin.flush()
        last = f"{len(commands)}^".encode()
        while not stdout.readline().startswith(last):
            pass
        return time.perf_counter() - began

    def end(self) -> None:
        """Ask it to exit."""
        self.ask("-gdb-exit")
        self._process.wait()


def lane_commands(thread: tuple[int, int, int]) -> tuple[str, ...]:
    """What has to be asked for a lane, its values and its warp."""
    return (
        f"-cuda-focus-switch kernel 0 block ({BLOCK[0]},0,0) thread ({thread[0]},0,0)",
        "-stack-list-frames 0 32",
        "-stack-list-variables --simple-values",
        "-cuda-info-warps",
        "-cuda-info-lanes",
    )


async def ours(target: GpuDumpTarget) -> tuple[float, list[float]]:
    """Seconds of the first jump, and of further ones."""
    debugger = CudaGdbDebugger()
    try:
        await debugger.start()
        await debugger.command("-gdb-set confirm off")
        began = time.perf_counter()
        await debugger.open(target)
        await jump(debugger, Focus.of(block=BLOCK, thread=THREADS[0]))
        first = time.perf_counter() - began
        further = []
        for thread in THREADS[1:]:
            began = time.perf_counter()
            outcome = await jump(debugger, Focus.of(block=BLOCK, thread=thread))
            further.append(time.perf_counter() - began)
            assert outcome.exact
        return first, further
    finally:
        await debugger.close()


def bare(target: GpuDumpTarget) -> tuple[float, list[float]]:
    """The same by hand."""
    assert target.executable is not None
    engine = BareEngine(target.executable)
    opening = f'-interpreter-exec console "target cudacore {target.dump}"'
    first = engine.ask(opening) + engine.ask(*lane_commands(THREADS[0]))
    further = [engine.ask(*lane_commands(thread)) for thread in THREADS[1:]]
    engine.end()
    return first, further


def rows() -> Iterator[dict[str, Any]]:
    """First jump as a ratio; further jumps as milliseconds above the bare ones."""
    if find_engine("cuda-gdb").path is None:
        yield {"what": "no cuda-gdb here", "failed": True}
        return
    opened = open_files([find_demo("vector-add").path])
    assert opened.dump is not None
    target = GpuDumpTarget(opened.dump, opened.executable)
    first, further, bare_first, bare_further = [], [], [], []
    for _ in range(TURNS):
        one, more = asyncio.run(ours(target))
        first.append(one * 1000)
        further += [each * 1000 for each in more]
        one, more = bare(target)
        bare_first.append(one * 1000)
        bare_further += [each * 1000 for each in more]
    of = "the commands over a pipe"
    median = statistics.median
    yield {
        "what": "first jump",
        "ours": median(first),
        "unit": "ms",
        "partner": median(bare_first),
        "of": of,
        "budget": 1.3,
    }
    yield {"what": "further jump", "ours": median(further), "unit": "ms", "partner": median(bare_further), "of": of}
    above = median(further) - median(bare_further)
    yield {"what": "further jump, above it", "ours": above, "unit": "ms", "budget": 20.0}
