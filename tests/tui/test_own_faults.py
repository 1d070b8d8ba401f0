"""Faults of our own: told in one line, kept in the log file, and no harm to what told of the change."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ladder_backends.model.variable import Variable, VariableWindow
from ladder_backends.session.state import Change
from ladder_tui.cli import screen
from ladder_tui.panes.stack_pane import StackPane


async def test_a_view_that_fails_leaves_the_session_and_the_others_alone(
    segfault: Any, show: Any, faults: list[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with show(segfault) as view:
        with monkeypatch.context() as patch:
            patch.setattr(StackPane, "refresh_from", lambda *_: 1 / 0)
            debug = segfault.active.state
            debug.variables = VariableWindow((Variable("fresh", "4711", "int"),))
            segfault.tell(Change.FRAMES | Change.VARIABLES | Change.RUN)
            await view.settle()
        assert "4711" in view.text()
        assert "ZeroDivisionError: division by zero — this is a fault of ladder-tui" in view.text()
        segfault.tell(~Change.NONE)
        await view.settle()
        assert "compute_total" in view.text()
    assert [type(fault) for fault in faults] == [ZeroDivisionError]
    faults.clear()


async def test_what_fails_where_nobody_waits_is_told_too(
    segfault: Any, show: Any, faults: list[BaseException]
) -> None:
    async with show(segfault) as view:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, what: screen._take_unexpected(view.app, what))
        loop.call_soon(lambda: {}["lost"])
        await view.settle()
        loop.set_exception_handler(None)
        assert "KeyError: 'lost' — this is a fault of ladder-tui" in view.text()
    assert [type(fault) for fault in faults] == [KeyError]
    faults.clear()
