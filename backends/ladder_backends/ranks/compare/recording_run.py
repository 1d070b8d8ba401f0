"""Runs a job so that each of its ranks records its hits: the launcher starts a gdb for each rank, which runs it."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from ladder_backends.errors import EngineMissing, LadderError
from ladder_backends.gdb.probing import install_remedy
from ladder_backends.paths import find_engine
from ladder_backends.ranks.launching import LaunchedJob
from ladder_backends.text import clean_line

INSIDE = Path(__file__).parent / "inside" / "hits.py"

_ELF = b"\x7fELF"
_GDB = 'exec 3>&1 4>&2 >>"$0" 2>&1; exec "$@"'
"""A rank's own output goes where it would; gdb's words go to a file."""


class ProgramUnknown(LadderError):
    """A command in which no program to debug can be made out."""


def wrapped(command: Sequence[str], folder: Path, probes: Sequence[tuple[int, str, str]]) -> list[str]:
    """A launcher's command with its program put under gdb.

    Args:
        command: `mpirun -n 4 ./solver 100`.
        folder: Where hits are written; it exists.
        probes: Number, place and expression of each.

    Raises:
        ProgramUnknown: Nothing in the command is a program for the ranks.
        EngineMissing: gdb is not installed.
    """
    found = find_engine("gdb")
    if found.path is None:
        raise EngineMissing("cannot start gdb", found.missing, install_remedy("gdb"))
    at = program_at(command)
    told = json.dumps({"folder": str(folder), "probes": [list(probe) for probe in probes]})
    # Of the many layers of words between here and there, only Python's own hold for any text.
    setting = f"python import json; ladder = json.loads(bytes.fromhex('{told.encode().hex()}').decode())"
    gdb = [str(found.path), "-nx", "-q", "-batch", "-iex", setting, "-x", str(INSIDE), "--args"]
    return [*command[:at], "sh", "-c", _GDB, str(folder / "gdb.log"), *gdb, *command[at:]]


def program_at(command: Sequence[str]) -> int:
    """Where in a launcher's command the ranks' program stands: the first program behind the launcher itself.

    Raises:
        ProgramUnknown: There is none.
    """
    for at, word in enumerate(command):
        if at and not word.startswith("-") and _is_program(word):
            return at
    if len(command) == 1 and command and _is_program(command[0]):
        return 0
    shown = clean_line(shlex.join(command))[:80]
    raise ProgramUnknown(
        f"no program for the ranks in `{shown}`",
        "behind the launcher, no word names a compiled program",
        "write it as 'mpirun -n 4 ./prog'",
    )


def _is_program(word: str) -> bool:
    path = word if "/" in word else shutil.which(word)
    if path is None:
        return False
    try:
        with open(path, "rb") as file:
            return os.access(path, os.X_OK) and file.read(4) == _ELF
    except OSError:
        return False


def record_run(command: Sequence[str], folder: Path, probes: Sequence[tuple[int, str, str]]) -> int:
    """Run a job to its end and record its hits into a folder; returns the launcher's exit status.

    Raises:
        LadderError: It cannot be started.
    """
    folder.mkdir(parents=True, exist_ok=True)
    # What the ranks write is theirs to show, but not in the place of the comparison.
    output = os.open(folder / "output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        job = LaunchedJob(wrapped(command, folder.absolute(), probes), output, output)
        return asyncio.run(job.run())
    finally:
        os.close(output)
