"""From words to a command. Imports nothing that the command at hand does not need."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any

from ladder_backends.rungs import debugger_list
from ladder_backends.text import clean_line
from ladder_tui.cli.commands import COMMANDS, LATER, Command
from ladder_tui.cli.words import split_options


def dispatch(words: list[str]) -> int:
    """Run the command that the words name; a program's name stands for `run PROGRAM`."""
    split = split_options(words)
    asks_help = "-h" in split.options or "--help" in split.options
    if asks_help and (not split.rest or split.rest[0] not in COMMANDS):
        return _show_help()
    if "--version" in split.options:
        return _show_version()
    first = split.rest[0] if split.rest and not split.dashes else ""
    if first in COMMANDS:
        return _run(COMMANDS[first], [*split.options, *split.rest[1:]])
    if first in LATER:
        return _not_yet(first)
    if first == "help":
        return _show_help() if len(split.rest) < 2 else dispatch([*split.rest[1:], "--help"])
    if not split.rest:
        return _run(Command("", "", "open the start screen", "ladder_tui.cli.start"), split.options)
    if first and (meant := _command_like(first)):
        from ladder_tui.cli.parser import UsageError

        raise UsageError(f"cannot run {clean_line(first)}", "there is no such file", f"did you mean {meant}?")
    return _run(COMMANDS["run"], words)


def _command_like(word: str) -> str:
    """The command that a word was meant to be; empty for a program, and for what is like none."""
    import shutil
    from pathlib import Path

    if "/" in word or Path(word).exists() or shutil.which(word) is not None:
        return ""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, COMMANDS, 1, 0.7)), "")


def _run(command: Command, words: list[str]) -> int:
    module = import_module(command.module)
    program: list[str] = []
    if command.program:
        split = split_options(words)
        words, program = split.options, split.rest
    arguments = _no_options(module) if not words else None
    if arguments is None:
        from ladder_tui.cli.option_parser import Parser

        parser = Parser(command.name, command.summary, command.usage)
        module.configure(parser)
        arguments = parser.parse_args(words)
    arguments.program = program
    return int(module.run(arguments))


def _no_options(module: ModuleType) -> Any:
    """What a command without options and other words means; None where that is for the parser to say."""
    from ladder_tui.cli.parser import Defaults

    defaults = Defaults()
    module.configure(defaults)
    return SimpleNamespace(**defaults.values) if defaults.suffices else None


def _show_version() -> int:
    from ladder_tui import __version__

    sys.stdout.write(f"ladder-tui {__version__}\n")
    return 0


def _not_yet(name: str) -> int:
    from ladder_backends.errors import LadderError

    raise LadderError(
        f"{name} is not in this version",
        f"it will {LATER[name]}",
        f"to debug a program of that name: ladder-tui run -- ./{name}",
    )


def _show_help() -> int:
    width = max(len(f"{command.name} {command.usage}") for command in COMMANDS.values() if len(command.usage) < 24)
    lines = [
        "usage: ladder-tui [OPTIONS] PROGRAM [ARGS...]",
        "       ladder-tui COMMAND [OPTIONS] ...",
        "       ladder-tui",
        "",
        "A debugging console for the failures below the framework: from a sanitizer",
        "finding into its GPU lane, and gdb on a crash. Without arguments it opens the",
        "start screen.",
        "",
        "commands:",
    ]
    for command in COMMANDS.values():
        head = f"{command.name} {command.usage}"
        if len(head) > width:
            lines += [f"  {head}", f"  {'':{width}}  {command.summary}"]
        else:
            lines.append(f"  {head:{width}}  {command.summary}")
    lines += [
        "",
        "options of a program, before its name:",
        f"  {'--stop-at-main':{width}}  stop at the first line of main",
        f"  {'--non-stop':{width}}  threads stop one by one, the others run on",
        f"  {'--cwd DIR':{width}}  its working folder",
        f"  {'--env NAME=VALUE':{width}}  a variable for it; may be repeated",
        f"  {'--stdin FILE':{width}}  what it reads instead of its terminal",
        f"  {'--follow-fork SIDE':{width}}  parent, child, or both, where it forks",
        f"  {'--rung NAME':{width}}  {debugger_list()}, instead of by the program",
        "",
        "options:",
        f"  {'--json':{width}}  print JSON for machines; opens no screen",
        f"  {'--tui':{width}}  open the screen for a command that prints",
        f"  {'--record FILE':{width}}  record the engine's streams",
        f"  {'--theme NAME':{width}}  dark, light, or a theme of your own",
        f"  {'--version, --help':{width}}  and COMMAND --help",
        "",
        "exit codes: 0 fine, 1 something was found, 2 could not run (standard error",
        "says why)",
        f"not in this version: {', '.join(LATER)}",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0
