"""Limits of the container, if it is one, that decide how processes can share memory; and the variables of NCCL."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ladder_backends.hardware.reader import Reader, binary
from ladder_backends.model.fact import Fact

WANTED_SHM = 1 << 30
"""Bytes of /dev/shm that NCCL's manual asks for."""

_SETTINGS = ("NCCL_", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "GGML_CUDA_P2P", "VLLM_SKIP_P2P_CHECK",
             "NVIDIA_VISIBLE_DEVICES")  # fmt: skip
_SECRET = ("TOKEN", "KEY", "SECRET", "PASSWORD")
_UNLIMITED = "unlimited"


def container_facts(reader: Reader) -> Iterator[Fact]:
    """Shared memory, locked memory, namespaces, and whether this is a container."""
    yield _kind(reader)
    yield _shared(reader)
    yield _locked(reader)
    yield _namespaces(reader)


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


def is_setting(name: str) -> bool:
    """Whether a variable decides about transfers, and is no secret."""
    return name.startswith(_SETTINGS) and not any(word in name for word in _SECRET)


def setting_facts(reader: Reader) -> Iterator[Fact]:
    """Variables of this process that decide what NCCL, vLLM and llama.cpp do; a job may have others."""
    found = reader.files.environment()
    for name in sorted(found):
        if is_setting(name):
            fact = Fact(f"env.{name}", name, found[name], source="environment of this process")
            if name == "GGML_CUDA_P2P":
                fact = fact.noted("set to anything at all, 0 too, it switches P2P of llama.cpp on: unset it")
            elif name == "NCCL_P2P_LEVEL" and found[name].upper() in ("LOC", "0"):
                fact = fact.noted("LOC forbids P2P between GPUs: unset it")
            yield fact
