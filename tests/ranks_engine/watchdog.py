"""Ends a job whose ranks do not move, as NCCL's RAS gives up a silent peer: SECONDS FOLDER PID..."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

patience, folder, *pids = float(sys.argv[1]), Path(sys.argv[2]), *map(int, sys.argv[3:])
seen: dict[Path, tuple[bytes, float]] = {}
print("watching", flush=True)
while True:
    for file in folder.glob("beat-*"):
        beat, now = file.read_bytes()[:8], time.monotonic()
        before = seen.get(file)
        if before is None or before[0] != beat:
            seen[file] = (beat, now)
        elif now - before[1] > patience:
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
            sys.exit(1)
    time.sleep(0.05)
