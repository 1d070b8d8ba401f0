"""Registers, memory, machine code, signals, libraries and source files, asked of a real gdb."""

from __future__ import annotations

import asyncio
import itertools
import subprocess
from pathlib import Path

import pytest

from ladder_backends.debugger import CoreTarget, LaunchTarget, StepKind
from ladder_backends.errors import CommandFailed
from ladder_backends.gdb.registers import part_of
from ladder_backends.gdb.signals import cause_of
from ladder_backends.mi.records import ResultRecord
from ladder_backends.model.breakpoint import BreakpointIntent
from ladder_backends.model.events import TargetStopped


async def stop_at(watched, program, location=None, arguments=()):
    await watched.debugger.open(LaunchTarget(program, arguments=arguments))
    if location is not None:
        await watched.debugger.set_breakpoint(BreakpointIntent(1, location))
    await watched.debugger.resume(StepKind.RUN)
    return await watched.next(TargetStopped)


def noted(debugger) -> list[str]:
    """Commands that are sent from now on."""
    sent: list[str] = []
    command = debugger.command

    async def note(text: str, **options):
        sent.append(text)
        return await command(text, **options)

    debugger.command = note
    return sent


async def value_of(debugger, expression: str) -> str:
    return (await debugger.evaluate(expression)).value


# Registers


async def test_registers_come_in_the_groups_of_the_architecture(watched, compiled) -> None:
    await stop_at(watched, compiled("machine"), "twice")
    registers = watched.debugger.registers
    groups = await registers.groups()
    assert groups[0] == "general"
    assert {"float", "vector", "system"} <= set(groups)
    general = {one.name: one for one in await registers.read("general", 0)}
    assert len(general) == 18
    assert general["rip"].note.startswith("<twice+")
    assert general["eflags"].note.startswith("[ ")
    assert general["eflags"].note.endswith("IF ]")
    assert not any(one.error for one in general.values())


async def test_one_group_costs_two_questions(watched, compiled) -> None:
    await stop_at(watched, compiled("machine"), "machine.c:33")
    registers = watched.debugger.registers
    await registers.groups()
    sent = noted(watched.debugger)
    await registers.read("general", 0)
    assert len(sent) == 2
    assert len(sent[0].split(" a ")[1].split()) == 18


async def test_a_register_that_points_to_text_shows_it(watched, compiled) -> None:
    await stop_at(watched, compiled("machine"), "machine.c:33")
    registers = watched.debugger.registers
    await registers.write("rbx", "text", 0)
    noted = await registers.with_text(await registers.read("general", 0))
    assert {one.name: one.note for one in noted}["rbx"] == '"hello, machine"'


async def test_registers_in_other_formats_and_of_callers(watched, compiled) -> None:
    await stop_at(watched, compiled("machine"), "twice")
    registers = watched.debugger.registers
    await registers.write("rax", "5", 0)
    for form, text in (("binary", "101"), ("decimal", "5"), ("hex", "0x5"), ("octal", "05")):
        general = {one.name: one.value for one in await registers.read("general", 0, form)}
        assert general["rax"] == text
    caller = {one.name: one for one in await registers.read("general", 1)}
    assert caller["rip"].note.startswith("<main+")


async def test_a_vector_register_shows_one_of_its_views(watched, compiled) -> None:
    await stop_at(watched, compiled("machine"), "twice")
    registers = watched.debugger.registers
    await registers.write("xmm0.v4_float[0]", "1.5", 0)
    vector = await registers.read("vector", 0)
    wide = next(one for one in vector if one.name.endswith("mm0"))
    assert wide.value.startswith("{1.5, ")
    assert wide.note.endswith("_float")
    assert any(one.name == "mxcsr" for one in vector)


async def test_one_register_that_cannot_be_read_costs_no_other(watched, compiled) -> None:
    await stop_at(watched, compiled("machine"), "twice")
    registers = watched.debugger.registers
    await registers.groups()
    command = watched.debugger.command

    async def refusing(text: str, **options):
        # rbx is number 1: what asks for it is refused as a whole.
        if "register-values" in text and "1" in text.partition(" a ")[2].split():
            raise CommandFailed(text, "Could not fetch register rbx")
        return await command(text, **options)

    watched.debugger.command = refusing
    general = {one.name: one for one in await registers.read("general", 0)}
    assert general["rbx"].error == "Could not fetch register rbx"
    assert general["rip"].note.startswith("<twice+")
    assert [one.name for one in general.values() if one.error] == ["rbx"]


