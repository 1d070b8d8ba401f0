"""`ranks`: all ranks of a job, where each stands, and which one went wrong; nothing is stopped unasked."""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from ladder_backends.model.stack_step import StackStep
from ladder_tui.cli.output import print_json, print_lines, say
from ladder_tui.cli.parser import UsageError, add_json, add_tui

if TYPE_CHECKING:
    from ladder_backends.model.rank_verdict import RankVerdict
    from ladder_backends.model.ranks import Evidence, Job

_MOST_SAMPLES = 100


def configure(parser: ArgumentParser) -> None:
    """Arguments of `ranks`."""
    parser.add_argument("--list", action="store_true", dest="listing", help="list the jobs of this host")
    parser.add_argument("--pid", metavar="P", help="the job of this process: a rank, a wrapper, or the launcher")
    parser.add_argument("--job", metavar="J", help="the job of this key, as --list shows it, or a part of one")
    parser.add_argument("--pids", metavar="P,P", help="take these processes as ranks 0, 1, ...")
    parser.add_argument("--mesh", metavar="dp=2,tp=4", help="the job's axes, the last one varying fastest")
    parser.add_argument(
        "--stacks", choices=[str(step) for step in StackStep], default="auto", help="how far to go for stacks; auto"
    )
    parser.add_argument("--samples", metavar="N", default="2", help="looks before a verdict; 2")
    parser.add_argument("--between", metavar="S", default="1", help="seconds between two looks; 1")
    parser.add_argument("--no-triggers", action="store_true", help="write to no pipe that makes torch dump")
    parser.add_argument("--no-services", action="store_true", help="ask no debug server and no RAS of the job")
    parser.add_argument(
        "--do",
        action="append",
        metavar="ACT",
        help="act on a set under gdb: 'bt $a{0..3}', 'print $a EXPRESSION', ...",
    )
    parser.add_argument("--hosts", metavar="H,H", help="look on these nodes, too; - finds them from the job")
    parser.add_argument("--launch", metavar="WORDS", help="how to start a program there: 'ssh {host}'")
    parser.add_argument("--every", metavar="S", help="look again and again, and keep each look in the -o folder")
    parser.add_argument("-o", metavar="DIR", dest="folder", type=Path, help="folder or file to write to")
    parser.add_argument("--html", action="store_true", help="print one HTML page, or write it with -o")
    add_json(parser)
    add_tui(parser)
    parser.epilog = (
        "auto reads Python frames without a stop, and native ones, which hold a thread for some hundredths of a"
        " second, of ranks that run no Python only; native reads them of all, gdb by a debugger that all stand for"
        " together. ranks -- mpirun -n 8 ./prog starts a job, and says which rank"
        " died first. Exit codes: 0 no divergence seen, 1 divergence or death found, 2 could not look."
    )


def run(arguments: Namespace) -> int:
    """Find the job, look at it, print; or start one."""
    from ladder_tui.cli.headless import apply_settings

    samples = _whole(arguments.samples, "--samples", 1, _MOST_SAMPLES)
    between = _seconds(arguments.between, "--between")
    every = _seconds(arguments.every, "--every") if arguments.every is not None else None
    if sum(1 for each in (arguments.pid, arguments.job, arguments.pids) if each is not None) > 1:
        raise UsageError("ranks", "--pid, --job and --pids exclude each other", "name the job once")
    if arguments.hosts is None and arguments.launch is not None:
        raise UsageError("ranks", "--launch needs --hosts", "name the nodes, or - for those of the job")
    if arguments.hosts is not None and (arguments.do or arguments.tui or arguments.program or arguments.listing):
        raise UsageError("ranks", "--hosts goes with looks only", "act on ranks on their own node")
    if every is not None and arguments.folder is None:
        raise UsageError("ranks", "--every needs a folder", "name one with -o DIR")
    apply_settings(getattr(arguments, "theme", None))
    if arguments.program:
        if arguments.pid or arguments.job or arguments.pids or arguments.listing:
            raise UsageError("ranks", "either a job is started or one is looked at", "ladder-tui ranks --help")
        from ladder_tui.cli.ranks_launch import launch

        return launch(arguments, samples, between, every)
    if arguments.listing:
        return _list(json_wanted=arguments.json)
    if arguments.tui:
        from ladder_tui.cli.ranks_screen import show_ranks

        return show_ranks(arguments)
    if every is not None and arguments.hosts is not None:
        from ladder_tui.cli.ranks_nodes import keep_looking_on_nodes

        return keep_looking_on_nodes(arguments, every)
    if every is not None:
        from ladder_tui.cli.ranks_every import keep_looking

        return keep_looking(arguments, every)
    if arguments.hosts is not None:
        from ladder_tui.cli.ranks_nodes import look_on_nodes

        return tell(asyncio.run(look_on_nodes(arguments, samples, between)), arguments)
    job = find(arguments)
    if arguments.do:
        from ladder_tui.cli.ranks_do import act

        return act(job, arguments)
    looks = asyncio.run(look(job, arguments, samples, between))
    return tell(looks, arguments)


