"""Which values differ from the previous stop in the same function."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace

from ladder_backends.model.variable import VariableWindow

_FUNCTIONS = 64
"""Functions whose values are remembered."""


@dataclass(slots=True)
class _Seen:
    stop: int
    values: dict[str, str] = field(default_factory=dict)
    before: dict[str, str] = field(default_factory=dict)


class ValueChanges:
    """Remembers values by function, and marks what is different now."""

    def __init__(self) -> None:
        self._functions: OrderedDict[str, _Seen] = OrderedDict()

    def mark(self, window: VariableWindow, function: str, stop: int) -> VariableWindow:
        """The window with `changed` set.

        Args:
            window: Variables of a frame.
            function: The frame's function.
            stop: Number of the stop; a second look during one stop compares with the same values as the first.
        """
        # Of names that hide one another the first is the innermost.
        values = {variable.name: variable.value for variable in reversed(window.variables) if not variable.error}
        seen = self._functions.pop(function, None)
        if seen is None:
            seen = _Seen(stop, values)
        elif seen.stop != stop:
            seen = _Seen(stop, values, before=seen.values)
        else:
            seen.values = values
        self._functions[function] = seen
        if len(self._functions) > _FUNCTIONS:
            self._functions.popitem(last=False)
        before = seen.before
        if all(before.get(variable.name, variable.value) == variable.value for variable in window.variables):
            return window
        return replace(
            window,
            variables=tuple(
                replace(variable, changed=before.get(variable.name, variable.value) != variable.value)
                for variable in window.variables
            ),
        )

    def forget(self) -> None:
        """Start over, as after a restart of the program."""
        self._functions.clear()