async def test_registers_of_an_architecture_of_another_machine(watched) -> None:
    await watched.debugger.start()
    try:
        await watched.debugger.cli("set architecture aarch64")
    except CommandFailed:
        pytest.skip("this gdb knows one architecture")
    registers = watched.debugger.registers
    assert await registers.groups() == ["general", "vector"]
    known = await registers._registers()
    general = [one.name for one in known if one.group == "general"]
    assert general[:2] == ["x0", "x1"]
    assert {"x30", "sp", "pc", "cpsr"} <= set(general)
    assert "w0" not in general
    assert [one.name for one in known if one.group == "vector"] == [f"v{number}" for number in range(32)]
    assert {one.name for one in known if one.flags} == {"cpsr", "fpsr", "fpcr"}


AARCH64_VECTOR = (
    "{d = {f = {1, 0}, u = {4607182418800017408, 0}, s = {4607182418800017408, 0}}, "
    "s = {f = {0, 1.875, 0, 0}, u = {0, 1072693248, 0, 0}, s = {0, 1072693248, 0, 0}}, "
    "b = {u = {0 <repeats 16 times>}, s = {0 <repeats 16 times>}}, "
    "q = {u = {4607182418800017408}, s = {4607182418800017408}}}"
)


@pytest.mark.parametrize(
    ("form", "part"),
    [
        ("natural", ("{0, 1.875, 0, 0}", "s.f")),
        ("hex", ("{4607182418800017408}", "q.u")),
        ("decimal", ("{0, 1072693248, 0, 0}", "s.s")),
    ],
)
def test_views_of_a_vector_of_aarch64(form: str, part: tuple[str, str]) -> None:
    assert part_of(AARCH64_VECTOR, form) == part


# Memory


async def test_expressions_lead_to_addresses(watched, compiled) -> None:
    await stop_at(watched, compiled("machine"), "machine.c:33")
    memory, debugger = watched.debugger.memory, watched.debugger
    for expression, same in (
        ("numbers", "&numbers"),
        ("first.next", "&last"),
        ("first", "&first"),
        ("text", "greeting"),
        ("twice", "&twice"),
        ("numbers[2]", "&numbers[2]"),
        ("$sp", "$sp"),
    ):
        expected = int((await value_of(debugger, f"(unsigned long)({same})")), 10)
        assert await memory.address_of(expression, 0) == expected, expression
    assert await memory.address_of("0x1000", 0) == 0x1000
    # Octal, as the language of the program has it.
    assert await memory.address_of("010", 0) == 8
    with pytest.raises(CommandFailed):
        await memory.address_of("9" * 5_000, 0)
    assert await memory.address_of("argc + 0x1000", 0) == 0x1001
    with pytest.raises(CommandFailed, match="No symbol"):
        await memory.address_of("nosuch", 0)


async def test_a_window_is_one_question_and_what_is_not_mapped_is_none(watched, compiled) -> None:
    await stop_at(watched, compiled("machine"), "machine.c:33")
    memory = watched.debugger.memory
    address = await memory.address_of("numbers", 0)
    sent = noted(watched.debugger)
    block = await memory.read(address, 16)
    assert bytes(block.contents) == bytes.fromhex("01000000feffffff03000000ffffff7f")
    assert len(sent) == 1
    assert (await memory.read(0x10, 8)).contents == (None,) * 8
    # The last page of the stack: its readable beginning comes, the rest is told apart.
    end = end_of_stack(await process_of(watched))
    edge = await memory.read(end - 8, 16)
    assert None not in edge.contents[:8]
    assert edge.contents[8:] == (None,) * 8
    begin = await memory.address_of("(long)&numbers & ~0xfffL", 0)
    mapped = [None not in (await memory.read(begin - 4096 * page, 16)).contents for page in range(16)]
    first = begin - 4096 * (mapped.index(False) - 1)
    edge = await memory.read(first - 8, 16)
    assert edge.contents[:8] == (None,) * 8
    assert None not in edge.contents[8:]
    assert len((await memory.read((1 << 64) - 4, 16)).contents) == 4


def end_of_stack(pid: int) -> int:
    lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    return max(int(line.split("-")[1].split()[0], 16) for line in lines if "[stack]" in line)


async def process_of(watched) -> int:
    pid = await value_of(watched.debugger, "(int)getpid()")
    return int(pid)


async def test_stored_pointers_come_with_their_symbols(watched, compiled) -> None:
    await stop_at(watched, compiled("machine"), "machine.c:33")
    memory = watched.debugger.memory
    assert (await memory.layout()).pointer == 8
    start = await memory.address_of("&first.next", 0)
    assert await memory.symbols(start, 1) == {start: "<last>"}
    code = await memory.address_of("twice", 0)
    assert await memory.symbol_at(code + 4) == "<twice+4>"
    assert await memory.symbol_at(0x10) == ""


