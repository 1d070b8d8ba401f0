"""Real jobs of Open MPI for the engine of ranks: alive after each test that does not kill them."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ladder_backends.model.ranks import Job, Launcher, Rank
from ladder_backends.ranks.engine.fitness import start_of

PROGRAMS = Path(__file__).parent / "programs"
_MPICC = shutil.which("mpicc.openmpi") or shutil.which("mpicc")
_MPIRUN = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
_READY = 30.0


@pytest.fixture(scope="session")
def mpi_program(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compiles a program of `programs/` with Open MPI's compiler; skips where there is none."""
    folder = tmp_path_factory.mktemp("mpi")
    made: dict[tuple[str, ...], Path] = {}

    def build(name: str, *flags: str) -> Path:
        if _MPICC is None or _MPIRUN is None:
            pytest.skip("no Open MPI: demos/setup --tests installs it")
        key = (name, *flags)
        if key not in made:
            program = folder / f"{name}{len(made)}"
            source = PROGRAMS / f"{name}.c"
            subprocess.run([_MPICC, "-g", "-O0", *flags, "-o", program, source, "-lm"], check=True, timeout=60)
            made[key] = program
        return made[key]

    return build


@pytest.fixture
def free_port() -> int:
    """A port that nobody listened on a moment ago."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


class RunningJob:
    """A job that was started, and what its ranks write of themselves."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path, size: int, program: Path) -> None:
        self.process, self.folder, self.size, self.program = process, folder, size, program
        self.may_die = False
        self.pids: dict[int, int] = {}

    def find(self) -> None:
        """Wait until all ranks have begun to count."""
        end = time.monotonic() + _READY
        while time.monotonic() < end and self.process.poll() is None:
            with contextlib.suppress(OSError, ValueError):
                if all(self.beat(rank) > 0 for rank in range(self.size)):
                    break
            time.sleep(0.02)
        else:
            output = (self.folder / "output").read_text(errors="replace")
            raise AssertionError(f"the job did not start: {output[-2000:]}")
        for entry in os.listdir("/proc"):
            if entry.isdecimal():
                with contextlib.suppress(OSError, ValueError, StopIteration):
                    rows = Path("/proc", entry, "environ").read_bytes().split(b"\0")
                    rank = next(int(row[21:]) for row in rows if row.startswith(b"OMPI_COMM_WORLD_RANK="))
                    if (
                        os.readlink(f"/proc/{entry}/exe") == str(self.program)
                        and self.folder.name in Path("/proc", entry, "cmdline").read_text()
                    ):
                        self.pids[rank] = int(entry)

    def beat(self, rank: int) -> int:
        """How often a rank has gone round."""
        return int.from_bytes((self.folder / f"beat-{rank}").read_bytes()[:8], "little")

    def tell(self, what: str, rank: int) -> None:
        """Have a rank do something: crash, exit, wait."""
        (self.folder / f"{what}-{rank}").touch()

    @property
    def job(self) -> Job:
        """As discovery would tell of it."""
        ranks = tuple(
            Rank(rank, pid, "", start_of(pid) or 0, str(self.program)) for rank, pid in sorted(self.pids.items())
        )
        return Job("test", Launcher.OPENMPI, self.process.pid, self.size, ranks)

    def lives(self) -> bool:
        """Every rank goes round, now."""
        before = [self.beat(rank) for rank in range(self.size)]
        end = time.monotonic() + 10
        while time.monotonic() < end:
            if self.process.poll() is not None:
                return False
            if all(self.beat(rank) > before[rank] for rank in range(self.size)):
                return True
            time.sleep(0.02)
        return False

    def end(self) -> None:
        """End it by its own processes."""
        for pid in (self.process.pid, *self.pids.values()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            for pid in (*self.pids.values(), self.process.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.process.wait(10)


@pytest.fixture
def start_job(mpi_program: Callable[..., Path], tmp_path: Path) -> Iterator[Callable[..., RunningJob]]:
    """Starts `start_job("steady_ranks", 4)` under mpirun; each job has to be alive at the end, or `may_die`."""
    started: list[RunningJob] = []

    def start(
        name: str = "steady_ranks", size: int = 4, *arguments: str, wrapper: tuple[str, ...] = ()
    ) -> RunningJob:
        program = mpi_program(name)
        folder = tmp_path / f"job-{len(started)}-{os.getpid()}"
        folder.mkdir()
        command = [str(_MPIRUN), "--allow-run-as-root", "--oversubscribe", "-n", str(size), *wrapper, str(program)]
        with open(folder / "output", "wb") as output:
            process = subprocess.Popen(
                [*command, str(folder), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        job = RunningJob(process, folder, size, program)
        started.append(job)
        job.find()
        return job

    yield start
    died = []
    for job in started:
        if not job.may_die and not job.lives():
            died.append((job.folder / "output").read_text(errors="replace")[-1500:])
        job.end()
    assert not died, f"a job did not survive the test: {died}"


@pytest.fixture
def steady(start_job: Callable[..., RunningJob]) -> RunningJob:
    """Four ranks that sleep and count."""
    return start_job()
