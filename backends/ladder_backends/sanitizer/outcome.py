"""Did the tool run, to its end, and can its silence be trusted?"""

from __future__ import annotations

from ladder_backends.model.finding import Report
from ladder_backends.sanitizer.messages import Fate, advice_on, fate_of

_STATUS = {
    13: "it could not load its own libraries: pass --injection-path, or install the complete package",
    124: "it was stopped by a time limit",
    126: "the compute-sanitizer file is not executable: chmod +x it",
    127: "compute-sanitizer was not found",
    137: "it was killed (signal 9)",
    139: "it crashed (signal 11)",
    143: "it was ended (signal 15)",
}
_LONGEST = 200


def status_words(status: int) -> str:
    """What an exit status of the tool says, for a person."""
    if status < 0:
        return f"it was ended by signal {-status}"
    return _STATUS.get(status, f"it ended with status {status}")


def unseen_words(count: int) -> str:
    """What to think of a report that counts errors and shows none."""
    noun = "1 error, and it is" if count == 1 else f"{count:,} errors, and they are"
    return f"the tool counts {noun} not in this report: look at the whole log, or run the tool again"


class Outcome:
    """Watches one run of the tool, or several in one log, and says what their report is worth.

    Attributes:
        recognized: Some line was certainly the tool's.
    """

    def __init__(self) -> None:
        self.recognized = False
        self._findings = 0
        self._counted = 0
        self._own_errors = 0
        self._program_lines = 0
        self._activity = 0
        self._began = 0
        self._ended = 0
        self._failures: list[str] = []
        self._doubts: list[str] = []

    def banner(self) -> None:
        """The tool said hello."""
        self.recognized = True
        self._began += 1

    def finding(self) -> None:
        """A record about the program was read."""
        self.recognized = True
        self._findings += 1
        if self._began <= self._ended:
            self._began += 1

    def own_error(self) -> None:
        """A record about an error of the tool itself was read; the tool's summary counts it too."""
        self._own_errors += 1

    def summary(self, ends_run: bool, counted: int = 0) -> None:
        """A summary line was read.

        Args:
            ends_run: It is the last line of a run.
            counted: How many errors it adds to those counted before.
        """
        self.recognized = True
        self._counted += counted
        if ends_run:
            self._ended += 1
            self._began = max(self._began, self._ended)

    def activity(self) -> None:
        """The tool showed that it saw the program work, for instance by a launch record."""
        self.recognized = True
        self._activity += 1

    def program_line(self) -> None:
        """The program itself wrote a line."""
        self._program_lines += 1

    def orphan(self) -> None:
        """A line of a record whose beginning is not in the log."""
        self.recognized = True
        self._activity += 1
        text = "the log begins in the middle of a record"
        if text not in self._doubts:
            self._doubts.append(text)

    def message(self, text: str) -> None:
        """The tool said something about its own run."""
        self.recognized = True
        fate = fate_of(text)
        if fate is Fate.NONE:
            return
        into = self._failures if fate is Fate.DID_NOT_RUN else self._doubts
        if text not in into and len(into) < 20:
            into.append(text)
        if fate is Fate.INCOMPLETE:
            self._activity += 1

    @property
    def ran(self) -> bool:
        """The tool instrumented the program at least once."""
        if self._findings:
            return True
        return not self._failures and bool(self._ended or self._activity)

    @property
    def _unseen(self) -> int:
        """How many errors the tool counts, where not one of them is in the report."""
        return 0 if self._findings else max(0, self._counted - self._own_errors)

    def settle(self, report: Report, ended: bool, status: int | None = None) -> None:
        """Write `ran`, `complete` and `reason` into the report.

        Args:
            report: The report of the run.
            ended: The stream is at its end; before that nothing is missing yet.
            status: Exit status of the tool where it is known, negative for a signal.
        """
        report.ran = self.ran
        unfinished = self._began - self._ended
        lost = bool(self._failures or self._doubts or self._unseen or report.summary.get("skipped"))
        report.complete = self.ran and self._ended > 0 and unfinished <= 0 and not lost
        report.reason = self._reason(report, unfinished, status) if ended else None

    def _reason(self, report: Report, unfinished: int, status: int | None) -> str | None:
        ended = f"; {status_words(status)}" if status else ""
        if self._failures and not self.ran:
            return _short(self._failures[0]) + ended
        if not self.ran:
            if not self.recognized:
                return "the tool wrote no report" + ended
            return "the report ends before the tool saw the program use CUDA" + ended
        reasons = []
        if self._failures:
            reasons.append(f"a run in this log did not start: {_short(self._failures[0])}")
        reasons.extend(_short(doubt) for doubt in self._doubts[:2])
        if self._unseen:
            reasons.append(unseen_words(self._unseen))
        if unfinished > 0 or not self._ended:
            reasons.append(f"no summary: the run was cut short or is still going{ended}")
        skipped, hidden = report.summary.get("skipped", 0), report.summary.get("not_printed", 0)
        if skipped:
            reasons.append(f"{skipped:,} errors were skipped")
        if hidden:
            reasons.append(f"{hidden:,} errors were not printed: re-run with --print-limit 0 for all")
        if not reasons and not self._findings and not self._program_lines and not self._activity:
            reasons.append("no output of the program in this log, so check that it ran")
        return "; ".join(reasons) or None


def _short(text: str) -> str:
    """A message cut to one line, with what to do about it."""
    advice = advice_on(text)
    text = text.rstrip(". ")
    if len(text) > _LONGEST:
        text = text[: _LONGEST - 1] + "…"
    return f"{text} — {advice}" if advice else text
