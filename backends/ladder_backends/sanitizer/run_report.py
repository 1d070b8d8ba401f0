"""The findings of several tools, one after the other, in one report that grows while they run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ladder_backends.case.run_folder import origin_of
from ladder_backends.model.finding import Finding, Report
from ladder_backends.sanitizer.build import ReportBuilder
from ladder_backends.sanitizer.describe import NO_FAULT_KINDS
from ladder_backends.sanitizer.ending import End, RunEnd, end_of, why_no_device
from ladder_backends.sanitizer.messages import is_bare_message
from ladder_backends.sanitizer.read import read_report
from ladder_backends.sanitizer.text_report import TextReportReader
from ladder_backends.text import decode

if TYPE_CHECKING:
    from ladder_backends.case.model import Opened
    from ladder_backends.sanitizer.command_line import ToolCommand

_SAID = 64 << 10
"""Bytes of the output's end in which the tool's own words are looked for."""


_REASONS = 3


class RunReport:
    """Collects reports; each finding knows its tool.

    Attributes:
        report: All of it; `ran` if any tool ran, `complete` if all were.
        ends: How the tools before ended, in order.
        found: Findings of the tool that runs, or that ran last.
    """

    def __init__(self) -> None:
        self.report = Report()
        self.ends: list[RunEnd] = []
        self.found = 0
        self._readers: dict[str, TextReportReader] = {}
        self._tool = ""
        self._before = (0, 0)

    @property
    def launches(self) -> int:
        """Launches that the tool that runs has told of."""
        return self.report.summary.get("launches", 0) - self._before[1]

    def begin(self, tool: str) -> None:
        """Another tool begins."""
        report = self.report
        self._tool = tool
        self.found = 0
        self._before = (len(report.findings), report.summary.get("launches", 0))
        self._readers = {}
        ReportBuilder(report).begin_run(tool)
        self._settle()

    def feed(self, chunk: bytes, origin: str = "") -> None:
        """More of its log.

        Args:
            chunk: Bytes; a line may be cut anywhere.
            origin: Which of several logs that is, as the findings are to name it.
        """
        self._add(self._reader(origin).feed(chunk))
        self._settle()

    def _reader(self, origin: str) -> TextReportReader:
        reader = self._readers.get(origin)
        if reader is None:
            # Each log has a builder of its own: an error of one process follows from none of another.
            builder = ReportBuilder(self.report)
            builder.begin_run(self._tool)
            builder.origin = origin
            reader = self._readers[origin] = TextReportReader(builder=builder)
        return reader

    def finish(
        self,
        status: int | None,
        said: bytes = b"",
        *,
        program_seen: bool = True,
        stopped: bool = False,
        timed_out: bool = False,
    ) -> RunEnd:
        """The tool has ended.

        Args:
            status: Its exit status.
            said: The end of what came out beside the log: the tool complains there before it has one.
            program_seen: The program is known to have run; without that, and without a launch or a finding, a
                report of nothing proves nothing.
            stopped: The user ended it.
            timed_out: The time-out ended it.
        """
        first = next(iter(self._readers.values()), None) or self._reader("")
        for line in decode(said[-_SAID:]).splitlines():
            if is_bare_message(line) and not self._is_told(line):
                self._add(first.feed_line(line))
        for reader in self._readers.values():
            reader.outcome.program_line()
            self._add(reader.finish())
        # The words for a status of the tool would be wrong for one of the program, or of one that was ended.
        own = any("Target application returned" in one.raw for one in self.report.findings[self._before[0] :])
        told = None if stopped or timed_out or own or len(self._readers) > 1 else status
        ran, complete, reason = self._worth(told)
        if own and not stopped and not timed_out:
            reason = "; ".join(filter(None, (f"the program itself ended with status {status}", reason)))
        if not ran and not stopped and not timed_out:
            reason = "; ".join(filter(None, (why_no_device(), self._crash(), reason)))
        if stopped or timed_out:
            complete = False
        if ran and complete and not (program_seen or self.found or self.launches):
            complete, reason = False, "no trace of the program itself: check that it ran"
        end = end_of(found=self.found, ran=ran, complete=complete, stopped=stopped, timed_out=timed_out)
        run = RunEnd(self._tool, end, self.found, reason, status, ran, complete)
        self.end(run)
        return run

    def end(self, run: RunEnd) -> None:
        """Take in how a tool ended, one that was never started too."""
        self.ends.append(run)
        self._readers = {}
        report = self.report
        report.ran = any(one.ran for one in self.ends)
        report.complete = all(one.complete for one in self.ends)
        if len(self.ends) == 1:
            report.reason = _reason(run)
        else:
            report.reason = "; ".join(f"{one.tool}: {why}" for one in self.ends if (why := _reason(one))) or None

    def _worth(self, status: int | None) -> tuple[bool, bool, str]:
        """Whether any log's run saw the program, whether all are whole, and why not."""
        report, worth = self.report, []
        for origin, reader in self._readers.items():
            reader.outcome.settle(report, ended=True, status=status)
            name = f"{origin}: " if origin and report.reason else ""
            worth.append((report.ran, report.complete, f"{name}{report.reason or ''}"))
        reasons = [reason for _, _, reason in worth if reason]
        more = f"; and {len(reasons) - _REASONS} more" if len(reasons) > _REASONS else ""
        return (
            any(ran for ran, _, _ in worth),
            all(complete for _, complete, _ in worth),
            "; ".join(reasons[:_REASONS]) + more,
        )

    def _add(self, findings: list[Finding]) -> None:
        self.found += sum(one.kind not in NO_FAULT_KINDS for one in findings)

    def _crash(self) -> str:
        """What a program that ended badly before its first CUDA call most likely met; else an empty string."""
        told = any("didn't terminate successfully" in one.raw for one in self.report.findings[self._before[0] :])
        return "the program crashed, or found no CUDA driver, before it used CUDA" if told else ""

    def _is_told(self, line: str) -> bool:
        return any(line.strip() in one.raw for one in self.report.findings[self._before[0] :])

    def _settle(self) -> None:
        """What the tools before were worth counts too."""
        self.report.ran = self.report.ran or any(one.ran for one in self.ends)
        self.report.complete = False
        self.report.reason = None


