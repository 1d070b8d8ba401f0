"""Registers and memory of a lane as cuda-gdb 13.0 tells them on an H200; a stand-in repeats its answers."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.cuda_gdb.memory import CudaMemory
from ladder_backends.cuda_gdb.registers import CudaRegisters
from ladder_backends.cuda_gdb.standing import Standing
from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.errors import CommandFailed
from ladder_backends.mi.records import ResultRecord
from ladder_backends.model.focus import Focus
from ladder_backends.session.debug_session import DebugSession

from .stand_in import StandIn

NAMES = [
    "pc", "errorpc", *(f"R{n}" for n in range(255)), "RZ", *(f"P{n}" for n in range(7)), "PT",
    *(f"UR{n}" for n in range(63)), "URZ", *(f"UP{n}" for n in range(7)), "UPT", "CC",
]  # fmt: skip
GIVEN = [0x3E8, 0xFFFDC0, 0xD3E02000, 0x7FFD, 0xD3E01000, 0x7FFD, 0x3F0, 0x7FFD, 0xD3E00000, 0xF0, *[0] * 6]
LANE = Focus.of(kernel=0, block=(3, 0, 0), thread=(240, 0, 0), device=0)


class Host:
    thread = 1


class Engine:
    """Answers as the engine did, and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.allocated = "16"
        self.by_bytes = True

    async def command(self, text: str, *, deadline: float | None = 10.0) -> ResultRecord:
        self.asked.append(text)
        return ResultRecord(None, "done", self._answer(text))

    def _answer(self, text: str) -> dict[str, Any]:
        if text == "-data-list-register-names":
            return {"register-names": list(NAMES)}
        if "$cuda_num_registers_allocated" in text:
            return {"value": self.allocated}
        if text.startswith("-data-list-register-values"):
            _, letter, *numbers = text.split()
            return {"register-values": [{"number": n, "value": self._value(letter, int(n))} for n in numbers]}
        if text.startswith("-data-read-memory-bytes"):
            _, address, count = text.split()
            if not self.by_bytes or not 0x7FFDD3E00000 <= int(address, 16) < 0x7FFDD3E01000:
                raise CommandFailed(text, "Unable to read memory.")
            return {"memory": [{"begin": address, "contents": "5a" * int(count)}]}
        raise CommandFailed(text, f"Undefined: {text}")

    def _value(self, letter: str, number: int) -> str:
        name = NAMES[number]
        if name == "errorpc":
            return "<unavailable>"
        if name == "pc":
            return "0x7ffddb7a1770" + (" <vadd(float const*, int)+624>" if letter == "a" else "")
        if name in ("PT", "UPT"):
            return "0x1"
        return f"{GIVEN[number - 2]:#x}" if 0 <= number - 2 < len(GIVEN) else "0x0"

    async def cli_text(self, text: str, *, deadline: float | None = 10.0) -> str:
        self.asked.append(text)
        match = re.fullmatch(r"x/(\d+)x([gwb]) \(@(\w+) char\*\)0x([0-9a-f]+)", text)
        if match is None:
            raise CommandFailed(text, f"Undefined: {text}")
        size, address = {"g": 8, "w": 4, "b": 1}[match[2]], int(match[4], 16)
        end = {"shared": 1_024, "generic": 0}.get(match[3], 0)
        if match[3] == "generic" and not self.by_bytes:
            end = 1 << 48
        rows: list[str] = []
        for number in range(int(match[1])):
            at = address + number * size
            if at + size > end:
                what = f"failed to read {match[3]} memory at address {at:#x} size {size}"
                code = "error=CUDBG_ERROR_INVALID_MEMORY_ACCESS, error message="
                raise CommandFailed(text, f"Error: read_{match[3]}_memory(0, 126, 7): {what}, {code}")
            head = f"{at:#x} <_Z4vaddPKfS0_Pfi+{at}>:" if number % 2 == 0 else ""
            rows.append(f"{head}\t0x{at & 0xFF:0{2 * size}x}" + ("\n" if number % 2 else ""))
        return "".join(rows) + "\n"

    async def at_frame(self, level: int) -> str:
        return ""

    @asynccontextmanager
    async def keeping_lane(self) -> AsyncIterator[None]:
        yield


@pytest.fixture
def engine() -> Engine:
    return Engine()


def standing(engine: Any) -> Standing:
    where = Standing(engine, Host())
    where.focus, where.live = LANE, True
    return where


