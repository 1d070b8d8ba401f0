"""The hardware rung: reads the machine, samples its counters, keeps and compares baselines."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from ladder_backends.errors import LadderError
from ladder_backends.session.state import Change

if TYPE_CHECKING:
    from pathlib import Path

    from ladder_backends.hardware.live import LiveReader
    from ladder_backends.hardware.pci import Supplied
    from ladder_backends.session.hardware_ports import HardwarePorts
    from ladder_backends.session.hardware_state import HardwareState
    from ladder_backends.session.ladder import Ladder

MOST_XIDS = 50


class HardwareDesk:
    """What is done on the hardware rung.

    Args:
        ladder: Whose rung it is.
    """

    def __init__(self, ladder: Ladder) -> None:
        self._ladder = ladder
        self._ports: HardwarePorts | None = None
        self._live: LiveReader | None = None
        self._sample: asyncio.Future[Any] | None = None
        self._supplied: Supplied | None = None
        self._log: str | None = None
        self._compared = ""

    @property
    def state(self) -> HardwareState:
        """What panes see."""
        return self._ladder.state.hardware

    async def open(self, simulate: str = "") -> None:
        """Show the rung, with this machine or with a simulated one.

        Raises:
            MachineInvalid: There is no such simulated machine.
        """
        if simulate != self.state.simulate:
            await self._forget()
            self.state.simulate = simulate
        self._ladder.switch_rung("hardware")
        await self.look()

    async def look(self, *, again: bool = False) -> None:
        """Read the machine, where that was not done yet.

        Raises:
            MachineInvalid: There is no such simulated machine.
        """
        state = self.state
        if state.reading or (state.machine is not None and not again):
            return
        state.reading, state.failure = True, ""
        self._ladder.tell(Change.HARDWARE)
        if again and state.simulate:
            # Its file may have been edited.
            await self.close()
            self._ports = None
        try:
            state.machine = await asyncio.to_thread(self._read)
            if state.comparison is not None:
                await self._compare(self._compared)
            self._ladder.pairs.machine_read()
        except LadderError as error:
            state.failure = error.line()
            raise
        finally:
            state.reading = False
            self._ladder.tell(Change.HARDWARE)

    def _read(self) -> Any:
        from ladder_backends.hardware.pci import NOTHING_SUPPLIED
        from ladder_backends.session.hardware_ports import hardware_ports

        if self._ports is None:
            self._ports = hardware_ports(self.state.simulate)
        return self._ports.read(self._supplied or NOTHING_SUPPLIED, self._log)

    # Live ------------------------------------------------------------------------------------------------------

    async def sample(self) -> None:
        """Take the counters once; where the last sample is still being taken, this one is left out."""
        machine, ports = self.state.machine, self._ports
        if self._sample is not None or ports is None or machine is None or machine.unread or not machine.gpus:
            return
        from ladder_backends.hardware.live import LiveReader
        from ladder_backends.hardware.ports import NvmlRefused

        live = self._live = self._live or LiveReader(ports.nvml)
        # Apart from who asks: what is under way in a thread is waited for at the end.
        self._sample = asyncio.ensure_future(asyncio.to_thread(live.sample, len(machine.gpus)))
        try:
            counters, xids = await asyncio.shield(self._sample)
        except NvmlRefused:
            return
        finally:
            if self._sample is not None and self._sample.done():
                self._sample = None
        if counters != self.state.counters or xids:
            self.state.counters = counters
            self.state.xids = [*self.state.xids, *xids][-MOST_XIDS:]
            self._ladder.tell(Change.HARDWARE)

    # What a person gives ---------------------------------------------------------------------------------------

    async def paste(self, text: str) -> str:
        """Take output of setpci, lspci or dmesg that root has given; returns what was in it.

        Raises:
            LadderError: Nothing of use is in it.
        """
        from ladder_backends.hardware.acs import pasted
        from ladder_backends.hardware.kernel_log import looks_like_log
        from ladder_backends.hardware.pci import Supplied

        controls, log = pasted(text), text if looks_like_log(text) else None
        if not controls and log is None:
            raise LadderError(
                "nothing of use is in what was pasted", "it wants output of setpci, lspci -vvv or dmesg"
            )
        before = self._supplied.controls if self._supplied is not None else {}
        self._supplied = Supplied({**before, **controls}, time.time())
        self._log = log or self._log
        await self.look(again=True)
        told = [f"ACS of {len(controls)} ports"] if controls else []
        return " and ".join([*told, *(["the kernel's log"] if log else [])])

    async def paste_file(self, name: str) -> str:
        """Take such output from a file; returns what was in it.

        Raises:
            LadderError: It cannot be read, or nothing of use is in it.
        """
        from ladder_backends.hardware.supplied import read_supplied

        return await self.paste(await asyncio.to_thread(read_supplied, name))

    # Baselines -------------------------------------------------------------------------------------------------

    async def save(self, name: str, results: dict[str, Any] | None = None) -> Path:
        """Keep what is so now.

        Raises:
            LadderError: Nothing was read yet, or it cannot be written.
        """
        from ladder_backends.hardware import baseline

        machine = self.state.machine
        if machine is None:
            raise LadderError("nothing can be kept", "the machine was not read yet")
        results = results or self._ladder.pairs.document()
        return await asyncio.to_thread(baseline.save, name, machine, results)

    def baselines(self) -> tuple[str, ...]:
        """Names of those that are kept in the state folder."""
        from ladder_backends.hardware.baseline import names

        return names()

    async def compare(self, name: str) -> None:
        """Put a baseline beside the machine; an empty name takes it away again.

        Raises:
            BaselineInvalid: There is none of that name.
        """
        if name:
            await self._compare(name)
        else:
            self.state.comparison = None
            self._ladder.pairs.judge()
        self._ladder.tell(Change.HARDWARE)

    async def _compare(self, name: str, results: dict[str, Any] | None = None) -> None:
        from ladder_backends.hardware import baseline

        machine = self.state.machine
        self._compared = name
        kept = await asyncio.to_thread(baseline.load, name)
        if machine is not None:
            self.state.comparison = baseline.compare(kept, machine, results or self._ladder.pairs.document())
            self._ladder.pairs.judge()

    # Reports ---------------------------------------------------------------------------------------------------

    async def report(self, name: str = "") -> str:
        """Write the report of the machine and its pairs to a file; without a name, give it as Markdown.

        Raises:
            LadderError: Nothing was read yet, or it cannot be written.
        """
        from ladder_backends.session.machine_report import MachineReport, markdown, write

        machine, pairs = self.state.machine, self._ladder.pairs
        if machine is None:
            raise LadderError("there is nothing to report", "the machine was not read yet")
        comparison = pairs.compared()
        made = MachineReport(machine, comparison, pairs.state.sweep, pairs.state.verdicts, pairs.state.why_stale)
        if not name:
            return markdown(made)
        return str(await asyncio.to_thread(write, made, name))

    # Ending ----------------------------------------------------------------------------------------------------

    async def _forget(self) -> None:
        await self.close()
        state = self.state
        state.machine, state.counters, state.xids, state.comparison = None, {}, [], None
        await self._ladder.pairs.close()
        self._ladder.pairs.forget()
        self._ports = self._supplied = self._log = None

    async def close(self) -> None:
        """Let go of NVML; a sample that is being taken ends first."""
        live, self._live = self._live, None
        if self._sample is not None:
            await asyncio.wait((self._sample,))
        if live is not None:
            await asyncio.to_thread(live.close)
