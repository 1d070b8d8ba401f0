"""Real engines recorded, then played back."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.errors import EngineDied, EngineMissing, RecordingInvalid
from ladder_backends.mi.pty_transport import PtyTransport
from ladder_backends.mi.session import MiSession
from ladder_backends.mi.transport import Channel, EngineCommand
from ladder_backends.recording import Recorder, ReplayTransport, read_recording

SOURCE = """
#include <stdio.h>
int twice(int x) { int y = 2 * x; return y; }
int main(void) {
    setbuf(stdout, NULL);
    printf("one\\n");
    int r = twice(21);
    printf("got %d\\n", r);
    return 0;
}
"""
COMMANDS = (
    "-gdb-set mi-async on",
    "-break-insert twice",
    "-exec-run",
    "-stack-list-frames --thread 1 0 9",
    "-stack-list-variables --thread 1 --frame 0 --simple-values",
    "-exec-next",
    "-stack-list-variables --thread 1 --frame 0 --simple-values",
    "-no-such-command",
    "-exec-continue",
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "twice.c").write_text(SOURCE)
    subprocess.run(["gcc", "-g", "-O0", "-o", "twice", "twice.c"], cwd=folder, check=True)
    return folder / "twice"


async def drive(session: MiSession) -> tuple[list[str], list[str], bytes]:
    """Run the commands, waiting for the stop each run makes; answers, stops and the program's output."""
    stops: list[str] = []
    output = bytearray()
    stopped = asyncio.Event()

    def notice(record: Any) -> None:
        if getattr(record, "cls", "") == "stopped":
            stops.append(str(record.results))
            stopped.set()

    session.listen(
        notice=notice,
        stream=lambda channel, chunk: output.extend(chunk) if channel is Channel.PROGRAM else None,
        ended=lambda status, expected: None,
    )
    await session.start()
    answers = []
    for command in COMMANDS:
        stopped.clear()
        try:
            record = await session.command(command)
            answers.append(f"{record.cls} {record.results}")
        except Exception as error:
            answers.append(str(error))
        if command.startswith("-exec"):
            await asyncio.wait_for(stopped.wait(), 20)
    await asyncio.sleep(0.05)
    await session.close()
    return answers, stops, bytes(output)


async def test_a_recorded_gdb_and_its_replay_cannot_be_told_apart(gdb: Path, program: Path, tmp_path: Path) -> None:
    path = tmp_path / "twice.jsonl"
    command = EngineCommand("gdb", [str(gdb), "-nx", "-q", str(program)])
    live = await drive(MiSession(Recorder(PtyTransport(command), path)))
    held = read_recording(path)
    assert held.engine == "gdb"
    assert "GNU gdb" in held.version
    assert held.argv[1:] == ("-nx", "-q", str(program))
    for _ in range(2):
        assert await drive(MiSession(ReplayTransport(held))) == live
    assert "'42'" in live[0][6]
    assert len(live[1]) == 3
    assert live[2].split() == [b"one", b"got", b"42"]


async def test_a_replayed_death_is_a_death(gdb: Path, tmp_path: Path) -> None:
    path = tmp_path / "dead.jsonl"
    transport = PtyTransport(EngineCommand("gdb", [str(gdb), "-nx", "-q"]))
    session = MiSession(Recorder(transport, path))
    await session.start()
    # A question that gdb does not answer: its own shell waits.
    asking = asyncio.ensure_future(session.command('-interpreter-exec console "shell sleep 30"'))
    await asyncio.sleep(0.2)
    assert transport.pid is not None
    os.kill(transport.pid, signal.SIGKILL)
    with pytest.raises(EngineDied, match="SIGKILL"):
        await asking
    await session.close()

    replayed = MiSession(ReplayTransport(read_recording(path)))
    await replayed.start()
    with pytest.raises(EngineDied, match="SIGKILL"):
        await replayed.command('-interpreter-exec console "shell sleep 30"')


