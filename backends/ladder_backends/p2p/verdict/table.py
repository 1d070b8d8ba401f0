"""The table of verdicts as data: what is observed, and where the same was reported or is documented.

Rows themselves are functions over what was found; each says which of these it is. `#` stands for an issue or a pull
request of a public repository.
"""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """One verdict that can be given.

    Attributes:
        observed: What brings it about.
        reports: Where the same was reported, or is described; empty for what needs no authority.
    """

    observed: str
    reports: str = ""


TABLE: dict[str, Entry] = {
    # Before anything can be said of P2P.
    "fabric": Entry("CUDA answers 802 on an NVSwitch machine", "jax#34113, ollama#12136"),
    "no-context-arm": Entry(
        "no CUDA context on arm64 before Linux 6.11 with the SMMU passed through", "nodewright-packages#121"
    ),
    "not-run": Entry("nothing could be asked"),
    "nothing": Entry("nothing was proven"),
    "cancelled": Entry("a person stopped the sweep"),
    "killed": Entry("somebody else ended a test's process, and nothing else is wrong"),
    "wedged": Entry("a GPU is busy with no process after a test on it was ended", "rtx6kpro#15, nccl#1999"),
    "memory": Entry("a GPU's own memory does not hold what it writes"),
    "control": Entry("copies through the host are wrong", "nccl-tests#131"),
    # Plain transfers.
    "bar1": Entry(
        "peer access is granted and cannot be enabled: 205", "open-gpu-kernel-modules (tinygrad) #44, #48"
    ),
    "asymmetric": Entry("peer access is offered in one direction", "rocm-systems#10586"),
    "misrouted": Entry("transfers land in other memory"),
    "mirror": Entry("the writer reads what the owner does not see", "nccl#2335"),
    "window": Entry(
        "small transfers are right, long ones or those at the far end of memory are not",
        "open-gpu-kernel-modules (tinygrad) #44, (aikitoria) #25",
    ),
    "one-direction": Entry("writes are lost, the way back is right", "rocm-systems#10586"),
    "one-gpu": Entry(
        "only pairs with one GPU fail, which has a display or another BAR1",
        "open-gpu-kernel-modules (aikitoria) #11, #34",
    ),
    "dropped-guest": Entry("writes are lost in a virtual machine", "nccl#2335"),
    "dropped-snp": Entry(
        "writes are lost on a host of SEV-SNP guests", "Linux: drivers/iommu/amd/init.c; vllm#51513"
    ),
    "dropped-acs": Entry(
        "writes are lost, the IOMMU translates, ACS redirects", "FIDESlib#28, vllm#51513, NCCL: GPU troubleshooting"
    ),
    "dropped-iommu": Entry("writes are lost, the IOMMU translates", "compute-runtime#942, pytorch#84803"),
    "dropped-faults": Entry(
        "writes are lost, and the kernel's log tells of faults", "cuda-samples#48, unsloth#10613"
    ),
    "known-driver": Entry(
        "transfers fail under a driver of which that was reported", "pytorch#119638, xgboost#11242, nccl-tests#117"
    ),
    "dropped-redirect": Entry("writes are lost, nothing translates, ACS redirects", "nccl#2079"),
    "dropped-nvlink": Entry("writes are lost between GPUs that NVLinks join", "nccl#2329"),
    "dropped": Entry("writes are lost, and nothing tells why", "open-gpu-kernel-modules#1257"),
    "stale": Entry("data arrives late, or is that of before", "pytorch#87363"),
    "partial": Entry("a part of each transfer is lost, of short ones too"),
    "corrupt": Entry("some words arrive changed"),
    "hang": Entry("a transfer never ends", "nccl#606, nccl#2079, nccl#667"),
    "error": Entry("calls fail"),
    # Only besides plain transfers.
    "resident": Entry("copies are right, kernels that wait for each other fail", "nccl#257, nccl#1999"),
    "shared-memory": Entry("NCCL fails over P2P and shared memory, sockets work", "nccl-tests#131, nccl#324"),
    "not-transport": Entry("NCCL fails over everything"),
    "ipc": Entry("stores of another process are lost", "club-3090#922"),
    "fd": Entry("stores of another process into exported memory are lost", "NCCL 2.19: cuMem; nccl#324"),
    "nic": Entry("NCCL hangs or is wrong through the network card alone", "NCCL: environment, ACS"),
    "concurrent": Entry("each pair alone is right, together they are not", "cuda-samples#48"),
    "atomics": Entry("atomic adds are offered and lost"),
    "fallback": Entry("P2P is right, what NCCL falls back to is not", "nccl-tests#131, nccl#324"),
    # Speed, and what is claimed.
    "narrow-link": Entry("a PCIe link is below its best while it carries data", "club-3090: PCIe"),
    "fewer-nvlinks": Entry("a GPU has fewer NVLinks up than it has, or than the others", "DCGM: topology"),
    "nvlink-refused": Entry("NVLinks join two GPUs, and P2P is not offered", "nccl#2329; NCCL: paths.cc"),
    "slow-below-staged": Entry("P2P is slower than copies through the host", "nccl#814, nccl#199"),
    "slow": Entry("one pair or direction is slower than the others", "nccl#1086"),
    "crowded": Entry(
        "right alone and together, and together much slower", "open-gpu-kernel-modules (tinygrad) #17"
    ),
    "confidential": Entry(
        "several GPUs in a confidential machine without a mode for it", "NVIDIA CC release notes"
    ),
    "not-offered": Entry("there is no P2P here", "club-3090: PCIe"),
    "counters": Entry("everything arrived, and errors were counted meanwhile"),
    # Notes.
    "small-shm": Entry("/dev/shm is small", "NCCL: troubleshooting, shared memory"),
    "environment": Entry("a variable does the opposite of what it seems to say", "nccl-tests#228, unsloth#10613"),
    "nccl-complains": Entry("NCCL's own diagnostics find what the tests do not", "NCCL 2.31: diagnostics"),
    "unseen": Entry("memory of a GPU that a process does not see cannot be opened", "NCCL: p2p.cc"),
    # Right.
    "right": Entry("everything is right"),
    "one-gpu-right": Entry("all that one GPU allows is right"),
}
"""Verdicts by id."""

UNDECIDED: dict[str, str] = {
    "containers use the network between peers": "it takes two containers: a sweep runs in one",
    "an engine's output is garbage while NCCL is right": "seen as `ipc`, by stores like its own",
}
"""What is reported and cannot be told by a sweep of one machine, and why."""
