"""What a session makes of registers, memory, code, signals and libraries."""

from __future__ import annotations

import asyncio

from ladder_backends.debugger import StepKind
from ladder_backends.errors import NotRecorded
from ladder_backends.session.memory import WINDOW, byte_range, bytes_before, differs, is_read
from ladder_backends.session.source_names import SourceNames
from ladder_backends.session.state import Run


def noted(told) -> list[str]:
    """Commands that are sent from now on."""
    sent: list[str] = []
    debugger = told.session.debugger
    command = debugger.command

    async def note(text: str, **options):
        sent.append(text)
        return await command(text, **options)

    debugger.command = note
    return sent


def changed(told) -> set[str]:
    return {one.name for one in told.state.machine.registers.read["general"] if one.changed}


async def test_registers_are_marked_against_the_stop_before(start, compiled) -> None:
    told = await start(compiled("machine"), "twice")
    registers = told.session.machine.registers
    await registers.look(["general"])
    assert changed(told) == set()
    await told.go(StepKind.STEP_INSTRUCTION)
    await registers.look(["general"])
    after = changed(told)
    assert "rip" in after
    assert "r15" not in after
    # A second look at one stop marks what the first one did.
    await registers.look(["general"])
    assert changed(told) == after
    # Of a stop that nobody looked at nothing is known.
    await told.go(StepKind.STEP_INSTRUCTION)
    await told.go(StepKind.STEP_INSTRUCTION)
    await registers.look(["general"])
    assert changed(told) == set()


async def test_groups_that_are_not_looked_at_are_not_asked_for(start, compiled) -> None:
    told = await start(compiled("machine"), "twice")
    await told.session.machine.registers.look(["general"])
    sent = noted(told)
    await told.session.machine.registers.look(["general"])
    assert list(told.state.machine.registers.read) == ["general"]
    assert sum("register-values" in text for text in sent) == 2


async def test_text_that_registers_point_to_is_read_when_the_target_stands(start, compiled) -> None:
    told = await start(compiled("machine"), "machine.c:33")
    await told.session.debugger.registers.write("rbx", "text", 0)
    registers, state = told.session.machine.registers, told.state.machine.registers

    def note() -> str:
        return next((one.note for one in state.read.get("general", ()) if one.name == "rbx"), "")

    await registers.look(["general"])
    assert note() == ""
    await told.until(lambda: bool(note()))
    assert note() == '"hello, machine"'
    await told.go(StepKind.NEXT_INSTRUCTION)
    sent = noted(told)
    await registers.look(["general"])
    # It is shown on without a question, while steps may come fast.
    assert "rip" in changed(told)
    assert note() == '"hello, machine"'
    assert not any("read-memory" in text for text in sent)


async def test_a_register_is_set_and_all_is_looked_at_again(start, compiled) -> None:
    told = await start(compiled("machine"), "machine.c:23")
    await told.session.machine.registers.write("rip", "&main")
    await told.session.at_rest()
    assert told.state.frames.frames[0].function == "main"
    assert told.notices()[-1] == "rip = &main"


async def test_memory_is_read_by_windows_and_marked(start, compiled) -> None:
    told = await start(compiled("machine"), "machine.c:35")
    memory, state = told.session.machine.memory, told.state.machine.memory
    address = await memory.go("numbers")
    assert (state.home, state.symbol) == (address, "<numbers>")
    sent = noted(told)
    await memory.look(address, 16)
    await memory.look(address, 16)
    assert sum("read-memory" in text for text in sent) == len(state.windows) == 1
    assert byte_range(state, address, 4) == (1, 0, 0, 0)
    assert not differs(byte_range(state, address, 16), bytes_before(state, address, 16))
    await told.go(StepKind.NEXT)
    assert not is_read(state, address, 16)
    await memory.look(address, 16)
    assert differs(byte_range(state, address + 4, 4), bytes_before(state, address + 4, 4))
    assert not differs(byte_range(state, address, 4), bytes_before(state, address, 4))


async def test_memory_at_both_ends_of_the_address_space(start, compiled) -> None:
    told = await start(compiled("machine"), "twice")
    memory, state = told.session.machine.memory, told.state.machine.memory
    for address in (0, (1 << 64) - 16):
        await memory.look(address, 64)
        assert byte_range(state, address, 4) == (None,) * 4
        assert is_read(state, address, 16)


async def test_what_is_written_is_said_exactly(start, compiled) -> None:
    told = await start(compiled("machine"), "machine.c:36")
    memory = told.session.machine.memory
    address = await memory.go("&total")
    assert await memory.write(address, b"\x2a\0\0\0")
    await told.session.at_rest()
    assert told.values()["total"] == "42"
    assert told.notices()[-1] == f"wrote 4 bytes at {address:#x}: 2a 00 00 00"
    assert not await memory.write(0x10, b"\0")
    assert told.notices()[-1].startswith("nothing was written at 0x10: ")


async def test_an_expression_without_an_address_is_one_line(start, compiled) -> None:
    told = await start(compiled("machine"), "machine.c:36")
    assert await told.session.machine.memory.go("nosuch") is None
    assert told.notices()[-1] == 'memory at nosuch: No symbol "nosuch" in current context.'


