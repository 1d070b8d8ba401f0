"""IOMMU: whether there is one, and what it does to each device."""

from __future__ import annotations

from collections.abc import Iterator

from ladder_backends.hardware.pci import DEVICES
from ladder_backends.hardware.reader import Reader
from ladder_backends.model.fact import Fact

TRANSLATED = ("DMA", "DMA-FQ")
UNITS = "/sys/class/iommu"
GROUPS = "/sys/kernel/iommu_groups"


def iommu_facts(reader: Reader, *, guest: bool | None) -> Iterator[Fact]:
    """The IOMMU units of the host.

    Args:
        reader: Of the machine.
        guest: It is a virtual machine: the host's IOMMU cannot be seen from it.
    """
    name, label = "iommu.units", "IOMMU"
    units = reader.names(UNITS)
    if units is None:
        yield Fact(name, label, source=UNITS, why="this kernel, or container, does not show it")
    elif units:
        yield Fact(name, label, units, source=UNITS)
    elif guest is not False:
        yield Fact(name, label, source=UNITS, why="none in this guest; that of the host is not visible")
    else:
        yield Fact(name, label, (), "none: off", UNITS)


def group_facts(reader: Reader, bdf: str) -> Iterator[Fact]:
    """The IOMMU group of a device, what its domain does, and who shares it."""
    link = f"{DEVICES}/{bdf}/iommu_group"
    try:
        group = reader.files.real(link).rsplit("/", 1)[-1]
    except OSError:
        shown = reader.names(GROUPS)
        why = "the device is in no group here"
        if shown is None:
            why = "this kernel, or container, does not show groups"
        yield Fact("iommu.group", "IOMMU group", source=link, why=why)
        yield Fact("iommu.type", "IOMMU domain", source=link, why=why)
        return
    yield Fact("iommu.group", "IOMMU group", group, source=link)
    kind = reader.file(
        "iommu.type", "IOMMU domain", f"{GROUPS}/{group}/type", lambda text: text or None, shown=_meaning
    )
    if kind.value in TRANSLATED:
        kind = kind.noted("what this GPU writes to a bus address is translated; to a peer's, it may be lost")
    yield kind
    others = reader.names(f"{GROUPS}/{group}/devices")
    if others is not None:
        alone = all(other == bdf or other[:-1] == bdf[:-1] for other in others)
        yield Fact(
            "iommu.alone",
            "alone in its group",
            alone,
            "yes: ACS is likely on above it" if alone else f"no, with {len(others) - 1} others",
            f"{GROUPS}/{group}/devices",
        )


def _meaning(kind: str) -> str:
    return (
        f"{kind}, translated" if kind in TRANSLATED else "identity, passed through" if kind == "identity" else kind
    )
