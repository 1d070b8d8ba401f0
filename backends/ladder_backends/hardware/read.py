"""Read a machine: host, GPUs, ports, pairs."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping

from ladder_backends.hardware import (
    acs,
    containers,
    driver,
    fabric,
    host,
    iommu,
    kernel_log,
    nvlinks,
    pci,
    settings,
)
from ladder_backends.hardware.cuda_order import order_facts
from ladder_backends.hardware.gpus import gpu_facts, nvml_address
from ladder_backends.hardware.nccl_choice import engine_facts
from ladder_backends.hardware.nics import read_nics
from ladder_backends.hardware.pairs import read_pair, route
from ladder_backends.hardware.ports import (
    DRIVER_NOT_LOADED,
    LIB_RM_VERSION_MISMATCH,
    LIBRARY_NOT_FOUND,
    NO_PERMISSION,
    Files,
    Nvml,
    NvmlRefused,
)
from ladder_backends.hardware.reader import Reader
from ladder_backends.model.fact import Fact, Facts
from ladder_backends.model.topology import Gpu, Machine, Pair, Port
from ladder_backends.text import clean_line

MOST_GPUS = 64
"""GPUs that are looked at, whatever NVML counts."""

_RUNTIME = "in a container, start it with the NVIDIA runtime: docker run --gpus all"

REMEDIES = {
    LIBRARY_NOT_FOUND: f"install NVIDIA's driver; {_RUNTIME}",
    DRIVER_NOT_LOADED: "load the driver: sudo modprobe nvidia; nvidia-smi has to work first",
    LIB_RM_VERSION_MISMATCH: "the driver was updated under way: reboot, or reload its modules",
    NO_PERMISSION: "let this user open /dev/nvidia*",
}
"""What to do where NVML does not open, by its code."""

_ELSEWHERE = "nvidia-smi says more"


def read_machine(
    files: Files,
    nvml: Nvml,
    supplied: pci.Supplied = pci.NOTHING_SUPPLIED,
    *,
    log: str | None = None,
    simulated: str = "",
) -> Machine:
    """Everything that user space can read. It takes a second where there are eight GPUs; call it in a thread.

    Args:
        files: The machine's file system.
        nvml: The machine's NVML; opened here, and closed again.
        supplied: What a person has read as root.
        log: Output of dmesg that a person pasted, or None.
        simulated: Title of the simulated machine, or an empty string.
    """
    began = time.monotonic()
    reader = Reader(files, nvml)
    unread = remedy = ""
    try:
        nvml.open()
    except NvmlRefused as refused:
        unread = reader.closed = refused.why
        remedy = REMEDIES.get(refused.code, _ELSEWHERE)
    try:
        found = settings.settings(reader)
        environment = {name: one.value for name, one in found.items()}
        facts = Facts(_host(reader, supplied, log, found))
        gpus, roots = _gpus(reader, environment)
        nics = read_nics(reader, gpus)
        ports = _ports(reader, [*(gpu.above for gpu in gpus), *(nic.above for nic in nics)], supplied)
        pairs = tuple(
            read_pair(reader, one, other, roots, ports, facts, len(gpus), environment)
            for number, one in enumerate(gpus)
            for other in gpus[number + 1 :]
        )
        facts = facts.with_facts(engine_facts(facts, tuple(pair.facts for pair in pairs), len(gpus), environment))
    finally:
        if not reader.closed:
            nvml.close()
    if not gpus and not unread:
        unread, remedy = "NVML sees no GPU", _RUNTIME
    return Machine(
        _title(gpus),
        facts,
        gpus,
        ports,
        pairs,
        clean_line(simulated),
        unread,
        remedy,
        time.time(),
        time.monotonic() - began,
        _commands(facts, ports),
        nics,
    )


def _commands(host: Facts, ports: dict[str, Port]) -> tuple[str, ...]:
    """What root can run to tell what is unread: one command for all ports."""
    found = dict.fromkeys(fact.remedy for fact in host.values() if fact.remedy and not fact.known)
    if unread := [bdf for bdf, port in ports.items() if port.facts["acs.control"].remedy]:
        found[acs.command(unread)] = None
    return tuple(found)


def _host(
    reader: Reader, supplied: pci.Supplied, log: str | None, found: dict[str, settings.Setting]
) -> list[Fact]:
    facts = list(host.host_facts(reader))
    guest = next((fact.value for fact in facts if fact.name == "vm.hypervisor"), None)
    return [
        *driver.driver_facts(reader),
        *facts,
        *iommu.iommu_facts(reader, guest=guest),
        *containers.container_facts(reader),
        *kernel_log.log_facts(reader, log, supplied.source if log is not None else ""),
        *fabric.daemon_facts(reader),
        *driver.library_facts(reader),
        *settings.setting_facts(found),
    ]


def _gpus(reader: Reader, environment: Mapping[str, str]) -> tuple[tuple[Gpu, ...], dict[str, str]]:
    """GPUs of NVML by bus address; without NVML, those that sysfs shows. And the root that each hangs from."""
    seen: list[tuple[str, str, str, int | None]] = []
    if not reader.closed:
        for number in range(min(int(reader.ask("nvmlDeviceGetCount") or 0), MOST_GPUS)):
            info = reader.ask("nvmlDeviceGetPciInfo", number) or {}
            seen.append(
                (
                    nvml_address(str(info.get("busId", ""))),
                    str(reader.ask("nvmlDeviceGetName", number) or ""),
                    str(reader.ask("nvmlDeviceGetUUID", number) or ""),
                    number,
                )
            )
    else:
        for bdf, vendor in pci.gpu_functions(reader):
            if vendor == pci.NVIDIA:
                device = reader.text(f"{pci.DEVICES}/{bdf}/device") or ""
                seen.append((bdf, f"NVIDIA device {device}", "", None))
    gpus, roots = [], {}
    numbers = order_facts([(name, uuid) for _, name, uuid, _ in seen], environment) if not reader.closed else []
    for number, (bdf, name, uuid, index) in enumerate(seen):
        above, root = pci.chain(reader, bdf)
        roots[bdf] = root
        facts = gpu_facts(reader, number, bdf).with_facts(numbers[number : number + 1])
        mig = bool(facts.value("mig.mode"))
        links = nvlinks.read_links(reader, index, mig=mig) if index is not None else ()
        gpus.append(Gpu(number, name, uuid, bdf, facts, links, above, root))
    return tuple(gpus), roots


def _ports(reader: Reader, chains: list[tuple[str, ...]], supplied: pci.Supplied) -> dict[str, Port]:
    ports: dict[str, Port] = {}
    for above in chains:
        for number, bdf in enumerate(above):
            if bdf not in ports:
                ports[bdf] = pci.read_port(reader, bdf, len(above) - number - 1, supplied)
    return dict(sorted(ports.items()))


def _title(gpus: tuple[Gpu, ...]) -> str:
    names = Counter(gpu.name.removeprefix("NVIDIA ") or "GPU" for gpu in gpus)
    return ", ".join(f"{count}× {name}" for name, count in names.items()) or "no GPU"


__all__ = ["REMEDIES", "Pair", "read_machine", "route"]
