"""Sets, changes and removes breakpoints of every kind, in an engine's own commands."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

from ladder_backends.errors import CommandFailed
from ladder_backends.gdb.breakpoint_rows import gathered, row_in
from ladder_backends.gdb.breakpoints import BreakpointTable
from ladder_backends.gdb.log_points import LogPoints, MessageInvalid
from ladder_backends.gdb.questions import Engine
from ladder_backends.gdb.quoting import mi_string
from ladder_backends.gdb.translation import rows_of
from ladder_backends.mi.records import ResultRecord, Value, all_values
from ladder_backends.model.breakpoint import BindingState, BreakpointBinding, BreakpointIntent, BreakpointKind
from ladder_backends.model.events import BreakpointsChanged, Event
from ladder_backends.text import clean_line

SET_DEADLINE = 30.0
"""Seconds for a location to be found; symbols of a large program are read for it."""

MOST_FUNCTIONS = 500
"""Functions that a regular expression may name."""

_WATCH_OPTION = {BreakpointKind.WRITE: "", BreakpointKind.READ: " -r", BreakpointKind.ACCESS: " -a"}
_WATCH_WORD = {BreakpointKind.WRITE: "watch", BreakpointKind.READ: "rwatch", BreakpointKind.ACCESS: "awatch"}
_CATCH_COMMANDS = frozenset({"throw", "catch", "rethrow", "load", "unload"})
_NOT_HERE = ("No symbol", "No frame", "no frame", "No registers", "not available", "No thread selected")
_TOO_WIDE = "cannot be implemented with read/access watchpoint"


class Told(Protocol):
    """What the engine has told meanwhile."""

    breakpoints: BreakpointTable
    log: deque[str]


class BreakpointSetting:
    """Brings an engine's breakpoints in step with intents.

    Args:
        engine: Who is asked.
        told: What it tells.
        emit: Takes the events.
    """

    def __init__(self, engine: Engine, told: Told, emit: Callable[[Event], None]) -> None:
        self._engine = engine
        self._told = told
        self._emit = emit
        self._logs = LogPoints(engine)

    @property
    def _table(self) -> BreakpointTable:
        return self._told.breakpoints

    async def set(self, intent: BreakpointIntent) -> BreakpointBinding:
        """Apply an intent; what the engine refuses comes back as a FAILED binding with its reason."""
        try:
            if intent.kind is BreakpointKind.REGEX:
                binding = await self._set_pattern(intent)
            elif intent.kind.watches:
                binding = await self._set_watch(intent)
            elif intent.kind is BreakpointKind.CATCH:
                binding = await self._set_catch(intent)
            else:
                binding = await self._set_code(intent)
        except MessageInvalid as error:
            self._table.count(intent)
            return BreakpointBinding(intent, BindingState.FAILED, why=error.line())
        except CommandFailed as refused:
            binding = self._refused(intent, refused.what.rstrip("."))
        if binding.state is BindingState.FAILED:
            self._table.count(intent)
        else:
            self._emit(BreakpointsChanged(self._table.bindings))
        return binding

    def _refused(self, intent: BreakpointIntent, why: str) -> BreakpointBinding:
        if _TOO_WIDE in why:
            why = f"{clean_line(intent.location)} is too wide for the processor to watch: watch a part of it"
        return BreakpointBinding(intent, BindingState.FAILED, why=clean_line(why))

    # -- each kind

    async def _set_code(self, intent: BreakpointIntent) -> BreakpointBinding:
        if intent.block is not None or intent.lane is not None:
            return self._table.keep(intent, "it is for a lane of a GPU, which this engine does not see")
        if intent.thread is not None and not await self._is_thread(intent.thread):
            return self._table.keep(intent, f"there is no thread {intent.thread} now")
        where = mi_string(intent.location)
        if intent.log:
            message = await self._logs.arguments(intent.id, intent.log)
            condition = self._logs.condition(intent)
            command = f"-dprintf-insert {_options(intent, condition)} {where} {message}"
            self._told.log.clear()
            try:
                answer = await self._engine.command(command, deadline=SET_DEADLINE)
            except CommandFailed:
                if condition == intent.condition:
                    raise
                self._logs.keep_plain(intent)
                command = f"-dprintf-insert {_options(intent, intent.condition)} {where} {message}"
                answer = await self._engine.command(command, deadline=SET_DEADLINE)
        else:
            self._told.log.clear()
            command = f"-break-insert {_options(intent, intent.condition)} {where}"
            answer = await self._engine.command(command, deadline=SET_DEADLINE)
        row = row_in(answer.results)
        if row is None:
            return BreakpointBinding(intent, BindingState.FAILED, why="the engine's answer names no breakpoint")
        why = self._told.log[-1].rstrip(".") if self._told.log else ""
        binding = self._table.bind(intent, row, why)
        return await self._finish(binding, intent, BreakpointIntent(intent.id, intent.location))

    async def _is_thread(self, thread: int) -> bool:
        answer = await self._engine.command("-thread-list-ids")
        told = answer.results.get("thread-ids")
        ids = all_values(told, "thread-id") if isinstance(told, dict) else told
        return isinstance(ids, list) and str(thread) in ids

    async def _set_watch(self, intent: BreakpointIntent) -> BreakpointBinding:
        command = f"-break-watch{_WATCH_OPTION[intent.kind]} {mi_string(intent.location)}"
        try:
            if intent.location.startswith("-l"):
                # A watch of a place rather than of an expression is known to the command line only.
                return await self._typed(intent, f"{_WATCH_WORD[intent.kind]} {intent.location}")
            answer = await self._engine.command(command, deadline=SET_DEADLINE)
        except CommandFailed as refused:
            if not any(words in refused.what for words in _NOT_HERE):
                raise
            where = f"; set when it stops in {intent.scope}()" if intent.scope else ""
            return self._table.keep(intent, f"not in scope here: {_plain(refused.what.rstrip('.'))}{where}")
        told = next((row for row in answer.results.values() if isinstance(row, dict) and "number" in row), {})
        number = told.get("number")
        if not isinstance(number, str):
            return BreakpointBinding(intent, BindingState.FAILED, why="the engine's answer names no watchpoint")
        self._table.bind(intent, await self._row(number) or told)
        return await self._completed(number, intent)

    async def _set_catch(self, intent: BreakpointIntent) -> BreakpointBinding:
        kind, _, rest = intent.location.partition(" ")
        answer: ResultRecord | None = None
        if kind in _CATCH_COMMANDS and (rest or kind in ("throw", "catch", "rethrow")):
            pattern = f" -r {mi_string(rest)}" if kind in ("throw", "catch", "rethrow") and rest else ""
            pattern = f" {mi_string(rest)}" if kind in ("load", "unload") else pattern
            try:
                answer = await self._engine.command(f"-catch-{kind}{pattern}", deadline=SET_DEADLINE)
            except CommandFailed as refused:
                if refused.code != "undefined-command" and "Undefined MI command" not in refused.what:
                    raise
        if answer is None:
            return await self._typed(intent, f"catch {intent.location}")
        row = answer.results.get("bkpt")
        return await self._made(intent, str(row.get("number", "")) if isinstance(row, dict) else "")

    async def _typed(self, intent: BreakpointIntent, line: str) -> BreakpointBinding:
        """Have the engine's command line make what the machine interface has no command for."""
        before = {binding.number for binding in self._table.bindings}
        self._table.expect(intent)
        try:
            await self._engine.command(
                f"-interpreter-exec console {mi_string(clean_line(line))}", deadline=SET_DEADLINE
            )
        finally:
            self._table.expect(None)
        return await self._made(
            intent, next((one.number for one in self._table.bindings if one.number not in before), "")
        )

    async def _made(self, intent: BreakpointIntent, number: str) -> BreakpointBinding:
        if not number:
            return BreakpointBinding(intent, BindingState.FAILED, why="the engine's answer names no number")
        self._table.bind(intent, await self._row(number) or {"number": number})
        return await self._completed(number, intent)

    async def _set_pattern(self, intent: BreakpointIntent) -> BreakpointBinding:
        if await self._names_too_many(intent.location):
            why = f"more than {MOST_FUNCTIONS} functions match: name them closer, as `FILE:EXPRESSION`"
            return BreakpointBinding(intent, BindingState.FAILED, why=why)
        self._table.forget(intent)
        self._table.begin_pattern(intent)
        try:
            line = clean_line(f"rbreak {intent.location}")
            await self._engine.command(f"-interpreter-exec console {mi_string(line)}", deadline=SET_DEADLINE)
        finally:
            binding = self._table.end_pattern()
        if binding is None:
            return self._table.keep(intent, "no function of a loaded module matches")
        for number in self._table.numbers(binding):
            await self._complete(number, intent)
        found = self._table.find(binding.number) or binding
        return self._table.amend(found, replace(intent, id=found.intent.id))

    async def _names_too_many(self, pattern: str) -> bool:
        name = pattern.rpartition(":")[2] if "::" not in pattern else pattern
        ask = f"-symbol-info-functions --name {mi_string(name)} --max-results {MOST_FUNCTIONS + 1}"
        try:
            answer = await self._engine.command(ask, deadline=SET_DEADLINE)
        except CommandFailed:
            return False
        symbols = answer.results.get("symbols")
        files = symbols.get("debug") if isinstance(symbols, dict) else None
        found = 0
        for file in rows_of(files):
            listed = file.get("symbols")
            found += len(listed) if isinstance(listed, list) else 0
        return found > MOST_FUNCTIONS

    # -- what is said of a breakpoint once it is there

    async def _completed(self, number: str, intent: BreakpointIntent) -> BreakpointBinding:
        """Say of a fresh breakpoint what could not be said when it was made; a refusal takes it away again."""
        try:
            await self._complete(number, intent)
        except CommandFailed:
            await self._delete(number)
            raise
        row = await self._row(number)
        if row is not None:
            self._table.update(row)
        gone = BreakpointBinding(intent, BindingState.FAILED, why="it is gone again")
        return self._table.find(number) or gone

    async def _complete(self, number: str, intent: BreakpointIntent) -> None:
        blank = BreakpointIntent(intent.id, intent.location)
        for command in self._differences(number, blank, intent):
            await self._engine.command(command)

    async def _finish(
        self, binding: BreakpointBinding, intent: BreakpointIntent, blank: BreakpointIntent
    ) -> BreakpointBinding:
        """Say the rest of a breakpoint that was inserted with its options."""
        known = replace(intent, once=blank.once, commands=blank.commands if not intent.log else intent.commands)
        commands = self._differences(binding.number, known, intent)
        for command in commands:
            await self._engine.command(command)
        if not commands:
            return binding
        row = await self._row(binding.number)
        if row is not None:
            self._table.update(row)
        return self._table.find(binding.number) or binding

    async def _row(self, number: str) -> Mapping[str, Value] | None:
        answer = await self._engine.command(f"-break-info {number}")
        table = answer.results.get("BreakpointTable")
        body = table.get("body") if isinstance(table, dict) else None
        return gathered(list(rows_of(body)))

    # -- later

    async def change(self, binding: BreakpointBinding, intent: BreakpointIntent) -> BreakpointBinding:
        """Make a breakpoint what `intent` says; a refusal is a FAILED binding, and nothing has changed then."""
        before = binding.intent
        if not binding.number:
            was_kept = self._table.forget(before)
            made = await self.set(intent)
            if made.state is BindingState.FAILED and was_kept:
                self._table.keep(before, binding.why)
            return made
        # Versions either keep the condition that a pending one was made with, or never stop at one that is changed.
        unsure = binding.state is BindingState.PENDING and intent.condition != before.condition
        if _is_another(before, intent) or unsure:
            made = await self.set(intent)
            if made.state is not BindingState.FAILED:
                for number in self._table.numbers(binding):
                    await self._delete(number)
                self._emit(BreakpointsChanged(self._table.bindings))
            return made
        numbers = self._table.numbers(binding)
        try:
            for number in numbers:
                for command in self._differences(number, before, intent):
                    await self._engine.command(command)
        except CommandFailed as refused:
            for number in numbers:
                with contextlib.suppress(CommandFailed):
                    for command in self._differences(number, intent, before):
                        await self._engine.command(command)
            return BreakpointBinding(intent, BindingState.FAILED, why=clean_line(refused.what.rstrip(".")))
        for number in numbers:
            row = await self._row(number)
            if row is not None:
                self._table.update(row)
        known = self._table.find(binding.number)
        if known is not None:
            self._table.amend(known, replace(known.intent, ignore=intent.ignore, anchor=intent.anchor))
        self._emit(BreakpointsChanged(self._table.bindings))
        return self._table.find(binding.number) or binding

    async def renew(self) -> None:
        """Count the hits that are passed over anew, for another run of the program."""
        for binding in self._table.bindings:
            if binding.number and binding.intent.ignore and binding.left != binding.intent.ignore:
                for number in self._table.numbers(binding):
                    await self._engine.command(f"-break-after {number} {binding.intent.ignore}")
                self._table.renew(binding)

    async def remove(self, binding: BreakpointBinding) -> None:
        """Take a breakpoint away, or the wish for one."""
        if not binding.number:
            gone = self._table.forget(binding.intent)
        else:
            gone = False
            for number in self._table.numbers(binding):
                gone |= await self._delete(number)
        if gone:
            self._emit(BreakpointsChanged(self._table.bindings))

    async def _delete(self, number: str) -> bool:
        with contextlib.suppress(CommandFailed):
            # A refusal means that it is gone already.
            await self._engine.command(f"-break-delete {number}")
        self._table.deleting()
        return self._table.remove(number)

    async def enable(self, binding: BreakpointBinding, enabled: bool) -> None:
        """Switch a breakpoint on or off."""
        numbers = self._table.numbers(binding)
        await self._engine.command(f"-break-{'enable' if enabled else 'disable'} {' '.join(numbers)}")
        self._table.switch(binding.number, enabled)
        self._emit(BreakpointsChanged(self._table.bindings))

    async def enable_location(self, number: str, enabled: bool) -> None:
        """Switch one location of a breakpoint on or off."""
        await self._engine.command(f"-break-{'enable' if enabled else 'disable'} {number}")
        self._table.switch_location(number, enabled)
        self._emit(BreakpointsChanged(self._table.bindings))

    def _differences(self, number: str, before: BreakpointIntent, after: BreakpointIntent) -> list[str]:
        """The commands that make of a breakpoint with the options of `before` one with those of `after`."""
        was, condition = self._logs.condition(before), self._logs.condition(after)
        commands = _differences(number, before, after)
        if condition != was:
            asked = f" {mi_string(condition)}" if condition else ""
            commands.insert(0, f"-break-condition {number}{asked}")
        return commands


