"""An expression in many lanes: bursts of a move and a question for each, and the way back at the end of each burst.

The engine has one focus, which its command line shares. A burst is written in one piece and ends with the move
back to where the focus was, so that nothing else that is asked stands elsewhere than it believes, and a burst that
nobody waits for any longer leaves nothing behind. Between bursts the engine answers others.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from ladder_backends.cuda_gdb.calm import until_calm
from ladder_backends.cuda_gdb.focus import focus_of, is_lane, switch_command
from ladder_backends.cuda_gdb.tables import thread_runs
from ladder_backends.debugger.facets.lanes import Lanes
from ladder_backends.errors import CommandFailed, EngineDied, LadderError, NotRecorded
from ladder_backends.gdb.quoting import mi_string
from ladder_backends.gdb.reading_only import why_writes
from ladder_backends.model.focus import Dim3, Focus, format_coordinate
from ladder_backends.model.grid import LANES, Kernel, delinear, linear, volume
from ladder_backends.model.unit_values import Span, UnitLayout, UnitRow, UnitValue, unit_value
from ladder_backends.text import clean_line

if TYPE_CHECKING:
    from ladder_backends.cuda_gdb.grid import GridQuestions
    from ladder_backends.cuda_gdb.standing import Standing
    from ladder_backends.gdb.debugger import GdbDebugger
    from ladder_backends.mi.records import ResultRecord

BURST = 0.04
"""Seconds that one burst is meant to take: others wait no longer than that for their answers."""

FIRST = 8
"""Lanes of the first burst, which tells how long one takes."""

MOST_AT_ONCE = 64
"""Lanes of a burst at most."""

PATIENCE = 1.0
"""Seconds that a burst may take before the engine's work on a value in it is interrupted."""

AGAIN = 0.1
"""Seconds between interruptions, and until the first one where nobody waits any more."""

LOST = 4 * MOST_AT_ONCE
"""Interruptions of one burst after which the engine is left to itself."""

FRESH = 256
"""Lanes of further blocks that are asked together."""

MOST_BLOCKS = 512
"""Blocks whose lanes are looked for at most."""

_LEVELS = ("kernel", "block", "thread")
_READ = re.compile(r"Error: \w+\([^)]*\): (?P<why>.*?)(?:, error=(?P<code>\w+))?(?:, error message=.*)?$")

SPANS = (
    Span("warp", "lanes of this warp"),
    Span("block", "lanes of this block"),
    Span("grid", "lanes of all resident blocks"),
)


