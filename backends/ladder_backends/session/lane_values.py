"""Asks an expression of many lanes: bounded in time, cancelled by whatever makes its answers old."""

from __future__ import annotations

import asyncio
import contextlib
import time
from contextlib import aclosing
from typing import TYPE_CHECKING

from ladder_backends.errors import EngineDied, LadderError
from ladder_backends.model.events import EngineExited, Event, TargetExited, TargetRunning, TargetStopped
from ladder_backends.model.unit_values import UnitLayout
from ladder_backends.session.state import Change, Run

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from ladder_backends.debugger.facets.lanes import Lanes
    from ladder_backends.model.focus import Focus
    from ladder_backends.model.unit_values import Span, UnitValue
    from ladder_backends.session.debug_session import DebugSession
    from ladder_backends.session.lane_values_state import LaneValuesState

LIMIT = 2.0
"""Seconds after which it waits to be told to go on."""

MOST = 8_192
"""Lanes that are asked at once."""

MOST_IN_ALL = 2 * MOST
"""Lanes that are asked however often it is told to go on: more would not be taken together in time."""

TELL_EVERY = 0.5
"""Seconds between notifications while answers come in, unless there are half as many again as were told."""

_EVERYWHERE = (
    "No symbol ",
    "No such frame",
    "A syntax error",
    "Invalid ",
    "No struct",
    "There is no member",
    "it would write",
)
"""Beginnings of errors that are those of the expression, wherever it is asked."""


class SessionLaneValues:
    """Keeps `state.lane_values`."""

    def __init__(self, session: DebugSession) -> None:
        self._session = session
        self._stop = 0
        self._asked_for: tuple[object, ...] = ()
        self._matched: Focus | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def state(self) -> LaneValuesState:
        """What panes show of it."""
        return self._session.state.lane_values

    @property
    def spans(self) -> tuple[Span, ...]:
        """How far round the focus can be asked; none where the engine knows no lanes."""
        facet = self._facet
        return facet.spans if facet is not None else ()

    @property
    def _facet(self) -> Lanes | None:
        return self._session.debugger.lanes

    # -- following

    def take(self, event: Event) -> None:
        """What runs, or is gone, makes the answers those of the moment before."""
        if isinstance(event, TargetRunning | TargetStopped | TargetExited | EngineExited):
            self._stop += 1
            self._end("the target ran on" if isinstance(event, TargetRunning) else "")
            self.state.old = bool(self.state.values)

    def look(self) -> None:
        """Somebody sees the values: ask for them where they are not those of this stop, place and frame."""
        state, debug = self.state, self._session.state
        if not state.expression or debug.run not in (Run.STOPPED, Run.DUMP):
            return
        key = (self._stop, state.expression, state.span, debug.selected_frame)
        if key == self._asked_for and self._stands_among(debug.focus):
            return
        self._ask()

    def _stands_among(self, focus: Focus | None) -> bool:
        """Whether the focus is in one of the lanes that were asked."""
        if focus is None or focus is self._matched or not self.state.layout.rows:
            return True
        if self.state.layout.place_of(focus) is None:
            return False
        self._matched = focus
        return True

    # -- what a person does

    def evaluate(self, expression: str, span: str = "") -> None:
        """Ask an expression anew."""
        state = self.state
        expression = " ".join(expression.split())
        if expression != state.expression:
            # Nobody shall read the answers to one as those to another.
            state.show(UnitLayout(state.span))
        state.expression = expression
        names = [each.name for each in self.spans]
        if span or state.span not in names:
            state.span = span or (names[0] if names else "")
        self._ask()

    def next_span(self) -> None:
        """Ask further round the focus, after the furthest again the nearest."""
        names = [each.name for each in self.spans]
        state = self.state
        if names and state.expression:
            state.span = names[(names.index(state.span) + 1) % len(names) if state.span in names else 0]
            self._ask()

    def cancel(self) -> bool:
        """Stop asking, and keep what has come; returns whether anything was asked."""
        return self._end("cancelled")

    def go_on(self) -> None:
        """Ask those who have not answered, however long it takes."""
        state = self.state
        if not state.expression or state.running or state.old:
            return
        if not state.layout.rows:
            state.failed = ""
            self._run(self._asks(None, more=False))
        elif len(state.values) < state.layout.total:
            self._run(self._asks(None, more=True))

    async def at_rest(self) -> None:
        """Wait until nothing is asked."""
        while self._task is not None and not self._task.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait((self._task,))

    def close(self) -> None:
        """Ask nothing more."""
        self._end("")

    # -- asking

    def _end(self, reason: str) -> bool:
        task, self._task = self._task, None
        if task is None or task.done():
            return False
        task.cancel()
        state = self.state
        state.running, state.reason = False, reason
        self._changed()
        return True

    def _ask(self) -> None:
        state, debug = self.state, self._session.state
        self._end("")
        self._asked_for = (self._stop, state.expression, state.span, debug.selected_frame)
        self._matched = None
        state.reason = state.failed = ""
        if self._facet is None:
            state.failed = "this engine knows no lanes"
        elif debug.run not in (Run.STOPPED, Run.DUMP):
            state.failed = "the target does not stand"
        if state.failed:
            state.show(UnitLayout(state.span))
            self._changed()
            return
        self._run(self._asks(LIMIT, more=False))

    def _run(self, work: object) -> None:
        self.state.running = True
        self._task = asyncio.get_running_loop().create_task(self._quietly(work))  # type: ignore[arg-type]

    async def _quietly(self, work: asyncio.Future[None]) -> None:
        state = self.state
        try:
            await work
        except EngineDied:
            state.running, state.reason = False, "the engine ended"
        except LadderError as error:
            why = error.what if not error.why else f"{error.what}: {error.why}"
            state.running = False
            if state.values and not state.old:
                state.reason = why
            else:
                state.failed, state.old = why, False
                state.show(UnitLayout(state.span))
        self._changed()

    async def _asks(self, limit: float | None, *, more: bool) -> None:
        facet, debug = self._facet, self._session.state
        assert facet is not None
        self._matched = debug.focus
        self.state.provenance = debug.provenance
        await ask_all(facet, self.state, limit=limit, level=debug.selected_frame, tell=self._changed, more=more)

    def _changed(self) -> None:
        self.state.turn += 1
        self._session.tell(Change.LANES)


