"""Which values differ from the previous stop in the same function."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import field, replace

from ladder_backends.late_dataclass import dataclass
from ladder_backends.model.variable import VariableWindow

_FUNCTIONS = 64
"""Functions whose values are remembered."""


@dataclass(slots=True)
class _Seen:
    stop: int
    values: dict[tuple[str, int], str] = field(default_factory=dict)
    before: dict[tuple[str, int], str] = field(default_factory=dict)


class ValueChanges:
    """Remembers values by function, and marks what is different now."""

    def __init__(self) -> None:
        self._functions: OrderedDict[Hashable, _Seen] = OrderedDict()

    def mark(self, window: VariableWindow, whose: Hashable, stop: int) -> VariableWindow:
        """The window with `changed` set.

        Args:
            window: Variables of a frame.
            whose: The frame's function, and on a device the lane.
            stop: Number of the stop; a second look during one stop compares with the same values as the first.
        """
        keys = _keys(window)
        values = {
            key: variable.value for key, variable in zip(keys, window.variables, strict=True) if not variable.error
        }
        seen = self._functions.pop(whose, None)
        if seen is None:
            seen = _Seen(stop, values)
        elif seen.stop != stop:
            seen = _Seen(stop, values, before=seen.values)
        else:
            seen.values = values
        self._functions[whose] = seen
        if len(self._functions) > _FUNCTIONS:
            self._functions.popitem(last=False)
        before = seen.before
        marks = [
            before.get(key, variable.value) != variable.value
            for key, variable in zip(keys, window.variables, strict=True)
        ]
        if not any(marks):
            return window
        return replace(
            window,
            variables=tuple(
                replace(variable, changed=changed)
                for variable, changed in zip(window.variables, marks, strict=True)
            ),
        )

    def forget(self) -> None:
        """Start over, as after a restart of the program."""
        self._functions.clear()


def _keys(window: VariableWindow) -> list[tuple[str, int]]:
    """Names, numbered where inner ones hide outer ones."""
    met: dict[str, int] = {}
    keys = []
    for variable in window.variables:
        number = met.get(variable.name, 0)
        met[variable.name] = number + 1
        keys.append((variable.name, number))
    return keys
