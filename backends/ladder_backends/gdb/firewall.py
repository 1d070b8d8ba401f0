"""What gdb is given otherwise than it would be without the console, and how to let it in."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from ladder_backends import let_in
from ladder_backends.debugger.facets.firewall import Firewall
from ladder_backends.errors import CommandFailed, DeadlinePassed
from ladder_backends.gdb.environment import PROGRAM_TERM, variables_kept
from ladder_backends.gdb.event_reader import EventReader
from ladder_backends.gdb.init_files import init_files
from ladder_backends.gdb.ledger_settings import BY_NAME, DEBUGINFOD, SETTINGS, ForcedSetting
from ladder_backends.mi.environment import LIBRARIES
from ladder_backends.mi.records import ResultRecord
from ladder_backends.model.events import ConsoleOutput, EngineNotice, Event
from ladder_backends.model.ledger import Kind, LedgerEntry, Scope
from ladder_backends.text import clean_line

READ_DEADLINE = 20.0
"""Seconds after which the reading of a user's file is interrupted."""

_URL_FILES = Path("/etc/debuginfod")
_LONGEST = 200
_SAME = {"0": ("unlimited", "4294967295", "-1")}
"""What else gdb calls a value when it tells of it."""


class _Engine(Protocol):
    async def command(self, text: str, *, deadline: float | None = 10.0) -> ResultRecord: ...

    async def cli(self, text: str, *, deadline: float | None = 10.0) -> ResultRecord: ...

    async def cli_text(self, text: str, *, deadline: float | None = 10.0) -> str: ...

    def interrupt_engine(self) -> None: ...

    def emit(self, event: Event) -> None: ...

    def expect_styles(self) -> None: ...

    @property
    def keeps_libraries(self) -> str: ...

    @property
    def given_libraries(self) -> bool: ...


