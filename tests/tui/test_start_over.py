"""`r`: the program from its beginning, to `main`."""

from typing import Any

from ladder_backends.debugger.contract import StepKind
from ladder_backends.session.state import Change, Run


async def test_an_ended_program_starts_at_once(segfault: Any, show: Any) -> None:
    segfault.active.state.run = Run.EXITED
    async with show(segfault) as view:
        await view.press("r")
        assert segfault.active.asked == [("resume", StepKind.START)]


async def test_a_stopped_one_after_a_question(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        await view.press("r")
        assert "Start again? segfault" in view.text()
        await view.press("n", "r", "escape")
        assert segfault.active.asked == []
        await view.press("r", "r")
        assert segfault.active.asked == [("resume", StepKind.START)]


async def test_a_running_one_and_a_dump_say_why_not(segfault: Any, gpu_dump: Any, show: Any) -> None:
    segfault.active.state.run = Run.RUNNING
    async with show(segfault) as view:
        segfault.tell(Change.RUN)
        await view.press("r")
        assert "start: the target runs already; Ctrl-C stops it" in view.text()
    async with show(gpu_dump) as view:
        await view.press("r")
        assert "start: a dump cannot run" in view.text()
    assert segfault.active.deeds == gpu_dump.active.deeds == []
