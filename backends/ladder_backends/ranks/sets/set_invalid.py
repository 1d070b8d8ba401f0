"""What is wrong with a set, and where in its text."""

from __future__ import annotations

from ladder_backends.errors import LadderError
from ladder_backends.text import clean_line


class SetInvalid(LadderError):
    """A text that names no set of ranks.

    Attributes:
        text: The text, clean.
        column: 0-based place of the fault in it.
        width: Characters that are at fault, at least 1.
        noun: What it should have been.
    """

    noun = "set of ranks"

    def __init__(self, text: str, column: int, why: str, remedy: str = "", width: int = 1) -> None:
        self.text = clean_line(text)
        # What was cleaned may be longer than what was written.
        self.column = len(clean_line(text[:column]))
        self.width = max(1, min(width, len(self.text) - self.column))
        self.reason = why
        super().__init__(f"{self.text!r} is no {self.noun}", f"column {self.column + 1}: {why}", remedy)

    @property
    def pointed(self) -> tuple[str, str]:
        """The text, and a line for below it that points at the fault."""
        return self.text, " " * self.column + "^" * self.width
