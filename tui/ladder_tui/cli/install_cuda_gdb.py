"""`demo --install-cuda-gdb`: unpack Debian's cuda-gdb where the console finds it."""

from __future__ import annotations

import subprocess
from importlib.resources import files

from ladder_backends.errors import LadderError


def install() -> int:
    """Run the installer script; where there is no such package it says so, and that is no failure.

    Raises:
        LadderError: The installation failed, or there is no bash to run it.
    """
    script = str(files("ladder_demos").joinpath("install-cuda-gdb"))
    try:
        done = subprocess.run(["bash", script], stdin=subprocess.DEVNULL, check=False)
    except OSError as error:
        raise LadderError("cuda-gdb cannot be installed", f"bash: {error.strerror}", "install bash") from error
    if done.returncode:
        raise LadderError(
            "cuda-gdb was not installed",
            "the reason is above",
            "the demos play recordings without it; to try again: ladder-tui demo --install-cuda-gdb",
        )
    return 0
