"""Why Python frames cannot be read: one cause, one remedy."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

from ladder_backends.errors import LadderError
from ladder_backends.python_frames.detect import interpreter_of
from ladder_backends.text import clean_line

WHAT = "no Python frames"

_SYS_PTRACE = 19
"""Bit of CAP_SYS_PTRACE (capabilities(7))."""


class PythonUnreadable(LadderError):
    """The Python frames of a process cannot be read, now or at all."""


def missing(why: str) -> PythonUnreadable:
    """There is no py-spy."""
    return PythonUnreadable(WHAT, why, f"install it: {_pip()} install py-spy, or set LADDER_PY_SPY to it")


def _pip() -> str:
    inside = sys.prefix != sys.base_prefix
    return f"{clean_line(sys.prefix)}/bin/pip" if inside else "pip"


def unreadable(pid: int, said: str, status: int) -> PythonUnreadable:
    """What py-spy wrote when it failed, as cause and remedy.

    Args:
        pid: The process.
        said: Its standard error. Its first line is `Error: ...`, causes follow by number, then a Rust backtrace.
        status: Its exit status.
    """
    if not Path(f"/proc/{pid}").exists():
        return PythonUnreadable(WHAT, f"process {pid} has ended")
    text = said.lower()
    refused = _refusal(pid) if "permission" in text or "not permitted" in text else None
    if refused is not None:
        return refused
    interpreter = interpreter_of(pid)
    if interpreter is None and os.access(f"/proc/{pid}/maps", os.R_OK):
        return PythonUnreadable(WHAT, "the process runs no Python that py-spy could find")
    if interpreter is not None and interpreter.kind == "pypy":
        return PythonUnreadable(WHAT, "the process runs PyPy, and py-spy reads CPython only")
    for words, why, remedy in _KNOWN:
        if words(text):
            return PythonUnreadable(WHAT, why, remedy)
    return PythonUnreadable(WHAT, f"py-spy: {_first_line(said) or f'it ended with status {status}'}")


def _known(*pieces: str) -> Callable[[str], bool]:
    return lambda text: any(piece in text for piece in pieces)


_KNOWN: tuple[tuple[Callable[[str], bool], str, str], ...] = (
    (
        _known("python version", "unsupported version", "version of python"),
        "py-spy does not know this version of Python, or the process is still starting it",
        "let it run on a little, or install a newer py-spy",
    ),
    (
        _known("failed to find a python interpreter", "interpreter address"),
        "py-spy finds no interpreter in this process: it is only just starting, or Python is built into it "
        "without symbols",
        "let it run on, or use a Python that is not stripped of its dynamic symbols",
    ),
    (
        _known("bad address", "os error 14", "input/output error", "failed to copy"),
        "what py-spy read of the process does not hold together: it only just starts Python, or is ending",
        "let it run on, and stop it again",
    ),
)


def _refusal(pid: int) -> PythonUnreadable | None:
    """Why the kernel does not let us read this process (ptrace(2), `PTRACE_MODE_ATTACH`)."""
    own, other = _status("self"), _status(str(pid))
    capable = int(own.get("CapEff", "0") or "0", 16) >> _SYS_PTRACE & 1
    owner = other.get("Uid", "").split()[:1]
    if not capable and owner and owner[0] != str(os.geteuid()):
        return PythonUnreadable(WHAT, f"the process belongs to user {owner[0]}", "run the console as that user")
    try:
        scope = Path("/proc/sys/kernel/yama/ptrace_scope").read_text().strip()
    except OSError:
        scope = "0"
    if not capable and scope != "0":
        return PythonUnreadable(
            WHAT,
            f"the system forbids reading other processes (kernel.yama.ptrace_scope is {scope})",
            "give py-spy the capability: sudo setcap cap_sys_ptrace+ep on it, or sysctl kernel.yama.ptrace_scope=0",
        )
    return PythonUnreadable(
        WHAT,
        "py-spy may not read the process's memory",
        "in a container start it with `--cap-add SYS_PTRACE`; else run the console as root",
    )


def _status(pid: str) -> dict[str, str]:
    try:
        text = Path(f"/proc/{pid}/status").read_text("utf-8", "backslashreplace")
    except OSError:
        return {}
    pairs = (line.partition(":") for line in text.splitlines())
    return {name: value.strip() for name, _, value in pairs}


def _first_line(said: str) -> str:
    line = next((line for line in said.splitlines() if line.strip()), "")
    return clean_line(re.sub(r"^Error:\s*", "", line.strip()))[:200]
