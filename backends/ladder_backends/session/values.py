"""Values of a session: expressions that are watched, values that are open, and new values for them.

Only what is on screen is asked for: at a stop as part of the stop's own questions, while scrolling when it comes
into view. What is inside a closed value, or out of sight, is asked for when it is looked at.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Coroutine, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ladder_backends.debugger.facets.values import Look, Values, Wanted
from ladder_backends.errors import LadderError, NotRecorded
from ladder_backends.model.events import EngineExited, Event, TargetExited, TargetRunning, TargetStopped
from ladder_backends.model.frame import FrameWindow
from ladder_backends.model.provenance import Provenance
from ladder_backends.model.variable import ChildWindow, Variable, VariableWindow
from ladder_backends.session.answers import frame_at
from ladder_backends.session.lane_words import lane_of
from ladder_backends.session.state import Change, Run
from ladder_backends.session.target_program import program_of
from ladder_backends.session.target_script import script_of
from ladder_backends.session.value_rows import (
    NOT_IN_SCOPE,
    PAGE,
    WATCHED,
    Branch,
    Key,
    Sort,
    ValueRow,
    child_key,
    lay_out,
    rows_elsewhere,
)
from ladder_backends.session.watch_store import WatchStore
from ladder_backends.session.why_none import why_none
from ladder_backends.text import clean_line

if TYPE_CHECKING:
    from ladder_backends.debugger.target import Target
    from ladder_backends.session.debug_session import DebugSession

MOST_TEXT = 20_000
"""Characters of a string that are told on demand."""

_MOST_BRANCHES = 1_000
_MOST_SEEN = 20_000
_MOST_SHOWN = 2_000
"""Children of one value that are on show at once."""
_ROUNDS = 64


class SessionValues:
    """Keeps `state.values` in step with the engine as far as it is seen."""

    def __init__(self, session: DebugSession) -> None:
        self._session = session
        self._trees = session.state.values
        self._visible = range(0)
        self._stop = 0
        self._moment = 0
        self._read_at: dict[str, int] = {}
        self._seen: OrderedDict[tuple[object, ...], tuple[int, str, str]] = OrderedDict()
        self._looking: asyncio.Task[None] | None = None
        self._store: WatchStore | None = None
        self._laid_out: tuple[object, str, list[ValueRow]] | None = None

    # -- what panes pull

    @property
    def function(self) -> str:
        """The function of the frame that is shown."""
        state = self._session.state
        if state.python.frame is not None:
            return f"{state.python.frame.function} in {state.python.frame.file}"
        frame = frame_at(state.frames, state.selected_frame)
        return frame.function if frame is not None else ""

    @property
    def opens(self) -> bool:
        """The engine can tell what is inside a value."""
        return self._facet is not None

    def rows(self) -> list[ValueRow]:
        """Every row, as far as it is known."""
        variables, function = self._session.state.variables.variables, self.function
        kept = self._laid_out
        if kept is None or kept[0] is not variables or kept[1] != function:
            kept = self._laid_out = (variables, function, lay_out(self._trees, variables, function))
        return kept[2]

    def show(self, first: int, count: int) -> None:
        """Which rows are on screen, none where `count` is 0; what is not known of them is asked for."""
        self._visible = range(first, first + count)
        window = self._session.state.variables
        if count and window.more and first + count > len(self.rows()) and self._stands():
            # The rest of a long list is asked for when its end comes into view.
            self._session.look_for(2 * len(window.variables) + count)
        elif self._looking is None and self._stands() and self._stale(self.rows()):
            self._start(self._look())

    # -- following

    def opened(self, target: Target) -> None:
        """A target was opened: take what is kept for its program."""
        program = program_of(target)
        if program is None or self._store is not None:
            return
        self._store = WatchStore(program, script_of(target))
        for expression in self._store.load():
            self._trees.watches.setdefault(expression, _unread(expression))
        self._kept()
        self._changed()

    async def catch_up(self) -> None:
        """Take over what sessions of the same program on other rungs watch by now."""
        if self._store is None:
            return
        added, gone = await asyncio.to_thread(self._store.news)
        for expression in gone:
            self._trees.watches.pop(expression, None)
        for expression in added:
            self._trees.watches.setdefault(expression, _unread(expression))
        if added or gone:
            self._changed()

    def take(self, event: Event) -> None:
        """Note what an event makes of what is known."""
        if isinstance(event, TargetStopped | TargetRunning):
            self._cancel()
            if isinstance(event, TargetStopped):
                self._stop += 1
                self._trees.assigned.clear()
                self._trees.fresh.clear()
        elif isinstance(event, TargetExited | EngineExited):
            self._cancel()
            self._seen.clear()
            self._trees.assigned.clear()
            self._read_at.clear()
            for expression in self._trees.watches:
                self._trees.watches[expression] = _unread(expression)
            self._laid_out = None

    def follow(
        self, level: int, frames: Awaitable[FrameWindow], variables: Awaitable[VariableWindow]
    ) -> Coroutine[Any, Any, None] | None:
        """What has to be asked for a stop or another frame besides its variables; None where that is nothing."""
        self._moment += 1
        self._cancel()
        trees = self._trees
        if not self._visible or not (trees.watches or trees.branches or trees.forms):
            return None
        return self._follow(level, frames, variables)

    def moved(self) -> None:
        """The focus went elsewhere, and brought variables only: the rest is asked for as it is looked at."""
        self._moment += 1
        self._cancel()

    async def look_again(self) -> None:
        """Ask anew, as where another frame is shown."""
        self._moment += 1
        if self._visible:
            await self._look_now()

    async def _follow(
        self, level: int, frames: Awaitable[FrameWindow], variables: Awaitable[VariableWindow]
    ) -> None:
        try:
            window = await asyncio.shield(variables)
            frame = frame_at(await asyncio.shield(frames), level)
        except LadderError:
            return
        if frame is not None:
            await self._look_at(window.variables, frame.function, level)

    async def _look(self) -> None:
        state = self._session.state
        await self._look_at(state.variables.variables, self.function, state.selected_frame)
        self._session.tell(Change.VARIABLES)

    async def _look_at(self, variables: Sequence[Variable], function: str, level: int) -> None:
        """Ask for what is visible and not known, level by level of the trees."""
        for _ in range(_ROUNDS):
            rows = lay_out(self._trees, variables, function)
            wanted = self._stale(rows)
            if not wanted:
                return
            await asyncio.gather(
                self._read(level, [row for row in wanted if row.sort is Sort.VALUE]),
                *(self._open(level, row) for row in wanted if row.sort is Sort.NOTE),
            )
            self._laid_out = None

    def _stale(self, rows: Sequence[ValueRow]) -> list[ValueRow]:
        """Visible rows that have to be read, and, as NOTE rows, values whose inside is visible and has to be."""
        trees, moment = self._trees, self._moment
        wanted = [row for row in rows_elsewhere(trees) if self._read_at.get(row.variable.name) != moment]
        asked_for = {row.key for row in wanted}
        owners: dict[Key, ValueRow] = {}
        for index, row in enumerate(rows[: self._visible.stop]):
            if row.opened:
                owners[row.key] = row
            if index < self._visible.start:
                continue
            if row.watched and self._read_at.get(row.variable.name) != moment:
                if row.key not in asked_for:
                    wanted.append(row)
            elif row.sort is Sort.VALUE and not row.watched and row.key in trees.forms:
                written = trees.written.get(row.key)
                if written is None or written[0] != moment:
                    wanted.append(row)
            owner = row.key[:-1] if row.sort is Sort.VALUE else row.key
            if row.depth and trees.branches[owner].asked != moment:
                asked = owners.pop(owner, None)
                if asked is not None:
                    wanted.append(asked._replace(sort=Sort.NOTE))
        # A value that is itself to be read anew is opened in the next round, by what it is then.
        read = {row.key for row in wanted if row.sort is Sort.VALUE and row.watched}
        return [row for row in wanted if row.sort is Sort.VALUE or row.key not in read]

    # -- asking

    @property
    def _facet(self) -> Values | None:
        return self._session.debugger.values

    async def _read(self, level: int, rows: Sequence[ValueRow], *, calls: bool = False) -> None:
        """Read watched expressions, and values that are written in other forms."""
        if not rows:
            return
        moment, facet = self._moment, self._facet
        read: Sequence[Variable]
        if facet is None:
            read = [await self._session.evaluate(row.variable.name) for row in rows]
        else:
            wanted = [Wanted(row.variable.expression, row.form) for row in rows]
            try:
                read = await facet.read(wanted, level, calls=calls)
            except NotRecorded:
                # An older recording may hold the values alone.
                read = [await self._session.evaluate(row.variable.expression) for row in rows]
            except LadderError as error:
                read = [replace(row.variable, value="", error=why_none(error)) for row in rows]
        for row, variable in zip(rows, read, strict=True):
            variable = self._marked(row.key, variable)
            if row.watched:
                expression = row.variable.name
                if expression in self._trees.watches:
                    self._read_at[expression] = moment
                    why = _calm(variable.error)
                    self._trees.watches[expression] = replace(variable, name=expression, path=expression, error=why)
            else:
                self._trees.written[row.key] = (moment, variable)

    async def _open(self, level: int, row: ValueRow) -> None:
        """Ask for what is inside a value, or for the whole text of it."""
        branch, variable, moment = self._trees.branches.get(row.key), row.variable, self._moment
        if branch is None:
            # It was closed in the same breath.
            return
        facet = self._facet if not self._of_python(row) else None
        branch.text, window = None, ChildWindow()
        try:
            if (
                facet is not None
                and (variable.children or branch.look is Look.ELEMENTS)
                and not (variable.kind == "string" and branch.look is not Look.ELEMENTS)
            ):
                look = Look.DECLARED if variable.kind == "base" and branch.look is Look.MEMBERS else branch.look
                window = await facet.children(
                    variable.expression, level, branch.start, branch.count, row.form, look
                )
            elif variable.error or (variable.value in ("0x0", "") and not variable.cut):
                window = ChildWindow(note=variable.error or "nothing inside")
            elif facet is not None and (variable.cut or variable.kind == "string"):
                text, cut = await facet.whole(variable.expression, level, row.form, MOST_TEXT)
                branch.text = text + ("…" if cut else "")
            else:
                branch.text = variable.value + ("…" if variable.cut else "")
        except LadderError as error:
            window = ChildWindow(note=why_none(error))
        children = tuple(
            self._marked(child_key(row.key, window, number), child) for number, child in enumerate(window.children)
        )
        branch.window, branch.asked = replace(window, children=children), moment

    def _marked(self, key: Key, variable: Variable) -> Variable:
        """The variable with `changed` set where it differs from what it was at an earlier stop."""
        if variable.error:
            return variable
        here = (*key, self._trees.form_of(key), *lane_of(self._session.state.focus))
        seen = self._seen.pop(here, None)
        before = variable.value if seen is None else seen[2] if seen[0] == self._stop else seen[1]
        self._seen[here] = (self._stop, variable.value, before)
        if len(self._seen) > _MOST_SEEN:
            self._seen.popitem(last=False)
        return replace(variable, changed=True) if before != variable.value else variable

    # -- doing

    async def toggle(self, row: ValueRow) -> None:
        """Open a value or close it."""
        branches = self._trees.branches
        if branches.pop(row.key, None) is None:
            while len(branches) >= _MOST_BRANCHES:
                del branches[next(iter(branches))]
            branches[row.key] = Branch()
            await self._look_now()
        self._changed()

    async def page(self, row: ValueRow) -> None:
        """Show more of a value's children: those before or behind the ones that are shown."""
        branch = self._trees.branches.get(row.key)
        if branch is None:
            return
        if row.sort is Sort.BEFORE:
            start = max(0, branch.start - PAGE)
            branch.count += branch.start - start
            branch.start = start
        else:
            branch.count += PAGE
            surplus = branch.count - _MOST_SHOWN
            if surplus > 0:
                branch.start += surplus
        branch.count, branch.asked = min(branch.count, _MOST_SHOWN), -1
        await self._look_now()
        self._changed()

    async def choose_elements(self, row: ValueRow, first: int, last: int) -> None:
        """Show the elements `first` to `last` of an array, container or pointer."""
        pointer = row.variable.type.rstrip("const ").endswith("*")
        look = Look.ELEMENTS if pointer else Look.MEMBERS
        count = max(1, min(last - first + 1, _MOST_SHOWN))
        self._trees.branches[row.key] = Branch(max(0, first), count, look)
        await self._look_now()
        self._changed()

    async def write_as(self, row: ValueRow, form: str) -> None:
        """Write a value, and what is inside it, in another form."""
        trees = self._trees
        if self._of_python(row):
            self._session.notice(f"{row.variable.name}: Python's values are written in one form", "warning")
            return
        trees.forms.pop(row.key, None)
        if trees.form_of(row.key) != form:
            trees.forms[row.key] = form
        for key, branch in trees.branches.items():
            if key[: len(row.key)] == row.key:
                branch.asked = -1
        trees.written.pop(row.key, None)
        if row.watched:
            self._read_at.pop(row.variable.name, None)
        elif len(row.key) > 2 and row.key[:-1] in trees.branches:
            trees.branches[row.key[:-1]].asked = -1
        await self._look_now()
        self._changed()

    def read_only(self) -> str:
        """Why no value can be set now; empty where it can."""
        state = self._session.state
        if state.provenance is Provenance.RECORDING:
            return "a recording cannot be changed"
        if state.run is Run.DUMP:
            return "a dump cannot be changed: it shows one moment of a program that is gone"
        if state.run is not Run.STOPPED:
            return "the program has to stand"
        return "" if self._facet is not None else "this engine cannot set values"

    async def assign(self, row: ValueRow, text: str) -> None:
        """Set a value; a refusal is a notice."""
        why, facet = self.read_only(), self._facet
        if self._of_python(row):
            why = "values of Python are read, not set"
        if why or facet is None:
            self._session.notice(f"{row.variable.name} stays as it is: {why}", "warning")
            return
        expression, level = row.variable.expression, self._session.state.selected_frame
        try:
            await facet.assign(expression, level, text)
        except LadderError as error:
            self._session.notice(f"{row.variable.name} stays as it is: {why_none(error)}", "warning")
            return
        self._trees.assigned.add(row.key)
        self._session.look_again()

    def show_storage(self) -> bool:
        """Tell address spaces in types, or no longer; False where the engine knows none."""
        facet = self._facet
        if facet is None or facet.storage is None:
            return False
        facet.storage = not facet.storage
        self._session.look_again()
        return True

    async def watch(self, expression: str, *, calls: bool = True) -> None:
        """Watch an expression, or read it again; with `calls` it may run functions of the program, this once."""
        expression = clean_line(expression.strip())
        if not expression:
            return
        self._trees.watches.setdefault(expression, _unread(expression))
        self._trees.fresh.add(expression)
        self._kept()
        if self._stands():
            key = (WATCHED, expression)
            variable = self._trees.watches[expression]
            row = ValueRow(Sort.VALUE, key, variable, watched=True, form=self._trees.form_of(key))
            await self._read(self._session.state.selected_frame, [row], calls=calls)
            await self._look_now()
        self._changed()

    def fold_elsewhere(self) -> None:
        """List the expressions that are out of scope, or fold them into one row again."""
        self._trees.elsewhere_open = not self._trees.elsewhere_open
        self._changed()

    def forget(self, expression: str) -> None:
        """Watch an expression no longer."""
        trees = self._trees
        trees.watches.pop(expression, None)
        self._read_at.pop(expression, None)
        for kept in (trees.branches, trees.forms):
            for key in [key for key in kept if key[:2] == (WATCHED, expression)]:
                del kept[key]
        self._kept()
        self._changed()

    async def peek(self, expression: str) -> Variable:
        """The value of an expression, without running anything; a refusal is its `error`."""
        facet = self._facet
        if facet is None:
            return await self._session.evaluate(expression)
        try:
            read = await facet.read([Wanted(expression)], self._session.state.selected_frame)
        except LadderError as error:
            return Variable(clean_line(expression), "", error=why_none(error))
        return replace(read[0], error=_calm(read[0].error))

    # -- within

    def _of_python(self, row: ValueRow) -> bool:
        """The value is a Python frame's: the engine knows no such name."""
        return self._session.state.python.frame is not None and row.key[0] != WATCHED

    def _stands(self) -> bool:
        return self._session.state.run in (Run.STOPPED, Run.DUMP)

    async def _look_now(self) -> None:
        self._laid_out = None
        if self._stands():
            self._cancel()
            state = self._session.state
            await self._look_at(state.variables.variables, self.function, state.selected_frame)

    def _start(self, looking: Coroutine[Any, Any, None]) -> None:
        self._looking = task = asyncio.get_running_loop().create_task(looking)
        task.add_done_callback(self._looked)

    def _looked(self, task: asyncio.Task[None]) -> None:
        if self._looking is task:
            self._looking = None
        if not task.cancelled():
            error = task.exception()
            if error is not None and not isinstance(error, LadderError):
                raise error

    def _cancel(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None

    def _changed(self) -> None:
        self._laid_out = None
        self._session.tell(Change.VARIABLES)

    def _kept(self) -> None:
        store = self._store
        if store is None:
            return
        store.save(self._trees.watches)
        if store.notice:
            self._session.notice(store.notice, "warning")
            store.notice = ""


def _unread(expression: str) -> Variable:
    return Variable(expression, "", path=expression)


def _calm(error: str) -> str:
    """What is wrong with an expression here, in a person's words."""
    if error.startswith("No symbol ") and error.rstrip(".").endswith("in current context"):
        return NOT_IN_SCOPE
    return error
