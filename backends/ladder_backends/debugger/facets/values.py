"""Values as lazy trees."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ladder_backends.model.variable import Variable, VariableWindow


class Values(abc.ABC):
    """Children of values, other formats of them, and new values for them."""

    @abc.abstractmethod
    async def children(
        self, expression: str, frame_level: int, start: int, count: int, form: str = "natural"
    ) -> VariableWindow:
        """Children `start` to `start + count - 1` of a value: members, elements, what a pointer points to.

        Each child's `path` is an expression that names it in the same frame. What a pretty-printer makes of a value
        are its children, unless `form` is `raw`. A value's own static members are never followed into themselves.
        """

    @abc.abstractmethod
    async def formatted(self, expression: str, frame_level: int, form: str) -> Variable:
        """The value as `natural`, `hex`, `decimal`, `unsigned`, `binary`, `octal`, `char` or `float`."""

    @abc.abstractmethod
    async def assign(self, expression: str, frame_level: int, value: str) -> Variable:
        """Set a value; the answer is what it is now."""
