"""A lane's registers, memory, SASS and launch on screen, over real GPU core dumps."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from ladder_backends.case import open_files, unpack_xz
from ladder_backends.debugger import GpuDumpTarget
from ladder_backends.model.focus import Focus
from ladder_backends.session.ladder import Ladder
from ladder_demos.catalogue import find_demo

DUMPS = Path(__file__).parent.parent / "dumps"
SMALL = (80, 24)

Open = Callable[[str], Awaitable[Ladder]]

pytestmark = pytest.mark.cuda_gdb


@pytest.fixture
async def ladder(cuda_gdb: Path) -> AsyncIterator[Ladder]:
    """A ladder that nothing is open on; its engines end with the test."""
    ladder = Ladder()
    yield ladder
    await ladder.close()


@pytest.fixture
def dumped(ladder: Ladder) -> Open:
    """Opens the dump of a demo, or one of `tests/dumps`."""

    async def open_dump(name: str) -> Ladder:
        packed = DUMPS / f"{name}.nvcudmp.xz"
        opened = open_files([find_demo("uninit" if packed.exists() else name).path])
        dump = unpack_xz(packed) if packed.exists() else opened.dump
        assert dump is not None
        session = await ladder.open_target(GpuDumpTarget(dump, opened.executable), run=False)
        await session.at_rest()
        return ladder

    return open_dump


async def rest(view: Any) -> None:
    """All that was asked is answered and drawn."""
    for _ in range(3):
        await view.app.workers.wait_for_complete()
        await view.app.ladder.active.at_rest()
        await view.settle()


async def press(view: Any, *keys: str) -> None:
    for key in keys:
        await view.pilot.press(key)
        if not view.app.workspace.prompt.display:
            await rest(view)


def line_with(view: Any, words: str) -> str:
    return next((line for line in view.text().splitlines() if words in line), "")


# The lane above its values


async def test_the_lane_stands_above_its_values_and_follows_it(dumped: Open, show: Any) -> None:
    async with show(await dumped("vector-add"), SMALL) as view:
        await rest(view)
        assert "t (232,0,0) b (3,0,0) SM 126 w7 l8" in view.text()
        await view.app.ladder.active.values.watch("i + 1")
        await rest(view)
        await view.app.ladder.jump_to(Focus.of(kernel=0, block=(3, 0, 0), thread=(240, 0, 0)))
        await rest(view)
        assert "t (240,0,0) b (3,0,0) SM 126 w7 l16" in view.text()
        assert "1008" in line_with(view, " i  ")
        assert "1009" in line_with(view, "i + 1")
        # Another lane has other values, which is no change of them.
        assert "•" not in line_with(view, " i  ") + line_with(view, "i + 1")


async def test_address_spaces_in_types_on_demand(dumped: Open, show: Any) -> None:
    async with show(await dumped("vector-add"), SMALL) as view:
        await press(view, "w", "v")
        assert "@" not in line_with(view, "   i  ")
        await press(view, "at")
        assert "@register int" in line_with(view, "   i  ")
        await press(view, "at")
        assert "@" not in line_with(view, "   i  ")


# Registers


async def test_registers_of_the_lane_lead_to_memory(dumped: Open, show: Any) -> None:
    async with show(await dumped("vector-add"), (120, 40)) as view:
        await press(view, "w", "r", "z")
        assert "errorpc" in view.text()
        assert "▸ not given to this kernel" in view.text()
        assert "with R9 0x" in line_with(view, " R8 ")
        await press(view, "slash", *"R8", "enter", "enter")
        await press(view, "z")
        assert "Memory @generic 0x" in view.text()


# Memory


async def test_address_spaces_are_chosen_and_left_again(dumped: Open, show: Any) -> None:
    async with show(await dumped("vector-add"), SMALL) as view:
        await press(view, "M", "a", "enter")
        assert "Memory @generic 0x" in view.text()
        await press(view, "at", "p")
        assert "Memory @parameter 0x210" in view.text()
        assert "e8 03 00 00 ?? ??" in line_with(view, "0x000000000228")
        assert "nothing lies there" in line_with(view, "0x000000000230")
        assert "gave up" not in view.text()
        # The first parameter is `a`: following it leads into generic memory, and back.
        await press(view, "enter")
        assert "Memory @generic 0x" in view.text()
        await press(view, "backspace")
        assert "Memory @parameter 0x210" in view.text()
        await press(view, "at", "s")
        assert "Memory @shared 0x0" in view.text()
        await press(view, "M", *"0x3f8", "enter")
        assert "Memory @shared 0x3f8" in view.text()
        assert "nothing lies there" in line_with(view, "0x000000000400")


async def test_memory_of_the_lane_is_read_again_in_another_one(dumped: Open, show: Any) -> None:
    async with show(await dumped("vector-add"), SMALL) as view:
        await press(view, "M", "a", "enter")
        await press(view, "at", "l")
        memory = view.app.ladder.active.state.machine.memory
        assert memory.whose == ("local", 0, (3, 0, 0), (232, 0, 0))
        read = dict(memory.windows)
        await view.app.ladder.jump_to(Focus.of(kernel=0, block=(3, 0, 0), thread=(240, 0, 0)))
        await rest(view)
        assert memory.whose == ("local", 0, (3, 0, 0), (240, 0, 0))
        assert memory.windows.keys() == read.keys()
        assert not any(memory.windows[at] is read[at] for at in read)
        assert "00 00 00 00 00 00 00 00" in view.text()


async def test_what_the_dump_does_not_hold_is_said_in_place_of_bytes(dumped: Open, show: Any) -> None:
    async with show(await dumped("vector-add"), SMALL) as view:
        await press(view, "M", *"0x1000", "enter")
        assert "the dump does not hold it" in line_with(view, "0x000000001000")
        await press(view, "at", "c")
        assert "the engine does not read it of this warp" in view.text()


# Code


async def test_lanes_at_instructions_and_which_one_raised_it(dumped: Open, show: Any) -> None:
    async with show(await dumped("exception-misaligned"), SMALL) as view:
        assert "Warp Misaligned Address: an address is no multiple" in " ".join(view.text().split())
        await press(view, "w", "d")
        assert "raised it here" in line_with(view, "✗   +432")
        assert "32 lanes" in line_with(view, "▶   +448")
        await press(view, "o")
        assert "bytes: the engine tells none of this code" in view.text()


async def test_lanes_of_the_whole_block_at_an_instruction(dumped: Open, show: Any) -> None:
    async with show(await dumped("hang"), SMALL) as view:
        await press(view, "w", "d")
        assert "32 lanes · 64 of the block" in line_with(view, "▶   +272")
        await press(view, "down", "down")
        assert "@P0 BRA 0x" in view.text()
        await press(view, "enter")
        assert "▸" in line_with(view, "+352")


# The kernel's card


async def test_the_card_of_a_kernel(dumped: Open, show: Any) -> None:
    async with show(await dumped("vector-add"), SMALL) as view:
        await press(view, "w", "g", "i")
        text = view.text()
        for words in (
            "grid         (4,1,1) blocks",
            "4 blocks of 256 threads, 8 warps each: 1,024 threads",
            "shared       ?",
            "registers    24 a thread",
            "stream       ?",
            "n = 1000  int",
            "number 1,000 of the grid (computed)",
            "compiled     with -G",
        ):
            assert words in text, words
        await press(view, "escape")
        assert "Variables" in view.text()


async def test_the_card_of_an_exception(dumped: Open, show: Any) -> None:
    async with show(await dumped("exception-misaligned"), SMALL) as view:
        await press(view, "w", "g", "i")
        assert "exception    Warp Misaligned Address (CUDA_EXCEPTION_6)" in view.text()
        assert "uninit.cu:11" in line_with(view, "raised at")


async def test_why_there_are_no_locals_and_what_helps(dumped: Open, show: Any) -> None:
    async with show(await dumped("triton-oob"), SMALL) as view:
        await rest(view)
        assert "compiled by Triton" in view.text()
        await press(view, "w", "g", "i")
        assert "compiled by Triton with lines only" in line_with(view, "arguments")
