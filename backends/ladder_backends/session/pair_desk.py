"""Sweeps over the pairs of the machine that the hardware rung shows, and what they mean."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from ladder_backends.errors import LadderError
from ladder_backends.session.state import Change

if TYPE_CHECKING:
    from ladder_backends.model.baseline import Comparison
    from ladder_backends.model.p2p import HostFact, Sweep
    from ladder_backends.model.topology import Machine
    from ladder_backends.session.ladder import Ladder
    from ladder_backends.session.p2p_sweep import PairSweep
    from ladder_backends.session.p2p_wish import Wish
    from ladder_backends.session.pairs_state import PairsState

_CALM = 0.1
"""Seconds between looks at a sweep that goes on: faster than a person reads, slower than workers tell."""


class PairDesk:
    """What is done with pairs of GPUs.

    Args:
        ladder: Whose machine it is.
    """

    def __init__(self, ladder: Ladder) -> None:
        self._ladder = ladder
        self._sweep: PairSweep | None = None
        self._folder: Any = None
        self._later: asyncio.TimerHandle | None = None
        self._moved: dict[str, HostFact] = {}
        self._tested: dict[tuple[int, int], Machine] = {}

    @property
    def state(self) -> PairsState:
        """What panes see."""
        return self._ladder.state.pairs

    async def start(self, depth: str = "quick", *, busy_too: bool = False) -> None:
        """Sweep all pairs.

        Raises:
            BusyGpus: Some GPUs are in use; `busy_too` tests them all the same.
            LadderError: It could not be started.
        """
        from ladder_backends.p2p.arms import Depth, expected_seconds
        from ladder_backends.session.p2p_sweep import PairSweep

        self._none_runs()
        wish = await asyncio.to_thread(self._wish, Depth(depth), busy_too)
        self._none_runs()
        sweep = self._sweep = PairSweep(self._told)
        machine = self._ladder.state.hardware.machine
        count = len(machine.gpus) if machine is not None else 0
        self.state.expected = expected_seconds(wish.depth, max(count, 1))
        await self._while_at_work(sweep.sweep(wish))

    async def again(self, source: int, target: int) -> None:
        """Test one ordered pair again.

        Raises:
            LadderError: There was no sweep, or one is at work.
        """
        self._none_runs()
        if self._sweep is None:
            raise LadderError("no pair was tested yet", "", "start a sweep first")
        self.state.expected = 5.0
        await self._while_at_work(self._sweep.again(source, target), only=(source, target))

    async def cancel(self) -> bool:
        """Stop; what is known stays. Returns whether anything was at work."""
        if self._sweep is None or not self._sweep.running:
            return False
        await self._sweep.cancel()
        return True

    async def close(self) -> None:
        """End its workers."""
        await self.cancel()
        if self._later is not None:
            self._later.cancel()
            self._later = None
        self._leave_machine()

    def document(self) -> dict[str, Any] | None:
        """The last sweep as JSON, for a baseline or a report; None before there is one."""
        from ladder_backends.p2p.report_json import sweep_json

        sweep = self.state.sweep
        return sweep_json(sweep, self.state.verdicts) if sweep is not None else None

    def compared(self) -> Comparison | None:
        """Machine and pairs beside the baseline that is compared, or None."""
        from ladder_backends.hardware.baseline import compare

        hardware = self._ladder.state.hardware
        if hardware.comparison is None or hardware.machine is None:
            return None
        return compare(hardware.comparison.baseline, hardware.machine, self.document())

    def judge(self) -> None:
        """Say what the last sweep means, with what is known of the host and what changed since a baseline."""
        from ladder_backends.p2p.host_facts import host_facts
        from ladder_backends.p2p.report_text import grouped
        from ladder_backends.p2p.verdict import verdicts

        state, hardware = self.state, self._ladder.state.hardware
        self._keep_beside()
        if state.sweep is None or state.running:
            self._ladder.tell(Change.PAIRS)
            return
        facts = host_facts(hardware.machine) if hardware.machine is not None else {}
        facts.update(self._moved)
        changed: tuple[str, ...] = ()
        state.broke, state.baseline, state.changed = (), "", frozenset()
        if (found := self.compared()) is not None:
            changed = grouped([one.text for one in found.changed])
            state.broke, state.baseline, state.changed = found.broke, found.baseline.name, found.pairs
        state.verdicts = verdicts(state.sweep, facts, changed)
        self._ladder.tell(Change.PAIRS)

    def machine_read(self) -> None:
        """The machine was read again: is what was tested still worth something?"""
        from ladder_backends.hardware.baseline import why_stale

        state, machine = self.state, self._ladder.state.hardware.machine
        if machine is None or state.running:
            return
        why = {id(one): why_stale(one, machine) for one in {id(one): one for one in self._tested.values()}.values()}
        stale = {pair: why[id(one)] for pair, one in self._tested.items() if why[id(one)]}
        state.stale, state.why_stale = frozenset(stale), next(iter(stale.values()), "")
        self.judge()

    def forget(self) -> None:
        """It is another machine that is shown now: nothing is known of its pairs."""
        state = self.state
        self._sweep, self._tested, self._moved = None, {}, {}
        state.sweep, state.verdicts, state.expected = None, (), 0.0
        state.stale, state.why_stale = frozenset(), ""
        self.judge()

    def _keep_beside(self) -> None:
        """Results of the baseline that is compared, for as long as there are none of now."""
        from ladder_backends.p2p.report_json import kept_sweep

        state, kept = self.state, self._ladder.state.hardware.comparison
        state.kept = None
        if kept is None or kept.baseline.results is None or state.sweep is not None:
            return
        state.kept, state.kept_at, state.baseline = (
            kept_sweep(kept.baseline.results),
            kept.baseline.saved_at,
            kept.baseline.name,
        )
        if state.kept is not None:
            state.stale = frozenset(state.kept.pairs) if kept.stale else frozenset()
            state.why_stale = kept.why_stale

    # ---------------------------------------------------------------------------------------------------------

    def _none_runs(self) -> None:
        if self.state.running:
            raise LadderError("a sweep is at work", "", "wait for it, or cancel it")

    def _wish(self, depth: Any, busy_too: bool) -> Wish:
        import tempfile

        from ladder_backends.p2p.worker_process import Patience
        from ladder_backends.session.p2p_wish import REAL, Wish

        self._leave_machine()
        simulate = self._ladder.state.hardware.simulate
        if not simulate:
            return Wish(REAL, depth=depth, busy_too=busy_too)
        from ladder_backends.simulator.machine import load

        machine = load(simulate)
        self._folder = tempfile.TemporaryDirectory(prefix="ladder-simulated-")
        layer = {"kind": "simulated", "machine": str(machine.path), "state": self._folder.name}
        return Wish(layer, machine.title, depth, busy_too=busy_too, patience=Patience(machine.patience))

    def _leave_machine(self) -> None:
        folder, self._folder = self._folder, None
        if folder is not None:
            with contextlib.suppress(OSError):
                folder.cleanup()

    async def _while_at_work(
        self, doing: Coroutine[Any, Any, Sweep], *, only: tuple[int, int] | None = None
    ) -> None:
        state, hardware = self.state, self._ladder.state.hardware
        state.running, state.began, state.verdicts = True, time.monotonic(), ()
        before, self._moved = hardware.machine, {}
        self._ladder.tell(Change.PAIRS)
        try:
            await doing
        finally:
            state.running = False
            self._look()
            self._note_tested(before, only)
            self.judge()
        if before is not None:
            await self._count_errors(before)

    def _note_tested(self, machine: Machine | None, only: tuple[int, int] | None) -> None:
        """Which pairs were tested on which machine: one that was tested again is as fresh as this one."""
        state = self.state
        if state.sweep is None or machine is None:
            return
        tested = state.sweep.pairs
        fresh = {key for key, pair in tested.items() if pair.arms and only in (None, key)}
        self._tested = {key: one for key, one in self._tested.items() if key in tested}
        self._tested |= dict.fromkeys(fresh, machine)
        state.stale -= fresh
        state.why_stale = state.why_stale if state.stale else ""

    async def _count_errors(self, before: Machine) -> None:
        """Read the machine again: which error counters rose meanwhile?"""
        from ladder_backends.p2p.counters import risen

        hardware = self._ladder.hardware
        await hardware.look(again=True)
        if (after := hardware.state.machine) is not None and (moved := risen(before, after)):
            self._moved = moved
            self.judge()

    def _told(self) -> None:
        if self._later is None:
            self._later = asyncio.get_running_loop().call_later(_CALM, self._look)

    def _look(self) -> None:
        if self._later is not None:
            self._later.cancel()
            self._later = None
        if self._sweep is not None:
            self.state.sweep = self._sweep.state
        self._ladder.tell(Change.PAIRS)
