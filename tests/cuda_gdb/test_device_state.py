"""What a lane in a real dump has: registers, memory in each address space, SASS, how its kernel was launched."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ladder_backends.cuda_gdb.memory import space_of, why_unreadable
from ladder_backends.errors import CommandFailed
from ladder_backends.model.focus import Focus
from ladder_backends.model.memory import MemoryPlace

from .conftest import Stand, dump_target

Make = Callable[[], Stand]

pytestmark = pytest.mark.cuda_gdb


async def opened(make: Make, name: str) -> Stand:
    one = make()
    await one.debugger.open(dump_target(name))
    return one


# Registers


async def test_registers_that_the_kernel_was_given_come_first(stand: Make) -> None:
    one = await opened(stand, "vector-add")
    registers = one.debugger.registers
    assert registers is not None
    assert list(await registers.groups(0)) == [
        "general", "predicates", "uniform", "uniform predicates", "special", "not given to this kernel",
    ]  # fmt: skip
    read = await registers.read("general", 0)
    assert [each.name for each in read] == ["pc", "errorpc", *(f"R{number}" for number in range(24))]
    by_name = {each.name: each for each in read}
    assert by_name["pc"].note.startswith("<vadd(")
    assert by_name["errorpc"].error == "no exception is told of this lane"
    assert (by_name["R0"].value, by_name["R0"].note) == ("0x3e8", "1000")
    # `&a[i]` is in a pair of registers.
    address = (await one.debugger.evaluate("&a[i]")).value
    assert by_name["R8"].target == address
    rest = await registers.read("not given to this kernel", 0)
    assert [rest[0].name, rest[-1].name] == ["R24", "R254"]


async def test_registers_are_the_focused_lanes_and_written_in_any_form(stand: Make) -> None:
    one = await opened(stand, "vector-add")
    registers = one.debugger.registers
    assert registers is not None
    for thread in (232, 240, 255):
        await one.debugger.switch(Focus.of(block=(3, 0, 0), thread=(thread, 0, 0)))
        read = {each.name: each.value for each in await registers.read("general", 0, "decimal")}
        assert read["R6"] == str(768 + thread)
    forms = {form: await registers.read("general", 0, form) for form in ("hex", "unsigned", "binary", "octal")}
    assert [rows[2].value for rows in forms.values()] == ["0x3e8", "1000", "1111101000", "01750"]


async def test_what_this_engine_does_not_tell_is_said_of_each_register(stand: Make) -> None:
    one = await opened(stand, "misaligned")
    registers = one.debugger.registers
    assert registers is not None
    predicates = {each.name: each for each in await registers.read("predicates", 0)}
    assert predicates["P0"].error == "this engine does not tell it"
    assert predicates["PT"].error == "always true"
    with pytest.raises(CommandFailed):
        await registers.write("R0", "1", 0)


# Memory


async def test_a_pointers_space_is_that_of_what_it_points_to(stand: Make) -> None:
    one = await opened(stand, "vector-add")
    memory = one.debugger.memory
    assert memory is not None
    a = int((await one.debugger.evaluate("a")).value, 16)
    assert await memory.place_of("a", 0) == MemoryPlace(a, "generic")
    assert await memory.place_of("a + 2", 0) == MemoryPlace(a + 8, "generic")
    assert await memory.place_of("a[2]", 0) == MemoryPlace(0, "")
    assert await memory.place_of("&a", 0) == MemoryPlace(0x210, "parameter")
    assert await memory.place_of("shared 0x40", 0) == MemoryPlace(0x40, "shared")
    assert await memory.place_of("@local 64", 0) == MemoryPlace(64, "local")
    for nowhere in ("&i", "threadIdx", "nonsense"):
        with pytest.raises(CommandFailed):
            await memory.place_of(nowhere, 0)


async def test_each_space_is_read_as_far_as_the_dump_holds_it(stand: Make) -> None:
    one = await opened(stand, "vector-add")
    memory = one.debugger.memory
    assert memory is not None
    start = await memory.start_of("parameter", 0)
    assert start == MemoryPlace(0x210, "parameter")
    block = await memory.read(0, 1_024, "parameter")
    held = [at for at, byte in enumerate(block.contents) if byte is not None]
    assert (held[0], held[-1], len(held)) == (0x210, 0x210 + 27, 28)
    assert block.why == "nothing lies there"
    words = bytes(byte for byte in block.contents if byte is not None)
    values = [(await one.debugger.evaluate(name)).value for name in ("a", "b", "c")]
    assert [int.from_bytes(words[at : at + 8], "little") for at in (0, 8, 16)] == [int(each, 16) for each in values]
    assert int.from_bytes(words[24:], "little") == 1_000
    assert None not in (await memory.read(0, 1_024, "shared")).contents
    past = await memory.read(0x3F0, 64, "shared")
    assert past.contents == (0,) * 16 + (None,) * 48
    assert None not in (await memory.read(int(values[0], 16), 4_000, "generic")).contents
    nothing = await memory.read(0, 64, "generic")
    assert (set(nothing.contents), nothing.why) == ({None}, "the dump does not hold it")
    constant = await memory.start_of("constant", 0)
    assert (await memory.read(constant.address, 64, "constant")).why == "the engine does not read it of this warp"
    # None of this is the end of the engine.
    assert one.events == [event for event in one.events if "gave up" not in str(event)]


async def test_arguments_without_names_begin_where_something_can_be_read(stand: Make) -> None:
    one = await opened(stand, "triton-oob")
    memory = one.debugger.memory
    assert memory is not None
    start = await memory.start_of("parameter", 0)
    block = await memory.read(start.address, 8, "parameter")
    assert start.address == 0x210
    assert None not in block.contents


def test_storage_in_types_and_reasons_in_words() -> None:
    assert space_of("const @generic float * @parameter") == "generic"
    assert space_of("const @generic float * @parameter *") == "parameter"
    assert space_of("@shared int (*)[256]") == "shared"
    assert space_of("@register int") == ""
    assert why_unreadable("x, error=CUDBG_ERROR_MISSING_DATA, error message=") == "the dump does not hold it"
    assert why_unreadable("error=CUDBG_ERROR_SOMETHING_NEW,") == "CUDBG_ERROR_SOMETHING_NEW"


# Code


async def test_sass_is_read_by_functions_with_its_lines(stand: Make) -> None:
    one = await opened(stand, "hang")
    code = one.debugger.code
    assert code is not None
    here = await code.counter(0)
    assert here is not None
    assert (here.function, here.offset, here.size) == ("spin(int volatile*)", 272, 16)
    around = await code.around(int(here.address, 16))
    assert around[0].offset == 0
    assert here in around
    assert {each.function for each in around} == {here.function}
    assert {each.place.line for each in around if each.place is not None} <= {1, 2, 3, 4, 5}
    # Old engines tell jumps from the function's start; here they are addresses.
    start = int(around[0].address, 16)
    jumps = [each.text for each in around if "BRA" in each.text]
    assert f"BRA {start + 0x160:#x}" in [text.removeprefix("@P0 ") for text in jumps]
    assert not await code.after(int(around[-1].address, 16) + 16)
    assert await code.before(int(here.address, 16)) == around[:17]


async def test_without_the_tools_it_is_said_which_are_missing(stand: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ladder_backends.cuda_gdb.sass.sass_tools", dict)
    one = await opened(stand, "hang")
    code = one.debugger.code
    assert code is not None
    with pytest.raises(CommandFailed, match="cuobjdump and nvdisasm not found; pip install nvidia-cuda-cuobjdump"):
        await code.counter(0)


# Launches


async def test_how_a_kernel_was_launched(stand: Make) -> None:
    one = await opened(stand, "vector-add")
    launches = one.debugger.kernel_launches
    assert launches is not None
    launch = await launches.describe()
    assert launch is not None
    assert (launch.kernel.grid_dim, launch.kernel.block_dim, launch.registers) == ((4, 1, 1), (256, 1, 1), 24)
    assert [(each.name, each.type) for each in launch.arguments] == [
        ("a", "const float *"), ("b", "const float *"), ("c", "float *"), ("n", "int"),
    ]  # fmt: skip
    # The driver's tools write no such thing into a sanitizer's dump.
    assert (launch.error_counter, launch.exception, launch.shared) == ("", None, None)
    assert (launch.debug, launch.build) == ("full", "")


async def test_which_instruction_raised_an_exception_and_what_it_means(stand: Make) -> None:
    one = await opened(stand, "exception-misaligned")
    launches, code = one.debugger.kernel_launches, one.debugger.code
    assert launches is not None
    assert code is not None
    launch = await launches.describe()
    here = await code.counter(0)
    assert launch is not None
    assert launch.exception is not None
    assert here is not None
    assert (launch.exception.number, launch.exception.exact) == (6, "warp")
    assert "multiple of the size" in launch.exception.meaning
    assert int(launch.error_counter, 16) == int(here.address, 16) - 16
    assert launch.error_counter == await launches.error_counter()
    assert launch.error_place is not None
    assert launch.error_place.line == 11
