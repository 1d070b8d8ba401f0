"""Broken parallel jobs: what each shows, and the command that starts it here."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from ladder_backends.errors import LadderError
from ladder_demos.catalogue import Demo, DemoKind
from ladder_demos.compile import compile_with
from ladder_demos.live import python_with

_FOLDER = "programs/ranks"


@dataclass(frozen=True, slots=True)
class RankDemo:
    """One broken job.

    Attributes:
        title: What is broken, in a few words.
        shows: What a person will see, one line.
        source: A path inside this package: a C program for MPI, or a script for torch.
        ranks: How many it is started with.
        ends: It ends by itself, badly; others hang until they are ended.
    """

    name: str
    title: str
    shows: str
    source: str
    ranks: int = 4
    ends: bool = False

    @property
    def path(self) -> Path:
        """The source on this machine."""
        return Path(__file__).parent / self.source

    @property
    def is_torch(self) -> bool:
        """It is run by torchrun."""
        return self.source.endswith(".py")


RANK_DEMOS: tuple[RankDemo, ...] = (
    RankDemo(
        "mpi-mismatch",
        "the last of four MPI ranks waits in another collective",
        "rank 3 in MPI_Barrier, 0-2 in MPI_Allreduce, by their stacks alone",
        f"{_FOLDER}/mpi_barrier_mismatch.c",
    ),
    RankDemo(
        "mpi-crash",
        "one of four MPI ranks follows a null pointer",
        "which rank died first, by which signal, and when the others followed",
        f"{_FOLDER}/mpi_dying_rank.c",
        ends=True,
    ),
    RankDemo(
        "torch-missing",
        "rank 1 of four waits for a batch while all others wait for it",
        "the collective that it never joined, and its line; nothing is stopped",
        f"{_FOLDER}/torch_missing_rank.py",
    ),
    RankDemo(
        "torch-wrong-op",
        "the last of four torch ranks calls another collective",
        "all_gather against all_reduce, the same number of the same group",
        f"{_FOLDER}/torch_wrong_op.py",
    ),
)


def find_rank_demo(name: str) -> RankDemo | None:
    """The job of that name, or None."""
    return next((demo for demo in RANK_DEMOS if demo.name == name), None)


def rank_job(demo: RankDemo) -> tuple[list[str], dict[str, str]]:
    """The command that starts a job here, and variables for it; a C program is compiled first.

    Raises:
        LadderError: What it needs is not here, or it does not compile.
    """
    return _torch_job(demo) if demo.is_torch else _mpi_job(demo)


def _mpi_job(demo: RankDemo) -> tuple[list[str], dict[str, str]]:
    for flavour, options in (
        (".openmpi", ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]),
        (".mpich", []),
        ("", []),
    ):
        compiler, launcher = shutil.which(f"mpicc{flavour}"), shutil.which(f"mpirun{flavour}")
        if compiler is None or launcher is None:
            continue
        row = Demo(demo.name, demo.title, demo.shows, "ranks", DemoKind.PROGRAM, demo.source)
        program = compile_with(row, [compiler, "-g", "-O0"])
        as_root = ["--allow-run-as-root"] if flavour == ".openmpi" and os.geteuid() == 0 else []
        return [launcher, *as_root, *options, "-n", str(demo.ranks), str(program)], {}
    raise LadderError(
        f"the demo {demo.name} is compiled and started on this machine",
        "there is no mpicc with its mpirun",
        "on Debian and Ubuntu: apt-get install openmpi-bin libopenmpi-dev",
    )


def _torch_job(demo: RankDemo) -> tuple[list[str], dict[str, str]]:
    named = os.environ.get("LADDER_TORCH_PYTHON", "")
    python = Path(named) if named else python_with(("torch",))
    if python is None:
        raise LadderError(
            f"the demo {demo.name} is started on this machine",
            "no Python here has torch",
            "pip install torch, or set LADDER_TORCH_PYTHON to a Python that has it",
        )
    command = [str(python), "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(demo.ranks)]
    return [*command, str(demo.path)], {"TORCH_FR_BUFFER_SIZE": "2000", "OMP_NUM_THREADS": "1"}
