"""`p2p`: test every pair of GPUs in worker processes, and say in one sentence what is wrong and what helps."""

from __future__ import annotations

import contextlib
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ladder_tui.cli.output import print_json, print_lines, say
from ladder_tui.cli.parser import UsageError, add_json, add_tui

if TYPE_CHECKING:
    from ladder_backends.model.baseline import Comparison
    from ladder_backends.model.topology import Machine
    from ladder_backends.session.p2p_wish import Wish

_MOST_BROKE = 12
_LONG = 30.0
"""Seconds from which on a person is told how to stop."""

_ARMS = ("quick", "deep", "soak")


def configure(parser: ArgumentParser) -> None:
    """Options of `p2p`."""
    parser.add_argument("--arms", choices=_ARMS, default="quick", help="how far to go: T0-T5, T0-T13, or with T14")
    parser.add_argument("--gpus", metavar="0,1", help="only these, by CUDA's numbers")
    parser.add_argument("--yes", action="store_true", help="test GPUs that are in use, too")
    parser.add_argument("--soak", metavar="SECONDS", type=float, default=60.0, help="length of the soak; 60")
    parser.add_argument(
        "--far", action="store_true", help="also test the far end of memory: takes all that is free for a moment"
    )
    parser.add_argument("--simulate", metavar="NAME|FILE", help="a machine that does not exist; list prints names")
    parser.add_argument(
        "--baseline", nargs=2, metavar=("save|compare", "NAME"), help="keep the results, or compare with kept ones"
    )
    parser.add_argument(
        "--paste",
        metavar="FILE",
        help="output of setpci, lspci -vvv or dmesg that root has given; - is standard input",
    )
    parser.add_argument(
        "--markdown", action="store_true", help="print the report for a ticket: pairs, topology, host, what changed"
    )
    parser.add_argument("--report", metavar="FILE", help="write that report too: FILE.md, FILE.json, or text")
    add_json(parser)
    add_tui(parser)
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = (
        "Each pair is tested in a process of its own: memory is poisoned, written from the other GPU, and checked\n"
        "by its owner. Settings of GPUs are never changed.\n\n"
        "Exit codes: 0 all proven right, 1 something proven wrong or slow, 2 inconclusive or nothing to test."
    )


def run(arguments: Namespace) -> int:
    """Sweep, print, and say what it is worth as an exit code."""
    if arguments.simulate == "list":
        from ladder_backends.simulator.machine import names

        print_lines(names())
        return 0
    if arguments.baseline and arguments.baseline[0] == "compare":
        from ladder_backends.hardware import baseline

        # Before minutes of tests, not after them.
        baseline.load(arguments.baseline[1])
    elif arguments.baseline and arguments.baseline[0] not in ("save", "compare"):
        raise UsageError("p2p", f"--baseline takes save or compare, not {arguments.baseline[0]}")
    if arguments.tui:
        from ladder_tui.cli.screen import show
        from ladder_tui.opening import Opening

        opening = Opening(
            hardware=True, simulate=arguments.simulate or "", pairs=arguments.arms, busy_too=arguments.yes
        )
        return show(opening, theme=arguments.theme)
    only = _gpus(arguments.gpus)
    with layer(arguments.simulate) as (place, title, patience):
        from ladder_backends.p2p.arms import Depth
        from ladder_backends.p2p.worker_process import Patience
        from ladder_backends.session.p2p_wish import Wish

        wish = Wish(
            place,
            title,
            Depth(arguments.arms),
            only,
            busy_too=arguments.yes,
            soak=arguments.soak,
            asked=("far end",) if arguments.far else (),
            patience=Patience(patience),
        )
        return _sweep(arguments, wish)


@contextlib.contextmanager
def layer(simulate: str | None) -> Iterator[tuple[dict[str, object], str, float]]:
    """Where the calls go, and the title of the machine if it is simulated; its state lasts as long as this."""
    if not simulate:
        yield {"kind": "cupy"}, "", 1.0
        return
    import tempfile

    from ladder_backends.simulator.machine import load

    machine = load(simulate)
    with tempfile.TemporaryDirectory(prefix="ladder-simulated-") as folder:
        yield {"kind": "simulated", "machine": str(machine.path), "state": folder}, machine.title, machine.patience


def _gpus(text: str | None) -> tuple[int, ...]:
    if not text:
        return ()
    try:
        return tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError:
        raise UsageError("p2p", f"--gpus takes numbers like 0,1, not {text}") from None


