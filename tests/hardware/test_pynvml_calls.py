"""What nvidia-ml-py gets wrong, put right; its own functions are replaced below our calls: no library is here."""

import ctypes
from typing import Any

import pynvml
import pytest

from ladder_backends.hardware.ports import DRIVER_NOT_LOADED, LIBRARY_NOT_FOUND, NOT_SUPPORTED, NvmlRefused
from ladder_backends.hardware.pynvml_calls import PynvmlCalls, plain


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> PynvmlCalls:
    for name in ("nvmlInit", "nvmlShutdown"):
        monkeypatch.setattr(pynvml, name, lambda: None)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetHandleByIndex", lambda index: f"handle {index}")
    opened = PynvmlCalls()
    opened.open()
    return opened


def test_the_p2p_index_of_reads_is_a_number_not_the_packages_tuple(
    calls: PynvmlCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert pynvml.NVML_P2P_CAPS_INDEX_READ == (0,), "the package has mended it: the note about it can go"
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr(pynvml, "nvmlDeviceGetP2PStatus", lambda *words: asked.append(words) or 1)
    assert calls.ask("nvmlDeviceGetP2PStatus", 0, 1, 0) == 1
    assert asked == [("handle 0", "handle 1", 0)]


def test_settings_of_confidential_computing_raise_although_the_package_returns_the_code(
    calls: PynvmlCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pynvml, "nvmlSystemGetConfComputeSettings", lambda settings: NOT_SUPPORTED)
    with pytest.raises(NvmlRefused, match="not supported"):
        calls.ask("nvmlSystemGetConfComputeSettings")


def test_settings_that_are_there_are_read_with_their_version_set(
    calls: PynvmlCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(settings: Any) -> int:
        assert settings._obj.version == ctypes.sizeof(settings._obj) | 1 << 24
        settings._obj.multiGpuMode = 1
        return 0

    monkeypatch.setattr(pynvml, "nvmlSystemGetConfComputeSettings", answer)
    assert calls.ask("nvmlSystemGetConfComputeSettings")["multiGpuMode"] == 1


def test_the_fabric_is_asked_by_its_third_form_and_then_by_its_second(
    calls: PynvmlCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions: list[int] = []

    def answer(handle: str, info: Any) -> None:
        versions.append(info._obj.version >> 24)
        if versions[-1] == 3:
            raise pynvml.NVMLError(25)
        info._obj.state = 3

    monkeypatch.setattr(pynvml, "nvmlDeviceGetGpuFabricInfoV", answer)
    assert calls.ask("nvmlDeviceGetGpuFabricInfoV", 0)["state"] == 3
    assert versions == [3, 2]


def test_errors_of_the_sram_are_read_into_a_structure_of_ours(
    calls: PynvmlCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(handle: str, status: Any) -> None:
        assert status._obj.version == ctypes.sizeof(status._obj) | 1 << 24
        status._obj.bThresholdExceeded = 1

    monkeypatch.setattr(pynvml, "nvmlDeviceGetSramEccErrorStatus", answer)
    assert calls.ask("nvmlDeviceGetSramEccErrorStatus", 0)["bThresholdExceeded"] == 1


def field(kind: int, code: int = 0, **value: Any) -> Any:
    made = pynvml.c_nvmlFieldValue_t()
    made.valueType, made.nvmlReturn = kind, code
    for name, one in value.items():
        setattr(made.value, name, one)
    return made


def test_each_field_is_read_by_its_type_or_has_its_own_error(
    calls: PynvmlCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [field(1, uiVal=7), field(3, ullVal=2**40), field(0, dVal=1.5), field(1, NOT_SUPPORTED), field(99)]
    monkeypatch.setattr(pynvml, "nvmlDeviceGetFieldValues", lambda handle, numbers: answers)
    found = calls.fields(0, (1, 2, 3, (4, 0), 5))
    assert [found[1], found[2], found[3]] == [7, 2**40, 1.5]
    refused = found[4, 0]
    assert isinstance(refused, NvmlRefused)
    assert refused.code == NOT_SUPPORTED
    assert isinstance(found[5], NvmlRefused)


def test_masks_become_numbers(calls: PynvmlCalls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pynvml, "nvmlDeviceGetCpuAffinity", lambda handle, words: [0b101, 1, *[0] * (words - 2)])
    assert calls.ask("nvmlDeviceGetCpuAffinity", 0) == (0, 2, 64)
    scoped = lambda handle, words, scope: [1 << scope, *[0] * (words - 1)]  # noqa: E731
    monkeypatch.setattr(pynvml, "nvmlDeviceGetCpuAffinityWithinScope", scoped)
    assert calls.ask("nvmlDeviceGetCpuAffinityWithinScope", 0, 1) == (1,)


@pytest.mark.parametrize("code", [LIBRARY_NOT_FOUND, DRIVER_NOT_LOADED])
def test_a_library_that_does_not_open_says_why(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise pynvml.NVMLError(code)

    monkeypatch.setattr(pynvml, "nvmlInit", fail)
    with pytest.raises(NvmlRefused) as refused:
        PynvmlCalls().open()
    assert refused.value.code == code


def test_a_call_that_this_package_lacks_is_refused(calls: PynvmlCalls) -> None:
    with pytest.raises(NvmlRefused, match="does not have the call"):
        calls.ask("nvmlDeviceGetSomethingOfNextYear", 0)


def test_nothing_is_asked_of_a_closed_library(calls: PynvmlCalls) -> None:
    calls.close()
    with pytest.raises(NvmlRefused, match="not initialised"):
        calls.ask("nvmlDeviceGetCount")


def test_reading_again_does_not_close_the_library_under_a_watcher(
    calls: PynvmlCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pynvml, "nvmlDeviceGetCount", lambda: 2)
    calls.open()
    calls.close()
    assert calls.ask("nvmlDeviceGetCount") == 2


def test_structures_become_plain() -> None:
    memory = pynvml.c_nvmlMemory_t()
    memory.total = 5
    assert plain(memory)["total"] == 5
    assert plain(b"H200") == "H200"
    assert plain((ctypes.c_uint * 2)(1, 2)) == (1, 2)


def test_xids_are_listened_for_and_told_once(calls: PynvmlCalls, monkeypatch: pytest.MonkeyPatch) -> None:
    devices = [pynvml.struct_c_nvmlDevice_t(), pynvml.struct_c_nvmlDevice_t()]
    handles = [ctypes.pointer(device) for device in devices]
    monkeypatch.setattr(pynvml, "nvmlDeviceGetHandleByIndex", lambda index: handles[index])
    monkeypatch.setattr(pynvml, "nvmlDeviceGetCount", lambda: 2)
    monkeypatch.setattr(pynvml, "nvmlEventSetCreate", lambda: "events")
    freed: list[str] = []
    monkeypatch.setattr(pynvml, "nvmlEventSetFree", freed.append)
    registered: list[int] = []

    def register(handle: Any, kind: int, events: str) -> None:
        registered.append(kind)

    monkeypatch.setattr(pynvml, "nvmlDeviceRegisterEvents", register)
    event = pynvml.c_nvmlEventData_t()
    event.device, event.eventData = handles[1], 74
    waiting = [event]

    def wait(events: str, milliseconds: int) -> Any:
        assert milliseconds == 0
        if not waiting:
            raise pynvml.NVMLError(10)
        return waiting.pop()

    monkeypatch.setattr(pynvml, "nvmlEventSetWait_v2", wait)
    assert calls.xids() == [(1, 74)]
    assert calls.xids() == []
    assert registered == [pynvml.nvmlEventTypeXidCriticalError] * 2
    calls.close()
    assert freed == ["events"]


def test_a_python_without_the_package_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pynvml", None)
    with pytest.raises(NvmlRefused, match="nvidia-ml-py is not installed"):
        PynvmlCalls().open()
