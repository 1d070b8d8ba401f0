"""A console that is killed outright in mid-sweep leaves no worker behind, not one that hangs in a transfer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from .conftest import machine, wish_for

CONSOLE = """
import asyncio, sys
from pathlib import Path
from ladder_backends.session.p2p_sweep import PairSweep
from tests_wish import WISH
told = set()
def tell():
    for key, pair in sweep.state.pairs.items():
        if pair.running.startswith("push: copy") and key not in told:
            told.add(key)
            print(*sweep.pids(*sorted(key)), flush=True)
sweep = PairSweep(tell)
asyncio.run(sweep.sweep(WISH))
"""


def test_workers_end_with_a_console_that_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "machine.toml"
    # No step is given up on before the console is killed.
    text = machine(2, '[[fault]]\nkind = "hang"\nstubborn = true').replace("patience = 0.1", "patience = 100.0")
    path.write_text(text)
    (tmp_path / "state").mkdir()
    wish = wish_for(path, tmp_path / "state")
    (tmp_path / "tests_wish.py").write_text(
        "from ladder_backends.session.p2p_wish import Wish\n"
        "from ladder_backends.p2p.worker_process import Patience\n"
        f"WISH = Wish({json.dumps(wish.layer)}, 'made for a test', patience=Patience(100.0, 1.0, 1.0))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    console = subprocess.Popen([sys.executable, "-c", CONSOLE], stdout=subprocess.PIPE, text=True, env=environment)
    assert console.stdout is not None
    pids: list[int] = []
    try:
        while not pids and (line := console.stdout.readline()):
            pids = [int(word) for word in line.split()]
        assert pids
        time.sleep(0.3)
        assert all(Path(f"/proc/{pid}").exists() for pid in pids)
        console.kill()
        console.wait()
        until = time.monotonic() + 20
        while any(_alive(pid) for pid in pids) and time.monotonic() < until:
            time.sleep(0.05)
        assert not [pid for pid in pids if _alive(pid)]
    finally:
        console.kill()
        console.wait()
        console.stdout.close()
        for pid in pids:
            if _alive(pid):
                os.kill(pid, signal.SIGKILL)


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
