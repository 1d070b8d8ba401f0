"""The machine interface's output records, typed.

Grammar: GDB manual, "GDB/MI Output Syntax". Values are `str`, `list` or `dict`; strings are unescaped and
decoded (octal runs as UTF-8, invalid bytes as `\\xff`) but not yet cleaned: whoever builds the model from them
cleans.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TypeAlias

from ladder_backends.late_dataclass import dataclass

Value: TypeAlias = "str | list[Value] | dict[str, Value]"
"""An MI value. A list of results (`[frame={..},frame={..}]`) is the list of their values, in order.

A tuple is a dict. Engines also repeat a name in it (`{thread-id="1",thread-id="2"}`): the value is a `Repeated`
then. A tuple without any names (`{"a","b"}`) is a list; unnamed values among named ones are under `""`.
"""


class Repeated(list["Value"]):
    """The values of a name that a tuple holds more than once, in order; never an MI list. See `all_values`."""


def all_values(results: Mapping[str, Value], name: str) -> list[Value]:
    """Every value of a name, in order, however often the engine wrote it; empty where it is absent."""
    if name not in results:
        return []
    value = results[name]
    return list(value) if isinstance(value, Repeated) else [value]


NOT_RECORDED = "not-recorded"
"""Error code of an answer that a recording does not hold."""


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