async def test_exactly_the_bytes_given_are_written(watched, compiled) -> None:
    await stop_at(watched, compiled("machine"), "machine.c:33")
    memory = watched.debugger.memory
    address = await memory.address_of("shorts", 0)
    await memory.write(address + 1, b"\x12\x34")
    assert bytes((await memory.read(address, 4)).contents) == b"\xff\x12\x34\x02"
    with pytest.raises(CommandFailed):
        await memory.write(0x10, b"\x00")


# Code


async def test_a_function_comes_with_its_source_lines_and_bytes(watched, compiled) -> None:
    await stop_at(watched, compiled("machine"), "twice")
    code = watched.debugger.code
    here = await code.counter(0)
    assert (here.function, here.place.line) == ("twice", 22)
    around = await code.around(int(here.address, 16))
    assert (around[0].function, around[0].offset) == ("twice", 0)
    assert here in around
    assert_contiguous(around)


def assert_contiguous(instructions) -> None:
    for one, following in itertools.pairwise(instructions):
        end = int(one.address, 16) + len(one.raw.split())
        # Room before a function may be passed over, nothing is read twice.
        assert int(following.address, 16) >= end
        assert int(following.address, 16) == end or following.offset == 0
        # What fills the room before a function is not read as its beginning.
        assert following.function in (one.function, "") or following.offset <= 0


@pytest.mark.parametrize("flags", [("-O2", "-g"), ("-O2", "-s"), ("-O0",)], ids=["optimised", "stripped", "plain"])
async def test_code_goes_on_in_both_directions(watched, compiled, flags) -> None:
    await stop_at(watched, compiled("machine", *flags), None, ("crash",))
    # From the signal in the C library on to the fault in the program's own code.
    await watched.debugger.resume(StepKind.CONTINUE)
    await watched.next(TargetStopped)
    code = watched.debugger.code
    here = await code.counter(0)
    address = int(here.address, 16)
    around = list(await code.around(address))
    assert here.address in [one.address for one in around]
    for _ in range(3):
        before = list(await code.before(int(around[0].address, 16)))
        after = list(await code.after(int(around[-1].address, 16) + len(around[-1].raw.split())))
        assert before
        assert after
        around = [*before, *around, *after]
    assert_contiguous(around)
    assert here.address in [one.address for one in around]


async def test_a_disassembly_out_of_step_is_no_answer(watched) -> None:
    starts: list[int] = []

    async def answer(text: str, **options):
        """Instructions of three bytes from wherever one asks."""
        words = text.split()
        start, end = int(words[words.index("-s") + 1], 16), int(words[words.index("-e") + 1], 16)
        starts.append(start)
        rows = [{"address": f"{at:#x}", "inst": "nop", "opcodes": "0f 1f 00"} for at in range(start, end, 3)]
        return ResultRecord(1, "done", {"asm_insns": rows})

    watched.debugger.command = answer
    found = await watched.debugger.code.before(0x1000)
    # The first try ends with an instruction that reaches over the address.
    assert starts == [0xFFF, 0xE00, 0xDFF]
    assert int(found[-1].address, 16) == 0xFFD


async def test_a_counter_that_points_nowhere_is_no_error(watched, compiled) -> None:
    await stop_at(watched, compiled("machine"), "twice")
    await watched.debugger.registers.write("rip", "0x10", 0)
    code = watched.debugger.code
    assert await code.counter(0) is None
    assert await code.around(0x10) == ()
    assert await code.before(0x10) == ()
    assert await code.after(0x10) == ()


async def test_the_target_runs_to_an_address_and_goes_on_at_one(watched, compiled) -> None:
    await stop_at(watched, compiled("machine"), "twice")
    code = watched.debugger.code
    here = int((await code.counter(0)).address, 16)
    following = (await code.after(here))[2].address
    await watched.debugger.resume(StepKind.UNTIL, f"*{int(following, 16):#x}")
    stop = await watched.next(TargetStopped)
    assert int(stop.frame.address, 16) == int(following, 16)
    await watched.debugger.set_breakpoint(BreakpointIntent(2, f"*{here:#x}"))
    await watched.debugger.resume(StepKind.JUMP, f"*{here:#x}")
    stop = await watched.next(TargetStopped)
    assert int(stop.frame.address, 16) == here


# Signals


