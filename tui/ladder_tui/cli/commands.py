"""The table of commands: what help shows and where each is implemented."""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """One command.

    Attributes:
        usage: Its arguments, for the overview.
        summary: One line.
        module: Imported only when the command runs: has `configure(parser)` and `run(arguments) -> int`.
        program: The command line ends in `PROGRAM [ARGS...]`, taken as it stands.
    """

    name: str
    usage: str
    summary: str
    module: str
    program: bool = False


COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        Command("run", "PROGRAM [ARGS...]", "debug a program", "ladder_tui.cli.run", program=True),
        Command("attach", "[PID]", "debug a running process, or choose one", "ladder_tui.cli.attach"),
        Command("core", "FILE [EXE]", "open a host core file or a GPU core dump", "ladder_tui.cli.core"),
        Command("findings", "LOG...", "list what a sanitizer report says", "ladder_tui.cli.findings"),
        Command(
            "sanitize",
            "PROGRAM [ARGS...]",
            "run compute-sanitizer and show its findings",
            "ladder_tui.cli.sanitize",
            program=True,
        ),
        Command(
            "jump",
            "--dump D --block x,y,z --thread x,y,z",
            "stand in a lane, of a dump or --live",
            "ladder_tui.cli.jump",
        ),
        Command("open", "FILES...", "open a case, or report and dump together", "ladder_tui.cli.open"),
        Command("demo", "[NAME]", "try a broken program or a shipped case", "ladder_tui.cli.demo"),
        Command("replay", "FILE", "play a recording back, with no engine", "ladder_tui.cli.replay"),
        Command(
            "record", "-o NAME.ladder -- ...", "put a failure into one file", "ladder_tui.cli.record", program=True
        ),
        Command("hardware", "[--simulate NAME]", "show GPUs, links and what is wrong", "ladder_tui.cli.hardware"),
        Command("p2p", "[--simulate NAME]", "test every pair of GPUs, and say what helps", "ladder_tui.cli.p2p"),
        Command(
            "ranks",
            "[--pid P | --job J]",
            "look at all ranks of a job: who hangs, and where",
            "ladder_tui.cli.ranks",
            program=True,
        ),
        Command("compare", "A B | WISH --run ...", "find where two runs part", "ladder_tui.cli.compare"),
        Command("config", "path|show", "where settings are read, and what they are", "ladder_tui.cli.config"),
    )
}
"""Commands by name, in the order of help."""

LATER: dict[str, str] = {
    "doctor": "climb the ladder and report what fails first",
}
"""Commands of a later version: known words, so that none of them is taken for a program to debug."""
