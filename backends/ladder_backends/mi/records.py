"""The machine interface's output records, typed.

Grammar: GDB manual, "GDB/MI Output Syntax". Values are `str`, `list` or `dict`; strings are unescaped and decoded
(octal runs as UTF-8, invalid bytes as `\\xff`) but not yet cleaned: whoever builds the model from them cleans.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

Value: TypeAlias = "str | list[Value] | dict[str, Value]"
"""An MI value. A list of results (`[frame={..},frame={..}]`) is a list of one-key dicts' values, in order."""


@dataclass(frozen=True, slots=True)
class ResultRecord:
    """The answer to a command: `token^class,results`.

    Attributes:
        token: The command's number, or None.
        cls: `done`, `running`, `connected`, `error` or `exit`.
        results: Results by name. An unnamed string (a cuda-gdb habit) is under `""`.
    """

    token: int | None
    cls: str
    results: dict[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AsyncRecord:
    """Something happened: `*stopped`, `=breakpoint-modified`, `+download`.

    Attributes:
        kind: `*` exec, `=` notify, `+` status.
        cls: `stopped`, `running`, `thread-created`...
    """

    kind: str
    cls: str
    results: dict[str, Value] = field(default_factory=dict)
    token: int | None = None


@dataclass(frozen=True, slots=True)
class StreamRecord:
    """Text: `~` console, `@` target, `&` log."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class PromptRecord:
    """`(gdb)`; says nothing about which command is done."""


@dataclass(frozen=True, slots=True)
class UnknownRecord:
    """A line that is not MI, with the reason; kept so that nothing is lost."""

    raw: bytes
    why: str


Record: TypeAlias = ResultRecord | AsyncRecord | StreamRecord | PromptRecord | UnknownRecord
