"""Which process runs Python, by its memory map."""

from __future__ import annotations

import os

import pytest

from ladder_backends.python_frames.detect import interpreter_among, interpreter_in, interpreter_of


@pytest.mark.parametrize(
    ("path", "version"),
    [
        ("/usr/bin/python3.11", "3.11"),
        ("/opt/conda/bin/python3.12", "3.12"),
        ("/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0", "3.11"),
        ("/home/u/.local/share/uv/python/cpython-3.14/bin/python3.14", "3.14"),
        ("/opt/py/lib/libpython3.13t.so.1.0", "3.13"),
        ("/usr/lib/libpython2.7.so.1.0", "2.7"),
        ("/usr/lib/libpython3.8m.so", "3.8"),
        ("/venv/bin/python", ""),
    ],
)
def test_images_of_interpreters(path: str, version: str) -> None:
    found = interpreter_among(["/usr/lib/libc.so.6", path])
    assert found is not None
    assert (found.path, found.version, found.kind) == (path, version, "python")


def test_pypy_is_told_apart() -> None:
    found = interpreter_among(["/opt/pypy/bin/libpypy3.10-c.so"])
    assert found is not None
    assert found.kind == "pypy"


@pytest.mark.parametrize(
    "path",
    ["/usr/bin/pythonista", "/usr/lib/libpython_helper.so", "/srv/python/app", "/x/python3.11-gdb.py", "/bin/cat"],
)
def test_other_images(path: str) -> None:
    assert interpreter_among([path]) is None


def test_the_library_counts_before_the_launcher_and_only_code_counts() -> None:
    maps = (
        "55d0-55d1 r-xp 00000000 fe:01 12 /venv/bin/python3.11\n"
        "7f00-7f01 r--p 00000000 fe:01 13 /usr/lib/libpython3.9.so.1.0\n"
        "7f02-7f03 r-xp 00000000 fe:01 14 /usr/lib/libpython3.11.so.1.0 (deleted)\n"
        "7ffc-7ffd r-xp 00000000 00:00 0 [vdso]\nnonsense\n"
    )
    found = interpreter_in(maps)
    assert found is not None
    assert found.path == "/usr/lib/libpython3.11.so.1.0"


def test_this_process_runs_python() -> None:
    assert interpreter_of(os.getpid()) is not None


def test_a_process_that_is_not_there() -> None:
    assert interpreter_of(2**22 + 1) is None
