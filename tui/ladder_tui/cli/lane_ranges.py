"""Many lanes in few words: `block (3,0,0) threads (232-255,0,0)`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ladder_backends.model.focus import Dim3, format_coordinate


def lane_ranges(lanes: Iterable[tuple[Dim3, Dim3]]) -> Iterator[str]:
    """One piece of text for each block, its threads joined into runs along x.

    Args:
        lanes: Block and thread of each lane, in any order, repeated or not.
    """
    by_block: dict[Dim3, set[Dim3]] = {}
    for block, thread in lanes:
        by_block.setdefault(block, set()).add(thread)
    for block in sorted(by_block, key=_position):
        threads = by_block[block]
        noun = "thread" if len(threads) == 1 else "threads"
        yield f"block {format_coordinate(block)} {noun} {' '.join(_runs(threads))}"


def _runs(threads: set[Dim3]) -> Iterator[str]:
    ordered = sorted(threads, key=_position)
    first = last = ordered[0]
    for thread in [*ordered[1:], None]:
        if thread is not None and thread[1:] == last[1:] and thread[0] == last[0] + 1:
            last = thread
            continue
        x = str(first[0]) if first == last else f"{first[0]}-{last[0]}"
        yield f"({x},{first[1]},{first[2]})"
        if thread is not None:
            first = last = thread


def _position(coordinate: Dim3) -> tuple[int, int, int]:
    return coordinate[2], coordinate[1], coordinate[0]
