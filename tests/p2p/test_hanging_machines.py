"""Machines on which many pairs hang: what is certain after a few of them is not waited for at each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from ladder_backends.model.p2p import Result
from ladder_backends.session.p2p_hangs import Hangs

from .conftest import Swept, machine

Sweeper = Callable[..., Awaitable[Swept]]


def test_a_step_gets_less_time_where_pairs_hung_in_it_before() -> None:
    hangs = Hangs()
    hangs.spared(("push", 0, 1), [])
    assert hangs.haste("push") == 1.0
    hangs.spared(("push", 1, 0), [])
    assert hangs.haste("push") < 1.0
    assert hangs.haste("pull") == 1.0


def test_first_hangs_cost_no_other_arm_but_that_of_the_same_transfer() -> None:
    left = [("pull", 0, 1), ("speed", 0, 1), ("speed", 1, 0)]
    assert Hangs().spared(("push", 0, 1), left) == [("speed", 0, 1)]
    assert Hangs().spared(("load", 0, 1), left) == []


async def test_where_all_pairs_hang_each_stops_at_its_first(swept: Sweeper) -> None:
    found = await swept(machine(4, '[[fault]]\nkind = "hang"'))
    assert found.verdicts[0].id == "hang"
    assert all(pair.kind is Result.HUNG for pair in found.sweep.pairs.values())
    hung = [arm for pair in found.sweep.pairs.values() for arm in pair.arms.values() if arm.result is Result.HUNG]
    assert len(hung) <= len(found.sweep.pairs) + 2
    assert all(pair.arms["speed"].said == "it hung in push" for pair in found.sweep.pairs.values())
