"""`compare`: where two runs part, by their collectives or by values at source lines."""

from __future__ import annotations

import shlex
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from ladder_tui.cli.output import print_json, print_lines, say
from ladder_tui.cli.parser import UsageError, add_json

if TYPE_CHECKING:
    from ladder_backends.ranks.compare.recorded_hits import RankHits
    from ladder_backends.ranks.compare.wish import Wish

_RUNNING = ("pid:", "job:")
"""How a job is named that runs already."""


def configure(parser: ArgumentParser) -> None:
    """Arguments of `compare`."""
    parser.add_argument(
        "words",
        nargs="+",
        metavar="A B | WISH",
        help="flight recorder dumps, by folder or prefix; or a wish, as a::x@f.c:42 ~ b::x@f.c:42",
    )
    parser.add_argument(
        "--run",
        action="append",
        default=[],
        metavar="NAME=COMMAND",
        help="a run of a wish: a launcher with a program built with -g, a folder that -o left, or pid:N or job:KEY"
        " for one that runs",
    )
    parser.add_argument("--hits", type=int, default=100, metavar="N", help="hits of a rank that runs (default 100)")
    parser.add_argument(
        "--within", type=float, default=30.0, metavar="SECONDS", help="how long to wait for them (default 30)"
    )
    parser.add_argument("-o", dest="folder", metavar="DIR", type=Path, help="keep what was recorded there")
    add_json(parser)
    parser.epilog = (
        "compare 'a::x[0]@8@solver.c:42 ~ b::x[0]@8@solver.c:42 rtol=1e-6' --run a='mpirun -n 4 ./old' --run"
        " b='mpirun -n 4 ./new'. a{0..3}:: takes some ranks only, paired in order with those of the other side; a"
        " number may stand on the right; by=iteration pairs hits by what that holds. Exit codes: 0 no divergence"
        " seen, 1 divergence or death found, 2 could not look."
    )


def run(arguments: Namespace) -> int:
    """Compare, print."""
    from ladder_tui.cli.headless import apply_settings

    apply_settings(getattr(arguments, "theme", None))
    if any("::" in word for word in arguments.words):
        return _values(arguments)
    if len(arguments.words) != 2 or arguments.run:
        raise UsageError("compare", "two runs are compared", "name two folders of dumps, or a wish and its --run")
    return _dumps(arguments)


def _dumps(arguments: Namespace) -> int:
    from dataclasses import replace

    from ladder_backends.ranks.compare.collective_comparison import compare_dumps, read_dumps
    from ladder_backends.ranks.compare.report import dumps_json, dumps_lines

    left, faults = read_dumps(Path(arguments.words[0]))
    right, more = read_dumps(Path(arguments.words[1]))
    told = compare_dumps(left, right)
    told = replace(told, unseen=(*faults, *more, *told.unseen))
    if arguments.json:
        print_json(dumps_json(told))
    else:
        print_lines(dumps_lines(told))
    if told.divergences:
        return 1
    return 0 if told.compared else 2


def _values(arguments: Namespace) -> int:
    import contextlib
    import tempfile
    from dataclasses import replace

    from ladder_backends.ranks.compare.hit_comparison import compare_hits
    from ladder_backends.ranks.compare.report import hits_json, hits_lines
    from ladder_backends.ranks.compare.wish import read_wish
    from ladder_backends.ranks.sets.set_invalid import SetInvalid

    try:
        wishes = tuple(read_wish(word) for word in arguments.words)
    except SetInvalid as invalid:
        for line in invalid.pointed:
            say(line)
        raise
    commands = _commands(arguments.run)
    for wish in wishes:
        for side in wish.sides:
            if side.run not in commands:
                raise UsageError(
                    "compare", f"no run is called {side.run}", f"add --run {side.run}='mpirun -n 4 ./prog'"
                )
    with contextlib.ExitStack() as stack:
        folder = arguments.folder or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="ladder-compare-"))
        )
        runs: dict[str, dict[int, RankHits]] = {}
        away: list[str] = []
        for name, command in commands.items():
            if command.startswith(_RUNNING):
                runs[name] = _record_running(name, command, folder, wishes, arguments, away)
            else:
                runs[name] = _record(name, command, folder, wishes)
        told = compare_hits(wishes, runs)
        told = replace(told, unseen=(*away, *told.unseen))
    if arguments.json:
        print_json(hits_json(told))
    else:
        print_lines(hits_lines(told))
    if told.divergences or told.died:
        return 1
    return 0 if told.compared and not told.endings else 2


