"""The two programs cuda-gdb runs to disassemble a kernel: `cuobjdump` and `nvdisasm`."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

TOOLS = ("cuobjdump", "nvdisasm")


def sass_tools() -> dict[str, Path]:
    """Where the tools are: on PATH, or in the `nvidia-cuda-*` packages of this Python. A missing one has no key."""
    found: dict[str, Path] = {}
    folders = list(_package_folders())
    for tool in TOOLS:
        on_path = shutil.which(tool)
        if on_path:
            found[tool] = Path(on_path).absolute()
            continue
        for folder in folders:
            if os.access(folder / tool, os.X_OK):
                found[tool] = folder / tool
                break
    return found


def path_with_sass_tools() -> str:
    """The value of PATH with the folders of the tools behind what is there already."""
    folders = [entry for entry in os.environ.get("PATH", os.defpath).split(os.pathsep) if entry]
    for tool in sass_tools().values():
        if str(tool.parent) not in folders:
            folders.append(str(tool.parent))
    return os.pathsep.join(folders)


def missing_words() -> str:
    """`no SASS: nvdisasm not found; pip install nvidia-cuda-nvdisasm`, or an empty string where both are there."""
    found = sass_tools()
    missing = [tool for tool in TOOLS if tool not in found]
    if not missing:
        return ""
    packages = " ".join(f"nvidia-cuda-{tool}" for tool in missing)
    return f"no SASS: {' and '.join(missing)} not found; pip install {packages}"


def _package_folders() -> Iterator[Path]:
    try:
        package = importlib.util.find_spec("nvidia")
    except (ImportError, ValueError):
        return
    for location in (package.submodule_search_locations or ()) if package else ():
        try:
            entries = sorted(Path(location).iterdir())
        except OSError:
            continue
        # `nvidia/cu13/bin` since CUDA 13, `nvidia/cuda_cuobjdump/bin` before; the newest first.
        for entry in reversed(entries):
            if (entry / "bin").is_dir():
                yield entry / "bin"
