"""NVML of a simulated machine.

```toml
driver = "580.65.06"       # left out: NVML has no driver

[nvml]
fails = 12                 # code with which initialising fails
nvmlSystemGetConfComputeState = {environment = 0, ccFeature = 1, devToolsMode = 0}   # answers by C name
nvmlDeviceGetRepairStatus = {error = 3}                                             # or an error code

[[gpu]]
nvlinks = 18               # links that it has; left out: 18 or 4 where [[link]] says that NVLink is OK, else 0
links_down = [3]           # those of them that are down
remote = "switch"          # or "peers": the links are shared out among the other GPUs
bar1_MiB = 256             # left out: all of the memory
fabric = 3                 # state of the NVSwitch fabric; left out: not supported
mig = false
ecc = true
display = false
used_GiB = 0.5
[gpu.nvml]                 # answers of this GPU, by C name
nvmlDeviceGetRemappedRows = [0, 1, 1, 0]
[gpu.fields]               # fields of this GPU, by number; "165/3" is that of one link
230 = 3
[gpu.rising]               # what a counter among the fields rises by from one reading of the machine to the next
181 = 3

recorded = true            # nothing is made up: only [files], [symlinks], and these answers
[[answer]]
call = "nvmlDeviceGetP2PStatus"
arguments = [0, 1, 0]
value = 0                  # or error = 3; the call "field" has GPU, number and scope for arguments
```
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ladder_backends.simulator.machine import SimulatedMachine
from ladder_backends.simulator.tree import common, gpus, tree

_UNINITIALIZED, _ARGUMENT, _UNSUPPORTED, _NO_DRIVER = 1, 2, 3, 9
_STATUS = ("OK", "CNS", "GNS", "TNS", "DR", "NS", "U")
_CLAIMS = ("read", "write", "nvlink", "atomics", "pci")
_COUNT, _STATE, _SPEED = 91, 165, 164
_NVLINK_SPEED = {18: 26562, 12: 25781, 4: 14062}
_ERROR_FIELDS = (94, 169, 173, 176, 181, 182, 161, 162, 163)
_PASSED_THROUGH = 1
_RATES = (94_000, 1_200)
"""KiB/s of PCIe that a busy GPU and an idle one show."""


class Refusal(Exception):
    """An answer that is an error code.

    Attributes:
        code: `nvmlReturn_t`.
    """

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class SimulatedNvml:
    """Answers calls by their C names.

    Args:
        machine: What is simulated.
        refusal: The exception that callers expect, made of a code: this room knows nothing of theirs.
    """

    def __init__(self, machine: SimulatedMachine, refusal: Callable[[int], Exception] = Refusal) -> None:
        self._machine = machine
        self._refusal = refusal
        self._devices = list(gpus(tree(machine)))
        # NVML counts by bus address, whatever the order in the file.
        self._order = sorted(range(len(machine.gpus)), key=lambda number: self._devices[number].bus)
        self._tables: tuple[Mapping[str, Any], ...] = tuple(machine.raw.get("gpu", ()))
        self._answers: Mapping[str, Any] = machine.raw.get("nvml", {})
        self._opened = 0
        self._readings = 0
        self._recorded = bool(machine.raw.get("recorded"))
        self._told = {
            (str(one["call"]), tuple(int(number) for number in one["arguments"])): one
            for one in machine.raw.get("answer", ())
        }

    # The port --------------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Initialise, or fail as the file says."""
        if "fails" in self._answers:
            raise self._refusal(int(self._answers["fails"]))
        if "driver" not in self._machine.raw and not self._machine.gpus:
            raise self._refusal(_NO_DRIVER)
        self._opened += 1
        self._readings += 1

    def close(self) -> None:
        """Let go."""
        self._opened = max(0, self._opened - 1)

    def ask(self, call: str, *arguments: int) -> Any:
        """One call."""
        if not self._opened:
            raise self._refusal(_UNINITIALIZED)
        if (told := self._told.get((call, arguments))) is not None:
            return self._said({"error": told["error"]} if "error" in told else told["value"])
        if self._recorded:
            raise self._refusal(_UNSUPPORTED)
        if call in self._answers:
            return self._said(self._answers[call])
        device = call.startswith("nvmlDevice") and bool(arguments)
        if device:
            if not 0 <= arguments[0] < len(self._order):
                raise self._refusal(_ARGUMENT)
            table = self._table(arguments[0])
            if call in table.get("nvml", {}):
                return self._said(table["nvml"][call])
        answer = _ANSWERS.get(call)
        if answer is None:
            raise self._refusal(_UNSUPPORTED)
        return answer(self, *arguments)

    def fields(self, gpu: int, numbers: tuple[Any, ...]) -> dict[Any, Any]:
        """Fields of a GPU; each a value or a refusal."""
        if not self._opened:
            raise self._refusal(_UNINITIALIZED)
        said = self._table(gpu).get("fields", {})
        found: dict[Any, Any] = {}
        for number in numbers:
            plain, scope = (number, None) if isinstance(number, int) else number
            place = (gpu, plain) if scope is None else (gpu, plain, scope)
            if self._recorded:
                told = self._told.get(("field", place), {"error": _UNSUPPORTED})
                found[number] = self._refusal(int(told["error"])) if "error" in told else told["value"]
                continue
            key = str(plain) if scope is None else f"{plain}/{scope}"
            value = said.get(key, said.get(str(plain)) if scope is not None else None)
            rising = self._table(gpu).get("rising", {}).get(key, 0)
            if value is None:
                value = self._field(gpu, plain, scope)
            if value is None and rising:
                # What rises is counted, from nothing where a file does not say from what.
                value = 0
            if value is None:
                found[number] = self._refusal(_UNSUPPORTED)
            elif isinstance(value, Mapping):
                found[number] = self._refusal(int(value["error"]))
            else:
                found[number] = value + rising * (self._readings - 1) if rising else value
        return found

    def xids(self) -> list[tuple[int, int]]:
        """None come."""
        return []

    # Answers ---------------------------------------------------------------------------------------------------

    def _table(self, gpu: int) -> Mapping[str, Any]:
        return self._tables[self._order[gpu]]

    def _said(self, value: Any) -> Any:
        if isinstance(value, Mapping) and set(value) == {"error"}:
            raise self._refusal(int(value["error"]))
        return value

    def _field(self, gpu: int, number: int, scope: int | None) -> Any:
        links = self._links(gpu)
        if number == _COUNT:
            return links or None
        if scope is not None and scope >= links:
            return None
        if number == _STATE:
            return int(self._up(gpu, scope or 0))
        if number == _SPEED:
            return _NVLINK_SPEED.get(links, 25000) if self._up(gpu, scope or 0) else 0
        return 0 if number in _ERROR_FIELDS or number in (230,) else None

    def _links(self, gpu: int) -> int:
        table = self._table(gpu)
        if table.get("mig"):
            return 0
        if "nvlinks" in table:
            return int(table["nvlinks"])
        own = self._order[gpu]
        joined = any(
            one == own and link.nvml.get("nvlink") == "OK" for (one, _), link in self._machine.links.items()
        )
        return (
            (18 if any(word in self._machine.gpus[own].name for word in ("H100", "H200", "B200")) else 4)
            if joined
            else 0
        )

    def _up(self, gpu: int, link: int) -> bool:
        return link < self._links(gpu) and link not in self._table(gpu).get("links_down", ())

    def _link_state(self, gpu: int, link: int) -> int:
        if link >= self._links(gpu):
            raise self._refusal(_ARGUMENT if self._links(gpu) else _UNSUPPORTED)
        return int(self._up(gpu, link))

    def _direct(self, gpu: int) -> bool:
        table = self._table(gpu)
        return str(table.get("remote", "switch" if self._links(gpu) >= 12 else "peers")) == "peers"

    def _remote_kind(self, gpu: int, link: int) -> int:
        self._link_state(gpu, link)
        return 0 if self._direct(gpu) else 2

    def _remote_address(self, gpu: int, link: int) -> dict[str, str]:
        self._link_state(gpu, link)
        if not self._direct(gpu):
            raise self._refusal(_UNSUPPORTED)
        own = self._order[gpu]
        peers = [
            other
            for (one, other), claim in self._machine.links.items()
            if one == own and claim.nvml.get("nvlink") == "OK"
        ]
        if not peers:
            raise self._refusal(_UNSUPPORTED)
        share = max(1, self._links(gpu) // len(peers))
        return {"busId": _address(self._devices[sorted(peers)[min(link // share, len(peers) - 1)]].bus)}

    def _status(self, one: int, other: int, index: int) -> int:
        if not 0 <= other < len(self._order) or one == other:
            raise self._refusal(_ARGUMENT)
        pair = self._order[one], self._order[other]
        link = self._machine.links.get(pair)
        if link is None:
            return _STATUS.index("NS")
        name = _CLAIMS[index]
        kind = "NS" if name in ("nvlink", "atomics", "pci") else "OK"
        if name == "pci" and link.nvml.get("nvlink") != "OK":
            kind = link.nvml.get("read", "OK")
        word = link.nvml.get(name, kind)
        return _STATUS.index(word) if word in _STATUS else _STATUS.index("U")

    def _ancestor(self, one: int, other: int) -> int:
        return common(self._devices[self._order[one]], self._devices[self._order[other]])[1]

    def _memory(self, gpu: int) -> dict[str, int]:
        total = self._machine.gpus[self._order[gpu]].memory
        used = int(float(self._table(gpu).get("used_GiB", 0.5)) * (1 << 30))
        return {"total": total, "free": total - used, "used": used}

    def _bar1(self, gpu: int) -> dict[str, int]:
        table = self._table(gpu)
        total = 1 << (self._machine.gpus[self._order[gpu]].memory - 1).bit_length()
        if "bar1_MiB" in table:
            total = int(float(table["bar1_MiB"]) * (1 << 20))
        return {"bar1Total": total, "bar1Free": total - (2 << 20), "bar1Used": 2 << 20}

    def _need(self, gpu: int, key: str) -> Any:
        value = self._table(gpu).get(key)
        if value is None:
            raise self._refusal(_UNSUPPORTED)
        return value

    def _fabric(self, gpu: int) -> dict[str, Any]:
        state = int(self._need(gpu, "fabric"))
        return {
            "clusterUuid": "0" * 32,
            "status": 0,
            "cliqueId": 0,
            "state": state,
            "healthMask": 0,
            "healthSummary": 1,
        }

    def _virtualization(self, gpu: int) -> int:
        return _PASSED_THROUGH if self._machine.raw.get("host", {}).get("guest") else 0

    def _driver(self) -> str:
        if "driver" not in self._machine.raw:
            raise self._refusal(_UNSUPPORTED)
        return str(self._machine.raw["driver"])

    def _numa(self, gpu: int) -> int:
        node = self._devices[self._order[gpu]].numa
        if node < 0:
            raise self._refusal(_UNSUPPORTED)
        return node

    def _utilisation(self, gpu: int) -> dict[str, int]:
        busy = bool(self._machine.gpus[self._order[gpu]].busy)
        return {"gpu": 93 if busy else 0, "memory": 41 if busy else 0}

    def _processes(self, gpu: int) -> tuple[dict[str, int], ...]:
        busy = self._machine.gpus[self._order[gpu]].busy
        numbers = "".join(c if c.isdecimal() else " " for c in busy).split()
        return ({"pid": int(numbers[0]) if numbers else 4242, "usedGpuMemory": 38 << 30},) if busy else ()

    def _device(self, gpu: int) -> Any:
        return self._devices[self._order[gpu]]


def _address(bus: str) -> str:
    """NVML writes eight digits of domain, in capitals."""
    return f"0000{bus}".upper()


_Self = SimulatedNvml
_ANSWERS: dict[str, Callable[..., Any]] = {
    "nvmlSystemGetDriverVersion": _Self._driver,
    "nvmlSystemGetCudaDriverVersion": lambda self: int(self._machine.raw.get("cuda", 13000)),
    "nvmlDeviceGetCount": lambda self: len(self._order),
    "nvmlDeviceGetName": lambda self, gpu: self._machine.gpus[self._order[gpu]].name,
    "nvmlDeviceGetUUID": lambda self, gpu: self._machine.gpus[self._order[gpu]].uuid,
    "nvmlDeviceGetPciInfo": lambda self, gpu: {"busId": _address(self._device(gpu).bus)},
    "nvmlDeviceGetMemoryInfo": _Self._memory,
    "nvmlDeviceGetBAR1MemoryInfo": _Self._bar1,
    "nvmlDeviceGetCurrPcieLinkGeneration": lambda self, gpu: self._device(gpu).idle,
    "nvmlDeviceGetMaxPcieLinkGeneration": lambda self, gpu: self._device(gpu).generation,
    "nvmlDeviceGetGpuMaxPcieLinkGeneration": lambda self, gpu: self._device(gpu).generation,
    "nvmlDeviceGetCurrPcieLinkWidth": lambda self, gpu: self._device(gpu).lanes,
    "nvmlDeviceGetMaxPcieLinkWidth": lambda self, gpu: self._device(gpu).most_lanes,
    "nvmlDeviceGetNumaNodeId": _Self._numa,
    "nvmlDeviceGetMigMode": lambda self, gpu: (int(bool(self._need(gpu, "mig"))),) * 2,
    "nvmlDeviceGetPersistenceMode": lambda self, gpu: int(bool(self._table(gpu).get("persistence", True))),
    "nvmlDeviceGetDisplayActive": lambda self, gpu: int(bool(self._table(gpu).get("display", False))),
    "nvmlDeviceGetVirtualizationMode": _Self._virtualization,
    "nvmlDeviceGetEccMode": lambda self, gpu: (int(bool(self._need(gpu, "ecc"))),) * 2,
    "nvmlDeviceGetTotalEccErrors": lambda self, gpu, kind, counter: int(bool(self._need(gpu, "ecc"))) * 0,
    "nvmlDeviceGetRemappedRows": lambda self, gpu: (int(bool(self._need(gpu, "ecc"))) * 0,) * 4,
    "nvmlDeviceGetGpuFabricInfoV": _Self._fabric,
    "nvmlDeviceGetComputeMode": lambda self, gpu: 0,
    "nvmlDeviceGetComputeRunningProcesses": _Self._processes,
    "nvmlDeviceGetUtilizationRates": _Self._utilisation,
    "nvmlDeviceGetTemperature": lambda self, gpu, sensor: 61 if self._machine.gpus[self._order[gpu]].busy else 34,
    "nvmlDeviceGetPowerUsage": lambda self, gpu: 512_000 if self._machine.gpus[self._order[gpu]].busy else 76_000,
    "nvmlDeviceGetPcieThroughput": lambda self, gpu, way: _RATES[
        0 if self._machine.gpus[self._order[gpu]].busy else 1
    ],
    "nvmlDeviceGetNvLinkState": _Self._link_state,
    "nvmlDeviceGetNvLinkVersion": lambda self, gpu, link: 6 if self._links(gpu) >= 18 else 5,
    "nvmlDeviceGetNvLinkRemoteDeviceType": _Self._remote_kind,
    "nvmlDeviceGetNvLinkRemotePciInfo": _Self._remote_address,
    "nvmlDeviceGetP2PStatus": _Self._status,
    "nvmlDeviceGetTopologyCommonAncestor": _Self._ancestor,
}
