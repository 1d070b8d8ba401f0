"""Every error a person can meet, as one tree.

```
LadderError                what happened, why, what to do: one line
├── EngineMissing          the tool is not installed or does not run here
├── EngineError            something about a live engine
│   ├── EngineDied         it ended while it was needed
│   ├── CommandFailed      it answered "no"
│   ├── DeadlinePassed     it did not answer in time
│   └── NotRecorded        a recording stands in for it and does not hold the answer
├── MalformedRecord        bytes that are not the machine interface's grammar
├── TargetInvalid          a program, core, dump or process that cannot be opened
│   └── WrongProgram       the program that was named with a dump did not make it
├── ReportInvalid          a file that is no sanitizer report
├── RecordingInvalid       a file that is no recording
├── SettingInvalid         a configuration file or variable that cannot be taken
└── CaseInvalid            a file that is no case, or one that breaks the bounds
```
"""

from __future__ import annotations


class LadderError(Exception):
    """A failure a person can act on.

    Attributes:
        what: What failed, a clause without a full stop.
        why: The cause as far as it is known; may be empty.
        remedy: What to do next, in the imperative; may be empty.
    """

    def __init__(self, what: str, why: str = "", remedy: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.why = why
        self.remedy = remedy

    def line(self) -> str:
        """The whole error in one line: what, why, what to do."""
        text = self.what
        if self.why:
            text += f": {self.why}"
        if self.remedy:
            text += f" — {self.remedy}"
        return " ".join(text.split())

    def __str__(self) -> str:
        return self.line()


class EngineMissing(LadderError):
    """A tool is not installed, or it does not run on this machine."""


class EngineError(LadderError):
    """Something about an engine that was started."""


class EngineDied(EngineError):
    """The engine ended while an answer was expected, or before a command could be sent."""


class CommandFailed(EngineError):
    """The engine answered a command with an error.

    Attributes:
        command: The command as sent, without its token.
        code: The engine's error code (`undefined-command`), or an empty string.
    """

    def __init__(self, command: str, message: str, code: str = "") -> None:
        super().__init__(message or "the engine refused the command", "", "")
        self.command = command
        self.code = code


class DeadlinePassed(EngineError):
    """The engine did not answer a command within its deadline; the command may still be running."""


class NotRecorded(EngineError):
    """A recording stands in for the engine and holds no answer to this command."""


class MalformedRecord(LadderError):
    """A line that the machine interface's grammar does not allow.

    Attributes:
        raw: The line as received.
    """

    def __init__(self, why: str, raw: bytes | str = b"") -> None:
        super().__init__("the engine sent a line that is not MI", why)
        self.raw = raw


class TargetInvalid(LadderError):
    """A program, core file, dump or process that cannot be debugged as given."""


class WrongProgram(TargetInvalid):
    """The program that was named with a dump did not make it; the dump itself can be opened."""


class ReportInvalid(LadderError):
    """A file that is not a sanitizer report."""


class RecordingInvalid(LadderError):
    """A file that is not a recording."""


class SettingInvalid(LadderError):
    """A setting that cannot be taken: a damaged configuration file, an unknown key, a value of the wrong kind."""


class CaseInvalid(LadderError):
    """A file that is not a case, or one that breaks the bounds on sizes, counts and paths."""
