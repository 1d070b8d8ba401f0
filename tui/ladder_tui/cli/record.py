"""`record`: put a failure into one file that opens anywhere."""

from __future__ import annotations

import tempfile
from argparse import ArgumentParser, Namespace
from pathlib import Path

from ladder_tui.cli.output import headless, print_json, say
from ladder_tui.cli.parser import UsageError, add_json, add_screen


def configure(parser: ArgumentParser) -> None:
    """Options of `record`; they come before `--`."""
    parser.add_argument("-o", "--output", metavar="NAME.ladder", required=True, help="the case to write")
    add_json(parser)
    add_screen(parser)
    parser.epilog = (
        "PROGRAM is debugged, and what its debugger said goes into the case with the program and its sources. "
        "FILES (report, dump, program, recording, sources) go into it as they are, with the sources that they name."
    )


def run(arguments: Namespace) -> int:
    """Record a program, or pack files; the exit code is that of what was run."""
    from ladder_tui.cli.packing import is_program, pack_files, pack_recordings

    output = Path(arguments.output)
    words: list[str] = arguments.program
    if not words:
        raise UsageError("record", "nothing was named", "ladder-tui record -o NAME.ladder -- PROGRAM or FILES...")
    if output.suffix != ".ladder":
        raise UsageError("record", f"{output.name} does not end in .ladder", f"call it {output.name}.ladder")
    code = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if is_program(words):
            code, program = _record(arguments, folder / f"{output.stem}.jsonl")
            parts = pack_recordings(output, program, folder)
        else:
            parts = pack_files(output, [Path(word) for word in words], folder)
    if arguments.json:
        print_json({"format": 1, "case": str(output), "exit_code": code, "parts": parts})
    else:
        say(f"{output} holds {', '.join(str(part['name']) for part in parts)}")
    return code


def _record(arguments: Namespace, recording: Path) -> tuple[int, Path]:
    from ladder_backends.debugger.target import LaunchTarget
    from ladder_tui.cli.run import find_program, refuse_program

    program, *words = arguments.program
    target = LaunchTarget(find_program(program), tuple(words))
    refuse_program(target.program)
    if not headless(json_wanted=arguments.json):
        from ladder_tui.cli.screen import show
        from ladder_tui.opening import Opening

        return show(Opening(target=target, record=recording), theme=arguments.theme), target.program
    from ladder_tui.cli.session_run import run_to_the_end, show_nothing, show_text

    # With --json the one document is about the case.
    tell = show_nothing if arguments.json else show_text
    return run_to_the_end(target, tell, record=recording), target.program
