"""The last rank calls all_gather where all others call all_reduce."""

import contextlib
import os

import torch
import torch.distributed as dist
from torch.distributed.debug import start_debug_server


def average(value: torch.Tensor) -> None:
    dist.all_reduce(value)
    value /= dist.get_world_size()


def collect(value: torch.Tensor) -> list[torch.Tensor]:
    every = [torch.empty_like(value) for _ in range(dist.get_world_size())]
    dist.all_gather(every, value)
    return every


def main() -> None:
    dist.init_process_group("gloo")
    # Its web page needs packages of its own; each rank answers without them.
    with contextlib.suppress(ImportError):
        start_debug_server(port=int(os.environ.get("DEMO_DEBUG_PORT", "25999")))
    rank, size = dist.get_rank(), dist.get_world_size()
    for step in range(100):
        loss = torch.full((2,), float(rank + step))
        if step == 2 and rank == size - 1:
            collect(loss)  # logs what only it believes to be its turn
        else:
            average(loss)
        if rank == 0:
            print(f"step {step}", flush=True)


if __name__ == "__main__":
    main()
