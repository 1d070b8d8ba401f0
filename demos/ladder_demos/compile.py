"""Compile a demo's source on this machine, once for equal sources and flags."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from ladder_backends.errors import LadderError
from ladder_backends.paths import cache_dir
from ladder_backends.text import clean_line, decode
from ladder_demos.catalogue import Demo

FLAGS = ("-g", "-O0")
_SECONDS = 60


def compile_demo(demo: Demo) -> Path:
    """The demo's program, compiled with `cc -g -O0`; its source lies beside it.

    Raises:
        LadderError: There is no compiler, it fails, or the cache cannot be written.
    """
    source = demo.path.read_bytes()
    compiler = _compiler(demo)
    digest = hashlib.sha256(b"\0".join([source, compiler.encode(), *(flag.encode() for flag in FLAGS)])).hexdigest()
    folder = cache_dir() / "demos" / digest[:16]
    program = folder / demo.name
    if program.exists():
        return program
    try:
        folder.mkdir(parents=True, exist_ok=True)
        copy = folder / demo.path.name
        copy.write_bytes(source)
        handle, name = tempfile.mkstemp(dir=folder, prefix=".compiling-")
        os.close(handle)
    except OSError as error:
        raise LadderError(
            f"the demo cannot be compiled into {clean_line(str(folder))}",
            error.strerror or "",
            "free some space there, or name another folder with XDG_CACHE_HOME",
        ) from error
    try:
        _compile(demo, compiler, copy, Path(name))
        os.replace(name, program)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)
    return program


def _compiler(demo: Demo) -> str:
    for name in (os.environ.get("CC", ""), "cc", "gcc", "clang"):
        found = shutil.which(name) if name else None
        if found:
            return found
    raise LadderError(
        f"the demo {demo.name} is compiled on this machine",
        "there is no C compiler",
        "install one, on Debian and Ubuntu: apt-get install gcc libc6-dev",
    )


def _compile(demo: Demo, compiler: str, source: Path, program: Path) -> None:
    what = f"the demo {demo.name} does not compile"
    try:
        done = subprocess.run(
            [compiler, *FLAGS, "-o", str(program), str(source)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except OSError as error:
        raise LadderError(what, error.strerror or "", "choose another compiler with CC") from error
    except subprocess.TimeoutExpired as error:
        raise LadderError(what, f"{compiler} did not finish in {_SECONDS} s") from error
    if done.returncode:
        complaints = [line for line in decode(done.stderr).splitlines() if "error" in line]
        why = complaints[0] if complaints else f"the compiler ended with status {done.returncode}"
        raise LadderError(what, clean_line(why)[:200], "on Debian and Ubuntu: apt-get install gcc libc6-dev")
