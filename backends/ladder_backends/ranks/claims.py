"""What a process's environment says of the rank it is: who started it, which job, which number.

Sources of the names: torch/distributed/elastic/agent (torchrun), Open MPI's FAQ "environment variables", the PMIx
and PMI standards, srun(1) "OUTPUT ENVIRONMENT VARIABLES", MPICH's hydra.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ladder_backends.model.ranks import Launcher
from ladder_backends.text import clean_line

MOST_RANKS = 1 << 22
"""A rank or a size beyond is taken for no number."""

_LONGEST_NAME = 200
_SLURM_SPACE = re.compile(r"slurm\.pmix\.(\d+)\.(\d+)")

_TORCH = """RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE MASTER_ADDR MASTER_PORT TORCHELASTIC_RUN_ID
TORCHELASTIC_RESTART_COUNT"""
_OPENMPI = """OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_LOCAL_RANK OMPI_COMM_WORLD_LOCAL_SIZE"""
_PMI = "PMIX_RANK PMIX_NAMESPACE PMI_RANK PMI_SIZE MPI_LOCALRANKID MPI_LOCALNRANKS"
_SLURM = """SLURM_PROCID SLURM_STEP_NUM_TASKS SLURM_NTASKS SLURM_LOCALID SLURM_JOB_ID SLURM_JOBID SLURM_STEP_ID
SLURM_STEPID SLURM_GTIDS"""
READ = {name.encode() for name in f"{_TORCH} {_OPENMPI} {_PMI} {_SLURM}".split()}
_RANKS = (b"RANK=", b"OMPI_COMM_WORLD_RANK=", b"PMIX_RANK=", b"PMI_RANK=", b"SLURM_PROCID=")


@dataclass(frozen=True, slots=True)
class Claim:
    """One process says that it is a rank, or it inherited the words of one that is.

    Attributes:
        key: The job; it ends in a colon where only the launcher's process tells jobs apart, as of MPICH.
        variable: The variable that names the rank.
        local_size: Ranks of the job on this host, where that is told.
        here: All ranks of the job on this host, where they are told by number, as Slurm does.
        restart: How often torchrun has started the ranks again.
        outer: Job and rank of what else the environment claims, of lesser precedence: under srun or mpirun a
            torchrun and its workers carry those of their surroundings.
    """

    key: str
    launcher: Launcher
    rank: int
    size: int | None
    local_rank: int | None
    variable: str
    local_size: int | None = None
    here: tuple[int, ...] = ()
    restart: int = 0
    outer: tuple[tuple[str, int], ...] = ()


def variables_in(environ: bytes) -> dict[str, str]:
    """The variables that matter here, out of `/proc/PID/environ`; empty where none names a rank."""
    if not any(name in environ for name in _RANKS):
        return {}
    found: dict[str, str] = {}
    for entry in environ.split(b"\0"):
        name, equals, value = entry.partition(b"=")
        if equals and name in READ:
            # The first of two equal names is the one that getenv finds.
            found.setdefault(name.decode(), value.decode("utf-8", "surrogateescape"))
    return found


def claim_in(variables: Mapping[str, str]) -> Claim | None:
    """The claim that counts, with those of lesser precedence behind it; None where there is none."""
    found = [claim for read in (_torch, _openmpi, _pmix, _pmi, _slurm) if (claim := read(variables)) is not None]
    # One launcher speaks several of these languages: Open MPI sets PMIx's words, srun those of PMIx and PMI.
    distinct = list({claim.key: claim for claim in reversed(found)}.values())[::-1]
    if not distinct:
        return None
    first = found[0]
    outer = tuple((claim.key, claim.rank) for claim in distinct if claim.key != first.key)
    return replace(first, outer=outer)


def _torch(variables: Mapping[str, str]) -> Claim | None:
    rank = _rank(variables.get("RANK"))
    run, port = variables.get("TORCHELASTIC_RUN_ID", ""), variables.get("MASTER_PORT", "")
    if rank is None or not (run or port):
        return None
    address = f"{variables.get('MASTER_ADDR', '')}:{port}" if port else ""
    name = f"torchrun:{run}@{address}" if run else f"torch:{address}"
    return Claim(
        _named(name),
        Launcher.TORCHRUN if run else Launcher.TORCH,
        rank,
        _size(variables, "WORLD_SIZE"),
        _number(variables.get("LOCAL_RANK")),
        "RANK",
        _size(variables, "LOCAL_WORLD_SIZE"),
        restart=_number(variables.get("TORCHELASTIC_RESTART_COUNT")) or 0,
    )


def _openmpi(variables: Mapping[str, str]) -> Claim | None:
    rank = _rank(variables.get("OMPI_COMM_WORLD_RANK"))
    if rank is None:
        return None
    return Claim(
        _space_key(variables) or "openmpi:",
        Launcher.OPENMPI,
        rank,
        _size(variables, "OMPI_COMM_WORLD_SIZE"),
        _number(variables.get("OMPI_COMM_WORLD_LOCAL_RANK")),
        "OMPI_COMM_WORLD_RANK",
        _size(variables, "OMPI_COMM_WORLD_LOCAL_SIZE"),
    )


def _pmix(variables: Mapping[str, str]) -> Claim | None:
    rank, key = _rank(variables.get("PMIX_RANK")), _space_key(variables)
    if rank is None or not key:
        return None
    by_slurm = key.startswith("slurm:")
    return Claim(
        key,
        Launcher.SLURM if by_slurm else Launcher.PMIX,
        rank,
        _size(variables, "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS") if by_slurm else None,
        _number(variables.get("SLURM_LOCALID")) if by_slurm else None,
        "PMIX_RANK",
        here=_here(variables) if by_slurm else (),
    )


def _pmi(variables: Mapping[str, str]) -> Claim | None:
    rank = _rank(variables.get("PMI_RANK"))
    if rank is None:
        return None
    by_slurm = _slurm_key(variables) if _rank(variables.get("SLURM_PROCID")) == rank else ""
    return Claim(
        by_slurm or "mpich:",
        Launcher.SLURM if by_slurm else Launcher.MPICH,
        rank,
        _size(variables, "PMI_SIZE"),
        _number(variables.get("MPI_LOCALRANKID")),
        "PMI_RANK",
        _size(variables, "MPI_LOCALNRANKS"),
        _here(variables) if by_slurm else (),
    )


def _slurm(variables: Mapping[str, str]) -> Claim | None:
    rank, key = _rank(variables.get("SLURM_PROCID")), _slurm_key(variables)
    # A batch script has SLURM_PROCID=0 too, and is no step.
    if rank is None or not key:
        return None
    size = _size(variables, "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS")
    return Claim(
        key,
        Launcher.SLURM,
        rank,
        size,
        _number(variables.get("SLURM_LOCALID")),
        "SLURM_PROCID",
        here=_here(variables),
    )


def _here(variables: Mapping[str, str]) -> tuple[int, ...]:
    """Slurm's ranks of this host: `0,1,2`."""
    words = variables.get("SLURM_GTIDS", "").split(",")[:MOST_RANKS]
    ranks = [_rank(word.strip()) for word in words]
    return tuple(rank for rank in ranks if rank is not None)


