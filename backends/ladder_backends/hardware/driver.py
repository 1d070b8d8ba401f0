"""The driver: versions of its two halves, flavour, parameters; libraries of CUDA that are installed beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ladder_backends.hardware.reader import Reader
from ladder_backends.model.fact import Fact

VERSION = "/proc/driver/nvidia/version"
PARAMETERS = "/proc/driver/nvidia/params"

TELLING = {
    "NvLinkDisable": "NVLink is switched off by a parameter of the driver",
    "EnableResizableBar": "",
    "DmaRemapPeerMmio": "",
    "GrdmaPciTopoCheckOverride": "",
    "RegistryDwords": "",
    "RmNvlinkBandwidth": "",
    "NVreg_RegistryDwords": "",
}
"""Parameters that decide about transfers between GPUs, with what a value other than 0 means."""

_NO_DRIVER = "the NVIDIA driver is not loaded"


def driver_facts(reader: Reader) -> Iterator[Fact]:
    """Facts of the driver."""
    library = reader.call("driver.version", "driver", "nvmlSystemGetDriverVersion")
    kernel = reader.file("driver.kernel", "kernel module", VERSION, _module_version, absent=_NO_DRIVER)
    if kernel.value is None:
        other = reader.file("driver.kernel", "kernel module", "/sys/module/nvidia/version", absent=_NO_DRIVER)
        kernel = other if other.known else kernel
    if library.known and kernel.known and library.value != kernel.value:
        kernel = kernel.wrong(
            f"the library is of {library.value}", "load the module of the same version, or reboot"
        )
    yield library
    yield kernel
    yield _flavour(reader)
    yield reader.call(
        "cuda.driver",
        "CUDA of the driver",
        "nvmlSystemGetCudaDriverVersion",
        parse=lambda n: f"{n // 1000}.{n % 1000 // 10}",
    )
    yield reader.call("nvml.version", "NVML", "nvmlSystemGetNVMLVersion")
    yield _parameters(reader)


def _flavour(reader: Reader) -> Fact:
    name, label = "driver.flavour", "driver flavour"
    text = reader.text(VERSION)
    if text is None:
        return Fact(name, label, source=VERSION, why=_NO_DRIVER)
    flavour = "open" if "Open Kernel Module" in text else "proprietary" if "Kernel Module" in text else None
    if flavour is None:
        return Fact(name, label, source=VERSION, why="it does not say")
    return Fact(name, label, flavour, source=VERSION)


def _parameters(reader: Reader) -> Fact:
    fact = reader.file(
        "driver.parameters", "driver parameters", PARAMETERS, parameters, shown=_telling, absent=_NO_DRIVER
    )
    if fact.value is None:
        return fact
    said = [words for name, words in TELLING.items() if words and str(fact.value.get(name, "0")) not in ("0", '""')]
    return fact.noted("; ".join(said)) if said else fact


def parameters(text: str) -> dict[str, str]:
    """`Name: value` lines of the driver's parameters."""
    found = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon:
            found[name.strip()] = value.strip().strip('"')
    return found


def _telling(found: dict[str, str]) -> str:
    told = [f"{name}={found[name]}" for name in TELLING if found.get(name, "") not in ("", "0", "4294967295")]
    return "  ".join(told) or "none that concern transfers"


def _module_version(text: str) -> str | None:
    found = re.search(r"Kernel Module(?:\s+for\s+\S+)?\s+([0-9][0-9.]+)", text)
    return found[1] if found else None


def library_facts(reader: Reader) -> Iterator[Fact]:
    """Versions of CuPy, NCCL and torch of this Python; none of them is imported."""
    for name, label, packages in (
        ("lib.cupy", "CuPy", ("cupy-cuda13x", "cupy-cuda12x", "cupy")),
        ("lib.nccl", "NCCL", ("nvidia-nccl-cu13", "nvidia-nccl-cu12")),
        ("lib.torch", "torch", ("torch",)),
    ):
        fact = Fact(name, label, source="Python packages", why="not installed for this Python")
        for package in packages:
            if (found := reader.files.package(package)) is not None:
                fact = replace(fact, value=found, shown=f"{found} ({package})", why="")
                break
        yield fact
