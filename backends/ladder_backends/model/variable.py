"""Variables of a frame."""

from __future__ import annotations

from dataclasses import dataclass

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
