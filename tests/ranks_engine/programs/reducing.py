"""Ranks that reduce over and over, with a time-out of SECONDS, and count in FOLDER."""

from __future__ import annotations

import datetime
import os
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist

folder, seconds = Path(sys.argv[1]), float(sys.argv[2])
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=seconds))
rank = dist.get_rank()
x = torch.ones(8)
beat = os.open(folder / f"beat-{rank}", os.O_RDWR | os.O_CREAT)
turns = 0
while True:
    dist.all_reduce(x)
    x /= dist.get_world_size()
    turns += 1
    os.pwrite(beat, turns.to_bytes(8, "little"), 0)
    time.sleep(0.02)
