"""Where cuda-gdb stands: in a lane or in a thread of the host; asked for, moved, left and found again.

The engine tells of no move of its focus, and a visit to a thread of the host takes the focus off the device. So the
focus is asked for after whatever may have moved it, and a lane that was left is remembered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from ladder_backends.cuda_gdb.focus import (
    FOCUS_QUERY,
    cluster_dim_of,
    focus_of,
    host_focus,
    is_lane,
    switch_command,
)
from ladder_backends.debugger.contract import FocusRefused
from ladder_backends.errors import CommandFailed
from ladder_backends.gdb.questions import Engine
from ladder_backends.gdb.translation import number_of
from ladder_backends.mi.records import ResultRecord, Value
from ladder_backends.model.focus import Dim3, Focus

_NO_FOCUS = ("Focus is not set", "No CUDA", "not focused")
_BAD_COORDINATES = "Invalid coordinates"
_LOGICAL = ("kernel", "block", "thread")


class HostSide(Protocol):
    """What the engine tells of the host."""

    thread: int | None


class Standing:
    """The engine's one focus.

    Attributes:
        focus: Where it stands, as far as it was told: in a lane, in a thread of the host, or nowhere.
        left: The lane it stood in before it visited the host, or None.
        clusters: Blocks of a cluster in each direction, by kernel number, for kernels that have them.
        live: There is a process, with threads of the host.
    """

    def __init__(self, engine: Engine, host: HostSide) -> None:
        self._engine, self._host = engine, host
        self.focus: Focus | None = None
        self.left: Focus | None = None
        self.clusters: dict[int, Dim3] = {}
        self.live = False

    @property
    def on_device(self) -> bool:
        """It stands in a lane."""
        return is_lane(self.focus)

    def told(self, results: Mapping[str, Value]) -> Focus | None:
        """The focus that a record tells of: a lane; a thread where it stopped without one; else as it was."""
        lane = focus_of(results)
        if lane is not None:
            self._note_cluster(lane, results)
            self.focus, self.left = lane, None
            return lane
        if not self.live:
            return None
        if "frame" in results or "reason" in results or not self.on_device:
            self.focus, self.left = host_focus(number_of(results.get("thread-id"))), None
        return self.focus

    async def ask(self) -> Focus | None:
        """Ask for it."""
        try:
            answer = await self._engine.command(FOCUS_QUERY)
        except CommandFailed as refused:
            if any(words in refused.what for words in _NO_FOCUS):
                return self._off_device()
            raise
        lane = focus_of(answer.results)
        if lane is None:
            return self._off_device()
        before = self.focus
        if before is not None and "cluster" not in lane and before.get("block") == lane.get("block"):
            lane = _with_cluster(lane, before)
        self.focus = lane
        return lane

    def _off_device(self) -> Focus | None:
        if self.on_device and self.live:
            self.left = self.focus
        self.focus = host_focus(self._host.thread) if self.live else None
        return self.focus

    async def switch(self, asked: Focus) -> Focus:
        """Move it to a lane; levels that are not asked for go to the nearest lane that is held.

        Raises:
            FocusRefused: There is no such lane now; it stands where it stood.
        """
        command = switch_command(asked)
        try:
            answer = await self._moved(command, asked)
        except CommandFailed as refused:
            if _BAD_COORDINATES in refused.what:
                raise FocusRefused(command, self._not_held(asked), asked) from refused
            raise FocusRefused(command, refused.what, asked) from refused
        reached = focus_of(answer.results) or await self.ask()
        if reached is None or not is_lane(reached):
            raise FocusRefused(command, "the engine stands on no kernel", asked)
        self._note_cluster(reached, answer.results)
        self.focus, self.left = reached, None
        return reached

    async def _moved(self, command: str, asked: Focus) -> ResultRecord:
        try:
            return await self._engine.command(command)
        except CommandFailed as refused:
            cluster = self._cluster_of(asked)
            if _BAD_COORDINATES not in refused.what or cluster is None:
                raise
            # What is left out is taken from the focus, and the block is in another cluster.
            here = self.focus.index("kernel") if self.focus is not None else None
            whole = Focus.of(kernel=asked.get("kernel", here), block=asked.get("block"), thread=asked.get("thread"))
            return await self._engine.command(switch_command(whole, cluster))

    def _cluster_of(self, asked: Focus) -> Dim3 | None:
        """The cluster of a block, by the extent that the engine told for its kernel."""
        here = self.focus
        kernel = asked.index("kernel")
        if kernel is None and here is not None:
            kernel = here.index("kernel")
        extent, block = self.clusters.get(kernel) if kernel is not None else None, asked.dim3("block")
        if extent is None or block is None:
            return None
        return block[0] // extent[0], block[1] // extent[1], block[2] // extent[2]

    def _not_held(self, asked: Focus) -> str:
        if not self.live:
            return f"the dump does not hold {asked.describe()}"
        return (
            f"{asked.describe()} is not on the device now: it has ended or not begun — a breakpoint for that lane"
            " waits for it"
        )

    def visit(self, thread: int | None) -> Focus | None:
        """It was moved to a thread of the host."""
        if self.on_device:
            self.left = self.focus
        self.focus = host_focus(thread)
        return self.focus

    async def return_to(self, lane: Focus) -> bool:
        """Go back to a lane after a question that was not to lead away; returns whether it is there again."""
        try:
            await self.switch(Focus.of(**{name: lane.get(name) for name in _LOGICAL}))
        except FocusRefused:
            self.focus, self.left = host_focus(self._host.thread), lane
            return False
        return True

    def forget(self) -> None:
        """There is no process any longer."""
        self.focus = self.left = None
        self.clusters.clear()

    def _note_cluster(self, lane: Focus, results: Mapping[str, Value]) -> None:
        kernel, extent = lane.index("kernel"), cluster_dim_of(results)
        if kernel is not None and extent is not None:
            self.clusters[kernel] = extent


def _with_cluster(lane: Focus, before: Focus) -> Focus:
    cluster = before.get("cluster")
    if cluster is None:
        return lane
    at = next((index for index, (name, _) in enumerate(lane.coordinates) if name == "block"), 0)
    return replace(lane, coordinates=(*lane.coordinates[:at], ("cluster", cluster), *lane.coordinates[at:]))
