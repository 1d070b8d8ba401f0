"""PCIe functions in sysfs: links, errors, windows, and the chain of ports above a device."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping

from ladder_backends.hardware import acs
from ladder_backends.hardware.reader import Reader, binary
from ladder_backends.model.fact import Fact, Facts
from ladder_backends.model.topology import Port

DEVICES = "/sys/bus/pci/devices"
NVIDIA, AMD = 0x10DE, 0x1002

_BDF = re.compile(r"^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$")
_PER_LANE = {2.5: 0.25, 5.0: 0.5, 8.0: 0.985, 16.0: 1.969, 32.0: 3.938, 64.0: 7.563}
_GENERATION = {2.5: 1, 5.0: 2, 8.0: 3, 16.0: 4, 32.0: 5, 64.0: 6}
_BRIDGE = 0x0604
_DISPLAY = 0x03
_MEMORY = 0x200
"""IORESOURCE_MEM of the kernel."""


class Supplied:
    """What a person has read as root and pasted.

    Attributes:
        controls: ACS control registers by bus address.
        at: Seconds since the epoch.
    """

    def __init__(self, controls: Mapping[str, int], at: float) -> None:
        self.controls = dict(controls)
        self.at = at

    @property
    def source(self) -> str:
        """Where such a fact comes from."""
        return f"supplied by the user at {time.strftime('%Y-%m-%d %H:%M', time.localtime(self.at))}"


NOTHING_SUPPLIED = Supplied({}, 0.0)


def rate(speed: float, width: int) -> float:
    """GB/s of a link, one direction, after its encoding and before its packets."""
    return _PER_LANE.get(speed, 0.0) * width


def gpu_functions(reader: Reader) -> list[tuple[str, int]]:
    """Bus address and vendor of every GPU that sysfs knows, whether a driver has it or not."""
    found = []
    for bdf in reader.names(DEVICES) or ():
        kind = _number(reader.text(f"{DEVICES}/{bdf}/class"))
        vendor = _number(reader.text(f"{DEVICES}/{bdf}/vendor"))
        if kind is not None and kind >> 16 == _DISPLAY and vendor in (NVIDIA, AMD):
            found.append((bdf, vendor))
    return found


def chain(reader: Reader, bdf: str) -> tuple[tuple[str, ...], str]:
    """The ports above a device, nearest first, and the root they hang from; empty where sysfs does not tell."""
    try:
        path = reader.files.real(f"{DEVICES}/{bdf}")
    except OSError:
        return (), ""
    parts = path.strip("/").split("/")
    root = next((part for part in parts if re.match(r"^pci[0-9a-f]{4,8}:[0-9a-f]{2}$", part)), "")
    ports = [part for part in parts if _BDF.match(part) and part != bdf]
    return tuple(reversed(ports)), root


def read_port(reader: Reader, bdf: str, depth: int, supplied: Supplied) -> Port:
    """One port.

    Args:
        reader: Of the machine.
        bdf: Its bus address.
        depth: How many ports are between it and the root.
        supplied: What a person has read of it.
    """
    kind = "root port" if depth == 0 else "switch upstream" if depth % 2 else "switch downstream"
    if _number(reader.text(f"{DEVICES}/{bdf}/class") or "0x060400") not in range(_BRIDGE << 8, (_BRIDGE + 1) << 8):
        kind = "bridge"
    return Port(
        bdf,
        kind,
        Facts(
            [
                *link_facts(reader, bdf),
                acs_fact(reader, bdf, supplied),
                bridge_fact(reader, bdf),
                *error_facts(reader, bdf),
            ]
        ),
    )


def acs_fact(reader: Reader, bdf: str, supplied: Supplied) -> Fact:
    """The ACS control register of a port, or `unread: needs root` with the command that reads it."""
    name, label, path = "acs.control", "ACS", f"{DEVICES}/{bdf}/config"
    if bdf in supplied.controls:
        return _control(Fact(name, label, supplied.controls[bdf], source=supplied.source))
    try:
        return _control(Fact(name, label, acs.control(reader.files.read_bytes(path, 4096)), source=path))
    except acs.NoAcs:
        return Fact(name, label, 0, "no such capability", path)
    except PermissionError:
        return Fact(name, label, source=path, why="unread: needs root", remedy=acs.command((bdf,)))
    except OSError as error:
        return reader.unread(name, label, path, error)


def _control(fact: Fact) -> Fact:
    value = int(fact.value)
    shown = Fact(fact.name, fact.label, value, f"0x{value:04x} ({acs.bits(value)})", fact.source)
    return shown.noted("sends peer traffic up to the root") if acs.redirects(value) else shown


def link_facts(reader: Reader, bdf: str) -> Iterator[Fact]:
    """Speed and width of a function's link, now and at most."""
    folder = f"{DEVICES}/{bdf}"
    for name, label, file in (
        ("link.speed", "link speed now", "current_link_speed"),
        ("link.speed.max", "link speed at most", "max_link_speed"),
    ):
        yield reader.file(
            name,
            label,
            f"{folder}/{file}",
            _speed,
            shown=_generation,
            absent="no link is told of",
            live=file.startswith("current"),
        )
    for name, label, file in (
        ("link.width", "lanes now", "current_link_width"),
        ("link.width.max", "lanes at most", "max_link_width"),
    ):
        yield reader.file(
            name, label, f"{folder}/{file}", _width, shown=lambda lanes: f"x{lanes}", absent="no link is told of"
        )


