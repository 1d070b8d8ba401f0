"""Which native frames are the interpreter's own: its loop, and what leads from one turn of it to the next.

Names are those of CPython 3.6 to 3.14 (`Python/ceval.c`, `Objects/call.c`, `Objects/methodobject.c`,
`Objects/typeobject.c`, `Python/pythonrun.c`, `Modules/main.c`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ladder_backends.model.frame import Frame, file_name

_LOOP = "_PyEval_EvalFrameDefault"
_OLD_LOOP = "PyEval_EvalFrameEx"
_TAIL_CALL = "_TAIL_CALL_"
"""Each instruction is a function of its own in an interpreter built with tail calls (3.14)."""

_NEAR = 16 << 20
"""Bytes round the loop's address in which code without a name counts as the interpreter's."""

_PLUMBING = re.compile(
    r"""(?:
      _?PyEval_\w+ | _PyEvalFrame\w+ | _Py_EnterRecursiveCall\w* | fast_function | call_function | do_call\w*
    | function_code_fastcall | _?PyFunction_\w+ | _?PyMethod\w*_\w+ | method_vectorcall\w* | method_call
    | cfunction_\w+ | _?PyCFunction_\w+ | classmethoddescr_\w+ | methoddescr_\w+ | wrapper_call | wrapperdescr_\w+
    | wrap_\w+func\w* | vectorcall_\w+ | call_(?:un)?(?:bound|method|attribute)\w*
    | _?PyObject_(?:Fast)?Call\w* | _?PyObject_(?:Make)?TpCall\w* | _?PyObject_Vectorcall\w* | _?PyVectorcall_\w+
    | _?PyStack_\w+ | object_vacall | callmethod | _?PyObject_VaCall\w* | PyEval_CallObject\w*
    | PyIter_Next | PyIter_Send | slot_\w+ | type_call | gen_(?:send\w*|iternext\w*|iterator\w*|close\w*|throw\w*)
    | PyGen_am_send | _?PyGen_\w+ | coro_\w+ | partial_(?:vectorcall|call)\w* | property_descr_\w+
    | builtin_exec\w* | builtin_eval\w* | builtin___build_class__ | context_run
    | run_mod | run_eval_code_obj | pyrun_\w+ | pythonrun_\w+ | _?PyRun_\w+
    | pymain_\w+ | Py_RunMain | Py_BytesMain | Py_Main | _Py_UnixMain | thread_run | t_bootstrap | pythread_wrapper
    )(?:\.\w+)*""",
    re.VERBOSE,
)

_START = re.compile(
    r"(?:_start|__libc_start_\w+|start_thread|__clone3?|clone3?|__libc_main|main)(?:\.\w+)*(?:@.*)?"
)
"""What a thread begins with, outside the interpreter."""


def is_loop(frame: Frame) -> bool:
    """The native frame runs the interpreter's loop."""
    return frame.function.startswith((_LOOP, _TAIL_CALL))


def loops_of(frames: Sequence[Frame]) -> list[int]:
    """Positions of the frames that run an interpreter loop, innermost first; one position for each loop."""
    found: list[int] = []
    for position, frame in enumerate(frames):
        if not is_loop(frame):
            continue
        # The instruction's own function and the loop that called it are one loop.
        follows = found and found[-1] == position - 1 and frames[position - 1].function.startswith(_TAIL_CALL)
        if follows:
            found[-1] = position
        else:
            found.append(position)
    if not found:
        found = [position for position, frame in enumerate(frames) if frame.function == _OLD_LOOP]
    return found


def plumbing_of(frames: Sequence[Frame], loops: Sequence[int]) -> list[bool]:
    """Which frames are nothing but the way from one Python frame to the next, or out of the first."""
    near = [(address, frames[position].module) for position in loops if (address := _address(frames[position]))]
    last = loops[-1] if loops else len(frames)
    return [
        is_loop(frame)
        or _PLUMBING.fullmatch(frame.function) is not None
        or (frame.function == "??" and _is_near(frame, near))
        or (position > last and _is_start(frame))
        for position, frame in enumerate(frames)
    ]


def _address(frame: Frame) -> int:
    try:
        return int(frame.address, 16)
    except ValueError:
        return 0


def _is_near(frame: Frame, loops: Sequence[tuple[int, str]]) -> bool:
    """A frame without a name in the image of the loop: a static function of a stripped interpreter."""
    address = _address(frame)
    return bool(address) and any(frame.module == module and abs(address - other) < _NEAR for other, module in loops)


def _is_start(frame: Frame) -> bool:
    if _START.fullmatch(frame.function) is None:
        return False
    # A program that embeds Python has a main of its own.
    return frame.function != "main" or frame.place is None or file_name(frame.place.file) == "python.c"