def _commands(given: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in given:
        name, equals, command = each.partition("=")
        if not equals or not name.isidentifier() or not command.strip():
            raise UsageError("compare", f"--run takes NAME=COMMAND, not {each}", "--run a='mpirun -n 4 ./prog'")
        if name in found:
            raise UsageError("compare", f"two runs are called {name}", "name each once")
        found[name] = command
    return found


def _record(name: str, command: str, folder: Path, wishes: tuple[Wish, ...]) -> dict[int, RankHits]:
    """The hits of a run: of a folder in which they were recorded before, or by running it now."""
    from ladder_backends.ranks.compare.recorded_hits import read_run
    from ladder_backends.ranks.compare.recording_run import record_run
    from ladder_backends.ranks.compare.recording_tensors import COLLECTIVES, record_tensors

    if Path(command).is_dir():
        return read_run(Path(command))
    probes = _probes(name, wishes)
    into = folder / name
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError("compare", f"--run {name}: {error}", "quote the command for a shell") from None
    say(f"run {name}: {command}")
    if any(place == COLLECTIVES for _, place, _ in probes):
        if any(probe[1:] != (COLLECTIVES, "tensors") for probe in probes):
            raise UsageError("compare", f"run {name} is one of tensors or of lines", "a::tensors@collectives alone")
        record_tensors(words, into)
        return read_run(into)
    record_run(words, into, probes)
    return read_run(into)


def _probes(name: str, wishes: tuple[Wish, ...]) -> list[tuple[int, str, str]]:
    places = dict.fromkeys(probe for wish in wishes for probe in wish.probes(name))
    return [(number, place, expression) for number, (place, expression) in enumerate(places)]


def _record_running(
    name: str, command: str, folder: Path, wishes: tuple[Wish, ...], arguments: Namespace, away: list[str]
) -> dict[int, RankHits]:
    """The hits of a job that runs; `away` gets the ranks that were not recorded."""
    import asyncio

    from ladder_backends.ranks.choosing import job_named, job_of
    from ladder_backends.ranks.compare.recorded_hits import read_run
    from ladder_backends.ranks.compare.recording_live import record_job
    from ladder_backends.ranks.discovery import Discovery
    from ladder_backends.ranks.engine import RankEvent, RankEventKind
    from ladder_backends.ranks.rank_list import fold

    def listen(event: RankEvent) -> None:
        if event.kind in (RankEventKind.BUDGET, RankEventKind.NOTICE, RankEventKind.LOST, RankEventKind.CRASHED):
            say(f"rank {event.rank}: {event.text}" if event.rank is not None else event.text)

    word, _, which = command.partition(":")
    if word == "pid" and not which.isdecimal():
        raise UsageError("compare", f"--run {name}: {which or 'nothing'} is no process id", "--run a=pid:4711")
    if arguments.hits < 1 or not arguments.within > 0:
        raise UsageError("compare", "--hits and --within are above 0", "--hits 100 --within 30")
    found = Discovery()
    job = job_of(found, int(which)) if word == "pid" else job_named(found, which)
    sides = [side for wish in wishes for side in wish.sides if side.run == name]
    ranks: set[int] | None = None
    if all(side.ranks is not None for side in sides):
        ranks = {rank for side in sides for rank in side.ranks or ()}
    whom = fold(ranks) if ranks is not None else "all"
    say(f"run {name}: ranks {whom} of {job.title or job.key}, up to {arguments.hits} hits each")
    told = asyncio.run(
        record_job(
            job,
            ranks,
            folder / name,
            _probes(name, wishes),
            most=arguments.hits,
            within=arguments.within,
            listener=listen,
        )
    )
    away.extend(f"{name} rank {each.rank}: {each.reason}" for each in told.unreachable)
    return read_run(folder / name)
