"""Whether an engine of the gdb family is here and new enough."""

from __future__ import annotations

import functools
import os
import re
import subprocess
from pathlib import Path

from ladder_backends.debugger.probe import Probe
from ladder_backends.mi.environment import LIBRARIES, engine_environment
from ladder_backends.paths import find_engine
from ladder_backends.rungs import OURS
from ladder_backends.text import decode

OLDEST_GDB = 9
"""The first release with the machine interface `mi3`."""

_BASE_VERSION = re.compile(r"GNU gdb[^\n]*?(\d+)\.\d+[\w.-]*\s*$", re.MULTILINE)
_NAMES_VERSION = re.compile(r"^(?!exec:).*gdb\b.*\d+\.\d+")


def install_remedy(engine: str) -> str:
    """How to get an engine, in the imperative."""
    named = next((rung.install for rung in OURS if rung.engine == engine), "")
    return named or f"install {engine} and put it on PATH"


def version_line(text: str) -> str:
    """The line of a version text that names the engine; newer launchers of cuda-gdb write one before it."""
    lines = [line for line in text.splitlines() if line.strip()]
    return next((line for line in lines if _NAMES_VERSION.search(line)), lines[0] if lines else "")


@functools.lru_cache(maxsize=16)
def _version_text(path: Path, changed: int, libraries: str | None) -> str:
    done = subprocess.run(
        [path, "-nx", "--version"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        env=engine_environment(os.environ, {LIBRARIES: libraries}),
        check=False,
    )
    text = decode(done.stdout)
    if done.returncode != 0 or not text.strip():
        said = decode(done.stderr).strip().splitlines()
        raise OSError(said[-1] if said else f"it ended with status {done.returncode}")
    return text


def needs_libraries(path: Path) -> bool:
    """Whether an engine runs only with the `LD_LIBRARY_PATH` that is set here; it is asked where one is set."""
    libraries = os.environ.get(LIBRARIES)
    if not libraries:
        return False
    for given in (None, libraries):
        try:
            _version_text(path, path.stat().st_mtime_ns, given)
        except (OSError, subprocess.SubprocessError):
            continue
        return given is not None
    return False


def probe_engine(name: str, engine: str) -> Probe:
    """Find an engine, ask for its version, and say what is missing.

    Args:
        name: Entry point name of the debugger.
        engine: Name of the executable, as `find_engine` knows it.
    """
    found = find_engine(engine)
    if found.path is None:
        return Probe(name, None, missing=found.missing, remedy=install_remedy(engine))
    try:
        libraries = os.environ.get(LIBRARIES) if needs_libraries(found.path) else None
        text = _version_text(found.path, found.path.stat().st_mtime_ns, libraries)
    except (OSError, subprocess.SubprocessError) as error:
        return Probe(name, found.path, missing=f"{found.path} does not run: {error}", remedy=install_remedy(engine))
    version = version_line(text)
    base = _BASE_VERSION.search(text)
    if base is not None and int(base[1]) < OLDEST_GDB:
        return Probe(
            name,
            found.path,
            version,
            missing=f"{version} is too old: the machine interface mi3 came with gdb {OLDEST_GDB}",
            remedy=install_remedy(engine),
        )
    return Probe(name, found.path, version, available=True)
