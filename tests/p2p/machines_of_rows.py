"""Machines that bring each row of the table of verdicts about, and the rows that they nearly bring about."""

from __future__ import annotations

from ladder_backends.p2p.arms import Depth

from .conftest import machine

DROP = '[[fault]]\nkind = "drop"\n'
BARE = 'kernel = "6.8.0"\ncpu = "AMD"\n'
TRANSLATED = BARE + 'cmdline = "quiet"\niommu = "DMA-FQ"\n'
ROOT = TRANSLATED + "root = true\n"
GUEST = 'kernel = "6.8.0"\ncpu = "AMD"\nguest = true\nvendor = "QEMU"\nproduct = "Standard PC (Q35 + ICH9, 2009)"\n'


def ports(acs: int) -> str:
    return "".join(f'[[port]]\nbus = "0000:{0x40 + 0x10 * n:02x}:01.1"\nacs = {acs}\n' for n in range(2))


DRIVER = 'driver = "570.133.20"\n'
ARM = 'arch = "aarch64"\ncpu = "Arm"\n'
NIC = '[[nic]]\nname = "mlx5_0"\nbus = "0000:e1:00.0"'
START_OUT = '[[fault]]\nkind = "error"\nvia = "start"\ncode = 2'
NVLINK = 'GBps = 394.0\nnvml = {read = "OK", write = "OK", nvlink = "OK", atomics = "OK", pci = "NS"}'
CONFIDENTIAL = """[nvml]
nvmlSystemGetConfComputeState = {environment = 2, ccFeature = 1, devToolsMode = 0}
"""
PROTECTED = (
    "nvmlSystemGetConfComputeSettings = {multiGpuMode = 1, environment = 2, ccFeature = 1, devToolsMode = 0}"
)

