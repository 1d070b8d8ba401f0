"""Values as lazy trees."""

from __future__ import annotations

import abc
import enum
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ladder_backends.model.variable import ChildWindow, Variable

CALLS = "it calls a function of the program"
"""`error` of a value that was to be read without running anything, and cannot."""

TIMED_OUT = "timed out"
"""`error` of a value, and `note` of children, whose reading took too long and was interrupted."""


class Form(enum.StrEnum):
    """How a value is written."""

    NATURAL = "natural"
    HEX = "hex"
    DECIMAL = "decimal"
    UNSIGNED = "unsigned"
    BINARY = "binary"
    OCTAL = "octal"
    CHAR = "char"
    FLOAT = "float"
    RAW = "raw"


class Look(enum.StrEnum):
    """What is seen inside a value.

    MEMBERS: Members, elements, what a pretty-printer makes of it, what a pointer points to.
    DECLARED: Members of the declared class, where the object is of a class derived from it.
    ELEMENTS: A pointer points to the first element of an array, whose end is not known.
    """

    MEMBERS = "members"
    DECLARED = "declared"
    ELEMENTS = "elements"


class Wanted(NamedTuple):
    """An expression and how its value is to be written."""

    expression: str
    form: str = Form.NATURAL


class Values(abc.ABC):
    """Values of expressions, what is inside them, other forms of them, and new values for them.

    Everything is bounded: in rows by the window, in bytes by a line's length, in time by an interruption of the
    engine, after which the row that took so long says `TIMED_OUT`.

    Attributes:
        storage: Types tell the address space of values and pointers; None on an engine that knows none.
    """

    storage: bool | None = None

    @abc.abstractmethod
    async def read(self, wanted: Sequence[Wanted], frame_level: int, *, calls: bool = False) -> Sequence[Variable]:
        """The values, in order, in one question; what cannot be read carries its `error`.

        Args:
            wanted: Expressions and forms.
            frame_level: The frame whose names they use.
            calls: Expressions may run functions of the target; otherwise those that would have the error `CALLS`.
        """

    @abc.abstractmethod
    async def children(
        self,
        expression: str,
        frame_level: int,
        start: int,
        count: int,
        form: str = Form.NATURAL,
        look: Look = Look.MEMBERS,
    ) -> ChildWindow:
        """Children `start` to `start + count - 1` of a value; none of them is looked into in turn.

        Each child's `path` is an expression that names it in the same frame.
        """

    @abc.abstractmethod
    async def whole(self, expression: str, frame_level: int, form: str, most: int) -> tuple[str, bool]:
        """A value with up to `most` characters or elements, on one line, and whether that was not all."""

    @abc.abstractmethod
    async def assign(self, expression: str, frame_level: int, value: str) -> Variable:
        """Set a value; the answer is what it is now.

        Raises:
            CommandFailed: The engine says why it does not.
        """
