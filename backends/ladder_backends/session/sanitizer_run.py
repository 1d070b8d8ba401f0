"""Runs of compute-sanitizer: started, followed, stopped, kept; their findings are the ladder's."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ladder_backends.debugger.target import GpuDumpTarget
from ladder_backends.errors import LadderError, TargetInvalid
from ladder_backends.paths import current_folder
from ladder_backends.rungs import dump_rung, findings_rung, rung_named
from ladder_backends.session.sanitizer_state import RunPhase, SanitizerRunState
from ladder_backends.session.state import Change, Run
from ladder_backends.text import clean_line

if TYPE_CHECKING:
    from ladder_backends.case.model import Opened
    from ladder_backends.model.finding import Finding
    from ladder_backends.sanitizer.command_line import ToolCommand
    from ladder_backends.sanitizer.dump_habits import DumpHabits
    from ladder_backends.sanitizer.installed import SanitizerTool
    from ladder_backends.sanitizer.plan import Plan
    from ladder_backends.sanitizer.run_folder import RunFolder
    from ladder_backends.sanitizer.run_report import LogTails, RunReport
    from ladder_backends.sanitizer.tool_process import ToolProcess
    from ladder_backends.session.ladder import Ladder

FOLLOW_INTERVAL = 0.1
"""Seconds between two looks at a log that grows."""

SLOW_AFTER = 60.0
"""Seconds after which a run is offered to look at fewer kernels."""

_HASTE = (1.0, 1.0, 1.0)
_MOST_IN_A_TURN = 1 << 18


class SanitizerRuns:
    """One run at a time on one ladder.

    Args:
        ladder: Gets the findings and the dump.
        tell: Tells of changes.

    Attributes:
        state: The run that goes on, or the last one.
    """

    def __init__(self, ladder: Ladder, tell: Callable[[Change], None]) -> None:
        self._ladder = ladder
        self._tell = tell
        self._process: ToolProcess | None = None
        self._task: asyncio.Task[None] | None = None
        self._dumps: dict[str, GpuDumpTarget] = {}
        self._ends: dict[str, asyncio.Event] = {}
        self._starting = False
        self._stopped = False
        self._timed_out = False
        self._known: DumpHabits | None = None

    @property
    def _habits(self) -> DumpHabits:
        """What the runs so far have shown of dumps; imported with the first of them."""
        if self._known is None:
            from ladder_backends.sanitizer.dump_habits import DumpHabits

            self._known = DumpHabits()
        return self._known

    @property
    def state(self) -> SanitizerRunState:
        """The run that goes on, or the last one."""
        return self._ladder.state.sanitizer

    async def start(self, plan: Plan, save: Path | None = None) -> None:
        """Begin a run; returns once its first tool was started.

        Args:
            plan: What to do.
            save: Folder to keep it in, instead of the state folder.

        Raises:
            EngineMissing: compute-sanitizer is missing or too old.
            TargetInvalid: The program cannot be run, a run goes on already, or the folder cannot be used.
        """
        from ladder_backends.sanitizer.command_line import command_for
        from ladder_backends.sanitizer.installed import installed_sanitizer
        from ladder_backends.sanitizer.run_folder import RunFolder, forget_old_runs

        if self.state.active or self._starting:
            raise TargetInvalid("a run of the sanitizer goes on already", "", "stop it first")
        self._starting = True
        try:
            # Without the tool nothing else is worth mending.
            tool = await asyncio.to_thread(installed_sanitizer)
            _refuse(plan)
            folder = await asyncio.to_thread(RunFolder.make, plan, save)
            without = await asyncio.to_thread(self._habits.without, tool.version)
            commands = [command_for(plan, name, tool, folder.path, without) for name in plan.tools]
        finally:
            self._starting = False
        self._stopped = self._timed_out = False
        now = time.monotonic()
        fresh = SanitizerRunState(
            phase=RunPhase.STARTING,
            plan=plan,
            begun=now,
            since=now,
            launches=0 if _tells_launches(plan, tool) else None,
            notes=tuple(dict.fromkeys(note for command in commands for note in command.left_out)),
            folder=folder.path,
            commands=[command.argv for command in commands],
        )
        self._ladder.state.sanitizer = fresh
        for note in (*fresh.notes, *self._in_the_way()):
            self._ladder.notice(note, "warning")
        from ladder_backends.sanitizer.run_report import RunReport

        report = RunReport()
        opened = await asyncio.to_thread(_opened, plan, folder)
        self._show(opened, report)
        self._ends = {command.tool: asyncio.Event() for command in commands if command.dumps}
        begun = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._run(plan, tool, folder, commands, report, begun))
        self._task.add_done_callback(lambda _: begun.set())
        await begun.wait()
        if save is None:
            await asyncio.to_thread(forget_old_runs)

    async def ended(self) -> None:
        """Wait for the end of the run; how it ended is in the state."""
        if self._task is not None:
            await asyncio.shield(self._task)

    async def stop(self) -> None:
        """End the run; what was found stays."""
        if not self.state.active:
            return
        self._stopped = True
        self.state.phase = RunPhase.STOPPING
        self._tell(Change.SANITIZER_RUN)
        if self._process is not None:
            await self._process.stop()

    async def interrupt(self) -> None:
        """End the run, as Ctrl-C without a screen does."""
        await self.stop()

    def type_to_program(self, raw: bytes) -> None:
        """Type to the program."""
        if self._process is not None:
            self._process.type(raw)

    def resize_program(self, columns: int, rows: int) -> None:
        """Set the size of the program's terminal."""
        if self._process is not None:
            self._process.resize(columns, rows)

    def suggestion(self) -> Plan | None:
        """A plan for the program at hand, as its next start would be; else the last plan; None without either."""
        from ladder_backends.sanitizer.plan import Plan
        from ladder_backends.sanitizer.presets import fitting_preset

        target, last = self._ladder.carrying.program_at_hand(), self.state.plan
        if target is None:
            return last
        started = Plan(target.program, target.arguments, target.directory, dict(target.environment), target.stdin)
        if last is not None and last.program == target.program:
            return replace(
                last,
                arguments=started.arguments,
                environment=started.environment,
                directory=started.directory,
                stdin=started.stdin,
            )
        preset = fitting_preset(target.program, target.arguments, target.directory)
        return replace(started, preset=preset.name, switches=preset.switches)

    async def take_kept(self, opened: Opened) -> None:
        """A run that was kept is opened: it is the last one from now on, unless one goes on."""
        from ladder_backends.sanitizer.run_folder import read_plan

        if opened.run is not None:
            tools = dict(opened.run.dumps)
            self._dumps = {tool: GpuDumpTarget(dump, opened.executable) for tool, dump in tools.items()}
        if opened.run is not None and not self.state.active:
            plan = await asyncio.to_thread(read_plan, opened.run.folder)
            self._ladder.state.sanitizer = SanitizerRunState(
                RunPhase.ENDED if plan is not None else RunPhase.NONE, plan, folder=opened.run.folder
            )

    async def close(self) -> None:
        """End the run with the console."""
        self._stopped = True
        if self._process is not None:
            await self._process.stop(_HASTE)
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError, LadderError):
                await self._task

    def _in_the_way(self) -> list[str]:
        """Live programs under a device debugger: only one of its kind can hold the GPU."""
        held = [
            session.state
            for session in self._ladder.every_session()
            if rung_named(session.state.rung).device and session.state.run in (Run.RUNNING, Run.STOPPED)
        ]
        return [
            f"{one.rung} holds {one.title or 'a program'}: on the same GPU the sanitizer may fail, or wait for it"
            for one in held[:1]
        ]

    # -- on the ladder

    def _show(self, opened: Opened, report: RunReport) -> None:
        """Show the findings of a run, and go on showing them while they come."""
        ladder, state = self._ladder, self._ladder.state
        state.case_title, state.report, state.selected_finding = opened.title, report.report, None
        state.report_files = ()
        self._dumps = {}
        ladder.jumps.forget()
        ladder.jumps.recordings = ()
        ladder.sources.of_files(opened)
        state.rung = findings_rung().name
        self._tell(~Change.NONE)

    async def bring_dump(self, finding: Finding) -> None:
        """Have the dump of the finding's own tool to jump into; waits for it where that tool still runs."""
        end = self._ends.get(finding.tool)
        if end is not None and not end.is_set():
            self._ladder.notice(f"{finding.tool} has not written its dump yet — the jump follows when it has")
            await end.wait()
        dump, jumps = self._dumps.get(finding.tool), self._ladder.jumps
        if dump is not None and jumps.dump in self._dumps.values() and jumps.dump != dump:
            await self._take_dump(dump)

    def lacks_dump(self, finding: Finding | None) -> str:
        """That the dump at hand is of another tool's run, a clause; empty where it is the finding's own."""
        if finding is None or finding.tool in self._dumps or self._ladder.jumps.dump not in self._dumps.values():
            return ""
        return f"{finding.tool} wrote no dump here"

    async def _take_dump(self, dump: GpuDumpTarget) -> None:
        """Jump into this dump from now on, as if it had been opened with the report."""
        jumps = self._ladder.jumps
        jumps.take(dump)
        if not self._ladder.engines.missing(dump_rung().name):
            async with jumps.lock:
                await jumps.place()

    # -- one run

    async def _run(
        self,
        plan: Plan,
        tool: SanitizerTool,
        folder: RunFolder,
        commands: list[ToolCommand],
        report: RunReport,
        begun: asyncio.Event,
    ) -> None:

        from ladder_backends.sanitizer.ending import End, RunEnd

        state, learnt = self.state, ""
        try:
            await self._keep(plan, tool, folder, commands, report)
            for number, command in enumerate(commands, 1):
                if self._stopped:
                    report.end(RunEnd(command.tool, End.STOPPED, reason="it had not begun"))
                    continue
                state.tool, state.number, state.since = command.tool, number, time.monotonic()
                try:
                    await self._run_tool(plan, command, folder, report, begun)
                except LadderError as error:
                    report.end(RunEnd(command.tool, End.NOT_RUN, reason=error.line()))
                await self._keep(plan, tool, folder, commands, report)
                await self._take_dumps(plan, folder, command)
                learnt = self._learn(tool, folder, command, report) or learnt
        finally:
            for end in self._ends.values():
                end.set()
            self._process = None
            state.phase = RunPhase.ENDED
            state.seconds = time.monotonic() - state.begun
            state.ends = list(report.ends)
            state.dumps = [tuple(folder.dumps(command)) for command in commands[: len(state.ends)]]
            self._tell(Change.SANITIZER_RUN | Change.FINDINGS)
        well = all(end.end in (End.FOUND, End.CLEAN) for end in report.ends)
        lines = "; ".join(end.line for end in report.ends)
        told = f"{lines} · {state.seconds:.0f} s" + (f" — {learnt}" if learnt else "")
        self._ladder.notice(told, "information" if well else "warning")

    def _learn(self, tool: SanitizerTool, folder: RunFolder, command: ToolCommand, report: RunReport) -> str:
        """Note where a whole run named lanes and wrote no dump; returns what to say of it, once."""
        from ladder_backends.sanitizer.dump_habits import names_lanes
        from ladder_backends.sanitizer.ending import End

        whole = bool(report.ends) and report.ends[-1].tool == command.tool and report.ends[-1].end is End.FOUND
        if not whole or not command.dumps or folder.dumps(command) or not names_lanes(report.report, command.tool):
            return ""
        return self._habits.learn(command.tool, tool.version)

    async def _take_dumps(self, plan: Plan, folder: RunFolder, command: ToolCommand) -> None:
        """A tool has ended: its dump is jumped into from now on; the first of several stays the one at hand."""
        found = folder.dumps(command)
        if found:
            opened = await asyncio.to_thread(_opened, plan, folder)
            self._dumps[command.tool] = GpuDumpTarget(found[0], opened.executable)
            if len(self._dumps) == 1:
                await self._take_dump(self._dumps[command.tool])
        if command.tool in self._ends:
            self._ends[command.tool].set()

    async def _run_tool(
        self, plan: Plan, command: ToolCommand, folder: RunFolder, report: RunReport, begun: asyncio.Event
    ) -> None:
        from ladder_backends.sanitizer.run_report import LogTails
        from ladder_backends.sanitizer.tool_process import ToolProcess
        from ladder_backends.session.sanitizer_output import RunOutput

        state = self.state
        output = RunOutput(state, folder.path / f"{command.tool}.out")

        def receive(raw: bytes) -> None:
            output.take(raw)
            self._tell(Change.SANITIZER_RUN)

        report.begin(command.tool)
        self._timed_out = False
        process = ToolProcess(command, receive, directory=plan.directory, stdin=plan.stdin)
        try:
            process.start()
        except LadderError:
            output.close()
            raise
        self._process = process
        if state.phase is RunPhase.STARTING:
            state.phase = RunPhase.RUNNING
        begun.set()
        self._tell(Change.SANITIZER_RUN)
        if self._stopped:
            await process.stop()
        tail = LogTails(command)
        ending = asyncio.get_running_loop().create_task(process.wait())
        limit = asyncio.get_running_loop().create_task(self._limit(process, plan.timeout))
        seen = False
        try:
            while not ending.done():
                seen = seen or output.size > 0 or await asyncio.to_thread(process.sees_program)
                await self._follow(tail, report)
                await asyncio.wait({ending}, timeout=FOLLOW_INTERVAL)
            while await self._follow(tail, report):
                pass
        finally:
            limit.cancel()
            output.close()
            if not ending.done():
                await process.stop(_HASTE)
        report.finish(
            process.status,
            output.tail,
            program_seen=seen or output.size > 0,
            stopped=self._stopped,
            timed_out=self._timed_out,
        )
        state.ends = list(report.ends)
        self._count(report)

    async def _limit(self, process: ToolProcess, seconds: float | None) -> None:
        if seconds is not None:
            await asyncio.sleep(seconds)
            self._timed_out = True
            await process.stop()

    async def _follow(self, tail: LogTails, report: RunReport) -> bool:
        """Take in what was added to the logs; returns whether there was anything."""
        found = await asyncio.to_thread(tail.read, _MOST_IN_A_TURN)
        for origin, chunk in found:
            for start in range(0, len(chunk), 1 << 16):
                # A few milliseconds at a time: keys come between.
                report.feed(chunk[start : start + (1 << 16)], origin)
                await asyncio.sleep(0)
        if found:
            self._count(report)
        return bool(found)

    def _count(self, report: RunReport) -> None:
        state, ladder = self.state, self._ladder.state
        state.found = sum(end.found for end in report.ends) + (
            report.found if len(report.ends) < state.number else 0
        )
        if state.launches is not None or report.report.summary.get("launches"):
            state.launches = report.report.summary.get("launches", 0)
        if ladder.report is report.report and ladder.selected_finding is None and ladder.report.findings:
            ladder.selected_finding = 0
        self._tell(Change.SANITIZER_RUN | Change.FINDINGS)

    async def _keep(
        self, plan: Plan, tool: SanitizerTool, folder: RunFolder, commands: list[ToolCommand], report: RunReport
    ) -> None:
        try:
            await asyncio.to_thread(folder.write, plan, tool.version, commands, report.ends)
        except OSError as error:
            self._ladder.notice(f"the run cannot be kept: {error.strerror or error}", "warning")