ROWS: dict[str, tuple[str, Depth, str, str | tuple[str, ...]]] = {
    "right": (machine(), Depth.QUICK, "right", "dropped"),
    "dropped, nothing known": (
        machine(2, DROP, host=BARE + 'iommu = "off"'),
        Depth.QUICK,
        "dropped",
        "dropped-acs",
    ),
    "dropped, ACS on": (
        machine(2, DROP, ports(0x1D), host=ROOT),
        Depth.QUICK,
        "dropped-acs",
        ("dropped-iommu", "dropped-snp", "dropped-redirect"),
    ),
    "dropped, ACS on and nothing translates": (
        machine(2, DROP, ports(0x1D), host=BARE + 'iommu = "identity"\nroot = true'),
        Depth.QUICK,
        "dropped-redirect",
        ("dropped", "dropped-nvlink"),
    ),
    "dropped over NVLink, on a host that would explain it on the bus": (
        machine(2, DROP, ports(0x1D), host=ROOT, link=NVLINK, top=DRIVER),
        Depth.QUICK,
        "dropped-nvlink",
        "dropped-acs",
    ),
    "dropped, ACS off": (machine(2, DROP, ports(0), host=ROOT), Depth.QUICK, "dropped-iommu", "dropped-acs"),
    "dropped, source validation alone": (
        machine(2, DROP, ports(0x01), host=ROOT),
        Depth.QUICK,
        "dropped-iommu",
        "dropped-acs",
    ),
    "dropped, ACS unread": (machine(2, DROP, host=TRANSLATED), Depth.QUICK, "dropped-iommu", "dropped-acs"),
    "dropped, SNP host": (
        machine(2, DROP, host=TRANSLATED + "snp_host = true"),
        Depth.QUICK,
        "dropped-snp",
        "dropped-iommu",
    ),
    "dropped in a guest": (machine(2, DROP, host=GUEST), Depth.QUICK, "dropped-guest", ("dropped", "mirror")),
    "one direction": (
        machine(3, '[[fault]]\nkind = "drop"\nfrom = 2\nto = 1'),
        Depth.QUICK,
        "one-direction",
        ("dropped", "misrouted"),
    ),
    "both directions of one pair": (
        machine(3, '[[fault]]\nkind = "drop"\nfrom = [1, 2]\nto = [1, 2]', host=BARE),
        Depth.QUICK,
        "dropped",
        ("one-direction", "one-gpu"),
    ),
    "one GPU's pairs": (
        machine(3, '[[fault]]\nkind = "drop"\nfrom = 2', '[[fault]]\nkind = "drop"\nto = 2'),
        Depth.QUICK,
        "one-gpu",
        "dropped",
    ),
    "mirror in a guest": (machine(2, '[[fault]]\nkind = "mirror"', host=GUEST), Depth.QUICK, "mirror", "dropped"),
    "misrouted": (
        machine(3, '[[fault]]\nkind = "misroute"\nfrom = 0\nto = 1\nlands_on = 2'),
        Depth.QUICK,
        "misrouted",
        "dropped",
    ),
    "stale": (machine(2, '[[fault]]\nkind = "stale"'), Depth.QUICK, "stale", "dropped"),
    "late": (machine(2, '[[fault]]\nkind = "late"\nvia = "push"'), Depth.QUICK, "stale", "dropped"),
    "a part": (
        machine(2, '[[fault]]\nkind = "partial"\nstart = 4194304'),
        Depth.QUICK,
        "window",
        ("corrupt", "partial"),
    ),
    "above 2 MiB alone": (
        machine(2, '[[fault]]\nkind = "drop"\nvia = "push"\nabove = 16777216'),
        Depth.DEEP,
        "window",
        "dropped",
    ),
    "a part, of short ones too": (
        machine(2, '[[fault]]\nkind = "partial"\nstop = 2048'),
        Depth.QUICK,
        "partial",
        "window",
    ),
    "the first half of memory": (
        machine(2, '[[fault]]\nkind = "drop"\nvia = "push"\npast_GiB = 16'),
        Depth.QUICK,
        "right",
        "window",
    ),
    "changed words": (machine(2, '[[fault]]\nkind = "corrupt"'), Depth.QUICK, "corrupt", "window"),
    "hang": (
        machine(2, '[[fault]]\nkind = "hang"\nvia = "store"\nfrom = 0'),
        Depth.QUICK,
        "hang",
        "wedged",
    ),
    "wedged": (
        machine(3, '[[fault]]\nkind = "hang"\nvia = "store"\nfrom = 0\nto = 1\nwedges = true'),
        Depth.QUICK,
        "wedged",
        "hang",
    ),
    "bad memory": (
        machine(2, '[[fault]]\nkind = "corrupt"\nvia = "local"\nto = 1'),
        Depth.QUICK,
        "memory",
        "control",
    ),
    "bad control": (
        machine(2, '[[fault]]\nkind = "corrupt"\nvia = "staged"', DROP),
        Depth.QUICK,
        "control",
        ("dropped", "memory"),
    ),
    "cannot map": (machine(2, '[[fault]]\nkind = "enable"\ncode = 205'), Depth.QUICK, "bar1", "error"),
    "another error": (
        machine(2, '[[fault]]\nkind = "error"\ncode = 719\nvia = "store"'),
        Depth.QUICK,
        "error",
        "bar1",
    ),
    "handshake": (
        machine(2, '[[fault]]\nkind = "signal"\nvia = ["handshake", "nccl"]'),
        Depth.DEEP,
        "resident",
        "hang",
    ),
    "sums of NCCL over P2P": (machine(2, '[[fault]]\nkind = "sums"\nvia = "nccl"'), Depth.DEEP, "resident", "ipc"),
    "sums of NCCL, SHM too": (
        machine(2, '[[fault]]\nkind = "sums"\nvia = ["nccl", "nccl no p2p"]'),
        Depth.DEEP,
        "shared-memory",
        ("resident", "not-transport", "fallback"),
    ),
    "sums of NCCL everywhere": (
        machine(2, '[[fault]]\nkind = "sums"\nvia = ["nccl", "nccl no p2p", "nccl sockets"]'),
        Depth.DEEP,
        "not-transport",
        "shared-memory",
    ),
    "IPC alone": (machine(2, DROP + 'via = "ipc"'), Depth.DEEP, "ipc", "resident"),
    "fall back": (machine(2, '[[fault]]\nkind = "corrupt"\nvia = "shm"'), Depth.DEEP, "fallback", "right"),
    "together": (machine(3, '[[fault]]\nkind = "corrupt"\nconcurrent = true'), Depth.DEEP, "concurrent", "corrupt"),
    "atomics": (
        machine(2, '[[fault]]\nkind = "atomics"\nvia = "atomics"', link='nvml = {read = "OK", atomics = "OK"}'),
        Depth.DEEP,
        "atomics",
        "right",
    ),
    "atomics not offered": (
        machine(2, '[[fault]]\nkind = "atomics"\nvia = "atomics"', link='nvml = {read = "OK", atomics = "NS"}'),
        Depth.DEEP,
        "right",
        "atomics",
    ),
    "below the host": (
        machine(2, '[[fault]]\nkind = "slow"\nfactor = 0.5'),
        Depth.QUICK,
        "slow-below-staged",
        "slow",
    ),
    "one slow direction": (
        machine(2, '[[fault]]\nkind = "slow"\nfrom = 0\nfactor = 0.8', link="GBps = 50.0"),
        Depth.QUICK,
        "slow",
        "slow-below-staged",
    ),
    "nearly slow": (
        machine(2, '[[fault]]\nkind = "slow"\nfrom = 0\nfactor = 0.9', link="GBps = 50.0"),
        Depth.QUICK,
        "right",
        "slow",
    ),
    "not offered": (
        machine(2, link='claimed = false\nnvml = "CNS"', host=GUEST),
        Depth.QUICK,
        "not-offered",
        ("dropped-guest", "asymmetric"),
    ),
    "offered one way": (
        machine(2, "[[link]]\nfrom = 1\nto = 0\nclaimed = false"),
        Depth.QUICK,
        "asymmetric",
        "not-offered",
    ),
    "an error code that names the fabric": (
        machine(2, '[[fault]]\nkind = "error"\nvia = "start"\ncode = 802'),
        Depth.QUICK,
        "fabric",
        "not-run",
    ),
    "another error at the start": (
        machine(2, '[[fault]]\nkind = "error"\nvia = "start"\ncode = 35'),
        Depth.QUICK,
        "not-run",
        ("fabric", "no-context-arm"),
    ),
    "arm64 without a context": (
        machine(2, START_OUT, host=ARM + 'kernel = "6.5.0"\niommu = "identity"\n'),
        Depth.QUICK,
        "no-context-arm",
        "not-run",
    ),
    "a newer arm64 without a context": (
        machine(2, START_OUT, host=ARM + 'kernel = "6.11.0"\niommu = "identity"\n'),
        Depth.QUICK,
        "not-run",
        "no-context-arm",
    ),
    "no memory for any test": (machine(2, '[[fault]]\nkind = "error"\ncode = 2'), Depth.QUICK, "nothing", "error"),
    "killed from outside": (
        machine(2, '[[fault]]\nkind = "die"\nvia = "load"\nfrom = 0'),
        Depth.QUICK,
        "killed",
        "error",
    ),
    "killed, and wrong besides": (
        machine(2, '[[fault]]\nkind = "die"\nvia = "load"\nfrom = 0', DROP + 'via = "push"'),
        Depth.QUICK,
        "dropped",
        "killed",
    ),
    "faults in the log": (
        machine(2, DROP, host='log = "AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x21 address=0x20061000000]"'),
        Depth.QUICK,
        "dropped-faults",
        "dropped",
    ),
    "a clean log": (machine(2, DROP, host='log = ""'), Depth.QUICK, "dropped", "dropped-faults"),
    "a driver that is known for it": (
        machine(2, DROP, host=BARE + 'iommu = "off"', top='driver = "545.29.06"\n'),
        Depth.QUICK,
        "known-driver",
        "dropped",
    ),
    "a driver that is known for it, hanging kernels": (
        machine(2, '[[fault]]\nkind = "signal"\nvia = "handshake"', top='driver = "560.28.03"\n'),
        Depth.DEEP,
        "known-driver",
        "resident",
    ),
    "that driver on a host that explains it": (
        machine(2, DROP, ports(0x1D), host=ROOT, top='driver = "545.29.06"\n'),
        Depth.QUICK,
        "dropped-acs",
        "known-driver",
    ),
    "another driver": (
        machine(2, DROP, host=BARE + 'iommu = "off"', top='driver = "550.54.14"\n'),
        Depth.QUICK,
        "dropped",
        "known-driver",
    ),
    "exported memory alone": (machine(2, DROP + 'via = "fd"'), Depth.DEEP, "fd", "ipc"),
    "handles and exported memory": (machine(2, DROP + 'via = ["ipc", "fd"]'), Depth.DEEP, "ipc", "fd"),
    "the network card hangs": (
        machine(2, '[[fault]]\nkind = "hang"\nvia = "nccl nic"', NIC),
        Depth.DEEP,
        "nic",
        "resident",
    ),
    "sockets hang too": (
        machine(2, '[[fault]]\nkind = "sums"\nvia = ["nccl nic", "nccl sockets"]', NIC),
        Depth.DEEP,
        "right",
        "nic",
    ),
    "no network card": (machine(2, '[[fault]]\nkind = "hang"\nvia = "nccl nic"'), Depth.DEEP, "right", "nic"),
    "half the lanes": (machine(2, gpu="lanes = 8\nmost_lanes = 16"), Depth.QUICK, "narrow-link", "right"),
    "an old generation under load": (
        machine(2, gpu="generation = 5\nloaded = 3"),
        Depth.QUICK,
        "narrow-link",
        "slow",
    ),
    "an old generation at rest alone": (
        machine(2, gpu="generation = 5\nidle = 1"),
        Depth.QUICK,
        "right",
        "narrow-link",
    ),
    "a slot of eight lanes": (machine(2, gpu="lanes = 8"), Depth.QUICK, "right", "narrow-link"),
    "links down": (
        machine(2, link=NVLINK, gpu="nvlinks = 18\nlinks_down = [3, 7]", top=DRIVER),
        Depth.QUICK,
        "fewer-nvlinks",
        "right",
    ),
    "bridges between two of four": (
        machine(4, link="GBps = 26.0\n[[link]]\nfrom = [0, 1]\nto = [0, 1]\nGBps = 26.0", top=DRIVER).replace(
            'bus = "0000:41:00.0"', 'bus = "0000:41:00.0"\nnvlinks = 4\nremote = "peers"'
        ),
        Depth.QUICK,
        "right",
        "fewer-nvlinks",
    ),
    "joined by NVLink and not offered": (
        machine(2, link='claimed = false\nnvml = "NS"', top=DRIVER).replace("[[gpu]]", "[[gpu]]\nnvlinks = 18"),
        Depth.QUICK,
        "nvlink-refused",
        "not-offered",
    ),
    "not joined and not offered": (
        machine(2, link='claimed = false\nnvml = "NS"', top=DRIVER),
        Depth.QUICK,
        "not-offered",
        "nvlink-refused",
    ),
    "a shared uplink": (
        machine(4, '[[fault]]\nkind = "slow"\nconcurrent = 3\nfactor = 0.4'),
        Depth.DEEP,
        "crowded",
        "slow",
    ),
    "an uplink that is hardly shared": (
        machine(4, '[[fault]]\nkind = "slow"\nconcurrent = 3\nfactor = 0.85'),
        Depth.DEEP,
        "right",
        "crowded",
    ),
    "confidential GPUs without a mode": (
        machine(2, CONFIDENTIAL, link='claimed = false\nnvml = "NS"', top=DRIVER),
        Depth.QUICK,
        "confidential",
        "not-offered",
    ),
    "confidential GPUs with a mode": (
        machine(2, CONFIDENTIAL + PROTECTED, link='claimed = false\nnvml = "NS"', top=DRIVER),
        Depth.QUICK,
        "not-offered",
        "confidential",
    ),
    "counters that rise": (
        machine(2, gpu="[gpu.fields]\n181 = 2\n[gpu.rising]\n181 = 3", top=DRIVER),
        Depth.QUICK,
        "counters",
        "right",
    ),
    "counters that stand": (
        machine(2, gpu="[gpu.fields]\n181 = 2", top=DRIVER),
        Depth.QUICK,
        "right",
        "counters",
    ),
    "little shared memory": (machine(2, DROP, host="shm_GiB = 0.0625"), Depth.QUICK, "small-shm", "environment"),
    "enough shared memory": (machine(2, DROP, host="shm_GiB = 1"), Depth.QUICK, "dropped", "small-shm"),
    "a variable that does the opposite": (
        machine(2, '[environment]\nNCCL_P2P_LEVEL = "LOC"'),
        Depth.QUICK,
        "environment",
        "small-shm",
    ),
    "a variable that does what it says": (
        machine(2, '[environment]\nNCCL_P2P_LEVEL = "SYS"'),
        Depth.QUICK,
        "right",
        "environment",
    ),
    "NCCL's own word against ours": (
        machine(2, DROP + 'via = "nccl diagnostics"', top='nccl = "2.31.1"\n'),
        Depth.DEEP,
        "nccl-complains",
        "resident",
    ),
    "an NCCL that has no word of its own": (
        machine(2, DROP + 'via = "nccl diagnostics"', top='nccl = "2.30.4"\n'),
        Depth.DEEP,
        "right",
        "nccl-complains",
    ),
    "memory of GPUs that are not seen": (
        machine(2, '[[fault]]\nkind = "error"\nvia = "unseen"\ncode = 101'),
        Depth.DEEP,
        "unseen",
        "ipc",
    ),
    "memory of GPUs that are not seen opens": (machine(2), Depth.DEEP, "right", "unseen"),
    "wrong in one pair of three GPUs, in company": (
        machine(3, '[[fault]]\nkind = "corrupt"\nfrom = 0\nto = 1'),
        Depth.DEEP,
        "corrupt",
        "concurrent",
    ),
    "one GPU": (machine(1), Depth.QUICK, "one-gpu-right", "nothing"),
    "two GPUs, one bad": (
        machine(2, '[[fault]]\nkind = "corrupt"\nvia = "local"\nto = 1'),
        Depth.QUICK,
        "memory",
        "one-gpu-right",
    ),
    "mirror": (machine(2, '[[fault]]\nkind = "mirror"', host=BARE), Depth.QUICK, "mirror", "stale"),
}
