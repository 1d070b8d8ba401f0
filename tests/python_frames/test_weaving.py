"""Native stacks as gdb told them, and the Python frames that belong into them."""

from __future__ import annotations

from ladder_backends.model.frame import Frame, Place
from ladder_backends.model.python_stack import FoldedFrames, PythonFrame, PythonRow, PythonSnapshot, PythonThread
from ladder_backends.python_frames.plumbing import loops_of
from ladder_backends.python_frames.weaving import weave

LOOP = "_PyEval_EvalFrameDefault"


def native(text: str) -> list[Frame]:
    """Frames from names; `name@module` is in a library, `name:file:line` has a line, `name=0x12` an address."""
    frames = []
    for level, word in enumerate(text.split()):
        name, _, address = word.partition("=")
        name, _, module = name.partition("@")
        name, _, line = name.partition(":")
        place = Place(line.split(":")[0], int(line.split(":")[1])) if line else None
        frames.append(Frame(level, name, place, address or hex(0x50_0000 + level), module))
    return frames


def thread(text: str, owns_gil: bool = True) -> PythonThread:
    """Python frames from names; those with `|` after them are entries."""
    words = text.split()
    frames = tuple(PythonFrame(word.rstrip("|"), "/s.py", 1, entry=word.endswith("|")) for word in words)
    return PythonThread(1, 1, "MainThread", owns_gil, frames)


def shape(rows: object) -> list[str]:
    """What the rows are: names, `py name`, and `(3)` for a fold of three."""
    shown = []
    for row in rows:  # type: ignore[attr-defined]
        if isinstance(row, PythonRow):
            shown.append(f"py {row.frame.function}" + (" GIL" if row.owns_gil else ""))
        elif isinstance(row, FoldedFrames):
            shown.append(f"({len(row.frames)})")
        else:
            shown.append(row.function)
    return shown


def test_each_loop_of_an_old_python_runs_one_frame() -> None:
    stack = native(
        "follow:n.c:6 crash:n.c:11 cfunction_vectorcall_NOARGS _PyObject_Vectorcall call_function "
        f"{LOOP} function_code_fastcall _PyObject_Vectorcall call_function {LOOP} PyEval_EvalCode run_mod "
        "Py_RunMain main __libc_start_call_main _start"
    )
    woven = weave(stack, thread("step| <module>|"), complete=True)
    assert shape(woven.rows) == ["follow", "crash", "(3)", "py step GIL", "(4)", "py <module>", "(7)"]
    assert woven.exact
    assert woven.placed == 2


def test_one_loop_runs_frames_down_to_the_next_entry() -> None:
    stack = native(
        f"crash:n.c:11 PyObject_Vectorcall {LOOP} slot_tp_call _PyObject_MakeTpCall {LOOP} Py_BytesMain _start"
    )
    woven = weave(stack, thread("forward call| main <module>|"), complete=True)
    assert shape(woven.rows) == [
        "crash",
        "PyObject_Vectorcall",
        "py forward GIL",
        "py call",
        "(3)",
        "py main",
        "py <module>",
        "(3)",
    ]
    assert woven.exact
    levels = [row.level for row in woven.rows if isinstance(row, PythonRow)]
    assert levels == [2, 2, 5, 5]


def test_an_extension_that_calls_back_stays_between_the_frames_it_joins() -> None:
    stack = native(f"sum:m.c:1 {LOOP} PyObject_CallFunctionObjArgs apply:n.c:17 cfunction_call {LOOP} _start")
    woven = weave(stack, thread("back| main|"), complete=True)
    assert shape(woven.rows) == ["sum", "py back GIL", "(2)", "apply", "cfunction_call", "py main", "(2)"]


def test_a_stripped_interpreter_folds_what_has_no_name_near_its_loop() -> None:
    stack = native(f"crash:n.c:1 ??=0x51f62b {LOOP}=0x52b9e0 ??=0x7ffff7000000 ??=0x580ebf {LOOP}=0x52b9e0 _start")
    woven = weave(stack, thread("f| g|"), complete=True)
    # What lies far off is code that was made at run time, or a library's: it stays.
    assert shape(woven.rows) == ["crash", "(1)", "py f GIL", "(1)", "??", "(1)", "py g", "(2)"]