def _tells_launches(plan: Plan, tool: SanitizerTool) -> bool:
    return plan.is_on("launches") and tool.knows("dump-kernel-launches")


def _opened(plan: Plan, folder: RunFolder) -> Opened:
    """What the findings are of, as if its files had been opened together."""
    from ladder_backends.case import FileKind, Opened, classify
    from ladder_backends.sanitizer.presets import is_python

    program = plan.program
    compiled = not is_python(program) and classify(program).kind is FileKind.EXECUTABLE
    sources = [] if not is_python(program) else [word for word in plan.arguments if word.endswith(".py")]
    place = (plan.directory or current_folder()) / sources[0] if sources else None
    return Opened(
        title=clean_line(f"{(place or program).name} · {' '.join(plan.tools)}"),
        # An interpreter holds nothing of what it runs.
        executable=program if compiled else None,
        reports=(place,) if place is not None else (folder.path / "log",),
    )


def _refuse(plan: Plan) -> None:
    """Say what can be said before anything is started.

    Raises:
        TargetInvalid: No tool was chosen, or a file of the plan is not there or cannot be started.
    """
    from ladder_backends.gdb.program_check import check_startable

    if not plan.tools:
        raise TargetInvalid("no tool was chosen", "", "choose memcheck, racecheck, initcheck or synccheck")
    check_startable(plan.program)
    for path, what in ((plan.suppressions, "suppressions file"), (plan.stdin, "input file")):
        if path is not None and not path.is_file():
            raise TargetInvalid(f"there is no {what} {clean_line(str(path))}", "", "check the path")
    if plan.directory is not None and not plan.directory.is_dir():
        raise TargetInvalid(f"{clean_line(str(plan.directory))} is no folder", "", "check the path")
