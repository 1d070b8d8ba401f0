"""Limits of the container, if it is one, that decide how processes can share memory."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ladder_backends.hardware.reader import Reader, binary
from ladder_backends.model.fact import Fact

WANTED_SHM = 1 << 30
"""Bytes of /dev/shm that NCCL's manual asks for."""

_UNLIMITED = "unlimited"
_SYS_NICE = 23
"""Bit of CAP_SYS_NICE, by capabilities(7)."""


def container_facts(reader: Reader) -> Iterator[Fact]:
    """Shared memory, locked memory, namespaces, and whether this is a container."""
    yield _kind(reader)
    yield _shared(reader)
    yield _locked(reader)
    yield _namespaces(reader)
    yield _nice(reader)


def _nice(reader: Reader) -> Fact:
    """CAP_SYS_NICE, without which memory cannot be bound to a NUMA node: NCCL's host memory by cuMem wants that."""

    def has(text: str) -> bool | None:
        found = re.search(r"^CapEff:\s*([0-9a-f]+)", text, re.MULTILINE)
        return None if found is None else bool(int(found[1], 16) >> _SYS_NICE & 1)

    fact = reader.file("container.sys_nice", "may bind memory", "/proc/self/status", has)
    if fact.value is False:
        return fact.noted(
            "NCCL before 2.26.5 fails on host memory: docker run --cap-add SYS_NICE, or NCCL_CUMEM_HOST_ENABLE=0"
        )
    return fact


def _namespaces(reader: Reader) -> Fact:
    """Processes share memory only where their IPC namespaces, and the device of /dev/shm, are the same."""
    name, label, folder = "container.namespaces", "namespaces", "/proc/self/ns"
    found = {}
    for kind in ("ipc", "pid", "net"):
        try:
            found[kind] = reader.files.link(f"{folder}/{kind}").partition("[")[2].rstrip("]")
        except OSError as error:
            return reader.unread(name, label, folder, error)
    # Their numbers are of this boot.
    return Fact(name, label, found, source=folder, live=True)


def _kind(reader: Reader) -> Fact:
    name, label = "container", "container"
    for path, kind in (("/.dockerenv", "docker"), ("/run/.containerenv", "podman")):
        if reader.files.exists(path):
            return Fact(name, label, kind, source=path)
    groups = reader.text("/proc/1/cgroup")
    if groups is None:
        return Fact(name, label, source="/proc/1/cgroup", why="unread")
    if found := re.search(r"docker|kubepods|containerd|lxc|libpod|garden", groups):
        return Fact(name, label, found[0], source="/proc/1/cgroup")
    return Fact(name, label, "none seen", source="/proc/1/cgroup, /.dockerenv")


def _shared(reader: Reader) -> Fact:
    name, label, path = "container.shm", "/dev/shm", "/dev/shm"
    try:
        size = reader.files.space(path)
    except OSError as error:
        return reader.unread(name, label, path, error)
    fact = Fact(name, label, size, binary(size), "statvfs /dev/shm")
    if size < WANTED_SHM:
        return fact.noted("NCCL wants 1 GiB: docker run --shm-size=1g, or --ipc=host")
    return fact


def _locked(reader: Reader) -> Fact:
    def limit(text: str) -> str | int | None:
        found = re.search(r"^Max locked memory\s+(\S+)", text, re.MULTILINE)
        if found is None:
            return None
        return _UNLIMITED if found[1] == _UNLIMITED else int(found[1])

    fact = reader.file(
        "container.memlock", "locked memory", "/proc/self/limits", limit,
        shown=lambda bound: binary(bound) if isinstance(bound, int) else bound,
    )  # fmt: skip
    if isinstance(fact.value, int) and fact.value < WANTED_SHM:
        return fact.noted("pinned memory of NCCL may not fit: docker run --ulimit memlock=-1")
    return fact
