"""NVML by nvidia-ml-py, with what that gets wrong put right; imported at the first call, never at start."""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable, Iterator
from typing import Any

from ladder_backends.hardware.ports import (
    FUNCTION_NOT_FOUND,
    INVALID_ARGUMENT,
    LIBRARY_NOT_FOUND,
    NOT_SUPPORTED,
    NVML_WORDS,
    SUCCESS,
    UNINITIALIZED,
    UNKNOWN,
    Field,
    NvmlRefused,
)

_CPU_WORDS = 32
_NODE_WORDS = 4
_MOST_EVENTS = 64
_NODE_SCOPE = 0


class PynvmlCalls:
    """The real library.

    It can be opened and closed more than once; NVML counts.
    """

    def __init__(self) -> None:
        self._module: Any = None
        self._handles: dict[int, Any] = {}
        self._events: Any = None
        self._opened = 0

    def open(self) -> None:
        """Load and initialise.

        Raises:
            NvmlRefused: There is no library, no driver, or the two do not fit.
        """
        try:
            module = importlib.import_module("pynvml")
        except ImportError:
            raise NvmlRefused(LIBRARY_NOT_FOUND, "the Python package nvidia-ml-py is not installed") from None
        if not hasattr(module, "nvmlDeviceGetFieldValues"):
            raise NvmlRefused(LIBRARY_NOT_FOUND, "the package pynvml is not NVIDIA's; it wants nvidia-ml-py")
        try:
            module.nvmlInit()
        except module.NVMLError as error:
            raise _refusal(error) from None
        self._module = module
        self._opened += 1

    def close(self) -> None:
        """Let go of the library once; the last time, for good."""
        module = self._module
        if module is None:
            return
        self._opened -= 1
        events = None
        if not self._opened:
            self._module = None
            events, self._events = self._events, None
            self._handles.clear()
        try:
            if events:
                module.nvmlEventSetFree(events)
            module.nvmlShutdown()
        except module.NVMLError:
            return

    def ask(self, call: str, *arguments: int) -> Any:
        """One call by its C name; the first argument of a call on a device is the GPU's index.

        Raises:
            NvmlRefused: It was answered with an error code, or this version of the package lacks it.
        """
        module = self._open_module()
        special = _SPECIAL.get(call)
        try:
            if special is not None:
                return special(self, module, *arguments)
            function = getattr(module, call)
            if call.startswith("nvmlDevice") and call != "nvmlDeviceGetCount" and arguments:
                return plain(function(self.handle(arguments[0]), *arguments[1:]))
            return plain(function(*arguments))
        except module.NVMLError as error:
            raise _refusal(error) from None
        except AttributeError:
            raise NvmlRefused(FUNCTION_NOT_FOUND) from None
        except (TypeError, ValueError, OSError) as error:
            # An argument that this version of the package does not take, bytes that are no text.
            raise NvmlRefused(UNKNOWN, f"{call}: {error}") from None

    def fields(self, gpu: int, numbers: tuple[Field, ...]) -> dict[Field, int | float | NvmlRefused]:
        """Fields of a GPU in one call; each has a value or its own error.

        Raises:
            NvmlRefused: The whole call failed.
        """
        module = self._open_module()
        try:
            found = module.nvmlDeviceGetFieldValues(self.handle(gpu), list(numbers))
        except module.NVMLError as error:
            raise _refusal(error) from None
        except AttributeError:
            raise NvmlRefused(FUNCTION_NOT_FOUND) from None
        return {number: _field(one) for number, one in zip(numbers, found, strict=False)}

    def xids(self) -> list[tuple[int, int]]:
        """Xids since it was last asked; the first question begins to listen."""
        module = self._open_module()
        try:
            if self._events is None:
                self._listen(module)
            return list(self._waiting(module)) if self._events else []
        except (module.NVMLError, AttributeError):
            return []

    def _listen(self, module: Any) -> None:
        self._events = False
        events = module.nvmlEventSetCreate()
        kind = module.nvmlEventTypeXidCriticalError
        for gpu in range(int(module.nvmlDeviceGetCount())):
            try:
                module.nvmlDeviceRegisterEvents(self.handle(gpu), kind, events)
            except module.NVMLError:
                continue
        self._events = events

    def _waiting(self, module: Any) -> Iterator[tuple[int, int]]:
        numbers = {ctypes.addressof(handle.contents): gpu for gpu, handle in self._handles.items()}
        for _ in range(_MOST_EVENTS):
            try:
                event = module.nvmlEventSetWait_v2(self._events, 0)
            except module.NVMLError:
                # Nothing waits: that is an error code too.
                return
            try:
                gpu = numbers.get(ctypes.addressof(event.device.contents), -1)
            except ValueError:
                gpu = -1
            yield gpu, int(event.eventData)

    def handle(self, gpu: int) -> Any:
        """NVML's handle of a GPU."""
        if gpu not in self._handles:
            self._handles[gpu] = self._open_module().nvmlDeviceGetHandleByIndex(gpu)
        return self._handles[gpu]

    def _open_module(self) -> Any:
        if self._module is None:
            raise NvmlRefused(UNINITIALIZED)
        return self._module


