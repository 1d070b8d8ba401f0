"""Daemons beside the driver: the fabric manager of NVSwitches, and IMEX of NVLinks between hosts."""

from __future__ import annotations

from collections.abc import Iterator

from ladder_backends.hardware.reader import Reader
from ladder_backends.model.fact import Fact

FABRIC_PORT = 6666
"""TCP port of the fabric manager, by its user guide: FABRIC_API_TCP_PORT."""

CHANNELS = "/dev/nvidia-caps-imex-channels"
_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_LISTENS = "0A"
_COMM = 15
"""Letters of a process's name that the kernel keeps."""


def daemon_facts(reader: Reader) -> Iterator[Fact]:
    """Whether they run here; in a container those of the host are not seen, and NVML's fabric state counts."""
    names = _processes(reader)
    yield _daemon("fabric.manager", "fabric manager", "nv-fabricmanager", names)
    yield _port(reader)
    yield _daemon("imex.daemon", "IMEX daemon", "nvidia-imex", names)
    yield _channels(reader)


def _processes(reader: Reader) -> set[str] | None:
    numbers = [entry for entry in reader.names("/proc") or () if entry.isdecimal()]
    if not numbers:
        return None
    return {name for number in numbers if (name := reader.text(f"/proc/{number}/comm"))}


def _daemon(name: str, label: str, program: str, names: set[str] | None) -> Fact:
    source = "/proc/*/comm"
    if names is None:
        return Fact(name, label, source=source, why="no processes are visible")
    if program[:_COMM] in names or program in names:
        return Fact(name, label, True, "runs here", source)
    return Fact(name, label, source=source, why="not seen among the processes here")


def _port(reader: Reader) -> Fact:
    """Whether somebody listens where the fabric manager does; another network namespace has other ports."""
    name, label, source = "fabric.port", f"port {FABRIC_PORT}", ", ".join(_TABLES)
    tables = [text for path in _TABLES if (text := reader.text(path)) is not None]
    if not tables:
        return Fact(name, label, source=source, why="sockets cannot be read here")
    for text in tables:
        for line in text.splitlines()[1:]:
            words = line.split()
            if len(words) > 3 and words[3] == _LISTENS and words[1].endswith(f":{FABRIC_PORT:04X}"):
                return Fact(name, label, True, "somebody listens, as the fabric manager does", source)
    return Fact(name, label, source=source, why="nobody listens in this network namespace")


def _channels(reader: Reader) -> Fact:
    """Devices by which processes map memory of other hosts; only machines whose NVLinks join hosts have them."""
    name, label = "imex.channels", "IMEX channels"
    found = reader.names(CHANNELS)
    if found is None:
        return Fact(name, label, source=CHANNELS, why="there are none here")
    channels = tuple(one for one in found if one.startswith("channel"))
    return Fact(name, label, channels, f"{len(channels)}" if channels else "none", CHANNELS)
