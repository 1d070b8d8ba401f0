"""`jump --live`: run a program to a lane without a screen, and print what it sees there."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from ladder_tui.cli.output import print_json, print_lines, say
from ladder_tui.cli.parser import UsageError

if TYPE_CHECKING:
    from ladder_backends.debugger.target import LaunchTarget
    from ladder_backends.model.finding import Finding
    from ladder_backends.session.jump import JumpOutcome
    from ladder_backends.session.ladder import Ladder
    from ladder_backends.session.live_wish import LiveWish

_EXAMPLE = "ladder-tui jump --live --kernel vadd --line vadd.cu:10 --block 3,0,0 --thread 232,0,0 -- ./vadd"


def run_live(arguments: Namespace) -> int:
    """Run to the lane and print it.

    Returns:
        0 where the asked lane was reached, 1 where another one or none was, 2 where the program did not start.
    """
    from ladder_backends.session.jump_json import jump_exit_code, jump_json
    from ladder_tui.cli.headless import with_ladder
    from ladder_tui.cli.jump_text import outcome_lines

    finding = _finding(arguments)
    wish = _wish(arguments, finding)
    target = _target(arguments)
    started = False

    async def work(ladder: Ladder) -> JumpOutcome:
        nonlocal started
        outcome = await _jump(ladder, arguments, wish, target, finding)
        started = _has_started(ladder)
        return outcome

    outcome = with_ladder(work, record=arguments.record)
    if arguments.json:
        print_json(jump_json(outcome))
    else:
        print_lines(outcome_lines(outcome))
    return jump_exit_code(outcome) if started else 2


async def _jump(
    ladder: Ladder, arguments: Namespace, wish: LiveWish, target: LaunchTarget, finding: Finding | None
) -> JumpOutcome:
    from ladder_backends.errors import EngineMissing
    from ladder_backends.rungs import device_rung
    from ladder_backends.session.live_wish import LiveLimits
    from ladder_backends.session.state import Change
    from ladder_tui.cli.interruption import interrupting

    rung = device_rung("CUDA")
    missing = ladder.engines.missing(rung.debugger) if rung is not None else "no debugger of CUDA kernels is known"
    if missing:
        raise EngineMissing("no program can be run to a lane", missing, rung.install if rung is not None else "")
    if arguments.report:
        ladder.state.report_files = (Path(arguments.report),)
    live = ladder.jumps.live
    live.limits = LiveLimits(seconds=arguments.limit, launch=arguments.limit)

    def tell(change: Change) -> None:
        if change & Change.NOTICE and ladder.state.notice is not None:
            say(ladder.state.notice.text)

    if not arguments.json:
        ladder.subscribe(tell)
    with interrupting(live):
        return await live.to(wish, finding=finding, target=target)


def _has_started(ladder: Ladder) -> bool:
    from ladder_backends.session.state import NOT_STARTED, Run

    session = ladder.jumps.live.session
    return (
        session is not None
        and session.state.run not in (Run.NOTHING, Run.DEAD)
        and (session.state.run_detail != NOT_STARTED)
    )


def _finding(arguments: Namespace) -> Finding | None:
    if (arguments.report is None) != (arguments.finding is None):
        raise UsageError("jump", "--report and --finding go together", _EXAMPLE)
    if arguments.report is None:
        return None
    from ladder_backends.sanitizer import expand, read_report

    report = read_report(expand([arguments.report]))
    count = len(report.findings)
    if not 0 <= arguments.finding < count:
        which = f"it has findings 0 to {count - 1}" if count else "it has none"
        raise UsageError("jump", f"there is no finding {arguments.finding} in the report", which)
    found: Finding = report.findings[arguments.finding]
    return found


def _wish(arguments: Namespace, finding: Finding | None) -> LiveWish:
    from dataclasses import replace

    from ladder_backends.model.focus import Focus
    from ladder_backends.session.jump import asked_by
    from ladder_backends.session.live_wish import LiveWish, wish_of

    asked = Focus.of(block=arguments.block, thread=arguments.thread)
    if finding is not None:
        lane = asked_by(finding, arguments.side)
        if not lane and not asked:
            raise UsageError("jump", "the report names no lane for this finding", finding.why)
        wish = wish_of(finding, asked or lane, arguments.side)
    else:
        wish = LiveWish(asked)
    if wish.asked.dim3("block") is None:
        raise UsageError("jump", "--live needs a lane: --block, or --report with --finding", _EXAMPLE)
    if wish.asked.dim3("thread") is None:
        wish = replace(wish, asked=Focus.of(block=arguments.block, thread=(0, 0, 0)))
    return replace(
        wish,
        kernel=arguments.kernel or wish.kernel,
        location=arguments.line or wish.location,
        launch=arguments.launch,
    )


def _target(arguments: Namespace) -> LaunchTarget:
    from ladder_backends.debugger.target import LaunchTarget
    from ladder_tui.cli.run import find_program, read_variables, refuse_program

    words = arguments.files or ([arguments.exe] if arguments.exe else [])
    if not words:
        raise UsageError("jump", "no program was named to run", _EXAMPLE)
    program = find_program(words[0])
    refuse_program(program)
    directory = arguments.cwd.absolute() if arguments.cwd is not None else None
    return LaunchTarget(program, tuple(words[1:]), directory, read_variables(arguments.env))