async def test_the_table_of_signals_can_be_changed(watched, compiled) -> None:
    await stop_at(watched, compiled("machine"), "machine.c:33")
    signals = watched.debugger.signals
    table = {one.name: one for one in await signals.table()}
    assert len(table) > 100
    assert (table["SIGUSR1"].stops, table["SIGINT"].passes) == (True, False)
    assert table["SIGSEGV"].description == "Segmentation fault"
    await signals.handle("SIGUSR1", stops=False, passes=False)
    changed = {one.name: one for one in await signals.table()}["SIGUSR1"]
    assert (changed.stops, changed.prints, changed.passes) == (False, True, False)
    with pytest.raises(CommandFailed):
        await signals.handle("SIGUSR1; shell true", stops=True)


async def test_the_cause_of_a_signal_is_told(watched, compiled) -> None:
    stop = await stop_at(watched, compiled("machine"), None, ("crash",))
    signals = watched.debugger.signals
    assert stop.description.startswith("SIGUSR1")
    assert f"sent by process {await process_of(watched)}" in (await signals.cause()).words
    await watched.debugger.resume(StepKind.CONTINUE)
    await watched.next(TargetStopped)
    cause = await signals.cause()
    assert (cause.number, cause.address, cause.words) == (11, 0x10, "address 0x10 is not mapped")


async def test_a_signal_can_be_dropped(watched, compiled) -> None:
    await stop_at(watched, compiled("machine"))
    await watched.debugger.set_breakpoint(BreakpointIntent(1, "machine.c:41"))
    await watched.debugger.signals.deliver("")
    await watched.debugger.resume(StepKind.CONTINUE)
    await watched.next(TargetStopped)
    assert await value_of(watched.debugger, "handled") == "0"


@pytest.mark.parametrize("text", ["", "void", "{si_signo = 0, si_code = 0}", "{si_signo = junk}"])
def test_what_is_no_cause_is_none(text: str) -> None:
    assert cause_of(text) is None


# Libraries and sources


async def test_libraries_are_listed_and_read_when_asked_for(watched, compiled) -> None:
    # What the engine needs itself, the C library and the loader, is read in any case.
    await watched.debugger.open(LaunchTarget(compiled("big_vector")))
    libraries = watched.debugger.libraries
    assert await libraries.list() == []
    assert await libraries.reads_new()
    await libraries.read_new(False)
    assert not await libraries.reads_new()
    await watched.debugger.set_breakpoint(BreakpointIntent(1, "main"))
    await watched.debugger.resume(StepKind.RUN)
    await watched.next(TargetStopped)

    async def found(name: str):
        return next(one for one in await libraries.list() if name in one.path)

    standard = await found("libstdc++")
    assert not standard.symbols
    await libraries.read_symbols(standard.path)
    standard = await found("libstdc++")
    assert standard.symbols
    assert standard.start.startswith("0x")
    assert not (await found("libm.so")).symbols
    await libraries.read_matching("libm[.]so")
    assert (await found("libm.so")).symbols


async def test_a_library_path_is_no_pattern(watched, compiled, monkeypatch) -> None:
    await stop_at(watched, compiled("machine"), "main")
    sent = noted(watched.debugger)
    await watched.debugger.libraries.read_symbols("/lib/libstdc++.so.6 (old)")
    assert "libstdc[+][+][.]so[.]6 .old.$" in sent[-1].replace("\\\\", "\\")


async def test_source_files_are_listed_once_each(watched, compiled) -> None:
    program = compiled("machine")
    await watched.debugger.open(LaunchTarget(program))
    names = await watched.debugger.source_files.names()
    assert len(names) == len(set(names))
    assert any(name.endswith("tests/programs/machine.c") for name in names)
    assert not watched.debugger.source_files.cut


# Cores


def write_core(program: Path, core: Path) -> None:
    """The core of a program that ends by a bad address, written by gdb."""
    commands = ("handle SIGUSR1 nostop noprint", "run crash", f"generate-core-file {core}", "kill")
    options = [word for text in commands for word in ("-ex", text)]
    command = ["gdb", "-nx", "-q", "-batch", *options, str(program)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


async def test_all_of_it_on_a_core(watched, compiled, tmp_path) -> None:
    program = compiled("machine")
    core = tmp_path / "core.machine"
    await asyncio.to_thread(write_core, program, core)
    debugger = watched.debugger
    await debugger.open(CoreTarget(core, program))
    general = {one.name: one for one in await debugger.registers.read("general", 0)}
    assert general["rip"].note.startswith("<main+")
    assert (await debugger.signals.cause()).address == 0x10
    here = await debugger.code.counter(0)
    assert here in await debugger.code.around(int(here.address, 16))
    address = await debugger.memory.address_of("numbers", 0)
    assert bytes((await debugger.memory.read(address, 4)).contents) == b"\x01\0\0\0"
    assert any("libc.so" in one.path for one in await debugger.libraries.list())
    with pytest.raises(CommandFailed):
        await debugger.memory.write(address, b"\0")
