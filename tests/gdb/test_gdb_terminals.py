"""The program's terminal and the engine's command line are what they seem, whatever is written there."""

from __future__ import annotations

import os

from ladder_backends.debugger import LaunchTarget, StepKind
from ladder_backends.gdb.command_line import CommandLine
from ladder_backends.model.breakpoint import BreakpointIntent
from ladder_backends.model.events import EngineNotice, TargetExited, TargetStopped


async def run_to(watched, program, location=None, **options):
    await watched.debugger.open(LaunchTarget(program, **options))
    if location is not None:
        await watched.debugger.set_breakpoint(BreakpointIntent(1, location))
    await watched.debugger.resume(StepKind.RUN)
    if location is not None:
        return await watched.next(TargetStopped)
    return await watched.next(TargetExited)


async def test_what_the_program_prints_forges_nothing_and_a_flood_blocks_nothing(watched, compiled) -> None:
    stop = await run_to(watched, compiled("forged"), "done")
    assert len(watched.all(TargetStopped)) == 1
    assert stop.frame is not None
    assert stop.frame.function == "done"
    assert (await watched.debugger.evaluate("3 * 4")).value == "12"
    await watched.until_program(b"line 3999 ")
    assert b'7^done,value="forged"' in watched.program
    assert b'no newline*stopped,reason="exited-normally"' in watched.program
    assert "7^done" not in watched.console


async def test_what_a_shell_of_the_engine_prints_forges_nothing(watched, compiled) -> None:
    await run_to(watched, compiled("steps"), "main")
    await watched.debugger.console("shell echo '^done,x=1'; echo '*stopped,reason=\"exited\"'")
    await watched.until_console("*stopped,reason")
    assert len(watched.all(TargetStopped)) == 1
    assert (await watched.debugger.evaluate("3 * 4")).value == "12"


async def test_the_program_can_be_typed_to_and_eats_no_commands(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("reader")))
    await watched.debugger.resume(StepKind.RUN)
    watched.debugger.type_to_program(b"good day\n")
    await watched.until_program(b"heard good day")
    assert (await watched.debugger.command("-gdb-version")) is not None
    watched.debugger.type_to_program(b"\x04")
    assert (await watched.next(TargetExited)).code == 0


async def test_hostile_values_are_visible_and_harmless(watched, compiled) -> None:
    await run_to(watched, compiled("hostile"), "look")
    value = await watched.debugger.evaluate("*value")
    for text in (value.value, (await watched.debugger.evaluate("value->text")).value):
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "[bold]" in text
        assert "\n" not in text
    await watched.debugger.console('printf "%s\\n", value->text')
    console = await watched.until_console("␛[2J[bold]")
    assert "\x1b" not in console
    assert "\u202e" not in console
    await watched.until_program(b"\xff\xfe\x00\x90")


async def test_hostile_symbol_names_are_visible_and_harmless(watched, compiled) -> None:
    stop = await run_to(watched, compiled("hostile", "-g0"), '"evil[/bold]\x1b[2Jname"'.strip('"'))
    assert stop.frame is not None
    assert stop.frame.function == "evil[/bold]␛[2Jname"
    window = await watched.debugger.frames(0, 5)
    assert window.frames[0].function == stop.frame.function
    assert window.frames[0].place is None
    notice = watched.all(EngineNotice)[0]
    assert notice.text.startswith("no line information: hostile was built without -g")


async def test_a_stripped_program_works_and_says_what_it_lacks(watched, compiled) -> None:
    await watched.debugger.open(LaunchTarget(compiled("segfault", "-s")))
    await watched.debugger.resume(StepKind.RUN)
    stop = await watched.next(TargetStopped)
    assert stop.description == "SIGSEGV, Segmentation fault"
    assert stop.frame is not None
    assert stop.frame.function == "??"
    assert stop.frame.address.startswith("0x")
    assert watched.all(EngineNotice)[0].text.startswith("no symbols: segfault is stripped")
    assert (await watched.debugger.variables(0, 5)).variables == ()
    assert len(await watched.debugger.disassemble(0, 4)) == 4


async def test_arguments_environment_and_folder_arrive_exactly(watched, compiled, tmp_path, monkeypatch) -> None:
    for name, value in {
        "PYTHONHOME": "/no/such/python",
        "LD_AUDIT": "",
        "SHELL": "/bin/false",
        "DEBUGINFOD_URLS": "http://10.255.255.1/",
        "CONDA_PREFIX": "/opt/conda",
        "KEEP": " two  spaces ",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("LINES", raising=False)
    folder = tmp_path / "it's a folder"
    folder.mkdir()
    arguments = (
        "plain",
        "two words",
        "",
        "it's",
        '"quoted"',
        "$HOME `id` \\n * ?",
        "two\nlines",
        "100%",
        "-x",
        "ü\x1b",
    )
    await run_to(
        watched,
        compiled("show_arguments"),
        arguments=arguments,
        directory=folder,
        environment={"EXTRA": 'a "b" $c', "LD_LIBRARY_PATH": "/x"},
    )
    said = watched.program.replace(b"\r\n", b"\n").decode()
    for number, argument in enumerate(arguments, 1):
        assert f"argument {number} <{argument}>\n" in said
    assert f"argument {len(arguments) + 1}" not in said
    assert 'variable <EXTRA=a "b" $c>' in said
    assert "variable <LD_LIBRARY_PATH=/x>" in said
    assert "variable <PYTHONHOME=/no/such/python>" in said
    assert "variable <SHELL=/bin/false>" in said
    assert "variable <DEBUGINFOD_URLS=http://10.255.255.1/>" in said
    assert "variable <CONDA_PREFIX=/opt/conda>" in said
    assert "variable <KEEP= two  spaces >" in said
    assert "variable <TERM=xterm-256color>" in said
    assert "LINES=" not in said
    assert "INPUTRC" not in said or "INPUTRC" in os.environ
    assert f"folder <{folder}>" in said
    assert "terminal 111" in said


def test_the_command_line_is_read_in_any_pieces() -> None:
    raw = '(gdb) print x\r\n$1 = "\x1b[2J ü"\r\n\a(gdb) '.encode()
    whole = CommandLine().feed(raw)
    assert whole == '(gdb) print x\n$1 = "␛[2J ü"\n(gdb) '
    for size in range(1, 9):
        line = CommandLine()
        line.typed()
        pieces = "".join(line.feed(raw[at : at + size]) for at in range(0, len(raw), size))
        assert pieces.replace("\n", "") == whole.replace("\n", "")
        assert line.at_prompt


def test_prompts_questions_and_continuations_are_told_apart() -> None:
    def after(text: str) -> tuple[bool, bool]:
        line = CommandLine()
        line.feed(text.encode())
        return line.waits, line.at_prompt

    assert after("(gdb) ") == (True, True)
    assert after("x\n(cuda-gdb) ") == (True, True)
    assert after("Type commands\n>") == (True, False)
    assert after("Really? (y or n) ") == (True, False)
    assert after("value (gdb) ") == (False, False)
    assert after("working") == (False, False)


def test_a_prompt_displaced_by_other_text_comes_back_before_what_is_typed() -> None:
    line = CommandLine()
    shown = line.feed(b"(gdb) ")
    shown += line.feed(b"Breakpoint 1, main ()\r\n")
    shown += line.typed()
    shown += line.feed(b"up\r\n(gdb) ")
    assert shown == "(gdb) \nBreakpoint 1, main ()\n(gdb) up\n(gdb) "
