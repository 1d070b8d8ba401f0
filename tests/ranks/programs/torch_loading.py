"""Ranks whose loaders keep two workers each."""

import time

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __len__(self) -> int:
        return 1000

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.tensor([float(index)])


def main() -> None:
    dist.init_process_group("gloo")
    batches = iter(DataLoader(Numbers(), batch_size=2, num_workers=2, persistent_workers=True))
    next(batches)
    dist.barrier()
    if dist.get_rank() == 0:
        print("both loading", flush=True)
    while True:
        time.sleep(1)


if __name__ == "__main__":
    main()
