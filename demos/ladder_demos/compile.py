"""Compile a demo's source on this machine, once for equal sources and flags."""

from __future__ import annotations

import contextlib
import glob
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ladder_backends.errors import LadderError
from ladder_backends.paths import cache_dir
from ladder_backends.text import clean_line, decode
from ladder_demos.catalogue import Demo

FLAGS = ("-g", "-O0")
_EXTENSION_FLAGS = (*FLAGS, "-shared", "-fPIC")
_SECONDS = 60
_NVCC_FOLDERS = ("/usr/local/cuda/bin", "/opt/cuda/bin")
_GPUS = "/proc/driver/nvidia/gpus/*/information"


def compile_demo(demo: Demo) -> Path:
    """The demo's program, compiled with `cc -g -O0`; its source lies beside it.

    Raises:
        LadderError: There is no compiler, it fails, or the cache cannot be written.
    """
    return _built(demo, [demo.path], [_compiler(demo), *FLAGS], demo.name)


def compile_with(demo: Demo, command: Sequence[str]) -> Path:
    """The demo's program, compiled with a compiler and flags of its own, as `mpicc -g`; its source lies beside it.

    Raises:
        LadderError: It does not compile, or the cache cannot be written.
    """
    return _built(demo, [demo.path], command, demo.path.stem)


def compile_cuda(demo: Demo) -> Path:
    """The demo's CUDA program, compiled by nvcc for the GPU of this machine; its source lies beside it.

    Raises:
        LadderError: There is no nvcc, it fails, or the cache cannot be written.
    """
    assert demo.live is not None
    nvcc = find_nvcc()
    if nvcc is None:
        raise LadderError(
            f"the demo {demo.name} is compiled on this machine",
            "nvcc is not on PATH",
            "install the CUDA toolkit, or set CUDA_HOME to its folder",
        )
    command = [nvcc, *demo.live.flags, "-arch=native"]
    return _built(demo, [demo.live.path], command, demo.live.path.stem, made_for=_gpus())


def find_nvcc() -> str | None:
    """NVIDIA's compiler: of `CUDA_HOME`, on PATH, or in its usual folder; None where there is none."""
    home = os.environ.get("CUDA_HOME", "")
    own = shutil.which(os.path.join(home, "bin", "nvcc")) if home else None
    return own or shutil.which("nvcc") or shutil.which("nvcc", path=os.pathsep.join(_NVCC_FOLDERS))


def _gpus() -> bytes:
    """Which GPUs there are: a cache that machines share holds programs for each kind."""
    told = set()
    for name in glob.glob(_GPUS):
        with contextlib.suppress(OSError), open(name, "rb") as file:
            told |= {line for line in file.read(1 << 16).splitlines() if line.startswith(b"Model")}
    return b"\n".join(sorted(told))


def build_python_demo(demo: Demo) -> Path:
    """The demo's script, with the extension it imports compiled beside it; any Python 3 runs it.

    Raises:
        LadderError: As `compile_demo`.
    """
    (extension,) = demo.path.parent.glob("*.c")
    command = [_compiler(demo), *_EXTENSION_FLAGS]
    built = _built(demo, [extension, demo.path], command, f"{extension.stem}.so")
    return built.parent / demo.path.name


def _folder(sources: Sequence[Path], command: Sequence[str], made_for: bytes) -> Path:
    parts = [*(source.read_bytes() for source in sources), *(word.encode() for word in command)]
    parts += [made_for] if made_for else []
    return cache_dir() / "demos" / hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def _built(
    demo: Demo, sources: Sequence[Path], command: Sequence[str], name: str, *, made_for: bytes = b""
) -> Path:
    """What a compiler makes of the first source; copies of all sources lie beside it."""
    folder = _folder(sources, command, made_for)
    program = folder / name
    if program.exists():
        return program
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for source in reversed(sources):
            copy = folder / source.name
            copy.write_bytes(source.read_bytes())
        handle, unfinished = tempfile.mkstemp(dir=folder, prefix=".compiling-")
        os.close(handle)
    except OSError as error:
        raise LadderError(
            f"the demo cannot be compiled into {clean_line(str(folder))}",
            error.strerror or "",
            "free some space there, or name another folder with XDG_CACHE_HOME",
        ) from error
    try:
        _compile(demo, command, copy, Path(unfinished))
        os.replace(unfinished, program)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(unfinished)
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


def _compile(demo: Demo, command: Sequence[str], source: Path, program: Path) -> None:
    what = f"the demo {demo.name} does not compile"
    try:
        done = subprocess.run(
            [*command, "-o", str(program), str(source)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except OSError as error:
        raise LadderError(what, error.strerror or "", "choose another compiler with CC") from error
    except subprocess.TimeoutExpired as error:
        raise LadderError(what, f"{command[0]} did not finish in {_SECONDS} s") from error
    if done.returncode:
        complaints = [line for line in decode(done.stderr).splitlines() if "error" in line]
        why = complaints[0] if complaints else f"the compiler ended with status {done.returncode}"
        nvcc = os.path.basename(command[0]) == "nvcc"
        remedy = "" if nvcc else "on Debian and Ubuntu: apt-get install gcc libc6-dev"
        raise LadderError(what, clean_line(why)[:200], remedy)
