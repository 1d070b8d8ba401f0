"""What the screen says and offers when the program is built again."""

import asyncio
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ladder_backends.debugger.contract import StepKind
from ladder_backends.model.frame import Place
from ladder_backends.session.sources import SourceState
from ladder_backends.session.state import Change, Run
from ladder_tui.panes.source_pane import SourcePane


@pytest.fixture
def built(segfault: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The demo as a program that is watched."""
    began: list[None] = []
    monkeypatch.setattr("ladder_tui.screens.rebuild_offer.BEGIN_AFTER", 0.01)
    session = segfault.active
    session.rebuild = SimpleNamespace(begin=lambda: began.append(None))
    session.began = began
    session.state.build.program = Path("/src/segfault")
    segfault.place_now = lambda place: Place(place.file, place.line + 2, place.fullname)
    return segfault


async def test_watching_begins_once_something_is_shown(built: Any, show: Any) -> None:
    async with show(built):
        assert not built.active.began
        built.tell(Change.RUN)
        built.tell(Change.RUN)
        await asyncio.sleep(0.2)
        assert len(built.active.began) == 1


async def test_a_new_build_is_told_once_and_stays_marked(built: Any, show: Any) -> None:
    build = built.active.state.build
    async with show(built) as view:
        build.rebuilt = True
        built.tell(Change.SOURCE)
        await view.settle()
        assert "segfault was rebuilt: r starts it again" in view.text()
        await view.press("down")
        built.tell(Change.SOURCE)
        await view.settle()
        assert "was rebuilt" not in view.text()
        assert "REBUILT" in view.text()
        build.rebuilt = False
        built.tell(Change.SOURCE)
        await view.settle()
        assert "REBUILT" not in view.text()
        build.rebuilt = True
        built.active.state.run = Run.RUNNING
        built.tell(Change.SOURCE | Change.RUN)
        await view.settle()
        assert "what runs is the build before" in view.text()


async def test_it_can_be_started_again_to_where_it_stands(built: Any, show: Any) -> None:
    built.active.state.build.rebuilt = True
    async with show(built) as view:
        await view.press("r")
        assert "at segfault.c:7" in view.text()
        await view.press("h")
        assert ("resume", StepKind.RUN, "/src/segfault.c:7") in built.active.asked
        await view.press("r", "r")
        assert built.active.asked[-1] == ("resume", StepKind.START)


async def test_a_line_that_is_gone_is_not_offered(built: Any, show: Any) -> None:
    built.place_now = lambda place: None
    async with show(built) as view:
        await view.press("r")
        assert "start again" in view.text()
        assert "stop here" not in view.text()


async def test_an_edited_source_is_read_again_and_the_cursor_stays_on_its_line(built: Any, show: Any) -> None:
    async with show(built) as view:
        pane = view.app.workspace.panes["source"]
        assert isinstance(pane, SourcePane)
        await view.press("w", "s", "home", "down", "down")
        line = pane.row_text(pane.cursor)
        assert pane.cursor == 2
        source = built.sources["segfault.c"]
        built.sources["segfault.c"] = replace(
            source,
            state=SourceState.EDITED,
            lines=("// one more", "// and one", *source.lines),
            note="edited since",
        )
        built.tell(Change.SOURCE)
        await view.settle()
        assert pane.row_text(pane.cursor) == line
        assert pane.cursor == 4
        assert "EDITED" in view.text()
        assert "edited since" in view.text()
        await view.press("down")
        built.tell(Change.SOURCE)
        await view.settle()
        assert "edited since" not in view.text()
