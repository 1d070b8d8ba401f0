"""How an agent is started on a node: srun, kubectl, mpirun, ssh, the first that applies; or as a person says."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shlex
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ladder_backends.errors import LadderError
from ladder_backends.model.ranks import Job, Launcher
from ladder_backends.processes.proc_files import ProcFiles
from ladder_backends.text import clean_line

AGENT = Path(__file__).parent / "inside" / "agent.py"
_HOST = re.compile(r"[A-Za-z0-9_\[][\w.:@\-\]/]{0,252}")
_PROBE_DEADLINE = 20.0
_SHELLS = ("ssh", "rsh", "gsissh", "mosh")
"""Programs that give their words to a shell over there."""


class HostInvalid(LadderError):
    """A word that names no host: it could be taken for an option."""


class NoTransport(LadderError):
    """Nothing here reaches the node."""


@dataclass(frozen=True, slots=True)
class Transport:
    """One way to start a program on a node.

    Attributes:
        name: `srun`, `ssh`.
        words: The command with `{host}` where the host stands.
        by_shell: A shell over there reads the words: they are quoted.
    """

    name: str
    words: tuple[str, ...]
    by_shell: bool = False

    def command(self, host: str, program: Sequence[str]) -> list[str]:
        """The words that start a program on a host.

        Raises:
            HostInvalid: It is no name of a host.
        """
        if _HOST.fullmatch(host) is None:
            raise HostInvalid(f"{clean_line(host)!r} is no name of a host", "", "name hosts as --hosts n1,n2")
        words = [word.replace("{host}", host) for word in self.words]
        return [*words, shlex.join(program)] if self.by_shell else [*words, *program]


def bootstrap(source: bytes) -> list[str]:
    """The program that is started there: it reads the agent from its stdin, `source`, and runs it."""
    return ["python3", "-c", f"import sys;exec(compile(sys.stdin.buffer.read({len(source)}),'agent','exec'))"]


def launched_by(text: str) -> Transport:
    """A transport in a person's words: `ssh -p 2222 {host}`; the host goes last where it is not named.

    Raises:
        NoTransport: The words cannot be read.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise NoTransport("--launch cannot be read", str(error), "as --launch 'ssh {host}'") from None
    if not words:
        raise NoTransport("--launch is empty", "", "as --launch 'ssh {host}'")
    if not any("{host}" in word for word in words):
        words.append("{host}")
    return Transport("--launch", tuple(words), os.path.basename(words[0]) in _SHELLS)


def transports(job: Job | None, proc: ProcFiles | None = None) -> list[Transport]:
    """Those that are here and can apply, in the order to try."""
    found: list[Transport] = []
    key = job.key if job is not None else ""
    step = re.fullmatch(r"slurm:(\d+)\.(\d+)", key)
    slurm = step[1] if step else os.environ.get("SLURM_JOB_ID", "")
    if slurm.isdecimal() and shutil.which("srun"):
        options = (
            "--overlap",
            "--ntasks=1",
            "--nodes=1",
            "--immediate=15",
            "--quiet",
            "--unbuffered",
            "--mpi=none",
        )
        found.append(Transport("srun", ("srun", f"--jobid={slurm}", *options, "--nodelist={host}")))
    if shutil.which("kubectl"):
        found.append(Transport("kubectl", ("kubectl", "exec", "-i", "{host}", "--")))
    if job is not None and job.launcher in (Launcher.OPENMPI, Launcher.MPICH):
        found += _mpirun(job, proc or ProcFiles())
    if shutil.which("ssh"):
        options = ("-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=5")
        found.append(Transport("ssh", ("ssh", *options, "{host}"), by_shell=True))
    return found


def _mpirun(job: Job, proc: ProcFiles) -> list[Transport]:
    """The job's own launcher, with the options by which it reaches nodes."""
    if job.launcher_pid is None:
        return []
    words = [os.fsdecode(word) for word in proc.raw(job.launcher_pid, "cmdline").split(b"\0") if word]
    if not words or not os.path.basename(words[0]).startswith(("mpirun", "mpiexec", "orterun", "prterun")):
        return []
    program = words[0] if os.path.isabs(words[0]) else shutil.which(words[0])
    if program is None:
        return []
    if job.launcher is Launcher.MPICH:
        return [Transport("mpirun", (program, "-hosts", "{host}", "-n", "1"))]
    options: list[str] = []
    for at, word in enumerate(words):
        if (
            word in ("--mca", "-mca")
            and words[at + 1 : at + 2]
            and words[at + 1].startswith(("plm", "oob", "btl_tcp"))
        ):
            options += words[at : at + 3]
    if os.geteuid() == 0:
        options.append("--allow-run-as-root")
    return [Transport("mpirun", (program, *options, "--host", "{host}", "-n", "1"))]


async def first_that_applies(
    found: Sequence[Transport], host: str, say: Callable[[str], None] = lambda _line: None
) -> Transport:
    """The first transport by which a host runs Python; each says its command before it is tried.

    Raises:
        NoTransport: None does; with what each said.
    """
    whys: list[str] = []
    for each in found:
        command = each.command(host, ["python3", "-c", "print('ladder' + '-here')"])
        say(f"{each.name}: {shlex.join(command)}")
        why = await _probe(command)
        if not why:
            return each
        whys.append(f"{each.name}: {why}")
    raise NoTransport(
        f"nothing here starts a program on {clean_line(host)}",
        "; ".join(whys) or "neither srun, kubectl, mpirun nor ssh applies",
        "say how with --launch 'ssh {host}'",
    )


async def _probe(command: Sequence[str]) -> str:
    """Why a command starts no Python there; empty where it does."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return f"it does not run: {error.strerror}"
    try:
        out, said = await asyncio.wait_for(process.communicate(), _PROBE_DEADLINE)
    except TimeoutError:
        return f"no answer within {_PROBE_DEADLINE:g} s"
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
    if b"ladder-here" in out:
        return ""
    lines = [line for line in (said or out).decode("utf-8", "backslashreplace").splitlines() if line.strip()]
    return clean_line(lines[0])[:200] if lines else f"it ended with status {process.returncode}"
