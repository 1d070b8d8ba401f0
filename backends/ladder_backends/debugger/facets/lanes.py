"""One expression, asked of many lanes."""

from __future__ import annotations

import abc
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ladder_backends.model.unit_values import Span, UnitLayout, UnitValue


class Lanes(abc.ABC):
    """Values of an expression in the lanes round the focus; the focus is where it was whenever one can look.

    Attributes:
        spans: How far round the focus can be asked, nearest first.
    """

    spans: tuple[Span, ...]

    @abc.abstractmethod
    def layouts(self, span: str, known: UnitLayout | None = None) -> AsyncIterator[UnitLayout]:
        """The lanes that can be asked: those that the device or the dump holds.

        The first layout is of the lanes nearest to the focus, and comes at once; each further one has more rows
        behind those of the one before, until all that the span holds are found, or a bounded number of them.

        Args:
            span: Name of one of `spans`.
            known: What was found before, to be gone on with.

        Raises:
            CommandFailed: The engine stands in no lane, or the span is not known.
        """

    @abc.abstractmethod
    def values(
        self, expression: str, layout: UnitLayout, places: Sequence[int], frame_level: int = 0
    ) -> AsyncIterator[Sequence[UnitValue]]:
        """The values, in batches, each as soon as it is there; a refusal of one lane is its `error`.

        Closing the iterator, or cancelling who waits for it, ends it behind the batch that is on its way.

        Args:
            expression: It only reads.
            layout: Where the lanes are.
            places: Which of them, in the order in which they are asked.
            frame_level: The frame whose names it uses, in each lane.

        Raises:
            CommandFailed: The expression would write, or the target runs.
            NotRecorded: A recording holds none of the answers.
        """
