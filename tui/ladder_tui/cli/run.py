"""`run`: debug a program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ladder_backends.rungs import OURS, debugger_list
from ladder_backends.text import clean_line
from ladder_tui.cli.output import headless
from ladder_tui.cli.parser import UsageError, add_json, add_record, add_screen

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    """Options of `run`; they come before PROGRAM."""
    parser.add_argument("--rung", metavar="NAME", help=f"{debugger_list()}; chosen by the program if left out")
    parser.add_argument(
        "--stop-at-main", action="store_true", help="stop at the first line of main instead of running on"
    )
    parser.add_argument(
        "--non-stop",
        action="store_true",
        help="let threads stop one by one, the others run on",
    )
    parser.add_argument(
        "--follow-fork",
        choices=("parent", "child", "both"),
        help="what to follow where the program forks; both holds parent and child",
    )
    parser.add_argument("--cwd", metavar="DIR", type=Path, help="the program's working folder")
    parser.add_argument(
        "--env",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a variable for the program; may be repeated",
    )
    parser.add_argument("--stdin", metavar="FILE", type=Path, help="what the program reads instead of its terminal")
    add_json(parser)
    add_record(parser)
    add_screen(parser)
    parser.epilog = (
        "Options come before PROGRAM. `run -- ./ranks` debugs a program that is called like a command. On the"
        " screen, E changes arguments, environment, folder and input from the next start on."
    )


def run(arguments: Namespace) -> int:
    """Open the screen on the program, or run it to its end or first fault and print what is there."""
    from ladder_backends.debugger.target import LaunchTarget
    from ladder_backends.model.launch import ForkMode

    if not arguments.program:
        raise UsageError("run", "no program was named", "ladder-tui run PROGRAM [ARGS...]")
    if arguments.rung is not None:
        refuse_debugger(arguments.rung)
    program, *words = arguments.program
    target = LaunchTarget(
        program=find_program(program),
        arguments=tuple(words),
        stop_at_main=arguments.stop_at_main,
        non_stop=arguments.non_stop,
        fork=ForkMode[arguments.follow_fork.upper()] if arguments.follow_fork else None,
        directory=arguments.cwd.absolute() if arguments.cwd is not None else None,
        environment=read_variables(arguments.env),
        stdin=arguments.stdin.absolute() if arguments.stdin is not None else None,
    )
    refuse_program(target.program)
    if not headless(json_wanted=arguments.json):
        from ladder_tui.cli.screen import show
        from ladder_tui.opening import Opening

        opening = Opening(target=target, debugger=arguments.rung, record=arguments.record)
        return show(opening, theme=arguments.theme)
    from ladder_tui.cli.session_run import run_to_the_end, show_json, show_text

    tell = show_json if arguments.json else show_text
    return run_to_the_end(target, tell, debugger=arguments.rung, record=arguments.record)


def read_variables(words: Sequence[str]) -> dict[str, str]:
    """What `--env` was given, exactly.

    Raises:
        UsageError: A word is not `NAME=value`.
    """
    variables: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not name or not equals:
            raise UsageError("run", f"--env {clean_line(word)} is not NAME=VALUE", "write --env NAME=VALUE")
        variables[name] = value
    return variables


def refuse_debugger(name: str) -> None:
    """Say that nothing is called so; debuggers of other packages are looked for only where it is none of ours.

    Raises:
        UsageError: No debugger has that name.
    """
    if any(name == rung.debugger for rung in OURS):
        return
    from ladder_backends.debugger.registry import debugger_names

    known = debugger_names()
    if name not in known:
        raise UsageError("run", f"--rung {clean_line(name)} is no debugger", f"write one of {', '.join(known)}")


def refuse_program(program: Path) -> None:
    """Say what can be said without an engine, before a screen covers the terminal.

    Raises:
        TargetInvalid: There is no such file, or it is nothing that could run.
    """
    from ladder_backends.case import FileKind, classify
    from ladder_backends.errors import TargetInvalid

    one = classify(program)
    name = clean_line(str(program))
    if one.kind is FileKind.UNKNOWN:
        raise TargetInvalid(f"cannot run {name}", f"it {one.why}", "check the path")
    if one.kind is FileKind.SOURCE:
        remedy = (
            f"ladder-tui python3 {name}" if program.suffix == ".py" else "compile it with -g and run the result"
        )
        raise TargetInvalid(f"cannot run {name}", "it is a source file", remedy)
    if one.kind is FileKind.SCRIPT:
        remedy = f"name its interpreter: ladder-tui {_interpreter(program)} {name}"
        raise TargetInvalid(f"cannot run {name}", "it is a script, and a debugger starts programs", remedy)
    if one.kind is not FileKind.EXECUTABLE:
        raise TargetInvalid(f"cannot run {name}", f"it is {one.kind.phrase}", f"ladder-tui open {name}")


def find_program(program: str) -> Path:
    """A bare name is looked up on PATH unless a file of that name is here, as gdb does; shims lead on."""
    import shutil

    from ladder_tui.cli.shims import behind_shim

    path = Path(program)
    if "/" not in program and not path.exists() and (found := shutil.which(program)):
        path = Path(found)
    return behind_shim(path.absolute())


def _interpreter(script: Path) -> str:
    """The program that a script names in its first line; `bash` where that cannot be read."""
    try:
        with script.open("rb") as file:
            words = file.read(256).split(b"\n", 1)[0].removeprefix(b"#!").decode().split()
    except (OSError, UnicodeDecodeError):
        return "bash"
    if words and words[0].endswith("/env"):
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return clean_line(words[0]) if words else "bash"
