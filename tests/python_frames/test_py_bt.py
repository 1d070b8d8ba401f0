"""What CPython's gdb script prints, as captured on Python 3.8, 3.11 and 3.13, and which script is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from ladder_backends.python_frames.detect import Interpreter
from ladder_backends.python_frames.py_bt import frames_of, script_for, variables_of

TEXT = """#2 <built-in method crash of module object at remote 0x7ffff720e1b0>
#5 Frame 0x7ffff7fba1f0, for file /src/a b.py, line 15, in forward (self=<Layer() at remote 0x7ffff721f090>, x=0)
    return native.crash()
#5 Frame 0x7ffff7fba180, for file /src/a b.py, line 12, in __call__ (self=<Layer() at remote 0x7ffff721f090>)
    return self.forward(x)
#13 Frame 0x7ffff71c61d0, for file script.py, line 21, in <module> ()
    #5 Frame 0x1, for file fake.py, line 1, in fake ()
"""


def test_frames_with_the_native_frames_that_run_them() -> None:
    frames, lost = frames_of(TEXT)
    assert not lost
    assert [(one.level, one.function, one.file, one.line, one.entry) for one in frames] == [
        (5, "forward", "/src/a b.py", 15, False),
        (5, "__call__", "/src/a b.py", 12, True),
        (13, "<module>", "script.py", 21, True),
    ]


def test_frames_that_cannot_be_read_are_told() -> None:
    assert frames_of("#5 (unable to read python frame information)\n") == ((), True)
    assert frames_of("") == ((), False)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x=0)", {"x": "0"}),
        (")", {}),
        ("self=<Layer() at remote 0x7f>, x=[1, 2])", {"self": "<Layer() at remote 0x7f>", "x": "[1, 2]"}),
        ("a='b=1, c=2', d={'e': 'f=3'})", {"a": "'b=1, c=2'", "d": "{'e': 'f=3'}"}),
        ("a='it\\'s, b=1', c=\"d=2\")", {"a": "'it\\'s, b=1'", "c": '"d=2"'}),
        ("text='xxx...(truncated)", {"text": "'xxx…"}),
    ],
)
def test_variables_of_a_line(text: str, told: dict[str, str]) -> None:
    variables = variables_of(text)
    assert {one.name: one.value for one in variables} == told


def test_the_script_beside_the_interpreter_is_taken(tmp_path: Path) -> None:
    script = tmp_path / "bin/python3.11-gdb.py"
    script.parent.mkdir()
    script.write_text("")
    script.chmod(0o644)
    library = tmp_path / "lib/libpython3.11.so.1.0"
    assert script_for(Interpreter(str(library), "3.11")) == (script, "")
    assert script_for(Interpreter(str(script.parent / "python3.11"), "3.11")) == (script, "")


def test_a_script_that_others_could_have_written_is_not_run(tmp_path: Path) -> None:
    script = tmp_path / "python3.11-gdb.py"
    script.write_text("")
    script.chmod(0o666)
    found, why = script_for(Interpreter(str(tmp_path / "python3.11"), "3.11"))
    assert found is None
    assert "can be written by others" in why


def test_a_script_that_others_could_put_another_in_the_place_of_is_not_run(tmp_path: Path) -> None:
    folder = tmp_path / "open to all"
    (folder / "bin").mkdir(parents=True)
    script = folder / "bin/python3.11-gdb.py"
    script.write_text("")
    script.chmod(0o644)
    interpreter = Interpreter(str(folder / "bin/python3.11"), "3.11")
    assert script_for(interpreter) == (script, "")
    folder.chmod(0o777)
    assert script_for(interpreter)[0] is None
    folder.chmod(0o1777)
    assert script_for(interpreter) == (script, "")


def test_no_script(tmp_path: Path) -> None:
    found, why = script_for(Interpreter(str(tmp_path / "python3.99"), "3.99"))
    assert found is None
    assert "python3-dbg" in why
