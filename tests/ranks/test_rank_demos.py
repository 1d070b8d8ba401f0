"""The shipped broken jobs, by the command."""

from __future__ import annotations

import json
import shutil

import pytest

from ladder_demos.rank_jobs import RANK_DEMOS, find_rank_demo

pytestmark = pytest.mark.timeout(150)

needs_mpi = pytest.mark.skipif(
    shutil.which("mpicc.openmpi") is None or shutil.which("eu-stack") is None,
    reason="no Open MPI or no eu-stack: demos/setup --tests installs them on Debian",
)


def test_each_has_its_source_and_a_name_of_its_own():
    assert len({demo.name for demo in RANK_DEMOS}) == len(RANK_DEMOS)
    for demo in RANK_DEMOS:
        assert demo.path.is_file()
        assert find_rank_demo(demo.name) is demo
    assert find_rank_demo("vector-add") is None


def test_they_are_listed(ladder_tui):
    told = json.loads(ladder_tui("demo", "--json").stdout)
    assert {demo.name for demo in RANK_DEMOS} <= {row["name"] for row in told["demos"]}
    assert "mpi-mismatch" in ladder_tui("demo").stdout


@needs_mpi
def test_one_rank_in_another_collective(ladder_tui):
    done = ladder_tui("demo", "mpi-mismatch", "--json", within=120)
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert told["verdict"]["suspects"] == "3"
    assert told["verdict"]["waiters"] == "0-2"
    assert "MPI_Barrier" in told["verdict"]["sentence"]
    assert {row["ranks"] for row in told["classes"]} >= {"3", "0-2"}
    # They spin, and yield while they do: on a busy machine not each of them has its turn.
    assert any(row["cpu"] > 0 for row in told["activity"])
    assert all(row["between"] > 0 for row in told["activity"])


@needs_mpi
def test_the_rank_that_died_first(ladder_tui):
    done = ladder_tui("demo", "mpi-crash", "--json", within=120)
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert told["first"].startswith("rank 2 (process ")
    assert "SIGSEGV" in told["first"]


@pytest.mark.torch
@pytest.mark.parametrize(
    ("name", "rank", "words"),
    [("torch-missing", "1", "torch_missing_rank.py:14"), ("torch-wrong-op", "3", "all_gather")],
)
def test_jobs_of_torch(ladder_tui, torch_python, monkeypatch, name, rank, words):
    monkeypatch.setenv("LADDER_TORCH_PYTHON", str(torch_python))
    done = ladder_tui("demo", name, "--json", within=140)
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert told["verdict"]["suspects"] == rank
    assert words in told["verdict"]["sentence"]


def test_what_a_demo_needs_is_named(ladder_tui, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    refused = ladder_tui("demo", "mpi-mismatch")
    assert refused.returncode == 2
    assert "apt-get install openmpi-bin" in refused.stderr