def _slurm_key(variables: Mapping[str, str]) -> str:
    job = variables.get("SLURM_JOB_ID") or variables.get("SLURM_JOBID", "")
    step = variables.get("SLURM_STEP_ID") or variables.get("SLURM_STEPID", "")
    return f"slurm:{job}.{step}" if _number(job) is not None and _number(step) is not None else ""


def _space_key(variables: Mapping[str, str]) -> str:
    space = variables.get("PMIX_NAMESPACE", "")
    by_slurm = _SLURM_SPACE.fullmatch(space)
    if by_slurm is not None:
        return f"slurm:{by_slurm[1]}.{by_slurm[2]}"
    return _named(f"pmix:{space}") if space else ""


def _named(text: str) -> str:
    return clean_line(text)[:_LONGEST_NAME]


def _number(text: str | None, most: int = 1 << 31) -> int | None:
    if text is None or not (text.isascii() and text.isdecimal()) or len(text) > 10:
        return None
    number = int(text)
    return number if number < most else None


def _rank(text: str | None) -> int | None:
    return _number(text, MOST_RANKS)


def _size(variables: Mapping[str, str], *names: str) -> int | None:
    sizes: Iterable[int | None] = (_number(variables.get(name), MOST_RANKS + 1) for name in names)
    return next((size for size in sizes if size), None)
