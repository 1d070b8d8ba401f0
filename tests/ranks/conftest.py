"""Real jobs of Open MPI, MPICH and torchrun; each is ended by its own processes, and lives until then."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from ladder_backends.model.ranks import Job
from ladder_backends.ranks.choosing import job_of
from ladder_backends.ranks.discovery import Discovery
from ladder_backends.ranks.process_table import ProcessTable

PROGRAMS = Path(__file__).parent / "programs"
_PATIENCE = 90.0
_TORCH = os.environ.get("LADDER_TORCH_PYTHON", "")


class RunningJob:
    """A job that was started for a test.

    Attributes:
        may_die: The test ends ranks itself.
    """

    def __init__(self, process: subprocess.Popen[bytes], folder: Path, size: int) -> None:
        self.process, self.folder, self.size = process, folder, size
        self.may_die = False
        self._seen: dict[int, int] = {}
        self._members: set[int] = set()

    @property
    def pid(self) -> int:
        return self.process.pid

    def tell(self, what: str) -> None:
        (self.folder / what).touch()

    def output(self) -> str:
        return (self.folder / "output").read_text(errors="replace")

    def wait_until(self, what: Callable[[], bool], why: str) -> None:
        end = time.monotonic() + _PATIENCE
        while not what():
            assert self.process.poll() is None or self.may_die, f"{why}: the job has ended\n{self.output()[-3000:]}"
            assert time.monotonic() < end, f"{why}\n{self.output()[-3000:]}"
            time.sleep(0.05)
        self.note()

    def note(self) -> None:
        """Remember its processes, so that they can be ended whatever becomes of their parents."""
        table = ProcessTable()
        for process in table.descendants(self.pid):
            self._seen[process.pid] = process.started
        self._members = self._members or set(self._seen)

    def find(self) -> Job:
        return job_of(Discovery(), self.pid)

    def states(self) -> dict[int, str]:
        """State of each process that was noted and is the same still."""
        table = ProcessTable()
        found = {}
        for pid, started in self._seen.items():
            process = table.processes.get(pid)
            found[pid] = process.state if process is not None and process.started == started else "X"
        return found

    def end(self) -> None:
        alive = self.process.poll() is None
        states = self.states()
        with contextlib.suppress(ProcessLookupError):
            self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for pid, state in self.states().items():
            if state not in "XZ":
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        if not self.may_die:
            assert alive, self.output()[-3000:]
            assert not [pid for pid in self._members if states[pid] in "XZTt"], states


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., RunningJob]]:
    """Starts a command in a folder of its own."""
    running: list[RunningJob] = []

    def launch(
        command: Sequence[str | Path],
        size: int,
        *,
        folder: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> RunningJob:
        place = folder or tmp_path / f"job{len(running)}"
        place.mkdir(exist_ok=True)
        with open(place / "output", "wb") as output:
            process = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(env or {})},
                start_new_session=True,
            )
        job = RunningJob(process, place, size)
        running.append(job)
        return job

    yield launch
    for job in running:
        job.end()


@pytest.fixture(scope="session")
def mpi_program(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    """Compiles `mpi_program("openmpi", "mpi_waiting")`; skips where that MPI is not installed."""
    folder = tmp_path_factory.mktemp("mpi")
    made: dict[tuple[str, str], Path] = {}

    def build(flavour: str, name: str) -> Path:
        compiler = shutil.which(f"mpicc.{flavour}")
        if compiler is None or shutil.which(f"mpirun.{flavour}") is None:
            pytest.skip(f"no mpicc.{flavour} with its mpirun: demos/setup --tests installs them on Debian")
        if (flavour, name) not in made:
            program = folder / f"{name}-{flavour}"
            subprocess.run([compiler, "-g", "-O0", "-o", program, PROGRAMS / f"{name}.c"], check=True, timeout=60)
            made[flavour, name] = program
        return made[flavour, name]

    return build


def mpirun(flavour: str, ranks: int, *options: str) -> list[str]:
    """The launcher with the options that a small machine needs."""
    if flavour == "openmpi":
        as_root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        return ["mpirun.openmpi", *as_root, "--oversubscribe", *options, "-n", str(ranks)]
    return [f"mpirun.{flavour}", *options, "-n", str(ranks)]


@pytest.fixture
def waiting_job(
    start: Callable[..., RunningJob], mpi_program: Callable[[str, str], Path], tmp_path: Path
) -> Callable[..., RunningJob]:
    """Starts `waiting_job("openmpi", 3)`: ranks that sleep until told otherwise."""
    number = 0

    def launch(flavour: str, ranks: int, *options: str, wrapper: Sequence[str] = ()) -> RunningJob:
        nonlocal number
        number += 1
        folder = tmp_path / f"waiting{number}"
        program = mpi_program(flavour, "mpi_waiting")
        inner = [*wrapper, f"{program} {folder}; true"] if wrapper else [str(program), str(folder)]
        job = start([*mpirun(flavour, ranks, *options), *inner], ranks, folder=folder)
        job.wait_until(lambda: all((folder / f"up-{rank}").exists() for rank in range(ranks)), "ranks come up")
        return job

    return launch


@pytest.fixture
def torch_python() -> Path:
    """A Python with torch; a test that asks for it is skipped where none is named."""
    if not _TORCH or not Path(_TORCH).exists():
        pytest.skip("LADDER_TORCH_PYTHON names no Python with torch")
    return Path(_TORCH)


def free_port() -> int:
    """A port of this host that nobody listens on."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return int(server.getsockname()[1])


@pytest.fixture
def torch_job(start: Callable[..., RunningJob], torch_python: Path) -> Callable[..., RunningJob]:
    """Starts `torch_job(script, 3)` under torchrun."""

    def launch(
        script: Path, ranks: int, *options: str, env: Mapping[str, str] | None = None, until: str = ""
    ) -> RunningJob:
        told = {"TORCH_FR_BUFFER_SIZE": "2000", "OMP_NUM_THREADS": "1", "DEMO_DEBUG_PORT": str(free_port())}
        command = [torch_python, "-m", "torch.distributed.run", "--master-port", str(free_port())]
        job = start(
            [*command, *options, "--nproc-per-node", str(ranks), script], ranks, env={**told, **(env or {})}
        )
        if until:
            job.wait_until(lambda: until in job.output(), f"it writes {until!r}")
        return job

    return launch


@pytest.fixture
def ladder_tui() -> Callable[..., subprocess.CompletedProcess[str]]:
    """The real command."""
    program = Path(sys.executable).parent / "ladder-tui"

    def call(*words: str | Path, within: float = 50) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [program, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=within
        )

    return call
