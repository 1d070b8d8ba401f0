"""What every engine of the gdb family has in common: the warm start, questions, the console, the end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, TypeAlias

from ladder_backends.debugger.contract import Debugger, FocusRefused, Listener, StepKind
from ladder_backends.debugger.probe import Probe
from ladder_backends.debugger.target import Target
from ladder_backends.errors import (
    CommandFailed,
    EngineDied,
    EngineMissing,
    LadderError,
    NotRecorded,
    TargetInvalid,
)
from ladder_backends.gdb.breakpoint_review import BreakpointReview
from ladder_backends.gdb.breakpoint_setting import BreakpointSetting
from ladder_backends.gdb.console import Console
from ladder_backends.gdb.environment import engine_environment, libraries_of_program
from ladder_backends.gdb.event_reader import EventReader
from ladder_backends.gdb.firewall import GdbFirewall
from ladder_backends.gdb.print_limits import limits_round, quiet_round
from ladder_backends.gdb.probing import install_remedy, needs_libraries, probe_engine
from ladder_backends.gdb.questions import Questions
from ladder_backends.gdb.quoting import mi_string
from ladder_backends.gdb.running import Running
from ladder_backends.gdb.translation import number_of
from ladder_backends.mi.pty_transport import PtyTransport
from ladder_backends.mi.records import ResultRecord, Value
from ladder_backends.mi.session import MiSession
from ladder_backends.mi.transport import Channel, EngineCommand, Transport
from ladder_backends.model.breakpoint import BreakpointBinding, BreakpointIntent
from ladder_backends.model.events import (
    EngineExited,
    Event,
    FocusChanged,
    ProgramOutput,
    SettingChanged,
    TargetRunning,
    TargetStopped,
)
from ladder_backends.model.focus import Focus, FocusLevel
from ladder_backends.model.frame import FrameWindow
from ladder_backends.model.grid import BlockRange, Instruction, Kernel, Warp
from ladder_backends.model.provenance import Provenance
from ladder_backends.model.variable import Variable, VariableWindow
from ladder_backends.paths import find_engine
from ladder_backends.text import clean_line

TransportFactory: TypeAlias = Callable[[EngineCommand], Transport]
"""Makes the transport to an engine: a process on terminals, a recording, or a recorder round another."""


class GdbDialect(Debugger):
    """An engine that speaks gdb's machine interface beside its own command line.

    Dialects set the class attributes and override what their engine does otherwise: `focus_from`, `at_thread`,
    `at_frame`, `after_console`, `open`, `probe`.

    Attributes:
        engine: Name of the executable, as `find_engine` knows it.
        settings: Commands that make any engine fit to be driven; refusals of single ones are passed over.
        dump_engine: The engine runs with a core file limit of zero, since bad dumps abort it.
        keeps_libraries: Why the engine is given `LD_LIBRARY_PATH`, a clause; empty where it is kept from it.
        given_libraries: The engine is given `LD_LIBRARY_PATH`.
    """

    engine: ClassVar[str] = "gdb"
    settings: ClassVar[tuple[str, ...]] = (
        "-gdb-set mi-async on",
        "-gdb-set confirm off",
        "-gdb-set pagination off",
        "-gdb-set width 0",
        "-gdb-set height 0",
        "-gdb-set debuginfod enabled off",
        "-gdb-set style enabled off",
        "-gdb-set breakpoint pending on",
        "-gdb-set print elements 200",
        "-gdb-set max-value-size 16777216",
    )
    dump_engine: ClassVar[bool] = False
    keeps_libraries: ClassVar[str] = ""
    firewall: GdbFirewall | None = None
    focus_schema: ClassVar[tuple[FocusLevel, ...]] = (FocusLevel("thread"),)

    def __init__(
        self, transport: TransportFactory = PtyTransport, *, provenance: Provenance = Provenance.ENGINE
    ) -> None:
        self.provenance = provenance
        self.given_libraries = bool(self.keeps_libraries)
        self._make_transport = transport
        self._mi: MiSession | None = None
        self._ran = False
        self._starting: asyncio.Lock = asyncio.Lock()
        self._ready = False
        self._listener: Listener | None = None
        self._program_size: tuple[int, int] | None = None
        self._widening: asyncio.Future[None] | None = None
        self.selected_frame = 0
        self.events = EventReader(self.emit, self.focus_from)
        self._console = Console(self.events, self.emit, self.after_console)
        self.running_target = Running(self, self.events, self._console)
        live = provenance is Provenance.ENGINE
        self.questions = Questions(self, (lambda: self.events.function) if live else None)
        self.firewall = GdbFirewall(self, self.events) if provenance is Provenance.ENGINE else None
        self.setting = BreakpointSetting(self, self.events, self.emit)
        self.review = BreakpointReview(self, self.events, self.emit)

    # -- what dialects override

    @classmethod
    def probe(cls) -> Probe:
        """Find the executable and ask it for its version."""
        return probe_engine(cls.name, cls.engine)

    def focus_from(self, results: Mapping[str, Value]) -> Focus | None:
        """The focus that a record's results tell of."""
        thread = number_of(results.get("thread-id"))
        return Focus.of(thread=thread) if thread is not None else None

    def at_thread(self) -> str:
        """Options, with a leading space, that make a command speak of the focused thread."""
        return f" --thread {self.events.thread}" if self.events.thread is not None else ""

    async def at_frame(self, level: int) -> str:
        """Options, with a leading space, that make a command speak of a frame of the focus.

        Dialects whose engine has no such options select the frame here and return an empty string.
        """
        return f"{self.at_thread()} --frame {level}" if self.events.thread is not None else ""

    def settings_found(self) -> tuple[str, ...]:
        """More settings, for what is installed on this machine."""
        return ()

    async def after_console(self) -> None:
        """Follow what a typed command may have changed without a notice; called at the prompt after each one."""
        # The prompt and the notices come on different terminals: an answer says that the notices are all here.
        await self.command("-gdb-show confirm")
        if self.firewall is not None:
            await self.firewall.hold()
        await self.review.read_conditions()
        if self._console.wrote:
            self._console.wrote = False
            self.events.look_again()

    async def _widen(self) -> None:
        """In few columns readline draws no whole prompt, and the line that was typed would never be done."""
        with contextlib.suppress(LadderError):
            await self.command("-gdb-set width 0")
            if self._mi is not None:
                self._console.redraw(self._mi)

    # -- life

    def listen(self, listener: Listener) -> None:
        """Deliver every event to `listener`."""
        self._listener = listener

    def emit(self, event: Event) -> None:
        """Hand an event to the listener."""
        if isinstance(event, TargetStopped):
            self.selected_frame = 0
        elif isinstance(event, FocusChanged) and event.frame is not None:
            self.selected_frame = event.frame.level
        elif isinstance(event, TargetRunning):
            self._console.release()
        elif isinstance(event, SettingChanged) and event.name == "width" and self.firewall is not None:
            self._widening = asyncio.ensure_future(self._widen())
        if self._listener is not None:
            self._listener(event)
        if isinstance(event, TargetStopped | TargetRunning):
            self.review.begin()

    def engine_command(self) -> EngineCommand:
        """How the engine is started.

        Raises:
            EngineMissing: It is not installed.
        """
        found = find_engine(self.engine)
        if found.path is None and self.provenance is Provenance.ENGINE:
            raise EngineMissing(f"cannot start {self.engine}", found.missing, install_remedy(self.engine))
        if found.path is not None and self.provenance is Provenance.ENGINE and not self.keeps_libraries:
            self.given_libraries = needs_libraries(found.path)
        return EngineCommand(
            engine=self.engine,
            argv=(str(found.path or self.engine), "-nx", "-q"),
            environment=engine_environment(libraries=self.given_libraries),
            core_size_zero=self.dump_engine,
        )

    async def start(self) -> None:
        """Start the engine and make it fit to be driven; nothing where it is started already."""
        async with self._starting:
            if self._mi is not None:
                return
            session = MiSession(self._make_transport(self.engine_command()))
            session.listen(notice=self.events.read, stream=self._stream, ended=self._ended)
            self._mi = session
            try:
                await session.start()
                if self._program_size is not None:
                    session.resize(Channel.PROGRAM, *self._program_size)
                await self._apply_settings()
                self._ready = True
            except BaseException:
                self._mi = None
                raise

    async def _apply_settings(self) -> None:
        wanted = (*self.settings, *self.settings_found())
        settings: Sequence[str] = wanted
        if self.firewall is not None:
            libraries = libraries_of_program(libraries=self.given_libraries)
            settings = [*GdbFirewall.at_start(wanted), *libraries]
        answers = await asyncio.gather(*(self.command(text) for text in settings), return_exceptions=True)
        for answer in answers:
            if isinstance(answer, BaseException) and not isinstance(answer, CommandFailed | NotRecorded):
                raise answer
        if self.firewall is not None:
            await self.firewall.read_chosen()

    def expect_styles(self) -> None:
        """Commands of the user's own will write into the command line, with colours."""
        self._console.line.styled = True

    @property
    def started(self) -> bool:
        """The engine was started and has not ended."""
        return self._mi is not None and self._mi.alive

    async def command(self, text: str, *, deadline: float | None = 10.0) -> ResultRecord:
        """Ask the engine; raises as `MiSession.command` does."""
        if self._mi is None:
            raise EngineDied(f"{self.engine} is not running", "it was not started", "open a target")
        return await self._mi.command(text, deadline=deadline)

    def submit(self, text: str, *, deadline: float | None = 10.0) -> asyncio.Future[ResultRecord]:
        """Send a command at once, wait later: what is sent in one turn has nothing of others in between."""
        if self._mi is None:
            raise EngineDied(f"{self.engine} is not running", "it was not started", "open a target")
        return self._mi.submit(text, deadline=deadline)

    async def cli(self, text: str, *, deadline: float | None = 10.0) -> ResultRecord:
        """Run a command of the engine's command line through the machine interface; its text shows nowhere."""
        return await self.command(f"-interpreter-exec console {mi_string(text)}", deadline=deadline)

    async def cli_text(self, text: str, *, deadline: float | None = 10.0) -> str:
        """Run a command of the command line; what it printed, clean, and maybe what was printed just before it."""
        with self.events.hearing() as heard:
            await self.cli(text, deadline=deadline)
        return heard.text

    def print_limits(self) -> tuple[Sequence[str], Sequence[str]]:
        """Commands round our own questions about values, where the user has changed the limits for the console."""
        return limits_round(self.events.parameters)

    def without_calls(self) -> tuple[Sequence[str], Sequence[str]]:
        """Commands round a question that is not to run functions of the target; the user's own choice holds on."""
        return quiet_round(self.events.parameters)

    def interrupt_engine(self) -> None:
        """Interrupt the engine's own work."""
        if self._mi is not None:
            self._mi.interrupt()

    def abandon_engine(self) -> None:
        """End an engine outright that is stuck before it holds a target."""
        if self._mi is not None:
            self._mi.abandon()

    def keep_program(self) -> None:
        """The program lives on without the engine: its terminal stays."""
        if self._mi is not None:
            self._mi.keep_program()

    async def close(self) -> None:
        """End the engine; a launched target ends with it, an attached one is let go."""
        self._console.close()
        self.review.close()
        if self._widening is not None:
            self._widening.cancel()
        if self._mi is not None:
            if self._ready and self.started and self.pending() and not self.events.running:
                # It would work on, deaf to the end of its terminals. One that only starts hears that end.
                with contextlib.suppress(LadderError):
                    await self.interrupt()
            await self._mi.close()

    def pending(self) -> Sequence[tuple[str, float]]:
        """Commands without an answer, and what was typed into the command line and is not done."""
        if self._mi is None:
            return []
        waiting = [(command.text, command.age) for command in self._mi.pending()]
        if self.console_works:
            waiting.append(self._console.working())
        return waiting

    @property
    def console_works(self) -> bool:
        """A command that was typed into the command line is being worked on."""
        return self._console.works

    def _ended(self, status: int | None, expected: bool) -> None:
        self.events.running = False
        self._console.ended()
        self.emit(EngineExited(status, expected, self._console.line.last_words()))

    def _stream(self, channel: Channel, chunk: bytes) -> None:
        if channel is Channel.PROGRAM:
            self.emit(ProgramOutput(chunk))
        elif channel is Channel.CLI:
            self._console.read(chunk)

    # -- running

    async def open(self, target: Target) -> None:
        """Refuse: a dialect says itself what it opens."""
        raise TargetInvalid(f"{self.engine} cannot open this kind of target")

    async def resume(self, kind: StepKind, location: str = "") -> None:
        """Let the target run."""
        if kind.anew:
            await self.setting.renew()
            if self._ran and self._mi is not None:
                # What was typed to the run before is none of this one's.
                self._mi.forget_input(Channel.PROGRAM)
            self._ran = True
        await self.running_target.resume(kind, location)

    async def run(self, command: str) -> None:
        """Send a command that lets the target run; from its acceptance on the target can be interrupted."""
        await self.running_target.run(command)

    async def interrupt(self) -> None:
        """Stop a running target; where only the engine is busy, interrupt its work."""
        await self.running_target.interrupt()

    # -- breakpoints

    async def set_breakpoint(self, intent: BreakpointIntent) -> BreakpointBinding:
        """Apply an intent; what the engine refuses comes back as a FAILED binding with its reason."""
        return await self.setting.set(intent)

    async def change_breakpoint(self, binding: BreakpointBinding, intent: BreakpointIntent) -> BreakpointBinding:
        """Make a breakpoint what an intent says."""
        return await self.setting.change(binding, intent)

    async def remove_breakpoint(self, binding: BreakpointBinding) -> None:
        """Take a breakpoint away."""
        await self.setting.remove(binding)

    async def enable_breakpoint(self, binding: BreakpointBinding, enabled: bool) -> None:
        """Switch a breakpoint on or off."""
        await self.setting.enable(binding, enabled)

    async def enable_location(self, number: str, enabled: bool) -> None:
        """Switch one location of a breakpoint on or off."""
        await self.setting.enable_location(number, enabled)

    # -- questions

    async def frames(self, start: int, count: int) -> FrameWindow:
        """A window of the focused thread's stack."""
        return await self.questions.frames(start, count)

    async def select_frame(self, level: int) -> None:
        """Make a frame the engine's selected one."""
        await self.command(f"-stack-select-frame{self.at_thread()} {level}")
        self.selected_frame = level

    async def variables(self, frame_level: int, limit: int) -> VariableWindow:
        """Arguments and locals of a frame."""
        return await self.questions.variables(frame_level, limit)

    async def evaluate(self, expression: str, frame_level: int = 0) -> Variable:
        """The value of an expression."""
        return await self.questions.evaluate(expression, frame_level)

    async def disassemble(self, frame_level: int, count: int) -> Sequence[Instruction]:
        """Instructions around a frame's program counter."""
        return await self.questions.disassemble(frame_level, count)

    async def focus(self) -> Focus | None:
        """The focused thread."""
        return Focus.of(thread=self.events.thread) if self.events.thread is not None else None

    async def switch(self, asked: Focus) -> Focus:
        """Select a thread."""
        thread = asked.index("thread")
        if thread is None:
            raise FocusRefused("", f"{self.engine} has threads only, not {asked.describe()}", asked)
        command = f"-thread-select {thread}"
        try:
            answer = await self.command(command)
        except CommandFailed as refused:
            raise FocusRefused(command, refused.what, asked) from refused
        reached = number_of(answer.results.get("new-thread-id"))
        self.events.turn_to(reached if reached is not None else thread)
        self.selected_frame = 0
        return Focus.of(thread=self.events.thread)

    async def kernels(self) -> Sequence[Kernel]:
        """None on a host."""
        return ()

    async def blocks(self, kernel: int) -> Sequence[BlockRange]:
        """None on a host."""
        return ()

    async def warps(self, focus: Focus) -> Sequence[Warp]:
        """None on a host."""
        return ()

    # -- terminals

    async def console(self, text: str) -> None:
        """Type a line; returns when the engine waits for the next one or lets the target run."""
        if self._mi is None or not self._mi.alive:
            raise EngineDied(f"{self.engine} is not running", "", "restart it")
        await self._console.type(self._mi, text)

    async def complete(self, text: str) -> Sequence[str]:
        """The engine's completions of a line."""
        answer = await self.command(f"-complete {mi_string(text)}", deadline=5.0)
        matches = answer.results.get("matches")
        return (
            [clean_line(match) for match in matches if isinstance(match, str)] if isinstance(matches, list) else []
        )

    def type_to_program(self, raw: bytes) -> None:
        """Keys for the program."""
        if self._mi is not None:
            self._mi.send(Channel.PROGRAM, raw)

    def resize_program(self, columns: int, rows: int) -> None:
        """Size of the program's terminal."""
        self._program_size = (columns, rows)
        if self._mi is not None:
            self._mi.resize(Channel.PROGRAM, columns, rows)
