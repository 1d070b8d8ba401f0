"""What an engine writes into its console stream, for whoever asked for it: each has a capture of its own."""

from __future__ import annotations

from ladder_backends.text import clean


class Heard:
    """A capture, from its beginning on.

    Commands are answered in turn, so it may begin with the end of what an earlier command writes.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []

    def add(self, piece: str) -> None:
        """Take what was written, as it comes."""
        self._pieces.append(piece)

    @property
    def text(self) -> str:
        """All of it, clean."""
        return clean("".join(self._pieces))

    @property
    def lines(self) -> list[str]:
        """Its lines, without empty ones."""
        return [line for line in self.text.splitlines() if line.strip()]
