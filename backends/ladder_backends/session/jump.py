"""The jump: from a finding, or from coordinates, into a lane of a GPU core dump."""

from __future__ import annotations

from dataclasses import dataclass

from ladder_backends.model.focus import Focus
from ladder_backends.model.frame import Frame
from ladder_backends.model.grid import Warp
from ladder_backends.model.provenance import Provenance
from ladder_backends.model.variable import Variable


@dataclass(frozen=True, slots=True)
class Alternative:
    """The nearest honest thing where a lane cannot be reached.

    Attributes:
        label: What it is, for a person: `thread (239,0,0) of the same warp`, `source line vector_add.cu:10`.
        focus: A lane the dump does hold, or None.
        file: A source file to show, or an empty string.
    """

    label: str
    focus: Focus | None = None
    file: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class JumpOutcome:
    """What a jump asked for and what it got.

    Attributes:
        reached: Where the engine stands now, or None where it could not move.
        reason: Why `reached` is not what was asked; empty when it is.
        seconds: Time of the jump, from the request to the last answer.
    """

    asked: Focus
    reached: Focus | None
    frame: Frame | None = None
    variables: tuple[Variable, ...] = ()
    note: str = ""
    warp: Warp | None = None
    provenance: Provenance = Provenance.ENGINE
    reason: str = ""
    alternatives: tuple[Alternative, ...] = ()
    seconds: float = 0.0

    @property
    def exact(self) -> bool:
        """The lane that was asked for was reached."""
        return self.reached is not None and self.reached.satisfies(self.asked)
