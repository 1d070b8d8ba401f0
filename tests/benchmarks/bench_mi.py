"""The machine interface: round trips, the parser, and what a large record does to the event loop."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import statistics
import subprocess
import time
import tty
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ladder_backends.mi.parse import parse
from ladder_backends.mi.pty_transport import PtyTransport
from ladder_backends.mi.second_opinion import read_by_pygdbmi
from ladder_backends.mi.session import MiSession
from ladder_backends.mi.transport import Channel, Ended, EngineCommand, Receive
from ladder_backends.paths import find_engine

RECORDED = Path(__file__).resolve().parents[1] / "mi" / "recordings" / "big-grid-thread-table-30MB.jsonl.gz"
TRIPS = 2000
COMMAND = "-gdb-set width 0"


def rows() -> Iterator[dict[str, Any]]:
    """See `run.py`."""
    gdb = find_engine("gdb").path
    if gdb is not None:
        bare = bare_round_trips(gdb)
        ours = asyncio.run(session_round_trips(gdb))
        of = "bare terminal"
        yield {
            "what": "MI round trip, p50",
            "ours": p50(ours),
            "unit": "ms",
            "partner": p50(bare),
            "of": of,
            "budget": 1.5,
        }
        yield {"what": "MI round trip, p95", "ours": p95(ours), "unit": "ms", "partner": p95(bare), "of": of}
    table, small, stream = thread_table(12_000_000), frames(21), recorded_lines()
    theirs = megabytes_a_second(read_text, [thread_table(500_000)])
    yield {
        "what": "MI parser, one record of 12 MB",
        "ours": megabytes_a_second(parse, [table]),
        "unit": "MB/s",
        "budget": 12,
        "higher_is_better": True,
    }
    yield {
        "what": "MI parser, one large record",
        "ours": megabytes_a_second(parse, [thread_table(500_000)] * 4),
        "unit": "MB/s",
        "partner": theirs,
        "of": "pygdbmi",
        "budget": 5,
        "higher_is_better": True,
    }
    yield {
        "what": "MI parser, 260,000 recorded lines",
        "ours": megabytes_a_second(parse, stream),
        "unit": "MB/s",
        "budget": 12,
        "higher_is_better": True,
    }
    yield {
        "what": "MI parser, 21 frames",
        "ours": 1e3 * seconds(parse, [small] * 500) / 500,
        "unit": "ms",
        "budget": 0.3,
    }
    yield {
        "what": "longest stall, record of 12 MB",
        "ours": asyncio.run(longest_stall(table)),
        "unit": "ms",
        "budget": 50,
    }
    storm = b"\n".join(b'=thread-created,id="%d",group-id="i1"' % n for n in range(20_000))
    yield {
        "what": "longest stall, 20,000 threads",
        "ours": asyncio.run(longest_stall(storm)),
        "unit": "ms",
        "budget": 50,
    }


def p50(times: list[float]) -> float:
    """Median, in milliseconds."""
    return 1e3 * statistics.median(times)


def p95(times: list[float]) -> float:
    """95th percentile, in milliseconds."""
    return 1e3 * statistics.quantiles(times, n=20)[-1]


def bare_round_trips(gdb: Path) -> list[float]:
    """The same engine on the same terminal, with nothing but a write and reads up to the answer's end."""
    master, slave = os.openpty()
    tty.setraw(slave)
    environment = {**os.environ, "TERM": "dumb", "DEBUGINFOD_URLS": ""}
    console, console_slave = os.openpty()
    engine = subprocess.Popen(
        [str(gdb), "-nx", "-q", "-iex", f"new-ui mi3 {os.ttyname(slave)}"],
        stdin=console_slave,
        stdout=console_slave,
        stderr=console_slave,
        env=environment,
        start_new_session=True,
    )

    def trip(number: int) -> None:
        os.write(master, b"%d%s\n" % (number, COMMAND.encode()))
        answer, said = b"%d^done" % number, b""
        while answer not in said or not said.endswith(b"\n"):
            said += os.read(master, 65536)

    trip(1)
    times = []
    for number in range(2, TRIPS + 2):
        begun = time.perf_counter()
        trip(number)
        times.append(time.perf_counter() - begun)
    for end in (master, slave, console, console_slave):
        os.close(end)
    engine.wait()
    return times


