"""Which pairs are tested side by side: rounds in which no GPU stands twice."""

from __future__ import annotations

from collections.abc import Sequence


def rounds(gpus: Sequence[int]) -> list[list[tuple[int, int]]]:
    """Every unordered pair once, in `n - 1` rounds (`n` for an odd number), by the circle method of tournaments."""
    ring: list[int | None] = list(gpus)
    if len(ring) % 2:
        ring.append(None)
    out = []
    for _ in range(len(ring) - 1):
        half = len(ring) // 2
        group = []
        for one, other in zip(ring[:half], reversed(ring[half:]), strict=True):
            if one is not None and other is not None:
                group.append((min(one, other), max(one, other)))
        out.append(sorted(group))
        ring = [ring[0], ring[-1], *ring[1:-1]]
    return out
