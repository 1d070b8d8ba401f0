"""Python frames in the stack of a real gdb: crashes, attached processes, threads, cores, and why there are none."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path

import pytest

from ladder_backends.debugger import AttachTarget, CoreTarget, LaunchTarget, StepKind
from ladder_backends.model.breakpoint import BindingState
from ladder_backends.model.focus import Focus
from ladder_backends.model.provenance import Provenance
from ladder_backends.python_frames import Interpreter, snapshot, spy
from ladder_backends.python_frames.py_bt import script_for
from ladder_backends.session import python_reading
from ladder_backends.session.python_json import snapshot_json, woven_json, woven_lines
from ladder_backends.session.state import Run

EVERY = ["this", "distribution", "3.7", "3.8", "3.9", "3.10", "3.12", "3.13"]


def python_rows(rows: list[str]) -> list[str]:
    return [row.removeprefix("py ") for row in rows if row.startswith("py ")]


@pytest.mark.parametrize("python", EVERY, indirect=True)
async def test_a_crash_in_an_extension_is_one_stack(stack, python, layers, py_spy) -> None:
    await stack.run(python, layers, "crash")
    rows = stack.rows()
    assert rows[:2] == ["follow", "crash"]
    assert re.fullmatch(r"\(\d\)", rows[2])
    assert rows[3] == "py forward"
    told = python_rows(rows)
    assert told[:5] == ["forward", "__call__", "numbers", "leaf", "middle"]
    assert told[-3:] == ["back", "main", "<module>"]
    assert rows.index("py back") < rows.index("apply") < rows.index("py main")
    state = stack.state.python
    assert state.woven.exact
    assert state.source == "py-spy"
    assert state.why == ""
    assert stack.python_row("forward").owns_gil
    assert "_PyEval_EvalFrameDefault" not in rows
    assert re.fullmatch(r"\(\d+\)", rows[-1])


@pytest.mark.parametrize("python", ["this", "distribution", "3.8"], indirect=True)
async def test_a_python_frame_shows_its_line_and_its_variables(stack, python, layers, py_spy) -> None:
    await stack.run(python, layers, "crash")
    await stack.session.python.select(stack.python_row("forward"))
    state = stack.state
    assert state.place.line == 21
    assert Path(state.place.fullname) == layers
    assert state.python.frame.function.endswith("forward")
    values = {one.name: one.value for one in state.variables.variables}
    assert values["way"] == '"crash"'
    assert values["secret"].startswith('"␛[2Jsecret')
    level = stack.python_row("forward").level
    assert state.variables.frame_level == state.selected_frame == level
    # The engine's own command line stands in the native frame that runs it.
    await stack.session.select_frame(1)
    await stack.settled()
    assert state.python.selected is None
    assert state.place.file.endswith("spin_extension.c")
    assert {one.name for one in state.variables.variables} == {"module", "nothing"}


async def test_the_consoles_up_and_down_mean_native_frames(stack, layers, py_spy) -> None:
    await stack.run(Path(sys.executable), layers, "crash")
    await stack.session.python.select(stack.python_row("main"))
    await stack.session.console("frame 1")
    await stack.settled()
    await stack.until(lambda: stack.state.selected_frame == 1)
    assert stack.state.python.selected is None
    assert stack.state.place.file.endswith("spin_extension.c")


async def test_a_running_process_is_attached_to(stack, layers, py_spy) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, layers, "release", stdout=asyncio.subprocess.PIPE
    )
    try:
        await process.stdout.readline()
        await stack.session.open(AttachTarget(process.pid))
        await stack.settled()
        if stack.state.focus.index("thread") != 1:
            await stack.session.switch(Focus.of(thread=1))
            await stack.settled()
        assert python_rows(stack.rows())[:2] == ["forward", "__call__"]
        assert stack.rows()[:2] == ["spin_here", "release"]
        # It has let the lock go.
        assert not stack.python_row("forward").owns_gil
        await stack.session.switch(Focus.of(thread=2))
        await stack.settled()
        assert python_rows(stack.rows())[0] == "idle"
        assert python_rows(stack.rows())[-1] == "_bootstrap"
        assert stack.state.python.woven.exact
        assert stack.state.python.gil == ""
    finally:
        await stack.session.close()
        process.kill()
        await process.communicate()


@pytest.mark.parametrize("python", ["distribution", "3.8"], indirect=True)
async def test_a_deep_recursion_is_woven_at_both_ends(stack, python, layers, py_spy) -> None:
    await stack.run(python, layers.with_name("python_deep.py"))
    rows = stack.rows()
    assert rows[:2] == ["follow", "crash"]
    assert python_rows(rows)[:200] == ["dive"] * 200
    if not stack.state.frames.more:
        assert python_rows(rows)[-2:] == ["main", "<module>"]
        return
    # Each Python frame takes four native ones: only what is held can be woven.
    await stack.session.stack.outermost()
    await stack.settled()
    assert python_rows(stack.rows())[-3:] == ["dive", "main", "<module>"]
    await stack.session.stack.innermost()
    await stack.settled()
    assert stack.rows()[:2] == ["follow", "crash"]
    assert python_rows(stack.rows())[0] == "dive"


async def test_who_else_holds_the_lock_is_told(stack, layers, py_spy) -> None:
    await stack.run(Path(sys.executable), layers, "crash")
    pid = (await stack.session.debugger.python.thread_numbers()).os_thread
    assert stack.state.python.gil == ""
    await stack.session.switch(Focus.of(thread=2))
    await stack.settled()
    assert python_rows(stack.rows())[0] == "idle"
    assert stack.state.python.gil == f"MainThread (LWP {pid})"


async def test_steps_ask_once_for_the_newest_stop(stack, layers, py_spy, monkeypatch) -> None:
    asked = []
    real = spy._output

    async def output(command, deadline):
        asked.append(command)
        return await real(command, deadline)

    monkeypatch.setattr(spy, "_output", output)
    await stack.session.open(LaunchTarget(Path(sys.executable), arguments=(str(layers), "spin")), run=False)
    await stack.session.set_breakpoint("spin_here")
    await stack.go(StepKind.RUN)
    assert len(asked) == 1
    before = stack.rows()
    assert before[:2] == ["spin_here", "spin"]
    for _ in range(5):
        await stack.session.resume(StepKind.NEXT)
        await stack.session.at_rest()
    # Meanwhile what was read before stands where its loops still stand.
    assert stack.rows()[:8] == before[:8]
    await stack.settled()
    assert len(asked) == 2
    assert stack.rows() == before


async def test_what_is_not_on_screen_asks_nothing(stack, layers, monkeypatch) -> None:
    async def output(command, deadline):
        pytest.fail("asked although nothing shows it")

    monkeypatch.setattr(spy, "_output", output)
    stack.session.show_rows(frames=1, variables=20, python=False)
    await stack.run(Path(sys.executable), layers, "crash")
    await asyncio.sleep(0.3)
    assert stack.state.python.woven is None


async def test_it_is_read_when_the_stack_comes_into_view(stack, layers, py_spy) -> None:
    stack.session.show_rows(frames=1, variables=20, python=False)
    await stack.run(Path(sys.executable), layers, "crash")
    stack.session.show_rows(frames=30, variables=20, python=True)
    await stack.settled()
    assert python_rows(stack.rows())[0] == "forward"


async def test_on_and_off(stack, layers, py_spy) -> None:
    await stack.run(Path(sys.executable), layers, "crash")
    await stack.session.python.toggle()
    assert stack.state.python.woven is None
    await stack.settled()
    assert stack.state.python.woven is None
    await stack.session.python.toggle()
    assert python_rows(stack.rows())[0] == "forward"
    assert "Python frames by py-spy" in stack.notices()


async def test_a_run_that_follows_at_once_is_another_process(stack, layers, py_spy) -> None:
    await stack.run(Path(sys.executable), layers, "crash")
    before = (await stack.session.debugger.python.thread_numbers()).os_thread
    await stack.go(StepKind.RUN)
    assert (await stack.session.debugger.python.thread_numbers()).os_thread != before
    assert python_rows(stack.rows())[:2] == ["forward", "__call__"]


async def test_frames_that_were_left_by_hand_are_gone(stack, layers, py_spy) -> None:
    await stack.run(Path(sys.executable), layers, "crash")
    level = next(frame.level for frame in stack.state.frames.frames if frame.function == "apply")
    for command in (f"frame {level}", "return", "frame 0"):
        await stack.session.debugger.cli(command)
    stack.session.look_again()
    await stack.settled()
    # The interpreter knows nothing of it: two loops stand, and it still tells of all its frames.
    assert "follow" not in stack.rows()
    assert python_rows(stack.rows())[:2] == ["forward", "__call__"]
    assert not stack.state.python.woven.exact


async def test_nothing_of_it_outlives_the_program(stack, layers, py_spy) -> None:
    await stack.run(Path(sys.executable), "-c", "import ctypes\ndef f(): ctypes.string_at(0)\nf()")
    await stack.session.python.select(stack.python_row("f"))
    await stack.go(StepKind.CONTINUE)
    assert stack.state.run is Run.EXITED
    python = stack.state.python
    assert (python.woven, python.selected, python.place, python.why) == (None, None, None, "")


async def test_a_breakpoint_on_a_line_of_python_says_what_to_do(stack, layers, py_spy) -> None:
    await stack.run(Path(sys.executable), layers, "crash")
    binding = await stack.session.set_breakpoint(f"{layers}:21")
    assert binding.state is BindingState.PENDING
    assert "a line of plain Python is never stopped at" in stack.notices()[-1]


# Why there are none --------------------------------------------------------------------------------------------


async def test_a_c_program_is_told_of_no_python(stack, compiled) -> None:
    await stack.run(compiled("segfault"))
    assert stack.state.python.why == ""
    assert stack.state.python.woven is None
    await stack.session.python.toggle()
    assert stack.notices()[-1] == "no Python frames: this process runs no Python"


async def test_without_py_spy_pythons_own_script_stands_in(stack, layers, monkeypatch) -> None:
    monkeypatch.setenv("LADDER_PY_SPY", "/no/such/py-spy")
    if script_for(Interpreter(sys.executable, f"3.{sys.version_info.minor}"))[0] is None:
        pytest.skip("this Python brings no script for gdb")
    await stack.run(Path(sys.executable), layers, "crash")
    state = stack.state.python
    if state.woven is None:
        assert "does not exist" in state.why
        pytest.skip("this gdb has no Python, or its script fails in it")
    assert state.source == "py-bt"
    assert python_rows(stack.rows())[:5] == ["forward", "__call__", "numbers", "leaf", "middle"]
    assert stack.rows()[:2] == ["follow", "crash"]
    await stack.session.python.select(stack.python_row("forward"))
    values = {one.name: one.value for one in stack.state.variables.variables}
    assert values["way"] == "'crash'"


async def test_a_script_that_is_slow_runs_only_when_asked_for(stack, layers, monkeypatch) -> None:
    monkeypatch.setenv("LADDER_PY_SPY", "/no/such/py-spy")
    monkeypatch.setattr(python_reading, "_SCRIPT_CHEAP", -1.0)
    if script_for(Interpreter(sys.executable, f"3.{sys.version_info.minor}"))[0] is None:
        pytest.skip("this Python brings no script for gdb")
    await stack.run(Path(sys.executable), layers, "crash")
    assert stack.state.python.woven is None
    assert "py-bt took 0.0 s and is asked by key only" in stack.state.python.why
    await stack.session.python.toggle()
    assert stack.state.python.source == "py-bt"
    assert python_rows(stack.rows())[:2] == ["forward", "__call__"]


@pytest.mark.parametrize("python", ["distribution"], indirect=True)
async def test_without_either_one_line_says_what_to_do(stack, python, layers, monkeypatch) -> None:
    monkeypatch.setenv("LADDER_PY_SPY", "/no/such/py-spy")
    await stack.run(python, layers, "crash")
    state = stack.state.python
    assert state.woven is None
    assert state.why.startswith("LADDER_PY_SPY names /no/such/py-spy, which does not exist — install it")
    await stack.session.python.toggle()
    assert stack.notices()[-1].startswith("no Python frames: LADDER_PY_SPY names")
    # The native stack is there all the same.
    assert stack.state.frames.frames[0].function == "follow"


async def test_a_thread_without_python_says_so(stack, py_spy) -> None:
    await stack.run(Path(sys.executable), "-c", NATIVE_THREAD)
    assert stack.state.python.woven is None
    assert stack.state.python.why == "this thread runs no Python"


NATIVE_THREAD = """
import ctypes
libc = ctypes.CDLL(None)
thread = ctypes.c_ulong()
libc.pthread_create(ctypes.byref(thread), None, ctypes.cast(libc.abort, ctypes.c_void_p), None)
libc.pthread_join(thread, None)
"""


async def test_a_recording_says_calmly_that_it_holds_none(stack) -> None:
    stack.state.run = Run.STOPPED
    stack.session.debugger.provenance = Provenance.RECORDING
    await stack.session.python.toggle()
    assert stack.notices()[-1].startswith("no Python frames: not in this recording")


async def test_a_core_that_gdb_wrote(stack, layers, py_spy, tmp_path) -> None:
    await stack.run(Path(sys.executable), layers, "crash")
    core = tmp_path / "a.core"
    await stack.session.debugger.cli(f"generate-core-file {core}", deadline=60.0)
    await stack.session.close()
    stack.session = type(stack.session)(type(stack.session.debugger)())
    await stack.session.open(CoreTarget(core, Path(sys.executable)))
    await stack.session.at_rest()
    await stack.session.python.look()
    state = stack.state.python
    if state.woven is None:
        assert "no interpreter in this core" in state.why
    else:
        # py-spy reads cores of the kernel's only; Python's own script reads this one.
        assert state.source == "py-bt"
        assert python_rows(stack.rows())[:2] == ["forward", "__call__"]
    await stack.session.close()


@pytest.mark.parametrize("python", ["this", "distribution", "3.8"], indirect=True)
async def test_a_core_that_the_kernel_wrote(stack, python, kernel_core, layers, py_spy) -> None:
    await stack.session.open(CoreTarget(kernel_core, python))
    await stack.settled()
    assert stack.rows()[:2] == ["follow", "crash"]
    assert python_rows(stack.rows())[:2] == ["forward", "__call__"]
    assert stack.state.python.source == "py-spy"
    await stack.session.python.select(stack.python_row("forward"))
    assert {one.name for one in stack.state.variables.variables} == {"self", "way", "secret"}
    assert stack.state.place.line == 21


# Without a screen ----------------------------------------------------------------------------------------------


async def test_a_woven_stack_as_json_and_as_lines(stack, layers, py_spy) -> None:
    stack.session.show_rows(frames=1, variables=1, python=False)
    await stack.run(Path(sys.executable), layers, "crash")
    assert woven_json(stack.state) is None
    await stack.session.python.look()
    told = json.loads(json.dumps(woven_json(stack.state)))
    assert (told["source"], told["exact"], told["why"]) == ("py-spy", True, "")
    kinds = [row["kind"] for row in told["rows"]]
    assert kinds[:5] == ["native", "native", "interpreter", "python", "python"]
    first = told["rows"][3]
    assert (first["function"].rpartition(".")[2], first["file"], first["line"]) == ("forward", str(layers), 21)
    assert first["gil"]
    assert told["rows"][2]["levels"][1] == first["level"] - 1
    lines = list(woven_lines(stack.state.python.woven, lambda frame: f"#{frame.level}"))
    assert lines[:2] == ["#0", "#1"]
    assert lines[2].endswith(": interpreter)")
    assert lines[3].startswith("py     Layer.forward at ")
    assert lines[3].endswith("python_layers.py:21  (holds the interpreter lock)")


async def test_a_snapshot_as_json(layers, py_spy) -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, layers, "spin", stdout=asyncio.subprocess.PIPE)
    try:
        await process.stdout.readline()
        told = json.loads(json.dumps(snapshot_json(await snapshot(process.pid))))
        assert told["format"] == 1
        assert {thread["name"] for thread in told["threads"]} == {"MainThread", "idler"}
        assert process.pid in {thread["os_thread"] for thread in told["threads"]}
    finally:
        process.kill()
        await process.communicate()
