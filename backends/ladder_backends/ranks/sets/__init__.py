"""Process sets: which ranks a command is for, as people write and read it."""

from ladder_backends.ranks.sets.axes import in_axes
from ladder_backends.ranks.sets.book import SetBook
from ladder_backends.ranks.sets.facts import JobFacts
from ladder_backends.ranks.sets.selection import Selection
from ladder_backends.ranks.sets.set_invalid import SetInvalid

__all__ = ["JobFacts", "Selection", "SetBook", "SetInvalid", "in_axes"]
