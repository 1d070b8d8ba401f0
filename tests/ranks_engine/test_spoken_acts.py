"""Acts on sets of ranks as they are typed, on a real job."""

from __future__ import annotations

import asyncio
import time

import pytest

from ladder_backends.errors import LadderError
from ladder_backends.model.ranks import Job, Launcher, Rank
from ladder_backends.ranks.engine import RankEngine
from ladder_backends.ranks.engine.spoken import SpokenActs
from ladder_backends.ranks.sets import SetInvalid


async def test_a_job_is_spoken_with(steady, gdb) -> None:
    engine = RankEngine(steady.job)
    acts = SpokenActs(engine)
    try:
        stacks = await acts.say("bt $a{0..1}")
        assert any("main at steady_ranks.c:" in line for line in stacks)
        assert {held.rank.rank for held in engine.all_held} == {0, 1}
        assert await acts.say("print $a tied") == ["0-3: 7", "▅▅▅▅  7 on 0, 7 on 0"]
        lines = await acts.say("print $a part.weight")
        assert lines[-1] == "▁▃×█  0 on 0, 1.5 on 3, NaN on 2"
        assert await acts.say("print $a rank % 2") == ["0,2: 0", "1,3: 1", "▁█▁█  0 on 0, 1 on 1"]
        assert await acts.say("defset odd $a{class:2}") == ["$odd = $a{1,3}"]
        assert await acts.say("viewset") == ["$odd = $a{1,3}"]
        assert await acts.say("break $odd work if rank == 3") == ["breakpoint 1", "1,3: steady_ranks.c:44"]
        end = time.monotonic() + 20
        while engine.states["stopped"] != {3} and time.monotonic() < end:  # noqa: ASYNC110 - another process stops
            await asyncio.sleep(0.05)
        assert await acts.say("next $a{stopped}") == ["3: work at steady_ranks.c:45"]
        assert await acts.say("next $odd") == [
            "3: work at steady_ranks.c:46",
            "answered 1 of 2; rank 1: it runs",
        ]
        assert await acts.say("delete 1") == []
        assert await acts.say("continue $odd") == []
        assert await acts.say("interrupt ~$odd") == []
        assert await acts.say("viewset $a{held}") == ["$a{0,2}"]
        assert await acts.say("release $a") == []
        assert engine.all_held == []
    finally:
        await engine.close()


async def test_faults_are_pointed_at_and_nothing_is_touched() -> None:
    ranks = tuple(Rank(number, 1, "elsewhere", 1, "") for number in range(1000))
    engine = RankEngine(Job("many", Launcher.SLURM, None, 1000, ranks))
    acts = SpokenActs(engine)
    with pytest.raises(SetInvalid) as invalid:
        await acts.say("bt $a{990..1010}")
    assert invalid.value.pointed == ("bt $a{990..1010}", "      ^^^^^^^^^")
    assert "1000..1010: no such ranks are in it" in invalid.value.line()
    for line, words in (
        ("dance $a", "'dance' is no act on ranks"),
        ("delete 7", "there is no breakpoint 7"),
        ("continue $a now", "'now' is not understood"),
        ("bt", "a set is expected"),
    ):
        with pytest.raises(LadderError, match=words):
            await acts.say(line)
    await engine.close()
