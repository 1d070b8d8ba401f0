"""Ranks that dump their flight recorder as NCCL's watchdog does, though they are of gloo."""

import os
import time

import torch
import torch._C._distributed_c10d as c10d
import torch.distributed as dist

dist.init_process_group("gloo")
for _ in range(3):
    dist.all_reduce(torch.ones(4))
with open(f"{os.environ['TORCH_FR_DUMP_TEMP_FILE']}{dist.get_rank()}", "wb") as file:
    file.write(c10d._dump_fr_trace(True, True, False))
dist.barrier()
if dist.get_rank() == 0:
    print("both dumped", flush=True)
while True:
    time.sleep(1)