def find(arguments: Namespace) -> Job:
    """The job that the arguments name, with its axes.

    Raises:
        LadderError: There is none, or a choice.
    """
    from dataclasses import replace

    from ladder_backends.ranks.choosing import job_named, job_of, job_of_pids, only_job
    from ladder_backends.ranks.discovery import Discovery
    from ladder_backends.ranks.mesh import read_mesh
    from ladder_tui.cli.attach import read_pid

    if arguments.pids is not None:
        job = job_of_pids([read_pid(word.strip()) for word in arguments.pids.split(",")])
    elif arguments.pid is not None:
        pid = read_pid(arguments.pid)
        job = job_of(Discovery(), pid)
    elif arguments.job is not None:
        job = job_named(Discovery(), arguments.job)
    else:
        job = only_job(Discovery())
    if arguments.mesh is not None:
        job = replace(job, mesh=read_mesh(arguments.mesh, job.size))
    return job


async def look(job: Job, arguments: Namespace, samples: int, between: float) -> list[Evidence]:
    """Look at a job so many times."""
    from ladder_backends.ranks.looking import Look, look_often

    wish = Look(StackStep(arguments.stacks), not arguments.no_triggers, not arguments.no_services)
    announced: list[float] = []

    def announce(seconds: float) -> None:
        if not announced:
            say(f"native stacks: ranks stand for about {seconds:.2f} s at most")
        announced.append(seconds)

    looks = look_often(job, wish, times=samples, between=between, announce=announce)
    return [each async for each in looks]


def tell(looks: list[Evidence], arguments: Namespace) -> int:
    """Print what was seen; returns the exit code."""
    from ladder_backends.ranks.verdict import verdicts

    told = verdicts(looks)
    if arguments.json:
        from ladder_backends.ranks.report_json import look_json

        print_json(look_json(looks, told))
    elif arguments.html:
        _print_html(looks, told, arguments.folder)
    else:
        import shutil

        from ladder_backends.ranks.report_text import look_lines

        width = min(160, max(80, shutil.get_terminal_size((100, 24)).columns))
        print_lines(look_lines(looks, told, width=width))
    code = exit_code(looks, told)
    if code == 2 and looks[-1].job.ranks:
        say(told[0].sentence)
    return code


def exit_code(looks: list[Evidence], told: tuple[RankVerdict, ...]) -> int:
    """1 where ranks part or one is dead, 2 where nobody could be looked at, else 0."""
    now = looks[-1]
    if not now.job.ranks:
        return 2
    gone = {each.rank for each in now.unreachable}
    if told[0].diverges or gone:
        return 1
    # That they live is no news of what they do: a script must not take it for "no divergence".
    return 2 if told[0].id == "nothing" else 0


def _print_html(looks: list[Evidence], told: tuple[RankVerdict, ...], file: Path | None) -> None:
    from ladder_backends.ranks.report_html import look_html

    page = look_html(looks, told)
    if file is None:
        import sys

        sys.stdout.write(page)
        return
    from ladder_tui.cli.ranks_every import write_whole

    write_whole(file, page)


def _list(*, json_wanted: bool) -> int:
    from ladder_backends.ranks.discovery import find_jobs

    jobs = find_jobs()
    if json_wanted:
        from ladder_backends.ranks.report_json import jobs_json

        print_json(jobs_json(jobs))
    else:
        from ladder_backends.ranks.report_text import jobs_lines

        print_lines(jobs_lines(jobs))
    return 1 if any(job.missing for job in jobs) else 0


def _whole(text: str, option: str, least: int, most: int) -> int:
    if not (text.isascii() and text.isdecimal()) or not least <= int(text[:9]) <= most:
        raise UsageError("ranks", f"{option} takes a number from {least} to {most}, not {text}")
    return int(text)


def _seconds(text: str, option: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0.0 <= seconds <= 86_400.0:
        raise UsageError("ranks", f"{option} takes seconds, not {text}")
    return seconds
