"""Ranks with tensors on GPUs; at the sixth step one of them sleeps instead of joining the others.

Usage: gpu_ranks.py BACKEND RANK_THAT_SLEEPS (-1 for none). Ranks share a GPU where there are more of them.
"""

import contextlib
import os
import sys
import time

import torch
import torch.distributed as dist

BACKEND, SLEEPER = sys.argv[1], int(sys.argv[2])


def wait_for_data() -> None:
    time.sleep(600)


def train(rank: int, step: int, gradient: torch.Tensor) -> None:
    if rank == SLEEPER and step == 5:
        wait_for_data()
    dist.all_reduce(gradient)
    torch.cuda.synchronize()
    if rank == 0:
        print(f"step {step}", flush=True)
    time.sleep(0.1)


def main() -> None:
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
    dist.init_process_group(BACKEND)
    with contextlib.suppress(ImportError, RuntimeError):
        from torch.distributed.debug import start_debug_server

        start_debug_server(port=int(os.environ["DEMO_DEBUG_PORT"]))
    gradient = torch.ones(1 << 20, device="cuda")
    for step in range(100_000):
        train(dist.get_rank(), step, gradient)


main()
