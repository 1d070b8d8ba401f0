"""Why a source is marked EDITED is said where no program runs as well: in a dump, and of a report alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ladder_backends.session.sources import SourceFile, SourceState
from ladder_backends.session.state import Change

WHY = "vector_add_oob.cu has 8 lines, so line 10 is of another version of it"


def edited(file: str, fullname: str = "", line: int | None = None) -> SourceFile:
    return SourceFile(file, SourceState.EDITED, Path("/src/vector_add_oob.cu"), ("int x;",) * 8, note=WHY)


@pytest.mark.parametrize("alone", [False, True])
async def test_it_is_said_once(gpu_dump: Any, show: Any, alone: bool) -> None:
    gpu_dump.source = edited
    if alone:
        gpu_dump.sessions.clear()
    async with show(gpu_dump, (100, 30)) as view:
        text = " ".join(view.text().split())
        assert "EDITED" in text
        assert WHY in text
        await view.press("escape", "w", "s", "down")
        gpu_dump.tell(Change.SOURCE)
        await view.settle()
        assert WHY not in " ".join(view.text().split())
