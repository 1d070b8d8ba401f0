"""`p2p`: test every pair of GPUs in worker processes, and say in one sentence what is wrong and what helps."""

from __future__ import annotations

import contextlib
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ladder_tui.cli.output import print_json, print_lines, say
from ladder_tui.cli.parser import UsageError, add_json, add_tui

if TYPE_CHECKING:
    from ladder_backends.session.p2p_sweep import Wish

_ARMS = ("quick", "deep", "soak")


def configure(parser: ArgumentParser) -> None:
    """Options of `p2p`."""
    parser.add_argument("--arms", choices=_ARMS, default="quick", help="how far to go: T0-T5, T0-T13, or with T14")
    parser.add_argument("--gpus", metavar="0,1", help="only these, by CUDA's numbers")
    parser.add_argument("--yes", action="store_true", help="test GPUs that are in use, too")
    parser.add_argument("--soak", metavar="SECONDS", type=float, default=60.0, help="length of the soak; 60")
    parser.add_argument("--simulate", metavar="NAME|FILE", help="a machine that does not exist; list prints names")
    parser.add_argument(
        "--baseline", nargs=2, metavar=("save|compare", "NAME"), help="keep the results, or compare with kept ones"
    )
    parser.add_argument("--markdown", action="store_true", help="print the report for a ticket")
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
    if arguments.baseline and arguments.baseline[0] not in ("save", "compare"):
        raise UsageError("p2p", f"--baseline takes save or compare, not {arguments.baseline[0]}")
    only = _gpus(arguments.gpus)
    with layer(arguments.simulate) as (place, title, patience):
        from ladder_backends.p2p.arms import Depth
        from ladder_backends.p2p.worker_process import Patience
        from ladder_backends.session.p2p_sweep import Wish

        wish = Wish(
            place,
            title,
            Depth(arguments.arms),
            only,
            busy_too=arguments.yes,
            soak=arguments.soak,
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

    from ladder_backends.model.p2p import Stage
    from ladder_backends.p2p.arms import expected_seconds
    from ladder_backends.p2p.report_json import sweep_json
    from ladder_backends.p2p.report_text import lines, markdown
    from ladder_backends.p2p.verdict import exit_code, verdicts
    from ladder_backends.session.p2p_sweep import PairSweep
    from ladder_tui.cli.interruption import interrupting

    told: set[str] = set()

    def tell() -> None:
        """One line a stage: a sweep of a big machine is not silent, and never scrolls."""
        state = sweep.state
        if state.stage in told or state.over:
            return
        told.add(state.stage)
        if state.stage is Stage.CONTROL:
            seconds = expected_seconds(wish.depth, len(state.gpus))
            say(f"{len(state.gpus)} GPUs, {len(state.pairs)} pairs, {wish.depth} arms: about {seconds:.0f} s")

    sweep = PairSweep(tell)

    async def work() -> None:
        with interrupting(sweep):
            await sweep.sweep(wish)

    asyncio.run(work())
    state = sweep.state
    found = verdicts(state)
    if arguments.json:
        print_json(sweep_json(state, found))
    else:
        print_lines(markdown(state, found) if arguments.markdown else lines(state, found))
    if state.stage is Stage.CANCELLED:
        say("cancelled; what was found until then is above")
    return exit_code(found)