def plain(value: Any) -> Any:
    """A structure, an array or bytes of ctypes as dict, tuple and text."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if hasattr(value, "_fields_"):
        return {name: plain(getattr(value, name)) for name, *_ in value._fields_}
    if isinstance(value, (list, tuple)) or hasattr(value, "_length_"):
        return tuple(plain(one) for one in value)
    if hasattr(value, "_type_") and hasattr(value, "value"):
        return value.value
    return value


def _refusal(error: Any) -> NvmlRefused:
    code = int(getattr(error, "value", UNKNOWN))
    return NvmlRefused(code, "" if code in NVML_WORDS else str(error))


def _field(value: Any) -> int | float | NvmlRefused:
    """The member of the union that the type names; anything else is another number's bits."""
    code = int(value.nvmlReturn)
    if code != SUCCESS:
        return NvmlRefused(code)
    members = {0: "dVal", 1: "uiVal", 2: "ulVal", 3: "ullVal", 4: "sllVal", 5: "siVal", 6: "usVal"}
    member = members.get(int(value.valueType))
    if member is None or not hasattr(value.value, member):
        return NvmlRefused(UNKNOWN, f"a field of type {int(value.valueType)}")
    found = getattr(value.value, member)
    return float(found) if member == "dVal" else int(found)


# What does not go by the plain rule -----------------------------------------------------------------------------


def _p2p_status(calls: PynvmlCalls, module: Any, one: int, other: int, index: int) -> Any:
    # NVML_P2P_CAPS_INDEX_READ of the package is the tuple (0,): indexes are numbers here, never its names.
    return int(module.nvmlDeviceGetP2PStatus(calls.handle(one), calls.handle(other), index))


def _ancestor(calls: PynvmlCalls, module: Any, one: int, other: int) -> Any:
    return int(module.nvmlDeviceGetTopologyCommonAncestor(calls.handle(one), calls.handle(other)))


def _settings(calls: PynvmlCalls, module: Any) -> Any:
    """The package returns the code of this call instead of raising it."""
    settings = module.c_nvmlSystemConfComputeSettings_v1_t()
    settings.version = _version_of(settings, 1)
    code = int(module.nvmlSystemGetConfComputeSettings(ctypes.byref(settings)) or 0)
    if code != SUCCESS:
        raise NvmlRefused(code)
    return plain(settings)


