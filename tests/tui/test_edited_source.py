"""Why a source is marked EDITED is said where no program runs as well: in a dump, and of a report alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ladder_backends.session.ladder import Ladder
from ladder_backends.session.sources import SourceFile, SourceState
from ladder_backends.session.state import Change

WHY = "vector_add_oob.cu has 8 lines, so line 10 is of another version of it"


def edited(file: str, fullname: str = "", line: int | None = None) -> SourceFile:
    return SourceFile(file, SourceState.EDITED, Path("/src/vector_add_oob.cu"), ("int x;",) * 8, note=WHY)


async def said_once(ladder: Any, show: Any) -> None:
    async with show(ladder, (100, 30)) as view:
        text = " ".join(view.text().split())
        assert "EDITED" in text
        assert WHY in text
        await view.press("escape", "w", "s", "down")
        ladder.tell(Change.SOURCE)
        await view.settle()
        assert WHY not in " ".join(view.text().split())


async def test_it_is_said_once_of_a_dump(gpu_dump: Any, show: Any) -> None:
    gpu_dump.source = edited
    await said_once(gpu_dump, show)


async def test_it_is_said_once_of_a_report_alone(gpu_dump: Any, show: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ladder = Ladder()
    monkeypatch.setattr(ladder, "source", edited)
    ladder.state.report, ladder.state.rung = gpu_dump.state.report, "sanitizer"
    ladder.state.selected_finding = 0
    await said_once(ladder, show)
