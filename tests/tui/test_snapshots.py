"""Whole screens: as text, which a reviewer reads, and as SVG, which holds the colours."""

from __future__ import annotations

from typing import Any

import pytest

from ladder_backends.session.sources import SourceFile, SourceState
from ladder_backends.session.state import Change

SIZES = {"80x24": (80, 24), "120x40": (120, 40), "200x60": (200, 60)}


@pytest.mark.parametrize("size", SIZES)
async def test_segfault(segfault: Any, show: Any, shots: Any, size: str) -> None:
    async with show(segfault, SIZES[size]) as view:
        await shots.both(view.pilot, f"segfault-{size}")


@pytest.mark.parametrize("size", SIZES)
async def test_finding_to_lane(gpu_dump: Any, show: Any, shots: Any, size: str) -> None:
    async with show(gpu_dump, SIZES[size]) as view:
        await shots.both(view.pilot, f"lane-{size}")


@pytest.mark.parametrize(
    ("look", "variables", "settings"),
    [
        ("light", {}, {"theme": "light"}),
        ("no-colour", {"NO_COLOR": "1"}, {}),
        ("16-colours", {"TERM": "xterm"}, {}),
    ],
    ids=["light", "no-colour", "16-colours"],
)
async def test_looks(
    gpu_dump: Any,
    show: Any,
    shots: Any,
    monkeypatch: pytest.MonkeyPatch,
    look: str,
    variables: dict[str, str],
    settings: dict[str, str],
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    async with show(gpu_dump, (120, 40), **settings) as view:
        await shots.both(view.pilot, look)


async def test_too_small(segfault: Any, show: Any, shots: Any) -> None:
    async with show(segfault, (20, 5)) as view:
        shots.text(view.app, "too-small")


async def test_smallest(segfault: Any, show: Any, shots: Any) -> None:
    async with show(segfault, (40, 10)) as view:
        shots.text(view.app, "smallest")


async def test_nothing_open(empty_ladder: Any, show: Any, shots: Any) -> None:
    async with show(empty_ladder, (80, 24)) as view:
        shots.text(view.app, "nothing-open")


async def test_help(segfault: Any, show: Any, shots: Any) -> None:
    async with show(segfault, (80, 24)) as view:
        await view.press("question_mark")
        await shots.both(view.pilot, "help")


async def test_leaving(segfault: Any, show: Any, shots: Any) -> None:
    async with show(segfault, (80, 24)) as view:
        await view.press("q")
        await shots.both(view.pilot, "leaving")


async def test_an_ambiguous_source_is_asked_for(segfault: Any, show: Any, shots: Any, tmp_path: Any) -> None:
    paths = tuple(tmp_path / name / "segfault.c" for name in ("one", "two"))
    for path in paths:
        path.parent.mkdir()
        path.write_text(f"/* {path.parent.name} */\n" * 8)
    segfault.sources["segfault.c"] = SourceFile(
        "segfault.c", SourceState.AMBIGUOUS, candidates=paths, note="2 files are called segfault.c: choose one"
    )
    async with show(segfault, (80, 24)) as view:
        assert "AMBIGUOUS" in view.text()
        assert "one/segfault.c" in view.text()
        await view.press("down", "enter")
        assert segfault.asked == [("choose_source", "segfault.c", paths[1])]
        assert "/* two */" in view.text()


async def test_a_missing_source_says_what_to_do(segfault: Any, show: Any, shots: Any) -> None:
    segfault.sources.clear()
    async with show(segfault, (80, 24)) as view:
        shots.text(view.app, "missing-source")


async def test_an_edited_source_says_so(segfault: Any, show: Any) -> None:
    found = segfault.sources["segfault.c"]
    segfault.sources["segfault.c"] = SourceFile(
        found.name, SourceState.EDITED, found.path, found.lines, note="newer than the program: lines may be off"
    )
    async with show(segfault, (80, 24)) as view:
        assert "EDITED" in view.text()
        segfault.tell(Change.RUN)
