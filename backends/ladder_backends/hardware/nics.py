"""RDMA devices: where each hangs in the tree of PCIe, and how far it is from every GPU."""

from __future__ import annotations

from collections.abc import Iterator

from ladder_backends.hardware import pci
from ladder_backends.hardware.iommu import group_facts
from ladder_backends.hardware.pairs import MEANINGS, route
from ladder_backends.hardware.reader import Reader
from ladder_backends.model.fact import Fact, Facts
from ladder_backends.model.topology import Gpu, Nic

FOLDER = "/sys/class/infiniband"
MOST = 64


def read_nics(reader: Reader, gpus: tuple[Gpu, ...]) -> tuple[Nic, ...]:
    """Every RDMA device of sysfs that lies on PCIe; none where it shows none."""
    found = []
    for name in (reader.names(FOLDER) or ())[:MOST]:
        try:
            path = reader.files.real(f"{FOLDER}/{name}/device")
        except OSError:
            continue
        bdf = path.rsplit("/", 1)[-1]
        above, root = pci.chain(reader, bdf)
        if root:
            found.append((bdf, name, above, root))
    # nvidia-smi and NCCL count them by name.
    return tuple(
        Nic(number, name, bdf, Facts(_facts(reader, bdf, above, root, gpus)), above, root)
        for number, (bdf, name, above, root) in enumerate(sorted(found, key=lambda one: one[1]))
    )


def _facts(reader: Reader, bdf: str, above: tuple[str, ...], root: str, gpus: tuple[Gpu, ...]) -> Iterator[Fact]:
    numa = list(pci.numa_facts(reader, bdf))
    here = Gpu(-1, "", "", bdf, Facts(numa), (), above, root)
    for gpu in gpus:
        way = route(gpu, here, {gpu.bdf: gpu.root, bdf: root})
        name, label, source = f"to.{gpu.label}", f"from {gpu.label}", "sysfs"
        if not way.distance:
            why = "the NUMA node of one is unknown" if way.ancestor else "the PCIe path is not shown here"
            yield Fact(name, label, source=source, why=why)
            continue
        shown = f"{way.distance}, {MEANINGS[way.distance]}"
        yield Fact(name, label, way.distance, shown, source)
    yield from numa
    yield from group_facts(reader, bdf)
    yield from pci.link_facts(reader, bdf)
    yield from pci.error_facts(reader, bdf)