async def test_a_step_inside_the_code_that_is_held_costs_one_question(start, compiled) -> None:
    told = await start(compiled("machine"), "machine.c:33")
    told.session.show_rows(frames=3, variables=3, instructions=64)
    await told.session.load_disassembly(64)
    held = told.state.disassembly
    sent = noted(told)
    await told.go(StepKind.NEXT_INSTRUCTION)
    assert told.state.disassembly is held
    assert sum("disassemble" in text for text in sent) == 1
    counter = told.state.frames.frames[0].address
    assert counter in [one.address for one in held]


async def test_code_is_extended_and_left_and_come_back_to(start, compiled) -> None:
    told = await start(compiled("machine"), "twice")
    code = told.session.machine.code
    await told.session.load_disassembly(64)
    first = told.state.disassembly
    await code.extend(forward=True)
    await code.extend(forward=False)
    assert len(told.state.disassembly) > len(first)
    assert int(told.state.disassembly[0].address, 16) < int(first[0].address, 16)
    address = await code.go("on_signal")
    assert any(int(one.address, 16) == address for one in told.state.disassembly)
    assert await code.go("0x10") is None
    assert told.notices()[-1] == "no readable code at 0x10"


async def test_the_cause_of_a_signal_is_known_with_the_stop(start, compiled) -> None:
    told = await start(compiled("machine"), arguments=("crash",))
    signals = told.state.machine.signals
    await told.until(lambda: signals.cause is not None)
    assert signals.cause.words.startswith("sent by process ")
    await told.session.machine.signals.continue_with("")
    await told.until(lambda: told.state.run_detail.startswith("SIGSEGV"))
    await told.until(lambda: signals.cause is not None)
    assert signals.cause.words == "address 0x10 is not mapped"
    await told.session.machine.signals.continue_with("SIGSEGV")
    await told.until(lambda: told.state.run is Run.EXITED)
    assert signals.cause is None
    await told.session.machine.signals.continue_with("")
    assert told.notices()[-1] == "the target does not stand at a signal"


async def test_a_table_that_was_changed_is_read_again(start, compiled) -> None:
    told = await start(compiled("machine"), "twice")
    signals = told.session.machine.signals
    await signals.handle("SIGUSR1", stops=False)
    row = next(one for one in told.state.machine.signals.table if one.name == "SIGUSR1")
    assert not row.stops
    await told.go(StepKind.CONTINUE)
    assert told.state.run_detail.startswith("breakpoint")


async def test_nothing_is_left_of_a_program_that_ended(start, compiled) -> None:
    told = await start(compiled("machine"), "twice")
    machine, state = told.session.machine, told.state.machine
    await machine.registers.look(["general"])
    await machine.memory.go("numbers")
    await machine.memory.look(state.memory.home, WINDOW)
    await machine.signals.handle("SIGUSR1", stops=False)
    await told.session.toggle_breakpoint("twice")
    await told.go(StepKind.CONTINUE)
    assert told.state.run is Run.EXITED
    assert (state.registers.read, state.memory.windows, state.memory.before) == ({}, {}, {})
    assert machine.read_only() == "the program does not run"


async def test_what_a_recording_lacks_is_said_in_each_view(start, compiled) -> None:
    told = await start(compiled("machine"), "twice")

    async def lacking(text: str, **options):
        raise NotRecorded("not in this recording")

    told.session.debugger.command = lacking
    machine, state = told.session.machine, told.state.machine
    before = len(told.notices())
    await machine.registers.look(["general"])
    await machine.signals.look()
    await machine.libraries.look()
    await machine.memory.look(0x1000, 64)
    notes = {state.registers.note, state.signals.note, state.libraries.note, state.memory.note}
    assert notes == {"not in this recording"}
    assert len(told.notices()) == before


async def test_source_names_are_found_however_roughly() -> None:
    names = SourceNames(None)
    await names.add(
        ["/src/app/main.c", "/src/app/domain.c", "/usr/include/main.h", "/src/lib/mapped_line.c", "./a/../lib/x.c"]
    )
    await names.add(["./lib/x.c"])
    assert len(names) == 5
    found, count = await names.matching("main", 10)
    assert found == ["/src/app/main.c", "/usr/include/main.h", "/src/app/domain.c", "/src/lib/mapped_line.c"]
    assert count == 4
    assert (await names.matching("main.c", 1))[0] == ["/src/app/main.c"]
    assert (await names.matching("app dom", 10))[0] == ["/src/app/domain.c"]
    assert (await names.matching("zzz", 10)) == ([], 0)


async def test_a_list_of_sources_that_nobody_waits_for_is_given_up(start, compiled) -> None:
    told = await start(compiled("big_vector"), "main")
    names = SourceNames(told.session)
    # Work that takes the engine seconds, in place of the list of a program of gigabytes.
    command = told.session.debugger.command

    async def slow(text: str, **options):
        if "source-files" in text:
            text = "-interpreter-exec console \"python while True: gdb.execute('info signals', to_string=True)\""
        return await command(text, **options)

    told.session.debugger.command = slow
    reading = asyncio.ensure_future(names.read())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert told.session.pending()
    reading.cancel()
    # The next answer comes only when the engine is free again.
    await told.session.debugger.command("-gdb-show confirm")
    assert not names.complete
    del told.session.debugger.command
    await names.read()
    assert names.complete
    assert (await names.matching("big_vector.cpp", 3))[1] == 1
