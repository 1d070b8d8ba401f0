"""What has hung in a sweep so far: pairs that hang alike are not each waited for as long as the first."""

from __future__ import annotations

from ladder_backends.p2p.arms import ARMS, Scope

_KNOWN = 2
"""Ordered pairs that hang in the same arm before that is what the machine does."""

_HASTE = 0.25
"""Of the time that a step of that arm may take from then on; a healthy one takes far less."""

_SAME_TRANSFER = {"push": ("speed",)}
"""What does the same as an arm, and would hang the same."""

Work = tuple[str, int, int]


class Hangs:
    """Those of one sweep."""

    def __init__(self) -> None:
        self._pairs: dict[str, set[tuple[int, int]]] = {}

    def haste(self, arm: str) -> float:
        """The part of its time that a step of an arm may take."""
        return _HASTE if len(self._pairs.get(arm, ())) >= _KNOWN else 1.0

    def spared(self, at: Work, left: list[Work]) -> list[Work]:
        """Note a hang, and tell which work need not be done after it."""
        arm, *key = at
        pairs = self._pairs.setdefault(arm, set())
        pairs.add((key[0], key[1]))
        if arm not in ARMS or ARMS[arm].scope is not Scope.PAIR:
            return []
        hung = {pair for found in self._pairs.values() for pair in found}
        same = _SAME_TRANSFER.get(arm, ())
        return [
            one
            for one in left
            if (one[1:] in hung if len(hung) > _KNOWN else list(one[1:]) == key and one[0] in same)
        ]
