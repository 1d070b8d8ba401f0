"""Ranks that come to a breakpoint before its gdb has answered that it is on."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ladder_backends.ranks.engine import RankEngine
from ladder_backends.ranks.engine.set_breakpoints import RankBreakpoints


async def test_a_hit_that_comes_before_the_answer_counts(steady: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = RankEngine(steady.job)
    try:
        await engine.attach(range(4))
        await engine.go_on(range(4))
        (node,) = engine.engines
        plain = node.command

        async def late(command: str, *more: Any, **named: Any) -> Any:
            answer = await plain(command, *more, **named)
            if command.startswith("-break-enable"):
                await both_stand()
            return answer

        async def both_stand() -> None:
            for _ in range(500):
                if engine.states["held"] == {1, 2}:
                    return
                await asyncio.sleep(0.02)
            raise AssertionError(engine.states["held"])

        monkeypatch.setattr(node, "command", late)
        made = await RankBreakpoints(engine).set([1, 2], "work")
        assert made.hits == {1: 1, 2: 1}
        await both_stand()
    finally:
        await engine.close()
