"""Rank 1 still waits for its next batch while all others wait for it in an all_reduce."""

import contextlib
import os
import time

import torch
import torch.distributed as dist
from torch.distributed.debug import start_debug_server


def next_batch(rank: int, step: int) -> torch.Tensor:
    if rank == 1 and step == 3:
        time.sleep(3600)  # a file system that does not answer
    return torch.full((4, 2), float(rank + step))


def train(rank: int) -> None:
    for step in range(100):
        gradient = next_batch(rank, step)
        dist.all_reduce(gradient)
        if rank == 0:
            print(f"step {step}", flush=True)


def main() -> None:
    dist.init_process_group("gloo")
    # Its web page needs packages of its own; each rank answers without them.
    with contextlib.suppress(ImportError):
        start_debug_server(port=int(os.environ.get("DEMO_DEBUG_PORT", "25999")))
    train(dist.get_rank())


if __name__ == "__main__":
    main()
