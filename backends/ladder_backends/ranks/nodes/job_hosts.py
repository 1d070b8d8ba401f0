"""Hosts of a job, as its launcher's table or Slurm names them."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence

from ladder_backends.model.ranks import Job
from ladder_backends.ranks.discovery import Discovery
from ladder_backends.text import clean_line

_DEADLINE = 10.0


def hosts_of(job: Job, found: Discovery) -> tuple[str, ...]:
    """Every other host of a job, each once; empty where nobody tells."""
    named = [row.host for row in found.launcher_table(job.launcher_pid)] if job.launcher_pid is not None else []
    step = re.fullmatch(r"slurm:(\d+)\.\d+", job.key)
    if not named and step is not None and shutil.which("squeue") and shutil.which("scontrol"):
        folded = _output(["squeue", "-h", "-j", step[1], "-o", "%N"]).strip()
        named = _output(["scontrol", "show", "hostnames", folded]).split() if folded else []
    here = (found.host, found.host.partition(".")[0], "", "localhost")
    return tuple(dict.fromkeys(clean_line(host) for host in named if host not in here))


def _output(words: Sequence[str]) -> str:
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_DEADLINE)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
