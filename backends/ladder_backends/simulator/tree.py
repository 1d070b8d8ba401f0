"""The PCIe tree of a simulated machine: where each GPU hangs, by its tables `[[gpu]]` and `[[port]]`.

```toml
[[gpu]]
bus = "0000:41:00.0"
under = "0000:40:01.1"     # a port; left out: a root port of its own
numa = 0                   # left out: unknown
generation = 5             # of its link at its best
lanes = 16
idle = 1                   # generation that its link falls to when it idles
group = "38"               # IOMMU group; left out: one of its own where [host] has an IOMMU
domain = "DMA-FQ"          # left out: that of [host]

[[port]]
bus = "0000:40:01.1"
under = ""                 # another port; empty: it is a root port
root = "pci0000:40"        # left out: made from its bus address
acs = 0x001d               # its ACS control register; left out: it has none
generation = 5
lanes = 16
```
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ladder_backends.simulator.machine import MachineInvalid, SimulatedMachine

SPEEDS = {1: "2.5", 2: "5.0", 3: "8.0", 4: "16.0", 5: "32.0", 6: "64.0"}
_DEEPEST = 16


@dataclass(frozen=True, slots=True)
class Device:
    """A function of the tree.

    Attributes:
        above: Bus addresses of the ports above it, nearest first.
        root: `pci0000:40`.
        gpu: Its number, or None for a port.
        acs: Control register, or None where it has none.
    """

    bus: str
    above: tuple[str, ...]
    root: str
    gpu: int | None
    acs: int | None
    generation: int
    idle: int
    lanes: int
    most_lanes: int
    numa: int
    table: Mapping[str, Any]

    @property
    def path(self) -> str:
        """Its folder below `/sys/devices`."""
        return "/".join(("/sys/devices", self.root, *reversed(self.above), self.bus))


def tree(machine: SimulatedMachine) -> dict[str, Device]:
    """Every function, by bus address.

    Raises:
        MachineInvalid: A port hangs under one that is not there, or under itself.
    """
    ports = {str(table["bus"]).lower(): table for table in machine.raw.get("port", ())}
    devices: dict[str, Device] = {}
    for bus, table in ports.items():
        devices[bus] = _device(bus, _above(bus, table, ports), table, table, ports, None)
    for number, (gpu, table) in enumerate(zip(machine.gpus, machine.raw.get("gpu", ()), strict=True)):
        bus = gpu.bus.lower()
        above = _above(bus, table, ports)
        if not above and not table.get("root") and not machine.raw.get("host", {}).get("guest"):
            own = _own_port(bus)
            above = (own,)
            if own not in devices:
                devices[own] = _device(own, (), {}, table, ports, None)
        devices[bus] = _device(bus, above, table, table, ports, number)
    for table in machine.raw.get("nic", ()):
        bus = str(table["bus"]).lower()
        devices[bus] = _device(bus, _above(bus, table, ports), table, table, ports, None)
    return devices


def _parts(bus: str) -> tuple[str, str, str]:
    domain, number, rest = bus.split(":")
    return domain, number, rest


def _own_port(bus: str) -> str:
    """A root port for a GPU that names none: on the bus below the GPU's."""
    domain, number, _ = _parts(bus)
    return f"{domain}:{max(0, int(number, 16) - 1):02x}:01.1"


def _above(bus: str, table: Mapping[str, Any], ports: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    above: list[str] = []
    under = str(table.get("under", "")).lower()
    while under:
        if under not in ports:
            raise MachineInvalid(f"{bus} hangs under {under}", "there is no such [[port]]")
        if under in above or len(above) > _DEEPEST:
            raise MachineInvalid(f"{bus} hangs under {under}", "which hangs under itself")
        above.append(under)
        under = str(ports[under].get("under", "")).lower()
    return tuple(above)


def _device(
    bus: str,
    above: tuple[str, ...],
    table: Mapping[str, Any],
    link: Mapping[str, Any],
    ports: Mapping[str, Mapping[str, Any]],
    gpu: int | None,
) -> Device:
    top = above[-1] if above else bus
    domain, number, _ = _parts(top)
    root = table.get("root") or ports.get(top, {}).get("root") or f"pci{domain}:{number}"
    if not above and gpu is not None and not table.get("root"):
        # In a guest, functions that are passed through lie on the one bus that it is shown.
        root = f"pci{domain}:00"
    generation, lanes = int(link.get("generation", 5)), int(link.get("lanes", 16))
    return Device(
        bus,
        above,
        str(root),
        gpu,
        table.get("acs"),
        generation,
        int(link.get("idle", generation)),
        lanes,
        int(link.get("most_lanes", lanes)),
        int(table.get("numa", -1)),
        table,
    )


def common(one: Device, other: Device) -> tuple[str, int]:
    """The common port, or an empty string, and NVML's level of two GPUs."""
    shared = next((port for port in one.above if port in other.above), "")
    if shared:
        steps = one.above.index(shared) + other.above.index(shared)
        return shared, 10 if steps <= 2 else 20
    if one.root == other.root:
        return "", 30
    return "", 40 if one.numa == other.numa else 50


def gpus(devices: Mapping[str, Device]) -> Iterator[Device]:
    """The GPUs, by number."""
    return iter(sorted((each for each in devices.values() if each.gpu is not None), key=lambda each: each.gpu or 0))
