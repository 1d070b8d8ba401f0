"""Run a demo on a GPU of this machine: what that takes, what is missing, and the program made ready."""

from __future__ import annotations

import functools
import glob
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ladder_backends.debugger.target import LaunchTarget
from ladder_backends.errors import LadderError
from ladder_backends.sanitizer.plan import Plan
from ladder_backends.sanitizer.presets import PLAIN, fitting_preset
from ladder_demos.catalogue import Demo, Live
from ladder_demos.compile import compile_cuda, find_nvcc

DEVICES = ("/dev/nvidia[0-9]*", "/dev/nvhost-gpu", "/dev/nvgpu/*", "/dev/dxg")
"""Device files of a GPU: of the usual driver, of boards with one built in, of WSL."""

_FINDS = "import importlib.util as u, sys; sys.exit(any(u.find_spec(name) is None for name in sys.argv[1:]))"
_SECONDS = 30


def live_run(demo: Demo) -> Plan | LaunchTarget:
    """What runs the demo here: a plan of the sanitizer, or a program for its debugger; compiles it first.

    Raises:
        LadderError: It needs no GPU, something that it needs is missing, or it does not compile.
    """
    live = demo.live
    if live is None:
        raise LadderError(
            f"the demo {demo.name} needs no GPU", "it always runs", f"ladder-tui demo {demo.name}, without --live"
        )
    missing = missing_here(live)
    if missing:
        remedy = f"ladder-tui demo {demo.name} opens what was recorded on one" if demo.shipped else ""
        raise LadderError(f"the demo {demo.name} cannot run on this machine", "; ".join(missing), remedy)
    if live.is_script:
        python = python_with(live.modules)
        assert python is not None
        target = LaunchTarget(python, (str(live.path),))
    else:
        target = LaunchTarget(compile_cuda(demo))
    return plan_of(live, target.program, target.arguments) if live.rung == "sanitizer" else target


def plan_of(live: Live, program: Path, arguments: Sequence[str] = ()) -> Plan:
    """The sanitizer's plan for a demo that has been made ready."""
    preset = fitting_preset(program, arguments) if live.is_script else PLAIN
    # A dump of synccheck fails (2025.3.1 on an H200), which its report then tells of as of an error.
    without = {"dump"} if live.tool == "synccheck" else set()
    return Plan(
        program,
        tuple(arguments),
        tools=(live.tool,),
        leaks=live.leaks,
        preset=preset.name,
        switches=preset.switches - without,
        racecheck_report="all",
    )


def missing_here(live: Live) -> list[str]:
    """What this machine lacks for a demo, each a clause; empty where it can run."""
    missing = [] if _has_gpu() else ["there is no NVIDIA GPU"]
    if live.rung == "sanitizer":
        from ladder_backends.sanitizer.installed import probe_sanitizer

        probe = probe_sanitizer()
    else:
        from ladder_backends.debugger.registry import load_debugger

        probe = load_debugger(live.rung).probe()
    if not probe.available:
        missing.append(probe.missing)
    if not live.is_script and find_nvcc() is None:
        missing.append("nvcc is not on PATH")
    if live.modules and python_with(live.modules) is None:
        missing.append(f"no Python here has {' and '.join(live.modules)}")
    return missing


@functools.cache
def python_with(modules: tuple[str, ...]) -> Path | None:
    """A Python that finds these packages: the console's own, else one on PATH; None where none does."""
    found = (sys.executable, shutil.which("python3"), shutil.which("python"))
    for program in dict.fromkeys(filter(None, found)):
        try:
            done = subprocess.run(
                [program, "-c", _FINDS, *modules],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return Path(os.path.abspath(program))
    return None


def _has_gpu() -> bool:
    return any(glob.glob(pattern) for pattern in DEVICES)