def _sweep(arguments: Namespace, wish: Wish) -> int:
    import asyncio

    from ladder_backends.errors import LadderError
    from ladder_backends.hardware import baseline
    from ladder_backends.model.p2p import Stage
    from ladder_backends.p2p.arms import Depth, Scope, expected_parts, expected_seconds
    from ladder_backends.p2p.counters import risen
    from ladder_backends.p2p.host_facts import host_facts
    from ladder_backends.p2p.report_json import sweep_json
    from ladder_backends.p2p.report_text import grouped, lines
    from ladder_backends.p2p.verdict import exit_code, verdicts
    from ladder_backends.session.hardware_ports import hardware_ports
    from ladder_backends.session.machine_report import MachineReport, markdown, write
    from ladder_backends.session.p2p_sweep import PairSweep
    from ladder_tui.cli.hardware import read
    from ladder_tui.cli.interruption import interrupting

    parts_of = {
        Stage.CONTROL: (Scope.CONTROL, "memory, host links, copies through the host"),
        Stage.PAIRS: (Scope.PAIR, "each pair by itself"),
        Stage.PROCESSES: (Scope.OWN_PROCESS, "between processes, and NCCL"),
        Stage.TOGETHER: (Scope.TOGETHER, "many pairs at once"),
    }
    told: set[str] = set()
    clock = Clock()

    def tell() -> None:
        """One line a part, with its time before it starts: a sweep of a big machine is not silent."""
        state = sweep.state
        if state.step.startswith("soak") and (line := clock.line(state.step)):
            say(line)
        if state.stage in told or state.over:
            return
        told.add(state.stage)
        parts = expected_parts(wish.depth, len(state.gpus), asked=wish.asked, soak=wish.soak)
        if state.stage is Stage.CONTROL:
            whole = expected_seconds(wish.depth, len(state.gpus), asked=wish.asked, soak=wish.soak)
            keys = "; Ctrl-C stops it and keeps what is known" if whole > _LONG else ""
            counted = f"{len(state.gpus)} GPUs, {len(state.pairs)} pairs"
            say(f"{counted}, {wish.depth} arms: about {whole:.0f} s in all{keys}")
        part = parts_of.get(state.stage)
        if part is not None and wish.depth is not Depth.QUICK and parts.get(part[0]):
            say(f"{part[1]}: about {parts[part[0]]:.0f} s")

    sweep = PairSweep(tell)

    async def work() -> None:
        with interrupting(sweep):
            await sweep.sweep(wish)

    # Links are read before, so that a baseline holds the same whatever the sweep did to them.
    ports = hardware_ports(arguments.simulate)
    machine = read(arguments.simulate, arguments.paste, command="p2p", ports=ports)
    asyncio.run(work())
    state = sweep.state
    facts = host_facts(machine)
    if state.pairs or state.controls:
        facts.update(risen(machine, ports.read()))
    comparison = _compared(arguments, machine, sweep_json(state, verdicts(state, facts)))
    changed = tuple(one.text for one in comparison.changed) if comparison is not None else ()
    found = verdicts(state, facts, grouped(changed))
    document = sweep_json(state, found)
    if comparison is not None:
        document["baseline"] = {
            "name": comparison.baseline.name,
            "broke": list(comparison.broke),
            "mended": list(comparison.mended),
            "changed": list(changed),
        }
    report = MachineReport(machine, comparison, state, found)
    if arguments.json:
        print_json(document)
    else:
        since = _baseline_lines(comparison, told=bool(found[0].changed)) if comparison is not None else []
        print_lines(markdown(report).splitlines() if arguments.markdown else lines(state, found, since))
    if arguments.report:
        say(f"report written to {write(report, arguments.report)}")
    if state.stage is Stage.CANCELLED:
        say("cancelled; what was found until then is above")
    if arguments.baseline and arguments.baseline[0] == "save":
        if not state.pairs and not state.controls:
            raise LadderError("no baseline was kept", "nothing was tested")
        say(f"baseline kept in {baseline.save(arguments.baseline[1], machine, document)}")
    return exit_code(found)


class Clock:
    """Lets a line about a long part through every so often."""

    _EVERY = 10.0

    def __init__(self) -> None:
        self._last = float("-inf")

    def line(self, step: str) -> str:
        """The step, or nothing when one was told a short while ago."""
        import time

        now = time.monotonic()
        if now - self._last < self._EVERY:
            return ""
        self._last = now
        return step


def _compared(arguments: Namespace, machine: Machine, results: dict[str, object]) -> Comparison | None:
    if not arguments.baseline or arguments.baseline[0] != "compare":
        return None
    from ladder_backends.hardware import baseline

    return baseline.compare(baseline.load(arguments.baseline[1]), machine, results)


def _baseline_lines(comparison: Comparison, *, told: bool) -> list[str]:
    """What broke; what changed on the host too, unless the verdict has told it."""
    name = comparison.baseline.name
    if not comparison.broke and not comparison.changed:
        return [f'Since "{name}": nothing broke, and nothing changed on the host']
    broke = list(comparison.broke) or ["nothing"]
    more = [f"  … {len(broke) - _MOST_BROKE} more"] if len(broke) > _MOST_BROKE else []
    lines = [f'Broke since "{name}"', *(f"  {line}" for line in broke[:_MOST_BROKE]), *more]
    if told:
        return lines
    return [*lines, "Changed on the host", *(f"  {one.text}" for one in comparison.changed)]
