"""Ranks that reduce and broadcast COUNT times; rank WRONG adds BY to element 7 of the tensor of call AT."""

from __future__ import annotations

import sys

import torch
import torch.distributed as dist

count, wrong, at, by = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
dist.init_process_group("gloo")
for turn in range(1, count + 1):
    x = torch.arange(16, dtype=torch.float64) + turn
    if dist.get_rank() == wrong and turn == at:
        x[7] += by
    if by == 0 and turn == at:
        dist.broadcast(x, 0)
    else:
        dist.all_reduce(x)
dist.destroy_process_group()
