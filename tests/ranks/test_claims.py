"""What an environment says of the rank it belongs to."""

from __future__ import annotations

import pytest

from ladder_backends.model.ranks import Launcher
from ladder_backends.ranks.claims import claim_in, variables_in

TORCH = {"RANK": "5", "WORLD_SIZE": "8", "LOCAL_RANK": "1", "MASTER_ADDR": "n1", "MASTER_PORT": "29500",
         "TORCHELASTIC_RUN_ID": "none", "TORCHELASTIC_RESTART_COUNT": "2"}  # fmt: skip
OPENMPI = {"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_RANK": "3",
           "PMIX_RANK": "3", "PMIX_NAMESPACE": "1109655553"}  # fmt: skip
SLURM = {"SLURM_PROCID": "1", "SLURM_NTASKS": "16", "SLURM_STEP_NUM_TASKS": "2", "SLURM_LOCALID": "0",
         "SLURM_JOB_ID": "42", "SLURM_STEP_ID": "7", "SLURM_GTIDS": "0,1"}  # fmt: skip


def claim(*environments):
    together = {name: value for each in environments for name, value in each.items()}
    raw = b"".join(f"{name}={value}".encode() + b"\0" for name, value in {"PATH": "/bin", **together}.items())
    return claim_in(variables_in(raw))


def test_torchrun():
    found = claim(TORCH)
    assert (found.key, found.launcher) == ("torchrun:none@n1:29500", Launcher.TORCHRUN)
    assert (found.rank, found.size, found.local_rank, found.restart) == (5, 8, 1, 2)


def test_variables_of_torch_set_by_hand():
    found = claim({"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "n1", "MASTER_PORT": "1234"})
    assert (found.key, found.launcher) == ("torch:n1:1234", Launcher.TORCH)


def test_rank_alone_is_no_claim():
    assert claim({"RANK": "3", "WORLD_SIZE": "4"}) is None


def test_open_mpi_speaks_pmix_too():
    found = claim(OPENMPI)
    assert (found.key, found.launcher, found.rank, found.size) == ("pmix:1109655553", Launcher.OPENMPI, 3, 4)
    assert found.outer == ()


def test_mpich_has_no_key():
    found = claim({"PMI_RANK": "2", "PMI_SIZE": "3", "MPI_LOCALRANKID": "2"})
    assert (found.key, found.launcher, found.rank, found.size, found.local_rank) == ("mpich:", "mpich", 2, 3, 2)


def test_a_step_of_slurm():
    found = claim(SLURM)
    assert (found.key, found.launcher, found.rank, found.size) == ("slurm:42.7", Launcher.SLURM, 1, 2)
    assert found.here == (0, 1)


def test_a_batch_script_is_no_step():
    assert claim({"SLURM_PROCID": "0", "SLURM_NTASKS": "8", "SLURM_JOB_ID": "42"}) is None


@pytest.mark.parametrize(
    "inner",
    [
        {"PMIX_RANK": "1", "PMIX_NAMESPACE": "slurm.pmix.42.7"},
        {"PMI_RANK": "1", "PMI_SIZE": "2"},
    ],
)
def test_a_step_of_slurm_whatever_it_speaks(inner):
    found = claim(SLURM, inner)
    assert (found.key, found.launcher, found.rank, found.size, found.outer) == ("slurm:42.7", "slurm", 1, 2, ())


def test_torchrun_under_srun_and_mpirun_carries_their_claims_behind_its_own():
    found = claim(TORCH, SLURM)
    assert (found.key, found.rank, found.outer) == ("torchrun:none@n1:29500", 5, (("slurm:42.7", 1),))
    found = claim(TORCH, OPENMPI, SLURM)
    assert found.outer == (("pmix:1109655553", 3), ("slurm:42.7", 1))


@pytest.mark.parametrize("rank", ["", "-1", "1e3", "٣", "99999999999", "4194304", "0x1"])
def test_what_is_no_rank_is_none(rank):
    assert claim({**OPENMPI, "OMPI_COMM_WORLD_RANK": rank, "PMIX_RANK": rank}) is None


def test_names_are_clean_and_the_first_of_two_counts():
    raw = b"RANK=1\0RANK=2\0MASTER_PORT=1\0MASTER_ADDR=\x1b[31m\xff\0TORCHELASTIC_RUN_ID=a\nb\0"
    found = claim_in(variables_in(raw))
    assert found.rank == 1
    assert "\x1b" not in found.key
    assert "\n" not in found.key
