"""Python frames in the stack pane: woven in, folded, searched, copied, selected, switched off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ladder_backends.model.frame import Frame, FrameWindow, Place
from ladder_backends.model.python_stack import PythonFrame, PythonThread, WovenStack
from ladder_backends.model.variable import Variable, VariableWindow
from ladder_backends.python_frames import weave
from ladder_backends.session.sources import SourceFile, SourceState
from ladder_backends.session.state import Change, Run
from ladder_backends.text import clean_line
from ladder_demos.catalogue import find_demo

PROGRAMS = find_demo("python-crash").path.parent
LOOP = "_PyEval_EvalFrameDefault"
NATIVE: Sequence[tuple[str, Place | None]] = (
    ("find_largest", Place("fastsum.c", 25, "/src/fastsum.c")),
    ("largest", Place("fastsum.c", 33, "/src/fastsum.c")),
    ("cfunction_vectorcall_O", None),
    ("PyObject_Vectorcall", None),
    (LOOP, None),
    ("PyObject_CallFunctionObjArgs", None),
    ("apply", Place("fastsum.c", 9, "/src/fastsum.c")),
    (LOOP, None),
    ("PyEval_EvalCode", None),
    ("Py_RunMain", None),
    ("_start", None),
)


class PythonDouble:
    """Stands where a session's `PythonStack` stands."""

    def __init__(self, asked: list[tuple[Any, ...]]) -> None:
        self.asked = asked

    async def select(self, row: Any) -> None:
        self.asked.append(("select", row.frame.function))

    async def toggle(self) -> None:
        self.asked.append(("toggle",))


def woven(frames: Sequence[Frame], name: str = "Layer.forward") -> WovenStack:
    python = (
        PythonFrame(name, "/src/train.py", 11, entry=False),
        PythonFrame("step", "/src/train.py", 15),
        PythonFrame("<module>", "/src/train.py", 25),
    )
    return weave(frames, PythonThread(1, 1, "MainThread", True, python), complete=True)


@pytest.fixture
def crash(segfault: Any) -> Any:
    """A crash in an extension, its Python frames not read yet."""
    debug = segfault.active.state
    frames = tuple(
        Frame(level, function, place, hex(0x40_0000 + level)) for level, (function, place) in enumerate(NATIVE)
    )
    debug.frames = FrameWindow(frames)
    debug.place = NATIVE[0][1]
    segfault.active.python = PythonDouble(segfault.active.asked)
    return segfault


def tell_woven(ladder: Any, **options: str) -> None:
    debug = ladder.active.state
    debug.python.woven = woven(debug.frames.frames, **options)
    debug.python.source = "py-spy"
    ladder.tell(Change.FRAMES)


def stack_of(view: Any) -> list[str]:
    """The rows of the stack pane, in words."""
    pane = view.app.workspace.panes["stack"]
    rows = (pane.row(index) for index in range(pane.row_count))
    return [f"{row.text().strip()} {''.join(cell.text for cell in row.end)}".strip() for row in rows]


async def test_they_stand_where_they_run(crash: Any, show: Any) -> None:
    async with show(crash) as view:
        assert len(stack_of(view)) == len(NATIVE)
        tell_woven(crash)
        await view.settle()
        assert stack_of(view) == [
            "#0 find_largest fastsum.c:25",
            "#1 largest fastsum.c:33",
            "▸ 2 interpreter frames #2-3",
            "py Layer.forward GIL train.py:11",
            "py step train.py:15",
            "▸ 2 interpreter frames #4-5",
            "#6 apply fastsum.c:9",
            "py <module> train.py:25",
            "▸ 4 interpreter frames #7-10",
        ]
        assert "Stack 11 · py-spy" in view.text()


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_whole_story_on_one_screen(crash: Any, show: Any, shots: Any, size: tuple[int, int]) -> None:
    source = PROGRAMS / "fastsum.c"
    lines = tuple(source.read_text().splitlines())
    crash.sources["fastsum.c"] = SourceFile(str(source), SourceState.FOUND, source, lines)
    async with show(crash, size) as view:
        tell_woven(crash)
        await view.press("w", "t")
        shots.text(view.app, f"python_crash_{size[0]}")


async def test_the_cursor_stays_with_its_frame(crash: Any, show: Any) -> None:
    async with show(crash) as view:
        await view.press("w", "t", *["down"] * 6)
        pane = view.app.workspace.panes["stack"]
        assert pane.row(pane.cursor).target.function == "apply"
        tell_woven(crash)
        await view.settle()
        assert pane.row(pane.cursor).target.function == "apply"
        assert pane.cursor == 6


async def test_folds_open_and_close(crash: Any, show: Any) -> None:
    async with show(crash) as view:
        tell_woven(crash)
        await view.press("w", "t", "down", "down", "space")
        assert stack_of(view)[2:5] == [
            "▾ 2 interpreter frames #2-3",
            "#2 cfunction_vectorcall_O 0x400002",
            "#3 PyObject_Vectorcall 0x400003",
        ]
        await view.press("down", "space")
        assert stack_of(view)[2] == "▸ 2 interpreter frames #2-3"
        await view.press("enter")
        assert stack_of(view)[2].startswith("▾")
        await view.press("down", "enter")
        assert ("select_frame", 2) in crash.active.asked


async def test_a_fold_stays_open_over_a_step(crash: Any, show: Any) -> None:
    async with show(crash) as view:
        tell_woven(crash)
        await view.press("w", "t", "down", "down", "space")
        crash.active.state.since += 1
        tell_woven(crash)
        await view.settle()
        assert stack_of(view)[2].startswith("▾")


