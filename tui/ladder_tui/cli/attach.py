"""`attach`: debug a running process, or print the stacks of all its threads and let it go."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ladder_tui.cli.output import headless
from ladder_tui.cli.parser import UsageError, add_json, add_record, add_screen


def configure(parser: ArgumentParser) -> None:
    """Arguments of `attach`."""
    parser.add_argument("pid", nargs="?", help="process id; without one, processes are shown to choose from")
    add_json(parser)
    add_record(parser)
    add_screen(parser)
    parser.epilog = (
        "The process lives on, whatever ends this command. With --json, or without a terminal, it is held only"
        " while the stacks of its threads are read."
    )


def run(arguments: Namespace) -> int:
    """Open the screen on the process, or on the list of them; or print its stacks."""
    pid = read_pid(arguments.pid) if arguments.pid is not None else None
    prints = headless(json_wanted=arguments.json)
    if pid is None and prints:
        raise UsageError("attach", "no process was named", "ladder-tui attach PID")
    if prints:
        from ladder_tui.cli.attach_stacks import print_stacks

        assert pid is not None
        return print_stacks(pid, json_wanted=arguments.json, record=arguments.record)
    from ladder_tui.cli.screen import show
    from ladder_tui.opening import Opening

    if pid is None:
        return show(Opening(picks_process=True, record=arguments.record), theme=arguments.theme)
    from ladder_backends.debugger.target import AttachTarget
    from ladder_backends.gdb.process_check import check_process

    # What can be said without an engine is said before a screen covers the terminal.
    check_process(pid, on_screen=True)
    return show(Opening(target=AttachTarget(pid), record=arguments.record), theme=arguments.theme)


def read_pid(text: str) -> int:
    """A process id.

    Raises:
        UsageError: It is none.
    """
    if not (text.isascii() and text.isdecimal()) or not 0 < int(text) < 1 << 31:
        from ladder_backends.text import clean_line

        raise UsageError(
            "attach", f"{clean_line(text)!r} is no process id", "ladder-tui attach lists the processes"
        )
    return int(text)
