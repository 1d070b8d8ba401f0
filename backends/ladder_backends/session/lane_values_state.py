"""An expression over many units as panes see it."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from ladder_backends.late_dataclass import dataclass
from ladder_backends.model.provenance import Provenance
from ladder_backends.model.unit_values import UnitLayout, UnitValue

if TYPE_CHECKING:
    from ladder_backends.session.distribution import Distribution


@dataclass(slots=True)
class LaneValuesState:
    """The expression that was asked last.

    Attributes:
        expression: What is asked, or an empty string.
        span: How far round the focus.
        layout: Who is asked.
        values: Answers by place.
        running: More are on their way.
        reason: Why not all have answered, or an empty string.
        failed: Why nobody was asked, or an empty string.
        seconds: Time from the question to the last answer.
        old: The answers are of a moment before the target ran.
        turn: Grows with each change of the answers.
    """

    expression: str = ""
    span: str = ""
    layout: UnitLayout = field(default_factory=UnitLayout)
    values: dict[int, UnitValue] = field(default_factory=dict)
    running: bool = False
    reason: str = ""
    failed: str = ""
    seconds: float = 0.0
    old: bool = False
    turn: int = 0
    provenance: Provenance = Provenance.ENGINE
    _taken: tuple[int, Distribution] | None = None

    @property
    def distribution(self) -> Distribution:
        """The answers taken together; worked out once for each change."""
        if self._taken is None or self._taken[0] != self.turn:
            from ladder_backends.session.distribution import distribution

            self._taken = (self.turn, distribution(self.layout, self.values.values()))
        return self._taken[1]

    def show(self, layout: UnitLayout) -> None:
        """Begin with others, of whom nobody has answered."""
        self.layout, self.values = layout, {}
        self.turn += 1

    def grow(self, layout: UnitLayout) -> None:
        """Go on with others as well, behind those that were known."""
        self.layout = layout
        self.turn += 1

    @property
    def whole(self) -> bool:
        """Everybody has answered."""
        return not self.running and len(self.values) >= self.layout.total

    def answered_words(self) -> str:
        """`24 lanes`, `answered 320 of 4,096 lanes, 2 s are over`."""
        total, count = self.layout.total, len(self.values)
        unit = self.layout.unit + ("" if total == 1 else "s")
        if self.running:
            return f"answered {count:,} of {total:,} {unit} …"
        if count >= total and not self.reason:
            return f"{count:,} {unit}"
        return f"answered {count:,} of {total:,} {unit}" + (f", {self.reason}" if self.reason else "")
