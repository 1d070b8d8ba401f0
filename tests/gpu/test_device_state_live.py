"""What a lane on hardware has: registers, memory in each address space, SASS, its kernel's launch, its exception.

Times are printed beside those of the raw commands.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ladder_backends.cuda_gdb import CudaGdbDebugger
from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.model.breakpoint import BreakpointIntent
from ladder_backends.model.focus import Focus
from ladder_backends.session.debug_session import DebugSession
from ladder_backends.session.state import Run

Build = Callable[..., Path]
LIMIT = 30.0


class Live:
    """A session on a real cuda-gdb."""

    def __init__(self) -> None:
        self.session = DebugSession(CudaGdbDebugger())
        self.times: list[str] = []

    @property
    def debugger(self) -> CudaGdbDebugger:
        debugger = self.session.debugger
        assert isinstance(debugger, CudaGdbDebugger)
        return debugger

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.times.append(f"{what}: {(time.perf_counter() - began) * 1e3:.1f} ms")

    async def stand(self, program: Path, *places: str, arguments: tuple[str, ...] = ()) -> None:
        """Run to a place in a kernel, or to its exception."""
        await self.session.open(LaunchTarget(program, arguments), run=False)
        for number, place in enumerate(places, 1):
            await self.debugger.set_breakpoint(BreakpointIntent(number, place))
        async with asyncio.timeout(LIMIT):
            await self.session.resume(StepKind.RUN)
            await self.session.at_rest()
        state = self.session.state
        assert state.run is Run.STOPPED, [one.text for one in state.notices]
        assert state.focus is not None
        assert "block" in state.focus, (state.run_detail, state.focus)

    async def raw(self, command: str) -> None:
        with self.timed(f"raw {command[:60]}"):
            await self.debugger.command(command)

    async def bytes_at(self, expression: str, count: int) -> tuple[str, list[int | None]]:
        memory = self.debugger.memory
        assert memory is not None
        place = await memory.place_of(expression, 0)
        with self.timed(f"{count} bytes of {place.space or 'generic'} memory"):
            block = await memory.read(place.address, count, place.space)
        print(expression, place, block.why)
        return place.space, list(block.contents)


@pytest.fixture
async def live(request: pytest.FixtureRequest) -> AsyncIterator[Live]:
    one = Live()
    yield one
    print(f"\n--- {request.node.name}")
    print("\n".join([*one.times, *(each.text for each in one.session.state.notices)]))
    await one.session.close()


def number(contents: list[int | None], at: int = 0, size: int = 4) -> int:
    assert None not in contents[at : at + size], contents[:64]
    return int.from_bytes(bytes(byte or 0 for byte in contents[at : at + size]), "little")


# -- registers


async def test_registers_by_groups_and_the_first_ones_are_those_of_the_kernel(
    live: Live, cuda_program: Build
) -> None:
    await live.stand(cuda_program("vector_add_oob"), "vector_add_oob.cu:10")
    registers = live.debugger.registers
    assert registers is not None
    with live.timed("groups, first"):
        groups = list(await registers.groups(0))
    assert groups[0] == "general"
    assert {"predicates", "uniform", "special"} <= set(groups), groups
    with live.timed("general registers"):
        general = await registers.read("general", 0)
    with live.timed("general registers again"):
        general = await registers.read("general", 0)
    await live.raw("-data-list-register-values x")
    names = [one.name for one in general]
    print(names, [(one.name, one.value, one.note, one.error) for one in general[:8]])
    assert names[:3] == ["pc", "errorpc", "R0"]
    assert len(names) < 200, "all registers rather than those of the kernel"
    assert "not given to this kernel" in groups
    assert general[0].note.startswith("<vadd")
    predicates = {one.name: one for one in await registers.read("predicates", 0)}
    assert predicates["PT"].value == "1" or predicates["PT"].error == "always true"
    assert predicates["P0"].value in ("0", "1")


# -- memory


async def test_shared_memory_of_the_block(live: Live, cuda_program: Build) -> None:
    await live.stand(cuda_program("shared_race"), "shared_race.cu:7")
    memory, focus = live.debugger.memory, live.session.state.focus
    assert memory is not None
    assert focus is not None
    space, contents = await live.bytes_at("s", 1_024)
    assert space == "shared"
    thread = focus.dim3("thread")
    assert thread is not None
    first = thread[0] // 32 * 32
    # The focused warp has written its part.
    assert number(contents, 4 * first) == 0x01010101
    assert (await live.bytes_at("&s[3]", 4))[0] == "shared"
    size = await memory.size_of("shared")
    assert size is not None
    assert size >= 1_024
    await live.raw('-interpreter-exec console "x/128xg (@shared char*)0"')
    place = await memory.place_of("&s[0]", 0)
    await memory.write(place.address, b"\x07", place.space)
    assert (await live.bytes_at("&s[0]", 1))[1] == [7]
    start = await memory.start_of("local", 0)
    local = await memory.read(start.address, 16, "local")
    print("local", start, local)
    past = await memory.read(1 << 20, 64, "shared")
    assert set(past.contents) == {None}
    assert past.why


async def test_constants_and_parameters(live: Live, cuda_program: Build) -> None:
    await live.stand(cuda_program("divergent_grid"), "divergent_grid.cu:24", arguments=("64", "16"))
    space, contents = await live.bytes_at("&rounds", 8)
    print("constant", space, contents)
    assert (number(contents), number(contents, 4)) == (4, 64)
    assert (await live.bytes_at("&row[0]", 128))[0] == "shared"
    memory = live.debugger.memory
    assert memory is not None
    start = await memory.start_of("parameter", 0)
    parameters = await memory.read(start.address, 16, "parameter")
    print("parameter", start, parameters)
    space, out = await live.bytes_at("out", 64)
    assert space in ("generic", "global")
    assert None not in out
    nowhere = await memory.read(0x10, 64, "global")
    print("global 0x10", nowhere)
    await live.raw("-data-read-memory-bytes out 64")


# -- code


async def test_sass_with_its_lines(live: Live, cuda_program: Build) -> None:
    await live.stand(cuda_program("vector_add_oob"), "vector_add_oob.cu:10")
    code = live.debugger.code
    assert code is not None
    with live.timed("where it stands, the first disassembly"):
        here = await code.counter(0)
    with live.timed("where it stands, again"):
        again = await code.counter(0)
    assert here is not None
    assert again == here
    with live.timed("its function"):
        around = await code.around(int(here.address, 16))
    await live.raw("-data-disassemble -a $pc -- 4")
    assert here in around
    assert around[0].offset == 0
    assert {one.place.line for one in around if one.place is not None} >= {9, 10}
    assert {one.size for one in around} == {16}


# -- launches and exceptions


async def test_how_it_was_launched(live: Live, cuda_program: Build) -> None:
    await live.stand(cuda_program("vector_add_oob"), "vector_add_oob.cu:10")
    launches = live.debugger.kernel_launches
    assert launches is not None
    with live.timed("all of a launch"):
        launch = await launches.describe()
    print(launch)
    assert launch is not None
    assert (launch.kernel.grid_dim, launch.kernel.block_dim) == ((4, 1, 1), (256, 1, 1))
    assert [one.name for one in launch.arguments] == ["a", "b", "c", "n"]
    assert launch.registers
    assert launch.shared is not None
    assert launch.exception is None
    assert launch.error_counter == ""


@pytest.mark.parametrize(("name", "number_of"), [("misaligned", 6), ("illegal_address", 14)])
async def test_what_an_exception_means_and_where_it_was_raised(
    live: Live, cuda_program: Build, name: str, number_of: int
) -> None:
    await live.stand(cuda_program(name))
    launches, state = live.debugger.kernel_launches, live.session.state
    assert launches is not None
    launch = await launches.describe()
    print(state.run_detail, launch)
    assert launch is not None
    assert launch.exception is not None
    assert launch.exception.number == number_of
    assert launch.error_counter
    assert any(launch.exception.name in one.text and "—" in one.text for one in state.notices)


# -- values


async def test_values_follow_the_lane_and_going_there_is_no_change(live: Live, cuda_program: Build) -> None:
    await live.stand(cuda_program("vector_add_oob"), "vector_add_oob.cu:10")
    session = live.session
    session.show_rows(frames=5, variables=10, grid=True)
    session.values.show(0, 20)
    await session.values.watch("i + 1")
    focus = session.state.focus
    assert focus is not None
    block, kernel = focus["block"], focus["kernel"]
    assert isinstance(block, tuple)
    seen = []
    for thread in (33, 40, 33):
        with live.timed(f"to thread {thread}, with a watch"):
            await session.switch(Focus.of(kernel=kernel, block=block, thread=(thread, 0, 0)))
            await session.at_rest()
        await session.values.look_again()
        values = {one.name: one for one in session.state.variables.variables}
        watched = session.state.values.watches["i + 1"]
        seen.append((values["i"].value, watched.value))
        assert not values["i"].changed
        assert not watched.changed
    base = block[0] * 256
    assert seen == [(str(base + at), str(base + at + 1)) for at in (33, 40, 33)]
    values_of = live.debugger.values
    assert values_of is not None
    values_of.storage = True
    window = await live.debugger.variables(0, 10)
    assert any("@register" in one.type or "@parameter" in one.type for one in window.variables), window
