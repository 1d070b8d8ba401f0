"""Variables of a frame."""

from __future__ import annotations

from ladder_backends.late_dataclass import dataclass
from ladder_backends.model.provenance import Provenance


@dataclass(frozen=True, slots=True)
class Variable:
    """A named value, cut to a printable length by us.

    Attributes:
        value: The value as the engine prints it, clean, or an empty string for an aggregate not yet asked for.
        type: The declared type, or an empty string where it was not asked for.
        changed: The value differs from the one at the previous stop in the same function.
        cut: The value was longer than what is kept here.
        error: Why the value cannot be read, or an empty string.
        path: An expression that names the value in its frame; the name where empty.
        children: It has members, elements or a target that can be looked into.
        kind: `string` for what a person reads as text, `static` for a member of the class as such, `base` for the
            part of an object that belongs to a base class; else empty.
    """

    name: str
    value: str
    type: str = ""
    is_argument: bool = False
    changed: bool = False
    cut: bool = False
    error: str = ""
    provenance: Provenance = Provenance.ENGINE
    path: str = ""
    children: bool = False
    kind: str = ""

    @property
    def expression(self) -> str:
        """What names the value to the engine."""
        return self.path or self.name


@dataclass(frozen=True, slots=True)
class VariableWindow:
    """The variables of one frame.

    Attributes:
        frame_level: Which frame they belong to.
        more: There are more than are held here.
        note: Why the list is empty or partial (`compiled with -lineinfo only: no locals; rebuild with -G`).
    """

    variables: tuple[Variable, ...] = ()
    frame_level: int = 0
    more: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class ChildWindow:
    """Some children of a value.

    Attributes:
        start: Number of the first one.
        more: There are others behind them.
        total: How many there are, or None where that is not known without counting.
        note: Why there are none, or not as many as were asked for.
    """

    children: tuple[Variable, ...] = ()
    start: int = 0
    more: bool = False
    total: int | None = None
    note: str = ""
