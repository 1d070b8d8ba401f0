"""Breakpoints on sets of ranks.

An engine sets a breakpoint in every inferior that knows its place. So it is set disabled, the places of all other
inferiors are switched off one by one, among them those of the one that only holds symbols, and then it is enabled.
A rank out of the set that comes to it all the same, by a library that was loaded just now, goes on at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ladder_backends.errors import CommandFailed, EngineError
from ladder_backends.gdb.quoting import mi_string
from ladder_backends.gdb.translation import number_of, rows_of, text_of
from ladder_backends.mi.records import Value
from ladder_backends.model.ranks import Unreachable
from ladder_backends.ranks.engine.held_rank import HeldRank
from ladder_backends.ranks.engine.node_gdb import NodeGdb
from ladder_backends.ranks.engine.rank_engine import RankEngine
from ladder_backends.ranks.engine.replies import Reply, group
from ladder_backends.text import clean_line

CONDITIONS = Path(__file__).parent / "inside" / "conditions.py"


@dataclass(slots=True)
class RankBreakpoint:
    """A breakpoint of some ranks.

    Attributes:
        number: Ours, over all engines.
        ranks: Whom it is for.
        places: Where it is set, `steady.c:57`, equal ones together.
        hits: How often each rank came to it.
        numbers: Each engine's own number of it.
    """

    number: int
    location: str
    ranks: frozenset[int]
    condition: str = ""
    places: Reply[str] | None = None
    hits: dict[int, int] = field(default_factory=dict)
    numbers: dict[NodeGdb, str] = field(default_factory=dict)


class RankBreakpoints:
    """All breakpoints of an engine of ranks.

    Attributes:
        all: By our number.
    """

    def __init__(self, engine: RankEngine) -> None:
        self._engine = engine
        self._numbers = itertools.count(1)
        self._work: set[asyncio.Task[None]] = set()
        self._prepared: set[NodeGdb] = set()
        self.all: dict[int, RankBreakpoint] = {}

    async def set(self, ranks: Iterable[int], location: str, condition: str = "") -> RankBreakpoint:
        """Have ranks stop at a place, as gdb names it; those that run are not stopped for it.

        Raises:
            CommandFailed: The place cannot be read at all.
        """
        wanted = frozenset(ranks)
        made = RankBreakpoint(next(self._numbers), location, wanted, condition)
        # Known before any gdb has it on: a rank comes to it before the answer does.
        self.all[made.number] = made
        try:
            await self._set_in_all(made, wanted)
        except BaseException:
            del self.all[made.number]
            raise
        return made

    async def _set_in_all(self, made: RankBreakpoint, wanted: frozenset[int]) -> None:
        places: dict[int, str] = {}
        silent: list[Unreachable] = []
        for engine in self._engine.engines:
            mine = [held for held in engine.held if held.rank.rank in wanted]
            if not mine or not engine.hears:
                continue
            found = await self._set_in(engine, made, mine)
            places.update(found)
            silent += [
                Unreachable(held.rank.rank, f"{clean_line(made.location)} is not known to it")
                for held in mine
                if held.rank.rank not in found
            ]
        missing = [rank for rank in wanted if self._engine.held(rank) is None]
        if missing:
            silent.extend(await self._engine.go_on(missing))
        made.places = group(sorted(wanted), places, silent)

    async def remove(self, number: int) -> None:
        """Take one away, everywhere."""
        made = self.all.pop(number)
        for engine, own in made.numbers.items():
            if engine.alive:
                with contextlib.suppress(CommandFailed):
                    await engine.command(f"-break-delete {own}")

    async def remove_all(self) -> None:
        """Take all away."""
        for number in list(self.all):
            await self.remove(number)

    async def _set_in(self, engine: NodeGdb, made: RankBreakpoint, mine: Iterable[HeldRank]) -> dict[int, str]:
        condition = f" -c {mi_string(made.condition)}" if made.condition else ""
        answer = await engine.command(f"-break-insert -d -f{condition} {mi_string(made.location)}")
        row = answer.results.get("bkpt")
        if not isinstance(row, dict):
            raise CommandFailed("-break-insert", "gdb does not tell of the breakpoint")
        own = text_of(row.get("number"))
        made.numbers[engine] = own
        if made.condition:
            await self._look_names_up_at_each_hit(engine, own, made.condition)
        groups = {held.group: held.rank.rank for held in mine}
        places: dict[int, str] = {}
        off: list[str] = []
        for place in _places(row):
            ranks = [groups[name] for name in _groups(place) if name in groups]
            if not ranks:
                off.append(text_of(place.get("number")))
            for rank in ranks:
                file, line = text_of(place.get("file")), number_of(place.get("line"))
                words = f"{file.rpartition('/')[2]}:{line}" if line else text_of(place.get("func"))
                places[rank] = words or text_of(place.get("addr"))
        if off and all("." in number for number in off):
            await asyncio.gather(*(engine.command(f"-break-disable {number}") for number in off))
        engine.reader.hits = lambda number, held: self._hit(engine, number, held)
        engine.reader.moved = lambda row: self._moved(engine, row)
        if places:
            await engine.command(f"-break-enable {own}")
        return places

    async def _look_names_up_at_each_hit(self, engine: NodeGdb, own: str, condition: str) -> None:
        """Replace a condition that gdb has read by one that means each rank's own variables."""
        quoted = condition.replace("\\", "\\\\").replace('"', '\\"')
        try:
            if engine not in self._prepared:
                await engine.command(f"-interpreter-exec console {mi_string(f'source {CONDITIONS}')}")
                self._prepared.add(engine)
            await engine.command(f'-break-condition {own} $_ladder_true("{quoted}")')
        except CommandFailed:
            # A gdb without Python: its own condition stays, which is right where all ranks lie at the same place.
            return

    def _hit(self, engine: NodeGdb, own: str, held: HeldRank) -> bool:
        made = next((each for each in self.all.values() if each.numbers.get(engine) == own), None)
        if made is None:
            return False
        rank = held.rank.rank
        if rank in made.ranks:
            made.hits[rank] = made.hits.get(rank, 0) + 1
            return False
        standing = [thread for thread, stands in held.threads.items() if stands]
        self._later(engine.go_on_threads(held, standing))
        return True

    def _moved(self, engine: NodeGdb, row: Mapping[str, Value]) -> None:
        """A breakpoint has other places now: those of ranks that it is not for are switched off."""
        made = next(
            (each for each in self.all.values() if each.numbers.get(engine) == text_of(row.get("number"))), None
        )
        if made is None:
            return
        wanted = {held.group for held in engine.held if held.rank.rank in made.ranks}
        for place in _places(row):
            number = text_of(place.get("number"))
            if "." in number and text_of(place.get("enabled")) == "y" and not wanted.intersection(_groups(place)):
                self._later(engine.command(f"-break-disable {number}"))

    def _later(self, work: object) -> None:
        async def quiet() -> None:
            with contextlib.suppress(EngineError):
                await work  # type: ignore[misc]

        task = asyncio.get_running_loop().create_task(quiet())
        self._work.add(task)
        task.add_done_callback(self._work.discard)


def _places(row: Mapping[str, Value]) -> Iterator[Mapping[str, Value]]:
    """The places of a breakpoint; its own row where it has just one."""
    places = list(rows_of(row.get("locations")))
    yield from places or [row]


def _groups(place: Mapping[str, Value]) -> list[str]:
    told = place.get("thread-groups")
    return [text_of(each) for each in told] if isinstance(told, list) else []