async def test_its_names_are_grouped_and_the_kernels_own_come_first(engine: Any) -> None:
    registers = CudaRegisters(engine, standing(engine), lambda focus: 0, lambda level: True)
    groups = await registers.groups(0)
    general = await registers.read("general", 0)
    assert [one.name for one in general] == ["pc", "errorpc", *(f"R{n}" for n in range(16))]
    assert general[0].note == "<vadd(float const*, int)+624>"
    assert general[1].error == "no exception is told of this lane"
    assert general[4].target == "0x7ffdd3e02000"
    counts = {name: len(await registers.read(name, 0)) for name in groups}
    assert counts == {
        "general": 18, "predicates": 8, "uniform": 63, "uniform predicates": 8, "special": 3,
        "not given to this kernel": 239,
    }  # fmt: skip
    assert [(one.name, one.value, one.note) for one in await registers.read("predicates", 0)][-1] == (
        "PT", "1", "true",
    )  # fmt: skip
    assert engine.asked.count("-data-list-register-names") == 1


@pytest.mark.parametrize("told", ["void", "0", "<error: CUDA focus is required to print this value.>"])
async def test_all_are_general_where_their_number_is_not_told(engine: Any, told: str) -> None:
    engine.allocated = told
    registers = CudaRegisters(engine, standing(engine), lambda focus: 0, lambda level: True)
    assert "not given to this kernel" not in await registers.groups(0)
    assert len(await registers.read("general", 0)) == 257


async def test_registers_of_a_frame_of_the_host_are_not_a_lanes(engine: Any) -> None:
    registers = CudaRegisters(engine, standing(engine), lambda focus: 0, lambda level: level == 0)
    with pytest.raises(CommandFailed, match="a frame of the host"):
        await registers.groups(1)
    assert engine.asked == []


async def test_generic_memory_takes_the_short_way_where_it_leads_there(engine: Any) -> None:
    memory = CudaMemory(engine, standing(engine), lambda level: True)
    block = await memory.read(0x7FFDD3E00000, 64)
    assert block.contents == (0x5A,) * 64
    assert engine.asked == ["-data-read-memory-bytes 0x7ffdd3e00000 64"]
    engine.asked.clear()
    # Elsewhere nothing lies, and that is known without asking in another way.
    assert set((await memory.read(0x1000, 64)).contents) == {None}
    assert all(each.startswith("-data-read") for each in engine.asked)


async def test_generic_memory_takes_the_long_way_where_the_short_one_does_not(engine: Any) -> None:
    engine.by_bytes = False
    memory = CudaMemory(engine, standing(engine), lambda level: True)
    assert (await memory.read(0x7FFDD3E00000, 16)).contents[:9] == (0, *[0] * 7, 8)
    engine.asked.clear()
    await memory.read(0x7FFDD3E00010, 16)
    assert [each.split(" ")[0] for each in engine.asked] == ["x/2xg"]


async def test_shared_memory_ends_where_it_ends(engine: Any) -> None:
    memory = CudaMemory(engine, standing(engine), lambda level: True)
    block = await memory.read(1_000, 64, "shared")
    assert [at for at, byte in enumerate(block.contents) if byte is None] == list(range(24, 64))
    assert block.why == "nothing lies there"
    # Symbols of the host that happen to have such addresses are none of its.
    assert (await memory.read(0, 16, "shared")).contents[8] == 8


async def test_a_kernel_without_debug_information_has_no_addresses_of_names(engine: Any) -> None:
    memory = CudaMemory(engine, standing(engine), lambda level: True)
    with pytest.raises(CommandFailed, match="Undefined"):
        await memory.place_of("a", 0)


@pytest.mark.parametrize(
    ("story", "meaning"),
    [
        ("live-misaligned", "Warp Misaligned Address: an address is no multiple"),
        ("live-illegal", "Warp Illegal Address: a lane of the warp used an address that is none of its"),
        ("live-assert", "Warp Assert: a lane's assert() failed"),
    ],
)
async def test_a_stop_at_an_exception_is_explained(story: str, meaning: str, compiled: Any) -> None:
    session = DebugSession(CudaGdbDebugger(StandIn(story)))
    try:
        await session.open(LaunchTarget(compiled("steps")), run=False)
        async with asyncio.timeout(5):
            await session.resume(StepKind.RUN)
            await session.at_rest()
        told = [one.text for one in session.state.notices if one.text.startswith(meaning)]
        assert len(told) == 1, [one.text for one in session.state.notices]
        assert " — " in told[0]
    finally:
        await session.close()
