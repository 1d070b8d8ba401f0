"""Ranks of which one fails at the first start, and none after that."""

import json
import os
import sys
import time
from pathlib import Path

import torch.distributed as dist

folder, start = Path(os.environ["FOLDER"]), int(os.environ["TORCHELASTIC_RESTART_COUNT"])
# Torchrun keeps its store over a restart; under one prefix, ranks would find the addresses of those that have gone.
store = dist.TCPStore(os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]), is_master=False)
dist.init_process_group(
    "gloo",
    store=dist.PrefixStore(f"start {start}", store),
    rank=int(os.environ["RANK"]),
    world_size=int(os.environ["WORLD_SIZE"]),
)
pids = [None, None]
dist.all_gather_object(pids, os.getpid())
if dist.get_rank() == 0:
    (folder / f"pids-{start}").write_text(json.dumps(pids))
if start == 0 and dist.get_rank() == 1:
    sys.exit(3)
if start == 0:
    time.sleep(600)
dist.barrier()
if dist.get_rank() == 0:
    print("again: both", flush=True)
while True:
    time.sleep(1)