async def ask_all(
    facet: Lanes,
    state: LaneValuesState,
    *,
    limit: float | None = None,
    level: int = 0,
    tell: Callable[[], None] = lambda: None,
    more: bool = False,
) -> None:
    """Ask `state.expression` of everybody in `state.span`, the nearest first, `MOST` of them at once.

    Args:
        facet: Who asks.
        state: What is asked; answers are put into it.
        limit: Seconds, or None for no limit.
        level: The frame whose names the expression uses.
        tell: Called when there is something new.
        more: Go on with those who have not answered.

    Raises:
        LadderError: Nobody could be asked.
    """
    state.reason, state.running = "", True
    begun = more
    known = len(state.values) if more else 0
    began, spent = time.monotonic(), state.seconds if more else 0.0
    try:
        async with (
            asyncio.timeout(limit),
            aclosing(facet.layouts(state.span, state.layout if more else None)) as layouts,  # type: ignore[type-var]
        ):
            async for layout in layouts:
                if begun:
                    state.grow(layout)
                else:
                    state.show(layout)
                    state.old, begun = False, True
                room = min(MOST, MOST_IN_ALL - known) - (len(state.values) - known)
                places = [place for place in layout.places() if place not in state.values]
                async for _ in _answers(facet, state, places[: max(0, room)], level, tell):
                    state.seconds = spent + time.monotonic() - began
                if state.reason or len(places) >= room:
                    break
    except TimeoutError:
        state.reason = f"{limit:g} s are over"
    state.running = False
    if not begun:
        state.show(UnitLayout(state.span))
        state.failed, state.old = state.reason, False
    elif not state.layout.places():
        state.failed = f"no {state.layout.unit} is held here"
    elif len(state.values) < state.layout.total and not state.reason:
        in_all = len(state.values) >= MOST_IN_ALL
        state.reason = f"{MOST_IN_ALL:,} at most" if in_all else f"{len(state.values) - known:,} at a time"


async def _answers(
    facet: Lanes, state: LaneValuesState, places: Sequence[int], level: int, tell: Callable[[], None]
) -> AsyncIterator[None]:
    """Take answers into the state; gives a turn after each batch, and ends where the others would say the same."""
    told, known = time.monotonic(), len(state.values)
    async with aclosing(facet.values(state.expression, state.layout, places, level)) as values:  # type: ignore[type-var]
        async for batch in values:
            state.values.update((value.place, value) for value in batch)
            yield
            now = time.monotonic()
            if now - told >= TELL_EVERY or 2 * len(state.values) >= 3 * known:
                told, known = now, len(state.values)
                tell()
            if wrong := _wrong_everywhere(batch, state.values):
                state.reason = wrong
                return


def _wrong_everywhere(batch: Sequence[UnitValue], values: dict[int, UnitValue]) -> str:
    """The error of the first answers, where it is one of the expression itself; else an empty string."""
    first = batch[0].error if batch and len(batch) == len(values) else ""
    alike = first.startswith(_EVERYWHERE) and all(value.error == first for value in batch)
    return "the others would say the same" if alike else ""
