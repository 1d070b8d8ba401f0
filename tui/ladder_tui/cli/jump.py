"""`jump`: stand in a lane, of a GPU core dump or of a program that is run to it, and say what it sees."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from ladder_tui.cli.output import print_json, print_lines, say
from ladder_tui.cli.parser import UsageError, add_json, add_record, add_tui

if TYPE_CHECKING:
    from ladder_backends.model.focus import Dim3, Focus
    from ladder_backends.session.jump import JumpOutcome
    from ladder_backends.session.lane_values_state import LaneValuesState


def configure(parser: ArgumentParser) -> None:
    """Arguments of `jump`."""
    parser.add_argument("files", nargs="*", help="a case, or dump and program in any order; behind --: what is run")
    parser.add_argument("--dump", metavar="D", help="GPU core dump; may be packed as .xz")
    parser.add_argument("--exe", metavar="E", help="the program that the dump is of")
    parser.add_argument("--block", metavar="x,y,z", type=_coordinate, help="block of the lane")
    parser.add_argument("--thread", metavar="x,y,z", type=_coordinate, help="thread of the lane in its block")
    parser.add_argument(
        "--kernel", metavar="N|NAME", help="kernel, where the dump holds several; with --live its name"
    )
    parser.add_argument("--live", action="store_true", help="run PROGRAM [ARGS...] to the lane, under cuda-gdb")
    add_live(parser)
    parser.add_argument("--over-lanes", metavar="EXPR", help="ask an expression of all lanes round the one reached")
    parser.add_argument(
        "--scope", choices=("warp", "block", "grid"), help="how far round it; grid is all resident blocks (warp)"
    )
    add_json(parser)
    add_tui(parser)
    parser.epilog = "Without coordinates it stands where the dump itself points: the faulting lane."


def run(arguments: Namespace) -> int:
    """Print the lane; exit code 1 where it is not the one that was asked for."""
    from ladder_backends.model.focus import Focus

    if arguments.live:
        from ladder_tui.cli.jump_live import run_live

        return run_live(arguments)
    if arguments.kernel is not None and not arguments.kernel.isdecimal():
        raise UsageError("jump", "--kernel takes a number here", "names are for --live")
    kernel = int(arguments.kernel) if arguments.kernel is not None else None
    if arguments.thread is not None and arguments.block is None:
        raise UsageError("jump", "--thread needs --block", "a thread is counted within its block")
    asked = Focus.of(kernel=kernel, block=arguments.block, thread=arguments.thread)
    paths = [Path(name) for name in (arguments.dump, arguments.exe, *arguments.files) if name]
    if not paths:
        raise UsageError(
            "jump", "no dump was named", "ladder-tui jump --dump D --exe E --block 3,0,0 --thread 232,0,0"
        )
    if arguments.tui:
        from ladder_tui.cli.screen import show
        from ladder_tui.opening import Opening

        return show(Opening(files=tuple(paths), focus=asked), theme=arguments.theme)

    from ladder_backends.session.jump_json import jump_exit_code, jump_json

    over = _over(arguments)
    outcome = _jump(paths, asked, over)
    if arguments.json:
        document = jump_json(outcome)
        if over is not None:
            from ladder_tui.cli.over_lanes import over_lanes_json

            document["over_lanes"] = over_lanes_json(over) if outcome.reached is not None else None
        print_json(document)
    else:
        from ladder_tui.cli.jump_text import outcome_lines

        print_lines(outcome_lines(outcome))
        if over is not None and outcome.reached is not None:
            from ladder_tui.cli.over_lanes import over_lanes_lines

            print_lines(over_lanes_lines(over))
    return jump_exit_code(outcome)


def add_live(parser: ArgumentParser) -> None:
    """Options of a live jump."""
    live = parser.add_argument_group("with --live")
    live.add_argument("--report", metavar="LOG", help="a report of the sanitizer")
    live.add_argument("--finding", metavar="N", type=int, help="its finding, counted from 0 as in findings --json")
    live.add_argument("--side", metavar="N", type=int, default=0, help="a hazard has lanes 0 and 1")
    live.add_argument(
        "--line", metavar="FILE:LINE", help="where the lane is to stand; its kernel's entry otherwise"
    )
    live.add_argument("--launch", metavar="N", type=int, help="which launch of the kernel, from 1")
    live.add_argument(
        "--limit",
        metavar="SECONDS",
        type=float,
        default=60.0,
        help="for the launch, and for the lane; 60 if left out",
    )
    live.add_argument("--cwd", metavar="DIR", type=Path, help="the program's working folder")
    live.add_argument("--env", metavar="NAME=VALUE", action="append", default=[], help="a variable for the program")
    add_record(parser)


def _coordinate(text: str) -> Dim3:
    from ladder_backends.model.focus import parse_dim3
    from ladder_backends.text import clean_line

    try:
        return parse_dim3(text)
    except ValueError:
        raise ArgumentTypeError(f"{clean_line(text)!r} is not a coordinate; write x,y,z") from None


def _over(arguments: Namespace) -> LaneValuesState | None:
    if arguments.over_lanes is None:
        if arguments.scope is not None:
            raise UsageError("jump", "--scope needs --over-lanes", "ladder-tui jump --dump D --over-lanes i")
        return None
    from ladder_backends.session.lane_values_state import LaneValuesState

    return LaneValuesState(" ".join(arguments.over_lanes.split()), arguments.scope or "warp")


def _jump(paths: list[Path], asked: Focus, over: LaneValuesState | None) -> JumpOutcome:
    from ladder_backends.case import open_files
    from ladder_tui.cli.headless import apply_settings
    from ladder_tui.cli.lane import reach

    apply_settings()
    opened = open_files(paths)
    for note in opened.notes:
        say(note)
    return reach(opened, asked, over=over)
