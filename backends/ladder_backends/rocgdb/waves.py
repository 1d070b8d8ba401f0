"""Questions about dispatches, work-groups, waves and lanes; each with a filter, never for the table of all threads.

`-dispatch-info` and `-lane-info` are in the manual's chapter on heterogeneous debugging commands of the machine
interface, which says of itself that it is not implemented whole: each is asked for by name first. A gdb without
them that was built for AMD GPUs knows waves, and no lanes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ladder_backends.errors import CommandFailed
from ladder_backends.gdb.dialect import GdbDialect
from ladder_backends.gdb.translation import frame_of, number_of, rows_of, text_of
from ladder_backends.model.focus import Dim3
from ladder_backends.model.grid import BlockRange, Kernel, Lane, LaneState, Warp
from ladder_backends.rocgdb.names import (
    DispatchName,
    WaveName,
    dispatch_of,
    wave_of,
    waves_pattern,
    workitem_of,
)

_FOUND = re.compile(r"^Thread (\d+) has target id '(.*)'", re.MULTILINE)
_STATES = {"A": LaneState.ACTIVE, "I": LaneState.DIVERGENT, "U": LaneState.ABSENT}
_CLI_LANE = re.compile(r"^[* ]\s*(\d+)\s+([AIUR])\s+(AMDGPU Lane \S+ \S+)", re.MULTILINE)


class Waves:
    """Asks an engine about its waves.

    Attributes:
        dispatches: Those listed or met, by the runtime's number.
    """

    def __init__(self, engine: GdbDialect) -> None:
        self._engine = engine
        self._exists: dict[str, bool] = {}
        self.dispatches: dict[int, DispatchName] = {}

    async def has(self, command: str) -> bool:
        """Whether the engine has a command of the machine interface; asked once."""
        if command not in self._exists:
            answer = await self._engine.command(f"-info-gdb-mi-command {command}")
            told = answer.results.get("command")
            self._exists[command] = isinstance(told, dict) and told.get("exists") == "true"
        return self._exists[command]

    async def name(self, thread: int) -> WaveName | None:
        """The wave that a thread is; None for one of the host, or one that is gone."""
        try:
            answer = await self._engine.command(f"-thread-info {thread}")
        except CommandFailed:
            return None
        names = (text_of(row.get("target-id")) for row in rows_of(answer.results.get("threads")))
        wave = next((wave_of(name) for name in names), None)
        if wave is not None and wave.dispatch is not None:
            # An engine that lists no dispatches tells of this one by its waves alone.
            told = DispatchName(wave.agent, wave.queue, wave.dispatch, 0)
            self.dispatches.setdefault(wave.dispatch, told)
        return wave

    async def kernels(self) -> Sequence[Kernel]:
        """Dispatches; their grids are told in work-items, and counted in work-groups here."""
        if not await self.has("dispatch-info"):
            return ()
        answer = await self._engine.command("-dispatch-info")
        kernels: list[Kernel] = []
        self.dispatches.clear()
        for row in rows_of(answer.results.get("dispatches")):
            name = dispatch_of(text_of(row.get("target-id")))
            if name is None:
                continue
            self.dispatches[name.dispatch] = name
            group, items = _dim(row.get("workgroup")), _dim(row.get("grid"))
            x, y, z = (-(-whole // max(1, part)) for whole, part in zip(items, group, strict=True))
            function = text_of(row.get("kernel-function")).partition("(")[0]
            kernels.append(Kernel(name.dispatch, name.packet, name.agent, function, (x, y, z), group, "Active"))
        return kernels

    async def find(self, dispatch: int, workgroup: Dim3 | None = None) -> Sequence[tuple[int, WaveName]]:
        """Waves of a work-group, or the first wave of each, with the engine's thread numbers, by `thread find`."""
        if dispatch not in self.dispatches:
            await self.kernels()
        name = self.dispatches.get(dispatch)
        if name is None:
            return ()
        said = await self._engine.cli_text(f"thread find {waves_pattern(name, workgroup)}")
        found = [(int(number), wave) for number, told in _FOUND.findall(said) if (wave := wave_of(told))]
        return sorted(found, key=lambda each: (each[1].place or 0, each[1].wave))

    async def blocks(self, dispatch: int) -> Sequence[BlockRange]:
        """Work-groups whose first wave is resident, neighbours in x together."""
        groups = {wave.workgroup for _, wave in await self.find(dispatch) if wave.workgroup is not None}
        return _coalesced(dispatch, sorted(groups, key=lambda group: group[::-1]))

    async def warps(self, dispatch: int, workgroup: Dim3) -> Sequence[Warp]:
        """Waves of a work-group with their lanes, 32 or 64; without lanes where the engine does not tell them."""
        return [
            Warp(
                number=wave.wave,
                index=wave.place or 0,
                sm=0,
                device=wave.agent,
                block=workgroup,
                lanes=tuple(await self.lanes(thread)),
                kernel=dispatch,
            )
            for thread, wave in await self.find(dispatch, workgroup)
        ]

    async def lanes(self, thread: int) -> Sequence[Lane]:
        """Every lane of a wave, unused ones too; none where the engine knows no lanes."""
        if await self.has("lane-info"):
            answer = await self._engine.command(f"-lane-info --thread {thread}")
            return [
                Lane(
                    number_of(row.get("id")) or 0,
                    _STATES.get(text_of(row.get("state")), LaneState.ABSENT),
                    workitem_of(text_of(row.get("target-id"))),
                    place=frame.place if (frame := frame_of(row.get("frame"))) is not None else None,
                )
                for row in rows_of(answer.results.get("lanes"))
            ]
        try:
            said = await self._engine.cli_text(f"thread apply {thread} -q info lanes -all")
        except CommandFailed:
            return ()
        return [
            Lane(int(number), _STATES.get(state, LaneState.ABSENT), workitem_of(told))
            for number, state, told in _CLI_LANE.findall(said)
        ]


def _dim(told: object) -> Dim3:
    """Sizes of a list of one to three numbers; those that are left out are 1."""
    sizes = [number for each in told if (number := number_of(each))] if isinstance(told, list) else []
    x, y, z = (*sizes, 1, 1, 1)[:3]
    return x, y, z


def _coalesced(kernel: int, groups: Iterable[Dim3]) -> Sequence[BlockRange]:
    runs: list[tuple[Dim3, Dim3, int]] = []
    for group in groups:
        if runs and (runs[-1][1][0] + 1, *runs[-1][1][1:]) == group:
            first, _, count = runs[-1]
            runs[-1] = first, group, count + 1
        else:
            runs.append((group, group, 1))
    return [BlockRange(kernel, first, last, count, "running") for first, last, count in runs]
