"""A fact about a machine: a value with its source, or why it is not known. Unknown is never off."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any


class Concern(enum.StrEnum):
    """How much a fact matters to somebody whose transfers do not work."""

    NONE = ""
    NOTE = "note"
    """Worth knowing; nothing is wrong."""
    WRONG = "wrong"
    """Something is broken, or slower than it should be."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact.

    Attributes:
        name: Stable and dotted, unique in its group: `pcie.width`.
        label: What a person reads before the value.
        value: As JSON holds it; None where it is not known.
        shown: The value as a person reads it; `str(value)` where empty.
        source: The call, file or text that it comes from; `a, b` where two were needed.
        why: Why it is not known, a clause; empty where it is.
        remedy: The exact command that would tell, or what to do; may be empty.
        live: It changes by itself; no part of a comparison.
        concern: Whether it needs attention; `says` tells why.
        says: What it means for transfers between GPUs, a clause; may be empty.
    """

    name: str
    label: str
    value: Any = None
    shown: str = ""
    source: str = ""
    why: str = ""
    remedy: str = ""
    live: bool = False
    concern: Concern = Concern.NONE
    says: str = ""

    @property
    def known(self) -> bool:
        """There is a value."""
        return self.value is not None

    @property
    def text(self) -> str:
        """The value for a person; `?` and the reason where there is none."""
        if self.value is None:
            return f"? {self.why}".rstrip()
        return self.shown or shown_value(self.value)

    def noted(self, says: str, concern: Concern = Concern.NOTE) -> Fact:
        """The same fact, with what it means."""
        return replace(self, says=says, concern=concern)

    def wrong(self, says: str, remedy: str = "") -> Fact:
        """The same fact, which tells of something broken, and what to do about it."""
        return replace(self, says=says, concern=Concern.WRONG, remedy=remedy or self.remedy)


def shown_value(value: Any) -> str:
    """A value as a person reads it, where nothing better is known of it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Mapping):
        return "  ".join(f"{key}={shown_value(one)}" for key, one in value.items()) or "none"
    if isinstance(value, (tuple, list)):
        return ", ".join(shown_value(one) for one in value) or "none"
    return str(value)


class Facts(Mapping[str, Fact]):
    """Facts of one thing, by name, in the order in which they are shown.

    A name that was never read is a fact too: it is not known.
    """

    __slots__ = ("_facts",)

    def __init__(self, facts: Iterable[Fact] = ()) -> None:
        self._facts = {fact.name: fact for fact in facts}

    def __getitem__(self, name: str) -> Fact:
        return self._facts.get(name) or Fact(name, name, why="not read")

    def __contains__(self, name: object) -> bool:
        return name in self._facts

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Facts) and list(self._facts.items()) == list(other._facts.items())

    def __hash__(self) -> int:
        return hash(tuple(self._facts))

    def value(self, name: str) -> Any:
        """The value of a fact, or None where it is not known."""
        return self[name].value

    def with_facts(self, facts: Iterable[Fact]) -> Facts:
        """These, and others in their place or behind them."""
        return Facts((*self._facts.values(), *facts))

    def concerns(self) -> Iterator[Fact]:
        """What needs attention, the broken first."""
        for kind in (Concern.WRONG, Concern.NOTE):
            yield from (fact for fact in self._facts.values() if fact.concern is kind)