def _reason(run: RunEnd) -> str | None:
    words = {"stopped": "stopped before its end", "timed out": "stopped by the time-out"}.get(run.end, "")
    return "; ".join(filter(None, (words, run.reason))) or None


def report_of(opened: Opened) -> Report:
    """The report of files that were opened together; of a run, each finding knows its tool.

    Raises:
        ReportInvalid: A report cannot be read.
    """
    if opened.run is None or len(opened.run.tools) != len(opened.reports):
        return read_report(opened.reports)
    whole = RunReport()
    for name in dict.fromkeys(kept.tool for kept in opened.run.tools):
        whole.begin(name)
        logs = [kept for kept in opened.run.tools if kept.tool == name]
        for kept in logs:
            tail = LogTail(kept.report)
            while chunk := tail.read(1 << 20):
                whole.feed(chunk, kept.origin)
        end = logs[0].end
        whole.finish(logs[0].status, stopped=end == End.STOPPED, timed_out=end == End.TIMED_OUT)
    return whole.report


class LogTail:
    """Hands on what a tool adds to one log."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._position = 0

    def read(self, most: int = 1 << 16) -> bytes:
        """What was added, at most so many bytes; nothing where the file is not there yet.

        Blocks for as long as the file system takes.
        """
        try:
            with self._path.open("rb") as stream:
                stream.seek(self._position)
                chunk = stream.read(most)
        except OSError:
            return b""
        self._position += len(chunk)
        return chunk


class LogTails:
    """Hands on what is added to the logs of one tool: one, or one of each process that it was started for."""

    def __init__(self, command: ToolCommand) -> None:
        self._command = command
        self._tails: dict[str, LogTail] = {}
        if not command.logs:
            self._tails[""] = LogTail(command.log)

    def read(self, most: int = 1 << 16) -> list[tuple[str, bytes]]:
        """What was added, with the origin of each; nothing where no log is there yet.

        Blocks for as long as the file system takes.
        """
        if self._command.logs:
            for path in sorted(self._command.log.parent.glob(self._command.logs)):
                self._tails.setdefault(origin_of(path, self._command.tool), LogTail(path))
        found = ((origin, tail.read(most)) for origin, tail in self._tails.items())
        return [(origin, chunk) for origin, chunk in found if chunk]
