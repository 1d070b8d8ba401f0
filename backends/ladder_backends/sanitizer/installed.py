"""Which compute-sanitizer is installed, and which options this version of it knows."""

from __future__ import annotations

import functools
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ladder_backends.debugger.probe import Probe
from ladder_backends.errors import EngineMissing
from ladder_backends.paths import find_engine
from ladder_backends.text import clean_line, decode

NAME = "compute-sanitizer"
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
"""Every tool, in the order in which they run where all are chosen."""

_REMEDY = "install the CUDA toolkit or nvidia-cuda-sanitizer-api 13.4 or later, or set LADDER_SANITIZER to its path"
_NEEDED = ("log-file", "tool")
_OPTION = re.compile(r"^ {2}(?:-\w \[ )?--([a-z0-9][a-z0-9-]*)(?: \])?", re.MULTILINE)
_VERSION = re.compile(r"^Version (\S+)", re.MULTILINE)
_PATIENCE = 20.0
_LONGEST = 160


@dataclass(frozen=True, slots=True)
class SanitizerTool:
    """An installed compute-sanitizer.

    Attributes:
        version: `2025.3.1.0`, or an empty string where it does not say.
        options: Long options that its help lists, without dashes.
    """

    path: Path
    version: str
    options: frozenset[str]

    def knows(self, option: str) -> bool:
        """Whether this version has the option; given with or without its dashes."""
        return option.lstrip("-").partition("=")[0] in self.options


def read_options(text: str) -> frozenset[str]:
    """The long options that a help text lists."""
    return frozenset(_OPTION.findall(text))


def probe_sanitizer() -> Probe:
    """Find the tool, ask for its version, and say what is missing; never raises."""
    found = find_engine(NAME)
    try:
        tool = installed_sanitizer()
    except EngineMissing as error:
        return Probe(NAME, found.path, missing=f"{error.what}: {error.why}".rstrip(": "), remedy=error.remedy)
    return Probe(NAME, tool.path, f"{NAME} {tool.version}".rstrip(), available=True)


def installed_sanitizer() -> SanitizerTool:
    """The tool that is used here: `LADDER_SANITIZER`, then the configuration, then PATH; asked once for each file.

    Blocks until it has answered.

    Raises:
        EngineMissing: It is not installed, does not run, or is too old to write its report into a file.
    """
    found = find_engine(NAME)
    if found.path is None:
        raise EngineMissing(found.missing, "", _REMEDY)
    try:
        tool = _ask(found.path, found.path.stat().st_mtime_ns)
    except (OSError, subprocess.SubprocessError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise EngineMissing(f"{found.path} does not run", clean_line(why)[:_LONGEST], _REMEDY) from error
    lacking = [option for option in _NEEDED if option not in tool.options]
    if lacking:
        raise EngineMissing(
            f"{found.path} is too old or no compute-sanitizer", f"its help lists no --{lacking[0]}", _REMEDY
        )
    return tool


@functools.lru_cache(maxsize=16)
def _ask(path: Path, changed: int) -> SanitizerTool:
    version = _VERSION.search(_run(path, "--version"))
    return SanitizerTool(
        path, clean_line(version[1])[:40] if version is not None else "", read_options(_run(path, "--help"))
    )


def _run(path: Path, option: str) -> str:
    done = subprocess.run(
        [path, option],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_PATIENCE,
        env=os.environ,
        check=False,
    )
    text = decode(done.stdout)
    if not text.strip():
        said = decode(done.stderr).strip().splitlines()
        raise OSError(None, said[-1] if said else f"it ended with status {done.returncode}")
    return text