def _options(intent: BreakpointIntent, condition: str) -> str:
    options = "-f"
    for wanted, option in ((intent.temporary, " -t"), (not intent.enabled, " -d")):
        options += option if wanted else ""
    if condition:
        options += f" -c {mi_string(condition)}"
    if intent.ignore:
        options += f" -i {intent.ignore}"
    if intent.thread is not None:
        options += f" -p {intent.thread}"
    return options


def _is_another(before: BreakpointIntent, intent: BreakpointIntent) -> bool:
    """Whether an engine has to make a new breakpoint of a changed intent."""
    same = replace(
        intent,
        condition=before.condition,
        enabled=before.enabled,
        ignore=before.ignore,
        commands=before.commands,
        anchor=before.anchor,
        scope=before.scope,
        once=before.once or intent.once,
        temporary=before.temporary or intent.temporary,
    )
    return same != before or (before.once and not intent.once) or (before.temporary and not intent.temporary)


def _differences(number: str, before: BreakpointIntent, after: BreakpointIntent) -> list[str]:
    """What has to be said of all options but the condition."""
    commands: list[str] = []
    if after.ignore != before.ignore:
        commands.append(f"-break-after {number} {after.ignore}")
    if after.commands != before.commands and not after.log:
        commands.append(" ".join(("-break-commands", number, *map(mi_string, after.commands))))
    if after.temporary and not before.temporary:
        commands.append(f'-interpreter-exec console "enable delete {number}"')
    elif after.once and not before.once:
        commands.append(f'-interpreter-exec console "enable once {number}"')
    if after.enabled != before.enabled or (not after.enabled and len(commands) and "enable " in commands[-1]):
        commands.append(f"-break-{'enable' if after.enabled else 'disable'} {number}")
    return commands


def _plain(why: str) -> str:
    return why.replace(" in current context", "")
