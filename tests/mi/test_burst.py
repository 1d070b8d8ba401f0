"""Records that come in thousands: what is joined, and what is not."""

from __future__ import annotations

from ladder_backends.mi.burst import Burst
from ladder_backends.mi.records import AsyncRecord, all_values


def created(thread: str, process: str) -> AsyncRecord:
    return AsyncRecord("=", "thread-created", {"id": thread, "group-id": process})


def test_threads_of_one_process_are_joined_and_those_of_two_are_not() -> None:
    burst = Burst()
    assert burst.join(created("1", "i1"))
    assert burst.join(created("2", "i1"))
    assert not burst.join(created("3", "i2"))
    held = burst.take()
    assert held is not None
    assert all_values(held.results, "id") == ["1", "2"]
    assert burst.join(created("3", "i2"))
