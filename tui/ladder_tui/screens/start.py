"""The start screen: what one can open, and which rungs of the ladder stand on this machine."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen

from ladder_backends.debugger.registry import debugger_names, find_rungs, load_debugger
from ladder_backends.debugger.target import AttachTarget, LaunchTarget
from ladder_backends.errors import LadderError
from ladder_backends.rungs import Layout, findings_rung, rung_at, rung_named
from ladder_backends.session.state import Notice
from ladder_backends.text import clean_line
from ladder_demos.catalogue import DEMOS, Demo, DemoKind
from ladder_tui.opening import Opening, demo_opening
from ladder_tui.recent import Recent, read_recent
from ladder_tui.screens.dialog import Dialog
from ladder_tui.screens.start_rows import (
    DemoTarget,
    OpenTarget,
    ProcessesTarget,
    RecentTarget,
    RungTarget,
    SanitizeTarget,
    start_rows,
)
from ladder_tui.widgets.line_view import Hit, LineView, Title
from ladder_tui.widgets.notice_line import NoticeLine
from ladder_tui.widgets.prompt import Prompt
from ladder_tui.widgets.row import Cell, Row

if TYPE_CHECKING:
    from ladder_backends.debugger.probe import Probe
    from ladder_tui.theming import Palette

LOOK_AFTER = 0.03
"""Seconds after which debuggers are looked for: the first paint would wait for what is imported for it."""


_KEYS = (
    "arrows choose, Enter opens; o a s and the digits do what stands beside them, q quits. "
    "In what is opened, ? lists every key."
)

SANITIZER = findings_rung().engine
"""The tool that is looked for beside the debuggers."""


def probe_all() -> dict[str, Probe | None]:
    """Every registered debugger, not looked for yet; those of other packages have brought their rungs then."""
    find_rungs()
    return dict.fromkeys((*debugger_names(), SANITIZER))


def probe_one(name: str) -> Probe:
    """Look for a debugger; a package that does not load is one that is missing."""
    if name == SANITIZER:
        from ladder_backends.sanitizer.installed import probe_sanitizer

        return probe_sanitizer()
    try:
        return load_debugger(name).probe()
    except LadderError as error:
        from ladder_backends.debugger.probe import Probe

        return Probe(name, None, missing=f"{error.what}: {error.why}".rstrip(": "), remedy=error.remedy)


def read_opening(line: str) -> Opening:
    """What was typed: a program with arguments, or files that belong together.

    Raises:
        LadderError: It cannot be read, or a file is not there.
    """
    import shlex

    from ladder_backends.case import FileKind, classify

    try:
        words = [os.path.expanduser(word) for word in shlex.split(line)]
    except ValueError as error:
        raise LadderError("this line cannot be read", str(error), "close the quotes") from error
    if not words:
        raise LadderError("nothing to open", "", "write a program or files")
    first = Path(words[0])
    program = first.is_file() and classify(first).kind in (FileKind.EXECUTABLE, FileKind.SCRIPT)
    if program and not (len(words) > 1 and all(Path(word).is_file() for word in words[1:])):
        return Opening(target=LaunchTarget(first.absolute(), tuple(words[1:])))
    return Opening(files=tuple(Path(word).absolute() for word in words))


def read_program(line: str) -> Opening:
    """A program with arguments that was typed for the sanitizer, with the helps that fit it.

    Raises:
        LadderError: It cannot be read, or there is no such program.
    """
    import shlex

    from ladder_backends.sanitizer.plan import Plan
    from ladder_backends.sanitizer.presets import fitting_preset

    try:
        words = [os.path.expanduser(word) for word in shlex.split(line)]
    except ValueError as error:
        raise LadderError("this line cannot be read", str(error), "close the quotes") from error
    if not words:
        raise LadderError("nothing to run", "", "write a program")
    found = shutil.which(words[0]) if "/" not in words[0] and not Path(words[0]).exists() else None
    program = Path(found or words[0]).absolute()
    if not program.is_file():
        raise LadderError(f"cannot run {clean_line(words[0])}", "there is no such file", "check the path")
    preset = fitting_preset(program, words[1:])
    return Opening(plan=Plan(program, tuple(words[1:]), preset=preset.name, switches=preset.switches))


class StartList(LineView):
    """The rows of the start screen."""

    def __init__(self, choose: Callable[[object], None], *, palette: Palette) -> None:
        super().__init__(id="start", palette=palette)
        self.choose = choose
        self.probes: dict[str, Probe | None] | None = None
        self.recents: tuple[Recent, ...] = ()
        self._rows: list[Row] = []
        self.lay_out()

    def lay_out(self) -> None:
        """Build the rows again; the selected one stays selected."""
        target = self._rows[self.cursor].target if self.cursor < len(self._rows) else None
        self._rows = start_rows(self.probes, self.recents, [demo for demo in DEMOS if demo.shipped])
        if target is not None:
            self.cursor = next(
                (number for number, row in enumerate(self._rows) if row.target == target), self.cursor
            )
        self.update()

    @property
    def row_count(self) -> int:
        """Rows of the screen."""
        return len(self._rows)

    def row(self, index: int) -> Row:
        """A heading, or something to open."""
        return self._rows[index]

    def title(self) -> Title:
        """The name, and the keys that matter."""
        keys = (Cell("⏎", "key"), Cell(" opens  ", "muted"), Cell("o", "key"), Cell(" asks what  ", "muted"))
        return Title("ladder-tui", (), (*keys, Cell("q", "key"), Cell(" quits", "muted")))

    def action_move(self, rows: int) -> None:
        """Move over what can be opened; headings are passed."""
        step = 1 if rows > 0 else -1
        places = [number for number, row in enumerate(self._rows) if row.target is not None]
        if not places:
            return
        wanted = max(places[0], min(self.cursor + rows, places[-1]))
        while self._rows[wanted].target is None:
            wanted += step
        if step < 0 and wanted == places[0]:
            # The first heading comes into view with the first entry.
            self.top = 0
        self.move_cursor(wanted)

    def choose_rung(self, name: str) -> None:
        """Choose the row of a rung, as its digit does."""
        for number, row in enumerate(self._rows):
            if isinstance(row.target, RungTarget) and row.target.name == name:
                self.move_cursor(number)
                self.choose(row.target)
                return

    def activate(self, hit: Hit) -> None:
        """Open what the row stands for."""
        if hit.target is not None:
            self.choose(hit.target)


class StartScreen(Dialog, Screen[Opening]):
    """Returns what to open; probing goes on beside it.

    Args:
        palette: Styles.
        failure: Why what was chosen before could not be opened.
        picks_process: Begin with the list of processes.
    """

    BLANK = True
    ALLOW_SELECT = False
    AUTO_FOCUS: ClassVar[str | None] = None
    DEFAULT_CSS = """
    StartScreen { layers: base notice; layout: vertical; overflow: hidden hidden; background: $background; }
    """

    def __init__(self, palette: Palette, failure: str = "", *, picks_process: bool = False) -> None:
        super().__init__()
        self.palette = palette
        self._failure = failure
        self._picks_process = picks_process
        self._tasks: set[asyncio.Task[None]] = set()

    def compose(self) -> ComposeResult:
        """The list, a line for notices, a line for typing."""
        self.list = StartList(self._choose, palette=self.palette)
        self.notice_line = NoticeLine(palette=self.palette)
        self.prompt = Prompt(palette=self.palette)
        yield self.list
        yield self.notice_line
        yield self.prompt

    def on_mount(self) -> None:
        """Read what was opened last, and look for the debuggers, one thread each."""
        self.set_focus(self.list)
        if self._failure:
            self.say(self._failure, "error")
        self.set_timer(LOOK_AFTER, self._look)
        if self._picks_process:
            self._pick_process()

    def on_unmount(self) -> None:
        """Nothing goes on behind the workspace."""
        for task in self._tasks:
            task.cancel()

    def _look(self) -> None:
        self._begin(self._read_recent())
        self._begin(self._find_debuggers())

    def _begin(self, doing: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(doing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _read_recent(self) -> None:
        recents = await asyncio.to_thread(lambda: tuple(one for one in read_recent() if one.present))
        self.list.recents = recents
        self.list.lay_out()

    async def _find_debuggers(self) -> None:
        self.list.probes = probes = await asyncio.to_thread(probe_all)
        for name in probes:
            self._begin(self._probe(name, probes))

    async def _probe(self, name: str, probes: dict[str, Probe | None]) -> None:
        probes[name] = await asyncio.to_thread(probe_one, name)
        self.list.lay_out()

    # Choosing --------------------------------------------------------------------------------------------------

    def say(self, text: str, severity: str = "information") -> None:
        """Show one line until the next key."""
        self.notice_line.show(Notice(text, severity))

    def _choose(self, target: object) -> None:
        match target:
            case OpenTarget():
                self._ask()
            case ProcessesTarget():
                self._pick_process()
            case RecentTarget(recent=recent):
                self.dismiss(recent.opening())
            case DemoTarget(demo=demo):
                self._begin(self._open_demo(demo))
            case SanitizeTarget():
                self._ask_program()
            case RungTarget(say=words) if words:
                self.say(words)
            case RungTarget(name=name) if rung_named(name).findings:
                self._ask_program()
            case RungTarget(name=name) if rung_named(name).layout is Layout.HARDWARE:
                self.dismiss(Opening(hardware=True))
            case RungTarget(name=name) if rung_named(name).layout is Layout.RANKS:
                self.dismiss(Opening(ranks=True))

    def _pick_process(self) -> None:
        from ladder_tui.screens.processes import ProcessScreen

        def chosen(pid: int | None) -> None:
            if pid is not None:
                self.dismiss(Opening(target=AttachTarget(pid)))

        self.app.push_screen(ProcessScreen(self.palette), chosen)

    def _ask(self) -> None:
        self.prompt.ask("open", self._typed, placeholder="PROGRAM ARGS…, or files: core, report, dump, case")

    def _ask_program(self) -> None:
        tool = (self.list.probes or {}).get(SANITIZER)
        if tool is not None and not tool.available:
            # Said before a line is typed for nothing.
            self.say(f"{tool.missing} — {tool.remedy}" if tool.remedy else tool.missing, "error")
            return
        self.prompt.ask(
            "sanitize", self._typed_program, placeholder="PROGRAM ARGS…; more settings: sanitize --help"
        )

    def _typed_program(self, line: str) -> None:
        self.set_focus(self.list)
        self._begin(self._sanitize(line))

    async def _sanitize(self, line: str) -> None:
        try:
            self.dismiss(await asyncio.to_thread(read_program, line))
        except LadderError as error:
            self.say(error.line(), "error")

    def _typed(self, line: str) -> None:
        self.set_focus(self.list)
        try:
            self.dismiss(read_opening(line))
        except LadderError as error:
            self.say(error.line(), "error")

    async def _open_demo(self, demo: Demo) -> None:
        if demo.kind is not DemoKind.CASE:
            self.say(f"compiling {demo.name}")
        try:
            self.dismiss(await asyncio.to_thread(demo_opening, demo))
        except LadderError as error:
            self.say(error.line(), "error")

    def on_key(self, event: events.Key) -> None:
        """`o` asks what to open, `a` shows processes, `s` sanitizes, `?` tells of keys, digits choose rungs."""
        if self.prompt.display:
            return
        self.notice_line.hide()
        if event.character == "o":
            event.stop()
            self._ask()
        elif event.character in ("a", "A"):
            event.stop()
            self._pick_process()
        elif event.character == "s":
            event.stop()
            self._ask_program()
        elif event.character == "?" or event.key == "f1":
            event.stop()
            self.say(_KEYS)
        elif rung := rung_at(event.character):
            event.stop()
            self.list.choose_rung(rung.name)
        elif event.key in ("q", "ctrl+q"):
            event.stop()
            self.app.exit()