def error_facts(reader: Reader, bdf: str) -> Iterator[Fact]:
    """Totals of the errors that Advanced Error Reporting counted since boot."""
    for kind in ("correctable", "nonfatal", "fatal"):
        fact = reader.file(
            f"aer.{kind}",
            f"AER {kind}",
            f"{DEVICES}/{bdf}/aer_dev_{kind}",
            aer_total,
            absent="not reported here",
            live=True,
        )
        if fact.value and kind != "correctable":
            fact = fact.wrong(f"{fact.value:,} uncorrectable PCIe errors since boot")
        yield fact


def window_facts(reader: Reader, bdf: str) -> Iterator[Fact]:
    """Where BAR1 lies, and how long it is, by the second line of `resource`."""
    path = f"{DEVICES}/{bdf}/resource"
    yield reader.file(
        "bar1.window", "BAR1 at", path, _bar1, shown=lambda bar: f"{bar['start']} ({binary(bar['size'])})"
    )


def resize_fact(reader: Reader, bdf: str) -> Fact:
    """Sizes that BAR1 can be given: bit n of the file is 2^n MiB."""

    def sizes(text: str) -> tuple[int, ...]:
        mask = int(text, 16)
        return tuple(1 << bit for bit in range(mask.bit_length()) if mask >> bit & 1)

    return reader.file(
        "bar1.sizes",
        "BAR1 can be",
        f"{DEVICES}/{bdf}/resource1_resize",
        sizes,
        shown=lambda found: ", ".join(binary(size << 20) for size in found),
        absent="it cannot be resized, or this kernel does not tell",
    )


def bridge_fact(reader: Reader, bdf: str) -> Fact:
    """The largest window of addresses that a port passes down: what lies below it has to fit."""

    def window(text: str) -> dict[str, object] | None:
        found = [
            (end - start + 1, start)
            for start, end, flags in (
                tuple(int(word, 16) for word in line.split()) for line in text.splitlines()[7:]
            )
            if end and flags & _MEMORY
        ]
        return {"start": f"0x{max(found)[1]:x}", "size": max(found)[0]} if found else None

    return reader.file(
        "window",
        "passes down",
        f"{DEVICES}/{bdf}/resource",
        window,
        shown=lambda one: f"{binary(one['size'])} from {one['start']}",
        absent="no window is told of",
    )


def numa_facts(reader: Reader, bdf: str) -> Iterator[Fact]:
    """Node and CPUs that sysfs puts a device next to; -1 is unknown, not node 0."""
    folder = f"{DEVICES}/{bdf}"
    node = reader.file("numa.sysfs", "NUMA node", f"{folder}/numa_node", int)
    if node.value == -1:
        node = Fact(node.name, node.label, source=node.source, why="the firmware does not tell")
    yield node
    yield reader.file("cpus.sysfs", "CPUs beside it", f"{folder}/local_cpulist", lambda text: text or None)


def aer_total(text: str) -> int:
    """The sum of one file of AER counters; its own total where it has one."""
    counts = dict(line.split() for line in text.splitlines() if len(line.split()) == 2)
    total = next((value for name, value in counts.items() if name.startswith("TOTAL_")), None)
    return int(total) if total is not None else sum(int(value) for value in counts.values())


def _speed(text: str) -> float | None:
    found = re.match(r"^([0-9.]+) GT/s", text)
    return float(found[1]) if found else None


def _generation(speed: float) -> str:
    number = _GENERATION.get(speed)
    return f"Gen{number} ({speed:g} GT/s)" if number else f"{speed:g} GT/s"


def _width(text: str) -> int | None:
    lanes = int(text)
    # 0 and 255 stand for a link that is down, or of which nothing is known.
    return lanes if 0 < lanes < 255 else None


def _bar1(text: str) -> dict[str, object] | None:
    lines = text.splitlines()
    start, end, _ = (int(word, 16) for word in lines[1].split())
    return {"start": f"0x{start:x}", "size": end - start + 1} if end else None


def _number(text: str | None) -> int | None:
    try:
        return int(text or "", 0)
    except ValueError:
        return None
