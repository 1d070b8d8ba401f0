"""`sanitize`: run compute-sanitizer on a program, and show or list what it finds."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from pathlib import Path
from typing import TYPE_CHECKING

from ladder_backends.text import clean_line
from ladder_tui.cli.output import headless, say
from ladder_tui.cli.parser import UsageError, add_json, add_screen

if TYPE_CHECKING:
    from ladder_backends.sanitizer.plan import Plan

_TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck", "all")
_PRESETS = ("plain", "torch", "triton", "cupy")


def configure(parser: ArgumentParser) -> None:
    """Options of `sanitize`; they come before PROGRAM."""
    from ladder_backends.sanitizer.presets import SWITCHES

    parser.add_argument(
        "--tool",
        action="append",
        choices=_TOOLS,
        default=[],
        help="memcheck if left out; several run one after the other, in the order given",
    )
    parser.add_argument("--leaks", action="store_true", help="memcheck looks for leaks as well")
    parser.add_argument(
        "--preset", choices=_PRESETS, help="helps for a kind of program; told by the script if left out"
    )
    parser.add_argument(
        "--with", metavar="HELP", action="append", default=[], dest="on", help="one help more; see below"
    )
    parser.add_argument("--without", metavar="HELP", action="append", default=[], dest="off", help="one help less")
    parser.add_argument(
        "--kernel",
        metavar="NAME",
        action="append",
        default=[],
        help="check these kernels alone: a part of the name, or kne=, kns=, regex= as compute-sanitizer takes it",
    )
    parser.add_argument("--launch-skip", metavar="N", type=_count, default=0, help="leave the first N launches out")
    parser.add_argument("--launch-count", metavar="N", type=_count, default=0, help="check N launches; 0 for all")
    parser.add_argument("--padding", metavar="N", type=_count, default=0, help="guard bytes behind each allocation")
    parser.add_argument("--print-limit", metavar="N", type=_count, help="findings that are printed; 0 for all")
    parser.add_argument(
        "--racecheck-report", choices=("analysis", "hazard", "all"), default="analysis", help="hazard names lanes"
    )
    parser.add_argument("--timeout", metavar="SECONDS", type=_seconds, help="stop each tool after so long")
    parser.add_argument(
        "--launch-timeout", metavar="SECONDS", type=_count, help="wait so long for the program to begin"
    )
    parser.add_argument(
        "--target-processes", choices=("all", "application-only"), help="its children too, or it alone"
    )
    parser.add_argument("--processes", metavar="NAMES", default="", help="look at these processes alone")
    parser.add_argument(
        "--error-exitcode",
        metavar="N",
        type=_count,
        help="status of compute-sanitizer itself where it finds something",
    )
    parser.add_argument("--suppressions", metavar="FILE", type=Path, help="findings that are not to be reported")
    parser.add_argument(
        "--option", metavar="WORD", action="append", default=[], help="a word for compute-sanitizer"
    )
    parser.add_argument("--save", metavar="DIR", type=Path, help="keep log, dump and output there")
    parser.add_argument("--cwd", metavar="DIR", type=Path, help="the program's working folder")
    parser.add_argument(
        "--env", metavar="NAME=VALUE", action="append", default=[], help="a variable for the program"
    )
    parser.add_argument("--stdin", metavar="FILE", type=Path, help="what the program reads instead of its terminal")
    add_json(parser)
    add_screen(parser)
    parser.formatter_class = RawDescriptionHelpFormatter
    helps = "\n".join(f"  {one.id:14} {one.does}\n{'':17}{one.price}" for one in SWITCHES.values())
    parser.epilog = (
        f"helps:\n{helps}\n\nExit codes: 0 found nothing, 1 found something, 2 did not run, or was cut short"
        " with\nnothing found. Ctrl-C ends the run and keeps what was found. For a launcher, {} says where the"
        " sanitizer goes,\none for each rank: ladder-tui sanitize -- mpirun -n 4 {} ./prog"
    )


def run(arguments: Namespace) -> int:
    """Open the screen on the run, or run it to its end and list the findings."""
    plan = plan_of(arguments)
    save = arguments.save.absolute() if arguments.save is not None else None
    if not headless(json_wanted=arguments.json):
        from ladder_tui.cli.screen import show
        from ladder_tui.opening import Opening

        return show(Opening(plan=plan, save=save), theme=arguments.theme)
    from ladder_tui.cli.sanitize_run import run_to_the_end

    if plan.preset != "plain" and arguments.preset is None:
        say(f"preset {plan.preset}, by what the script imports: {_told(plan)} (--preset plain for none)")
    return run_to_the_end(plan, save, json_wanted=arguments.json)


def plan_of(arguments: Namespace) -> Plan:
    """What the command line asks for.

    Raises:
        UsageError: No program, or a help that does not exist.
    """
    from ladder_backends.sanitizer.installed import TOOLS
    from ladder_backends.sanitizer.plan import PRINT_LIMIT, Plan
    from ladder_backends.sanitizer.presets import PRESETS, SWITCHES, fitting_preset
    from ladder_tui.cli.run import find_program, read_variables

    if not arguments.program:
        raise UsageError("sanitize", "no program was named", "ladder-tui sanitize -- PROGRAM [ARGS...]")
    for word in (*arguments.on, *arguments.off):
        if word not in SWITCHES:
            raise UsageError("sanitize", f"there is no help {clean_line(word)}", f"they are {', '.join(SWITCHES)}")
    name, *words = arguments.program
    program = find_program(name)
    directory = arguments.cwd.absolute() if arguments.cwd is not None else None
    preset = PRESETS[arguments.preset] if arguments.preset else fitting_preset(program, words, directory)
    tools = [each for tool in arguments.tool for each in (TOOLS if tool == "all" else (tool,))]
    return Plan(
        program,
        tuple(words),
        directory,
        read_variables(arguments.env),
        arguments.stdin.absolute() if arguments.stdin is not None else None,
        tools=tuple(dict.fromkeys(tools)) or ("memcheck",),
        leaks=arguments.leaks,
        preset=preset.name,
        switches=(preset.switches | set(arguments.on)) - set(arguments.off),
        kernels=tuple(arguments.kernel),
        launch_skip=arguments.launch_skip,
        launch_count=arguments.launch_count,
        padding=arguments.padding,
        print_limit=PRINT_LIMIT if arguments.print_limit is None else arguments.print_limit,
        error_exitcode=arguments.error_exitcode,
        target_processes=arguments.target_processes or "",
        process_filter=arguments.processes,
        racecheck_report=arguments.racecheck_report,
        launch_timeout=arguments.launch_timeout,
        timeout=arguments.timeout,
        suppressions=arguments.suppressions.absolute() if arguments.suppressions is not None else None,
        extra=tuple(arguments.option),
    )


def _told(plan: Plan) -> str:
    from ladder_backends.sanitizer.presets import SWITCHES

    return ", ".join(one.does for one in SWITCHES.values() if plan.is_on(one.id))


def _count(text: str) -> int:
    if not text.isdecimal():
        raise ValueError(text)
    return int(text)


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e7:
        raise ValueError(text)
    return value
