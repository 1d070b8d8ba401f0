"""What the screen shows of a program on two and on eight devices, at 80 and at 120 columns."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.debugger import LaunchTarget
from ladder_backends.session.ladder import Ladder

from ..cuda_gdb.several_devices import SeveralDevices


@pytest.fixture
async def on_devices(
    compiled: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> AsyncIterator[Callable[..., Any]]:
    """A ladder whose program stands in a kernel on a machine with so many devices."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    ladder = Ladder()

    async def opened(count: int, idle: tuple[int, ...] = ()) -> Ladder:
        engine = SeveralDevices(count, idle)

        async def take(name: str) -> CudaGdbDebugger:
            return CudaGdbDebugger(engine)

        monkeypatch.setattr(ladder.engines, "take", take)
        session = await ladder.open_target(LaunchTarget(compiled("steps")), debugger="cuda-gdb")
        async with asyncio.timeout(5):
            await session.at_rest()
        return ladder

    yield opened
    await ladder.close()


async def until(view: Any, words: str) -> str:
    for _ in range(300):
        if words in view.text():
            return str(view.text())
        await asyncio.sleep(0.01)
        await view.settle()
    pytest.fail(f"{words!r} never came:\n{view.text()}")


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
@pytest.mark.parametrize("count", [2, 8])
async def test_kernels_and_the_focus_name_their_device(
    on_devices: Any, show: Any, count: int, size: tuple[int, int]
) -> None:
    async with show(await on_devices(count), size) as view:
        await view.press("w", "g", "z")
        text = await until(view, f"Active on device {count - 1}")
        assert "Active on device 0" in text
        await view.press("z")
        dev = "device" if size[0] >= 100 else "dev"
        assert f"{dev} 0 " in view.text().splitlines()[-1]
        await view.press("g", *f"kernel {count - 1} 3,0,0 240", "enter")
        text = await until(view, f"{dev} {count - 1} ")
        assert f"{dev} {count - 1} " in text.splitlines()[-1]
        # The lane's values name it too, and the map where there is room.
        assert text.count(f"dev {count - 1}") + text.count(f"device {count - 1}") >= 2
        if size[0] >= 100:
            assert f"kernel {count - 1} dev {count - 1}" in text


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_hardware_of_eight(on_devices: Any, show: Any, shots: Any, size: tuple[int, int]) -> None:
    async with show(await on_devices(8, (3,)), size) as view:
        await view.press("w", "g", "z", "h")
        await until(view, "device 7")
        await view.press("home", *["down"] * 6, "enter")
        await until(view, "SM 12 ")
        shots.text(view.app, f"eight-devices-{size[0]}x{size[1]}")


async def test_an_idle_device_is_said_to_hold_nothing(on_devices: Any, show: Any) -> None:
    async with show(await on_devices(2, (1,)), (80, 24)) as view:
        await view.press("g", *"device 1", "enter")
        await until(view, "not on the device now")
        assert "dev 1" not in view.text().splitlines()[-1]
