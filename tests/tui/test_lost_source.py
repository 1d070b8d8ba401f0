"""A source that is not on this machine: its folder is asked for."""

from pathlib import Path
from typing import Any

from ladder_backends.model.frame import Frame, FrameWindow, Place
from ladder_backends.model.thread import Thread, ThreadGroup
from ladder_backends.session.sources import SourceFile, SourceState
from ladder_backends.session.thread_list import ThreadList


async def test_enter_asks_for_the_folder_of_a_lost_source(segfault: Any, show: Any, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    found = tmp_path / "deep/segfault.c"
    found.write_text("\n" * 4 + "found_it();\n")
    segfault.sources["segfault.c"] = SourceFile("segfault.c", SourceState.MISSING, note="not here", lost=True)
    async with show(segfault, (120, 40)) as view:
        assert "not here; Enter asks for it" in view.text()
        await view.press("enter", *"/nowhere", "enter")
        assert "no segfault.c below /nowhere" in view.text()
        await view.press("enter", *str(tmp_path), "enter")
        assert ("choose_source", "segfault.c", found) in segfault.asked
        assert "found_it();" in view.text()


async def test_the_frame_of_the_programs_own_is_named(segfault: Any, show: Any) -> None:
    debug = segfault.active.state
    own = Frame(2, "main", Place("door.c", 28, "/src/door.c"), "0x401250")
    library = Frame(1, "pthread_join", Place("./nptl/join.c", 9, "./nptl/./nptl/join.c"), "0x7f02")
    wait = Frame(0, "__futex_wait", Place("./nptl/futex.c", 57, "./nptl/./nptl/futex.c"), "0x7f01")
    debug.frames, debug.place = FrameWindow((wait, library, own)), wait.place
    segfault.sources["futex.c"] = SourceFile("futex.c", SourceState.MISSING, note="not here", lost=True)
    for _ in range(2):
        async with show(segfault, (80, 24)) as view:
            told = " ".join(view.text().split())
            assert "own code is at door.c:28 in main; Enter on frame 2 in Stack (w t) shows it." in told
        debug.place = None
    debug.frames = FrameWindow((wait,))
    groups = (ThreadGroup((Thread(1, 5001, "door", frame=wait),), (wait, library, own)),)
    debug.threads = ThreadList(processes_of={1: "i1"}, groups=groups, current=True, whole=True)
    async with show(segfault, (80, 24)) as view:
        assert "own code is at door.c:28" in " ".join(view.text().split())
    debug.threads.current = False
    async with show(segfault, (80, 24)) as view:
        assert "own code" not in view.text()


async def test_the_file_itself_may_be_named(segfault: Any, show: Any, tmp_path: Path) -> None:
    other = tmp_path / "other.c"
    other.write_text("\n" * 4 + "found_it();\n")
    segfault.sources["segfault.c"] = SourceFile("segfault.c", SourceState.MISSING, note="not here", lost=True)
    async with show(segfault, (120, 40)) as view:
        await view.press("enter", *str(other), "enter")
        assert ("choose_source", "segfault.c", other) in segfault.asked


async def test_enter_asks_for_no_folder_of_what_is_no_file(segfault: Any, show: Any) -> None:
    segfault.sources["segfault.c"] = SourceFile("segfault.c", SourceState.MISSING, note="it was generated")
    async with show(segfault, (120, 40)) as view:
        await view.press("enter")
        assert "Enter asks" not in view.text()
        assert not view.app.workspace.prompt.display