class CudaLanes(Lanes):
    """Asks lane after lane of the focused kernel."""

    spans = SPANS

    def __init__(self, engine: GdbDebugger, standing: Standing, grid: GridQuestions) -> None:
        self._engine, self._standing, self._grid = engine, standing, grid
        self._bursts: set[asyncio.Future[ResultRecord]] = set()

    async def at_rest(self) -> None:
        """Wait until no burst is on its way, as before a line is typed whose place in it nobody could tell."""
        if self._bursts:
            await asyncio.wait(tuple(self._bursts))

    # -- which lanes

    async def layouts(self, span: str, known: UnitLayout | None = None) -> AsyncIterator[UnitLayout]:
        """The lanes that are held of the focused warp or block; of the kernel, one block after the other."""
        focus = self._standing.focus
        block = focus.dim3("block") if focus is not None else None
        thread = focus.dim3("thread") if focus is not None else None
        if focus is None or block is None or thread is None or not is_lane(focus):
            raise CommandFailed("", "the engine stands in no lane: go to one first")
        if span not in {each.name for each in SPANS}:
            raise CommandFailed("", f"there is no span {clean_line(span)}: {', '.join(s.name for s in SPANS)}")
        kernel = next((each for each in await self._grid.kernels() if each.number == focus.index("kernel")), None)
        if kernel is None:
            raise CommandFailed("", "the kernel of the focused lane is not listed")
        whole = span == "grid"
        rows = list(known.rows) if known is not None else []
        if not rows:
            rows = _rows(kernel, block, await self._held(kernel, block), grouped=whole)
            at = linear(thread, kernel.block_dim) // LANES
            start = next((number for number, row in enumerate(rows) if row.number == at), 0)
            if span == "warp":
                rows, start = rows[start : start + 1], 0
        else:
            assert known is not None
            start = known.start
        blocks, resident = await self._resident(kernel, block) if whole else ([block], 1)
        found = {row.group for row in rows}
        left = [each for each in blocks if format_coordinate(each) not in found] if whole else []
        yield _layout(span, rows, start, (resident - len(blocks) + len(left)) * volume(kernel.block_dim))
        fresh = 0
        for number, each in enumerate(left, 1):
            await self._calm()
            held = await self._held(kernel, each)
            rows += _rows(kernel, each, held, grouped=True)
            fresh += len(held)
            if fresh >= FRESH or number == len(left):
                fresh = 0
                more = resident - len(blocks) + len(left) - number
                yield _layout(span, rows, start, more * volume(kernel.block_dim))

    async def _resident(self, kernel: Kernel, focused: Dim3) -> tuple[list[Dim3], int]:
        """Resident blocks, the focused one first and no more than `MOST_BLOCKS`, and how many there are."""
        ranges = await self._grid.blocks(kernel.number)
        found = [focused]
        for run in ranges:
            first = linear(run.first, kernel.grid_dim)
            for number in range(first, first + min(run.count, MOST_BLOCKS)):
                block = delinear(number, kernel.grid_dim)
                if block != focused and len(found) < MOST_BLOCKS:
                    found.append(block)
        return found, sum(run.count for run in ranges)

    async def _held(self, kernel: Kernel, block: Dim3) -> list[int]:
        """Numbers of the threads of a block that are held, in order."""
        told = await self._engine.command(
            f"-cuda-info-threads kernel {kernel.number} block {format_coordinate(block)}"
        )
        most = volume(kernel.block_dim)
        numbers: set[int] = set()
        for run in thread_runs(told.results):
            first, last = linear(run.first, kernel.block_dim), linear(run.last, kernel.block_dim)
            # Where the count is another one, lanes between them are not held: these refuse when they are asked.
            numbers.update(range(max(0, first), min(last, most - 1) + 1))
        return sorted(numbers)

    # -- their values

    async def values(
        self, expression: str, layout: UnitLayout, places: Sequence[int], frame_level: int = 0
    ) -> AsyncIterator[Sequence[UnitValue]]:
        """The values, a burst at a time."""
        if why := why_writes(expression):
            raise CommandFailed(expression, why)
        size, done = FIRST, 0
        while done < len(places):
            await self._calm()
            batch = places[done : done + size]
            began = time.monotonic()
            values = await self._burst(expression, layout, batch, frame_level)
            each = (time.monotonic() - began) / len(batch)
            done += len(batch)
            yield values
            size = max(1, min(MOST_AT_ONCE, int(BURST / each) if each > 0 else MOST_AT_ONCE, size * 4))

    async def _calm(self) -> None:
        """Wait until it is known where the engine stands, if it does."""
        await until_calm(self._engine)
        if not self._standing.on_device:
            raise CommandFailed("", "the engine stands in no lane any more")
        if self._engine.events.running:
            raise CommandFailed("", "the target runs")

    async def _burst(
        self, expression: str, layout: UnitLayout, places: Sequence[int], level: int
    ) -> Sequence[UnitValue]:
        back = self._standing.focus
        assert back is not None
        frame = self._engine.selected_frame
        asked = [(place, unit) for place in places if (unit := layout.unit_at(place)) is not None]
        rounds = (self._engine.print_limits(), self._engine.without_calls())
        ask = f"-data-evaluate-expression {mi_string(expression)}"
        loop = asyncio.get_running_loop()
        burst: list[asyncio.Future[ResultRecord]] = []

        def send(text: str) -> asyncio.Future[ResultRecord]:
            sent = self._engine.submit(text, deadline=None)
            burst.append(sent)
            self._bursts.add(sent)
            sent.add_done_callback(self._over)
            return sent

        for before, _ in rounds:
            for text in before:
                send(text)
        answers: list[tuple[asyncio.Future[ResultRecord], ...]] = []
        for _, unit in asked:
            # An engine may take a level that there is none of, and stand nowhere: it is asked where it stands.
            into = [f"-stack-select-frame {level}", "-stack-info-frame"] if level else []
            steps = [switch_command(unit), *into, ask]
            answers.append(tuple(send(text) for text in steps))
        send(switch_command(Focus.of(**{name: back.get(name) for name in _LEVELS})))
        if frame:
            send(f"-stack-select-frame {frame}")
        for _, behind in rounds:
            for text in behind:
                send(text)
        # Who stops waiting leaves them on their way: the engine answers all of them, and goes back.
        timer = loop.call_later(PATIENCE, self._hurry, burst, 0)
        try:
            await asyncio.shield(asyncio.wait(burst))
        except asyncio.CancelledError:
            timer.cancel()
            loop.call_later(AGAIN, self._hurry, burst, 0)
            raise
        timer.cancel()
        values = [_value(place, unit, each, level) for (place, unit), each in zip(asked, answers, strict=True)]
        if all(isinstance(_error(each[-1]), NotRecorded) for each in answers):
            raise NotRecorded("not in this recording", clean_line(expression), "open it with the engine itself")
        return values

    def _hurry(self, burst: Sequence[asyncio.Future[ResultRecord]], interrupted: int) -> None:
        """Interrupt the engine's work on values that take too long, one after the other; then it goes back."""
        if all(sent.done() for sent in burst) or interrupted >= LOST:
            return
        pending = self._engine.pending()
        if pending and pending[0][0].startswith("-data-evaluate-expression") and not self._engine.console_works:
            self._engine.interrupt_engine()
        asyncio.get_running_loop().call_later(AGAIN, self._hurry, burst, interrupted + 1)

    def _over(self, sent: asyncio.Future[ResultRecord]) -> None:
        self._bursts.discard(sent)
        if not sent.cancelled():
            # Nobody may be left to hear of it.
            sent.exception()


