"""What an interpreter runs: one executable stands for many programs, which are told apart by it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from ladder_backends.debugger.target import AttachTarget, LaunchTarget, Target
from ladder_backends.session.target_program import program_of

_SHELLS = re.compile(r"(ba|da|k|z|fi)?sh|perl[\d.]*|ruby[\d.]*|node|nodejs|lua[\d.]*|php[\d.]*|tclsh[\d.]*|R|julia")
_PYTHON_LETTERS = re.compile(r"-[bBdEhiIOPqRsSuvVx?]*(?P<letter>[cmWX])(?P<value>.*)", re.DOTALL)
_PYTHON_TAKES_WORD = frozenset({"--check-hash-based-pycs"})
_MOST_BYTES = 1 << 16


def script_of(target: Target) -> str:
    """The script that an interpreter was started with, by its real path; `-m module`, `-c`, `-`; else empty.

    It is empty for other programs, for an interpreter without a script, and where it cannot be known.
    """
    program = program_of(target)
    if program is None:
        return ""
    words: Sequence[str]
    if isinstance(target, LaunchTarget):
        folder, words = target.directory or Path(), target.arguments
    elif isinstance(target, AttachTarget):
        folder, words = Path(f"/proc/{target.pid}/cwd"), _words_of(target.pid)
    else:
        return ""
    found = _among(program, words)
    return found if found.startswith("-") or not found else os.path.realpath(folder / found)


def _among(program: Path, words: Sequence[str]) -> str:
    from ladder_backends.python_frames.detect import interpreter_among

    real = os.path.realpath(program)
    if interpreter_among([real]) is not None:
        return script_of_python(words)
    if _SHELLS.fullmatch(os.path.basename(real)):
        return next((word if not word.startswith("-") else word[:2] for word in words if _names(word)), "")
    return ""


def _names(word: str) -> bool:
    return not word.startswith("-") or word in ("-", "-c", "-e")


def script_of_python(words: Sequence[str]) -> str:
    """The same from the words behind `python` on a command line, as they are written there."""
    rest = iter(words)
    for word in rest:
        if word == "--":
            return next(rest, "")
        if word == "-" or not word.startswith("-"):
            return word
        if word.startswith("--"):
            if word in _PYTHON_TAKES_WORD:
                next(rest, None)
            continue
        match = _PYTHON_LETTERS.fullmatch(word)
        if match is None:
            continue
        value = match["value"] or next(rest, "")
        if match["letter"] == "m":
            return f"-m {value}"
        if match["letter"] == "c":
            return "-c"
    return ""


def _words_of(pid: int) -> Sequence[str]:
    """The words behind the first one of a process's command line (proc(5))."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            raw = file.read(_MOST_BYTES)
    except OSError:
        return ()
    return [os.fsdecode(word) for word in raw.rstrip(b"\0").split(b"\0")[1:]]
