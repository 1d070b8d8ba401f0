"""The console is killed in the middle of a run: nothing of the run stays, whatever it ignores."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from ladder_backends.sanitizer.process_tree import Member, leader_of, lives, members

CONSOLE = """
import asyncio, sys
from pathlib import Path
from ladder_backends.sanitizer.command_line import ToolCommand
from ladder_backends.sanitizer.tool_process import ToolProcess

async def main():
    command = ToolCommand("memcheck", (sys.executable, sys.argv[1]), Path(sys.argv[2]))
    process = ToolProcess(command, lambda raw: (sys.stdout.buffer.write(raw), sys.stdout.buffer.flush()))
    process.start()
    print("leader", process.pid, flush=True)
    await process.wait()

asyncio.run(main())
"""

PROGRAM = """
import signal, subprocess, time
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    signal.signal(number, signal.SIG_IGN)
subprocess.Popen(["sleep", "600"])
subprocess.Popen(["sleep", "601"], start_new_session=True)
print("ready", flush=True)
time.sleep(600)
"""


def test_what_ignores_a_hangup_and_what_has_left_the_session_end_too(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    bystander = subprocess.Popen(["sleep", "602"], start_new_session=True)
    console = subprocess.Popen(
        (sys.executable, "-c", CONSOLE, str(program), str(tmp_path / "log")), stdout=subprocess.PIPE
    )
    try:
        assert console.stdout is not None
        said = b""
        while b"leader" not in said or b"ready" not in said:
            said += os.read(console.stdout.fileno(), 4096)
        leader = int(said.split(b"leader ")[1].split()[0])
        run: list[Member] = [*leader_of(leader), *members(leader)]
        assert len(run) == 3
        console.send_signal(signal.SIGKILL)
        console.wait()
        while any(lives(one) for one in run):
            time.sleep(0.02)
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()
        assert console.stdout is not None
        console.stdout.close()