def _error(answer: asyncio.Future[ResultRecord]) -> BaseException | None:
    return answer.exception() if not answer.cancelled() else CommandFailed("", "cancelled")


def _in_frame(told: asyncio.Future[ResultRecord], level: int) -> bool:
    if _error(told) is not None:
        return False
    row = told.result().results.get("frame")
    return isinstance(row, dict) and row.get("level") == str(level)


def _value(place: int, unit: Focus, answers: Sequence[asyncio.Future[ResultRecord]], level: int) -> UnitValue:
    """What came of the move to a lane, of that to a frame where there was one, and of the question."""
    moved, *framed, answer = answers
    for one in answers:
        error = _error(one)
        if isinstance(error, EngineDied):
            raise error
    refused = _error(moved)
    if refused is not None:
        return unit_value(place, "", "not held" if isinstance(refused, CommandFailed) else _words(refused))
    reached = focus_of(moved.result().results)
    if reached is not None and not all(reached.get(name) == unit.get(name) for name in ("block", "thread")):
        # It went to the nearest lane that is held, and what follows is told of that one.
        return unit_value(place, "", "not held")
    if framed and not _in_frame(framed[-1], level):
        return unit_value(place, "", "No such frame in this lane")
    refused = _error(answer)
    if refused is not None:
        return unit_value(place, "", _words(refused))
    text = answer.result().results.get("value")
    return unit_value(place, clean_line(text) if isinstance(text, str) else "")


def _words(refused: BaseException) -> str:
    """Why there is no value, without what is each lane's own: classes are made of the same words."""
    text = clean_line(refused.what if isinstance(refused, LadderError) else "no answer")
    read = _READ.match(text)
    return (read["why"] + (f" ({read['code']})" if read["code"] else "") if read else text).rstrip(".")


def _layout(span: str, rows: Sequence[UnitRow], start: int, left: int) -> UnitLayout:
    """The layout of these rows, with so many lanes in blocks that were not looked into."""
    counted = sum(1 for row in rows for unit in row.units if unit is not None)
    return UnitLayout(span, rows=tuple(rows), start=start, total=counted + left)


def _rows(kernel: Kernel, block: Dim3, held: Sequence[int], *, grouped: bool) -> list[UnitRow]:
    """Warps of a block in which a thread is held."""
    size = volume(kernel.block_dim)
    base = linear(block, kernel.grid_dim) * size
    present = set(held)
    rows = []
    for warp in sorted({number // LANES for number in held}):
        units = tuple(
            Focus.of(kernel=kernel.number, block=block, thread=delinear(number, kernel.block_dim))
            if number in present
            else None
            for number in range(warp * LANES, (warp + 1) * LANES)
        )
        rows.append(UnitRow(warp, format_coordinate(block) if grouped else "", units, base + warp * LANES))
    return rows