def _fabric(calls: PynvmlCalls, module: Any, gpu: int) -> Any:
    """By the third form of the structure, which tells health; older drivers know the second, or none."""
    refused = NvmlRefused(FUNCTION_NOT_FOUND)
    for number in (3, 2):
        form = getattr(module, f"c_nvmlGpuFabricInfo_v{number}_t", None)
        if form is None:
            continue
        info = form()
        info.version = _version_of(info, number)
        try:
            module.nvmlDeviceGetGpuFabricInfoV(calls.handle(gpu), ctypes.byref(info))
        except module.NVMLError as error:
            refused = _refusal(error)
            if refused.code in (NOT_SUPPORTED, FUNCTION_NOT_FOUND):
                break
            continue
        answer = plain(info)
        answer["clusterUuid"] = bytes(answer["clusterUuid"]).hex()
        return answer
    raise refused


def _sram(calls: PynvmlCalls, module: Any, gpu: int) -> Any:
    """The structure is the caller's, with its version set; the package makes none."""
    form = getattr(module, "c_nvmlEccSramErrorStatus_v1_t", None)
    if form is None:
        raise NvmlRefused(FUNCTION_NOT_FOUND)
    status = form()
    status.version = _version_of(status, 1)
    module.nvmlDeviceGetSramEccErrorStatus(calls.handle(gpu), ctypes.byref(status))
    return plain(status)


def _version_of(structure: Any, number: int) -> int:
    return ctypes.sizeof(structure) | number << 24


def _affinity(call: str, words: int, *scope: int) -> Callable[[PynvmlCalls, Any, int], Any]:
    def ask(calls: PynvmlCalls, module: Any, gpu: int) -> Any:
        mask = getattr(module, call)(calls.handle(gpu), words, *scope)
        return tuple(64 * word + bit for word, bits in enumerate(mask) for bit in range(64) if bits >> bit & 1)

    return ask


def _mig_devices(calls: PynvmlCalls, module: Any, gpu: int) -> Any:
    """UUIDs of the GPU's MIG devices: one call for each place that there could be one at."""
    found = []
    for index in range(int(module.nvmlDeviceGetMaxMigDeviceCount(calls.handle(gpu)))):
        try:
            device = module.nvmlDeviceGetMigDeviceHandleByIndex(calls.handle(gpu), index)
            found.append(plain(module.nvmlDeviceGetUUID(device)))
        except module.NVMLError:
            continue
    return tuple(found)


def _processes(calls: PynvmlCalls, module: Any, gpu: int) -> Any:
    """Ids and bytes of the processes that compute on a GPU; bytes may not be told."""
    found = module.nvmlDeviceGetComputeRunningProcesses(calls.handle(gpu))
    return tuple({"pid": int(one.pid), "usedGpuMemory": one.usedGpuMemory} for one in found)


def _bad_argument(calls: PynvmlCalls, module: Any, *arguments: int) -> Any:
    raise NvmlRefused(INVALID_ARGUMENT)


_SPECIAL: dict[str, Callable[..., Any]] = {
    "nvmlDeviceGetP2PStatus": _p2p_status,
    "nvmlDeviceGetTopologyCommonAncestor": _ancestor,
    "nvmlSystemGetConfComputeSettings": _settings,
    "nvmlDeviceGetGpuFabricInfoV": _fabric,
    "nvmlDeviceGetCpuAffinity": _affinity("nvmlDeviceGetCpuAffinity", _CPU_WORDS),
    "nvmlDeviceGetCpuAffinityWithinScope": lambda calls, module, gpu, scope: _affinity(
        "nvmlDeviceGetCpuAffinityWithinScope", _CPU_WORDS, scope
    )(calls, module, gpu),
    "nvmlDeviceGetMemoryAffinity": _affinity("nvmlDeviceGetMemoryAffinity", _NODE_WORDS, _NODE_SCOPE),
    "nvmlDeviceGetMigDevices": _mig_devices,
    "nvmlDeviceGetComputeRunningProcesses": _processes,
    "nvmlDeviceGetSramEccErrorStatus": _sram,
    "nvmlInit": _bad_argument,
    "nvmlShutdown": _bad_argument,
}