def test_frames_without_a_name_in_another_library_stay() -> None:
    stack = native(f"crash:n.c:1 ??@/lib/_asyncio.so=0x51f62b {LOOP}=0x52b9e0 _start")
    assert "??" in shape(weave(stack, thread("f|"), complete=True).rows)


def test_a_loop_that_only_just_begins_has_no_python_frame_yet() -> None:
    stack = native(f"{LOOP} _PyEval_Vector {LOOP} PyEval_EvalCode _start")
    woven = weave(stack, thread("main|"), complete=True)
    assert shape(woven.rows) == [LOOP, "_PyEval_Vector", "py main GIL", "(3)"]
    assert not woven.exact


def test_a_stack_that_the_unwinder_lost_keeps_its_python_frames() -> None:
    woven = weave(native(f"crash:n.c:1 {LOOP} ??=0x7fff12345678"), thread("f| g| h|"), complete=True)
    assert shape(woven.rows) == ["crash", "py f GIL", "(1)", "??", "py g", "py h"]
    assert not woven.exact
    assert [row.level for row in woven.rows if isinstance(row, PythonRow)] == [1, -1, -1]


def test_the_beginning_of_a_long_stack() -> None:
    woven = weave(native(f"crash:n.c:1 {LOOP} call_function"), thread("f| g| h|"), complete=False)
    assert shape(woven.rows) == ["crash", "py f GIL", "(2)"]
    assert woven.exact
    assert woven.placed == 1


def test_the_end_of_a_long_stack() -> None:
    stack = native(f"a:n.c:1 {LOOP} call_function {LOOP} call_function {LOOP} PyEval_EvalCode _start")
    woven = weave(stack[2:], thread("f| g| h|"), complete=True)
    assert shape(woven.rows) == ["call_function", "py g", "(2)", "py h", "(3)"]
    assert woven.exact


def test_the_innermost_frame_is_never_folded_away() -> None:
    woven = weave(native(f"PyObject_Call call_function {LOOP} _start"), thread("f|"), complete=True)
    assert shape(woven.rows)[0] == "PyObject_Call"


def test_a_program_that_embeds_python_keeps_its_main() -> None:
    stack = native(f"{LOOP} PyRun_SimpleStringFlags run_script:app.cpp:9 main:app.cpp:20 __libc_start_call_main")
    assert shape(weave(stack, thread("<module>|"), complete=True).rows)[2:4] == ["run_script", "main"]


def test_instructions_of_an_interpreter_of_tail_calls_are_one_loop_with_it() -> None:
    stack = native(f"crash:n.c:1 _TAIL_CALL_CALL_BUILTIN_O {LOOP} PyEval_EvalCode _TAIL_CALL_CALL_KW _start")
    assert loops_of(stack) == [2, 4]
    woven = weave(stack, thread("f| g|"), complete=True)
    assert [row for row in shape(woven.rows) if row.startswith("py")] == ["py f GIL", "py g"]


def test_variants_that_a_compiler_made_are_the_same_loop() -> None:
    assert loops_of(native(f"a {LOOP}.cold.0 {LOOP}.constprop.0")) == [1, 2]


def test_python_2_has_a_loop_of_another_name() -> None:
    assert loops_of(native("a PyEval_EvalFrameEx PyEval_EvalCodeEx")) == [1]


def test_levels_that_the_reader_knows_are_taken() -> None:
    frames = (PythonFrame("f", "/s.py", 1, False, 1), PythonFrame("g", "/s.py", 2, True, 1))
    told = PythonThread(None, 0, "", False, (*frames, PythonFrame("h", "/s.py", 3, True, 4)))
    woven = weave(native(f"a:n.c:1 {LOOP} {LOOP} PyEval_EvalCode {LOOP} _start"), told, complete=True)
    assert shape(woven.rows) == ["a", "py f", "py g", "(3)", "py h", "(2)"]


def test_a_thread_is_found_by_its_pthread_before_its_kernel_number() -> None:
    inside = PythonThread(7, 0x7F00, "in a container", False, ())
    other = PythonThread(4711, 0x7F11, "other", False, ())
    snapshot = PythonSnapshot((other, inside), "py-spy")
    assert snapshot.thread(0x7F00, 4711) is inside
    assert snapshot.thread(0, 4711) is other
    assert snapshot.thread(0x1, None) is None