async def session_round_trips(gdb: Path) -> list[float]:
    """Through `MiSession`."""
    session = MiSession(PtyTransport(EngineCommand("gdb", [str(gdb), "-nx", "-q"])))
    await session.start()
    times = []
    for _ in range(TRIPS):
        begun = time.perf_counter()
        await session.command(COMMAND)
        times.append(time.perf_counter() - begun)
    await session.close()
    return times


def seconds(read: Callable[[bytes], Any], lines: list[bytes]) -> float:
    """Best of three, in processor time of this thread."""
    times = []
    for _ in range(3):
        begun = time.perf_counter()
        for line in lines:
            read(line)
        times.append(time.perf_counter() - begun)
    return min(times)


def megabytes_a_second(read: Callable[[bytes], Any], lines: list[bytes]) -> float:
    """Speed of a parser."""
    return sum(map(len, lines)) / seconds(read, lines) / 1e6


def read_text(line: bytes) -> Any:
    """pygdbmi."""
    return read_by_pygdbmi(line.decode())


def thread_table(size: int) -> bytes:
    """A record of `-cuda-info-threads` of about that many bytes."""
    row = (
        b'Row={current=" ",kernel="0",blockIdx="(%d,0,0)",threadIdx="(%d,0,0)",virtual_pc="0x00007ffddb7a1620",'
        b'device="0",sm="%d",warp="7",lane="8",filename="/home/user/ladder/grid.cu",line="10"}'
    )
    count = size // 190
    body = b",".join(row % (n, n % 1024, n % 132) for n in range(count))
    return b'2^done,InfoCudaThreadsTable={nr_rows="%d",nr_cols="11",body=[%s]}' % (count, body)


def frames(count: int) -> bytes:
    """A record of `-stack-list-frames`."""
    frame = (
        b'frame={level="%d",addr="0x00005555555551a9",func="compute_total",file="segfault.c",'
        b'fullname="/home/user/segfault.c",line="%d",arch="i386:x86-64"}'
    )
    return b"9^done,stack=[" + b",".join(frame % (n, n) for n in range(count)) + b"]"


def recorded_lines() -> list[bytes]:
    """What cuda-gdb wrote in a real session on a large grid: mostly console text."""
    with gzip.open(RECORDED) as lines:
        entries = map(json.loads, lines)
        return [entry["s"].encode() for entry in entries if entry["d"] == "<"]


class Spoken:
    """A transport whose engine says one thing, in the pieces in which a terminal would hand it out."""

    engine = "gdb"

    async def open(self, receive: Receive, ended: Ended) -> None:
        """Nothing is started."""
        self.receive = receive

    def send(self, channel: Channel, chunk: bytes) -> None:
        """The first question is answered."""
        if chunk.startswith(b"1-"):
            asyncio.get_running_loop().call_soon(self.receive, Channel.MI, b"1^done\n")

    def interrupt(self) -> None:
        """Nothing works."""

    def resize(self, channel: Channel, columns: int, rows: int) -> None:
        """Nothing is shown."""

    def forget_input(self, channel: Channel) -> None:
        """Nothing was sent."""

    async def close(self) -> None:
        """Nothing is open."""


async def longest_stall(said: bytes) -> float:
    """Longest time, in milliseconds, in which nothing else of the loop had its turn."""
    transport = Spoken()
    session = MiSession(transport)
    await session.start()
    longest = 0.0
    watching = True

    async def watch() -> None:
        nonlocal longest
        while watching:
            begun = time.perf_counter()
            await asyncio.sleep(0)
            longest = max(longest, time.perf_counter() - begun)

    watcher = asyncio.create_task(watch())
    await asyncio.sleep(0.01)
    # The next token, so that somebody waits for the answer, and lets it go again.
    answer = asyncio.ensure_future(session.command("-x", deadline=None))
    await asyncio.sleep(0)
    longest = 0.0
    for start in range(0, len(said), 65536):
        transport.receive(Channel.MI, said[start : start + 65536])
        await asyncio.sleep(0)
    transport.receive(Channel.MI, b"\n2^done\n")
    await answer
    del answer
    await asyncio.sleep(0)
    watching = False
    await watcher
    return 1e3 * longest


if __name__ == "__main__":
    for each in rows():
        print(each)