async def test_folds_of_a_recursion_open_one_by_one(crash: Any, show: Any) -> None:
    async with show(crash) as view:
        debug = crash.active.state
        calls = [Frame(0, "crash", Place("n.c", 1), "0x1")]
        for level in range(1, 9, 2):
            calls += [Frame(level, LOOP, None, "0x400010"), Frame(level + 1, "call_function", None, "0x400020")]
        debug.frames = FrameWindow(tuple(calls))
        python = tuple(PythonFrame("dive", "/src/deep.py", 3) for _ in range(4))
        debug.python.woven = weave(debug.frames.frames, PythonThread(1, 1, "", True, python), complete=True)
        crash.tell(Change.FRAMES)
        await view.press("w", "t", "down", "down", "space")
        assert [row[0] for row in stack_of(view)].count("▾") == 1
        assert [row[0] for row in stack_of(view)].count("▸") == 3


async def test_a_python_frame_is_selected_by_enter_and_by_click(crash: Any, show: Any) -> None:
    async with show(crash) as view:
        tell_woven(crash)
        await view.press("w", "t", "down", "down", "down", "enter")
        assert crash.active.asked == [("select", "Layer.forward")]
        await view.click("#stack", 5, 5)
        assert crash.active.asked[-1] == ("select", "step")


async def test_what_is_selected_is_told_everywhere(crash: Any, show: Any) -> None:
    async with show(crash) as view:
        tell_woven(crash)
        debug = crash.active.state
        debug.python.selected, debug.selected_frame = 0, 4
        debug.place = debug.python.place = Place("/src/train.py", 11)
        debug.variables = VariableWindow((Variable("batch", "[]"),), 4)
        crash.tell(Change.FRAMES | Change.SOURCE | Change.VARIABLES)
        await view.settle()
        text = view.text()
        assert "train.py MISSING Layer.forward" in text
        assert "Variables of Layer.forward" in text
        pane = view.app.workspace.panes["stack"]
        assert pane.row(pane.cursor).text().startswith("py Layer.forward")


async def test_search_finds_python_frames_and_looks_into_folds(crash: Any, show: Any) -> None:
    async with show(crash) as view:
        tell_woven(crash)
        await view.press("w", "t", "slash", *"train.py", "enter")
        pane = view.app.workspace.panes["stack"]
        assert pane.row(pane.cursor).text().startswith("py Layer.forward")
        await view.press("slash", *"Py_RunMain", "enter")
        assert "4 interpreter frames" in pane.row(pane.cursor).text()


async def test_copy_is_as_in_a_traceback(crash: Any, show: Any) -> None:
    async with show(crash) as view:
        tell_woven(crash)
        pane = view.app.workspace.panes["stack"]
        assert pane.copy_text(3) == 'File "/src/train.py", line 11, in Layer.forward'
        assert pane.copy_text(0) == "#0 find_largest fastsum.c:25"
        assert pane.copy_text(2) == "#2 cfunction_vectorcall_O 0x400002\n#3 PyObject_Vectorcall 0x400003"


async def test_why_there_are_none_is_a_row_of_its_own(crash: Any, show: Any) -> None:
    async with show(crash) as view:
        crash.active.state.python.why = "py-spy is not on PATH — install it: pip install py-spy"
        crash.tell(Change.FRAMES)
        await view.settle()
        assert stack_of(view)[-1].startswith("no Python frames (P): py-spy is not on PATH")
        await view.press("w", "t", "end", "enter")
        assert crash.active.asked[-1] == ("toggle",)


async def test_the_key_switches_them(crash: Any, show: Any) -> None:
    async with show(crash) as view:
        await view.press("P")
        assert crash.active.asked == [("toggle",)]


async def test_the_key_says_why_it_does_nothing(crash: Any, show: Any) -> None:
    async with show(crash) as view:
        crash.active.state.run = Run.RUNNING
        crash.tell(Change.RUN)
        await view.press("P")
        assert crash.active.asked == []
        assert "python: the target runs" in view.text()


async def test_without_a_native_line_the_source_tells_of_the_python_line(crash: Any, show: Any) -> None:
    async with show(crash) as view:
        crash.active.state.place = None
        crash.tell(Change.SOURCE)
        tell_woven(crash)
        await view.settle()
        pane = view.app.workspace.panes["source"]
        assert "No line information here" in pane.empty_text()
        assert "Python stands at train.py:11 in Layer.forward" in pane.empty_text()
        assert "(w t)" in pane.empty_text()


async def test_hostile_names_are_text(crash: Any, show: Any) -> None:
    async with show(crash) as view:
        tell_woven(crash, name=clean_line("\x1b[2J[bold]f[/]\u202e"))
        await view.settle()
        assert "py ␛[2J[bold]f[/]\\u202e" in view.text()


async def test_who_holds_the_lock_is_a_row(crash: Any, show: Any) -> None:
    async with show(crash) as view:
        crash.active.state.python.gil = "MainThread (LWP 4711)"
        tell_woven(crash)
        await view.settle()
        assert stack_of(view)[-1] == "GIL held by MainThread (LWP 4711)"


async def test_places_that_are_not_certain_are_told(crash: Any, show: Any) -> None:
    async with show(crash) as view:
        debug = crash.active.state
        thread = PythonThread(1, 1, "", False, (PythonFrame("main", "/src/train.py", 3),))
        debug.python.woven = weave(debug.frames.frames, thread, complete=True)
        debug.python.source = "py-spy"
        crash.tell(Change.FRAMES)
        await view.settle()
        assert stack_of(view)[-1] == "Python frames: where they belong is not certain"
