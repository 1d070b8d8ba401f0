"""Python programs with an extension, and the interpreters of this machine to run them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ladder_backends.python_frames import find_py_spy

PROGRAMS = Path(__file__).parents[1] / "programs"


@pytest.fixture(scope="session")
def layers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`python_layers.py` with the extension that it imports beside it; any Python 3.7 or later runs it."""
    folder = tmp_path_factory.mktemp("layers")
    script = shutil.copy(PROGRAMS / "python_layers.py", folder)
    build = ["gcc", "-g", "-O0", "-shared", "-fPIC", "-o", str(folder / "spin_extension.so")]
    subprocess.run([*build, str(PROGRAMS / "spin_extension.c")], check=True, timeout=60)
    return Path(script)


@pytest.fixture
def py_spy() -> Path:
    found = find_py_spy()
    if found.path is None:
        pytest.skip(f"no py-spy: {found.missing}")
    return found.path


def interpreter(name: str) -> Path:
    """This Python, the distribution's (stripped), or one that pyenv has installed."""
    if name == "this":
        return Path(sys.executable)
    if name == "distribution":
        path = Path("/usr/bin/python3")
        if not path.exists() or path.resolve() == Path(sys.executable).resolve():
            pytest.skip("no Python of the distribution's own")
        return path
    found = sorted(Path.home().glob(f".pyenv/versions/{name}.*/bin/python"))
    if not found:
        pytest.skip(f"no Python {name} here")
    return found[-1]


@pytest.fixture
def python(request: pytest.FixtureRequest) -> Path:
    """The interpreter that a test is parametrised with."""
    return interpreter(getattr(request, "param", "this"))