class GdbFirewall(Firewall):
    """The ledger of a gdb."""

    def __init__(self, engine: _Engine, events: EventReader) -> None:
        self._engine = engine
        self._events = events
        self._read: set[str] = set()

    # -- at the start

    @staticmethod
    def at_start(settings: Sequence[str]) -> list[str]:
        """Those of a dialect's commands that no choice of the user's stands against, and the user's own."""
        let = [setting for setting in SETTINGS if not setting.fixed and let_in.lets_in(setting.name)]
        ours = {setting.command(setting.ours) for setting in let}
        theirs = [command for setting in let if setting.name == DEBUGINFOD for command in _fetch(setting)]
        return [*(text for text in settings if text not in ours), *theirs]

    async def read_chosen(self) -> None:
        """Read the user's files that are let in."""
        for name, path in init_files().items():
            if let_in.lets_in(name):
                try:
                    await self._read_file(name, path)
                except CommandFailed as refused:
                    self._engine.emit(EngineNotice(f"{clean_line(name)}: {refused.what}"))

    # -- the ledger

    async def entries(self) -> Sequence[LedgerEntry]:
        """Settings, files, variables."""
        return [*await self._settings(), *self._files(), *self._variables()]

    async def let_in(self, name: str, on: bool) -> str:
        """Let an entry in or keep it out."""
        said = ""
        if name in BY_NAME:
            said = await self._set(BY_NAME[name], on)
        elif name in init_files():
            if on and name not in self._read:
                said = await self._read_file(name, init_files()[name])
            elif not on and name in self._read:
                said = f"{name} stays read until the engine is started anew"
        else:
            later = "at the program's next start" if name == "TERM" else "when an engine is started anew"
            said = f"{name} is {'let in' if on else 'kept back'} {later}"
        let_in.let_in(name, on)
        return said

    # -- settings

    async def _settings(self) -> list[LedgerEntry]:
        asked = [self._engine.command(f"-gdb-show {setting.parameter}") for setting in SETTINGS]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        entries: list[LedgerEntry] = []
        for setting, answer in zip(SETTINGS, answers, strict=True):
            if isinstance(answer, CommandFailed):
                # This gdb was built without it, or is older than it.
                continue
            if isinstance(answer, BaseException):
                raise answer
            now = answer.results.get("value")
            entries.append(
                LedgerEntry(
                    setting.name,
                    Kind.SETTING,
                    Scope.ENGINE,
                    setting.ours,
                    _yours(setting),
                    _plain(now if isinstance(now, str) else ""),
                    setting.why,
                    setting.fixed,
                )
            )
        return entries

    async def _set(self, setting: ForcedSetting, on: bool) -> str:
        commands = _fetch(setting) if on and setting.name == DEBUGINFOD else []
        value = setting.yours if on else setting.ours
        for command in commands or [setting.command(value)]:
            await self._engine.command(command)
        if setting.name in self._events.parameters:
            # The panes' own questions put their limits on and this back.
            self._events.parameters[setting.name] = value
        if setting.name != DEBUGINFOD:
            return ""
        if not on:
            return "debug information is not fetched any more"
        urls = debuginfod_urls()
        if not urls:
            return "debuginfod is on, but no server is named: set DEBUGINFOD_URLS"
        return f"debug information is fetched from {clean_line(urls)} for what is loaded from now on"

    async def hold(self) -> None:
        """Set back what was typed against a setting that the console cannot do without, and say so."""
        for setting in SETTINGS:
            typed = self._events.parameters.get(setting.parameter)
            if not setting.fixed or typed is None or typed in (setting.ours, *_SAME.get(setting.ours, ())):
                continue
            del self._events.parameters[setting.parameter]
            try:
                await self._engine.command(setting.command(setting.ours))
            except CommandFailed as refused:
                self._engine.emit(
                    EngineNotice(f"{setting.name} cannot be set back to {setting.ours}: {refused.what}")
                )
                continue
            self._engine.emit(
                EngineNotice(f"{setting.name} is {setting.ours} again: {setting.fixed}", "information")
            )

    # -- files

    def _files(self) -> list[LedgerEntry]:
        return [
            LedgerEntry(
                clean_line(name),
                Kind.FILE,
                Scope.ENGINE,
                "not read",
                "read at start",
                "read" if name in self._read else "not read",
                "prompts, hooks and settings of your own may get in the way of the views",
            )
            for name in init_files()
        ]

    async def _read_file(self, name: str, path: Path) -> str:
        self._engine.expect_styles()
        self._read.add(name)
        try:
            said = await self._engine.cli_text(f"source {path}", deadline=READ_DEADLINE)
        except DeadlinePassed:
            self._engine.interrupt_engine()
            self._engine.emit(EngineNotice(f"{clean_line(name)} took over {READ_DEADLINE:g} s and was interrupted"))
            said = ""
        finally:
            await self._have_again()
        if said.strip():
            self._engine.emit(ConsoleOutput(f"\n{said.rstrip()}\n"))
        return f"{clean_line(name)} was read"

    async def _have_again(self) -> None:
        """What the console cannot do without: its settings, and a prompt that tells when a line is waited for."""
        commands = [setting.command(setting.ours) for setting in SETTINGS if setting.fixed]
        await asyncio.gather(
            self._engine.cli("python gdb.prompt_hook = None"),
            self._engine.cli("set prompt (gdb) "),
            *(self._engine.command(command) for command in commands),
            return_exceptions=True,
        )

    # -- variables

    def _variables(self) -> list[LedgerEntry]:
        entries = []
        if self._engine.given_libraries and (libraries := os.environ.get(LIBRARIES)):
            why = self._engine.keeps_libraries or "this gdb does not start without it"
            shown = clean_line(libraries)[:_LONGEST]
            entries.append(LedgerEntry(LIBRARIES, Kind.VARIABLE, Scope.ENGINE, shown, shown, "let in", why, why))
        for name, why in variables_kept(libraries=self._engine.given_libraries).items():
            entries.append(
                LedgerEntry(
                    clean_line(name),
                    Kind.VARIABLE,
                    Scope.ENGINE,
                    "for the program only",
                    clean_line(os.environ.get(name, ""))[:_LONGEST],
                    "let in" if let_in.lets_in(name) else "for the program only",
                    why,
                    later=True,
                )
            )
        terminal = os.environ.get("TERM", "")
        if terminal and terminal != PROGRAM_TERM:
            entries.append(
                LedgerEntry(
                    "TERM",
                    Kind.VARIABLE,
                    Scope.PROGRAM,
                    PROGRAM_TERM,
                    clean_line(terminal)[:_LONGEST],
                    clean_line(terminal)[:_LONGEST] if let_in.lets_in("TERM") else PROGRAM_TERM,
                    "the program's terminal is the console's own, and understands this",
                    later=True,
                )
            )
        return entries


def debuginfod_urls() -> str:
    """Servers for debug information as the user or the system names them, in the form of `DEBUGINFOD_URLS`."""
    named = os.environ.get("DEBUGINFOD_URLS", "").split()
    if not named:
        for file in sorted(_URL_FILES.glob("*.urls")):
            try:
                named += file.read_text("utf-8", "replace").split()
            except OSError:
                continue
    return " ".join(named)


def _fetch(setting: ForcedSetting) -> list[str]:
    urls = debuginfod_urls()
    return [*([f"-gdb-set debuginfod urls {clean_line(urls)}"] if urls else []), setting.command("on")]


def _yours(setting: ForcedSetting) -> str:
    if setting.name == DEBUGINFOD:
        return "on" if debuginfod_urls() else "on, no server named"
    return setting.yours


def _plain(value: str) -> str:
    """A value in a person's words: gdb tells some limits as the number that stands for none."""
    return "unlimited" if value in ("4294967295", "-1") else clean_line(value)[:_LONGEST]