async def test_an_engine_that_was_closed_is_not_recorded_as_dead(gdb: Path, tmp_path: Path) -> None:
    path = tmp_path / "closed.jsonl"
    session = MiSession(Recorder(PtyTransport(EngineCommand("gdb", [str(gdb), "-nx", "-q"])), path))
    await session.start()
    await session.close()
    ends = [entry for entry in read_recording(path).entries if entry.ended]
    assert [entry.status for entry in ends] in ([], [0])
    replayed = MiSession(ReplayTransport(read_recording(path)))
    await replayed.start()
    assert replayed.alive
    await replayed.close()
    assert not replayed.alive


_KILLED = """
import asyncio, os, sys
from pathlib import Path
from ladder_backends.mi.pty_transport import PtyTransport
from ladder_backends.mi.session import MiSession
from ladder_backends.mi.transport import EngineCommand
from ladder_backends.recording import Recorder

async def main():
    session = MiSession(Recorder(PtyTransport(EngineCommand("gdb", [sys.argv[1], "-nx", "-q"])), Path(sys.argv[2])))
    await session.start()
    await session.command("-gdb-version")
    os.kill(os.getpid(), 9)

asyncio.run(main())
"""


def test_a_killed_console_leaves_what_it_had_recorded(gdb: Path, tmp_path: Path) -> None:
    path = tmp_path / "killed.jsonl"
    ended = subprocess.run([sys.executable, "-c", _KILLED, str(gdb), str(path)], timeout=30, check=False)
    assert ended.returncode == -signal.SIGKILL
    held = read_recording(path)
    assert held.note == ""
    assert any(b"-gdb-version" in entry.raw for entry in held.entries if entry.sent)
    assert any(b"^done" in entry.raw for entry in held.entries if not entry.sent)


async def test_a_file_that_cannot_be_written_is_told_before_the_engine_starts(gdb: Path, tmp_path: Path) -> None:
    transport = PtyTransport(EngineCommand("gdb", [str(gdb), "-nx", "-q"]))
    session = MiSession(Recorder(transport, tmp_path / "absent" / "r.jsonl"))
    with pytest.raises(RecordingInvalid, match="cannot be written"):
        await session.start()
    assert transport.pid is None


async def test_an_engine_that_cannot_be_started(tmp_path: Path) -> None:
    session = MiSession(
        Recorder(PtyTransport(EngineCommand("gdb", [str(tmp_path / "none")])), tmp_path / "r.jsonl")
    )
    with pytest.raises(EngineMissing):
        await session.start()


async def test_a_full_disk_ends_the_recording_and_not_the_session(gdb: Path) -> None:
    recorder = Recorder(PtyTransport(EngineCommand("gdb", [str(gdb), "-nx", "-q"])), Path("/dev/full"))
    session = MiSession(recorder)
    await session.start()
    assert (await session.command("-gdb-version")).cls == "done"
    assert "space" in recorder.failure
    await session.close()


async def test_a_recording_has_a_limit(gdb: Path, tmp_path: Path) -> None:
    path = tmp_path / "small.jsonl"
    recorder = Recorder(PtyTransport(EngineCommand("gdb", [str(gdb), "-nx", "-q"])), path, version="v", limit=3000)
    session = MiSession(recorder)
    await session.start()
    for _ in range(100):
        await session.command("-gdb-show version")
    assert "limit" in recorder.failure or "reached" in recorder.failure
    assert path.stat().st_size <= 3000
    await session.close()
    assert read_recording(path).note == ""


async def test_a_paced_replay_takes_the_recorded_time(recording: Any, opened: Any) -> None:
    # One entry every 10 ms; the answer comes ten entries behind its command.
    lines = [(">", "2-x-slow\n"), *[("<", f'~"{n}"\n') for n in range(9)], ("<", '2^done,v="slow"\n')]
    held = recording(*lines)
    async with opened(held) as client:
        assert await client.says("-x-slow") == "slow"
    async with opened(held, paced=True) as client:
        begun = time.monotonic()
        assert await client.says("-x-slow") == "slow"
        assert time.monotonic() - begun >= 0.099
        assert client.console() == [str(n) for n in range(9)]
