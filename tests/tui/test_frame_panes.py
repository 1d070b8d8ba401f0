"""Stack, variables, breakpoints, disassembly."""

from __future__ import annotations

from typing import Any

from ladder_backends.debugger.contract import Capability
from ladder_backends.model.frame import Frame, FrameKind, FrameWindow, Place
from ladder_backends.model.grid import Instruction
from ladder_backends.model.variable import Variable, VariableWindow
from ladder_backends.session.state import Change, Run


def deep(count: int, more: bool = True) -> FrameWindow:
    return FrameWindow(tuple(Frame(n, f"level_{n}", Place("a.c", n + 1)) for n in range(count)), more=more)


async def test_a_deep_stack_is_a_window_that_grows_at_its_end(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        segfault.active.state.frames = deep(30)
        segfault.tell(Change.FRAMES)
        await view.press("w", "t")
        assert "Stack 30+" in view.text()
        await view.press("end")
        assert ("outermost",) in segfault.active.asked
        await view.press("home", "up", *["pagedown"] * 5)
        assert ("further",) in segfault.active.asked
        assert "… more" in view.text()


async def test_frames_tell_what_they_are(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        segfault.active.state.frames = FrameWindow(
            (
                Frame(0, "read", None, "0x7f00", "/lib/libc.so.6"),
                Frame(1, "step", Place("train.py", 212), kind=FrameKind.PYTHON),
                Frame(2, "??", None, "0x1234"),
            )
        )
        segfault.tell(Change.FRAMES)
        await view.settle()
        lines = [line.partition("│")[2] for line in view.text().splitlines()]
        assert any("#0 read" in line and line.endswith("libc.so.6") for line in lines)
        assert any("#1 step py" in line and line.endswith("train.py:212") for line in lines)
        assert any("#2 ??" in line and line.endswith("0x1234") for line in lines)


async def test_who_launched_the_kernel_is_marked_as_from_the_report(gpu_dump: Any, show: Any) -> None:
    async with show(gpu_dump) as view:
        assert "launched by" in view.text()
        row = next(line for line in view.text().splitlines() if "launched by" in line)
        assert "report" in row
        assert "vector_add_oob.cu:19" in view.text()


async def test_changed_variables_have_a_mark_and_types_stand_at_the_right(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        rows = [line for line in view.text().splitlines() if "│" in line]
        changed = next(line for line in rows if " i " in line.rpartition("│")[2])
        assert "• i" in changed
        assert changed.endswith("int")


async def test_why_there_are_no_variables(gpu_dump: Any, show: Any) -> None:
    async with show(gpu_dump) as view:
        note = "compiled with -lineinfo only: no locals; rebuild with -G"
        gpu_dump.active.state.variables = VariableWindow(note=note)
        gpu_dump.tell(Change.VARIABLES)
        await view.settle()
        shown = " ".join(" ".join(line.rpartition("│")[2] for line in view.text().splitlines()).split())
        assert note in shown


async def test_a_long_value_is_cut_until_it_is_asked_for(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        value = "{" + ", ".join(f"{number} <repeats>" for number in range(12)) + "}"
        segfault.active.state.variables = VariableWindow((Variable("cells", value, "struct cells", cut=True),))
        segfault.tell(Change.VARIABLES)
        await view.press("w", "v")
        assert "11 <repeats>" not in view.text()
        await view.press("space")
        assert "11 <repeats>" in view.text()
        await view.press("enter")
        assert "11 <repeats>" not in view.text()


async def test_an_expression_is_evaluated_again_at_every_stop(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        await view.press("w", "v", "e", *"n*2", "enter")
        assert segfault.active.asked == [("evaluate", "n*2")]
        assert "= n*2" in view.text()
        assert "42" in view.text()
        segfault.active.answers["evaluate"] = Variable("n*2", "43", "int")
        await segfault.active.stop()
        await view.settle()
        assert "• n*2" in view.text()
        assert "43" in view.text()
        segfault.active.answers["evaluate"] = Variable("n*2", "", error="no symbol n in current context")
        await segfault.active.stop()
        await view.settle()
        assert "<no symbol n" in view.text()
        await view.press("home", "x")
        assert "n*2" not in view.text()


async def test_breakpoints_tell_their_state_in_a_word(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        await view.press("w", "b")
        assert "1 ● break  segfault.c:10" in view.text()
        assert "2 ◌ break  later.c:3  pending: its module is not loaded yet" in view.text()
        assert "1 hit" in view.text()
        first, second = segfault.active.state.breakpoints
        await view.press("space", "down", "x")
        assert segfault.active.asked[0] == ("enable_breakpoint", first, False)
        assert second.intent.location in str(segfault.active.asked[1])


async def test_a_key_shows_the_line_of_a_breakpoint(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        await view.press("w", "b", "l")
        assert view.app.focused.id == "source"
        assert view.app.focused.cursor == 9
        segfault.tell(Change.RUN)
        await view.settle()
        assert view.app.focused.cursor == 4


async def test_machine_code_is_asked_for_only_while_it_is_shown(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        assert segfault.active.rows["instructions"] == 0
        await view.press("d")
        assert view.app.focused.id == "disassembly"
        assert segfault.active.rows["instructions"] > 0
        assert segfault.active.asked == [("load_disassembly", 64)]
        debug = segfault.active.state
        debug.disassembly = tuple(
            Instruction(f"0x40{number:02x}", f"mov $0x{number:x},%eax", "compute_total", number * 4)
            for number in range(0x30, 0x60)
        )
        debug.frames = FrameWindow((Frame(0, "compute_total", debug.place, "0x4041"),))
        segfault.tell(Change.DISASSEMBLY)
        await view.settle()
        current = next(line for line in view.text().splitlines() if "▶" in line)
        assert "+260" in current
        assert "mov     $0x41,%eax" in current
        await view.press("d")
        assert view.app.focused.id == "source"


async def test_what_cannot_be_disassembled_says_so(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        segfault.active.state.capabilities &= ~Capability.DISASSEMBLE
        await view.press("w", "d")
        assert "no machine code" in view.text()
        assert segfault.active.asked == []


async def test_only_what_is_seen_is_asked_for(segfault: Any, show: Any) -> None:
    async with show(segfault, (80, 24)) as view:
        few = dict(segfault.active.rows)
        await view.resize(200, 60)
        assert segfault.active.rows["frames"] > few["frames"]


async def test_an_exited_program_leaves_nothing_behind(segfault: Any, show: Any) -> None:
    async with show(segfault) as view:
        debug = segfault.active.state
        debug.run, debug.run_detail, debug.fault = Run.EXITED, "exited normally", False
        debug.frames, debug.variables, debug.place, debug.focus = FrameWindow(), VariableWindow(), None, None
        segfault.tell(Change.RUN | Change.FRAMES | Change.VARIABLES | Change.FOCUS | Change.SOURCE)
        await view.settle()
        assert "□ exited exited normally" not in view.text()
        assert "□ exited normally" in view.text()
        assert "compute_total(" not in view.text().split("Stack", 1)[1].splitlines()[1].partition("│")[2]


async def test_the_breakpoints_pane_tells_a_dump_that_comes_while_it_is_in_view(gpu_dump: Any, show: Any) -> None:
    debug = gpu_dump.active.state
    debug.run = Run.NOTHING
    async with show(gpu_dump, (200, 60)) as view:
        assert "b on a line of the source sets one" in view.text()
        debug.run = Run.DUMP
        gpu_dump.tell(Change.RUN)
        await view.pilot.pause()
        assert "a dump takes no breakpoints" in view.text()
